/* builder_slices.c - the builder's events: what of them is kept while their track is read, and where it goes when the
 * track ends. */
#include "lib/base/saturate.h"
#include "lib/base/vec.h"
#include "lib/model/allocations.h"
#include "lib/model/builder_parts.h"
#include "lib/model/doings.h"
#include "lib/model/keys.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Times further than this from the run's start (26 days) are damage. Within it, differences of times cannot
 * overflow. */
#define TIME_LIMIT_PS ((int64_t)1 << 61)

static struct ids_builder *of(struct ids_sink *sink) {
    return (struct ids_builder *)sink;
}

/* --- how much is held ------------------------------------------------------------------------------------------- */

static void let_all_go(struct ids_builder *builder) {
    struct ids_trace *trace = builder->trace;
    for (size_t i = 0; i < builder->open_count; i++) {
        ids_assembly_done(&builder->open[i].assembly);
        builder->open[i].last_op = 0;
    }
    ids_assembly_done(&builder->idle);
    for (size_t i = 0; i < trace->track_count; i++) {
        ids_events_let_go(&trace->tracks[i].events);
        ids_timeline_done(&trace->tracks[i].timeline);
    }
    ids_device_pieces_done(&builder->pieces);
    for (size_t i = 0; i < trace->device_count; i++) {
        for (enum ids_device_list l = 0; l < IDS_DEVICE_LISTS; l++)
            ids_events_let_go(ids_device_list(&trace->devices[i], l));
    }
    free(trace->samples);
    trace->samples = NULL;
    trace->sample_count = trace->sample_room = 0;
    free(trace->stacks);
    trace->stacks = NULL;
    trace->stack_count = trace->stack_room = 0;
    ids_keymap_done(&trace->stack_numbers);
    free(trace->allocations);
    trace->allocations = NULL;
    trace->allocation_count = trace->allocation_room = 0;
    ids_keymap_done(&builder->join.op_ends);
    ids_keymap_done(&builder->join.op_goes_on);
    ids_calls_done(&builder->calls);
    builder->calls.trace = trace;
    builder->held.overflowed = 1;
}

enum { BORROWED_BYTES = 1 << 20 };
/* More of the lender's bytes for at least those that are held; 0 where it has no more. */
static int borrow(struct ids_held_records *held) {
    struct ids_held_records *lender = held->lender;
    if (!lender) return 0;
    uint64_t wanted = held->bytes - held->most_bytes + BORROWED_BYTES, lent = atomic_load(&lender->lent);
    do {
        uint64_t left = lender->most_bytes - lender->bytes;
        if (lent > left || wanted > left - lent) return 0;
    } while (!atomic_compare_exchange_weak(&lender->lent, &lent, lent + wanted));
    held->most_bytes += wanted;
    return 1;
}

/* Counts bytes that are about to be held; 0 when they are not to be. */
static inline int may_hold(struct ids_builder *builder, uint64_t bytes) {
    struct ids_held_records *held = &builder->held;
    held->bytes += bytes;
    if (held->bytes > held->most_bytes && !held->overflowed && !borrow(held)) let_all_go(builder);
    return !held->overflowed;
}

/* Each event of a file comes here. */
__attribute__((always_inline)) static inline int add_passing(struct ids_builder *builder, struct ids_open_track *open,
                                                             const struct ids_passing *passing, struct ids_error *err) {
    open->passing++;
    if (!may_hold(builder, sizeof *passing)) return 0;
    return ids_assembly_add(&open->assembly, passing) ? ids_no_memory(err) : 0;
}

static int keep_event(struct ids_builder *builder, struct ids_open_track *open, const struct ids_event *event,
                      struct ids_passing *passing, struct ids_error *err) {
    struct ids_events *events = &builder->trace->tracks[open->track].events;
    open->kept++;
    if (events->count >= IDS_CALL_MARK) return ids_fail(err, IDS_LIMIT, "more than two billion events on one track");
    if (!may_hold(builder, sizeof *event)) return 0;
    struct ids_event *kept = IDS_PUSH(events->at, events->count, events->room);
    if (!kept) return ids_no_memory(err);
    *kept = *event;
    events->kinds |= IDS_KINDS(event->kind);
    passing->kept = (uint32_t)(events->count - 1);
    if (event->kind != IDS_KIND_OP) return 0;
    open->last_op = events->count;
    if (open->in_task && open->task_op_ps == INT64_MAX) open->task_op_ps = event->start_ps;
    return 0;
}

/* --- events ----------------------------------------------------------------------------------------------------- */

