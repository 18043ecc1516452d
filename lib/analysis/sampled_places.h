/* sampled_places.h - where in a function the time goes: the line in which sampled stacks saw it, and what it calls
 * there, which is also known of a recorded function that launches work (doings.h).
 *
 * Every sample has another line. A culprit is one function, so its place is the line that had most of its time, of all
 * threads; code of a module itself is no function, and each of its lines is a culprit of its own.
 *
 * Waiting for a device, putting data on one and compiling have events, and samples know the call around them only where
 * one was taken inside: device_put around shard_args. One line makes one such call, so the name that has most time
 * stands for all that the line does. */
#ifndef IDS_LIB_ANALYSIS_SAMPLED_PLACES_H
#define IDS_LIB_ANALYSIS_SAMPLED_PLACES_H

#include "lib/model/trace.h"

struct ids_sampled_place {
    uint32_t doing;  /* whose line and call stand for its function */
    uint8_t is_most; /* what is called there takes more than half of the function's time */
    uint8_t percent; /* how much of the function's time that is */
    uint8_t is_part; /* the function sleeps for a good part of its time, and does not for another one: this is of one of
                      * the two, which have places of their own */
};

/* By doing; NULL: nothing is known. */
struct ids_sampled_places {
    struct ids_sampled_place *own;   /* of a thread for itself */
    struct ids_sampled_place *whole; /* of one that is waited for: of the whole function, for all of it is waited for */
    uint32_t *awake;                 /* the doing of the longest place where the function does not wait */
    uint32_t *call;                  /* the doing whose outermost call stands for those of its line */
};

/* 0, or -1 when memory ran out; ids_sampled_places_done may be called in both cases. */
int ids_sampled_places_find(struct ids_sampled_places *places, const struct ids_trace *trace);
void ids_sampled_places_done(struct ids_sampled_places *places);

#endif
