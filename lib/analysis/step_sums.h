/* step_sums.h - how much of each thing (an op, a kernel) every step has: a row of sums by step for each, from which totals, squares
 * and vectors come.
 *
 * Rows are made when the first event of a thing comes. All rows together are limited, so that many things in many steps do
 * not fill the memory: those beyond it keep their total alone.
 */
#ifndef IDS_LIB_ANALYSIS_STEP_SUMS_H
#define IDS_LIB_ANALYSIS_STEP_SUMS_H

#include "lib/analysis/context.h"

enum { IDS_STEP_SUM_CELLS = 4 << 20 }; /* 32 MiB */

struct ids_step_sum {
    int64_t total_ps; /* in steps */
    int64_t *by_step; /* NULL: no step had any of it, or the limit was reached */
};

struct ids_step_sums {
    const struct ids_analysis *analysis;
    struct ids_step_sum *at; /* by the thing's number */
    size_t count, room, cells;
};

static inline struct ids_step_sums ids_step_sums_of(const struct ids_analysis *analysis) {
    return (struct ids_step_sums){.analysis = analysis};
}
/* Counts `ps` of a device's event to the thing of that number. 0, or -1 when memory ran out. */
int ids_step_sums_add(struct ids_step_sums *sums, size_t number, const struct ids_event *event, int64_t ps);
/* The thing's row; one that nothing was counted for is empty. */
struct ids_step_sum ids_step_sum_of(const struct ids_step_sums *sums, size_t number);
/* Σ of the squares of the sums by step, in s². */
double ids_step_sum_squares(const struct ids_step_sums *sums, struct ids_step_sum row);
/* "[12,0,7]": picoseconds by step, as a text of the report; NULL without a row. */
const char *ids_step_sum_text(const struct ids_step_sums *sums, struct ids_step_sum row, struct ids_report *report);
void ids_step_sums_done(struct ids_step_sums *sums);

#endif
