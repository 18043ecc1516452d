/* step_sums.h - how much of each thing (an op, a kernel) every step has: a row of sums by step for each, from which
 * totals, squares and vectors come.
 *
 * A row begins when the first event of a thing comes, and has a cell for each step with any of it. All rows together
 * are limited, as if each had a cell for every step, so that many things in many steps do not fill the memory: those
 * beyond it keep their total alone.
 */
#ifndef IDS_LIB_ANALYSIS_STEP_SUMS_H
#define IDS_LIB_ANALYSIS_STEP_SUMS_H

#include "lib/analysis/context.h"

enum { IDS_STEP_SUM_CELLS = 4 << 20 };

struct ids_step_sum {
    int64_t total_ps;            /* in steps */
    int64_t events;              /* that were counted to steps */
    int64_t begun;               /* of these, those that begin a run of a framework's op */
    struct ids_step_cell *cells; /* NULL: no step had any of it, or the limit was reached */
    size_t count, room, last;    /* last: the cell that was counted to */
    int unordered;               /* a step came whose place is further in front: order and sums of cells wait */
};

struct ids_step_sums {
    const struct ids_analysis *analysis;
    struct ids_step_sum *at; /* by the thing's number */
    size_t count, room;
    size_t cells; /* of all rows, were each to have one for every step */
    int is_full;  /* a row has no cells because of the limit */
};

static inline struct ids_step_sums ids_step_sums_of(const struct ids_analysis *analysis) {
    return (struct ids_step_sums){.analysis = analysis};
}
/* Counts `ps` of a device's event to the thing of that number. 0, or -1 when memory ran out. */
int ids_step_sums_add(struct ids_step_sums *sums, size_t number, const struct ids_event *event, int64_t ps);
/* The same for a step by its index; IDS_NONE counts to none. */
int ids_step_sums_add_to(struct ids_step_sums *sums, size_t number, uint32_t step, int64_t ps);
/* Adds what another row has of each step, which is in order. 0, or -1 when memory ran out. */
int ids_step_sums_take(struct ids_step_sums *sums, size_t number, const struct ids_step_sum *row);
/* The thing's row with its cells in order, valid until the next is added; one that nothing was counted for is empty. */
const struct ids_step_sum *ids_step_sum_of(struct ids_step_sums *sums, size_t number);
/* Σ of the squares of the sums by step, in s². */
double ids_step_sum_squares(const struct ids_step_sum *row);
/* "[12,0,7]": picoseconds by step, as a text of the report; NULL without cells. */
const char *ids_step_sum_text(const struct ids_step_sums *sums, const struct ids_step_sum *row,
                              struct ids_report *report);
void ids_step_sums_done(struct ids_step_sums *sums);

#endif
