/* picture_rows.c - the rows of a picture, out of the trace's events: what devices did, what threads did, counters. */
#include "lib/analysis/picture_parts.h"

#include "lib/base/vec.h"
#include "lib/model/allocations.h"
#include "lib/model/counters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 1500 }; /* of a counter over the window, of which each may become four */

static int add_mark(struct ids_picture_making *making, struct ids_lane *lane, const struct ids_mark *mark) {
    size_t before = lane->count;
    if (ids_lane_add(lane, making->stretches, making->stretch_count, mark)) return -1;
    making->picture->mark_count += lane->count - before;
    return 0;
}

/* Into the first lane that is free: what lies in another event comes below it. */
static int add_event(struct ids_picture_making *making, uint32_t row, const struct ids_mark *mark) {
    struct ids_picture_row *at = &making->picture->rows[row];
    for (uint32_t i = 0; i < IDS_PICTURE_LANES; i++) {
        struct ids_lane *lane = i < at->lane_count ? &at->lanes[i] : ids_picture_lane(at, i);
        if (!lane) return -1;
        if (!lane->count || lane->marks[lane->count - 1].end_ps <= mark->start_ps) return add_mark(making, lane, mark);
    }
    at->deeper++;
    return 0;
}

static int64_t new_row(struct ids_picture_making *making, enum ids_picture_kind kind, uint32_t parent,
                       const char *label) {
    struct ids_picture_row *row = ids_picture_add_row(making->picture, kind, parent, label);
    return row ? row - making->picture->rows : -1;
}

/* ---- steps ---- */

static int put_steps(struct ids_picture_making *making) {
    const struct ids_steps *steps = &making->analysis->steps;
    if (!steps->count) return 0;
    int64_t row = new_row(making, IDS_ROW_STEPS, 0, "steps");
    int failed = row < 0;
    for (size_t s = 0; s < steps->count && !failed; s++) {
        const struct ids_mark mark = {.start_ps = steps->at[s].start_ps,
                                      .end_ps = steps->at[s].end_ps,
                                      .count = 1,
                                      .account = IDS_NO_ACCOUNT,
                                      .source = &steps->at[s]};
        failed = add_event(making, (uint32_t)row, &mark);
    }
    return failed ? -1 : 0;
}

/* ---- devices ---- */

static int put_accounts(struct ids_picture_making *making, size_t b, uint32_t parent) {
    struct ids_lane *from = &making->account[b];
    ids_lane_end(from);
    int64_t row = new_row(making, IDS_ROW_ACCOUNTS, parent, "where the time goes");
    struct ids_lane *lane = row < 0 ? NULL : ids_picture_lane(&making->picture->rows[row], 0);
    int failed = !lane;
    for (size_t m = 0; m < from->count && !failed; m++) failed = add_mark(making, lane, &from->marks[m]);
    return failed ? -1 : 0;
}

static int put_gaps(struct ids_picture_making *making, const struct ids_busy *busy, uint32_t parent) {
    const struct ids_analysis *analysis = making->analysis;
    if (!busy->gap_count) return 0;
    int64_t row = new_row(making, IDS_ROW_GAPS, parent, "idle gaps, by cause");
    int failed = row < 0;
    for (size_t g = 0; g < busy->gap_count && !failed; g++) {
        const struct ids_gap *gap = &busy->gaps[g];
        int has_cause = gap->entry < analysis->ledger.entry_count;
        const struct ids_mark mark = {.start_ps = gap->start_ps,
                                      .end_ps = gap->end_ps,
                                      .count = 1,
                                      .what = has_cause ? gap->entry + 1 : 0,
                                      .account = has_cause ? analysis->ledger.entries[gap->entry].account
                                                           : IDS_DEVICE_UNKNOWN};
        failed = add_event(making, (uint32_t)row, &mark);
    }
    return failed ? -1 : 0;
}

static enum ids_account account_of(const struct ids_event *event) {
    static const enum ids_account of_copy[] = {
        [IDS_H2D] = IDS_COPY_H2D,           [IDS_D2H] = IDS_COPY_D2H,    [IDS_D2D] = IDS_COPY_D2D,
        [IDS_P2P] = IDS_COPY_P2P,           [IDS_MEMSET] = IDS_COPY_SET, [IDS_H2H] = IDS_COPY_OTHER,
        [IDS_NO_DIRECTION] = IDS_COPY_OTHER};
    if (event->kind == IDS_KIND_MODULE) return IDS_NO_ACCOUNT;
    if (event->kind == IDS_KIND_WAIT_OP) return IDS_STALL_DEVICE;
    switch (event->class) {
    case IDS_CLASS_COLLECTIVE:
        return IDS_COMM_TRANSFER;
    case IDS_CLASS_COPY:
        return of_copy[event->direction <= IDS_NO_DIRECTION ? event->direction : IDS_NO_DIRECTION];
    case IDS_CLASS_STALL:
        return IDS_STALL_DEVICE;
    default:
        return IDS_WORK_COMPUTE;
    }
}

