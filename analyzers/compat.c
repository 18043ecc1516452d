/* compat.c - figures as other profilers define them, beside ours, and why they differ (--compat). */
#include "analyzers/compat.h"

static const struct ids_column_def columns[] = {
    {"theirs", "theirs", IDS_UNIT_NUMBER, 0},
    {"ours", "ours", IDS_UNIT_NUMBER, 0},
    {"unit", "unit", IDS_UNIT_NONE, 0},
    {"figure", "figure", IDS_UNIT_NONE, IDS_COLUMN_NAME | IDS_COLUMN_LONG},
    {"device", "device", IDS_UNIT_NONE, IDS_COLUMN_SPARE | IDS_COLUMN_LONG},
    {"our_id", "ours is", IDS_UNIT_NONE, IDS_COLUMN_SPARE},
    {"peer", "peer", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
    {"why", "why they differ", IDS_UNIT_NONE, IDS_COLUMN_LONG},
};
static const struct ids_table_def compat_table = {
    "compat",
    "as other profilers say",
    columns,
    IDS_COUNT_OF(columns),
    "With --compat: figures of another profiler (xprof, nsys, hta) by its own definition, computed here from the same "
    "events, beside ours. One row per figure and device (none: over all). Shares are from 0 to 1, times in seconds. "
    "`our_id` is the metric that `ours` is.",
    0,
};

/* Why ours has no value, behind why the two differ. */
static const char *with_reason(const struct ids_compat *compat, const struct ids_compat_figure *figure,
                               const char *device, int has_ours) {
    const char *ids[] = {figure->our_id, figure->per};
    for (size_t i = 0; i < IDS_COUNT_OF(ids) && !has_ours; i++) {
        const struct ids_metric *metric = ids[i] ? ids_report_find(compat->report, ids[i], device) : NULL;
        if (metric && metric->value.missing && metric->reason)
            return ids_report_text(compat->report, "%s; ours (%s) has no value: %s", figure->why, ids[i],
                                   metric->reason);
    }
    return figure->why;
}

/* A metric in seconds, as a share or as a count; 0 where it has no value. */
static int number_of(const struct ids_report *report, const char *id, const char *device, double *ret_number) {
    const struct ids_metric *metric = id ? ids_report_find(report, id, device) : NULL;
    if (!metric || metric->value.missing) return 0;
    const double second = 1e12;
    switch (metric->value.unit) {
    case IDS_UNIT_TIME:
        *ret_number = (double)metric->value.i / second;
        return 1;
    case IDS_UNIT_COUNT:
    case IDS_UNIT_BYTES:
        *ret_number = (double)metric->value.i;
        return 1;
    default:
        *ret_number = metric->value.d;
        return 1;
    }
}

void ids_compat_put(struct ids_compat *compat, const struct ids_compat_figure *figure) {
    double ours = 0, per = 1;
    const char *device = figure->is_of_all ? NULL : figure->device;
    int has_ours = number_of(compat->report, figure->our_id, device, &ours);
    if (figure->per) has_ours = has_ours && number_of(compat->report, figure->per, device, &per) && per > 0;
    const struct ids_value row[] = {
        ids_real_value(IDS_UNIT_NUMBER, figure->theirs),
        has_ours ? ids_real_value(IDS_UNIT_NUMBER, ours / per) : ids_no_value(IDS_UNIT_NUMBER),
        ids_text_value(figure->unit),
        ids_text_value(figure->name),
        ids_text_value(figure->device),
        ids_text_value(has_ours ? figure->our_id : NULL),
        ids_text_value(compat->peer),
        ids_text_value(with_reason(compat, figure, device, has_ours)),
    };
    IDS_ROW(compat->report, ids_report_table(compat->report, &compat_table), columns, row);
}

void ids_compat_add(struct ids_spans *spans, const struct ids_busy *busy, const struct ids_event *event) {
    ids_spans_add(spans, event->start_ps, ids_end_in_window(busy, event));
}

/* Where the peer would say nothing of the run, the table says why. */
static void say_nothing(struct ids_compat *compat, const char *devices) {
    const char *why =
        compat->analysis->busy_count
            ? ids_report_text(compat->report, "%s has figures of %s alone, and the file has none that worked",
                              compat->peer, devices)
            : ids_no_activity_reason(compat->analysis);
    const struct ids_value row[] = {
        ids_no_value(IDS_UNIT_NUMBER), ids_no_value(IDS_UNIT_NUMBER), ids_text_value(NULL),
        ids_text_value("(none)"),      ids_text_value(NULL),          ids_text_value(NULL),
        ids_text_value(compat->peer),  ids_text_value(why),
    };
    IDS_ROW(compat->report, ids_report_table(compat->report, &compat_table), columns, row);
}

static int compat_run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    static const struct {
        void (*put)(struct ids_compat *);
        const char *devices;
    } peers[] = {{ids_compat_xprof, "GPUs and TPUs"}, {ids_compat_nsys, "GPUs"}, {ids_compat_hta, "GPUs"}};
    struct ids_compat compat = {
        .analysis = analysis, .report = report, .peer = ids_compat_name(analysis->params.compat)};
    if (!analysis->params.compat) return 0;
    const struct ids_table *table = ids_report_table(report, &compat_table);
    peers[analysis->params.compat - 1].put(&compat);
    if (!table->row_count) say_nothing(&compat, peers[analysis->params.compat - 1].devices);
    return compat.out_of_memory ? ids_no_memory(err) : 0;
}

static const struct ids_table_def *const tables[] = {&compat_table};

const struct ids_analyzer ids_compat_analyzer = {
    .name = "compat",
    .title = "as other profilers say",
    .tables = tables,
    .table_count = IDS_COUNT_OF(tables),
    .run = compat_run,
};
