#include "collectors/common/thread_clock.h"

#include <time.h>

enum { SECOND_NS = 1000000000 };

/* The clock of a thread's CPU time is its number in a shape that Linux keeps: CPUCLOCK_PERTHREAD and CPUCLOCK_SCHED. */
int64_t ids_thread_cpu_ns(uint64_t tid) {
    struct timespec spent;
    enum { OF_THREAD = 4, BY_SCHEDULER = 2 };
    clockid_t clock = (clockid_t)(~(uint32_t)tid << 3 | OF_THREAD | BY_SCHEDULER);
    return !tid || clock_gettime(clock, &spent) ? -1 : (int64_t)spent.tv_sec * SECOND_NS + spent.tv_nsec;
}
