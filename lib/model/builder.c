#include "lib/model/builder.h"

#include "lib/base/saturate.h"
#include "lib/base/vec.h"
#include "lib/model/account.h"
#include "lib/model/allocations.h"
#include "lib/model/builder_parts.h"
#include "lib/model/classify.h"
#include "lib/model/clocks.h"
#include "lib/model/doings.h"
#include "lib/model/hardware.h"
#include "lib/model/held.h"
#include "lib/model/keys.h"
#include "lib/model/matrix_units.h"
#include "lib/model/programs.h"
#include "lib/model/tracer_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Times further than this from the run's start (26 days) are damage. Within it, differences of times cannot
 * overflow. */
#define TIME_LIMIT_PS ((int64_t)1 << 61)

static struct ids_builder *of(struct ids_sink *sink) {
    return (struct ids_builder *)sink;
}

static struct ids_text text_of(const struct ids_trace *trace, uint32_t text) {
    return ids_strings_text(&trace->strings, text);
}

/* --- hosts, planes, names, tracks ------------------------------------------------------------------------------- */

static int build_host(struct ids_sink *sink, const struct ids_host_info *info, struct ids_error *err) {
    struct ids_builder *builder = of(sink);
    struct ids_trace *trace = builder->trace;
    builder->dimensions.host = (uint32_t)trace->host_count;
    char text[256];
    struct ids_text given = text_of(trace, info->name);
    int length = given.length ? snprintf(text, sizeof text, "%.200s", given.at)
                              : snprintf(text, sizeof text, "host%u", builder->dimensions.host);
    uint32_t name = ids_intern(&trace->strings, text, (size_t)length);
    /* Two processes of one host are two hosts here; they need two names. */
    if (ids_idmap_get(&builder->host_names, name) != IDS_IDMAP_NONE) {
        length = snprintf(text, sizeof text, "%.200s~%u", given.length ? given.at : "host", builder->dimensions.host);
        name = ids_intern(&trace->strings, text, (size_t)length);
    }
    if (name == IDS_NO_TEXT || ids_idmap_set(&builder->host_names, name, builder->dimensions.host))
        return ids_no_memory(err);
    ids_trace_give_back(trace); /* of the hosts before nothing more comes */
    struct ids_host *host = IDS_PUSH(trace->hosts, trace->host_count, trace->host_room);
    if (!host) return ids_no_memory(err);
    *host = (struct ids_host){.name = name, .start_unix_ns = info->start_unix_ns};
    /* The run's time 0 is that of the first host whose clock is known. */
    if (info->start_unix_ns && !trace->origin_unix_ns) trace->origin_unix_ns = info->start_unix_ns;
    host->shift_ps = ids_clock_recorded_shift(info->start_unix_ns, trace->origin_unix_ns);
    return 0;
}

/* What a plane's name says of its device. */
static void read_device_name(struct ids_text name, struct ids_device *device) {
    if (ids_text_begins(name, "/device:GPU:"))
        device->kind = IDS_DEVICE_GPU;
    else if (ids_text_begins(name, "/device:TPU:"))
        device->kind = IDS_DEVICE_TPU;
    else if (ids_text_begins(name, "/device:"))
        device->kind = IDS_DEVICE_CUSTOM;
    else
        device->kind = IDS_DEVICE_CPU; /* a host's plane, no device by itself */
    /* "/device:TPU:0" but also "/device:TPU:0 SparseCore 1", which is no core of its own to average over */
    size_t colon = name.length;
    while (colon > 0 && name.at[colon - 1] >= '0' && name.at[colon - 1] <= '9') colon--;
    if (colon > 0 && colon < name.length && name.at[colon - 1] == ':') {
        device->ordinal = 0;
        for (size_t i = colon; i < name.length && device->ordinal < INT32_MAX; i++)
            device->ordinal = device->ordinal * 10 + (name.at[i] - '0');
    } else if (device->kind != IDS_DEVICE_CPU) {
        device->kind = IDS_DEVICE_CUSTOM;
    }
}

/* A count of a device; `otherwise` where the file has no such number. */
static int64_t within(int64_t value, int64_t otherwise) {
    return value < 0 || value > INT32_MAX ? otherwise : value;
}

