/* roofline.c - how good the busy time is: operations and bytes a second against what the device can do, what bounds the
 * ops, and what a step would win if each ran at its roofline (lib/analysis/op_costs.h). */
#include "analyzers/cost_cells.h"
#include "analyzers/model_flops.h"
#include "analyzers/op_rows.h"
#include "lib/analysis/context.h"
#include "lib/analysis/metric_sql.h"
#include "lib/base/keymap.h"
#include "lib/base/saturate.h"
#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

/* The windows of the devices of which anything is known: one of which nothing is known is not at zero. */
#define WINDOWS_WITH(column)                                                                                         \
    "(SELECT sum(dur_ps) FROM devices WHERE run = :run AND is_active = 1 AND id IN (SELECT device_id FROM op_costs " \
    "WHERE run = :run AND " column " IS NOT NULL))"
#define SHARE_OF_TIME_WITH(column)                                                     \
    "coalesce(sum(CASE WHEN " column                                                   \
    " IS NOT NULL THEN self_ps END), 0) * 1.0 / (SELECT sum(self_ps) FROM activities " \
    "WHERE run = :run AND is_active = 1 AND is_beside = 0)"
#define JUDGED_SHARE SHARE_OF_TIME_WITH("roof_ps")
/* What is known of less than half of the device time says little of the run. */
#define IF_KNOWN(column, figure) "CASE WHEN 2 * " SHARE_OF_TIME_WITH(column) " >= 1 THEN " figure " END"

/* A share above 1 means that a peak or a count is wrong; it is told apart in C, and is no value here. */
#define SHARE_OF_WINDOWS(sum, column)                                      \
    "SELECT CASE WHEN x <= 1.000000001 THEN x END FROM (SELECT " IF_KNOWN( \
        column, sum " * 1.0 / " WINDOWS_WITH(column)) " AS x FROM op_costs WHERE run = :run)"

