/* builder_partial_write.c - a builder's file as bytes, in the order in which builder_partial_read.c reads them. */
#include "lib/model/allocations.h"
#include "lib/model/builder_partial.h"
#include "lib/model/held.h"
#include "lib/model/programs.h"
#include "lib/model/stacks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PUT(id, array, count) ids_partial_put(to, &ids_partial_##id, array, sizeof *(array), count)
/* With the number of them in front. */
#define PUT_ALL(id, array, count)          \
    do {                                   \
        ids_partial_put_number(to, count); \
        PUT(id, array, count);             \
    } while (0)

static void put_chars(struct ids_buffer *to, const char *text, size_t length) {
    ids_partial_put_number(to, length);
    ids_buffer_put(to, text, length);
}

static void put_texts(struct ids_buffer *to, const struct ids_strings *strings) {
    const uint32_t count = strings->count;
    ids_partial_put_number(to, count);
    for (uint32_t i = 0; i < count; i++) ids_partial_put_number(to, ids_strings_text(strings, i).length);
    for (uint32_t i = 0; i < count; i++) {
        struct ids_text text = ids_strings_text(strings, i);
        ids_buffer_put(to, text.at, text.length);
    }
}

/* How many there are of what others name by number, so that these can be checked as they are read. */
static void put_counts(struct ids_buffer *to, const struct ids_builder *builder) {
    const struct ids_trace *trace = builder->trace;
    const size_t counts[] = {trace->host_count,      trace->device_count,         trace->track_count,
                             trace->name_count,      trace->module_count,         trace->op_count,
                             trace->shape_count,     trace->call_count,           trace->call_cost_count,
                             trace->sampling_count,  trace->stack_count,          trace->doing_count,
                             trace->allocator_count, builder->calls.forward_count};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) ids_partial_put_number(to, counts[i]);
}

int ids_partial_sum_up(struct ids_builder *builder, const struct ids_partial_of *of,
                       struct ids_partial_sums *ret_sums) {
    struct ids_trace *trace = builder->trace;
    const struct ids_held_records *held = &builder->held;
    *ret_sums = (struct ids_partial_sums){
        .stem = ids_intern_z(&trace->strings, of->stem),
        .format = ids_intern_z(&trace->strings, of->format),
        .file_bytes = of->bytes,
        .complete = builder->sink.complete != 0,
        .is_beside = of->is_beside != 0,
        .plane_count = builder->plane_count,
        .jax_version = trace->jax_version,
        .has_options = trace->tracer_host != -1 || trace->tracer_device != -1 || trace->tracer_python != -1,
        .tracer_host = trace->tracer_host,
        .tracer_device = trace->tracer_device,
        .tracer_python = trace->tracer_python,
        .event_count = trace->event_count,
        .stat_count = trace->stat_count,
        .counters_left_out = trace->counters_left_out,
        .negative_durations = builder->negative_durations,
        .out_of_range = builder->out_of_range,
        .held_bytes = held->bytes,
        .held_peak = ids_held_peak(held),
        .first_ps = held->first_ps,
        .last_ps = held->last_ps,
    };
    return ret_sums->stem == IDS_NO_TEXT || ret_sums->format == IDS_NO_TEXT ? -1 : 0;
}

/* What stands in a device's key behind the name of its host, which may be another one in a run of several files. */
const char *ids_partial_device_key(const struct ids_trace *trace, const struct ids_device *device) {
    size_t length = strlen(ids_trace_text(trace, trace->hosts[device->host].name));
    enum { HOST_MOST = 200 }; /* ids_device_add */
    return device->key + (length < HOST_MOST ? length : HOST_MOST) + 1;
}

static void put_dimensions(struct ids_buffer *to, const struct ids_builder *builder) {
    const struct ids_trace *trace = builder->trace;
    PUT(host, trace->hosts, trace->host_count);
    PUT(device, trace->devices, trace->device_count);
    for (size_t d = 0; d < trace->device_count; d++) {
        const struct ids_device *device = &trace->devices[d];
        const char *key = ids_partial_device_key(trace, device);
        put_chars(to, key, strlen(key));
        put_chars(to, device->label, strlen(device->label));
    }
    PUT(module, trace->modules, trace->module_count);
    PUT(op, trace->ops, trace->op_count);
    PUT(call_cost, trace->call_costs, trace->call_cost_count);
    PUT(call, trace->calls, trace->call_count);
    PUT(shape, trace->shapes, trace->shape_count);
    PUT(shape_key, builder->dimensions.shape_keys, trace->shape_count);
    PUT(name, trace->names, trace->name_count);
    PUT(doing, trace->doings, trace->doing_count);
    PUT(sampling, trace->samplings, trace->sampling_count);
}

