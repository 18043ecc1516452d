/* thread_clock.h - how long a thread of this process has run, and has waited for a core, so far. */
#ifndef IDS_COLLECTORS_COMMON_THREAD_CLOCK_H
#define IDS_COLLECTORS_COMMON_THREAD_CLOCK_H

#include <stdint.h>

struct ids_thread_clock {
    int64_t cpu_ns, waited_ns; /* waited_ns: ready to run, and all cores were others'; each -1: unknown */
};

/* CPU time; -1: there is no such thread. What it costs is a call of the system. */
int64_t ids_thread_cpu_ns(uint64_t tid);
/* How long it waited for a core (/proc/self/task/TID/schedstat); -1: the kernel does not say it. */
int64_t ids_thread_waited_ns(uint64_t tid);
/* What such a file says: "1200 34 5", the time it ran, the time it waited, how often it was given a core. 1; 0: it is
 * none. */
int ids_schedstat_parse(const char *text, int64_t *ret_ran_ns, int64_t *ret_waited_ns);
/* Closes the files of threads that were asked about. */
void ids_thread_clocks_done(void);

#endif
