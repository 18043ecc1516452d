#include "lib/compare/scale.h"

#include "lib/base/counted.h"
#include "lib/base/intern.h"
#include "lib/base/keymap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

/* ---- for programs ---- */

static const struct ids_column_def point_columns[] = {
    {"devices", "devices", IDS_UNIT_NUMBER, 0},
    {"name", "run", IDS_UNIT_NONE, 0},
    {"runs", "runs", IDS_UNIT_COUNT, 0},
    {"step", "step", IDS_UNIT_TIME, 0},
    {"ideal", "ideal", IDS_UNIT_TIME, 0},
    {"speedup", "speed-up", IDS_UNIT_NUMBER, 0},
    {"efficiency", "efficiency", IDS_UNIT_RATIO, 0},
    {"loss", "loss", IDS_UNIT_TIME, 0},
    {"remainder", "remainder", IDS_UNIT_TIME, 0},
    {"method", "method", IDS_UNIT_NONE, 0},
};
static const struct ids_table_def points_def = {"configurations",
                                                "scaling",
                                                point_columns,
                                                COUNT_OF(point_columns),
                                                "One row per number of devices: step time, ideal step time, speed-up "
                                                "and efficiency against the first, and the loss; its "
                                                "parts are in the table losses.",
                                                0};

static const struct ids_column_def loss_columns[] = {
    {"devices", "devices", IDS_UNIT_NUMBER, 0},
    {"account", "account", IDS_UNIT_NONE, 0},
    {"lost", "lost", IDS_UNIT_TIME, 0},
    {"time", "time", IDS_UNIT_TIME, 0},
    {"ideal", "ideal", IDS_UNIT_TIME, 0},
    {"culprit_lost", "of it", IDS_UNIT_TIME, 0},
    {"culprit", "mostly", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"where", "where", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"method", "method", IDS_UNIT_NONE, 0},
};
static const struct ids_table_def losses_def = {"losses",
                                                "losses by account",
                                                loss_columns,
                                                COUNT_OF(loss_columns),
                                                "One row per number of devices and account of the ledger that a step "
                                                "has time in: per step and device the time, its "
                                                "ideal, and what is lost, their difference. With the remainder of the "
                                                "configuration the lost times sum to its loss. "
                                                "`culprit` is whose time in the account grew most beyond its ideal.",
                                                0};

static const struct ids_column_def trace_columns[] = {
    {"devices", "devices", IDS_UNIT_NUMBER, 0},
    {"name", "run", IDS_UNIT_NONE, 0},
    {"path", "path", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"steps", "steps", IDS_UNIT_COUNT, 0},
    {"step", "step", IDS_UNIT_TIME, 0},
    {"method", "method", IDS_UNIT_NONE, 0},
};
static const struct ids_table_def traces_def = {
    "traces", "traces", trace_columns, COUNT_OF(trace_columns), "The recordings behind each configuration.", 0};
const struct ids_table_def *const ids_scale_tables[] = {&ids_findings_table, &points_def, &losses_def, &traces_def};
const int ids_scale_table_count = COUNT_OF(ids_scale_tables);

static struct ids_value time_of(double ps) {
    return ids_int_value(IDS_UNIT_TIME, (int64_t)llround(ps));
}

static struct ids_value text_property(const struct ids_side_run *run, const char *id) {
    const struct ids_value *value = ids_report_find_property(run->report, id);
    return value ? *value : ids_no_value(IDS_UNIT_NONE);
}

static struct ids_value method_of(const struct ids_scale *scale) {
    return *scale->method ? ids_text_value(scale->method) : ids_no_value(IDS_UNIT_NONE);
}

static void list_traces(struct ids_scale *scale) {
    struct ids_table *table = ids_report_table(&scale->report, &traces_def);
    for (size_t p = 0; p < scale->count; p++) {
        for (size_t i = 0; i < scale->at[p].side->run_count; i++) {
            const struct ids_side_run *run = &scale->at[p].side->runs[i];
            double step = 0;
            ids_run_metric(run, "steps.mean", &step);
            struct ids_value row[] = {ids_real_value(IDS_UNIT_NUMBER, scale->at[p].devices),
                                      text_property(run, "name"),
                                      text_property(run, "path"),
                                      ids_int_value(IDS_UNIT_COUNT, (int64_t)run->steps->row_count),
                                      time_of(step),
                                      method_of(scale)};
            IDS_ROW(&scale->report, table, trace_columns, row);
        }
    }
}

