/* run_ahead.h - what steps took of a loop that launches them ahead of its device. Pure.
 *
 * There a step as the agent counts it is a call, which takes microseconds, and now and then one in which the program
 * waits until the device is through with all that lies before it, which takes as long as these steps together. Neither
 * is what a step took. But the device has something left to do only for as long as was launched: how long it had
 * nothing left is what a step took more than its own work, and all of them together take as long as the loop did. */
#ifndef IDS_LIB_RUN_RUN_AHEAD_H
#define IDS_LIB_RUN_RUN_AHEAD_H

#include <stddef.h>
#include <stdint.h>

struct ids_run_ahead {
    int64_t step_ns;  /* of the device's work, in each step */
    int64_t ahead_ns; /* of work that was launched and is not done */
    int64_t round_ns; /* of the device's work since it last had nothing left, or since nothing was known */
};

/* What the next step took, by how long its call took: step_ns, and how long the device had nothing left to do. Where
 * it had nothing left, *ret_round_ns is the work in which that time was lost, the step's own included: a device that
 * was slower all the while shows it there, when the program waits. Else it is step_ns. */
int64_t ids_run_ahead_step(struct ids_run_ahead *run, int64_t call_ns, int64_t *ret_round_ns);
/* Before that: how much longer the call took than the device can have had work for, where it is more than four times as
 * long: a wait on a machine that others use may be two or three times what it usually is. Else 0. */
int64_t ids_run_ahead_surely(const struct ids_run_ahead *run, int64_t call_ns);
/* A time of which nothing is known: the device may have done all. */
void ids_run_ahead_stop(struct ids_run_ahead *run);

/* What the device does in a step, by how long calls took in a run of which a window has `step_ns` for it, noise and
 * cost of recording included; a call of -1 is not known. Between one wait and the next it does as many steps as were
 * called; where that is longer than in the window it ran dry, and this says nothing of its work, nor where these times
 * are not alike, or less than a third: those calls took long for another reason than that they waited. */
int64_t ids_run_ahead_work(const int64_t *call_ns, size_t count, int64_t step_ns);

/* Whether steps whose calls took `total_ns` together are so much more than the device's work that it is somebody
 * else's doing. What a step takes of the device differs by less between a window and the rest of the run. */
int ids_run_ahead_is_dry(int64_t total_ns, size_t count, int64_t step_ns);

#endif
