/* passing.h - the common part of sinks that stand in front of another one: what they do not change passes. */
#ifndef IDS_LIB_MODEL_PASSING_H
#define IDS_LIB_MODEL_PASSING_H

#include "lib/model/sink.h"

/* The first member of such a sink, so that the sink is it. */
struct ids_passing {
    struct ids_sink sink; /* first, for the same reason */
    struct ids_sink_ops ops;
    struct ids_sink *next;
};

/* `own`: the calls that the sink takes itself; the others are NULL and go to `next`. A call that `next` does not want
 * is not taken. */
void ids_passing_init(struct ids_passing *passing, struct ids_sink *next, const struct ids_sink_ops *own);

#endif