/* An "end: NAME": mostly of the op read just before on the same track, else joined at the end. */
static int end_op(struct ids_builder *builder, struct ids_open_track *open, const struct ids_event *end,
                  struct ids_error *err) {
    struct ids_track *track = &builder->trace->tracks[open->track];
    if (open->last_op && track->events.at[open->last_op - 1].produces == end->consumes) {
        struct ids_event *op = &track->events.at[open->last_op - 1];
        if (end->start_ps > op->end_ps) op->end_ps = end->start_ps;
        op->produces = 0;
        return 0;
    }
    if (builder->held.overflowed || !may_hold(builder, 2 * sizeof(struct ids_keymap_slot))) return 0;
    struct ids_join *join = &builder->join;
    int failed = ids_keymap_add(&join->op_ends, end->consumes, (uint64_t)end->start_ps) < 0;
    if (failed || open->task_op_ps >= end->start_ps || !may_hold(builder, 2 * sizeof(struct ids_keymap_slot)))
        return failed ? ids_no_memory(err) : 0;
    return ids_keymap_add(&join->op_goes_on, end->consumes, (uint64_t)open->task_op_ps) < 0 ? ids_no_memory(err) : 0;
}

static void count_number(struct ids_track *track, const struct ids_facts *facts) {
    if (!facts->is_op || facts->external <= 0) return;
    if (!track->numbered_ops || facts->external < track->first_number) track->first_number = facts->external;
    if (facts->external > track->last_number) track->last_number = facts->external;
    track->numbered_ops++;
}

/* An op or a frame of the framework: it names the work that is launched inside. */
static int mark_call(struct ids_builder *builder, struct ids_open_track *open, const struct ids_facts *facts,
                     struct ids_passing *passing, struct ids_error *err) {
    uint32_t mark;
    count_number(&builder->trace->tracks[open->track], facts);
    int code = ids_asked_in_order(builder->dimensions.asked, err);
    if (code || builder->held.overflowed) return code;
    if (ids_calls_mark(&builder->calls, builder->dimensions.host, passing->name, facts, &mark))
        return ids_no_memory(err);
    open->assembly.calls = &builder->calls;
    if (mark == IDS_NONE) return 0;
    passing->kept = IDS_CALL_MARK | mark;
    may_hold(builder, IDS_CALL_MARK_BYTES);
    return 0;
}

static int pass_arrow(struct ids_builder *builder, uint32_t track_id, const struct ids_slice *slice,
                      struct ids_error *err) {
    struct ids_facts facts;
    int64_t start_ps;
    int code = ids_asked_in_order(builder->dimensions.asked, err);
    if (code || builder->held.overflowed ||
        __builtin_add_overflow(slice->start_ps, builder->trace->hosts[builder->dimensions.host].shift_ps, &start_ps))
        return code;
    if (ids_facts_gather(builder->trace, slice, &facts) ||
        ids_calls_arrow(&builder->calls, builder->dimensions.host, track_id, start_ps, slice->form == IDS_FORM_FLOW_OUT,
                        &facts))
        return ids_no_memory(err);
    return 0;
}

static int keep_allocation(struct ids_builder *builder, uint32_t track, const struct ids_slice *slice,
                           enum ids_allocator_source source, int64_t at_ps, struct ids_error *err) {
    if (!may_hold(builder, sizeof(struct ids_allocation))) return 0;
    return ids_allocation_add(builder->trace, track, slice, source, at_ps) ? ids_no_memory(err) : 0;
}

static struct ids_open_track *open_of(struct ids_builder *builder, uint32_t track) {
    return &builder->open[builder->place_of_track[track]];
}

/* Where the slice lies on the run's clock; 0: too far away, or beyond the part of the run that memory has room for. */
static int place_in_time(struct ids_builder *builder, struct ids_track *track, const struct ids_slice *slice,
                         int64_t duration_ps, int64_t *ret_start_ps, int64_t *ret_end_ps) {
    int64_t start_ps, end_ps;
    if (__builtin_add_overflow(slice->start_ps, builder->trace->hosts[track->host].shift_ps, &start_ps) ||
        __builtin_add_overflow(start_ps, duration_ps, &end_ps) || start_ps < -TIME_LIMIT_PS || end_ps > TIME_LIMIT_PS) {
        builder->out_of_range++;
        return 0;
    }
    struct ids_held_records *held = &builder->held;
    if (start_ps < held->first_ps) held->first_ps = start_ps;
    if (start_ps > held->last_ps) held->last_ps = start_ps;
    if (start_ps >= held->until_ps) {
        held->beyond++;
        return 0;
    }
    if (start_ps < track->first_ps) track->first_ps = start_ps;
    if (end_ps > track->last_ps) track->last_ps = end_ps;
    *ret_start_ps = start_ps;
    *ret_end_ps = end_ps;
    return 1;
}

