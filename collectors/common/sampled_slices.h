/* sampled_slices.h - from stacks that were sampled to slices: a call lasts while samples that follow one another have
 * it, and from one stack to another a thread turned in the middle between two samples. */
#ifndef IDS_COLLECTORS_COMMON_SAMPLED_SLICES_H
#define IDS_COLLECTORS_COMMON_SAMPLED_SLICES_H

#include "collectors/common/samples.h"

struct ids_sampled_slice {
    int64_t start_ns, end_ns, name;
    int64_t first_ns, last_ns; /* the samples in which it was the innermost: the first of them, and the last */
    uint32_t depth, samples;   /* how many they are; with 0 there are no times of them */
};

struct ids_sampled_slices {
    struct ids_sampled_slice *at; /* those around come first */
    size_t count, room;
    int64_t wait_name; /* of a slice in which the thread had no core, inside what it would have gone on with; no samples
                        * are of it */
};

/* When samples were taken: from begin_ns to end_ns, `count` of them; the first `dense` of them before dense_end_ns. */
struct ids_sampled_time {
    int64_t begin_ns, end_ns, dense_end_ns;
    uint32_t count, dense;
};

/* The usual time between samples at that moment; 0: unknown. */
int64_t ids_sampled_period(const struct ids_sampled_time *time, int64_t when_ns);

/* Fills in the names of a run's calls, the outermost first; returns how many. */
typedef uint32_t ids_names_of_run(void *context, const struct ids_sample_run *run, int64_t *ret_names);

/* The slices of one thread. 0, or -1 when there is no memory. */
int ids_sampled_slices_make(struct ids_sampled_slices *slices, const struct ids_sampled_thread *thread,
                            const struct ids_sampled_time *time, ids_names_of_run *names_of, void *context);
void ids_sampled_slices_done(struct ids_sampled_slices *slices);

#endif
