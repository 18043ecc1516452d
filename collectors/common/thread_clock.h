/* thread_clock.h - how long a thread of this process has run so far. */
#ifndef IDS_COLLECTORS_COMMON_THREAD_CLOCK_H
#define IDS_COLLECTORS_COMMON_THREAD_CLOCK_H

#include <stdint.h>

/* CPU time; -1: there is no such thread. What it costs is a call of the system. */
int64_t ids_thread_cpu_ns(uint64_t tid);

#endif