static const struct ids_metric_def metrics[] = {
    {"efficiency.flops", "FLOP/s", IDS_UNIT_FLOPS, IDS_BETTER_HIGHER,
     "Operations that the ops of a device computed, by second of its window, the mean of the devices of which any are "
     "known. Operations are those of the file (TPU), else those that idsprof counts in the program. No figure where "
     "they are known of less than half of the device time.",
     "SELECT " IF_KNOWN("flops", "sum(flops) * 1e12 / " WINDOWS_WITH("flops")) " FROM op_costs WHERE run = :run"},
    {"efficiency.flops_share", "of peak FLOP/s", IDS_UNIT_RATIO, IDS_BETTER_HIGHER,
     "Share of the window that the operations alone would take at the device's peak: for each op that of the units "
     "that multiply what it multiplies. The peak is that of --peak-flops, of the profile, or of the data sheet. No "
     "figure where efficiency.flops is none.",
     SHARE_OF_WINDOWS("sum(flops_ps)", "flops")},
    {"efficiency.bandwidth", "memory bandwidth", IDS_UNIT_RATE, IDS_BETTER_HIGHER,
     "Bytes that the ops of a device and asynchronous copies (-start, -done) read from and wrote to its main memory, "
     "by second of its window, the mean of the devices of which any are known. Of a TPU without those that stay in "
     "the core's own memory; a copy to or from the host counts once. No figure where the bytes of ops are known of "
     "less than half of the device time.",
     "SELECT " IF_KNOWN("bytes", "(sum(bytes) + coalesce(sum(copied_bytes), 0)) * 1e12 / " WINDOWS_WITH(
                                     "bytes")) " FROM op_costs WHERE run = :run"},
    {"efficiency.bandwidth_share", "of peak bandwidth", IDS_UNIT_RATIO, IDS_BETTER_HIGHER,
     "Share of the window that the bytes alone would take at the peak bandwidth of the device's memory. No figure "
     "where efficiency.bandwidth is none.",
     SHARE_OF_WINDOWS("(sum(bytes_ps) + coalesce(sum(copied_ps), 0))", "bytes")},
    {"efficiency.memory_bound", "bandwidth while memory-bound", IDS_UNIT_RATIO, IDS_BETTER_HIGHER,
     "Share of the peak bandwidth that ops reach which memory bounds. Only where these are most of the time of ops "
     "with a roofline, and those at least half of the device time, for elsewhere it says little of the run.",
     "SELECT CASE WHEN 2 * " JUDGED_SHARE
     " >= 1 AND 2 * sum(CASE WHEN bound = 'memory' THEN self_ps ELSE 0 END) > sum(CASE WHEN roof_ps IS NOT NULL "
     "THEN self_ps ELSE 0 END) AND sum(CASE WHEN bound = 'memory' THEN roof_ps - self_ps ELSE 0 END) <= 0 THEN "
     "sum(CASE WHEN bound = 'memory' THEN roof_ps ELSE 0 END) * 1.0 / "
     "sum(CASE WHEN bound = 'memory' THEN self_ps ELSE 0 END) END FROM op_costs WHERE run = :run"},
    {"efficiency.roofline_loss", "lost to the roofline", IDS_UNIT_RATIO, IDS_BETTER_LOWER,
     "Share of the window by which it would be shorter if every op that computes ran at its roofline: as fast as the "
     "device can compute its operations or move its bytes, whichever takes longer. Of ops that run beside each other "
     "on a device, each loses the share that the device has of its time (device_share of view op_costs), so that all "
     "together lose no more than the device has. No figure where ops with a roofline are less than half of the device "
     "time.",
     SHARE_OF_WINDOWS("sum(CASE WHEN computes = 1 AND self_ps > roof_ps THEN (self_ps - roof_ps) * device_share WHEN "
                      "roof_ps IS NOT NULL THEN 0 END)",
                      "roof_ps")},
    {"efficiency.judged_share", "with a roofline", IDS_UNIT_RATIO, IDS_BETTER_HIGHER,
     "Share of all device time of the ops whose operations, bytes and peaks are known. The other figures of this "
     "section say nothing of the rest.",
     "SELECT " JUDGED_SHARE " FROM op_costs WHERE run = :run"},
    {"efficiency.model_flops", "model FLOP a step", IDS_UNIT_NUMBER, IDS_BETTER_NEITHER,
     "Operations of the model in a step, over all devices: --flops-per-step, else those that the file calls the "
     "model's, else those of products and convolutions without what is computed again for the backward pass. Of "
     "attention that the program calls causal half are counted, where some count all.",
     "SELECT sum(model_flops * runs_in_steps) * 1.0 / (SELECT count(DISTINCT s.step) FROM device_step s JOIN device d "
     "ON d.id = s.device WHERE d.run = :run) FROM op_costs WHERE run = :run"},
    {"efficiency.mfu", "MFU", IDS_UNIT_RATIO, IDS_BETTER_HIGHER,
     "Model FLOP utilization: share of the steps' time (without steps: of the window) on all devices that the model's "
     "operations alone would take at the peak.",
     "SELECT CASE WHEN x <= 1.000000001 THEN x END FROM (SELECT CASE WHEN EXISTS (SELECT 1 FROM device_step s JOIN "
     "device d ON d.id = s.device WHERE d.run = :run) THEN sum(model_ps * runs_in_steps) * 1.0 / (SELECT sum(s.end_ps "
     "- s.start_ps) FROM device_step s JOIN device d ON d.id = s.device WHERE d.run = :run) ELSE sum(model_ps * runs) "
     "* 1.0 / " IDS_SQL_WINDOWS " END AS x FROM op_costs WHERE run = :run)"},
    {"efficiency.tokens_per_s", "tokens a second", IDS_UNIT_NUMBER, IDS_BETTER_HIGHER,
     "--tokens-per-step by the mean time of a step.", "SELECT NULL"},
};

