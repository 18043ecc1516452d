#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "collectors/common/python_gil.h"

#include "collectors/common/glibc.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#pragma weak dlsym /* see glibc.h */

enum { FILES = 64 }; /* more threads are not asked about */

/* Opened once for a window. */
static struct {
    uint64_t tid;
    int file;
} files[FILES];
static int file_count;

void ids_python_gil_find(struct ids_python_gil *gil) {
    *gil = (struct ids_python_gil){0, 0};
    if (!dlsym) return;
    void *runtime = dlsym(RTLD_DEFAULT, "_PyRuntime");
    int (*find)(const void *, Dl_info *, void **, int) =
        (int (*)(const void *, Dl_info *, void **, int))dlsym(RTLD_DEFAULT, "dladdr1");
    Dl_info info;
    void *symbol = NULL;
    if (!runtime || !find || !find(runtime, &info, &symbol, RTLD_DL_SYMENT) || !symbol) return;
    uintptr_t from = (uintptr_t)runtime;
    *gil = (struct ids_python_gil){from, from + ((const ElfW(Sym) *)symbol)->st_size};
}

static int file_of(uint64_t tid) {
    char path[64];
    for (int i = 0; i < file_count; i++) {
        if (files[i].tid == tid) return files[i].file;
    }
    if (file_count == FILES) return -1;
    snprintf(path, sizeof path, "/proc/self/task/%llu/syscall", (unsigned long long)tid);
    files[file_count].tid = tid;
    files[file_count].file = open(path, O_RDONLY | O_CLOEXEC);
    return files[file_count++].file;
}

/* "202 0x7f...", the call's number and its arguments; "running" of a thread that is in none. */
int ids_python_gil_is_awaited(const struct ids_python_gil *gil, uint64_t tid) {
    char text[64], *end;
    int file = gil->to > gil->from && tid ? file_of(tid) : -1;
    ssize_t length = file >= 0 ? pread(file, text, sizeof text - 1, 0) : 0;
    if (length <= 0) return 0;
    text[length] = '\0';
    if (strtol(text, &end, 10) != SYS_futex || end == text) return 0;
    uintptr_t address = strtoul(end, NULL, 16);
    return address >= gil->from && address < gil->to;
}

void ids_python_gil_done(void) {
    for (int i = 0; i < file_count; i++) {
        if (files[i].file >= 0) close(files[i].file);
    }
    file_count = 0;
}
