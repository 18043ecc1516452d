/* annotations.c - the regions that the program named: how long the host was in them, and what the devices did for
 * them. */
#include "lib/analysis/context.h"

#include "lib/base/keymap.h"
#include "lib/base/saturate.h"
#include "lib/base/search.h"
#include "lib/base/vec.h"
#include "lib/model/classify.h"
#include "lib/model/nesting.h"

#include <stdlib.h>
#include <string.h>

static const struct ids_metric_def metrics[] = {
    {"annotations.names", "annotations", IDS_UNIT_COUNT, IDS_BETTER_NEITHER,
     "Names of regions that the program annotated: jax.profiler.TraceAnnotation and annotate_function in what `idsprof "
     "capture` recorded, record_function in PyTorch's profiles. Step annotations are not among them. In a profile that "
     "JAX wrote itself, nothing distinguishes a program's regions from the runtime's.",
     "SELECT count(DISTINCT e.name) FROM stats s JOIN events e ON e.id = s.event WHERE e.run = :run AND (s.key IN "
     "('user_annotation', 'idsprof_block') OR (s.key = 'cat' AND s.value = 'user_annotation')) AND NOT EXISTS (SELECT "
     "1 FROM "
     "host_activities d WHERE d.id = e.id AND d.kind = 'step annotation')"},
};

static const struct ids_column_def columns[] = {
    {"annotation", "annotation", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"count", "count", IDS_UNIT_COUNT, 0},
    {"host", "on the host", IDS_UNIT_TIME, 0},
    {"mean", "mean", IDS_UNIT_TIME, 0},
    {"device", "on devices", IDS_UNIT_TIME, 0},
    {"device_share", "of device time", IDS_UNIT_RATIO, 0},
};
static const struct ids_table_def annotated = {
    "annotations",
    "annotations",
    columns,
    IDS_COUNT_OF(columns),
    "One row per name of annotated region, longest on the host first, at most 10,000; a region within one of its "
    "name is part of that. `device` is the time of the "
    "device activity that was launched inside, directly or through other threads, whenever it ran; an activity counts "
    "in every region around its launch. No data: launches are recorded of less than half of the devices' time, or the "
    "region is one of a collective that begins in another region and lies mostly behind it: somebody waits for it "
    "later.",
    IDS_TABLE_TOP,
};

struct annotation {
    uint32_t text;
    int64_t count, host_ps, device_ps, spans;
    size_t last; /* the device event + 1 that was added last: once a name, however deep it nests */
};

/* A region on its thread. By time, because a step that idsprof counts lasts until the next one and so ends after
 * regions that began before it: no tree of events has those around what is in the step. */
struct region {
    int64_t start_ps, end_ps;
    uint32_t text;
    int is_span;   /* of a collective that goes on, whatever its thread does meanwhile */
    size_t before; /* the index + 1 of the innermost one that had not ended when this one began; 0: none */
};

/* The regions of a thread, among all of the host. */
struct of_track {
    size_t first, count;
};

struct gathering {
    struct annotation *at;
    size_t count, room;
    struct region *regions;
    size_t region_count, region_room;
    struct of_track *tracks;
    struct ids_keymap by_text; /* text + 1 -> index + 1 */
    int64_t device_ps;         /* of all activity */
    int64_t launched_ps;       /* of that: of activity whose launch is recorded */
    size_t number;             /* of the device event that was added last */
    int has_any;               /* a region of any host is marked as the program's */
};

enum { KEPT = 10000, HOPS = 32, DEEP = 256 };

static struct annotation *find(struct gathering *gathering, uint32_t text) {
    uint64_t *place = ids_keymap_at(&gathering->by_text, (uint64_t)text + 1);
    if (!place) return NULL;
    if (!*place) {
        struct annotation *added = IDS_PUSH(gathering->at, gathering->count, gathering->room);
        if (!added) return NULL;
        *added = (struct annotation){.text = text};
        *place = gathering->count;
    }
    return &gathering->at[*place - 1];
}

static int is_any_annotated(const struct ids_trace *trace) {
    for (size_t t = 0; t < trace->track_count; t++) {
        struct ids_cursor cursor = ids_cursor_over_kinds(&trace->tracks[t].events, IDS_KINDS(IDS_KIND_ANNOTATED));
        for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
            if (event->annotation) return 1;
        }
    }
    return 0;
}