static const struct ids_column_def columns[] = {
    {"self", "self", IDS_UNIT_TIME, 0},
    {"share", "share", IDS_UNIT_RATIO, 0},
    {"win_per_step", "could win", IDS_UNIT_TIME, IDS_COLUMN_SPARE},
    {"win_share", "of a step", IDS_UNIT_RATIO, IDS_COLUMN_SPARE},
    IDS_COST_COLUMNS(0),
    {"note", "note", IDS_UNIT_NONE, IDS_COLUMN_SPARE},
    {"alike", "alike", IDS_UNIT_COUNT, IDS_COLUMN_SPARE},
    {"name", "op", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"module", "module", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_DETAIL},
    {"place", "in the program", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_DETAIL},
    {"fingerprint", "fingerprint", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
};
static const struct ids_table_def roofline = {
    "roofline",
    "ops by what they could win",
    columns,
    IDS_COUNT_OF(columns),
    "Ops that compute, those first that a step would win most by at their roofline, or all of whose time is in "
    "question because nothing says what they compute (no values: kernels of the user's, such as Pallas and Triton). As "
    "in the table computations, ops that compute the same are one row. Of a CPU there is no peak, and no row. "
    "`win_per_step` is the most that a step of a device would win if the op ran at its roofline (without steps: the "
    "window), of ops beside "
    "each other no more than what the device has of them, `win_share` that of the mean step (or window). Those that "
    "are above a peak, and so win nothing, come last, with a note of what it means: the peak is given too low (or is "
    "not "
    "that of this device), or bytes come from a cache, which counts as memory here.",
    IDS_TABLE_TOP,
};

static const struct ids_column_def program_columns[] = {
    {"self", "self", IDS_UNIT_TIME, 0},
    {"judged", "with a roofline", IDS_UNIT_TIME, 0},
    IDS_COST_COLUMNS(0),
    {"note", "note", IDS_UNIT_NONE, IDS_COLUMN_SPARE},
    {"name", "program", IDS_UNIT_NONE, IDS_COLUMN_LONG},
};
static const struct ids_table_def programs = {
    "roofline_programs",
    "programs and their roofline",
    program_columns,
    IDS_COUNT_OF(program_columns),
    "One row per compiled program by name: its ops' time, and of those whose cost is known how fast they were.",
    0,
};

/* ---- metrics ---- */

static const char no_peak_bandwidth[] = IDS_NO_PEAK "--peak-bandwidth (3000 GB/s)",
                  no_peaks[] = IDS_NO_PEAK "--peak-flops (900 TFLOP/s) and --peak-bandwidth (3000 GB/s)";

/* Of how much of the device time of all devices together a figure speaks: of less than half it is none of the run. */
struct known {
    int flops, bytes, roof; /* 1: of half or more */
};

static struct known known_of(const struct ids_op_cost *cost, double device_time) {
    return (struct known){2 * cost->flops_self >= device_time, 2 * cost->bytes_self >= device_time,
                          2 * cost->judged_time >= device_time};
}

static const char *why_no_flop_rate(const struct ids_op_cost *cost, const struct known *known) {
    if (!cost->has_flops) return "no op of this trace has a known number of operations";
    return known->flops ? NULL : "operations are known of less than half of the device time";
}

static const char *why_no_byte_rate(const struct ids_op_cost *cost, const struct known *known) {
    if (!cost->has_bytes) return "no op of this trace has a known number of bytes";
    return known->bytes ? NULL : "bytes are known of less than half of the device time";
}

static const char *why_no_flops(const struct ids_op_cost *cost, const struct known *known) {
    const char *missing = why_no_flop_rate(cost, known);
    return missing || cost->flops_time > 0 || cost->flops <= 0 ? missing : IDS_NO_PEAK_FLOPS;
}

static const char *why_no_bytes(const struct ids_op_cost *cost, const struct known *known) {
    const char *missing = why_no_byte_rate(cost, known);
    return missing || cost->bytes_time > 0 || cost->bytes <= 0 ? missing : no_peak_bandwidth;
}

static const char *why_no_roof(const struct ids_op_cost *cost, const struct known *known) {
    if (cost->has_roof) return known->roof ? NULL : "less than half of the device time has a roofline";
    if (!cost->has_flops && !cost->has_bytes) return "no op of this trace has a known cost";
    return cost->flops_time > 0 ? no_peak_bandwidth : cost->bytes_time > 0 ? IDS_NO_PEAK_FLOPS : no_peaks;
}

static struct ids_metric *put_rate(struct ids_report *report, const char *id, enum ids_unit unit, const char *device,
                                   double amount, double time, const char *missing) {
    if (!missing) return ids_report_metric(report, id, device, ids_real_value(unit, amount / time));
    ids_report_no_data(report, id, unit, device, "%s", missing);
    return NULL;
}

static void put_memory_bound(struct ids_report *report, const char *device, const struct ids_op_cost *cost,
                             const struct known *known) {
    const char *missing = why_no_roof(cost, known);
    if (!missing && cost->memory_time * 2 <= cost->judged_time) missing = "memory does not bound most of the time";
    ids_efficiency_share(report, "efficiency.memory_bound", device, cost->memory_roof, cost->memory_time, missing);
}

/* What something is known of: costs, and the windows of the devices that have them, in seconds. */
struct costs_in_windows {
    struct ids_op_cost cost;
    double flops, bytes, roof;
    int by_shapes; /* of a framework's ops, by what they were called with */
};

static void add_device(struct costs_in_windows *sum, const struct ids_op_cost *cost, double window) {
    ids_op_cost_add(&sum->cost, cost);
    if (cost->has_flops) sum->flops += window;
    if (cost->has_bytes) sum->bytes += window;
    if (cost->has_roof) sum->roof += window;
}

/* Of one device, or of all together (device NULL). */
static void put_efficiency(struct ids_report *report, const char *device, const struct costs_in_windows *sum,
                           const struct known *known) {
    const struct ids_op_cost *cost = &sum->cost;
    struct ids_metric *flops = put_rate(report, "efficiency.flops", IDS_UNIT_FLOPS, device, cost->flops, sum->flops,
                                        why_no_flop_rate(cost, known));
    if (flops && sum->by_shapes)
        ids_report_rule(report, flops,
                        "counted from the shapes of PyTorch's products, convolutions and attention alone");
    put_rate(report, "efficiency.bandwidth", IDS_UNIT_RATE, device, cost->bytes + cost->copied_bytes, sum->bytes,
             why_no_byte_rate(cost, known));
    ids_efficiency_share(report, "efficiency.flops_share", device, cost->flops_time, sum->flops,
                         why_no_flops(cost, known));
    ids_efficiency_share(report, "efficiency.bandwidth_share", device, cost->bytes_time + cost->copied_time, sum->bytes,
                         why_no_bytes(cost, known));
    ids_efficiency_share(report, "efficiency.roofline_loss", device, cost->lost_time, sum->roof,
                         why_no_roof(cost, known));
    put_memory_bound(report, device, cost, known);
}

/* ---- tables ---- */

/* Of what has no peak nothing can be won. */
static int has_peaks(const struct ids_analysis *analysis) {
    for (size_t b = 0; b < analysis->busy_count; b++) {
        if (analysis->busy[b].device->kind != IDS_DEVICE_CPU || analysis->params.peak_bandwidth > 0) return 1;
    }
    return 0;
}

/* A row of `computations`, and the time that is in question: of steps, where there are any, and all. */
struct rank {
    int64_t win_ps, lost_ps;
    size_t row;
};

static int most_first(const void *a, const void *b) {
    const struct rank *left = a, *right = b;
    if (left->win_ps != right->win_ps) return left->win_ps < right->win_ps ? 1 : -1;
    if (left->lost_ps != right->lost_ps) return left->lost_ps < right->lost_ps ? 1 : -1;
    return (left->row > right->row) - (left->row < right->row);
}

static struct ids_value cell(const struct ids_table *table, size_t row, const char *column) {
    return *ids_table_cell(table, row, ids_table_column(table, column));
}

static int is_above(struct ids_value share) {
    return !share.missing && share.d > 1 + IDS_EFFICIENCY_ROUNDING;
}

/* What it means that an op is faster than the device can be; nothing where none is. */
static struct ids_value note_on(const struct ids_value cells[IDS_COST_CELLS]) {
    int too_fast = is_above(cells[1]), too_wide = is_above(cells[3]);
    return ids_text_value(too_fast ? "peak too low" : too_wide ? "from a cache?" : NULL);
}

/* What a step of a device has, or without steps a window: how many there are on all devices, and their time. */
struct spans {
    int64_t count, sum_ps;
    const char *lost; /* the column of `computations` that is in them */
};

static struct spans spans_of(const struct ids_analysis *analysis) {
    struct spans spans = {0, 0, "lost_in_steps"};
    for (size_t s = 0; s < analysis->steps.count; s++) {
        spans.count += analysis->steps.at[s].devices;
        ids_sum(&spans.sum_ps, analysis->steps.at[s].sum_ps);
    }
    if (spans.count) return spans;
    return (struct spans){(int64_t)analysis->busy_count, ids_windows_total(analysis), "lost"};
}

static void list_row(struct ids_report *report, const struct ids_table *from, size_t row, const struct spans *spans) {
    static const char *const same[] = {"flop_rate", "flops_share", "bandwidth",   "bandwidth_share",
                                       "intensity", "bound",       "at_roofline", "lost"};
    struct ids_value cells[IDS_COST_CELLS];
    for (int i = 0; i < IDS_COST_CELLS; i++) cells[i] = cell(from, row, same[i]);
    struct ids_value lost = cell(from, row, spans->lost);
    int can_win = !lost.missing && spans->count > 0 && spans->sum_ps > 0;
    const struct ids_value values[] = {
        cell(from, row, "self"),
        cell(from, row, "share"),
        can_win ? ids_int_value(IDS_UNIT_TIME, lost.i / spans->count) : ids_no_value(IDS_UNIT_TIME),
        can_win ? ids_real_value(IDS_UNIT_RATIO, (double)lost.i / (double)spans->sum_ps) : ids_no_value(IDS_UNIT_RATIO),
        IDS_COST_VALUES(cells),
        note_on(cells),
        cell(from, row, "ops"),
        cell(from, row, "name"),
        cell(from, row, "module"),
        cell(from, row, "place"),
        cell(from, row, "fingerprint"),
    };
    IDS_ROW(report, ids_report_table(report, &roofline), columns, values);
}

static int list_ops(const struct ids_analysis *analysis, struct ids_report *report) {
    const struct ids_table *from = ids_report_find_table(report, "computations");
    struct rank *ranks = calloc(from ? from->row_count + 1 : 1, sizeof *ranks);
    struct spans spans = spans_of(analysis);
    size_t count = 0;
    if (!ranks) return -1;
    /* Where no op has a known cost, this would be the table of ops again. */
    int can_tell = from && analysis->costs.of_op && has_peaks(analysis);
    for (size_t row = 0; can_tell && row < from->row_count; row++) {
        struct ids_value class = cell(from, row, "class"), lost = cell(from, row, "lost");
        int computes = !class.missing && !strcmp(class.text, "compute");
        int above = is_above(cell(from, row, "flops_share")) || is_above(cell(from, row, "bandwidth_share"));
        if (lost.missing ? !computes : !lost.i && !above) continue;
        struct ids_value won = cell(from, row, spans.lost);
        int64_t self_ps = cell(from, row, "self").i;
        ranks[count++] =
            lost.missing ? (struct rank){self_ps, self_ps, row} : (struct rank){won.missing ? 0 : won.i, lost.i, row};
    }
    if (count) qsort(ranks, count, sizeof *ranks, most_first);
    ids_report_table(report, &roofline);
    for (size_t i = 0; i < count; i++) list_row(report, from, ranks[i].row, &spans);
    free(ranks);
    return 0;
}

struct program {
    const char *name;
    int64_t self_ps, communicating_ps;
    struct ids_op_cost cost;
};

static int longest_first(const void *a, const void *b) {
    const struct program *left = a, *right = b;
    return (left->self_ps < right->self_ps) - (left->self_ps > right->self_ps);
}

static int list_programs(struct ids_report *report) {
    struct ids_op_rows rows;
    struct ids_keymap numbers = {0};
    struct program *all = NULL;
    size_t count = 0, room = 0;
    int failed = ids_op_rows_read(report, &rows);
    for (size_t i = 0; i < rows.count && !failed; i++) {
        const struct ids_op_row *op = &rows.at[i];
        if (!*op->module) continue;
        uint64_t *place = ids_keymap_at(&numbers, ids_hash_bytes(op->module, strlen(op->module)) | 1);
        if (place && !*place) {
            struct program *fresh = IDS_PUSH(all, count, room);
            if (fresh) *fresh = (struct program){.name = op->module};
            *place = fresh ? count : 0;
        }
        failed = !place || !*place || !all;
        if (failed) break;
        ids_sum(&all[*place - 1].self_ps, op->self_ps);
        if (op->communicates) ids_sum(&all[*place - 1].communicating_ps, op->self_ps);
        ids_op_cost_add(&all[*place - 1].cost, &op->cost);
    }
    if (count) qsort(all, count, sizeof *all, longest_first);
    ids_report_table(report, &programs);
    for (size_t i = 0; i < count && !failed; i++) {
        struct ids_value cells[IDS_COST_CELLS];
        ids_cost_cells(&all[i].cost, all[i].communicating_ps > all[i].self_ps / 2, cells);
        const struct ids_value row[] = {
            ids_int_value(IDS_UNIT_TIME, all[i].self_ps),
            ids_cost_time(all[i].cost.has_roof, all[i].cost.judged_time),
            IDS_COST_VALUES(cells),
            note_on(cells),
            ids_text_value(all[i].name),
        };
        IDS_ROW(report, ids_report_table(report, &programs), program_columns, row);
    }
    ids_keymap_done(&numbers);
    free(all);
    ids_op_rows_done(&rows);
    return failed;
}

/* ---- all ---- */

static double window_of(const struct ids_busy *busy) {
    return (double)(busy->end_ps - busy->start_ps) * 1e-12;
}

static int put_metrics(const struct ids_analysis *analysis, struct ids_report *report) {
    struct costs_in_windows all = {.by_shapes = analysis->trace->call_cost_count > 0};
    double time = (double)ids_windows_total(analysis) * 1e-12;
    const struct ids_op_cost *of_device = analysis->costs.of_device;
    if (!analysis->busy_count || time <= 0) {
        ids_metrics_missing(report, metrics, IDS_COUNT_OF(metrics), ids_no_activity_reason(analysis));
        return 0;
    }
    for (size_t b = 0; b < analysis->busy_count && of_device; b++) {
        if (window_of(&analysis->busy[b]) > 0) add_device(&all, &of_device[b], window_of(&analysis->busy[b]));
    }
    const struct ids_table *categories = ids_report_find_table(report, "op_categories");
    double device_time = 0;
    for (size_t row = 0; categories && row < categories->row_count; row++)
        device_time += (double)cell(categories, row, "self").i * 1e-12;
    struct known known = known_of(&all.cost, device_time);
    for (size_t b = 0; b < analysis->busy_count && of_device && analysis->busy_count > 1; b++) {
        const struct ids_busy *busy = &analysis->busy[b];
        struct costs_in_windows alone = {.by_shapes = all.by_shapes};
        if (window_of(busy) <= 0) continue;
        add_device(&alone, &of_device[b], window_of(busy));
        put_efficiency(report, busy->device->key, &alone, &known);
    }
    put_efficiency(report, NULL, &all, &known);
    ids_efficiency_share(report, "efficiency.judged_share", NULL, all.cost.judged_time, device_time,
                         device_time > 0 ? NULL : ids_no_activity_reason(analysis));
    return ids_model_flops_put(analysis, report);
}

static int roofline_run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    return put_metrics(analysis, report) || list_ops(analysis, report) || list_programs(report) ? ids_no_memory(err)
                                                                                                : 0;
}

