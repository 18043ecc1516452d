/* tracks.c - the timelines of the run, and the sums of their events by name. Late in the report, for of a trace with
 * millions of names these rows would stand beside what analyzers of kernels and ops hold of each. */
#include "lib/analysis/context.h"

static const struct ids_column_def track_columns[] = {
    {"host", "host", IDS_UNIT_NONE, 0},
    {"plane", "plane", IDS_UNIT_NONE, 0},
    {"name", "name", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"id", "id", IDS_UNIT_COUNT, IDS_COLUMN_DETAIL},
    {"events", "events", IDS_UNIT_COUNT, 0},
    {"stats", "stats", IDS_UNIT_COUNT, 0},
    {"first", "first", IDS_UNIT_TIME, 0},
    {"last", "last", IDS_UNIT_TIME, 0},
    {"overlaps", "overlaps", IDS_UNIT_COUNT, 0},
};
static const struct ids_table_def tracks = {
    "tracks",
    "tracks",
    track_columns,
    IDS_COUNT_OF(track_columns),
    "One row per timeline. `overlaps` counts events that overlap another one partly: siblings on lanes.",
    0,
};

static const struct ids_column_def name_columns[] = {
    {"track", "track", IDS_UNIT_COUNT, 0}, {"name", "name", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"count", "count", IDS_UNIT_COUNT, 0}, {"total", "total", IDS_UNIT_TIME, 0},
    {"self", "self", IDS_UNIT_TIME, 0},    {"min", "min", IDS_UNIT_TIME, 0},
    {"max", "max", IDS_UNIT_TIME, 0},
};
static const struct ids_table_def names = {
    "names",
    "names",
    name_columns,
    IDS_COUNT_OF(name_columns),
    "One row per track (its place in the table `tracks`, from 0) and event name: sums over all its events.",
    IDS_TABLE_HIDDEN,
};

static void list_tracks(const struct ids_analysis *analysis, struct ids_report *report) {
    const struct ids_trace *trace = analysis->trace;
    struct ids_table *table = ids_report_table(report, &tracks);
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        int empty = track->first_ps > track->last_ps;
        struct ids_value row[] = {
            ids_text_value(ids_trace_text(trace, trace->hosts[track->host].name)),
            ids_text_value(ids_trace_text(trace, track->plane_name)),
            ids_text_value(ids_trace_text(trace, track->name)),
            ids_int_value(IDS_UNIT_COUNT, track->id),
            ids_int_value(IDS_UNIT_COUNT, (int64_t)track->event_count),
            ids_int_value(IDS_UNIT_COUNT, (int64_t)track->stat_count),
            empty ? ids_no_value(IDS_UNIT_TIME) : ids_int_value(IDS_UNIT_TIME, track->first_ps - analysis->first_ps),
            empty ? ids_no_value(IDS_UNIT_TIME) : ids_int_value(IDS_UNIT_TIME, track->last_ps - analysis->first_ps),
            ids_int_value(IDS_UNIT_COUNT, (int64_t)track->overlaps),
        };
        IDS_ROW(report, table, track_columns, row);
    }
}

static void list_names(const struct ids_trace *trace, struct ids_report *report) {
    struct ids_table *table = ids_report_table(report, &names);
    for (size_t a = 0; a < trace->aggregate_count; a++) {
        const struct ids_aggregate *sum = &trace->aggregates[a];
        struct ids_value row[] = {
            ids_int_value(IDS_UNIT_COUNT, sum->track),
            ids_text_value(ids_trace_text(trace, trace->names[sum->name].text)),
            ids_int_value(IDS_UNIT_COUNT, (int64_t)sum->count),
            ids_int_value(IDS_UNIT_TIME, sum->sum_ps),
            ids_int_value(IDS_UNIT_TIME, sum->self_ps),
            ids_int_value(IDS_UNIT_TIME, sum->min_ps),
            ids_int_value(IDS_UNIT_TIME, sum->max_ps),
        };
        IDS_ROW(report, table, name_columns, row);
    }
}

static int tracks_run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    (void)err;
    list_tracks(analysis, report);
    list_names(analysis->trace, report);
    return 0;
}

static const struct ids_table_def *const tables[] = {&tracks, &names};

const struct ids_analyzer ids_tracks_analyzer = {
    .name = "tracks",
    .title = "timelines",
    .tables = tables,
    .table_count = IDS_COUNT_OF(tables),
    .run = tracks_run,
};
