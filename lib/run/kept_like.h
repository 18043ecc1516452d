/* kept_like.h - a window is kept because one step in it was slow: how many steps of the run are like that one, by the
 * history. */
#ifndef IDS_LIB_RUN_KEPT_LIKE_H
#define IDS_LIB_RUN_KEPT_LIKE_H

#include "lib/capture/kept.h"
#include "lib/report/report.h"
#include "lib/run/missed.h"

struct ids_kept_like {
    size_t like, steps;         /* that took half as long as it or longer, it included; of so many */
    double longer_ns, total_ns; /* than the median step, all of these together; of how long all steps took */
};

/* 1, or 0 where the step is not among them: the history is of another process, or has lost it. */
int ids_kept_like_find(const struct ids_kept *kept, const struct ids_missed_step *steps, size_t count,
                       struct ids_kept_like *ret_like);
/* The run's property `kept_like`. */
void ids_kept_like_tell(const struct ids_kept_like *like, struct ids_report *report);

#endif