static const struct ids_note notes[] = {
    {.metric = "efficiency.flops"},
    {.metric = "efficiency.flops_share", .after = " of peak"},
    {.metric = "efficiency.bandwidth"},
    {.metric = "efficiency.bandwidth_share", .after = " of peak in the window"},
    {.before = "MFU ", .metric = "efficiency.mfu"},
    {.metric = "efficiency.model_flops", .after = " model FLOP a step"},
    {.metric = "efficiency.tokens_per_s", .after = " tokens a second"},
    {.metric = "efficiency.judged_share", .after = " of device time judged"},
};
static const struct ids_headline headlines[] = {
    {"roofline", "lost to the roofline", "efficiency.roofline_loss", notes, IDS_COUNT_OF(notes),
     IDS_HEADLINE_ONLY_KNOWN},
    {"roofline", "memory-bound at", "efficiency.memory_bound", NULL, 0, IDS_HEADLINE_ONLY_KNOWN},
};
static const struct ids_table_def *const tables[] = {&roofline, &programs};

const struct ids_analyzer ids_roofline_analyzer = {
    .name = "roofline",
    .title = "roofline",
    .metrics = metrics,
    .metric_count = IDS_COUNT_OF(metrics),
    .tables = tables,
    .table_count = IDS_COUNT_OF(tables),
    .headlines = headlines,
    .headline_count = IDS_COUNT_OF(headlines),
    .run = roofline_run,
};
