/* sampled_calls.h - which calls that samples saw are those whose events the thread has.
 *
 * A sample names a call as the program writes it: "$self step" of `self.step(state)`. An event names the function:
 * PjitFunction(train_step). Where `self.step = jax.jit(train_step)` made one of the other, only the two together show
 * it: in the event that call is what most samples saw. */
#ifndef IDS_LIB_MODEL_SAMPLED_CALLS_H
#define IDS_LIB_MODEL_SAMPLED_CALLS_H

#include "lib/base/keymap.h"
#include "lib/model/trace.h"

struct ids_sampled_calls {
    struct ids_keymap launches; /* a call in a function of the program, and the event that it is */
};

void ids_sampled_calls_done(struct ids_sampled_calls *calls);
/* `recorded`: what the thread's events show, `sampled`: what its samples do, which were taken at `samples` (in order
 * of time). 0, or -1 when memory ran out. */
int ids_sampled_calls_find(struct ids_sampled_calls *calls, const struct ids_trace *trace,
                           const struct ids_timeline *recorded, const struct ids_timeline *sampled,
                           const struct ids_stack_sample *samples, size_t count);
/* "train_step" of a launch in PjitFunction(train_step); length 0 of any other event. */
struct ids_text ids_launched_function(const struct ids_trace *trace, uint32_t events);
/* Whether a sample of the doing `frames` was taken inside the very call that the event of the doing `events` is of. */
int ids_sampled_calls_are_one(const struct ids_sampled_calls *calls, const struct ids_trace *trace, uint32_t events,
                              uint32_t frames);

/* Whether that sample saw Python that the launch of the doing `events` runs: a __hash__ of a static argument, the
 * tree_flatten of a class. */
int ids_sampled_calls_runs(const struct ids_sampled_calls *calls, const struct ids_trace *trace, uint32_t events,
                           uint32_t frames);

#endif
