/* memory.c - how full the devices' memory is: what allocators had in use over time, the peak and what it was made of,
 * and whether it grows from step to step. */
#include "analyzers/memory_held.h"
#include "analyzers/memory_live.h"
#include "analyzers/memory_programs.h"
#include "analyzers/memory_use.h"
#include "lib/base/saturate.h"
#include "lib/report/alike_names.h"

#include <string.h>

#define MOST "allocations WHERE run = :run AND is_host = 0 AND in_use IS NOT NULL"
#define AT_MOST(what) "SELECT " what " FROM " MOST " ORDER BY in_use DESC, start_ps DESC LIMIT 1"

static const struct ids_metric_def metrics[] = {
    {"memory.peak", "peak memory", IDS_UNIT_BYTES, IDS_BETTER_LOWER,
     "The most bytes of a device's memory that its allocator had in use while it was recorded, with what is reserved "
     "for the stacks of programs; over all devices the highest.",
     "SELECT max(in_use) FROM " MOST},
    {"memory.capacity", "memory", IDS_UNIT_BYTES, IDS_BETTER_NEITHER,
     "What the allocator may take in all: in use and available, else the memory of the device; over all devices of the "
     "one with the highest peak.",
     AT_MOST("capacity")},
    {"memory.share", "memory used", IDS_UNIT_RATIO, IDS_BETTER_LOWER, "memory.peak ÷ memory.capacity.",
     AT_MOST("in_use * 1.0 / capacity")},
    {"memory.fragmentation", "fragmented", IDS_UNIT_RATIO, IDS_BETTER_LOWER,
     "1 − the largest free block ÷ all that is free, as the allocator says it at its peak; over all devices of the one "
     "with the highest peak.",
     AT_MOST("fragmentation")},
    {"memory.growth", "growth a step", IDS_UNIT_BYTES, IDS_BETTER_LOWER,
     "How much more is in use at the lowest point of a step than of the step before, by the median over the steps: "
     "memory that no step gives back. A step is the time from one step's begin on the host to the next one's. Over all "
     "devices of the one that grows most.",
     "WITH used AS (SELECT host, allocator, start_ps, in_use, lead(start_ps, 1, 9223372036854775807) OVER (PARTITION "
     "BY host, allocator ORDER BY start_ps, id) AS until_ps FROM " MOST
     "), begun AS (SELECT coalesce(host_start_ps, start_ps) AS from_ps, lead(coalesce(host_start_ps, start_ps), 1, "
     "9223372036854775807) OVER (ORDER BY id) AS to_ps, id FROM steps WHERE run = :run), low AS (SELECT u.host, "
     "u.allocator, b.id, min(u.in_use) AS in_use FROM begun b JOIN used u ON u.start_ps < b.to_ps AND u.until_ps > "
     "b.from_ps AND u.until_ps > u.start_ps GROUP BY u.host, u.allocator, b.id), grown AS (SELECT host, allocator, "
     "in_use - lag(in_use) OVER (PARTITION BY host, allocator ORDER BY id) AS bytes FROM low), placed AS (SELECT "
     "bytes, row_number() OVER (PARTITION BY host, allocator ORDER BY bytes) AS place, count(*) OVER (PARTITION BY "
     "host, allocator) AS of FROM grown WHERE bytes IS NOT NULL) SELECT max(bytes) FROM placed WHERE of >= 3 AND place "
     "= (of + 1) / 2"},
    {"memory.held", "what lives", IDS_UNIT_BYTES, IDS_BETTER_LOWER,
     "Bytes of all that lived on the devices of a process when its device memory profile was saved: arrays and "
     "compiled programs.",
     "SELECT sum(bytes) FROM report_held WHERE run = :run"},
    {"memory.not_donated", "not donated", IDS_UNIT_BYTES, IDS_BETTER_LOWER,
     "Bytes of the arguments of a program that results replace without taking their memory, so that both are kept; of "
     "the program that has most of them. Only arguments that their names call state, and trees that are replaced "
     "whole, "
     "are looked at: see the table not_donated.",
     "SELECT coalesce(max(not_donated), 0) FROM report_program_memory WHERE run = :run HAVING count(*) > 0"},
};

