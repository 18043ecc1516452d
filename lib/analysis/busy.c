/* busy.c - the run's window, and each active device's time as sets. */
#include "lib/analysis/context.h"

#include "lib/base/saturate.h"
#include "lib/base/vec.h"
#include "lib/model/clocks.h"

#include <stdlib.h>
#include <string.h>

/* Waits inside CPU ops, by the thread that they happen on. */
static int gather_stalls(struct ids_analysis *analysis, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    if (!trace->track_count) return 0;
    analysis->stalls = calloc(trace->track_count, sizeof *analysis->stalls);
    if (!analysis->stalls) return ids_no_memory(err);
    for (size_t t = 0; t < trace->track_count; t++) {
        struct ids_cursor cursor = ids_cursor_over(&trace->tracks[t].events);
        for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
            if (event->kind == IDS_KIND_STALL) ids_spans_add(&analysis->stalls[t], event->start_ps, event->end_ps);
        }
        if (ids_spans_unite(&analysis->stalls[t])) return ids_no_memory(err);
    }
    return 0;
}

/* Adds [start, end) without what the set covers. *at is where the set is looked at next; starts only grow. */
static void add_without(struct ids_spans *to, const struct ids_spans *set, size_t *at, int64_t start_ps,
                        int64_t end_ps) {
    while (*at < set->count && set->at[*at].end_ps <= start_ps) ++*at;
    for (size_t i = *at; i < set->count && set->at[i].start_ps < end_ps; i++) {
        ids_spans_add(to, start_ps, set->at[i].start_ps);
        if (set->at[i].end_ps > start_ps) start_ps = set->at[i].end_ps;
    }
    ids_spans_add(to, start_ps, end_ps);
}

/* Cuts to the window; 0 when nothing is left. */
static int cut(const struct ids_busy *busy, int64_t *start_ps, int64_t *end_ps) {
    if (*start_ps < busy->start_ps) *start_ps = busy->start_ps;
    if (*end_ps > busy->end_ps) *end_ps = busy->end_ps;
    return *start_ps < *end_ps;
}

/* The ops that are open on one track. At each moment the innermost one says what the device does: a loop's time is that of the
 * ops in its body. */
struct open_op {
    const struct ids_event *event;
    int64_t from_ps; /* since when it is the innermost one */
};

struct lane {
    struct open_op *stack;
    size_t depth, room;
    size_t stall; /* where the track's stalls are looked at next */
    int used;
};

struct filling {
    const struct ids_analysis *analysis;
    struct ids_busy *busy;
    struct lane *lanes; /* by track, of the whole trace: a device uses a few, which are emptied after it */
    uint32_t *used;     /* those */
    size_t used_count;
};

/* [from, to) is the event's own time. */
static void add_own(struct filling *filling, const struct ids_event *event, int64_t from_ps, int64_t to_ps) {
    struct ids_busy *busy = filling->busy;
    if (event->class == IDS_CLASS_STALL || !cut(busy, &from_ps, &to_ps)) return;
    const struct ids_spans *stalls = &filling->analysis->stalls[event->track];
    size_t *stall = &filling->lanes[event->track].stall, at = *stall;
    add_without(&busy->working, stalls, stall, from_ps, to_ps);
    if (event->class == IDS_CLASS_COMPUTE) add_without(&busy->compute, stalls, &at, from_ps, to_ps);
    if (event->class == IDS_CLASS_COLLECTIVE) ids_spans_add(&busy->collective, from_ps, to_ps);
    if (event->class == IDS_CLASS_COPY) ids_spans_add(&busy->copy, from_ps, to_ps);
    if (event->direction == IDS_H2D) ids_spans_add(&busy->h2d, from_ps, to_ps);
    if (event->direction == IDS_D2H) ids_spans_add(&busy->d2h, from_ps, to_ps);
}

static void close_op(struct filling *filling, struct lane *lane) {
    struct open_op done = lane->stack[--lane->depth];
    add_own(filling, done.event, done.from_ps, done.event->end_ps);
    if (lane->depth && lane->stack[lane->depth - 1].from_ps < done.event->end_ps)
        lane->stack[lane->depth - 1].from_ps = done.event->end_ps;
}

static int open_op(struct filling *filling, const struct ids_event *event) {
    struct lane *lane = &filling->lanes[event->track];
    if (!lane->used) filling->used[filling->used_count++] = event->track;
    lane->used = 1;
    /* What has ended, and what only overlaps: a sibling on another lane, whose time stays its own. */
    while (lane->depth && lane->stack[lane->depth - 1].event->end_ps < event->end_ps) close_op(filling, lane);
    while (lane->depth && lane->stack[lane->depth - 1].event->end_ps <= event->start_ps) close_op(filling, lane);
    if (lane->depth) {
        struct open_op *around = &lane->stack[lane->depth - 1];
        add_own(filling, around->event, around->from_ps, event->start_ps);
        around->from_ps = event->start_ps;
    }
    struct open_op *open = IDS_PUSH(lane->stack, lane->depth, lane->room);
    if (!open) return -1;
    *open = (struct open_op){event, event->start_ps};
    return 0;
}