static void list_loss(struct ids_scale *scale, const struct ids_scale_point *point, int account) {
    const struct ids_culprit *culprit = &point->culprits[account];
    struct ids_value row[] = {
        ids_real_value(IDS_UNIT_NUMBER, point->devices),
        ids_text_value(ids_account_id((enum ids_account)account)),
        time_of(point->lost_ps[account]),
        time_of(point->parts_ps[account]),
        time_of(point->parts_ps[account] - point->lost_ps[account]),
        culprit->name ? time_of(culprit->b_ps - culprit->a_ps) : ids_no_value(IDS_UNIT_TIME),
        ids_text_value(culprit->name),
        ids_text_value(culprit->where),
        method_of(scale),
    };
    IDS_ROW(&scale->report, ids_report_table(&scale->report, &losses_def), loss_columns, row);
}

/* Rounded to picoseconds one by one, so that what is written still sums: the remainder takes what rounding leaves. */
static void list_points(struct ids_scale *scale) {
    struct ids_table *table = ids_report_table(&scale->report, &points_def);
    for (size_t p = 0; p < scale->count; p++) {
        const struct ids_scale_point *point = &scale->at[p];
        int64_t loss_ps = llround(point->step_ps) - llround(point->ideal_ps), rest_ps = loss_ps;
        for (int i = 0; i < IDS_ACCOUNT_COUNT; i++) rest_ps -= llround(point->lost_ps[i]);
        struct ids_value row[] = {
            ids_real_value(IDS_UNIT_NUMBER, point->devices),
            ids_text_value(point->side->label),
            ids_int_value(IDS_UNIT_COUNT, (int64_t)point->side->run_count),
            time_of(point->step_ps),
            time_of(point->ideal_ps),
            ids_real_value(IDS_UNIT_NUMBER, point->speedup),
            ids_real_value(IDS_UNIT_RATIO, point->efficiency),
            ids_int_value(IDS_UNIT_TIME, loss_ps),
            ids_int_value(IDS_UNIT_TIME, rest_ps),
            method_of(scale),
        };
        IDS_ROW(&scale->report, table, point_columns, row);
    }
}

static void list_losses(struct ids_scale *scale) {
    ids_report_table(&scale->report, &losses_def);
    for (size_t p = 0; p < scale->count; p++) {
        for (int i = 0; i < IDS_ACCOUNT_COUNT; i++) {
            if (ids_scale_has(scale, i)) list_loss(scale, &scale->at[p], i);
        }
    }
}

int ids_scale_has(const struct ids_scale *scale, int account) {
    for (size_t p = 0; p < scale->count; p++) {
        if (scale->at[p].parts_ps[account] != 0) return 1;
    }
    return 0;
}

static void fill_report(struct ids_scale *scale) {
    struct ids_report *report = &scale->report;
    ids_report_property(report, "scaling", ids_text_value(scale->scaling == IDS_SCALING_WEAK ? "weak" : "strong"));
    ids_report_property(report, "scaling_by", ids_text_value(scale->guessed_by ? scale->guessed_by : "given"));
    ids_remarks_list(&scale->remarks, report);
    list_points(scale);
    list_losses(scale);
    list_traces(scale);
}

/* ---- */

static double mean_of(const struct ids_side *side, const char *metric) {
    double mean = 0;
    ids_side_metric(side, metric, &mean);
    return mean;
}

static void measure(struct ids_scale_point *point) {
    point->step_ps = mean_of(point->side, "steps.mean");
    for (int i = 0; i < IDS_ACCOUNT_COUNT; i++)
        point->parts_ps[i] = mean_of(point->side, ids_account_steps_id((enum ids_account)i));
}

static int fewer(const void *a, const void *b) {
    const struct ids_scale_point *left = a, *right = b;
    return (left->devices > right->devices) - (left->devices < right->devices);
}

static const char *text_at(const struct ids_table *table, size_t row, int column) {
    const struct ids_value *cell = column < 0 ? NULL : ids_table_cell(table, row, column);
    return cell && !cell->missing && cell->unit == IDS_UNIT_NONE ? cell->text : "";
}

/* An op by its place in the program, with its shape or without; 0 when it has no place or no shape. */
static uint64_t key_of(const struct ids_table *ops, size_t row, int with_shape) {
    const char *texts[] = {text_at(ops, row, ids_table_column(ops, "module")),
                           text_at(ops, row, ids_table_column(ops, "op_name")),
                           text_at(ops, row, ids_table_column(ops, "shape"))};
    uint64_t key = (uint64_t)with_shape + 1;
    if (!*texts[1] || !*texts[2]) return 0;
    for (int i = 0; i < (with_shape ? 3 : 2); i++) key = ids_key_of(key, ids_hash_bytes(texts[i], strlen(texts[i])));
    return key;
}

/* The part of the first configuration's op time in ops that have another shape in the last one; -1 unknown, -2 no
 * memory. */
