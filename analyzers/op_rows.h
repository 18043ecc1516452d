/* op_rows.h - the rows of the table `ops`, read by what is made of them: layers, computations, cuts. */
#ifndef IDS_ANALYZERS_OP_ROWS_H
#define IDS_ANALYZERS_OP_ROWS_H

#include "lib/analysis/analyzer.h"
#include "lib/analysis/op_costs.h"

struct ids_op_row {
    int64_t self_ps, total_ps, count, flops, bytes; /* count: executions; flops, bytes: of one, -1 unknown */
    int64_t in_steps_ps;                            /* of self_ps */
    int64_t device_ps; /* of devices, where ops run beside each other; negative where they do not, or it is not known */
    struct ids_op_cost cost;
    int communicates; /* with other devices, or the host */
    const char *name, *category, *module, *place, *pass, *scope, *source, *family, *class,
        *fingerprint; /* "" unknown */
};

struct ids_op_rows {
    struct ids_op_row *at; /* most self time first */
    size_t count;
    int64_t all_ps;                /* of all activity */
    int64_t other_ps, other_count; /* of activity without an op */
};

/* 0, or -1 when memory ran out. Texts point into the report. */
int ids_op_rows_read(const struct ids_report *report, struct ids_op_rows *ret_rows);
void ids_op_rows_done(struct ids_op_rows *rows);

/* What each of its executions has, of all of them: 1. 0, and nothing, where that is unknown, and of what only holds
 * other ops: a loop has what its body has, whose ops have rows of their own. */
static inline int ids_op_row_of_runs(const struct ids_op_row *op, int64_t of_one, double *ret_all) {
    int counts = of_one >= 0 && op->cost.runs;
    *ret_all = counts ? (double)of_one * (double)op->cost.runs : 0;
    return counts;
}

static inline struct ids_value ids_share_of(int64_t part_ps, int64_t all_ps) {
    return all_ps ? ids_real_value(IDS_UNIT_RATIO, (double)part_ps / (double)all_ps) : ids_no_value(IDS_UNIT_RATIO);
}

#endif