/* The row of a device's track. On the CPU the threads of a pool are the device, and any of them runs any op: these are
 * one row. */
static int64_t row_of_stream(struct ids_picture_making *making, const struct ids_event *event,
                             enum ids_picture_kind kind, uint32_t parent) {
    const struct ids_trace *trace = making->analysis->trace;
    int is_pool = trace->devices[event->device].kind == IDS_DEVICE_CPU;
    uint32_t *at = &making->row_of_stream[is_pool ? trace->track_count : event->track];
    if (*at && making->picture->rows[*at - 1].parent == parent && making->picture->rows[*at - 1].kind == kind)
        return *at - 1;
    const char *label = is_pool ? "ops" : ids_trace_text(trace, trace->tracks[event->track].name);
    int64_t row = new_row(making, kind, parent, label);
    *at = (uint32_t)(row + 1);
    if (row >= 0 && !is_pool) making->picture->rows[row].track = event->track + 1;
    return row;
}

static int put_events(struct ids_picture_making *making, const struct ids_events *events, enum ids_picture_kind kind,
                      uint32_t parent) {
    struct ids_cursor cursor = ids_cursor_over(events);
    for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
        int64_t row = row_of_stream(making, event, kind, parent);
        const struct ids_mark mark = {.start_ps = event->start_ps,
                                      .end_ps = event->end_ps,
                                      .count = 1,
                                      .account = (uint8_t)account_of(event),
                                      .source = event};
        if (row < 0 || add_event(making, (uint32_t)row, &mark)) return -1;
    }
    return 0;
}

static int put_device(struct ids_picture_making *making, size_t b, uint32_t parent) {
    const struct ids_busy *busy = &making->analysis->busy[b];
    const struct ids_device *device = busy->device;
    int64_t group = new_row(making, IDS_ROW_GROUP, parent, device->label);
    uint32_t key = ids_intern_z(&making->picture->texts, device->key);
    if (group < 0 || key == IDS_NO_TEXT) return -1;
    making->picture->rows[group].key = key;
    uint32_t in = (uint32_t)group + 1;
    return put_accounts(making, b, in) || put_gaps(making, busy, in) ||
                   put_events(making, &device->modules, IDS_ROW_PROGRAMS, in) ||
                   put_events(making, &device->activity, IDS_ROW_OPS, in) ||
                   put_events(making, &device->async, IDS_ROW_OPS, in) ||
                   put_events(making, &device->waits, IDS_ROW_OPS, in)
               ? -1
               : 0;
}

/* ---- threads ---- */

/* What a lane of a thread shows of a doing: its function of the program, what it is in, what it does. */
enum { CALLER, AROUND, INNERMOST, LEVELS };

static uint32_t name_at(const struct ids_doing *doing, int level) {
    if (level == CALLER) return doing->caller;
    if (doing->account == IDS_NO_ACCOUNT) return IDS_NONE;
    if (level == AROUND) return doing->around;
    return doing->name == doing->around ? IDS_NONE : doing->name;
}

static uint8_t account_at(const struct ids_doing *doing, int level) {
    return level == CALLER && doing->account == IDS_NO_ACCOUNT ? IDS_HOST_PYTHON : doing->account;
}

/* One lane of a thread: neighbours in which that level is the same are one mark. */
static int put_level(struct ids_picture_making *making, const struct ids_track *track, uint32_t row, int level) {
    const struct ids_trace *trace = making->analysis->trace;
    const struct ids_timeline *timeline = &track->timeline;
    struct ids_lane *lane = ids_picture_lane(&making->picture->rows[row], (uint32_t)level);
    struct ids_mark mark = {.count = 1};
    uint32_t open = IDS_NONE;
    if (!lane) return -1;
    for (size_t i = 0; i <= timeline->count; i++) {
        const struct ids_doing *doing = i < timeline->count ? &trace->doings[timeline->doing[i]] : &trace->doings[0];
        int64_t at_ps = i < timeline->count ? timeline->from_ps[i] : track->last_ps;
        uint32_t name = name_at(doing, level);
        uint8_t account = account_at(doing, level);
        if (name == open && (name == IDS_NONE || level == CALLER || account == mark.account)) continue;
        mark.end_ps = at_ps > mark.start_ps ? at_ps : mark.start_ps;
        if (open != IDS_NONE && add_mark(making, lane, &mark)) return -1;
        open = name;
        mark.start_ps = at_ps;
        mark.account = account;
        mark.source = name == IDS_NONE ? NULL : &trace->names[name];
    }
    return 0;
}

