/* counters.c - what the file sampled over time (SM active, DRAM and NVLink share, clocks, power, throttling): by
 * device, over time, by step and by op; what a profiler of counters counted in each kernel; and how far the clock of a
 * TPU was held back. */
#include "lib/model/counters.h"
#include "lib/analysis/context.h"
#include "lib/base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <strings.h>

#define SAMPLES "FROM counters WHERE run = :run"
/* What devices have a word for: "throttle reasons", "HW Thermal Throttling". */
#define THROTTLING SAMPLES " AND lower(counter || ' ' || series) LIKE '%throttl%'"

static const struct ids_metric_def metrics[] = {
    {"counters.count", "counters", IDS_UNIT_COUNT, IDS_BETTER_NEITHER,
     "Series of values that the file sampled over time: of a line \"_counters_\" of an XSpace, or counters of a Chrome "
     "trace; and those that a profiler of counters has of each kernel.",
     "SELECT count(*) FROM (SELECT DISTINCT plane, counter, series " SAMPLES ")"},
    {"counters.samples", "samples", IDS_UNIT_COUNT, IDS_BETTER_NEITHER, "Their values together.",
     "SELECT count(*) " SAMPLES},
    {"clock.throttled_share", "throttled", IDS_UNIT_RATIO, IDS_BETTER_LOWER,
     "Share of the samples above 0 among those of counters that have the word throttle in their name.",
     "SELECT total(value > 0) / nullif(count(*), 0) " THROTTLING},
    {"clock.held_back_share", "clock held back", IDS_UNIT_RATIO, IDS_BETTER_LOWER,
     "Share of the time of a TPU's ops that they would not take at the default clock: 1 - sum of time x Time Scale "
     "Multiplier / sum of time; 0 where the clock was above its default. Ops around others count too.",
     "SELECT min(max(1 - sum(e.dur_ps * CAST(s.value AS REAL)) / sum(e.dur_ps), 0), 1) FROM stats s "
     "JOIN events e ON e.id = s.event WHERE e.run = :run AND s.key = 'Time Scale Multiplier' HAVING sum(e.dur_ps) > 0"},
};

static const struct ids_column_def columns[] = {
    {"device", "device", IDS_UNIT_NONE, 0},
    {"counter", "counter", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"mean", "mean", IDS_UNIT_NUMBER, 0},
    {"min", "min", IDS_UNIT_NUMBER, 0},
    {"max", "max", IDS_UNIT_NUMBER, 0},
    {"samples", "samples", IDS_UNIT_COUNT, 0},
    {"above_zero", "above 0", IDS_UNIT_RATIO, IDS_COLUMN_DETAIL},
};
static const struct ids_table_def counters_table = {
    "counters",
    "counters",
    columns,
    IDS_COUNT_OF(columns),
    "One row per series that the file sampled and device (or host). The mean is of the samples, each alike. above_zero "
    "is the share of the samples above 0.",
    0,
};

static const struct ids_column_def time_columns[] = {
    {"start", "start", IDS_UNIT_TIME, 0},
    {"device", "device", IDS_UNIT_NONE, 0},
    {"counter", "counter", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"mean", "mean", IDS_UNIT_NUMBER, 0},
    {"samples", "samples", IDS_UNIT_COUNT, 0},
};
static const struct ids_table_def over_time_table = {
    "counters_over_time",
    "counters over time",
    time_columns,
    IDS_COUNT_OF(time_columns),
    "Counters in the run's window, cut into 20 equal parts; parts without a sample have no row.",
    0,
};

static const struct ids_column_def step_columns[] = {
    {"step", "step", IDS_UNIT_COUNT, 0},
    {"device", "device", IDS_UNIT_NONE, 0},
    {"counter", "counter", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"mean", "mean", IDS_UNIT_NUMBER, 0},
    {"samples", "samples", IDS_UNIT_COUNT, 0},
};
static const struct ids_table_def by_step_table = {
    "counters_by_step",
    "counters by step",
    step_columns,
    IDS_COUNT_OF(step_columns),
    "Counters of devices in each of their steps; steps without a sample have no row.",
    0,
};

static const struct ids_column_def op_columns[] = {
    {"samples", "samples", IDS_UNIT_COUNT, 0},
    {"mean", "mean", IDS_UNIT_NUMBER, 0},
    {"counter", "counter", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"device", "device", IDS_UNIT_NONE, 0},
    {"name", "op or kernel", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_NAME},
};
static const struct ids_table_def by_op_table = {
    "counters_by_op",
    "counters by op",
    op_columns,
    IDS_COUNT_OF(op_columns),
    "Counters of devices while an op or a kernel ran there: the one that began last. No name: the device did nothing.",
    0,
};

