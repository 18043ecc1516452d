/* scale_reasons.c - why one method is faster than another on as many devices: the differences of their accounts. */
#include "lib/compare/scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define THRESHOLD 0.01

static int largest_first(const void *a, const void *b) {
    const struct ids_part *left = a, *right = b;
    int64_t l = llabs(left->b_ps - left->a_ps), r = llabs(right->b_ps - right->a_ps);
    return l != r ? (l < r ? 1 : -1) : strcmp(left->title, right->title);
}

/* The sides are settled anew for each pair: how many recordings each has decides how the spread is measured. */
static int explain(struct ids_side *a, struct ids_side *b, struct ids_scale_reason *reason, struct ids_error *err) {
    const struct ids_compare_options options = {.threshold = THRESHOLD};
    struct ids_difference rows[IDS_HEADLINES];
    struct ids_side *sides[] = {a, b};
    size_t count;
    ids_sides_settle(sides, 2, IDS_RECORDING_PROCESS);
    int code = ids_headline_make(a, b, &options, rows, &count, err);
    if (code) return code;
    reason->step = rows[0];
    code = ids_parts_make(a, b, &options, &reason->parts, err);
    if (!code) qsort(reason->parts.at, reason->parts.count, sizeof *reason->parts.at, largest_first);
    return code;
}

int ids_scale_reasons(struct ids_scale *scale, struct ids_error *err) {
    size_t count = scale->method_count * scale->device_count;
    scale->reasons = calloc(count + 1, sizeof *scale->reasons);
    if (!scale->reasons) return ids_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        const struct ids_scale_cell *cell = &scale->cells[i];
        if (cell->against < 0) continue;
        struct ids_scale_reason *reason = &scale->reasons[scale->reason_count++];
        *reason = (struct ids_scale_reason){.cell = cell, .against = &scale->cells[cell->against]};
        int code = explain(reason->against->input->side, cell->input->side, reason, err);
        if (code) return code;
    }
    return 0;
}
