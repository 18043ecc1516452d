/* slowdown.h - how much longer, or shorter, steps took in the window than just before and after it, by the history of a
 * capture.
 *
 * The steps in the window are those that the report measures, at least three. Around it are the nearest ones that no
 * window touches, at most twenty on either side, some on both and ten in all. Medians are held against one another; of
 * an even number it is the shorter one in the middle, so that one step that is slow by itself does not count.
 *
 * A program has slow steps of its own, and these are none of recording. So where there are fewer of them, where the
 * median before the window and that after it differ by more than a quarter, or where the upper quartile of those around
 * is more than a quarter above their median, only more than one and a half times that quartile counts, of five steps or
 * more. Nothing is said where the window was kept because a step was slow.
 *
 * Shorter is the same the other way (the lower quartile), by the steps of the report; and where those around are unlike
 * each other, all of the run's outside windows may say what they do not. Where a device works off what was
 * launched before the window, its steps are shorter than the program's, and no figure of theirs is that of a usual
 * one. */
#ifndef IDS_LIB_RUN_SLOWDOWN_H
#define IDS_LIB_RUN_SLOWDOWN_H

#include "lib/report/report.h"

#include <stddef.h>
#include <stdint.h>

struct ids_slowdown_step {
    int64_t number, took_ns;
    int is_recorded; /* a window touches it */
    int is_of_other; /* that is another one than the report's */
};

/* Slow steps, of more than twice the median, are a tenth or more of the run outside windows, five at least, and lose a
 * quarter of its time or more; and the report measures one. What a slow step lost is no chance then, and the mean step
 * says more of the run than the median one. */
struct ids_slow_often {
    size_t slow, steps; /* outside windows */
    int64_t mean_ns;    /* of these steps, the slow ones too */
};

struct ids_slowdown {
    int64_t recorded_ns, usual_ns;
    size_t around;    /* of how many steps usual_ns is the median */
    const char *side; /* where these are: around, before, after, outside */
    /* Where the window has slow steps as the run has, in a rhythm or often: the mean of the measured steps, and that of
     * the run, with its share of slow ones. The caller sets the second; 0: there is none. */
    int64_t recorded_mean_ns, usual_mean_ns;
};

/* 1 and *ret_slowdown, where the steps of the report took at least so much longer or shorter; else 0. Without memory
 * they did not. The steps are those of one process, in the order in which it made them. step_ns: of those that the
 * report measures by devices, the one in the middle; 0: not known of this process, and none is shorter. */
int ids_slowdown_find(const struct ids_slowdown_step *steps, size_t count, const struct ids_report *report,
                      int64_t step_ns, struct ids_slowdown *ret_slowdown);
/* 1 and *ret_often, where slow steps are that frequent; else 0, also without memory. */
int ids_slow_often_find(const struct ids_slowdown_step *steps, size_t count, const struct ids_report *report,
                        struct ids_slow_often *ret_often);
/* Whether the usual step that the savings are held against is that mean: the measured ones are slow as those are. */
int ids_slow_often_measured(const struct ids_slowdown *slowdown);
/* Where the piece that would save most stands behind others because it may be chance, puts advice in the order of what
 * it saves; and says of such a piece, also where it is first, what is sure of it. */
void ids_slow_often_tell(const struct ids_slow_often *often, struct ids_report *report);
/* Says it in the property `recording`. Where they took longer, it takes that off what advice on steps would save: never
 * more than the step, nor together more than it. Of steps with a rhythm that is by their means, and where few steps
 * have most of the window's time, savings stay. Where they took shorter, advice stands before that on what devices
 * compute, and savings stay. 1: savings are those of a step of the run now; 0: they are those of the window. */
int ids_slowdown_tell(const struct ids_slowdown *slowdown, struct ids_report *report);

#endif