static double reshaped(const struct ids_scale_point *first, const struct ids_scale_point *last) {
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
static int guess(struct ids_scale *scale) {
    const struct ids_scale_point *first = &scale->at[0], *last = &scale->at[scale->count - 1];
    if (scale->scaling != IDS_SCALING_GUESS) return 0;
    double share = reshaped(first, last);
    if (share < -1) return -1;
    if (share >= 0) {
        scale->scaling = share >= RESHAPED_LEAST ? IDS_SCALING_STRONG : IDS_SCALING_WEAK;
        scale->guessed_by =
            ids_report_text(&scale->report, "ops with %.0f %% of the time have other shapes on %.0f devices",
                            100 * share, last->devices);
        return 0;
    }
    double before = first->parts_ps[IDS_WORK_COMPUTE], after = last->parts_ps[IDS_WORK_COMPUTE];
    double ratio = before > 0 ? after / before : 1;
    scale->scaling = ratio < sqrt(first->devices / last->devices) ? IDS_SCALING_STRONG : IDS_SCALING_WEAK;
    scale->guessed_by =
        ids_report_text(&scale->report, "a device computes %.2f times as long on %.0f devices as on %.0f", ratio,
                        last->devices, first->devices);
    return 0;
}

static int compute(struct ids_scale *scale) {
    const struct ids_scale_point *first = &scale->at[0];
    for (size_t p = 0; p < scale->count; p++) {
        struct ids_scale_point *point = &scale->at[p];
        double grown = point->devices / first->devices;
        double share = scale->scaling == IDS_SCALING_STRONG ? 1 / grown : 1;
        point->ideal_ps = first->step_ps * share;
        point->efficiency = point->step_ps > 0 ? point->ideal_ps / point->step_ps : 0;
        point->speedup = point->efficiency * grown;
        point->loss_ps = point->remainder_ps = point->step_ps - point->ideal_ps;
        for (int i = 0; i < IDS_ACCOUNT_COUNT; i++) {
            point->lost_ps[i] = point->parts_ps[i] - first->parts_ps[i] * share;
            point->remainder_ps -= point->lost_ps[i];
            if (p && point->lost_ps[i] != 0 &&
                ids_culprit_find(first->side, share, point->side, ids_account_id((enum ids_account)i),
                                 point->lost_ps[i] > 0 ? 1 : -1, &point->culprits[i]))
                return -1;
        }
    }
    return 0;
}

static int check_points(const struct ids_scale *scale, struct ids_error *err) {
    for (size_t p = 0; p < scale->count; p++) {
        if (!(scale->at[p].devices > 0)) return ids_fail(err, IDS_USAGE, "a number of devices is 0");
        if (p && scale->at[p].devices == scale->at[p - 1].devices)
            return ids_fail(err, IDS_USAGE,
                            "'%s' and '%s' both ran on %s; give recordings of one configuration as a folder or "
                            "pattern, or the numbers with --devices",
                            scale->at[p - 1].side->label, scale->at[p].side->label,
                            IDS_COUNTED(scale->at[p].devices, "device"));
    }
    return 0;
}

static int make(struct ids_scale *scale, const struct ids_side *const *sides, const double *devices, size_t count,
                struct ids_error *err) {
    scale->at = calloc(count, sizeof *scale->at);
    if (!scale->at) return ids_no_memory(err);
    scale->count = count;
    int code = ids_remarks_make(sides, count, 0, &scale->report, &scale->remarks, err);
    if (code) return code;
    for (size_t p = 0; p < count; p++) {
        if (!sides[p]->per_step)
            return ids_fail(err, IDS_UNSUPPORTED,
                            "scaling needs steps, and not every run has them: annotate the loop with "
                            "jax.profiler.StepTraceAnnotation");
        scale->at[p] = (struct ids_scale_point){.side = sides[p],
                                                .devices = devices[p] > 0 ? devices[p] : sides[p]->runs[0].devices};
        measure(&scale->at[p]);
    }
    qsort(scale->at, count, sizeof *scale->at, fewer);
    code = check_points(scale, err);
    if (code) return code;
    if (guess(scale) || compute(scale)) return ids_no_memory(err);
    fill_report(scale);
    return ids_report_check(&scale->report, err);
}

int ids_scale_make(const char *method, const struct ids_side *const *sides, const double *devices, size_t count,
                   enum ids_scaling scaling, struct ids_scale *ret_scale, struct ids_error *err) {
    *ret_scale = (struct ids_scale){.scaling = scaling, .method = method};
    ids_report_init(&ret_scale->report);
    int code = make(ret_scale, sides, devices, count, err);
    if (code) ids_scale_done(ret_scale);
    return code;
}

void ids_scale_done(struct ids_scale *scale) {
    free(scale->at);
    ids_remarks_done(&scale->remarks);
    ids_report_done(&scale->report);
    *scale = (struct ids_scale){0};
}
