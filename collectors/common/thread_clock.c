#include "collectors/common/thread_clock.h"

#include "collectors/common/task_files.h"

#include <stdlib.h>
#include <time.h>

enum { SECOND_NS = 1000000000, TEXT = 96 };

static struct ids_task_files files = {.name = "schedstat"};

/* The clock of a thread's CPU time is its number in a shape that Linux keeps: CPUCLOCK_PERTHREAD and CPUCLOCK_SCHED. */
int64_t ids_thread_cpu_ns(uint64_t tid) {
    struct timespec spent;
    enum { OF_THREAD = 4, BY_SCHEDULER = 2 };
    clockid_t clock = (clockid_t)(~(uint32_t)tid << 3 | OF_THREAD | BY_SCHEDULER);
    return !tid || clock_gettime(clock, &spent) ? -1 : (int64_t)spent.tv_sec * SECOND_NS + spent.tv_nsec;
}

/* "1200 34 5": the time it ran, the time it waited, how often it was given a core. */
int64_t ids_thread_waited_ns(uint64_t tid) {
    char text[TEXT], *ran_end, *waited_end;
    if (!ids_task_files_read(&files, tid, text, sizeof text)) return -1;
    strtoull(text, &ran_end, 10);
    uint64_t waited = strtoull(ran_end, &waited_end, 10);
    return ran_end == text || waited_end == ran_end || waited > INT64_MAX ? -1 : (int64_t)waited;
}

void ids_thread_clocks_done(void) {
    ids_task_files_close(&files);
}
