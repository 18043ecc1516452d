#include "analyzers/cost_cells.h"

#include <math.h>

static struct ids_value rate(enum ids_unit unit, int known, double amount, double time) {
    return known && time > 0 ? ids_real_value(unit, amount / time) : ids_no_value(unit);
}

struct ids_value ids_cost_time(int known, double seconds) {
    return known && seconds < 9e6 ? ids_int_value(IDS_UNIT_TIME, llround(seconds * 1e12)) : ids_no_value(IDS_UNIT_TIME);
}

void ids_cost_cells(const struct ids_op_cost *cost, int is_communication, struct ids_value ret_cells[IDS_COST_CELLS]) {
    const struct ids_untimed_cost *untimed = &cost->untimed;
    int has_flops = cost->has_flops, has_bytes = cost->has_bytes;
    enum ids_bound bound = ids_bound_of(cost, is_communication);
    ret_cells[0] = rate(IDS_UNIT_FLOPS, has_flops, cost->flops - untimed->flops, cost->self_time);
    ret_cells[1] = rate(IDS_UNIT_RATIO, has_flops && cost->flops_time > 0, cost->flops_time - untimed->flops_time,
                        cost->self_time);
    ret_cells[2] = rate(IDS_UNIT_RATE, has_bytes, cost->bytes - untimed->bytes, cost->self_time);
    ret_cells[3] = rate(IDS_UNIT_RATIO, has_bytes && cost->bytes_time > 0, cost->bytes_time - untimed->bytes_time,
                        cost->self_time);
    ret_cells[4] = rate(IDS_UNIT_NUMBER, has_flops && has_bytes, cost->flops, cost->bytes);
    ret_cells[5] = ids_text_value(bound == IDS_BOUND_UNKNOWN ? NULL : ids_bound_name(bound));
    ret_cells[6] = ids_cost_time(cost->has_roof, cost->roof_time);
    ret_cells[7] = ids_cost_time(cost->has_roof, cost->lost_time);
}