static void add_barriers(const struct ids_trace *trace, struct ids_busy *busy) {
    static const char name[] = "barrier-cores";
    uint32_t text = ids_strings_find(&trace->strings, name, sizeof name - 1);
    struct ids_cursor cursor = ids_cursor_over(&busy->device->waits);
    for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
        if (trace->names[event->name].text == text) ids_spans_add(&busy->barrier, event->start_ps, event->end_ps);
    }
}

static void add_async(struct ids_busy *busy) {
    struct ids_cursor cursor = ids_cursor_over(&busy->device->async);
    for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
        int64_t start_ps = event->start_ps, end_ps = event->end_ps;
        if (!cut(busy, &start_ps, &end_ps)) continue;
        ids_spans_add(event->class == IDS_CLASS_COLLECTIVE ? &busy->collective : &busy->async_copy, start_ps, end_ps);
        if (event->direction == IDS_H2D) ids_spans_add(&busy->h2d, start_ps, end_ps);
        if (event->direction == IDS_D2H) ids_spans_add(&busy->d2h, start_ps, end_ps);
    }
}

enum { SETS = 9 };
static void list_sets(struct ids_busy *busy, struct ids_spans *ret_sets[SETS]) {
    struct ids_spans *sets[SETS] = {&busy->busy, &busy->working, &busy->compute,    &busy->collective, &busy->copy,
                                    &busy->h2d,  &busy->d2h,     &busy->async_copy, &busy->barrier};
    memcpy(ret_sets, sets, sizeof sets);
}

void ids_busy_done(struct ids_busy *busy) {
    struct ids_spans *sets[SETS];
    list_sets(busy, sets);
    for (int i = 0; i < SETS; i++) ids_spans_done(sets[i]);
}

static int fill_device(struct filling *filling, struct ids_busy *busy, struct ids_error *err) {
    int failed = 0;
    filling->busy = busy;
    filling->used_count = 0;
    struct ids_cursor cursor = ids_cursor_over(&busy->device->activity);
    for (const struct ids_event *event; !failed && (event = ids_cursor_next(&cursor));) {
        int64_t start_ps = event->start_ps, end_ps = event->end_ps;
        if (cut(busy, &start_ps, &end_ps)) ids_spans_add(&busy->busy, start_ps, end_ps);
        failed = open_op(filling, event);
    }
    for (size_t i = 0; i < filling->used_count; i++) {
        struct lane *lane = &filling->lanes[filling->used[i]];
        while (!failed && lane->depth) close_op(filling, lane);
        free(lane->stack);
        *lane = (struct lane){0};
    }
    add_async(busy);
    add_barriers(filling->analysis->trace, busy);
    struct ids_spans *sets[SETS];
    list_sets(busy, sets);
    for (int i = 0; i < SETS; i++) failed = ids_spans_unite(sets[i]) || failed;
    return failed ? ids_no_memory(err) : 0;
}

int ids_device_counts(const struct ids_trace *trace, const struct ids_device *device) {
    if (!device->activity.count || device->kind != IDS_DEVICE_CPU) return device->activity.count > 0;
    return !trace->accelerated;
}

/* From the first to the last activity on one clock. */
struct extent {
    int64_t first_ps, last_ps;
};

/* By clock number: where hosts have no common clock, each has a window of its own. */
static struct extent *find_extents(const struct ids_analysis *analysis) {
    const struct ids_trace *trace = analysis->trace;
    struct extent *clocks = malloc(trace->clock_count * sizeof *clocks);
    for (uint32_t c = 0; clocks && c < trace->clock_count; c++) clocks[c] = (struct extent){INT64_MAX, INT64_MIN};
    for (size_t i = 0; clocks && i < analysis->busy_count; i++) {
        const struct ids_busy *busy = &analysis->busy[i];
        struct extent *clock = &clocks[ids_clock_of_device(trace, busy->device)];
        if (busy->first_ps < clock->first_ps) clock->first_ps = busy->first_ps;
        if (busy->last_ps > clock->last_ps) clock->last_ps = busy->last_ps;
    }
    return clocks;
}

