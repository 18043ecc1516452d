/* cost_cells.h - the columns that say how fast something was and what bounds it, the same in all tables that have them.
 */
#ifndef IDS_ANALYZERS_COST_CELLS_H
#define IDS_ANALYZERS_COST_CELLS_H

#include "lib/analysis/op_costs.h"
#include "lib/report/report.h"

#define IDS_COST_COLUMNS(flags)                                                                                   \
    {"flop_rate", "FLOP/s", IDS_UNIT_FLOPS, (flags)}, {"flops_share", "of peak", IDS_UNIT_RATIO, (flags)},        \
        {"bandwidth", "memory", IDS_UNIT_RATE, (flags)}, {"bandwidth_share", "of peak", IDS_UNIT_RATIO, (flags)}, \
        {"intensity", "FLOP per byte", IDS_UNIT_NUMBER, IDS_COLUMN_DETAIL},                                       \
        {"bound", "bound by", IDS_UNIT_NONE, (flags)},                                                            \
        {"at_roofline", "time at roofline", IDS_UNIT_TIME, IDS_COLUMN_DETAIL}, {                                  \
        "lost", "lost to the roofline", IDS_UNIT_TIME, IDS_COLUMN_DETAIL                                          \
    }
/* The same where only the shares of the peaks have room. */
#define IDS_COST_SHARES                                                          \
    {"flop_rate", "FLOP/s", IDS_UNIT_FLOPS, IDS_COLUMN_DETAIL},                  \
        {"flops_share", "of FLOP/s", IDS_UNIT_RATIO, IDS_COLUMN_SPARE},          \
        {"bandwidth", "memory", IDS_UNIT_RATE, IDS_COLUMN_DETAIL},               \
        {"bandwidth_share", "of memory", IDS_UNIT_RATIO, IDS_COLUMN_SPARE},      \
        {"intensity", "FLOP per byte", IDS_UNIT_NUMBER, IDS_COLUMN_DETAIL},      \
        {"bound", "bound by", IDS_UNIT_NONE, IDS_COLUMN_SPARE},                  \
        {"at_roofline", "time at roofline", IDS_UNIT_TIME, IDS_COLUMN_DETAIL}, { \
        "lost", "lost to the roofline", IDS_UNIT_TIME, IDS_COLUMN_DETAIL         \
    }
enum { IDS_COST_CELLS = 8, IDS_COST_RATES = 6 }; /* the latter come first: without the two times */

/* Rates are of the time of what has a cost; without one there is no value. */
void ids_cost_cells(const struct ids_op_cost *cost, int is_communication, struct ids_value ret_cells[IDS_COST_CELLS]);
/* Seconds as a value; none where it is not known. */
struct ids_value ids_cost_time(int known, double seconds);
#define IDS_COST_VALUES(cells) \
    (cells)[0], (cells)[1], (cells)[2], (cells)[3], (cells)[4], (cells)[5], (cells)[6], (cells)[7]

#endif