static int put_thread(struct ids_picture_making *making, size_t t, uint32_t parent) {
    const struct ids_track *track = &making->analysis->trace->tracks[t];
    int64_t row = new_row(making, IDS_ROW_THREAD, parent, ids_trace_text(making->analysis->trace, track->name));
    int failed = row < 0;
    if (!failed) {
        making->row_of_track[t] = (uint32_t)row + 1;
        making->picture->rows[row].track = (uint32_t)t + 1;
    }
    for (int level = 0; level < LEVELS && !failed; level++) failed = put_level(making, track, (uint32_t)row, level);
    return failed ? -1 : 0;
}

static int put_compilations(struct ids_picture_making *making, uint32_t host, uint32_t parent) {
    const struct ids_trace *trace = making->analysis->trace;
    int64_t row = -1;
    for (size_t t = 0; t < trace->track_count; t++) {
        if (trace->tracks[t].host != host || trace->tracks[t].device != IDS_NONE) continue;
        struct ids_cursor cursor = ids_cursor_over(&trace->tracks[t].events);
        for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
            if (event->kind != IDS_KIND_COMPILE || ids_is_retold(making->analysis, event) ||
                ids_is_part_of_compilation(trace, event))
                continue;
            if (row < 0) row = new_row(making, IDS_ROW_COMPILATIONS, parent, "compilations");
            const struct ids_mark mark = {.start_ps = event->start_ps,
                                          .end_ps = event->end_ps,
                                          .count = 1,
                                          .account = IDS_HOST_COMPILE,
                                          .source = event};
            if (row < 0 || add_event(making, (uint32_t)row, &mark)) return -1;
        }
    }
    return 0;
}

/* ---- counters ---- */

/* Of each stretch of `cell_ps` its first, least, most and last value. */
struct thinning {
    struct ids_picture_row *row;
    int64_t cell_ps, until_ps;
    struct ids_picture_point first, least, most, last;
    int has;
};

static int put_point(struct ids_picture_row *row, struct ids_picture_point point) {
    if (row->point_count && row->points[row->point_count - 1].at_ps == point.at_ps &&
        row->points[row->point_count - 1].value == point.value)
        return 0;
    struct ids_picture_point *added = IDS_PUSH(row->points, row->point_count, row->point_room);
    if (!added) return -1;
    *added = point;
    return 0;
}

static int flush(struct thinning *thinning) {
    if (!thinning->has) return 0;
    int falls = thinning->least.at_ps > thinning->most.at_ps;
    thinning->has = 0;
    return put_point(thinning->row, thinning->first) ||
           put_point(thinning->row, falls ? thinning->most : thinning->least) ||
           put_point(thinning->row, falls ? thinning->least : thinning->most) ||
           put_point(thinning->row, thinning->last);
}

static int thin(struct thinning *thinning, int64_t at_ps, double value) {
    const struct ids_picture_point point = {at_ps, value};
    if (thinning->has && at_ps >= thinning->until_ps && flush(thinning)) return -1;
    if (!thinning->has) {
        thinning->first = thinning->least = thinning->most = point;
        thinning->until_ps = at_ps + thinning->cell_ps;
        thinning->has = 1;
    }
    if (value < thinning->least.value) thinning->least = point;
    if (value > thinning->most.value) thinning->most = point;
    thinning->last = point;
    return 0;
}

static struct thinning thinning_of(struct ids_picture_making *making, int64_t row) {
    const struct ids_analysis *analysis = making->analysis;
    return (struct thinning){.row = &making->picture->rows[row],
                             .cell_ps = (analysis->end_ps - analysis->start_ps) / POINTS + 1};
}