/* First and last activity of each active device, and of the run. */
static int find_windows(struct ids_analysis *analysis, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    if (!trace->device_count) return 0;
    analysis->busy = calloc(trace->device_count, sizeof *analysis->busy);
    if (!analysis->busy) return ids_no_memory(err);
    int64_t first_ps = INT64_MAX, last_ps = INT64_MIN;
    for (size_t d = 0; d < trace->device_count; d++) {
        const struct ids_device *device = &trace->devices[d];
        if (!ids_device_counts(trace, device)) continue;
        struct ids_busy *busy = &analysis->busy[analysis->busy_count++];
        *busy = (struct ids_busy){
            .device = device, .index = (uint32_t)d, .first_ps = device->activity.at[0].start_ps, .last_ps = INT64_MIN};
        struct ids_cursor cursor = ids_cursor_over(&device->activity);
        for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
            if (event->end_ps > busy->last_ps) busy->last_ps = event->end_ps;
        }
        if (busy->first_ps < first_ps) first_ps = busy->first_ps;
        if (busy->last_ps > last_ps) last_ps = busy->last_ps;
    }
    if (!analysis->busy_count) return 0;
    analysis->first_ps = analysis->start_ps = first_ps;
    analysis->end_ps = last_ps;
    if (analysis->params.window == IDS_WINDOW_STEPS && analysis->steps.count) {
        analysis->start_ps = analysis->steps.at[0].start_ps;
        analysis->end_ps = analysis->steps.at[analysis->steps.count - 1].end_ps;
    }
    /* --from and --to count from the run's first activity. */
    int64_t from_ps = first_ps, to_ps = first_ps;
    ids_sum(&from_ps, analysis->params.from_ps);
    ids_sum(&to_ps, analysis->params.to_ps);
    if (from_ps > analysis->start_ps) analysis->start_ps = from_ps;
    if (to_ps < analysis->end_ps) analysis->end_ps = to_ps;
    int cut_end = analysis->end_ps < last_ps;
    if (analysis->end_ps < analysis->start_ps || (analysis->end_ps == analysis->start_ps && cut_end)) {
        return ids_fail(err, IDS_USAGE, "the window is empty: --from and --to leave nothing of the run");
    }
    struct extent *clocks = find_extents(analysis);
    if (!clocks) return ids_no_memory(err);
    for (size_t i = 0; i < analysis->busy_count; i++) {
        struct ids_busy *busy = &analysis->busy[i];
        struct extent whole = clocks[ids_clock_of_device(trace, busy->device)];
        if (analysis->params.window == IDS_WINDOW_DEVICE) whole = (struct extent){busy->first_ps, busy->last_ps};
        busy->start_ps = whole.first_ps > analysis->start_ps ? whole.first_ps : analysis->start_ps;
        busy->end_ps = whole.last_ps < analysis->end_ps ? whole.last_ps : analysis->end_ps;
        if (busy->end_ps < busy->start_ps) busy->end_ps = busy->start_ps;
        /* A moment at the run's very end counts, unless the end was cut there. */
        busy->count_end_ps = busy->end_ps + (cut_end ? 0 : 1);
    }
    free(clocks);
    return 0;
}

int ids_busy_make(struct ids_analysis *analysis, struct ids_error *err) {
    int code = find_windows(analysis, err);
    if (!code) code = gather_stalls(analysis, err);
    size_t tracks = analysis->trace->track_count;
    struct filling filling = {.analysis = analysis,
                              .lanes = calloc(tracks + 1, sizeof *filling.lanes),
                              .used = calloc(tracks + 1, sizeof *filling.used)};
    if (!code && (!filling.lanes || !filling.used)) code = ids_no_memory(err);
    for (size_t i = 0; i < analysis->busy_count && !code; i++) code = fill_device(&filling, &analysis->busy[i], err);
    free(filling.lanes);
    free(filling.used);
    return code;
}

int ids_is_kernel(const struct ids_trace *trace, const struct ids_event *event) {
    if (event->kind == IDS_KIND_KERNEL) return 1;
    if (event->kind != IDS_KIND_OP || event->class == IDS_CLASS_COPY || event->class == IDS_CLASS_STALL) return 0;
    return event->op == IDS_NONE || (!trace->ops[event->op].marker && !trace->ops[event->op].container);
}

int64_t ids_windows_total(const struct ids_analysis *analysis) {
    int64_t total_ps = 0;
    for (size_t i = 0; i < analysis->busy_count; i++)
        ids_sum(&total_ps, analysis->busy[i].end_ps - analysis->busy[i].start_ps);
    return total_ps;
}

const char *ids_no_activity_reason(const struct ids_analysis *analysis) {
    if (!analysis->trace->complete) return "the file is cut, and what is left of it holds no device activity";
    for (size_t i = 0; i < analysis->trace->diag_count; i++) {
        if (!strcmp(analysis->trace->diags[i].id, "chrome.category"))
            return "no event of this trace is known to be a device's; the ledger names categories that idsprof does "
                   "not know";
    }
    return analysis->trace->device_count
               ? "no device did anything in this trace: every device plane is empty"
               : "the trace has no device plane and no op of the CPU client: only host events were recorded";
}

void ids_metrics_missing(struct ids_report *report, const struct ids_metric_def *metrics, int count, const char *why) {
    for (int i = 0; i < count; i++) {
        if (!ids_report_find(report, metrics[i].id, NULL)) {
            ids_report_no_data(report, metrics[i].id, metrics[i].unit, NULL, "%s", why);
        }
    }
}