/* The first moment, the largest unit in which all others follow the one before, and how many of it each does. */
static void put_timeline(struct ids_buffer *to, const struct ids_timeline *timeline) {
    const int64_t *from_ps = timeline->from_ps;
    uint64_t unit = 0;
    if (!timeline->count) return;
    for (size_t i = 1; i < timeline->count && unit != 1; i++) {
        uint64_t later_ps = (uint64_t)from_ps[i] - (uint64_t)from_ps[i - 1];
        if (!unit || later_ps % unit) unit = ids_partial_divisor(later_ps, unit);
    }
    ids_partial_put_number(to, (uint64_t)from_ps[0]);
    ids_partial_put_number(to, unit);
    for (size_t i = 1; i < timeline->count; i++)
        ids_partial_put_number(to, ((uint64_t)from_ps[i] - (uint64_t)from_ps[i - 1]) / unit);
    for (size_t i = 0; i < timeline->count; i++) ids_partial_put_number(to, timeline->doing[i]);
}

static void put_tracks(struct ids_buffer *to, const struct ids_trace *trace) {
    PUT(track, trace->tracks, trace->track_count);
    if (trace->track_count)
        ids_partial_put(to, &ids_partial_time_scale, &trace->tracks->time_scale, sizeof *trace->tracks,
                        trace->track_count);
    for (size_t t = 0; t < trace->track_count; t++) {
        PUT(thread_event, trace->tracks[t].events.at, trace->tracks[t].events.count);
        put_timeline(to, &trace->tracks[t].timeline);
    }
    for (size_t d = 0; d < trace->device_count; d++) {
        const struct ids_device *device = &trace->devices[d];
        const struct ids_events *const lists[] = {&device->activity, &device->async, &device->waits, &device->modules,
                                                  &device->steps};
        for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) PUT(device_event, lists[l]->at, lists[l]->count);
    }
}

static void put_lists(struct ids_buffer *to, const struct ids_builder *builder) {
    const struct ids_trace *trace = builder->trace;
    PUT_ALL(aggregate, trace->aggregates, trace->aggregate_count);
    PUT_ALL(stack_sample, trace->samples, trace->sample_count);
    PUT(stack, trace->stacks, trace->stack_count);
    PUT_ALL(counter, trace->counters, trace->counter_count);
    for (size_t c = 0; c < trace->counter_count; c++)
        PUT(counter_sample, trace->counters[c].samples, trace->counters[c].sample_count);
    for (size_t i = 0; i < builder->counters.order_count; i++) ids_partial_put_number(to, builder->counters.order[i]);
    PUT(allocator, trace->allocators, trace->allocator_count);
    PUT_ALL(allocation, trace->allocations, trace->allocation_count);
    PUT_ALL(diag, trace->diags, trace->diag_count);
    for (size_t i = 0; i < trace->diag_count; i++) {
        put_chars(to, trace->diags[i].id, strlen(trace->diags[i].id));
        put_chars(to, trace->diags[i].text, strlen(trace->diags[i].text));
    }
}

static void put_programs(struct ids_buffer *to, const struct ids_builder *builder) {
    const struct ids_trace *trace = builder->trace;
    PUT_ALL(held, trace->held, trace->held_count);
    if (trace->held_count)
        ids_partial_put(to, &ids_partial_held_info, &trace->held->info, sizeof *trace->held, trace->held_count);
    PUT_ALL(held_frame, trace->held_frames, trace->held_frame_count);
    PUT_ALL(program, trace->programs, trace->program_count);
    if (trace->program_count)
        ids_partial_put(to, &ids_partial_program_info, &trace->programs->info, sizeof *trace->programs,
                        trace->program_count);
    PUT_ALL(program_value, trace->program_values, trace->program_value_count);
    PUT_ALL(kept_argument, trace->kept_arguments, trace->kept_argument_count);
    PUT_ALL(instruction, builder->join.hlo, builder->join.hlo_count);
    for (size_t i = 0; i < builder->join.hlo_count; i++) ids_partial_put_number(to, builder->join.hlo_hosts[i]);
}

