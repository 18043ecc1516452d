#include "lib/analysis/even_work.h"

#include "lib/base/keymap.h"

/* What an op computes; 0 unknown. */
static uint64_t identity_of(const struct ids_op *op) {
    if (op->fingerprint) return op->fingerprint | 1;
    return op->shape ? ids_key_of(op->name, op->shape) | 1 : 0;
}

/* The same sum for the same ops in whatever order; 0: something is not known. */
static uint64_t work_of(const struct ids_analysis *analysis, const struct ids_busy *busy) {
    uint64_t sum = 0, count = 0;
    struct ids_cursor cursor = ids_busy_cursor(busy, &busy->device->activity);
    for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
        if (event->class != IDS_CLASS_COMPUTE) continue;
        if (analysis->steps.count && !ids_step_of_device_event(analysis, event)) continue;
        uint64_t identity = event->op == IDS_NONE ? 0 : identity_of(&analysis->trace->ops[event->op]);
        if (!identity) return 0;
        sum += ids_key_of(identity, 1);
        count++;
    }
    return count ? ids_key_of(sum, count) | 1 : 0;
}

int ids_work_is_even(const struct ids_analysis *analysis) {
    uint64_t first = analysis->busy_count ? work_of(analysis, &analysis->busy[0]) : 0;
    for (size_t b = 1; first && b < analysis->busy_count; b++) {
        if (work_of(analysis, &analysis->busy[b]) != first) return 0;
    }
    return first != 0;
}
