/* tee.h - a sink that passes its input to two sinks. Both number planes and tracks from 0 in the order of the calls.
 * Numbers of names may differ, because the trace builder adds names of its own. */
#ifndef IDS_LIB_MODEL_TEE_H
#define IDS_LIB_MODEL_TEE_H

#include "lib/model/sink.h"

struct ids_tee {
    struct ids_sink sink; /* first, so that the sink is the tee */
    struct ids_sink_ops ops;
    struct ids_sink *left, *right;
    uint32_t *right_name; /* by the left one's number */
    size_t name_room;
};

/* Both have the same `strings`; the tee returns the numbers of the left one. The caller owns the storage. */
void ids_tee_init(struct ids_tee *tee, struct ids_sink *left, struct ids_sink *right);
/* After reading: tells both whether the file was complete. */
void ids_tee_finish(struct ids_tee *tee);
void ids_tee_done(struct ids_tee *tee);

#endif