static int annotations_begin(const struct ids_analysis *analysis, void *sums, struct ids_error *err) {
    (void)err;
    struct gathering *gathering = sums;
    gathering->has_any = is_any_annotated(analysis->trace);
    return 0;
}

static int add_region(const struct ids_trace *trace, const struct ids_event *event, struct of_track *of,
                      struct gathering *gathering) {
    size_t before = of->count ? gathering->region_count : 0;
    while (before && gathering->regions[before - 1].end_ps <= event->start_ps)
        before = gathering->regions[before - 1].before;
    size_t around = before;
    while (around && gathering->regions[around - 1].is_span) around = gathering->regions[around - 1].before;
    const uint32_t text = trace->names[event->name].text;
    int is_span = around && ids_outlives(event->start_ps, event->end_ps, gathering->regions[around - 1].end_ps) &&
                  ids_collective_of_annotation(ids_strings_text(&trace->strings, text));
    struct region *region = IDS_PUSH(gathering->regions, gathering->region_count, gathering->region_room);
    if (!region) return -1;
    *region = (struct region){event->start_ps, event->end_ps, text, is_span, before};
    of->count++;
    return 0;
}

/* Whether the region that was added last lies in another one of its name, and is part of it. */
static int is_within_itself(const struct gathering *gathering) {
    const struct region *region = &gathering->regions[gathering->region_count - 1];
    size_t around = region->before;
    for (int deep = 0; around && deep < DEEP; deep++) {
        const struct region *outer = &gathering->regions[around - 1];
        if (outer->text == region->text && outer->end_ps >= region->end_ps) return 1;
        around = outer->before;
    }
    return 0;
}

static int add_track(const struct ids_trace *trace, size_t number, struct gathering *gathering) {
    struct ids_cursor cursor = ids_cursor_over_kinds(&trace->tracks[number].events, IDS_KINDS(IDS_KIND_ANNOTATED));
    struct of_track *of = &gathering->tracks[number];
    of->first = gathering->region_count;
    for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
        if (!event->annotation) continue;
        struct annotation *annotation = find(gathering, trace->names[event->name].text);
        if (!annotation || add_region(trace, event, of, gathering)) return -1;
        if (is_within_itself(gathering)) continue;
        annotation->spans += gathering->regions[gathering->region_count - 1].is_span;
        annotation->count++;
        ids_sum(&annotation->host_ps, event->end_ps - event->start_ps);
    }
    return 0;
}

/* Adds a device's event to every name that the thread was in while `at` ran, there or on another one. */
static int add_around(const struct of_track *of, const struct ids_event *at, const struct ids_event *event,
                      size_t number, struct gathering *gathering) {
    if (!of->count) return 0;
    size_t begun = IDS_COUNT_UP_TO(gathering->regions + of->first, of->count, start_ps, at->start_ps);
    size_t next = begun ? of->first + begun : 0;
    for (int deep = 0; next && deep < DEEP; deep++) {
        const struct region *region = &gathering->regions[next - 1];
        next = region->before;
        if (region->end_ps < at->end_ps || region->is_span) continue;
        struct annotation *annotation = find(gathering, region->text);
        if (!annotation) return -1;
        if (annotation->last == number) continue;
        annotation->last = number;
        ids_sum(&annotation->device_ps, event->self_ps);
    }
    return 0;
}

/* Each thread that led to it counts by what it was in when the work was launched, or, where its part was over by then,
 * at that moment: autograd's thread launches backward of an op of forward, whose thread waits in another region
 * meanwhile. */
static int add_activity(const struct ids_trace *trace, const struct ids_event *event, size_t number,
                        struct gathering *gathering) {
    ids_sum(&gathering->device_ps, event->self_ps);
    const struct ids_event *launch = event->launch, *at = launch;
    if (launch) ids_sum(&gathering->launched_ps, event->self_ps);
    for (int hop = 0; at && hop < HOPS; hop++) {
        const struct ids_event *when = at->end_ps <= launch->start_ps ? launch : at;
        if (add_around(&gathering->tracks[at->track], when, event, number, gathering)) return -1;
        at = ids_event_cause(trace, at);
    }
    return 0;
}