static const char programs_missing[] = "no compiled program with its buffers is in this profile";
static const char held_missing[] = "no device memory profile (capture --memory saves one)";

static const struct ids_column_def allocator_columns[] = {
    {"allocator", "allocator", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_NAME},
    {"device", "device", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
    {"over_time", "in use over time", IDS_UNIT_NONE, 0},
    {"lowest", "lowest", IDS_UNIT_BYTES, 0},
    {"peak", "peak", IDS_UNIT_BYTES, 0},
    {"capacity", "of", IDS_UNIT_BYTES, IDS_COLUMN_SPARE},
    {"share", "share", IDS_UNIT_RATIO, IDS_COLUMN_SPARE},
    {"fragmentation", "fragmented", IDS_UNIT_RATIO, IDS_COLUMN_SPARE},
    {"life_peak", "peak of its life", IDS_UNIT_BYTES, IDS_COLUMN_SPARE},
    {"growth", "growth a step", IDS_UNIT_BYTES, IDS_COLUMN_SPARE},
    {"growth_from", "at least", IDS_UNIT_BYTES, IDS_COLUMN_DETAIL},
    {"growth_to", "at most", IDS_UNIT_BYTES, IDS_COLUMN_DETAIL},
    {"grown_steps", "steps that grew", IDS_UNIT_COUNT, IDS_COLUMN_DETAIL},
    {"compared_steps", "steps compared", IDS_UNIT_COUNT, IDS_COLUMN_DETAIL},
    {"is_leak", "leak", IDS_UNIT_COUNT, IDS_COLUMN_DETAIL},
    {"leak_steps", "steps that leaked", IDS_UNIT_COUNT, IDS_COLUMN_DETAIL},
    {"leak_bytes", "leaked each time", IDS_UNIT_BYTES, IDS_COLUMN_DETAIL},
    {"allocations", "allocations", IDS_UNIT_COUNT, 0},
    {"deallocations", "deallocations", IDS_UNIT_COUNT, IDS_COLUMN_DETAIL},
    {"per_step", "a step", IDS_UNIT_NUMBER, IDS_COLUMN_SPARE},
    {"reserved", "for stacks", IDS_UNIT_BYTES, IDS_COLUMN_DETAIL},
    {"peak_at", "peak at", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"memory_of", "memory of", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
    {"counts_from", "counts from", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
};
static const struct ids_table_def allocators = {
    "allocators",
    "allocators",
    allocator_columns,
    IDS_COUNT_OF(allocator_columns),
    "One row per allocator that the recording has events of, of devices and of their host. `over_time` draws the most "
    "that was in use, in 20 parts of the time from its first event to its last; the full height is the peak. `growth` "
    "is that of memory.growth; the median lies between `growth_from` and `growth_to` with a certainty of 95 % (of "
    "fewer than 7 steps these are the least and the most). `is_leak` is 1 where it grew in 8 of 10 steps by a like "
    "amount and never fell, or three times and more at regular distances: in `leak_steps` of the compared steps, by "
    "`leak_bytes` each time. `counts_from` is `first event` where events say only by how much the memory in use "
    "changes, else `begin of the program`.",
    0,
};

static const struct ids_column_def use_columns[] = {
    {"allocator", "allocator", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"start", "from", IDS_UNIT_TIME, 0},
    {"duration", "for", IDS_UNIT_TIME, 0},
    {"least", "least", IDS_UNIT_BYTES, 0},
    {"most", "most", IDS_UNIT_BYTES, 0},
};
static const struct ids_table_def over_time = {
    "memory_use",
    "memory in use",
    use_columns,
    IDS_COUNT_OF(use_columns),
    "What was in use in 20 parts of the time from an allocator's first event to its last, at least and at most. Times "
    "since the run's first activity.",
    IDS_TABLE_HIDDEN,
};

static const struct ids_column_def live_columns[] = {
    {"bytes", "bytes", IDS_UNIT_BYTES, 0},
    {"share", "share", IDS_UNIT_RATIO, 0},
    {"count", "count", IDS_UNIT_COUNT, 0},
    {"allocator", "allocator", IDS_UNIT_NONE, 0},
    {"taken_by", "taken by", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_NAME},
    {"caller", "called by", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_SPARE},
    {"region", "region", IDS_UNIT_NONE, IDS_COLUMN_SPARE},
    {"type", "type", IDS_UNIT_NONE, IDS_COLUMN_SPARE},
    {"shape", "shape", IDS_UNIT_NONE, IDS_COLUMN_SPARE},
};
static const struct ids_table_def live_at_peak = {
    "live_at_peak",
    "in use at the peak",
    live_columns,
    IDS_COUNT_OF(live_columns),
    "What each allocator's memory was in use for at its peak: one row for what was taken by the same op (where the "
    "allocator's events name none, by the call that the thread was in), region, type and shape; places that differ in "
    "numbers only, as layers, are one (*). `before the recording` "
    "is what was in use and not taken while it was recorded.",
    0,
};
static const struct ids_table_def kept = {
    "memory_kept",
    "taken and not given back",
    live_columns,
    IDS_COUNT_OF(live_columns),
    "Of allocators that grow from step to step (`is_leak`): what was taken while it was recorded and is still in use "
    "at the end, as in `live_at_peak`. `share` is of what is in use then.",
    0,
};
enum { MOST_LIVE = 1000 };

static const struct ids_note notes[] = {
    {.before = "of", .metric = "memory.capacity"},
    {.before = "", .metric = "memory.share"},
    {.before = "", .metric = "memory.fragmentation", .after = "of the free memory in pieces", .at_least = 0.2},
};
static const struct ids_headline headlines[] = {
    {"memory", "peak memory", "memory.peak", notes, IDS_COUNT_OF(notes), IDS_HEADLINE_ONLY_KNOWN},
    {"memory", "memory held", "memory.held", NULL, 0, IDS_HEADLINE_ONLY_KNOWN},
};

static const char *name_of(const struct ids_analysis *analysis, const struct ids_memory_use *use) {
    return analysis->trace->host_count > 1 ? use->allocator->key
                                           : ids_trace_text(analysis->trace, use->allocator->name);
}

/* --- over time -------------------------------------------------------------------------------------------------- */

struct part {
    int64_t from_ps, least, most;
};

static void divide(const struct ids_memory_use *use, struct part parts[IDS_PARTS]) {
    int64_t from_ps = use->first->at_ps, length_ps = ids_sat_sub(use->end[-1].at_ps, from_ps);
    const struct ids_allocation *event = use->first;
    int64_t in_use = event->in_use;
    for (int p = 0; p < IDS_PARTS; p++) {
        int64_t to_ps = ids_sat_add(from_ps, (int64_t)((__int128)length_ps * (p + 1) / IDS_PARTS));
        parts[p] = (struct part){ids_sat_add(from_ps, (int64_t)((__int128)length_ps * p / IDS_PARTS)), in_use, in_use};
        for (; event < use->end && (event->at_ps < to_ps || p == IDS_PARTS - 1); event++) {
            in_use = event->in_use;
            if (in_use < parts[p].least) parts[p].least = in_use;
            if (in_use > parts[p].most) parts[p].most = in_use;
        }
    }
}

static const char *draw(struct ids_report *report, const struct part parts[IDS_PARTS], int64_t peak) {
    static const char *const heights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    enum { HEIGHTS = sizeof heights / sizeof *heights };
    char text[IDS_PARTS * 4 + 1] = "", *end = text;
    for (int p = 0; p < IDS_PARTS; p++) {
        int height = peak > 0 ? (int)((__int128)parts[p].most * (HEIGHTS - 1) / peak) : 0;
        end = stpcpy(end, heights[height < 0 ? 0 : height]);
    }
    return ids_report_text(report, "%s", text);
}

static void list_parts(const struct ids_analysis *analysis, struct ids_report *report, struct ids_table *table,
                       const struct ids_memory_use *use, const struct part parts[IDS_PARTS]) {
    for (int p = 0; p < IDS_PARTS; p++) {
        int64_t to_ps = p + 1 < IDS_PARTS ? parts[p + 1].from_ps : use->end[-1].at_ps;
        struct ids_value row[] = {
            ids_text_value(name_of(analysis, use)),
            ids_int_value(IDS_UNIT_TIME, ids_sat_sub(parts[p].from_ps, analysis->first_ps)),
            ids_int_value(IDS_UNIT_TIME, ids_sat_sub(to_ps, parts[p].from_ps)),
            ids_int_value(IDS_UNIT_BYTES, parts[p].least),
            ids_int_value(IDS_UNIT_BYTES, parts[p].most),
        };
        IDS_ROW(report, table, use_columns, row);
    }
}

/* --- allocators ------------------------------------------------------------------------------------------------- */

static struct ids_value bytes_or_none(int64_t bytes) {
    return bytes < 0 ? ids_no_value(IDS_UNIT_BYTES) : ids_int_value(IDS_UNIT_BYTES, bytes);
}

static struct ids_value share_or_none(const struct ids_memory_use *use) {
    if (use->capacity <= 0 || use->allocator->is_relative) return ids_no_value(IDS_UNIT_RATIO);
    return ids_real_value(IDS_UNIT_RATIO, (double)use->peak->in_use / (double)use->capacity);
}

static struct ids_value fragmentation_or_none(const struct ids_memory_use *use) {
    if (use->peak->fragmentation < 0) return ids_no_value(IDS_UNIT_RATIO);
    return ids_real_value(IDS_UNIT_RATIO, use->peak->fragmentation);
}

/* How often memory is taken in a step. */
static struct ids_value per_step(const struct ids_analysis *analysis, const struct ids_memory_use *use) {
    const struct ids_steps *steps = &analysis->steps;
    if (!steps->count) return ids_no_value(IDS_UNIT_NUMBER);
    const struct ids_step *first = &steps->at[0], *last = &steps->at[steps->count - 1];
    int64_t from_ps = first->host_end_ps > first->host_start_ps ? first->host_start_ps : first->start_ps;
    uint64_t taken = 0;
    for (const struct ids_allocation *event = use->first; event < use->end; event++)
        taken += event->takes && event->at_ps >= from_ps && event->at_ps < last->end_ps;
    return ids_real_value(IDS_UNIT_NUMBER, (double)taken / (double)steps->count);
}

static struct ids_value of_growth(const struct ids_memory_growth *growth, enum ids_unit unit, int64_t value) {
    return growth->has_value ? ids_int_value(unit, value) : ids_no_value(unit);
}

static void list_use(const struct ids_analysis *analysis, struct ids_report *report, struct ids_table *table,
                     const struct ids_memory_use *use, const struct part parts[IDS_PARTS]) {
    const struct ids_memory_growth *growth = &use->growth;
    uint32_t device = use->allocator->device;
    int64_t lowest = parts[0].least;
    for (int p = 1; p < IDS_PARTS; p++) {
        if (parts[p].least < lowest) lowest = parts[p].least;
    }
    struct ids_value row[] = {
        ids_text_value(name_of(analysis, use)),
        ids_text_value(device == IDS_NONE ? NULL : analysis->trace->devices[device].key),
        ids_text_value(draw(report, parts, use->peak->in_use)),
        ids_int_value(IDS_UNIT_BYTES, lowest),
        ids_int_value(IDS_UNIT_BYTES, use->peak->in_use),
        bytes_or_none(use->capacity),
        share_or_none(use),
        fragmentation_or_none(use),
        bytes_or_none(use->life_peak),
        of_growth(growth, IDS_UNIT_BYTES, growth->median),
        of_growth(growth, IDS_UNIT_BYTES, growth->from),
        of_growth(growth, IDS_UNIT_BYTES, growth->to),
        of_growth(growth, IDS_UNIT_COUNT, (int64_t)growth->grown),
        of_growth(growth, IDS_UNIT_COUNT, (int64_t)growth->steps),
        of_growth(growth, IDS_UNIT_COUNT, growth->is_leak),
        of_growth(growth, IDS_UNIT_COUNT, (int64_t)growth->leak_steps),
        of_growth(growth, IDS_UNIT_BYTES, growth->leak_bytes),
        ids_int_value(IDS_UNIT_COUNT, (int64_t)use->taken),
        ids_int_value(IDS_UNIT_COUNT, (int64_t)use->given),
        per_step(analysis, use),
        ids_int_value(IDS_UNIT_BYTES, use->peak->reserved),
        ids_int_value(IDS_UNIT_TIME, ids_sat_sub(use->peak->at_ps, analysis->first_ps)),
        ids_text_value(use->allocator->on_host ? "host" : "device"),
        ids_text_value(use->allocator->is_relative ? "first event" : "begin of the program"),
    };
    IDS_ROW(report, table, allocator_columns, row);
}

static void list_lump(const struct ids_analysis *analysis, struct ids_report *report, struct ids_table *table,
                      const struct ids_memory_use *use, const struct ids_allocation *at, const char *what,
                      int64_t bytes) {
    if (bytes <= 0) return;
    struct ids_value row[] = {
        ids_int_value(IDS_UNIT_BYTES, bytes),
        ids_real_value(IDS_UNIT_RATIO, (double)bytes / (double)(at->in_use > 0 ? at->in_use : 1)),
        ids_no_value(IDS_UNIT_COUNT),
        ids_text_value(name_of(analysis, use)),
        ids_text_value(what),
        ids_text_value(NULL),
        ids_text_value(NULL),
        ids_text_value(NULL),
        ids_text_value(NULL),
    };
    IDS_ROW(report, table, live_columns, row);
}

/* What lives after that event. */
static int list_live(const struct ids_analysis *analysis, struct ids_report *report, struct ids_table *table,
                     const struct ids_memory_use *use, const struct ids_allocation *at, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    struct ids_live_list live;
    int code = ids_live_make(trace, use, at, &live, err);
    if (code) return code;
    for (size_t i = 0; i < live.count && i < MOST_LIVE; i++) {
        const struct ids_live *of = &live.at[i];
        struct ids_value row[] = {
            ids_int_value(IDS_UNIT_BYTES, of->bytes),
            ids_real_value(IDS_UNIT_RATIO, (double)of->bytes / (double)(at->in_use > 0 ? at->in_use : 1)),
            ids_int_value(IDS_UNIT_COUNT, (int64_t)of->count),
            ids_text_value(name_of(analysis, use)),
            ids_text_value(of->ops_differ ? ids_without_numbers(report, of->op)
                           : *of->op      ? of->op
                                          : "not recorded"),
            ids_text_value(*of->caller ? of->caller : NULL),
            ids_text_value(of->region ? ids_trace_text(trace, of->region) : NULL),
            ids_text_value(of->type ? ids_trace_text(trace, of->type) : NULL),
            ids_text_value(of->shape ? ids_trace_text(trace, of->shape) : NULL),
        };
        IDS_ROW(report, table, live_columns, row);
    }
    if (live.count > MOST_LIVE) table->rows_left_out += (int64_t)(live.count - MOST_LIVE);
    list_lump(analysis, report, table, use, at, "stacks of programs (reserved)", at->reserved);
    list_lump(analysis, report, table, use, at, "before the recording", live.before);
    ids_live_done(&live);
    return 0;
}

/* --- figures ---------------------------------------------------------------------------------------------------- */

static void figures(struct ids_report *report, const char *device, const struct ids_memory_use *use) {
    struct ids_value share = share_or_none(use), fragmentation = fragmentation_or_none(use);
    ids_report_metric(report, "memory.peak", device, ids_int_value(IDS_UNIT_BYTES, use->peak->in_use));
    if (use->capacity >= 0)
        ids_report_metric(report, "memory.capacity", device, ids_int_value(IDS_UNIT_BYTES, use->capacity));
    if (!share.missing) ids_report_metric(report, "memory.share", device, share);
    if (!fragmentation.missing) ids_report_metric(report, "memory.fragmentation", device, fragmentation);
}

static void all_figures(const struct ids_analysis *analysis, struct ids_report *report,
                        const struct ids_memory_uses *uses) {
    const struct ids_memory_growth *most = NULL;
    for (size_t i = 0; i < uses->count; i++) {
        const struct ids_memory_use *use = &uses->at[i];
        uint32_t device = use->allocator->device;
        if (use->allocator->on_host || use->allocator->is_relative) continue;
        if (use->growth.has_value && (!most || use->growth.median > most->median)) most = &use->growth;
        if (device == IDS_NONE) continue;
        const char *key = analysis->trace->devices[device].key;
        if (ids_report_find(report, "memory.peak", key)) continue; /* two allocators of one device */
        figures(report, key, use);
        if (use->growth.has_value)
            ids_report_metric(report, "memory.growth", key, ids_int_value(IDS_UNIT_BYTES, use->growth.median));
    }
    if (uses->most) figures(report, NULL, uses->most);
    if (most) ids_report_metric(report, "memory.growth", NULL, ids_int_value(IDS_UNIT_BYTES, most->median));
}

static const char *why_missing(const struct ids_analysis *analysis, const struct ids_memory_uses *uses) {
    if (uses->most) return "the allocator's events do not say it";
    if (uses->count) return "only allocators of host memory, or without totals, left events";
    return analysis->trace->accelerated || !analysis->trace->device_count
               ? "no event of an allocator was recorded"
               : "XLA's CPU client records no events of its allocator; capture --memory shows what lives";
}

static int list_uses(const struct ids_analysis *analysis, struct ids_report *report, const struct ids_memory_uses *uses,
                     struct ids_error *err) {
    struct ids_table *table = ids_report_table(report, &allocators),
                     *parts_table = ids_report_table(report, &over_time),
                     *live_table = ids_report_table(report, &live_at_peak), *kept_table = NULL;
    int code = 0;
    for (size_t i = 0; i < uses->count && !code; i++) {
        const struct ids_memory_use *use = &uses->at[i];
        struct part parts[IDS_PARTS];
        divide(use, parts);
        list_use(analysis, report, table, use, parts);
        list_parts(analysis, report, parts_table, use, parts);
        code = list_live(analysis, report, live_table, use, use->peak, err);
        if (code || !use->growth.is_leak) continue;
        if (!kept_table) kept_table = ids_report_table(report, &kept);
        code = list_live(analysis, report, kept_table, use, use->end - 1, err);
    }
    return code;
}

static int memory_run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    struct ids_memory_uses uses;
    int code = ids_memory_uses_make(analysis, &uses, err);
    if (code) return code;
    if (uses.count) code = list_uses(analysis, report, &uses, err);
    if (!code && analysis->trace->program_count) code = ids_list_program_memory(analysis, report, err);
    if (!code && analysis->trace->held_count) code = ids_list_held(analysis, report, err);
    if (!code) all_figures(analysis, report, &uses);
    if (!code && !analysis->trace->held_count)
        ids_report_no_data(report, "memory.held", IDS_UNIT_BYTES, NULL, "%s", held_missing);
    if (!code && uses.most && analysis->steps.count < 4)
        ids_report_no_data(report, "memory.growth", IDS_UNIT_BYTES, NULL, "growth needs 4 steps or more");
    if (!code && !ids_report_find(report, "memory.not_donated", NULL))
        ids_report_no_data(report, "memory.not_donated", IDS_UNIT_BYTES, NULL, "%s", programs_missing);
    ids_metrics_missing(report, metrics, IDS_COUNT_OF(metrics), why_missing(analysis, &uses));
    ids_memory_uses_done(&uses);
    return code;
}

static const struct ids_table_def *const tables[] = {&allocators,
                                                     &over_time,
                                                     &ids_held_table,
                                                     &live_at_peak,
                                                     &kept,
                                                     &ids_program_memory_table,
                                                     &ids_not_donated_table,
                                                     &ids_program_values_table};

const struct ids_analyzer ids_memory_analyzer = {
    .name = "memory",
    .title = "memory",
    .metrics = metrics,
    .metric_count = IDS_COUNT_OF(metrics),
    .tables = tables,
    .table_count = IDS_COUNT_OF(tables),
    .headlines = headlines,
    .headline_count = IDS_COUNT_OF(headlines),
    .run = memory_run,
};
