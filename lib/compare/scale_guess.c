/* scale_guess.c - whether a method was recorded with the same work on more devices, or with work that grows. */
#include "lib/base/intern.h"
#include "lib/base/keymap.h"
#include "lib/compare/scale.h"
#include "lib/hlo/scope.h"

#include <math.h>
#include <string.h>

static const char *text_at(const struct ids_table *table, size_t row, int column) {
    const struct ids_value *cell = column < 0 ? NULL : ids_table_cell(table, row, column);
    return cell && !cell->missing && cell->unit == IDS_UNIT_NONE ? cell->text : "";
}

/* An op by its scope and what it does there, with its shape or without; 0 when it has no place or no shape. Programs
 * are left out, and what wraps them (shard_map, pmap): on one device they may have other names. */
static uint64_t key_of(const struct ids_table *ops, size_t row, int with_shape) {
    const char *op_name = text_at(ops, row, ids_table_column(ops, "op_name"));
    const char *shape = text_at(ops, row, ids_table_column(ops, "shape"));
    const char *slash = strrchr(op_name, '/'), *does = slash ? slash + 1 : op_name;
    char scope[IDS_SCOPE_BYTES];
    if (!*op_name || !*shape) return 0;
    ids_scope_of(op_name, scope);
    uint64_t key = ids_key_of((uint64_t)with_shape + 1, ids_hash_bytes(scope, strlen(scope)));
    key = ids_key_of(key, ids_hash_bytes(does, strlen(does)));
    return with_shape ? ids_key_of(key, ids_hash_bytes(shape, strlen(shape))) : key;
}

/* The part of the first configuration's op time in ops that have another shape in the last one; -1 unknown, -2 no
 * memory. */
static double reshaped(const struct ids_scale_cell *first, const struct ids_scale_cell *last) {
    const struct ids_table *before = ids_report_find_table(first->side->runs[0].report, "ops");
    const struct ids_table *after = ids_report_find_table(last->side->runs[0].report, "ops");
    int self = ids_table_column(before, "self");
    struct ids_keymap places = {0};
    double same = 0, other = 0;
    int failed = 0;
    for (size_t row = 0; after && row < after->row_count && !failed; row++) {
        for (int with_shape = 0; with_shape < 2 && key_of(after, row, with_shape) && !failed; with_shape++)
            failed = ids_keymap_add(&places, key_of(after, row, with_shape), 1) < 0;
    }
    for (size_t row = 0; self >= 0 && row < before->row_count; row++) {
        uint64_t place = key_of(before, row, 0), unused;
        if (!place || !ids_keymap_get(&places, place, &unused)) continue;
        double time = ids_value_number(*ids_table_cell(before, row, self));
        *(ids_keymap_get(&places, key_of(before, row, 1), &unused) ? &same : &other) += time;
    }
    ids_keymap_done(&places);
    return failed ? -2 : same + other > 0 ? other / (same + other) : -1;
}

/* By the ops: with the same work those of a device become smaller, with the same work a device they keep their shapes.
 * Without shapes by a device's compute, which falls or stays. */
#define RESHAPED_LEAST 0.1
static int guess(struct ids_scale *scale, struct ids_scale_method *method, const struct ids_scale_cell *first,
                 const struct ids_scale_cell *last) {
    double share = reshaped(first, last);
    if (share < -1) return -1;
    if (share >= 0) {
        method->scaling = share >= RESHAPED_LEAST ? IDS_SCALING_STRONG : IDS_SCALING_WEAK;
        method->guessed_by =
            ids_report_text(&scale->report, "ops with %.0f %% of the time have other shapes on %.0f devices",
                            100 * share, last->devices);
        return 0;
    }
    double before = first->parts_ps[IDS_WORK_COMPUTE], after = last->parts_ps[IDS_WORK_COMPUTE];
    double ratio = before > 0 ? after / before : 1;
    method->scaling = ratio < sqrt(first->devices / last->devices) ? IDS_SCALING_STRONG : IDS_SCALING_WEAK;
    method->guessed_by =
        ids_report_text(&scale->report, "a device computes %.2f times as long on %.0f devices as on %.0f", ratio,
                        last->devices, first->devices);
    return 0;
}

int ids_scale_guess(struct ids_scale *scale, struct ids_scale_method *method, enum ids_scaling given) {
    const struct ids_scale_cell *first = NULL, *last = NULL;
    method->scaling = given == IDS_SCALING_GUESS ? IDS_SCALING_STRONG : given;
    for (size_t i = 0; i < scale->device_count; i++) {
        const struct ids_scale_cell *cell = &scale->cells[(size_t)(method - scale->methods) * scale->device_count + i];
        if (!cell->side) continue;
        if (!first) first = cell;
        last = cell;
    }
    return given != IDS_SCALING_GUESS || first == last ? 0 : guess(scale, method, first, last);
}