static int hand_on(struct ids_builder *builder, struct ids_open_track *open, const struct ids_event *event,
                   const struct ids_facts *facts, int has_facts, struct ids_passing *passing, struct ids_error *err) {
    int code = 0;
    if (event->kind == IDS_KIND_REGION_START || event->kind == IDS_KIND_REGION_STOP) {
        open->in_task = event->kind == IDS_KIND_REGION_START;
        open->task_op_ps = INT64_MAX;
    }
    if (event->kind == IDS_KIND_OP_END) {
        code = end_op(builder, open, event, err);
    } else if (event->kind == IDS_KIND_PYTHON || event->kind == IDS_KIND_CALL) {
        int is_told = has_facts && (event->kind == IDS_KIND_CALL || facts->has_python_id);
        if (is_told) code = mark_call(builder, open, facts, passing, err);
    } else if (event->kind != IDS_KIND_OTHER) {
        code = keep_event(builder, open, event, passing, err);
    }
    return code ? code : add_passing(builder, open, passing, err);
}

/* Slices of sampled stacks end between two samples; some say when the samples were taken that saw them. */
static int keep_samples(struct ids_trace *trace, uint32_t track, const struct ids_slice *slice, int64_t start_ps) {
    int64_t last_ps = INT64_MIN;
    for (size_t i = 0; i < slice->arg_count; i++) {
        const struct ids_arg *arg = &slice->args[i];
        int64_t after_ns = ids_arg_int(trace, arg, -1);
        if ((arg->key != IDS_KEY_FIRST_SAMPLE && arg->key != IDS_KEY_LAST_SAMPLE) || after_ns < 0) continue;
        int64_t when_ps = ids_sat_add(start_ps, ids_sat_mul(after_ns, 1000));
        if (when_ps == last_ps) continue; /* the only one */
        struct ids_stack_sample *sample = IDS_PUSH(trace->samples, trace->sample_count, trace->sample_room);
        if (!sample) return -1;
        *sample = (struct ids_stack_sample){last_ps = when_ps, track, arg->key == IDS_KEY_FIRST_SAMPLE};
    }
    return 0;
}

static int count(struct ids_builder *builder, uint32_t track_id, const struct ids_slice *slice, struct ids_error *err) {
    struct ids_trace *trace = builder->trace;
    int64_t start_ps, end_ps;
    int code = ids_asked_in_order(builder->dimensions.asked, err);
    if (code || !place_in_time(builder, &trace->tracks[track_id], slice, 0, &start_ps, &end_ps)) return code;
    return ids_counters_add(&builder->counters, trace, track_id, start_ps, slice) ? ids_no_memory(err) : 0;
}

static void add_time_scale(struct ids_time_scale *of_track, const struct ids_facts *facts,
                           const struct ids_slice *slice) {
    of_track->sum += facts->time_scale;
    of_track->count++;
    of_track->time_ps += (double)slice->duration_ps;
    of_track->scaled_ps += (double)slice->duration_ps * facts->time_scale;
}

int ids_build_slice(struct ids_sink *sink, uint32_t track_id, const struct ids_slice *slice, struct ids_error *err) {
    struct ids_builder *builder = of(sink);
    struct ids_trace *trace = builder->trace;
    struct ids_track *track = &trace->tracks[track_id];
    struct ids_open_track *open = open_of(builder, track_id);
    uint8_t kind = trace->names[slice->name].kind;
    int64_t start_ps, end_ps, duration_ps = slice->duration_ps;
    if (duration_ps < 0) {
        builder->negative_durations++;
        duration_ps = 0;
    }
    track->event_count++;
    track->stat_count += slice->arg_count;
    if ((slice->form == IDS_FORM_FLOW_OUT || slice->form == IDS_FORM_FLOW_IN) && track->role == IDS_TRACK_HOST)
        return pass_arrow(builder, track_id, slice, err);
    if (slice->form == IDS_FORM_COUNTER || track->role == IDS_TRACK_COUNTERS)
        return count(builder, track_id, slice, err);
    /* Counters and arrows are no activity (correlation ids say what arrows do), nor are moments on a device. */
    if (slice->form > IDS_FORM_INSTANT || (slice->form && track->role != IDS_TRACK_HOST)) return 0;
    if (!place_in_time(builder, track, slice, duration_ps, &start_ps, &end_ps)) return 0;
    struct ids_passing passing = {start_ps, duration_ps, slice->name, IDS_NONE};
    if (track->role == IDS_TRACK_SAMPLED)
        return keep_samples(trace, track_id, slice, start_ps) ? ids_no_memory(err)
                                                              : add_passing(builder, open, &passing, err);
    if (!slice->arg_count && track->role == IDS_TRACK_HOST && kind == IDS_KIND_OTHER &&
        trace->names[slice->name].is_region)
        kind = IDS_KIND_NAMED;
    /* Most events of a file are Python frames and inner calls of the runtime, which are only counted. */
    if (!slice->arg_count && track->role == IDS_TRACK_HOST && (kind == IDS_KIND_OTHER || kind == IDS_KIND_PYTHON)) {
        return add_passing(builder, open, &passing, err);
    }

    struct ids_event event = {
        .start_ps = start_ps,
        .end_ps = end_ps,
        .name = slice->name,
        .track = builder->first_track + track_id,
        .op = IDS_NONE,
        .device = IDS_NONE,
        .parent = IDS_NONE, /* and no shape */
        .kind = kind,
        .direction = IDS_NO_DIRECTION,
    };
    enum ids_allocator_source source = trace->names[slice->name].allocator;
    int code = source ? keep_allocation(builder, track_id, slice, source, start_ps, err) : 0;
    if (code) return code;
    struct ids_facts facts;
    if (slice->arg_count || track->role != IDS_TRACK_HOST || kind == IDS_KIND_STEP_MARK) {
        if (ids_facts_gather(trace, slice, &facts)) return ids_no_memory(err);
        if (facts.has_time_scale) add_time_scale(&track->time_scale, &facts, slice);
        code = track->role == IDS_TRACK_HOST
                   ? ids_host_event(&builder->dimensions, &builder->planes[track->plane].as_host, &facts, &event, err)
                   : ids_device_event(&builder->dimensions, track, slice, &facts, &event, err);
        if (code) return code;
    }
    return hand_on(builder, open, &event, &facts, slice->arg_count != 0, &passing, err);
}

