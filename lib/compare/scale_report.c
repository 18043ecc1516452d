/* scale_report.c - the comparison as properties and tables, for JSON and CSV. */
#include "lib/base/counted.h"
#include "lib/compare/scale.h"
#include "lib/compare/sums.h"

#include <math.h>
#include <stdlib.h>

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

static const struct ids_column_def cell_columns[] = {
    {"method", "method", IDS_UNIT_NONE, 0},
    {"devices", "devices", IDS_UNIT_NUMBER, 0},
    {"success", "success", IDS_UNIT_TRUTH, 0},
    {"why", "why", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"name", "run", IDS_UNIT_NONE, 0},
    {"path", "path", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"runs", "runs", IDS_UNIT_COUNT, 0},
    {"steps", "steps", IDS_UNIT_COUNT, 0},
    {"step", "step", IDS_UNIT_TIME, 0},
    {"low", "at least", IDS_UNIT_TIME, 0},
    {"high", "at most", IDS_UNIT_TIME, 0},
    {"method_speedup", "method speed-up", IDS_UNIT_NUMBER, 0},
    {"against", "against", IDS_UNIT_NONE, 0},
    {"speedup", "speed-up", IDS_UNIT_NUMBER, 0},
    {"efficiency", "efficiency", IDS_UNIT_RATIO, 0},
    {"ideal", "ideal", IDS_UNIT_TIME, 0},
    {"loss", "loss", IDS_UNIT_TIME, 0},
    {"remainder", "remainder", IDS_UNIT_TIME, 0},
    {"exposed", "exposed communication", IDS_UNIT_TIME, 0},
    {"bytes", "volume", IDS_UNIT_BYTES, 0},
    {"overlap", "overlapped", IDS_UNIT_RATIO, 0},
    {"balance", "load balance", IDS_UNIT_RATIO, 0},
    {"scaling", "scaling", IDS_UNIT_NONE, 0},
};
static const struct ids_table_def cells_def = {
    "configurations",
    "methods × devices",
    cell_columns,
    COUNT_OF(cell_columns),
    "One row per method and number of devices, also where nothing was recorded (`success` false, and `why`). `step` is "
    "the mean of the recordings' steps, and its 99 % interval `low` to `high` goes from run to run, with fewer than "
    "three recordings from step to step. `method_speedup` is the step of the method `against` ÷ this one, on as many "
    "devices; `speedup`, `efficiency`, `ideal` and `loss` are against the method's fewest devices, and the parts of "
    "the loss are in the table losses. `exposed` is comm.transfer + comm.wait of a step and device; `bytes` the "
    "messages of its collectives; `overlap` the share of collective time beside compute; `balance` the mean of the "
    "devices' working time ÷ the most.",
    0};

