/* period.h - the executions of compiled programs on each device, and whether one program runs once a step.
 *
 * If nothing marks steps, a training loop is still visible: its program runs again and again. We take the program with
 * the most device time. A step is the time from the end of one execution to the end of the next one, so that a wait for
 * the host belongs to the step that it delays. That holds only where the program runs once a step, so there are none
 * where
 *
 * - it ran less than IDS_PERIOD_LEAST times;
 * - fewer than two thirds of the times between its ends are within a half of their median (requests of a server, eager
 *   ops);
 * - its executions come in groups of a fixed size: each group is followed by a longer time, or by another program. Then
 *   one execution may be a part of a step (micro-batches), and nothing says which of the two is the step;
 * - another program that takes at least half as much time runs a fixed number of times for each of its executions;
 * - another device with a relevant amount of work has another period.
 */
#ifndef IDS_LIB_ANALYSIS_PERIOD_H
#define IDS_LIB_ANALYSIS_PERIOD_H

#include "lib/base/error.h"
#include "lib/model/trace.h"

enum { IDS_PERIOD_LEAST = 4 };

/* An execution of the program that recurs. */
struct ids_execution {
    int64_t start_ps, end_ps; /* of its first device event, of its last one */
};

/* Those of one device, in the order of their ends; no two of them end together. */
struct ids_executions {
    struct ids_execution *at;
    size_t count;
    size_t first; /* which execution of the run its first one is: a device's recording may begin later than another's */
};

struct ids_period {
    char program[96];                 /* with most time: "jit_train_step"; empty where no program is known */
    struct ids_executions *of_device; /* by trace->devices; without executions on those that have no steps */
    size_t device_count;
    char why[256]; /* there are no steps by a period; empty when there are */
};

int ids_period_find(const struct ids_trace *trace, struct ids_period *ret_period, struct ids_error *err);
void ids_period_done(struct ids_period *period);

#endif
