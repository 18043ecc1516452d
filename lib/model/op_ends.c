#include "lib/model/op_ends.h"

#include "lib/base/parallel.h"
#include "lib/base/saturate.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { AHEAD = 16 }; /* so many events before a key is looked for, the memory is asked for its place */

/* When a CPU op ended. Who finishes an op goes on with those that waited for it, in the same task of the thread pool,
 * and says only then that it ended: so it ended before the first one that began there. `next_ps`: when the next op
 * began on the op's own thread. */
static int64_t end_of(const struct ids_join *join, const struct ids_event *op, int64_t end_ps, int64_t next_ps) {
    uint64_t first;
    if (!ids_keymap_get(&join->op_goes_on, op->produces, &first)) return end_ps;
    int64_t goes_on_ps = (int64_t)first > op->start_ps ? (int64_t)first : next_ps; /* it began in that task itself */
    return goes_on_ps < end_ps ? goes_on_ps : end_ps;
}

/* The op of a thread that was looked at last. */
struct next_op {
    uint32_t device; /* + 1, that it was of */
    int64_t start_ps;
};

/* Ops of a thread follow each other, in time, and `next` has an element for each thread from `first_track` on. */
static uint64_t end_ops_of(const struct ids_join *join, struct ids_events *ops, size_t first_track,
                           struct next_op *next) {
    uint64_t without = 0;
    for (size_t i = ops->count; i-- > 0;) {
        struct ids_event *op = &ops->at[i];
        if (i >= AHEAD) {
            ids_keymap_expect(&join->op_ends, ops->at[i - AHEAD].produces);
            ids_keymap_expect(&join->op_goes_on, ops->at[i - AHEAD].produces);
        }
        struct next_op *own = &next[op->track - first_track];
        const int64_t after_ps = own->device == op->device + 1 ? own->start_ps : INT64_MAX;
        uint64_t end;
        *own = (struct next_op){op->device + 1, op->start_ps};
        if (!op->produces) continue; /* its end came next on its own thread */
        if (!ids_keymap_get(&join->op_ends, op->produces, &end)) {
            op->produces = 0;
            without++;
            continue;
        }
        int64_t end_ps = end_of(join, op, (int64_t)end, after_ps);
        op->produces = 0;
        if (end_ps <= op->end_ps) continue;
        ids_sum(&op->self_ps, end_ps - op->end_ps);
        op->end_ps = end_ps;
    }
    return without;
}

/* Devices are looked at beside each other, as many together as there are threads. */
struct ending {
    const struct ids_join *join;
    struct ids_trace *trace;
    size_t first_device, first_track, lots;
    atomic_uint_least64_t without;
    atomic_int failed;
};

static void end_lot(void *context, size_t lot) {
    struct ending *ending = context;
    struct ids_trace *trace = ending->trace;
    struct next_op *next = calloc(trace->track_count - ending->first_track + 1, sizeof *next);
    if (!next) atomic_store(&ending->failed, 1);
    for (size_t d = ending->first_device + lot; d < trace->device_count && next; d += ending->lots) {
        struct ids_device *device = &trace->devices[d];
        if (device->kind == IDS_DEVICE_CPU)
            atomic_fetch_add(&ending->without, end_ops_of(ending->join, &device->activity, ending->first_track, next));
    }
    free(next);
}

int ids_op_ends_find(struct ids_join *join, struct ids_trace *trace, size_t first_device, size_t first_track,
                     struct ids_error *err) {
    const size_t devices = trace->device_count - first_device, jobs = ids_jobs();
    struct ending ending = {.join = join, .trace = trace, .first_device = first_device, .first_track = first_track};
    ending.lots = devices < jobs ? devices : jobs;
    ids_parallel_events(trace->event_count, ending.lots, end_lot, &ending);
    join->ops_without_end += ending.without;
    ids_keymap_done(&join->op_ends);
    ids_keymap_done(&join->op_goes_on);
    return ending.failed ? ids_no_memory(err) : 0;
}
