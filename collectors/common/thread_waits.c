#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "collectors/common/thread_waits.h"

#include "collectors/common/glibc.h"
#include "collectors/common/task_files.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
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

static int reads(long number) {
    return number == SYS_read || number == SYS_pread64 || number == SYS_readv || number == SYS_preadv ||
           number == SYS_recvfrom || number == SYS_recvmsg;
}

/* Until a time, or until one of no files is ready, as Python before 3.11 sleeps. */
static int sleeps(long number, uintptr_t first) {
#ifdef SYS_select
    if (number == SYS_select) return !first;
#endif
#ifdef SYS_nanosleep
    if (number == SYS_nanosleep) return 1;
#endif
    return number == SYS_clock_nanosleep || (number == SYS_pselect6 && !first);
}

/* "202 0x7f...", the call's number and its arguments; "running" of a thread that is in none, and of one that is in one
 * and waits for nothing. */
enum ids_thread_waits ids_thread_waits_for(const struct ids_python_gil *gil, uint64_t tid) {
    char text[64], *end;
    if (!ids_task_files_read(&files, tid, text, sizeof text)) return IDS_THREAD_WAITS_NOT;
    if (!strncmp(text, "running", strlen("running"))) return IDS_THREAD_RUNS;
    long number = strtol(text, &end, 10);
    if (end == text) return IDS_THREAD_WAITS_NOT;
    if (reads(number)) return IDS_THREAD_READS;
    uintptr_t address = strtoul(end, NULL, 16);
    if (sleeps(number, address)) return IDS_THREAD_SLEEPS;
    return number == SYS_futex && address >= gil->from && address < gil->to ? IDS_THREAD_WAITS_FOR_GIL
                                                                            : IDS_THREAD_WAITS_NOT;
}

void ids_thread_waits_done(void) {
    ids_task_files_close(&files);
}