/* Which list of its device the events of a track belong to; -1: they stay. */
static int list_of(const struct ids_track *track) {
    switch (track->role) {
    case IDS_TRACK_STREAM:
    case IDS_TRACK_OPS:
        return IDS_LIST_ACTIVITY;
    case IDS_TRACK_ASYNC:
        return IDS_LIST_ASYNC;
    case IDS_TRACK_WAITS:
        return IDS_LIST_WAITS;
    case IDS_TRACK_MODULES:
        return IDS_LIST_MODULES;
    case IDS_TRACK_STEPS:
        return IDS_LIST_STEPS;
    default:
        return -1;
    }
}

/* The first ones of a track's records stay. Where they are few, or none, as on most threads, they get memory of their
 * own, and that of all serves the next track. */
static int settle(struct ids_builder *builder, struct ids_events *events, size_t staying) {
    events->count = staying;
    if (staying > events->room / 2) return 0;
    struct ids_events all = *events;
    *events = (struct ids_events){.kinds = all.kinds};
    if (staying) {
        events->at = ids_vec_new(staying, sizeof *events->at);
        if (!events->at) {
            *events = all;
            return -1;
        }
        memcpy(events->at, all.at, staying * sizeof *events->at);
        events->count = events->room = staying;
    }
    ids_assembly_keep_room(&builder->idle, &all);
    return 0;
}

int ids_build_track_end(struct ids_sink *sink, uint32_t track_id, struct ids_error *err) {
    struct ids_builder *builder = of(sink);
    struct ids_trace *trace = builder->trace;
    struct ids_track *track = &trace->tracks[track_id];
    struct ids_open_track *open = open_of(builder, track_id);
    ids_assembly_inherit(&open->assembly, &builder->idle);
    int code = ids_assembly_finish(&open->assembly, trace, track_id, err);
    ids_assembly_done(&builder->idle);
    builder->idle = open->assembly; /* its memory serves the next track */
    builder->held.peak_bytes = ids_held_peak(&builder->held);
    builder->held.bytes -= open->passing * sizeof(struct ids_passing);
    if (!code && track->timeline.count)
        may_hold(builder, track->timeline.count * (sizeof *track->timeline.from_ps + sizeof *track->timeline.doing));
    *open = builder->open[--builder->open_count];
    builder->place_of_track[open->track] = (uint32_t)(open - builder->open);
    if (code) return code;
    trace->event_count += track->event_count;
    trace->stat_count += track->stat_count;
    int list = track->device == IDS_NONE ? -1 : list_of(track), failed = 0;
    size_t staying = track->events.count;
    if (track->role == IDS_TRACK_HOST)
        failed = ids_device_pieces_divide(&builder->pieces, trace->device_count, &track->events, &staying);
    if (!failed) failed = settle(builder, &track->events, staying);
    if (!failed && list >= 0 && staying)
        failed = ids_device_pieces_add(&builder->pieces, track->device, (enum ids_device_list)list, &track->events);
    return failed ? ids_no_memory(err) : 0;
}