static const struct ids_column_def kernel_columns[] = {
    {"total", "total", IDS_UNIT_NUMBER, 0},
    {"mean", "mean", IDS_UNIT_NUMBER, 0},
    {"ranges", "ranges", IDS_UNIT_COUNT, 0},
    {"counter", "counter", IDS_UNIT_NONE, 0},
    {"device", "device", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
    {"kernel", "kernel", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_NAME},
};
static const struct ids_table_def by_kernel_table = {
    "counters_by_kernel",
    "counters by kernel",
    kernel_columns,
    IDS_COUNT_OF(kernel_columns),
    "What a profiler of counters (CUPTI's ranges in a trace of PyTorch) counted while each kernel ran. Such a "
    "recording "
    "has the kernels in order, without their times. What counted nothing has no row.",
    IDS_TABLE_TOP,
};

/* What a person looks at, and a damaged file may have more of. */
enum { ROWS_LIMIT = 10000 };

struct mean {
    double sum;
    int64_t count;
};

/* A counter, as rows name it. */
struct named {
    const struct ids_counter *counter;
    struct ids_value device, name;
};

static struct named name_of(const struct ids_trace *trace, struct ids_report *report,
                            const struct ids_counter *counter) {
    char room[512];
    const struct ids_track *track = &trace->tracks[counter->track];
    const char *device =
        track->device == IDS_NONE ? ids_trace_text(trace, track->plane_name) : trace->devices[track->device].label;
    return (struct named){
        counter, ids_text_value(device),
        ids_text_value(ids_report_text(report, "%s", ids_counter_name(trace, counter, room, sizeof room)))};
}

/* Whether its moments are known, and not only the kernel. */
static int is_sampled(const struct ids_trace *trace, const struct ids_counter *counter) {
    return !ids_is_range_line(ids_strings_text(&trace->strings, trace->tracks[counter->track].name));
}

static void list(const struct ids_trace *trace, struct ids_report *report) {
    struct ids_table *table = NULL;
    for (size_t c = 0; c < trace->counter_count && c < ROWS_LIMIT; c++) {
        const struct ids_counter *counter = &trace->counters[c];
        if (!is_sampled(trace, counter)) continue;
        if (!table) table = ids_report_table(report, &counters_table);
        struct named named = name_of(trace, report, counter);
        struct ids_value row[] = {
            named.device,
            named.name,
            ids_real_value(IDS_UNIT_NUMBER, counter->sum / (double)counter->count),
            ids_real_value(IDS_UNIT_NUMBER, counter->min),
            ids_real_value(IDS_UNIT_NUMBER, counter->max),
            ids_int_value(IDS_UNIT_COUNT, (int64_t)counter->count),
            ids_real_value(IDS_UNIT_RATIO, (double)counter->above_zero / (double)counter->count),
        };
        IDS_ROW(report, table, columns, row);
    }
}

static int largest_first(const void *a, const void *b) {
    const struct ids_counter *left = *(const struct ids_counter *const *)a,
                             *right = *(const struct ids_counter *const *)b;
    if (left->sum != right->sum) return left->sum < right->sum ? 1 : -1;
    return (left > right) - (left < right);
}

static int list_kernels(const struct ids_trace *trace, struct ids_report *report, struct ids_error *err) {
    const struct ids_counter **found = calloc(trace->counter_count, sizeof *found);
    size_t count = 0;
    if (!found) return ids_no_memory(err);
    for (size_t c = 0; c < trace->counter_count; c++) {
        const struct ids_counter *counter = &trace->counters[c];
        if (counter->sum > 0 && !is_sampled(trace, counter)) found[count++] = counter;
    }
    if (count) qsort(found, count, sizeof *found, largest_first);
    struct ids_table *table = count ? ids_report_table(report, &by_kernel_table) : NULL;
    for (size_t i = 0; i < count && i < ROWS_LIMIT; i++) {
        struct named named = name_of(trace, report, found[i]);
        struct ids_value row[] = {
            ids_real_value(IDS_UNIT_NUMBER, found[i]->sum),
            ids_real_value(IDS_UNIT_NUMBER, found[i]->sum / (double)found[i]->count),
            ids_int_value(IDS_UNIT_COUNT, (int64_t)found[i]->count),
            ids_text_value(ids_trace_text(trace, found[i]->series ? found[i]->series : found[i]->name)),
            named.device,
            ids_text_value(ids_trace_text(trace, found[i]->name)),
        };
        IDS_ROW(report, table, kernel_columns, row);
    }
    free(found);
    return 0;
}

static void put_mean(struct ids_report *report, const struct ids_table_def *def, struct ids_table **table,
                     struct ids_value where, const struct named *named, const struct mean *mean) {
    if (!mean->count || (*table && (*table)->row_count == ROWS_LIMIT)) return;
    if (!*table) *table = ids_report_table(report, def);
    struct ids_value row[] = {where, named->device, named->name,
                              ids_real_value(IDS_UNIT_NUMBER, mean->sum / (double)mean->count),
                              ids_int_value(IDS_UNIT_COUNT, mean->count)};
    IDS_ROW(report, *table, time_columns, row); /* the columns of both tables have the same shape */
}

/* The mean of those of its samples from *place on that lie before `to`; samples before `from` are passed over. */
static struct mean mean_between(const struct ids_counter *counter, size_t *place, int64_t from_ps, int64_t to_ps) {
    struct mean mean = {0, 0};
    for (; *place < counter->sample_count && counter->samples[*place].at_ps < to_ps; ++*place) {
        if (counter->samples[*place].at_ps < from_ps) continue;
        mean.sum += counter->samples[*place].value;
        mean.count++;
    }
    return mean;
}

static void cut_by_time(const struct ids_analysis *analysis, struct ids_report *report) {
    const struct ids_trace *trace = analysis->trace;
    struct ids_table *table = NULL;
    for (size_t c = 0; c < trace->counter_count; c++) {
        if (!is_sampled(trace, &trace->counters[c])) continue;
        struct named named = name_of(trace, report, &trace->counters[c]);
        size_t place = 0;
        for (int part = 0; part < IDS_PARTS; part++) {
            int64_t from_ps = ids_part_start(analysis, part), to_ps = ids_part_start(analysis, part + 1);
            struct mean mean = mean_between(named.counter, &place, from_ps, to_ps);
            put_mean(report, &over_time_table, &table, ids_int_value(IDS_UNIT_TIME, from_ps - analysis->first_ps),
                     &named, &mean);
        }
    }
}

static void cut_by_step(const struct ids_analysis *analysis, struct ids_report *report) {
    const struct ids_trace *trace = analysis->trace;
    if (!analysis->steps.of_device) return;
    struct ids_table *table = NULL;
    for (size_t c = 0; c < trace->counter_count; c++) {
        uint32_t device = trace->tracks[trace->counters[c].track].device;
        if (device == IDS_NONE || !is_sampled(trace, &trace->counters[c])) continue;
        struct named named = name_of(trace, report, &trace->counters[c]);
        const struct ids_device_steps *steps = &analysis->steps.of_device[device];
        size_t place = 0;
        for (size_t s = 0; s < steps->count; s++) {
            struct mean mean = mean_between(named.counter, &place, steps->at[s].from_ps, steps->at[s].to_ps);
            if (steps->at[s].step == IDS_NONE) continue;
            int64_t number = analysis->steps.at[steps->at[s].step].number;
            put_mean(report, &by_step_table, &table, ids_int_value(IDS_UNIT_COUNT, number), &named, &mean);
        }
    }
}

/* --- by op ------------------------------------------------------------------------------------------------------ */

struct moment {
    int64_t at_ps;
    double value;
    uint32_t counter;
};

struct op_mean {
    int64_t start_ps;  /* of the first event; INT64_MIN: none ran */
    uint32_t name, op; /* what ran; IDS_NONE where there is none */
    uint32_t counter;
    struct mean mean;
};

struct by_op {
    struct moment *moments; /* of one device */
    size_t moment_count, moment_room;
    const struct ids_event **open; /* the one that began last at the end */
    size_t open_count, open_room;
    struct ids_keymap places; /* (op or name, device, counter) -> index + 1 */
    struct op_mean *at;
    size_t count, room;
};

static int earlier(const void *a, const void *b) {
    const struct moment *left = a, *right = b;
    if (left->at_ps != right->at_ps) return left->at_ps < right->at_ps ? -1 : 1;
    return (left->counter > right->counter) - (left->counter < right->counter);
}

static int gather_moments(const struct ids_trace *trace, uint32_t device, struct by_op *by_op) {
    by_op->moment_count = 0;
    for (size_t c = 0; c < trace->counter_count; c++) {
        const struct ids_counter *counter = &trace->counters[c];
        if (trace->tracks[counter->track].device != device || !is_sampled(trace, counter)) continue;
        for (size_t s = 0; s < counter->sample_count; s++) {
            struct moment *added = IDS_PUSH(by_op->moments, by_op->moment_count, by_op->moment_room);
            if (!added) return -1;
            *added = (struct moment){counter->samples[s].at_ps, counter->samples[s].value, (uint32_t)c};
        }
    }
    if (by_op->moment_count) qsort(by_op->moments, by_op->moment_count, sizeof *by_op->moments, earlier);
    return 0;
}

static int add_to_op(struct by_op *by_op, const struct ids_trace *trace, uint32_t device, const struct ids_event *event,
                     const struct moment *moment) {
    uint64_t what = !event                  ? 1
                    : event->op == IDS_NONE ? ids_key_of(2, trace->names[event->name].text)
                                            : ids_key_of(3, event->op);
    uint64_t *place = ids_keymap_at(&by_op->places, ids_key_of(what, ids_key_of(device, moment->counter)));
    if (!place) return -1;
    if (!*place) {
        struct op_mean *added = IDS_PUSH(by_op->at, by_op->count, by_op->room);
        if (!added) return -1;
        *added = (struct op_mean){.start_ps = event ? event->start_ps : INT64_MIN,
                                  .name = event ? event->name : IDS_NONE,
                                  .op = event ? event->op : IDS_NONE,
                                  .counter = moment->counter};
        *place = by_op->count;
    }
    by_op->at[*place - 1].mean.sum += moment->value;
    by_op->at[*place - 1].mean.count++;
    return 0;
}

static int sweep(const struct ids_trace *trace, const struct ids_busy *busy, struct by_op *by_op) {
    const struct ids_events *activity = &busy->device->activity;
    size_t next = 0;
    by_op->open_count = 0;
    for (size_t m = 0; m < by_op->moment_count; m++) {
        const struct moment *moment = &by_op->moments[m];
        if (moment->at_ps < busy->start_ps || moment->at_ps >= busy->end_ps) continue;
        for (; next < activity->count && activity->at[next].start_ps <= moment->at_ps; next++) {
            const struct ids_event **open = IDS_PUSH(by_op->open, by_op->open_count, by_op->open_room);
            if (!open) return -1;
            *open = &activity->at[next];
        }
        while (by_op->open_count && by_op->open[by_op->open_count - 1]->end_ps <= moment->at_ps) by_op->open_count--;
        const struct ids_event *running = by_op->open_count ? by_op->open[by_op->open_count - 1] : NULL;
        if (add_to_op(by_op, trace, busy->index, running, moment)) return -1;
    }
    return 0;
}

static int most_samples(const void *a, const void *b) {
    const struct op_mean *left = a, *right = b;
    if (left->mean.count != right->mean.count) return left->mean.count < right->mean.count ? 1 : -1;
    if (left->counter != right->counter) return left->counter > right->counter ? 1 : -1;
    return (left->start_ps > right->start_ps) - (left->start_ps < right->start_ps);
}

static void list_ops(const struct ids_trace *trace, struct ids_report *report, struct by_op *by_op) {
    if (!by_op->count) return;
    struct ids_table *table = ids_report_table(report, &by_op_table);
    qsort(by_op->at, by_op->count, sizeof *by_op->at, most_samples);
    for (size_t i = 0; i < by_op->count && i < ROWS_LIMIT; i++) {
        const struct op_mean *of = &by_op->at[i];
        struct named named = name_of(trace, report, &trace->counters[of->counter]);
        const char *name = of->op != IDS_NONE     ? ids_trace_text(trace, trace->ops[of->op].name)
                           : of->name != IDS_NONE ? ids_trace_name(trace, of->name)
                                                  : NULL;
        struct ids_value row[] = {ids_int_value(IDS_UNIT_COUNT, of->mean.count),
                                  ids_real_value(IDS_UNIT_NUMBER, of->mean.sum / (double)of->mean.count), named.name,
                                  named.device, ids_text_value(name)};
        IDS_ROW(report, table, op_columns, row);
    }
}

static int sum_up_device(const struct ids_analysis *analysis, const struct ids_busy *busy, void *sums,
                         struct ids_error *err) {
    struct by_op *by_op = sums;
    if (!analysis->trace->counter_count) return 0;
    int failed = gather_moments(analysis->trace, busy->index, by_op) || sweep(analysis->trace, busy, by_op);
    return failed ? ids_no_memory(err) : 0;
}

static void by_op_done(void *sums) {
    struct by_op *by_op = sums;
    free(by_op->moments);
    free(by_op->open);
    free(by_op->at);
    ids_keymap_done(&by_op->places);
}

/* --- all of it -------------------------------------------------------------------------------------------------- */

static int is_throttling(const struct ids_trace *trace, const struct ids_counter *counter) {
    return strcasestr(ids_trace_text(trace, counter->name), "throttl") ||
           strcasestr(ids_trace_text(trace, counter->series), "throttl");
}

static double held_back_share(const struct ids_trace *trace) {
    return trace->time_scale.time_ps > 0 ? fmin(fmax(1 - trace->time_scale.scaled_ps / trace->time_scale.time_ps, 0), 1)
                                         : 0;
}

static void put_metrics(const struct ids_trace *trace, struct ids_report *report) {
    static const char none[] = "the file sampled no counters";
    uint64_t samples = trace->counters_left_out, throttling = 0, throttled = 0, kept = 0;
    for (size_t c = 0; c < trace->counter_count; c++) {
        const struct ids_counter *counter = &trace->counters[c];
        samples += counter->count;
        kept += counter->sample_count;
        if (!is_throttling(trace, counter)) continue;
        throttling += counter->count;
        throttled += counter->above_zero;
    }
    if (samples - trace->counters_left_out > kept)
        ids_report_diag(report, IDS_NOTE, "counters.samples",
                        "samples of counters beyond the first 262,144 count in their means alone", -1,
                        samples - trace->counters_left_out - kept);
    if (trace->counters_left_out)
        ids_report_diag(report, IDS_WARNING, "counters.left_out",
                        "values of counters beyond the first 65,536 are only counted", -1, trace->counters_left_out);
    ids_report_metric(report, "counters.count", NULL, ids_int_value(IDS_UNIT_COUNT, (int64_t)trace->counter_count));
    ids_report_metric(report, "counters.samples", NULL, ids_int_value(IDS_UNIT_COUNT, (int64_t)samples));
    if (throttling)
        ids_report_metric(report, "clock.throttled_share", NULL,
                          ids_real_value(IDS_UNIT_RATIO, (double)throttled / (double)throttling));
    else
        ids_report_no_data(report, "clock.throttled_share", IDS_UNIT_RATIO, NULL, "%s",
                           samples ? "no counter of the file says throttling" : none);
    if (trace->time_scale.time_ps > 0)
        ids_report_metric(report, "clock.held_back_share", NULL,
                          ids_real_value(IDS_UNIT_RATIO, held_back_share(trace)));
    else
        ids_report_no_data(report, "clock.held_back_share", IDS_UNIT_RATIO, NULL,
                           "no op of this trace has a Time Scale Multiplier (TPU)");
}

/* Beside the run's other facts: compute takes longer than the program's doing. */
static void say_clock(const struct ids_trace *trace, struct ids_report *report) {
    char text[IDS_VALUE_ROOM];
    double held_back = held_back_share(trace);
    if (held_back < 0.01) return;
    ids_value_format(ids_real_value(IDS_UNIT_RATIO, held_back), text, sizeof text);
    ids_report_property(report, "clock_held_back", ids_text_value(ids_report_text(report, "clock held back %s", text)));
}

static int counters_run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    put_metrics(trace, report);
    say_clock(trace, report);
    if (!trace->counter_count) return 0;
    list(trace, report);
    if (analysis->busy_count) cut_by_time(analysis, report);
    cut_by_step(analysis, report);
    list_ops(trace, report, analysis->sums);
    return list_kernels(trace, report, err);
}

static const struct ids_table_def *const tables[] = {&counters_table, &over_time_table, &by_step_table, &by_op_table,
                                                     &by_kernel_table};

const struct ids_analyzer ids_counters_analyzer = {
    .name = "counters",
    .title = "counters",
    .metrics = metrics,
    .metric_count = IDS_COUNT_OF(metrics),
    .tables = tables,
    .table_count = IDS_COUNT_OF(tables),
    .gathering = {.size = sizeof(struct by_op), .device = sum_up_device, .done = by_op_done},
    .run = counters_run,
};