static const struct ids_column_def reason_columns[] = {
    {"method", "method", IDS_UNIT_NONE, 0},
    {"against", "against", IDS_UNIT_NONE, 0},
    {"devices", "devices", IDS_UNIT_NUMBER, 0},
    {"account", "account", IDS_UNIT_NONE, 0},
    {"change", "change", IDS_UNIT_TIME, 0},
    {"low", "at least", IDS_UNIT_TIME, 0},
    {"high", "at most", IDS_UNIT_TIME, 0},
    {"a", "before", IDS_UNIT_TIME, 0},
    {"b", "after", IDS_UNIT_TIME, 0},
    {"culprit_change", "of it", IDS_UNIT_TIME, 0},
    {"culprit", "mostly", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"where", "where", IDS_UNIT_NONE, IDS_COLUMN_LONG},
};
static const struct ids_table_def reasons_def = {
    "reasons",
    "why methods differ",
    reason_columns,
    COUNT_OF(reason_columns),
    "One row per method, number of devices and account that differs from the method `against`, the largest change "
    "first: what a step of each spends in the account. The row of the account `step` is the step as a whole, and the "
    "others sum to it.",
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

static const struct ids_column_def family_columns[] = {
    {"method", "method", IDS_UNIT_NONE, 0}, {"devices", "devices", IDS_UNIT_NUMBER, 0},
    {"family", "family", IDS_UNIT_NONE, 0}, {"pass", "pass", IDS_UNIT_NONE, 0},
    {"time", "time", IDS_UNIT_TIME, 0},     {"count", "executions", IDS_UNIT_NUMBER, 0},
};
static const struct ids_table_def families_def = {
    "families",
    "families",
    family_columns,
    COUNT_OF(family_columns),
    "One row per method, number of devices and family of ops (without ops: of kernels): their time per step and "
    "device, and executions.",
    0};

static const struct ids_column_def scope_columns[] = {
    {"method", "method", IDS_UNIT_NONE, 0},      {"devices", "devices", IDS_UNIT_NUMBER, 0},
    {"scope", "scope", IDS_UNIT_NONE, 0},        {"time", "time", IDS_UNIT_TIME, 0},
    {"count", "executions", IDS_UNIT_NUMBER, 0},
};
static const struct ids_table_def scopes_def = {
    "scopes", "scopes", scope_columns, COUNT_OF(scope_columns), "The same by the user's named scopes and functions.",
    0};

static const struct ids_column_def trace_columns[] = {
    {"method", "method", IDS_UNIT_NONE, 0},
    {"devices", "devices", IDS_UNIT_NUMBER, 0},
    {"time", "step", IDS_UNIT_TIME, 0},
    {"success", "success", IDS_UNIT_TRUTH, 0},
    {"path", "path", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"why", "why", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"name", "run", IDS_UNIT_NONE, 0},
    {"steps", "steps", IDS_UNIT_COUNT, 0},
    {"named", "devices by name", IDS_UNIT_NUMBER, 0},
    {"recorded", "devices in it", IDS_UNIT_NUMBER, 0},
};
static const struct ids_table_def traces_def = {
    "traces",
    "traces",
    trace_columns,
    COUNT_OF(trace_columns),
    "One row per recording: `time` is its mean step; where `success` is false, `why` says why it could not be used. "
    "`named` and `recorded` are the devices that its name says and that its trace holds.",
    0};

const struct ids_table_def *const ids_scale_tables[] = {&ids_findings_table, &cells_def,  &reasons_def, &losses_def,
                                                        &families_def,       &scopes_def, &traces_def};
const int ids_scale_table_count = COUNT_OF(ids_scale_tables);

/* ---- values ---- */

static struct ids_value time_of(double ps) {
    return ids_int_value(IDS_UNIT_TIME, (int64_t)llround(ps));
}

static struct ids_value real_of(enum ids_unit unit, double value) {
    return isnan(value) ? ids_no_value(unit) : ids_real_value(unit, value);
}

static struct ids_value devices_of(double devices) {
    return devices > 0 ? ids_real_value(IDS_UNIT_NUMBER, devices) : ids_no_value(IDS_UNIT_NUMBER);
}

static struct ids_value bound_of(const struct ids_interval *interval, double bound) {
    return interval->known ? time_of(bound) : ids_no_value(IDS_UNIT_TIME);
}

static struct ids_value name_of(const char *name) {
    return *name ? ids_text_value(name) : ids_no_value(IDS_UNIT_NONE);
}

static struct ids_value method_of(const struct ids_scale *scale, const struct ids_scale_cell *cell) {
    return name_of(scale->methods[cell->method].name);
}

static int64_t steps_of(const struct ids_side *side) {
    size_t steps = 0;
    for (size_t i = 0; i < side->run_count; i++) steps += side->runs[i].steps->row_count;
    return (int64_t)steps;
}

/* The recording that stands for a cell: the first that can be used. */
static const struct ids_scale_trace *first_trace(const struct ids_scale_cell *cell) {
    if (!cell->input) return NULL;
    for (size_t i = 0; i < cell->input->trace_count; i++) {
        if (!cell->input->traces[i].why) return &cell->input->traces[i];
    }
    return &cell->input->traces[0];
}

/* ---- tables ---- */

static void list_lost_cell(struct ids_scale *scale, const struct ids_scale_cell *cell) {
    struct ids_value row[COUNT_OF(cell_columns)];
    const struct ids_scale_trace *trace = first_trace(cell);
    for (int i = 0; i < COUNT_OF(cell_columns); i++) row[i] = ids_no_value(cell_columns[i].unit);
    row[0] = method_of(scale, cell);
    row[1] = devices_of(cell->devices);
    row[2] = ids_int_value(IDS_UNIT_TRUTH, 0);
    row[3] = ids_text_value(ids_scale_cell_why(cell));
    row[4] = ids_text_value(trace ? trace->name : NULL);
    row[5] = ids_text_value(trace ? trace->path : NULL);
    row[6] = ids_int_value(IDS_UNIT_COUNT, 0);
    IDS_ROW(&scale->report, ids_report_table(&scale->report, &cells_def), cell_columns, row);
}

/* Rounded to picoseconds one by one, so that what is written still sums: the remainder takes what rounding leaves. */
static void list_cell(struct ids_scale *scale, const struct ids_scale_cell *cell) {
    const struct ids_scale_trace *trace = first_trace(cell);
    const struct ids_scale_method *method = &scale->methods[cell->method];
    const struct ids_scale_cell *against = cell->against < 0 ? NULL : &scale->cells[cell->against];
    int64_t loss_ps = llround(cell->step_ps) - llround(cell->ideal_ps), rest_ps = loss_ps;
    for (int i = 0; i < IDS_ACCOUNT_COUNT; i++) rest_ps -= llround(cell->lost_ps[i]);
    struct ids_value row[] = {
        method_of(scale, cell),
        devices_of(cell->devices),
        ids_int_value(IDS_UNIT_TRUTH, 1),
        ids_no_value(IDS_UNIT_NONE),
        ids_text_value(trace->name),
        ids_text_value(trace->path),
        ids_int_value(IDS_UNIT_COUNT, (int64_t)cell->side->run_count),
        ids_int_value(IDS_UNIT_COUNT, steps_of(cell->side)),
        time_of(cell->step_ps),
        bound_of(&cell->interval, cell->interval.mean.low),
        bound_of(&cell->interval, cell->interval.mean.high),
        against ? ids_real_value(IDS_UNIT_NUMBER, cell->method_speedup) : ids_no_value(IDS_UNIT_NUMBER),
        against ? method_of(scale, against) : ids_no_value(IDS_UNIT_NONE),
        ids_real_value(IDS_UNIT_NUMBER, cell->speedup),
        ids_real_value(IDS_UNIT_RATIO, cell->efficiency),
        time_of(cell->ideal_ps),
        ids_int_value(IDS_UNIT_TIME, loss_ps),
        ids_int_value(IDS_UNIT_TIME, rest_ps),
        time_of(cell->exposed_ps),
        isnan(cell->bytes) ? ids_no_value(IDS_UNIT_BYTES) : ids_int_value(IDS_UNIT_BYTES, llround(cell->bytes)),
        real_of(IDS_UNIT_RATIO, cell->overlap),
        real_of(IDS_UNIT_RATIO, cell->balance),
        ids_text_value(method->scaling == IDS_SCALING_WEAK ? "weak" : "strong"),
    };
    IDS_ROW(&scale->report, ids_report_table(&scale->report, &cells_def), cell_columns, row);
}

/* `part` NULL: the step as a whole. */
static void list_reason(struct ids_scale *scale, const struct ids_scale_reason *reason, const struct ids_part *part) {
    double a = part ? (double)part->a_ps : (double)reason->parts.whole_a_ps;
    double b = part ? (double)part->b_ps : (double)reason->parts.whole_b_ps;
    const struct ids_interval *interval = part ? &part->interval : &reason->step.interval;
    const struct ids_culprit culprit = part ? part->culprit : (struct ids_culprit){0};
    struct ids_value row[] = {
        method_of(scale, reason->cell),
        method_of(scale, reason->against),
        devices_of(reason->cell->devices),
        ids_text_value(part ? part->title : "step"),
        time_of(b - a),
        bound_of(interval, interval->mean.low),
        bound_of(interval, interval->mean.high),
        time_of(a),
        time_of(b),
        culprit.name ? time_of(culprit.b_ps - culprit.a_ps) : ids_no_value(IDS_UNIT_TIME),
        ids_text_value(culprit.name),
        ids_text_value(culprit.where),
    };
    IDS_ROW(&scale->report, ids_report_table(&scale->report, &reasons_def), reason_columns, row);
}

static void list_reasons(struct ids_scale *scale) {
    ids_report_table(&scale->report, &reasons_def);
    for (size_t i = 0; i < scale->reason_count; i++) {
        const struct ids_scale_reason *reason = &scale->reasons[i];
        list_reason(scale, reason, NULL);
        for (size_t k = 0; k < reason->parts.count; k++) {
            if (reason->parts.at[k].a_ps != reason->parts.at[k].b_ps) list_reason(scale, reason, &reason->parts.at[k]);
        }
    }
}

static void list_loss(struct ids_scale *scale, const struct ids_scale_cell *cell, int account) {
    const struct ids_culprit *culprit = &cell->culprits[account];
    struct ids_value row[] = {
        devices_of(cell->devices),
        ids_text_value(ids_account_id((enum ids_account)account)),
        time_of(cell->lost_ps[account]),
        time_of(cell->parts_ps[account]),
        time_of(cell->parts_ps[account] - cell->lost_ps[account]),
        culprit->name ? time_of(culprit->b_ps - culprit->a_ps) : ids_no_value(IDS_UNIT_TIME),
        ids_text_value(culprit->name),
        ids_text_value(culprit->where),
        method_of(scale, cell),
    };
    IDS_ROW(&scale->report, ids_report_table(&scale->report, &losses_def), loss_columns, row);
}

static void list_trace(struct ids_scale *scale, const struct ids_scale_input *input,
                       const struct ids_scale_trace *trace) {
    const struct ids_metric *mean = trace->why ? NULL : ids_report_find(trace->report, "steps.mean", NULL);
    const struct ids_table *steps = trace->why ? NULL : ids_report_find_table(trace->report, "steps");
    struct ids_value row[] = {
        name_of(input->method),
        devices_of(input->devices),
        mean ? mean->value : ids_no_value(IDS_UNIT_TIME),
        ids_int_value(IDS_UNIT_TRUTH, !trace->why),
        ids_text_value(trace->path),
        ids_text_value(trace->why),
        ids_text_value(trace->name),
        steps ? ids_int_value(IDS_UNIT_COUNT, (int64_t)steps->row_count) : ids_no_value(IDS_UNIT_COUNT),
        devices_of(trace->named),
        devices_of(trace->recorded),
    };
    IDS_ROW(&scale->report, ids_report_table(&scale->report, &traces_def), trace_columns, row);
}

/* ---- families and scopes: each cell by itself, because nothing is matched ---- */

static void list_family(struct ids_scale *scale, const struct ids_scale_cell *cell, const struct ids_sum *sum) {
    struct ids_value row[] = {method_of(scale, cell),    devices_of(cell->devices),
                              ids_text_value(sum->name), name_of(sum->pass),
                              time_of(sum->a_ps),        ids_real_value(IDS_UNIT_NUMBER, sum->count_a)};
    IDS_ROW(&scale->report, ids_report_table(&scale->report, &families_def), family_columns, row);
}

static void list_scope(struct ids_scale *scale, const struct ids_scale_cell *cell, const struct ids_sum *sum) {
    struct ids_value row[] = {method_of(scale, cell), devices_of(cell->devices), ids_text_value(sum->name),
                              time_of(sum->a_ps), ids_real_value(IDS_UNIT_NUMBER, sum->count_a)};
    IDS_ROW(&scale->report, ids_report_table(&scale->report, &scopes_def), scope_columns, row);
}

static int list_sums(struct ids_scale *scale, const struct ids_scale_cell *cell, const struct ids_items *items,
                     enum ids_sum_by by, struct ids_error *err) {
    struct ids_matches alone = {.at = calloc(items->count + 1, sizeof *alone.at), .count = items->count};
    struct ids_sums sums = {0};
    if (!alone.at) return ids_no_memory(err);
    for (size_t i = 0; i < items->count; i++) alone.at[i].a = &items->at[i];
    int code = ids_sums_make(&alone, by, &scale->report, &sums, err);
    for (size_t i = 0; i < sums.count && !code; i++) {
        if (by == IDS_SUM_FAMILY) list_family(scale, cell, &sums.at[i]);
        if (by == IDS_SUM_SCOPE) list_scope(scale, cell, &sums.at[i]);
    }
    ids_sums_done(&sums);
    free(alone.at);
    return code;
}

static int list_work(struct ids_scale *scale, const struct ids_scale_cell *cell, struct ids_error *err) {
    struct ids_items ops = {0}, kernels = {0};
    int code = ids_items_make(cell->side, IDS_ITEM_OPS, &scale->report, &ops, err);
    if (!code) code = ids_items_make(cell->side, IDS_ITEM_KERNELS, &scale->report, &kernels, err);
    if (!code) code = list_sums(scale, cell, ops.count ? &ops : &kernels, IDS_SUM_FAMILY, err);
    if (!code) code = list_sums(scale, cell, &ops, IDS_SUM_SCOPE, err);
    ids_items_done(&ops);
    ids_items_done(&kernels);
    return code;
}

/* ---- */

static void list_properties(struct ids_scale *scale) {
    const struct ids_scale_method *method = &scale->methods[0];
    ids_report_property(&scale->report, "methods", ids_int_value(IDS_UNIT_COUNT, (int64_t)scale->method_count));
    ids_report_property(&scale->report, "scaling",
                        ids_text_value(method->scaling == IDS_SCALING_WEAK ? "weak" : "strong"));
    ids_report_property(&scale->report, "scaling_by",
                        ids_text_value(method->guessed_by ? method->guessed_by : "given"));
}

int ids_scale_report(struct ids_scale *scale, struct ids_error *err) {
    struct ids_report *report = &scale->report;
    size_t count = scale->method_count * scale->device_count;
    int code = 0;
    list_properties(scale);
    ids_remarks_list(&scale->remarks, report);
    for (size_t i = 0; i < count; i++) {
        if (scale->cells[i].side)
            list_cell(scale, &scale->cells[i]);
        else
            list_lost_cell(scale, &scale->cells[i]);
    }
    list_reasons(scale);
    for (size_t i = 0; i < count; i++) {
        for (int account = 0; account < IDS_ACCOUNT_COUNT; account++) {
            if (scale->cells[i].side && ids_scale_has(scale, account)) list_loss(scale, &scale->cells[i], account);
        }
    }
    ids_report_table(report, &families_def);
    ids_report_table(report, &scopes_def);
    for (size_t i = 0; i < count && !code; i++) {
        if (scale->cells[i].side) code = list_work(scale, &scale->cells[i], err);
    }
    for (size_t i = 0; i < scale->input_count; i++) {
        for (size_t k = 0; k < scale->inputs[i].trace_count; k++)
            list_trace(scale, &scale->inputs[i], &scale->inputs[i].traces[k]);
    }
    return code ? code : ids_report_check(report, err);
}