static int read_device_stat(struct ids_trace *trace, const struct ids_arg *arg, struct ids_device *device) {
    uint32_t text = ids_arg_text(trace, arg);
    if (text == IDS_NO_TEXT) return -1;
    switch (arg->key) {
    case IDS_KEY_DEVICE_VENDOR:
        device->vendor = text;
        break;
    case IDS_KEY_GPU_DEVICE_NAME:
    case IDS_KEY_DEVICE_TYPE_STRING:
        device->model = text;
        break;
    case IDS_KEY_PEAK_TERAFLOPS:
        device->peak_flops = ids_arg_real(trace, arg) * 1e12;
        break;
    case IDS_KEY_PEAK_HBM_GIGABYTES:
        device->peak_bytes_per_second = ids_arg_real(trace, arg) * 1e9;
        break;
    case IDS_KEY_MEMORY_BANDWIDTH:
        device->peak_bytes_per_second = ids_arg_real(trace, arg);
        break;
    case IDS_KEY_MEMORY_SIZE:
        device->memory_bytes = (uint64_t)ids_arg_int(trace, arg, 0);
        break;
    case IDS_KEY_CORE_COUNT:
        device->cores = within(ids_arg_int(trace, arg, 0), 0);
        break;
    case IDS_KEY_COMPUTE_CAP_MAJOR:
        device->capability_major = (int32_t)within(ids_arg_int(trace, arg, -1), -1);
        break;
    case IDS_KEY_COMPUTE_CAP_MINOR:
        device->capability_minor = (int32_t)within(ids_arg_int(trace, arg, -1), -1);
        break;
    case IDS_KEY_JAX_VERSION:
        trace->jax_version = text;
        break;
    case IDS_KEY_PROFILE_OPTIONS:
        if (arg->type == IDS_VALUE_BYTES) ids_tracer_options_read(arg->chars, arg->length, trace);
        break;
    default:
        break;
    }
    return 0;
}

static int read_sampling(struct ids_trace *trace, const struct ids_plane_info *info, uint32_t *ret_sampling) {
    struct ids_sampling *sampling = IDS_PUSH(trace->samplings, trace->sampling_count, trace->sampling_room);
    if (!sampling) return -1;
    *sampling = (struct ids_sampling){.running_step = -1, .slow_step = -1, .next_step_ago_ps = -1};
    for (size_t i = 0; i < info->arg_count; i++) {
        int64_t number = ids_arg_int(trace, &info->args[i], 0), time_ps = ids_sat_mul(number, 1000);
        if (info->args[i].key == IDS_KEY_SAMPLING_PERIOD) sampling->period_ps = time_ps;
        if (info->args[i].key == IDS_KEY_DENSE_PERIOD) sampling->dense_period_ps = time_ps;
        if (info->args[i].key == IDS_KEY_DENSE_TIME) sampling->dense_ps = time_ps;
        if (info->args[i].key == IDS_KEY_RUNNING_STEP) sampling->running_step = number;
        if (info->args[i].key == IDS_KEY_SLOW_STEP) sampling->slow_step = number;
        if (info->args[i].key == IDS_KEY_NEXT_STEP_AGO && number >= 0) sampling->next_step_ago_ps = time_ps;
    }
    *ret_sampling = (uint32_t)trace->sampling_count;
    return 0;
}

static int build_plane(struct ids_sink *sink, const struct ids_plane_info *info, uint32_t *ret_plane,
                       struct ids_error *err) {
    struct ids_builder *builder = of(sink);
    struct ids_trace *trace = builder->trace;
    *ret_plane = (uint32_t)builder->plane_count;
    struct ids_builder_plane *plane = IDS_PUSH(builder->planes, builder->plane_count, builder->plane_room);
    if (!plane) return ids_no_memory(err);
    *plane = (struct ids_builder_plane){
        .as_host = {*ret_plane, info->name, IDS_NONE},
        .host = builder->dimensions.host,
        .device = IDS_NONE,
        .first_name = (uint32_t)trace->name_count,
        .first_op = (uint32_t)trace->op_count,
    };
    struct ids_text name = text_of(trace, info->name);
    struct ids_device device = {
        .host = builder->dimensions.host, .ordinal = -1, .capability_major = -1, .capability_minor = -1};
    read_device_name(name, &device);
    for (size_t i = 0; i < info->arg_count; i++) {
        if (read_device_stat(trace, &info->args[i], &device)) return ids_no_memory(err);
    }
    plane->is_sampled = (uint8_t)ids_plane_is_sampled(name);
    if (plane->is_sampled && read_sampling(trace, info, &plane->sampling)) return ids_no_memory(err);
    if (device.kind == IDS_DEVICE_CPU) return 0;
    ids_hardware_find(trace, &device);
    return ids_device_add(&builder->dimensions, &device, name.at, 0, &plane->device, err);
}