static int by_key(const void *a, const void *b) {
    const struct ids_keymap_slot *left = a, *right = b;
    return (left->key > right->key) - (left->key < right->key);
}

static int put_map(struct ids_buffer *to, const struct ids_partial_rows *rows, const struct ids_keymap *map) {
    struct ids_keymap_slot *slots = calloc(map->count + 1, sizeof *slots);
    size_t count = 0;
    if (!slots) return -1;
    for (size_t i = 0; i < map->room; i++)
        if (map->slots[i].key) slots[count++] = map->slots[i];
    qsort(slots, count, sizeof *slots, by_key);
    ids_partial_put_number(to, count);
    ids_partial_put(to, rows, slots, sizeof *slots, count);
    free(slots);
    return 0;
}

static int put_links(struct ids_buffer *to, const struct ids_builder *builder) {
    const struct ids_calls *calls = &builder->calls;
    PUT(forward, calls->forwards, calls->forward_count);
    return put_map(to, &ids_partial_forward_of, &calls->forward_map) ||
                   put_map(to, &ids_partial_call_of, &calls->external) ||
                   put_map(to, &ids_partial_moment_of, &builder->join.op_ends) ||
                   put_map(to, &ids_partial_moment_of, &builder->join.op_goes_on)
               ? -1
               : 0;
}

/* Rows whose columns all have one value take no room; a reader holds the number of rows against the length. */
static void pad(struct ids_buffer *to, const struct ids_builder *builder, size_t from) {
    enum { ROWS_A_BYTE = IDS_PARTIAL_ROWS_A_BYTE };
    const struct ids_trace *trace = builder->trace;
    size_t rows = trace->op_count + trace->name_count + trace->track_count + trace->device_count +
                  trace->aggregate_count + trace->sample_count + trace->stack_count + trace->shape_count +
                  trace->call_count + trace->call_cost_count + trace->doing_count + trace->module_count;
    for (size_t t = 0; t < trace->track_count; t++)
        rows += trace->tracks[t].events.count + trace->tracks[t].timeline.count;
    for (; to->length - from < rows / ROWS_A_BYTE && !to->failed;) ids_buffer_byte(to, 0);
}

static void put_head(struct ids_buffer *to, const struct ids_partial_of *of) {
    char line[IDS_PARTIAL_PATH_ROOM + 128];
    size_t length = strlen(of->path);
    const char *path = length < IDS_PARTIAL_PATH_ROOM ? of->path : of->path + length - IDS_PARTIAL_PATH_ROOM + 1;
    int written = snprintf(line, sizeof line, IDS_PARTIAL_MAGIC "%016" PRIx64 " %d\n%zu %s\n", ids_partial_layout(),
                           of->is_beside, strlen(path), path);
    ids_buffer_put(to, line, (size_t)written);
}

int ids_partial_end(struct ids_builder *builder, struct ids_error *err) {
    int code = 0;
    while (!code && builder->open_count)
        code = ids_build_track_end(&builder->sink, builder->open[builder->open_count - 1].track, err);
    return code ? code : ids_device_pieces_join(&builder->pieces, builder->trace, err);
}

int ids_partial_write(struct ids_builder *builder, const struct ids_partial_of *of, struct ids_buffer *to,
                      struct ids_error *err) {
    size_t from = to->length;
    int code = ids_partial_end(builder, err);
    if (code) return code;
    if (builder->held.overflowed || builder->held.beyond)
        return ids_fail(err, IDS_LIMIT, "the file does not fit into the memory that the process may use");
    put_head(to, of);
    struct ids_partial_sums sums;
    if (ids_partial_sum_up(builder, of, &sums)) return ids_no_memory(err);
    put_texts(to, &builder->trace->strings);
    put_counts(to, builder);
    PUT(sums, &sums, 1);
    put_dimensions(to, builder);
    put_tracks(to, builder->trace);
    put_lists(to, builder);
    put_programs(to, builder);
    if (put_links(to, builder)) return ids_no_memory(err);
    pad(to, builder, from);
    return to->failed ? ids_no_memory(err) : 0;
}
