/* usual_times.h - how long things usually take on the host: how far a device's launches are apart, and how long calls
 * are.
 *
 * Two questions are asked of it: whether a gap is short, that is, no more than the price of getting to the next launch;
 * and whether a call is so long that it is its first use (a module is loaded, a plan is made, a workspace is found).
 */
#ifndef IDS_LIB_ANALYSIS_USUAL_TIMES_H
#define IDS_LIB_ANALYSIS_USUAL_TIMES_H

#include "lib/analysis/context.h"
#include "lib/model/doings.h"

/* A gap up to that is short on every device. */
#define IDS_SHORT_GAP_LEAST_PS ((int64_t)20000000)

struct ids_usual_times {
    const struct ids_trace *trace;
    int64_t *short_ps;               /* by active device: a gap up to that length is short */
    struct ids_usual {               /* by name, of its dispatching moments; all 0 where none of them is long */
        int64_t median_ps, early_ps; /* early: until then they are among the first */
        int is_rarely_long;
    } * of_name;
};

/* 0, or -1 when memory ran out; ids_usual_times_done may be called in both cases. */
int ids_usual_times_find(struct ids_usual_times *usual, const struct ids_analysis *analysis);
void ids_usual_times_done(struct ids_usual_times *usual);

/* Whether turn `i` of the timeline, which is dispatching, is the first use of what is called there. `loads_code`: of an
 * accelerator, where a kernel's code is loaded at its first launch, whenever that comes. */
int ids_usual_times_is_first_use(const struct ids_usual_times *usual, const struct ids_timeline *timeline, size_t i,
                                 int loads_code);

/* Whether turn `i`, which is dispatching, is of a framework's op that launches nothing and takes too long to be on its
 * way to a launch: it computes on the host. */
int ids_usual_times_computes(const struct ids_usual_times *usual, const struct ids_timeline *timeline, size_t i);

#endif
