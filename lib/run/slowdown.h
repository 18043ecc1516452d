/* slowdown.h - how much longer a step takes while it is recorded than it takes otherwise, by the history of a capture.
 *
 * The recorded steps are those that the report measures, at least three, and the others those of the history that no
 * window touches, at least twenty. Recording slows where the median of the former is a quarter longer than that of the
 * latter, or more; of an even number of recorded steps it is the shorter one in the middle, so that one step that is
 * slow by itself is none of recording. */
#ifndef IDS_LIB_RUN_SLOWDOWN_H
#define IDS_LIB_RUN_SLOWDOWN_H

#include "lib/report/report.h"

#include <stddef.h>
#include <stdint.h>

struct ids_slowdown_step {
    int64_t number, took_ns;
    int is_recorded; /* a window touches it */
};

struct ids_slowdown {
    int64_t recorded_ns, usual_ns;
};

/* 1 and *ret_slowdown, where recording slows the steps of the report; else 0. Without memory it does not. */
int ids_slowdown_find(const struct ids_slowdown_step *steps, size_t count, const struct ids_report *report,
                      struct ids_slowdown *ret_slowdown);
/* Says it in the property `recording`, and takes it off what advice on steps would save. */
void ids_slowdown_tell(const struct ids_slowdown *slowdown, struct ids_report *report);

#endif
