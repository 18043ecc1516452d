/* builder_planes.c - the builder's hosts, planes, names and tracks. */
#include "lib/base/saturate.h"
#include "lib/base/vec.h"
#include "lib/model/account.h"
#include "lib/model/allocations.h"
#include "lib/model/builder_parts.h"
#include "lib/model/classify.h"
#include "lib/model/clocks.h"
#include "lib/model/hardware.h"
#include "lib/model/keys.h"
#include "lib/model/matrix_units.h"
#include "lib/model/tracer_options.h"

#include <stdio.h>
#include <string.h>

static struct ids_builder *of(struct ids_sink *sink) {
    return (struct ids_builder *)sink;
}

static struct ids_text text_of(const struct ids_trace *trace, uint32_t text) {
    return ids_strings_text(&trace->strings, text);
}

int ids_build_host(struct ids_sink *sink, const struct ids_host_info *info, struct ids_error *err) {
    struct ids_builder *builder = of(sink);
    struct ids_trace *trace = builder->trace;
    int code = ids_builder_end_host(builder, err); /* of the one before nothing more comes */
    if (code) return code;
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
    struct ids_host *host = IDS_PUSH(trace->hosts, trace->host_count, trace->host_room);
    if (!host) return ids_no_memory(err);
    *host = (struct ids_host){.name = name,
                              .told = info->name,
                              .start_unix_ns = info->start_unix_ns,
                              .ranks = info->ranks,
                              .first_device = trace->device_count,
                              .first_track = trace->track_count};
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
    case IDS_KEY_PROFILE_START_TIME:
        if (trace->host_count) trace->hosts[trace->host_count - 1].opened_unix_ns = ids_arg_int(trace, arg, 0);
        break;
    case IDS_KEY_PROFILE_STOP_TIME:
        if (trace->host_count) trace->hosts[trace->host_count - 1].closed_unix_ns = ids_arg_int(trace, arg, 0);
        break;
    case IDS_KEY_PROFILE_OPTIONS:
        if (arg->type == IDS_VALUE_BYTES) ids_tracer_options_read(arg->chars, arg->length, trace);
        break;
    default:
        break;
    }
    return 0;
}

static int read_sampling_arg(struct ids_trace *trace, const struct ids_arg *arg, struct ids_sampling *sampling) {
    int64_t number = ids_arg_int(trace, arg, 0), time_ps = ids_sat_mul(number, 1000), count = number > 0 ? number : 0;
    switch (arg->key) {
    case IDS_KEY_SAMPLING_PERIOD:
        sampling->period_ps = time_ps;
        break;
    case IDS_KEY_TELLS_WAKES:
        sampling->tells_wakes = ids_arg_int(trace, arg, 0);
        break;
    case IDS_KEY_DENSE_PERIOD:
        sampling->dense_period_ps = time_ps;
        break;
    case IDS_KEY_DENSE_TIME:
        sampling->dense_ps = time_ps;
        break;
    case IDS_KEY_RUNNING_STEP:
        sampling->running_step = number;
        break;
    case IDS_KEY_OTHERS_RAN:
        sampling->others_ran_ps = count ? time_ps : 0;
        break;
    case IDS_KEY_OTHERS_WAITED:
        sampling->others_waited_ps = count ? time_ps : 0;
        break;
    case IDS_KEY_SLOW_STEP:
        sampling->slow_step = number;
        break;
    case IDS_KEY_NEXT_STEP_AGO:
        if (number >= 0) sampling->next_step_ago_ps = time_ps;
        break;
    case IDS_KEY_CORES:
        sampling->cores = count;
        break;
    case IDS_KEY_OWN_CORES:
        sampling->own_cores = count;
        break;
    case IDS_KEY_STARTED_CORES:
        sampling->started_cores = count;
        break;
    case IDS_KEY_OTHERS_CORES:
        sampling->others_cores = count;
        break;
    case IDS_KEY_STARTED_PROCESSES:
        sampling->started_processes = count;
        break;
    case IDS_KEY_STARTED_COMMAND:
        return (sampling->started_command = ids_arg_text(trace, arg)) == IDS_NO_TEXT ? -1 : 0;
    case IDS_KEY_OTHERS_COMMAND:
        return (sampling->others_command = ids_arg_text(trace, arg)) == IDS_NO_TEXT ? -1 : 0;
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
        if (read_sampling_arg(trace, &info->args[i], sampling)) return -1;
    }
    *ret_sampling = (uint32_t)trace->sampling_count;
    return 0;
}

int ids_build_plane(struct ids_sink *sink, const struct ids_plane_info *info, uint32_t *ret_plane,
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

int ids_build_name(struct ids_sink *sink, const struct ids_name_info *info, uint32_t *ret_name, struct ids_error *err) {
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

/* A long line gets room for its events at once, of which about half become records; not where memory is short, for room
 * counts in limits of the system. */
static void expect(const struct ids_builder *builder, uint64_t bytes, struct ids_assembly *assembly,
                   struct ids_events *records) {
    enum { BYTES_OF_AN_EVENT = 40, EVENTS_LEAST = 1 << 14, SHARE = 8 };
    const size_t events = (size_t)(bytes / BYTES_OF_AN_EVENT);
    const uint64_t room = events * sizeof *assembly->at + events / 2 * sizeof *records->at;
    const uint64_t most_bytes = builder->held.lender ? builder->held.lender->most_bytes : builder->held.most_bytes;
    if (events < EVENTS_LEAST || room > most_bytes / SHARE) return;
    assembly->at = ids_vec_expect(assembly->at, &assembly->room, events, sizeof *assembly->at);
    records->at = ids_vec_expect(records->at, &records->room, events / 2, sizeof *records->at);
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
    track->events = open->assembly.records;
    open->assembly.records = (struct ids_events){0};
    expect(builder, info->bytes, &open->assembly, &track->events);
    return 0;
}