static void name_on_stream(struct ids_name *name, struct ids_text text) {
    char rocclr = ids_rocclr_kernel(text);
    name->direction = (uint8_t)ids_direction_of_name(text);
    if (name->direction == IDS_MEMSET || rocclr == 's') {
        name->stream_kind = IDS_KIND_SET;
        name->direction = IDS_MEMSET;
    } else if (name->direction != IDS_NO_DIRECTION || rocclr == 'c' || ids_text_begins(text, "Memcpy")) {
        name->stream_kind = IDS_KIND_COPY;
    } else {
        name->stream_kind = IDS_KIND_KERNEL;
        name->collective = (uint8_t)ids_collective_of_kernel(text);
        name->matrix_use = (uint8_t)ids_matrix_use_of_name(text);
    }
}

static int build_name(struct ids_sink *sink, const struct ids_name_info *info, uint32_t *ret_name,
                      struct ids_error *err) {
    struct ids_builder *builder = of(sink);
    struct ids_trace *trace = builder->trace;
    const struct ids_builder_plane *plane = &builder->planes[info->plane];
    struct ids_name name = {.text = info->text, .display = info->display, .plane = info->plane, .op = IDS_NONE};
    name.is_sampled = plane->is_sampled;
    if (plane->device == IDS_NONE) {
        struct ids_text text = text_of(trace, info->text);
        name.kind = (uint8_t)ids_kind_of_name(text.at, text.length);
        name.allocator = (uint8_t)ids_allocator_source_of(text);
        name.is_region =
            name.kind == IDS_KIND_OTHER && ids_account_of_host_event(IDS_KIND_OTHER, text, 0) == IDS_HOST_REGION;
    } else {
        enum ids_device_kind kind = trace->devices[plane->device].kind;
        if (kind != IDS_DEVICE_TPU) name_on_stream(&name, text_of(trace, info->text));
        if (kind == IDS_DEVICE_CUSTOM && ids_is_queue_wait(text_of(trace, info->text)))
            name.stream_kind = IDS_KIND_WAIT_OP;
        int code = info->arg_count ? ids_op_of_name(&builder->dimensions, info, &name.op, err) : 0;
        if (code) return code;
    }
    *ret_name = (uint32_t)trace->name_count;
    struct ids_name *added = IDS_PUSH(trace->names, trace->name_count, trace->name_room);
    if (!added) return ids_no_memory(err);
    *added = name;
    return 0;
}

static enum ids_track_role role_of(enum ids_device_kind kind, struct ids_text name) {
    if (ids_text_begins(name, "Steps")) return IDS_TRACK_STEPS;
    /* Lines such as "XLA Ops" on a GPU are derived by viewers from the streams (docs/trace_facts.md). Other makers'
     * devices have streams too. */
    if (kind != IDS_DEVICE_TPU) return ids_is_stream(name) ? IDS_TRACK_STREAM : IDS_TRACK_DERIVED;
    if (ids_text_begins(name, "XLA Ops")) return IDS_TRACK_OPS;
    if (ids_text_begins(name, "XLA Modules")) return IDS_TRACK_MODULES;
    if (ids_text_begins(name, "Async XLA Ops")) return IDS_TRACK_ASYNC;
    if (ids_text_begins(name, "XLA TraceMe")) return IDS_TRACK_WAITS;
    return IDS_TRACK_DERIVED;
}

