/* rhythm.h - steps that take longer at equal distances: a program validates, logs or saves in every n-th step.
 *
 * A rhythm is a period and a level (half the usual step, one, two, four and so on). Long is a step that takes longer
 * than the usual one by more than the level. At least four steps whose number has the same rest are long, they are
 * three of four at these places, and elsewhere there is at most one long step for four of them. So neither the noise of
 * a busy machine is a rhythm, nor does a step that is a little longer after each long one hide it. Of several, the one
 * that takes most time counts. */
#ifndef IDS_LIB_RUN_RHYTHM_H
#define IDS_LIB_RUN_RHYTHM_H

#include "lib/report/report.h"

#include <stddef.h>
#include <stdint.h>

struct ids_rhythm_step {
    int64_t number, took_ns;
};

struct ids_rhythm {
    int64_t period, first; /* steps whose number divided by the period leaves `first` */
    int64_t took_ns;       /* the usual one of them */
    int64_t usual_ns;      /* the usual step */
    int64_t last;          /* the last step that the program is known to have */
    const char *turn;      /* the function with whose call they come, at the end of a turn; NULL: not known of any */
};

/* 1 and *ret_rhythm, where there is one; else 0. Without memory there is none. */
int ids_rhythm_find(const struct ids_rhythm_step *steps, size_t count, struct ids_rhythm *ret_rhythm);
/* The same of steps with whose number each `every`-th turn of the loop is known to end: 1, where these are four or more
 * and take half as long again as the others. ret_rhythm->turn is the caller's to set. */
int ids_rhythm_of_turn(const struct ids_rhythm_step *steps, size_t count, int64_t every, int64_t place,
                       struct ids_rhythm *ret_rhythm);
/* The mean step of such a run; of none, the usual step. */
static inline int64_t ids_rhythm_mean_ns(const struct ids_rhythm *rhythm) {
    if (rhythm->period <= 0) return rhythm->usual_ns;
    return rhythm->usual_ns + (rhythm->took_ns - rhythm->usual_ns) / rhythm->period;
}
/* What a report says of it whose steps have none of these; NULL: they have one, or there are no steps. */
const char *ids_rhythm_missed(const struct ids_rhythm *rhythm, struct ids_report *report);
/* Whether the steps that the report measures have the rhythm's long ones, no more of them than the run has, and none
 * beside them that takes half as long: then what one of them alone has is no chance, and its share is that of the run.
 * `steps` are those that windows touch. */
int ids_rhythm_is_measured(const struct ids_rhythm *rhythm, const struct ids_rhythm_step *steps, size_t count,
                           const struct ids_report *report);

#endif
