/* sampled_gaps.h - what a thread does in a gap between its events into which no sample fell.
 *
 * The same gap comes in each step: between the same events, about as long. All of them together have samples where one
 * alone has none: what was seen in most of them is what such a gap is. */
#ifndef IDS_LIB_MODEL_SAMPLED_GAPS_H
#define IDS_LIB_MODEL_SAMPLED_GAPS_H

#include "lib/base/keymap.h"
#include "lib/model/trace.h"

struct ids_sampled_gaps {
    const struct ids_trace *trace;
    const struct ids_timeline *recorded; /* the thread's events */
    struct ids_keymap seen;              /* gaps with a sample */
    struct ids_keymap functions;         /* a kind of gap and a function: its samples */
    struct ids_keymap doings;            /* ... and a doing */
    struct ids_keymap most;              /* ...: the doing that most of these samples saw, plus one */
    struct ids_keymap best;              /* a kind of gap: that of the function with most samples */
};

void ids_sampled_gaps_done(struct ids_sampled_gaps *gaps);
/* At that moment a sample saw the thread do this. 0, or -1 when memory ran out. */
int ids_sampled_gaps_add(struct ids_sampled_gaps *gaps, int64_t when_ps, uint32_t doing);
/* What is done in that turn of the events, if it is a gap without a sample, and samples fell into others of its kind;
 * IDS_NO_DOING: not known. */
uint32_t ids_sampled_gaps_usual(const struct ids_sampled_gaps *gaps, size_t turn);

#endif