int ids_build_track(struct ids_sink *sink, const struct ids_track_info *info, uint32_t *ret_track,
                    struct ids_error *err) {
    struct ids_builder *builder = of(sink);
    struct ids_trace *trace = builder->trace;
    const struct ids_builder_plane *plane = &builder->planes[info->plane];
    if (trace->track_count >= IDS_TRACK_LIMIT)
        return ids_fail(err, IDS_LIMIT, "more than %d timelines", IDS_TRACK_LIMIT);
    *ret_track = (uint32_t)trace->track_count;
    struct ids_track *track = IDS_PUSH(trace->tracks, trace->track_count, trace->track_room);
    if (!track) return ids_no_memory(err);
    *track = (struct ids_track){
        .host = plane->host,
        .plane = info->plane,
        .device = plane->device,
        .name = info->name,
        .plane_name = plane->as_host.name,
        .id = info->id,
        .role = plane->is_sampled ? IDS_TRACK_SAMPLED : IDS_TRACK_HOST,
        .sampling = plane->sampling,
        .first_ps = INT64_MAX,
        .last_ps = INT64_MIN,
    };
    if (ids_is_counter_line(text_of(trace, info->name)))
        track->role = IDS_TRACK_COUNTERS;
    else if (plane->device != IDS_NONE)
        track->role = role_of(trace->devices[plane->device].kind, text_of(trace, info->name));
    uint32_t *place = IDS_PUSH(builder->place_of_track, builder->place_count, builder->place_room);
    if (!place) return ids_no_memory(err);
    struct ids_open_track *open = IDS_PUSH(builder->open, builder->open_count, builder->open_room);
    if (!open) return ids_no_memory(err);
    *place = (uint32_t)(builder->open_count - 1);
    *open = (struct ids_open_track){.track = *ret_track, .assembly = builder->idle, .task_op_ps = INT64_MAX};
    builder->idle = (struct ids_assembly){0};
    return 0;
}

/* --- how much is held ------------------------------------------------------------------------------------------- */

static void let_go(struct ids_events *events) {
    free(events->at);
    *events = (struct ids_events){0};
}

