/* double.h - a PJRT plugin that is only a double: it implements the entries that the interposer wraps and asks, over
 * one thread that "runs" executions in order, and a profiler extension that returns an XSpace with one event for each
 * execution that ran while its session was open. So what a window caught can be held against what ran, execution by
 * execution.
 *
 * Faults are words of $PJRT_DOUBLE, separated by commas; double_faults() changes them in the process:
 *   fail=ENTRY        that function (its place in the table: fail=20) returns an error; fail=profiler.start and the
 *                     like too
 *   functions=N       the table ends after N functions; major=N; minor=N
 *   no-profiler, table=N (bytes of the profiler's table), extension=N (bytes of its extension)
 *   unlent            collect gives the size at the first call and fills the caller's buffer at the second
 *   garbage           collect returns bytes that are no XSpace; truncated: a half of one
 *   hlo               collect has the plane /host:metadata with the programs that ran
 *   run=US, slow-stop=MS, slow-collect=MS
 *   hang              executions never complete; async-error: they complete with an error
 *   devices=N, process=N
 */
#ifndef IDS_TESTS_PJRT_DOUBLE_H
#define IDS_TESTS_PJRT_DOUBLE_H

#include <stdint.h>

/* What lives and must be destroyed by whoever got it, and what was called. */
struct double_counts {
    int errors, events, clients, executables, loaded, buffers, profilers; /* live */
    int executions, sessions, calls[256];
    int wrong; /* arguments that no program gave: a struct_size or a field that was changed on the way */
};

void double_faults(const char *faults);
struct double_counts *double_counts(void);

#endif