static int put_counters(struct ids_picture_making *making, uint32_t host, uint32_t parent) {
    const struct ids_trace *trace = making->analysis->trace;
    for (size_t c = 0; c < trace->counter_count; c++) {
        const struct ids_counter *counter = &trace->counters[c];
        char room[256], label[512];
        if (trace->tracks[counter->track].host != host || !counter->sample_count) continue;
        snprintf(label, sizeof label, "%s%s%s", ids_counter_name(trace, counter, room, sizeof room),
                 trace->tracks[counter->track].plane_name ? " · " : "",
                 ids_trace_text(trace, trace->tracks[counter->track].plane_name));
        int64_t row = new_row(making, IDS_ROW_COUNTER, parent, label);
        if (row < 0) return -1;
        struct thinning thinning = thinning_of(making, row);
        for (size_t i = 0; i < counter->sample_count; i++) {
            if (thin(&thinning, counter->samples[i].at_ps, counter->samples[i].value)) return -1;
        }
        if (flush(&thinning)) return -1;
    }
    return 0;
}

static int put_memory(struct ids_picture_making *making, uint32_t host, uint32_t parent) {
    const struct ids_trace *trace = making->analysis->trace;
    for (size_t a = 0; a < trace->allocator_count; a++) {
        const struct ids_allocator *allocator = &trace->allocators[a];
        char label[256];
        if (allocator->host != host || !allocator->count) continue;
        snprintf(label, sizeof label, "memory in use · %s", ids_trace_text(trace, allocator->name));
        int64_t row = new_row(making, IDS_ROW_COUNTER, parent, label);
        if (row < 0) return -1;
        making->picture->rows[row].is_bytes = 1;
        struct thinning thinning = thinning_of(making, row);
        for (size_t i = 0; i < allocator->count; i++) {
            const struct ids_allocation *allocation = &trace->allocations[allocator->first + i];
            if (allocation->in_use >= 0 && thin(&thinning, allocation->at_ps, (double)allocation->in_use)) return -1;
        }
        if (flush(&thinning)) return -1;
    }
    return 0;
}

/* ---- all ---- */

static int put_host(struct ids_picture_making *making, uint32_t host, uint32_t parent) {
    const struct ids_analysis *analysis = making->analysis;
    const struct ids_trace *trace = analysis->trace;
    for (size_t b = 0; b < analysis->busy_count; b++) {
        if (analysis->busy[b].device->host == host && put_device(making, b, parent)) return -1;
    }
    if (put_compilations(making, host, parent)) return -1;
    for (size_t t = 0; t < trace->track_count; t++) {
        if (trace->tracks[t].host == host && trace->tracks[t].timeline.count && put_thread(making, t, parent))
            return -1;
    }
    return put_memory(making, host, parent) || put_counters(making, host, parent) ? -1 : 0;
}

static void forget_rows(struct ids_picture_making *making) {
    struct ids_picture *picture = making->picture;
    for (size_t r = 0; r < picture->row_count; r++) {
        for (uint32_t i = 0; i < picture->rows[r].lane_count; i++) ids_lane_done(&picture->rows[r].lanes[i]);
        free(picture->rows[r].lanes);
        free(picture->rows[r].points);
    }
    picture->row_count = 0;
    picture->mark_count = picture->thread_events = 0;
    memset(making->row_of_stream, 0, (making->analysis->trace->track_count + 1) * sizeof *making->row_of_stream);
    memset(making->row_of_track, 0, making->analysis->trace->track_count * sizeof *making->row_of_track);
}

int ids_picture_rows(struct ids_picture_making *making) {
    const struct ids_trace *trace = making->analysis->trace;
    forget_rows(making);
    for (size_t t = 0; t < trace->track_count; t++) {
        if (trace->tracks[t].role == IDS_TRACK_HOST || trace->tracks[t].role == IDS_TRACK_SAMPLED)
            making->picture->thread_events += trace->tracks[t].event_count;
    }
    if (put_steps(making)) return -1;
    for (uint32_t host = 0; host < trace->host_count; host++) {
        uint32_t parent = 0;
        if (trace->host_count > 1) {
            const char *name = ids_trace_text(trace, trace->hosts[host].name);
            int64_t group = new_row(making, IDS_ROW_GROUP, 0, *name ? name : "host");
            if (group < 0) return -1;
            parent = (uint32_t)group + 1;
        }
        if (put_host(making, host, parent)) return -1;
    }
    for (size_t r = 0; r < making->picture->row_count; r++) {
        struct ids_picture_row *row = &making->picture->rows[r];
        for (uint32_t l = 0; l < row->lane_count; l++) ids_lane_end(&row->lanes[l]);
    }
    return 0;
}
