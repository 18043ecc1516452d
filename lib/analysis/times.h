/* times.h - what --from, --to and the numbers of steps mean in the run's times, for those who only need that. */
#ifndef IDS_LIB_ANALYSIS_TIMES_H
#define IDS_LIB_ANALYSIS_TIMES_H

#include "lib/model/trace.h"

/* From when a step's annotation begins, or its first device event where it has none, to when its last device event
 * ends. */
struct ids_step_times {
    int64_t number, from_ps, to_ps;
};

struct ids_times {
    int64_t first_ps;             /* the run's first device activity; its first event where no device did anything */
    struct ids_step_times *steps; /* in time order */
    size_t step_count;
};

int ids_times_of(const struct ids_trace *trace, struct ids_times *ret_times, struct ids_error *err);
void ids_times_done(struct ids_times *times);

#endif
