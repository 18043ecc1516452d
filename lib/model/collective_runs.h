/* collective_runs.h - when each host ran which collective: what the clocks of hosts are matched by. */
#ifndef IDS_LIB_MODEL_COLLECTIVE_RUNS_H
#define IDS_LIB_MODEL_COLLECTIVE_RUNS_H

#include "lib/model/trace.h"

struct ids_collective_run {
    uint64_t key; /* what ran, and on which of the host's devices: the same number on all hosts */
    int64_t start_ps, end_ps;
};

/* Of one host, by key and then by end. */
struct ids_collective_runs {
    struct ids_collective_run *at;
    size_t count, room;
    /* The same once more where the step is known, with the step in the key: steps of one number are the same step on
     * all hosts. */
    struct ids_collective_run *in_steps;
    size_t in_steps_count, in_steps_room;
};

/* The name that a collective has on all devices that take part: of the op and its program, else of the kernel, the
 * ranks that it is for and what it does: kernels of several kinds may bear one name. Never 0. */
uint64_t ids_collective_key(const struct ids_trace *trace, const struct ids_event *event);
/* Whether the event is a collective that other devices may have too. The -start of an async pair does not count,
 * because its end is not the collective's. */
int ids_is_collective_run(const struct ids_trace *trace, const struct ids_event *event);
/* One list for each host of the trace; *ret_runs is the caller's to end. */
int ids_collective_runs_of(const struct ids_trace *trace, struct ids_collective_runs **ret_runs, struct ids_error *err);
void ids_collective_runs_done(struct ids_collective_runs *runs, size_t host_count);

#endif
