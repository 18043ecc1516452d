#include "lib/compare/scale.h"

#include "lib/base/counted.h"

#include <stdlib.h>
#include <string.h>

/* ---- the table of cells ---- */

static int fewer(const void *a, const void *b) {
    const double *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static int is_new_method(const struct ids_scale *scale, size_t input) {
    return !input || strcmp(scale->inputs[input].method, scale->inputs[input - 1].method) != 0;
}

static void list_devices(struct ids_scale *scale) {
    size_t kept = 0;
    for (size_t i = 0; i < scale->input_count; i++) {
        if (scale->inputs[i].devices > 0) scale->devices[kept++] = scale->inputs[i].devices;
    }
    qsort(scale->devices, kept, sizeof *scale->devices, fewer);
    for (size_t i = 0; i < kept; i++) {
        if (!i || scale->devices[i] != scale->devices[i - 1]) scale->devices[scale->device_count++] = scale->devices[i];
    }
}

static int make_cells(struct ids_scale *scale) {
    scale->devices = calloc(scale->input_count + 1, sizeof *scale->devices);
    scale->methods = calloc(scale->input_count + 1, sizeof *scale->methods);
    if (!scale->devices || !scale->methods) return -1;
    list_devices(scale);
    for (size_t i = 0; i < scale->input_count; i++) {
        if (is_new_method(scale, i))
            scale->methods[scale->method_count++] =
                (struct ids_scale_method){.name = scale->inputs[i].method, .first = -1};
    }
    scale->cells = calloc(scale->method_count * scale->device_count + 1, sizeof *scale->cells);
    if (!scale->cells) return -1;
    for (size_t m = 0; m < scale->method_count; m++) {
        for (size_t d = 0; d < scale->device_count; d++)
            scale->cells[m * scale->device_count + d] =
                (struct ids_scale_cell){.method = m, .devices = scale->devices[d], .against = -1};
    }
    for (size_t i = 0, method = 0; i < scale->input_count; i++) {
        method += i && is_new_method(scale, i);
        for (size_t d = 0; d < scale->device_count; d++) {
            struct ids_scale_cell *cell = &scale->cells[method * scale->device_count + d];
            if (cell->devices != scale->inputs[i].devices) continue;
            cell->input = &scale->inputs[i];
            cell->side = scale->inputs[i].side;
        }
    }
    return 0;
}

/* ---- along a row ---- */

static int compute(struct ids_scale *scale, struct ids_scale_cell *cell) {
    const struct ids_scale_method *method = &scale->methods[cell->method];
    const struct ids_scale_cell *first = &scale->cells[method->first];
    double grown = cell->devices / first->devices;
    double share = method->scaling == IDS_SCALING_STRONG ? 1 / grown : 1;
    cell->ideal_ps = first->step_ps * share;
    cell->efficiency = cell->step_ps > 0 ? cell->ideal_ps / cell->step_ps : 0;
    cell->speedup = cell->efficiency * grown;
    cell->loss_ps = cell->remainder_ps = cell->step_ps - cell->ideal_ps;
    for (int i = 0; i < IDS_ACCOUNT_COUNT; i++) {
        cell->lost_ps[i] = cell->parts_ps[i] - first->parts_ps[i] * share;
        cell->remainder_ps -= cell->lost_ps[i];
        if (cell != first && cell->lost_ps[i] != 0 &&
            ids_culprit_find(first->side, share, cell->side, ids_account_id((enum ids_account)i),
                             cell->lost_ps[i] > 0 ? 1 : -1, &cell->culprits[i]))
            return -1;
    }
    return 0;
}

static int compute_rows(struct ids_scale *scale, enum ids_scaling scaling) {
    size_t count = scale->method_count * scale->device_count;
    for (size_t i = 0; i < count; i++) {
        struct ids_scale_cell *cell = &scale->cells[i];
        struct ids_scale_method *method = &scale->methods[cell->method];
        if (!cell->side) continue;
        if (ids_scale_measure(cell)) return -1;
        if (method->first < 0) method->first = (int)i;
    }
    for (size_t m = 0; m < scale->method_count; m++) {
        if (ids_scale_guess(scale, &scale->methods[m], scaling)) return -1;
    }
    for (size_t i = 0; i < count; i++) {
        if (scale->cells[i].side && compute(scale, &scale->cells[i])) return -1;
    }
    return 0;
}

/* ---- down a column ---- */

/* Against the first method that was recorded on as many devices. */
static void compare_columns(struct ids_scale *scale) {
    for (size_t d = 0; d < scale->device_count; d++) {
        int first = -1;
        for (size_t m = 0; m < scale->method_count; m++) {
            struct ids_scale_cell *cell = &scale->cells[m * scale->device_count + d];
            if (!cell->side) continue;
            if (first < 0) {
                first = (int)(m * scale->device_count + d);
                continue;
            }
            cell->against = first;
            cell->method_speedup = cell->step_ps > 0 ? scale->cells[first].step_ps / cell->step_ps : 0;
        }
    }
}

/* ---- whether there is anything to compare ---- */

static const struct ids_scale_trace *find_unusable(const struct ids_scale *scale) {
    for (size_t i = 0; i < scale->input_count; i++) {
        for (size_t k = 0; k < scale->inputs[i].trace_count; k++) {
            if (scale->inputs[i].traces[k].why) return &scale->inputs[i].traces[k];
        }
    }
    return NULL;
}

static int refuse(const struct ids_scale *scale, size_t usable, struct ids_error *err) {
    const struct ids_scale_trace *unusable = find_unusable(scale);
    size_t traces = 0;
    const struct ids_scale_input *only = NULL;
    for (size_t i = 0; i < scale->input_count; i++) {
        if (!scale->inputs[i].side) continue;
        only = &scale->inputs[i];
        traces += scale->inputs[i].side->run_count;
    }
    if (unusable)
        return ids_fail(err, IDS_UNSUPPORTED, "%s can be compared with nothing: '%s': %s",
                        usable ? "the runs that can be used" : "these runs", unusable->path, unusable->why);
    if (usable == 1)
        return ids_fail(err, IDS_UNSUPPORTED,
                        "%s, all on %s and of one method: scaling needs other numbers of devices, or another method "
                        "(METHOD:DEVICES=RUN names them where paths do not)",
                        IDS_COUNTED(traces, "run"), IDS_COUNTED(only->devices, "device"));
    return ids_fail(err, IDS_UNSUPPORTED,
                    "no two of these runs are of one method, or on one number of devices (METHOD:DEVICES=RUN names "
                    "them where paths do not)");
}

/* Two cells in a row or in a column, or nothing can be said. */
static int check_cells(const struct ids_scale *scale, struct ids_error *err) {
    size_t usable = 0;
    int has_pair = 0;
    for (size_t i = 0; i < scale->input_count; i++) {
        for (size_t k = 0; k < i && scale->inputs[i].side; k++) {
            if (!scale->inputs[k].side) continue;
            has_pair |= scale->inputs[i].devices == scale->inputs[k].devices ||
                        !strcmp(scale->inputs[i].method, scale->inputs[k].method);
        }
        usable += scale->inputs[i].side != NULL;
    }
    return has_pair ? 0 : refuse(scale, usable, err);
}

/* ---- remarks ---- */

/* Recordings of one unnamed method are held to be of one program; else that is for the names to say. */
static int make_remarks(struct ids_scale *scale, const char *const *notes, size_t note_count, struct ids_error *err) {
    const struct ids_side **sides = calloc(scale->input_count, sizeof *sides);
    size_t count = 0;
    if (!sides) return ids_no_memory(err);
    for (size_t i = 0; i < scale->input_count; i++) {
        if (scale->inputs[i].side) sides[count++] = scale->inputs[i].side;
    }
    int is_one = scale->method_count == 1 && !*scale->methods[0].name;
    int code = ids_remarks_make(sides, count, is_one ? IDS_ALIKE_PROGRAMS : IDS_ALIKE_NOTHING, &scale->report,
                                &scale->remarks, err);
    free(sides);
    for (size_t i = 0; i < note_count && !code; i++)
        code = ids_remarks_add(&scale->remarks, IDS_REMARK_WARNING, "names", notes[i], err);
    return code;
}

/* ---- */

static void settle(const struct ids_scale *scale, struct ids_side **sides) {
    size_t count = 0;
    for (size_t i = 0; i < scale->input_count; i++) {
        if (scale->inputs[i].side) sides[count++] = scale->inputs[i].side;
    }
    ids_sides_settle(sides, count, IDS_RECORDING_PROCESS);
}

static int make(struct ids_scale *scale, const char *const *notes, size_t note_count, enum ids_scaling scaling,
                struct ids_error *err) {
    int code = check_cells(scale, err);
    if (code) return code;
    struct ids_side **sides = calloc(scale->input_count, sizeof *sides);
    if (!sides) return ids_no_memory(err);
    settle(scale, sides);
    free(sides);
    if (make_cells(scale)) return ids_no_memory(err);
    code = make_remarks(scale, notes, note_count, err);
    if (code) return code;
    if (compute_rows(scale, scaling)) return ids_no_memory(err);
    compare_columns(scale);
    code = ids_scale_reasons(scale, err);
    return code ? code : ids_scale_report(scale, err);
}

int ids_scale_make(const struct ids_scale_input *inputs, size_t count, const char *const *notes, size_t note_count,
                   enum ids_scaling scaling, struct ids_scale *ret_scale, struct ids_error *err) {
    *ret_scale = (struct ids_scale){.inputs = inputs, .input_count = count};
    ids_report_init(&ret_scale->report);
    int code = make(ret_scale, notes, note_count, scaling, err);
    if (code) ids_scale_done(ret_scale);
    return code;
}

int ids_scale_has(const struct ids_scale *scale, int account) {
    for (size_t i = 0; i < scale->method_count * scale->device_count; i++) {
        if (scale->cells[i].parts_ps[account] != 0) return 1;
    }
    return 0;
}

void ids_scale_done(struct ids_scale *scale) {
    free(scale->methods);
    free(scale->devices);
    free(scale->cells);
    free(scale->reasons);
    ids_remarks_done(&scale->remarks);
    ids_report_done(&scale->report);
    *scale = (struct ids_scale){0};
}