static void let_all_go(struct ids_builder *builder) {
    struct ids_trace *trace = builder->trace;
    for (size_t i = 0; i < builder->open_count; i++) {
        ids_assembly_done(&builder->open[i].assembly);
        builder->open[i].last_op = 0;
    }
    ids_assembly_done(&builder->idle);
    for (size_t i = 0; i < trace->track_count; i++) {
        let_go(&trace->tracks[i].events);
        ids_timeline_done(&trace->tracks[i].timeline);
    }
    for (size_t i = 0; i < trace->device_count; i++) {
        struct ids_device *device = &trace->devices[i];
        let_go(&device->activity);
        let_go(&device->async);
        let_go(&device->waits);
        let_go(&device->modules);
        let_go(&device->steps);
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

/* Counts bytes that are about to be held; 0 when they are not to be. */
static inline int may_hold(struct ids_builder *builder, uint64_t bytes) {
    struct ids_held_records *held = &builder->held;
    held->bytes += bytes;
    if (held->bytes > held->most_bytes && !held->overflowed && !ids_held_borrow(held)) let_all_go(builder);
    return !held->overflowed;
}

static int add_passing(struct ids_builder *builder, struct ids_open_track *open, const struct ids_passing *passing,
                       struct ids_error *err) {
    open->passing++;
    if (!may_hold(builder, sizeof *passing)) return 0;
    return ids_assembly_add(&open->assembly, passing) ? ids_no_memory(err) : 0;
}

static int keep_event(struct ids_builder *builder, struct ids_open_track *open, const struct ids_event *event,
                      struct ids_passing *passing, struct ids_error *err) {
    struct ids_events *events = &builder->trace->tracks[open->track].events;
    open->kept++;
    if (!may_hold(builder, sizeof *event)) return 0;
    struct ids_event *kept = IDS_PUSH(events->at, events->count, events->room);
    if (!kept) return ids_no_memory(err);
    *kept = *event;
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

/* An op or a frame of the framework: it names the work that is launched inside. */
static int mark_call(struct ids_builder *builder, struct ids_open_track *open, const struct ids_facts *facts,
                     struct ids_passing *passing, struct ids_error *err) {
    uint32_t mark;
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
        *sample = (struct ids_stack_sample){last_ps = when_ps, track};
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
        .track = track_id,
        .op = IDS_NONE,
        .shape = IDS_NONE,
        .device = IDS_NONE,
        .parent = IDS_NONE,
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

/* Where a device's event belongs once its track is in order; NULL for an event that stays on its host thread. */
static struct ids_events *place_of(struct ids_device *device, const struct ids_track *track,
                                   const struct ids_event *event) {
    switch (track->role) {
    case IDS_TRACK_HOST:
        return event->kind == IDS_KIND_OP ? &device->activity : NULL;
    case IDS_TRACK_STREAM:
    case IDS_TRACK_OPS:
        return &device->activity;
    case IDS_TRACK_ASYNC:
        return &device->async;
    case IDS_TRACK_WAITS:
        return &device->waits;
    case IDS_TRACK_MODULES:
        return &device->modules;
    case IDS_TRACK_STEPS:
        return &device->steps;
    default:
        return NULL;
    }
}

/* All that is in `from`, behind what is in `to`. */
int ids_events_hand_over(struct ids_events *from, struct ids_events *to, struct ids_error *err) {
    if (to->count) {
        if (from->count > to->room - to->count) {
            size_t room = to->room + to->room / 2; /* a device may have a million tracks of one event */
            if (room < to->count + from->count) room = to->count + from->count;
            struct ids_event *grown = realloc(to->at, room * sizeof *grown);
            if (!grown) return ids_no_memory(err);
            to->at = grown;
            to->room = room;
        }
        memcpy(to->at + to->count, from->at, from->count * sizeof *from->at);
        to->count += from->count;
        let_go(from);
        return 0;
    }
    let_go(to);
    *to = *from;
    *from = (struct ids_events){0};
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
    if (track->device != IDS_NONE && track->events.count) { /* all of them are of one kind */
        struct ids_events *place = place_of(&trace->devices[track->device], track, track->events.at);
        if (place) return ids_events_hand_over(&track->events, place, err);
    }
    size_t staying = 0;
    for (size_t i = 0; i < track->events.count; i++) {
        struct ids_event *event = &track->events.at[i];
        struct ids_events *place =
            event->device == IDS_NONE ? NULL : place_of(&trace->devices[event->device], track, event);
        if (!place) {
            track->events.at[staying++] = *event;
            continue;
        }
        struct ids_event *moved = IDS_PUSH(place->at, place->count, place->room);
        if (!moved) return ids_no_memory(err);
        *moved = *event;
    }
    track->events.count = staying;
    if (!staying) let_go(&track->events); /* most of a device's tracks, and threads that did nothing of interest */
    return 0;
}

static int build_hlo(struct ids_sink *sink, const struct ids_instruction_info *instruction, struct ids_error *err) {
    of(sink)->trace->hlo_instructions++;
    return ids_join_hlo(&of(sink)->join, of(sink)->dimensions.host, instruction, err);
}

static int build_memory(struct ids_sink *sink, const struct ids_program_memory_info *memory, struct ids_error *err) {
    struct ids_builder *builder = of(sink);
    return ids_program_memory_add(builder->trace, builder->dimensions.host, memory) ? ids_no_memory(err) : 0;
}

static int build_held(struct ids_sink *sink, const struct ids_held_info *held, struct ids_error *err) {
    return ids_held_add(of(sink)->trace, held) ? ids_no_memory(err) : 0;
}

static int build_diag(struct ids_sink *sink, const struct ids_diag *diag, struct ids_error *err) {
    struct ids_trace *trace = of(sink)->trace;
    struct ids_trace_diag *kept = IDS_PUSH(trace->diags, trace->diag_count, trace->diag_room);
    if (!kept) return ids_no_memory(err);
    *kept = (struct ids_trace_diag){
        .severity = (uint8_t)diag->severity,
        .id = ids_arena_copy(&trace->arena, diag->id, strlen(diag->id)),
        .text = ids_arena_copy(&trace->arena, diag->text, strlen(diag->text)),
        .offset = diag->offset,
        .count = diag->count,
        .host = of(sink)->dimensions.host,
    };
    if (kept->id && kept->text) return 0;
    trace->diag_count--;
    return ids_no_memory(err);
}

/* --- life ------------------------------------------------------------------------------------------------------- */

int ids_builder_new(struct ids_builder **ret_builder, struct ids_error *err) {
    static const struct ids_sink_ops ops = {
        .host = build_host,
        .plane = build_plane,
        .name = build_name,
        .track = ids_build_track,
        .slice = ids_build_slice,
        .track_end = ids_build_track_end,
        .hlo = build_hlo,
        .memory = build_memory,
        .held = build_held,
        .diag = build_diag,
    };
    struct ids_builder *builder = calloc(1, sizeof *builder);
    if (!builder) return ids_no_memory(err);
    builder->trace = calloc(1, sizeof *builder->trace);
    if (!builder->trace || ids_keys_intern(&builder->trace->strings)) {
        ids_builder_free(builder);
        return ids_no_memory(err);
    }
    builder->trace->tracer_host = builder->trace->tracer_device = builder->trace->tracer_python = -1;
    builder->sink =
        (struct ids_sink){.ops = &ops, .strings = &builder->trace->strings, .complete = 1, .parts = &ids_builder_parts};
    builder->dimensions.trace = builder->calls.trace = builder->trace;
    builder->held = (struct ids_held_records){
        .most_bytes = UINT64_MAX, .until_ps = INT64_MAX, .first_ps = INT64_MAX, .last_ps = INT64_MIN};
    *ret_builder = builder;
    return 0;
}

struct ids_sink *ids_builder_sink(struct ids_builder *builder) {
    return &builder->sink;
}

void ids_builder_bound(struct ids_builder *builder, uint64_t most_bytes, int64_t until_ps) {
    builder->held.most_bytes = most_bytes;
    builder->held.until_ps = until_ps;
}

int ids_builder_overflowed(const struct ids_builder *builder, int64_t *ret_until_ps) {
    const struct ids_held_records *held = &builder->held;
    if (!held->overflowed) return 0;
    int64_t end_ps = held->last_ps < held->until_ps ? held->last_ps + 1 : held->until_ps;
    double share = 0.9 * (double)held->most_bytes / (double)ids_held_peak(held); /* events may be denser at first */
    *ret_until_ps = held->first_ps + (int64_t)((double)(end_ps - held->first_ps) * share);
    return 1;
}

/* What of the run is in the trace, where that is not all. */
static int say_bound(struct ids_builder *builder, struct ids_error *err) {
    const struct ids_held_records *held = &builder->held;
    double part = (double)held->until_ps - (double)held->first_ps, all = (double)held->last_ps - (double)held->first_ps;
    char text[256];
    if (!held->beyond) return 0;
    snprintf(text, sizeof text,
             "the first %.4g s of %.4g s of the run; the events behind them would take the report above %.0f "
             "MB of memory",
             part > 0 ? part / 1e12 : 0, all / 1e12, (double)held->most_bytes / 1e6);
    const struct ids_diag diag = {IDS_WARNING, "model.part", text, -1, held->beyond};
    return build_diag(&builder->sink, &diag, err);
}

static void sum_time_scales(struct ids_trace *trace) {
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_time_scale *of_track = &trace->tracks[t].time_scale;
        trace->time_scale.sum += of_track->sum;
        trace->time_scale.count += of_track->count;
        trace->time_scale.time_ps += of_track->time_ps;
        trace->time_scale.scaled_ps += of_track->scaled_ps;
    }
}

int ids_builder_finish(struct ids_builder *builder, struct ids_trace **ret_trace, struct ids_error *err) {
    int code = 0;
    while (!code && builder->open_count)
        code = ids_build_track_end(&builder->sink, builder->open[builder->open_count - 1].track, err);
    if (!code && builder->negative_durations) {
        struct ids_diag diag = {IDS_WARNING, "model.negative_duration",
                                "events with a negative duration were taken as moments", -1,
                                builder->negative_durations};
        code = build_diag(&builder->sink, &diag, err);
    }
    if (!code && builder->out_of_range) {
        struct ids_diag diag = {IDS_DAMAGE, "model.time_range",
                                "events more than 26 days from the start of the run were left out", -1,
                                builder->out_of_range};
        code = build_diag(&builder->sink, &diag, err);
    }
    ids_assembly_done(&builder->idle);
    sum_time_scales(builder->trace);
    ids_counters_order(builder->trace);
    if (!code) code = say_bound(builder, err);
    if (!code) code = ids_join_run(&builder->join, &builder->calls, builder->trace, err);
    if (!code && ids_allocations_finish(builder->trace)) code = ids_no_memory(err);
    if (!code) code = ids_clocks_align(builder->trace, err);
    if (code) return code;
    for (size_t d = 0; d < builder->trace->device_count; d++) {
        const struct ids_device *device = &builder->trace->devices[d];
        builder->trace->accelerated |= device->kind != IDS_DEVICE_CPU && device->activity.count;
    }
    builder->trace->complete = builder->sink.complete;
    *ret_trace = builder->trace;
    builder->trace = NULL;
    ids_builder_free(builder);
    return 0;
}

void ids_builder_free(struct ids_builder *builder) {
    if (!builder) return;
    ids_trace_free(builder->trace);
    ids_join_done(&builder->join);
    ids_keymap_done(&builder->counters.places);
    for (size_t i = 0; i < builder->open_count; i++) ids_assembly_done(&builder->open[i].assembly);
    ids_assembly_done(&builder->idle);
    free(builder->open);
    free(builder->place_of_track);
    free(builder->planes);
    ids_idmap_done(&builder->host_names);
    ids_dimensions_done(&builder->dimensions);
    free(builder->asked.at);
    ids_calls_done(&builder->calls);
    free(builder);
}
