/* rare_step.h - one step of the window is slow, as few of its run are: how much of a usual step that is.
 *
 * A window of four steps that has one slow step of thirteen has three times too much of what makes it slow, and one
 * window cannot tell. The history of the capture can: it knows how often steps are as slow, and what they lose. */
#ifndef IDS_LIB_RUN_RARE_STEP_H
#define IDS_LIB_RUN_RARE_STEP_H

#include "lib/report/report.h"
#include "lib/run/slowdown.h"

struct ids_rare_step {
    int64_t longer_ns;  /* than the usual step the window's one took */
    size_t measured;    /* steps that the report measures */
    size_t like, steps; /* outside windows: those that took half as much longer or more, and all */
    double lost_ns;     /* what those of `like` took longer, by all steps */
};

/* 1 and *ret_rare, where one of the steps that the report measures took more than twice the usual, and three or more of
 * those outside windows are like it; else 0, also without memory, and where the window was kept for a slow step. */
int ids_rare_step_find(const struct ids_slowdown_step *steps, size_t count, const struct ids_report *report,
                       struct ids_rare_step *ret_rare);
/* What advice says of one step of the window, and is half of what that one took longer or more, would save as much of a
 * step as such steps lose in the run; that is no chance any more. 1: there is some. The caller puts it in order. */
int ids_rare_step_tell(const struct ids_rare_step *rare, struct ids_report *report);

#endif
