/* thread_clock.h - how long a thread of this process has run, and has waited for a core, so far. */
#ifndef IDS_COLLECTORS_COMMON_THREAD_CLOCK_H
#define IDS_COLLECTORS_COMMON_THREAD_CLOCK_H

#include <stdint.h>

struct ids_thread_clock {
    int64_t cpu_ns, waited_ns; /* waited_ns: ready to run, and all cores were others'; each -1: unknown */
    int64_t at_ns;             /* when cpu_ns was read */
};

/* For so long the thread was ready to run, and had no core. */
struct ids_core_wait {
    int64_t start_ns, end_ns;
};

/* CPU time; -1: there is no such thread. What it costs is a call of the system. */
int64_t ids_thread_cpu_ns(uint64_t tid);
/* How long it waited for a core (/proc/self/task/TID/schedstat); -1: the kernel does not say it. */
int64_t ids_thread_waited_ns(uint64_t tid);
/* What such a file says: "1200 34 5", the time it ran, the time it waited, how often it was given a core. 1; 0: it is
 * none. */
int ids_schedstat_parse(const char *text, int64_t *ret_ran_ns, int64_t *ret_waited_ns);
/* Where between two readings of a thread's clock it waited for a core: in the middle where nothing else is known; until
 * it ran where a sample between them saw it wait (is_seen). The two clocks are read one after the other, and the kernel
 * counts a wait when it ends: no more is a wait between them than the time in which the thread did not run. */
struct ids_core_wait ids_core_wait_between(const struct ids_thread_clock *before, const struct ids_thread_clock *now,
                                           int is_seen);
/* Whether it ran between two readings of its clock, and neither ran nor waited for a core for most of the time: it
 * woke. */
int ids_thread_woke_between(const struct ids_thread_clock *before, const struct ids_thread_clock *now);
/* Closes the files of threads that were asked about. */
void ids_thread_clocks_done(void);

#endif