static int add_device(const struct ids_trace *trace, const struct ids_device *device, struct gathering *gathering) {
    if (!ids_device_counts(trace, device)) return 0;
    struct ids_cursor cursor = ids_cursor_over(&device->activity);
    for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
        if (add_activity(trace, event, ++gathering->number, gathering)) return -1;
    }
    return 0;
}

static int sum_up_host(const struct ids_analysis *analysis, uint32_t host, void *sums, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    struct gathering *gathering = sums;
    int failed = 0;
    if (!gathering->has_any) return 0;
    gathering->region_count = 0; /* those of another host */
    gathering->tracks = calloc(trace->track_count + 1, sizeof *gathering->tracks);
    if (!gathering->tracks) return ids_no_memory(err);
    for (size_t t = 0; t < trace->track_count && !failed; t++) {
        if (trace->tracks[t].host == host) failed = add_track(trace, t, gathering);
    }
    for (size_t d = 0; d < trace->device_count && !failed; d++) {
        if (trace->devices[d].host == host) failed = add_device(trace, &trace->devices[d], gathering);
    }
    free(gathering->tracks);
    gathering->tracks = NULL;
    return failed ? ids_no_memory(err) : 0;
}

static void annotations_done(void *sums) {
    struct gathering *gathering = sums;
    free(gathering->at);
    free(gathering->regions);
    ids_keymap_done(&gathering->by_text);
}

static int longest_first(const void *a, const void *b) {
    const struct annotation *left = a, *right = b;
    if (left->host_ps != right->host_ps) return left->host_ps < right->host_ps ? 1 : -1;
    return (left->text > right->text) - (left->text < right->text);
}

static void list(const struct ids_trace *trace, struct ids_report *report, struct gathering *gathering) {
    if (!gathering->count) return;
    struct ids_table *table = ids_report_table(report, &annotated);
    qsort(gathering->at, gathering->count, sizeof *gathering->at, longest_first);
    for (size_t i = 0; i < gathering->count && i < KEPT; i++) {
        const struct annotation *one = &gathering->at[i];
        struct ids_value row[] = {
            ids_text_value(ids_trace_text(trace, one->text)),
            ids_int_value(IDS_UNIT_COUNT, one->count),
            ids_int_value(IDS_UNIT_TIME, one->host_ps),
            ids_int_value(IDS_UNIT_TIME, one->host_ps / one->count),
            ids_no_value(IDS_UNIT_TIME),
            ids_no_value(IDS_UNIT_RATIO),
        };
        int is_known =
            gathering->launched_ps && gathering->launched_ps >= gathering->device_ps / 2 && one->spans < one->count;
        if (is_known) row[4] = ids_int_value(IDS_UNIT_TIME, one->device_ps);
        if (is_known) row[5] = ids_real_value(IDS_UNIT_RATIO, (double)one->device_ps / (double)gathering->device_ps);
        IDS_ROW(report, table, columns, row);
    }
    if (gathering->count > KEPT) table->rows_left_out = (int64_t)(gathering->count - KEPT);
}

static int annotations_run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    (void)err;
    struct gathering *gathering = analysis->sums;
    if (gathering->count) {
        ids_report_metric(report, "annotations.names", NULL, ids_int_value(IDS_UNIT_COUNT, (int64_t)gathering->count));
        list(analysis->trace, report, gathering);
    } else {
        ids_report_no_data(report, "annotations.names", IDS_UNIT_COUNT, NULL,
                           "no region is marked as the program's: `idsprof capture` and PyTorch set that mark");
    }
    return 0;
}

static const struct ids_table_def *const tables[] = {&annotated};

const struct ids_analyzer ids_annotations_analyzer = {
    .name = "annotations",
    .title = "annotations",
    .metrics = metrics,
    .metric_count = IDS_COUNT_OF(metrics),
    .tables = tables,
    .table_count = IDS_COUNT_OF(tables),
    .gathering = {.size = sizeof(struct gathering),
                  .begin = annotations_begin,
                  .host = sum_up_host,
                  .done = annotations_done},
    .run = annotations_run,
};
