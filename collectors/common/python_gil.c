#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "collectors/common/python_gil.h"

#include "collectors/common/glibc.h"
#include "collectors/common/task_files.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <sys/syscall.h>

#pragma weak dlsym /* see glibc.h */

enum { SYMBOL_ENTRY = 1 }; /* glibc's RTLD_DL_SYMENT; other C libraries have neither it nor dladdr1 */

static struct ids_task_files files = {.name = "syscall"};

void ids_python_gil_find(struct ids_python_gil *gil) {
    *gil = (struct ids_python_gil){0, 0};
    if (!dlsym) return;
    void *runtime = dlsym(RTLD_DEFAULT, "_PyRuntime");
    int (*find)(const void *, Dl_info *, void **, int) =
        (int (*)(const void *, Dl_info *, void **, int))dlsym(RTLD_DEFAULT, "dladdr1");
    Dl_info info;
    void *symbol = NULL;
    if (!runtime || !find || !find(runtime, &info, &symbol, SYMBOL_ENTRY) || !symbol) return;
    uintptr_t from = (uintptr_t)runtime;
    *gil = (struct ids_python_gil){from, from + ((const ElfW(Sym) *)symbol)->st_size};
}

/* "202 0x7f...", the call's number and its arguments; "running" of a thread that is in none. */
int ids_python_gil_is_awaited(const struct ids_python_gil *gil, uint64_t tid) {
    char text[64], *end;
    if (gil->to <= gil->from || !ids_task_files_read(&files, tid, text, sizeof text)) return 0;
    if (strtol(text, &end, 10) != SYS_futex || end == text) return 0;
    uintptr_t address = strtoul(end, NULL, 16);
    return address >= gil->from && address < gil->to;
}

void ids_python_gil_done(void) {
    ids_task_files_close(&files);
}
