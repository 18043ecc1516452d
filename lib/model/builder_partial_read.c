/* builder_partial_read.c - the bytes of a partial as a builder, in the order in which builder_partial_write.c writes
 * them. Everything in them is held against what it may be: a partial may come from anywhere. */
#include "lib/base/vec.h"
#include "lib/model/allocations.h"
#include "lib/model/builder_partial.h"
#include "lib/model/hardware.h"
#include "lib/model/held.h"
#include "lib/model/keys.h"
#include "lib/model/programs.h"
#include "lib/model/stacks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int damaged(struct ids_error *err) {
    return ids_fail(err, IDS_CORRUPT, "a damaged partial");
}

int ids_partial_look(const void *bytes, size_t length, struct ids_partial_head *ret_head) {
    static const char magic[] = IDS_PARTIAL_MAGIC;
    enum { MAGIC = sizeof magic - 1, LAYOUT = 16 };
    *ret_head = (struct ids_partial_head){0};
    if (length < MAGIC || memcmp(bytes, magic, MAGIC) != 0) return 0;
    char line[IDS_PARTIAL_PATH_ROOM + 128];
    if (length > sizeof line - 1) length = sizeof line - 1;
    memcpy(line, bytes, length);
    line[length] = '\0';
    uint64_t layout = 0;
    size_t path = 0;
    int at = 0;
    if (sscanf(line + MAGIC, "%16" SCNx64 " %d\n%zu%n", &layout, &ret_head->is_beside, &path, &at) < 3) return 1;
    ret_head->is_current = layout == ids_partial_layout();
    at += MAGIC + 1;
    if ((size_t)at > length) return 1;
    if (path > length - (size_t)at) path = length - (size_t)at;
    if (path >= sizeof ret_head->path) path = sizeof ret_head->path - 1;
    memcpy(ret_head->path, line + at, path);
    return 1;
}

/* ---- pieces ---- */

static int get_bytes(struct ids_partial_reader *reader, uint64_t length, const char **ret_at, struct ids_error *err) {
    if (length > (uint64_t)(reader->end - reader->at)) return damaged(err);
    *ret_at = (const char *)reader->at;
    reader->at += length;
    return 0;
}

static int get_chars(struct ids_partial_reader *reader, struct ids_arena *arena, const char **ret_text,
                     struct ids_error *err) {
    uint64_t length;
    const char *at = NULL;
    int code = ids_partial_get_number(reader, &length, err);
    if (!code) code = get_bytes(reader, length, &at, err);
    if (code) return code;
    *ret_text = ids_arena_copy(arena, at, (size_t)length);
    return *ret_text ? 0 : ids_no_memory(err);
}

/* Zeroed, for `count` rows; never NULL. */
static void *room_for(struct ids_partial_reader *reader, uint64_t count, size_t bytes, int *ret_code,
                      struct ids_error *err) {
    *ret_code = ids_partial_take_rows(reader, count, err);
    if (*ret_code) return NULL;
    void *rows = calloc((size_t)count + 1, bytes);
    if (!rows) *ret_code = ids_no_memory(err);
    return rows;
}

/* An array of rows into array, count and room of a structure. */
#define GET(id, array, count_, room_)                                                                              \
    do {                                                                                                           \
        if (!code) {                                                                                               \
            (array) = room_for(reader, counted, sizeof *(array), &code, err);                                      \
            if (!code) {                                                                                           \
                (count_) = (room_) = (size_t)counted;                                                              \
                code = ids_partial_get(reader, &ids_partial_##id, (array), sizeof *(array), (size_t)counted, err); \
            }                                                                                                      \
        }                                                                                                          \
    } while (0)
#define GET_ALL(id, array, count, room)                                  \
    do {                                                                 \
        uint64_t counted = 0;                                            \
        if (!code) code = ids_partial_get_number(reader, &counted, err); \
        GET(id, array, count, room);                                     \
    } while (0)
/* Of those whose number was read before. */
#define GET_KNOWN(id, KIND, array, count, room)                  \
    do {                                                         \
        uint64_t counted = reader->count_of[IDS_PARTIAL_##KIND]; \
        GET(id, array, count, room);                             \
    } while (0)

static int get_texts(struct ids_partial_reader *reader, struct ids_strings *strings, struct ids_error *err) {
    uint64_t count;
    int code = ids_partial_get_number(reader, &count, err);
    if (!code) code = ids_partial_take_rows(reader, count, err);
    if (code) return code;
    struct ids_partial_reader lengths = *reader;
    uint64_t length;
    for (uint64_t i = 0; i < count && !code; i++) code = ids_partial_get_number(reader, &length, err);
    for (uint64_t i = 0; i < count && !code; i++) {
        const char *at = NULL;
        code = ids_partial_get_number(&lengths, &length, err);
        if (!code) code = get_bytes(reader, length, &at, err);
        if (code) break;
        uint32_t number = ids_intern(strings, at, (size_t)length);
        if (number == IDS_NO_TEXT) return ids_no_memory(err);
        if (number != i) return damaged(err); /* the keys come first, and each text is there once */
    }
    reader->count_of[IDS_PARTIAL_TEXT] = count;
    return code;
}

static int get_counts(struct ids_partial_reader *reader, struct ids_error *err) {
    static const enum ids_partial_kind kinds[] = {
        IDS_PARTIAL_HOST,  IDS_PARTIAL_DEVICE, IDS_PARTIAL_TRACK,     IDS_PARTIAL_NAME,   IDS_PARTIAL_MODULE,
        IDS_PARTIAL_OP,    IDS_PARTIAL_SHAPE,  IDS_PARTIAL_CALL,      IDS_PARTIAL_COST,   IDS_PARTIAL_SAMPLING,
        IDS_PARTIAL_STACK, IDS_PARTIAL_DOING,  IDS_PARTIAL_ALLOCATOR, IDS_PARTIAL_FORWARD};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        uint64_t *count = &reader->count_of[kinds[i]];
        if (ids_partial_get_number(reader, count, err) || *count >= IDS_NONE / 2) return damaged(err);
    }
    return 0;
}

static int get_sums(struct ids_partial_reader *reader, struct ids_partial_sums *sums, struct ids_error *err) {
    int code = ids_partial_get(reader, &ids_partial_sums, sums, sizeof *sums, 1, err);
    if (code) return code;
    enum { PLANES_MOST = 1 << 22 };
    reader->count_of[IDS_PARTIAL_PLANE] = sums->plane_count;
    return sums->plane_count > PLANES_MOST ? damaged(err) : 0;
}

/* ---- in the order of the file ---- */

static int get_devices(struct ids_partial_reader *reader, struct ids_trace *trace, struct ids_error *err) {
    int code = 0;
    GET_KNOWN(device, DEVICE, trace->devices, trace->device_count, trace->device_room);
    for (size_t d = 0; d < trace->device_count && !code; d++) {
        struct ids_device *device = &trace->devices[d];
        code = get_chars(reader, &trace->arena, &device->key, err);
        if (!code) code = get_chars(reader, &trace->arena, &device->label, err);
        if (device->kind != IDS_DEVICE_CPU) ids_hardware_find(trace, device);
    }
    return code;
}

static int get_dimensions(struct ids_partial_reader *reader, struct ids_builder *builder, struct ids_error *err) {
    struct ids_trace *trace = builder->trace;
    struct ids_dimensions *dimensions = &builder->dimensions;
    size_t keys = 0; /* as many as shapes */
    int code = 0;
    GET_KNOWN(host, HOST, trace->hosts, trace->host_count, trace->host_room);
    if (!code) code = get_devices(reader, trace, err);
    GET_KNOWN(module, MODULE, trace->modules, trace->module_count, trace->module_room);
    GET_KNOWN(op, OP, trace->ops, trace->op_count, trace->op_room);
    GET_KNOWN(call_cost, COST, trace->call_costs, trace->call_cost_count, trace->call_cost_room);
    GET_KNOWN(call, CALL, trace->calls, trace->call_count, trace->call_room);
    GET_KNOWN(shape, SHAPE, trace->shapes, trace->shape_count, trace->shape_room);
    GET_KNOWN(shape_key, SHAPE, dimensions->shape_keys, keys, dimensions->shape_key_room);
    GET_KNOWN(name, NAME, trace->names, trace->name_count, trace->name_room);
    GET_KNOWN(doing, DOING, trace->doings, trace->doing_count, trace->doing_room);
    GET_KNOWN(sampling, SAMPLING, trace->samplings, trace->sampling_count, trace->sampling_room);
    (void)keys;
    return code;
}

static int get_events(struct ids_partial_reader *reader, const struct ids_partial_rows *rows, struct ids_events *events,
                      struct ids_error *err) {
    const size_t counted = events->count;
    int code;
    events->count = 0;
    if (!counted) return 0;
    events->at = room_for(reader, counted, sizeof *events->at, &code, err);
    if (code) return code;
    events->count = events->room = counted;
    return ids_partial_get(reader, rows, events->at, sizeof *events->at, counted, err);
}

static int get_timeline(struct ids_partial_reader *reader, struct ids_timeline *timeline, struct ids_error *err) {
    const size_t counted = timeline->count;
    int code;
    timeline->count = 0;
    if (!counted) return 0;
    timeline->from_ps = room_for(reader, counted, sizeof *timeline->from_ps, &code, err);
    timeline->doing = code ? NULL : calloc(counted, sizeof *timeline->doing);
    if (!timeline->doing) return code ? code : ids_no_memory(err);
    timeline->count = timeline->room = counted;
    uint64_t value, last = 0, unit = 0;
    code = ids_partial_get_number(reader, &last, err);
    if (!code) code = ids_partial_get_number(reader, &unit, err);
    for (size_t i = 0; i < counted && !code; i++) {
        if (i) code = ids_partial_get_number(reader, &value, err);
        if (i && !code) last += value * unit;
        timeline->from_ps[i] = (int64_t)last;
        if (!code && (!ids_partial_is_time((int64_t)last) || (i && timeline->from_ps[i] <= timeline->from_ps[i - 1])))
            return damaged(err);
    }
    for (size_t i = 0; i < counted && !code; i++) {
        code = ids_partial_get_number(reader, &value, err);
        if (!code && value >= reader->count_of[IDS_PARTIAL_DOING]) return damaged(err);
        timeline->doing[i] = (uint32_t)value;
    }
    return code;
}

/* Lists whose number of elements stands in a row are empty until they are read, so that they can be freed. */
static int get_tracks(struct ids_partial_reader *reader, struct ids_trace *trace, struct ids_error *err) {
    int code = 0;
    GET_KNOWN(track, TRACK, trace->tracks, trace->track_count, trace->track_room);
    if (!code && trace->track_count)
        code = ids_partial_get(reader, &ids_partial_time_scale, &trace->tracks->time_scale, sizeof *trace->tracks,
                               trace->track_count, err);
    for (size_t t = 0; t < trace->track_count && !code; t++) {
        code = get_events(reader, &ids_partial_thread_event, &trace->tracks[t].events, err);
        for (size_t i = 0; i < trace->tracks[t].events.count && !code; i++)
            if (trace->tracks[t].events.at[i].track != t) return damaged(err);
        if (!code) code = get_timeline(reader, &trace->tracks[t].timeline, err);
    }
    for (size_t d = 0; d < trace->device_count && !code; d++) {
        struct ids_device *device = &trace->devices[d];
        struct ids_events *const lists[] = {&device->activity, &device->async, &device->waits, &device->modules,
                                            &device->steps};
        for (size_t l = 0; l < sizeof lists / sizeof *lists && !code; l++) {
            code = get_events(reader, &ids_partial_device_event, lists[l], err);
            for (size_t i = 0; i < lists[l]->count && !code; i++)
                if (lists[l]->at[i].device != d) return damaged(err);
        }
    }
    return code;
}

static int get_counters(struct ids_partial_reader *reader, struct ids_builder *builder, struct ids_error *err) {
    struct ids_trace *trace = builder->trace;
    struct ids_counter_map *map = &builder->counters;
    int code = 0;
    size_t all = 0;
    GET_ALL(counter, trace->counters, trace->counter_count, trace->counter_room);
    for (size_t c = 0; c < trace->counter_count && !code; c++) {
        struct ids_counter *counter = &trace->counters[c];
        uint64_t counted = counter->sample_count;
        counter->sample_count = 0;
        GET(counter_sample, counter->samples, counter->sample_count, counter->sample_room);
        all += counter->sample_count;
    }
    for (size_t i = 0; i < all && !code; i++) {
        uint64_t of;
        code = ids_partial_get_number(reader, &of, err);
        if (!code && of >= trace->counter_count) return damaged(err);
        uint32_t *order = code ? NULL : IDS_PUSH(map->order, map->order_count, map->order_room);
        if (!code && !order) return ids_no_memory(err);
        if (order) *order = (uint32_t)of;
    }
    return code;
}

static int get_lists(struct ids_partial_reader *reader, struct ids_builder *builder, struct ids_error *err) {
    struct ids_trace *trace = builder->trace;
    int code = 0;
    GET_ALL(aggregate, trace->aggregates, trace->aggregate_count, trace->aggregate_room);
    GET_ALL(stack_sample, trace->samples, trace->sample_count, trace->sample_room);
    GET_KNOWN(stack, STACK, trace->stacks, trace->stack_count, trace->stack_room);
    for (size_t i = 0; i < trace->stack_count && !code; i++)
        if (trace->stacks[i].outside > i) return damaged(err);
    if (!code) code = get_counters(reader, builder, err);
    GET_KNOWN(allocator, ALLOCATOR, trace->allocators, trace->allocator_count, trace->allocator_room);
    GET_ALL(allocation, trace->allocations, trace->allocation_count, trace->allocation_room);
    GET_ALL(diag, trace->diags, trace->diag_count, trace->diag_room);
    for (size_t i = 0; i < trace->diag_count && !code; i++) {
        code = get_chars(reader, &trace->arena, &trace->diags[i].id, err);
        if (!code) code = get_chars(reader, &trace->arena, &trace->diags[i].text, err);
    }
    return code;
}

static int get_programs(struct ids_partial_reader *reader, struct ids_builder *builder, struct ids_error *err) {
    struct ids_trace *trace = builder->trace;
    struct ids_join *join = &builder->join;
    int code = 0;
    GET_ALL(held, trace->held, trace->held_count, trace->held_room);
    if (!code && trace->held_count)
        code = ids_partial_get(reader, &ids_partial_held_info, &trace->held->info, sizeof *trace->held,
                               trace->held_count, err);
    GET_ALL(held_frame, trace->held_frames, trace->held_frame_count, trace->held_frame_room);
    GET_ALL(program, trace->programs, trace->program_count, trace->program_room);
    if (!code && trace->program_count)
        code = ids_partial_get(reader, &ids_partial_program_info, &trace->programs->info, sizeof *trace->programs,
                               trace->program_count, err);
    GET_ALL(program_value, trace->program_values, trace->program_value_count, trace->program_value_room);
    GET_ALL(kept_argument, trace->kept_arguments, trace->kept_argument_count, trace->kept_argument_room);
    GET_ALL(instruction, join->hlo, join->hlo_count, join->hlo_room);
    if (!code) join->hlo_hosts = calloc(join->hlo_count + 1, sizeof *join->hlo_hosts);
    if (!code && !join->hlo_hosts) return ids_no_memory(err);
    for (size_t i = 0; i < join->hlo_count && !code; i++) {
        uint64_t host;
        code = ids_partial_get_number(reader, &host, err);
        if (!code && host >= trace->host_count) return damaged(err);
        join->hlo_hosts[i] = (uint32_t)host;
    }
    return code;
}

static int get_map(struct ids_partial_reader *reader, const struct ids_partial_rows *rows, struct ids_keymap *map,
                   struct ids_error *err) {
    struct ids_keymap_slot *slots = NULL;
    uint64_t count;
    int code = ids_partial_get_number(reader, &count, err);
    if (!code) slots = room_for(reader, count, sizeof *slots, &code, err);
    if (!code) code = ids_partial_get(reader, rows, slots, sizeof *slots, (size_t)count, err);
    for (uint64_t i = 0; i < count && !code; i++)
        if (ids_keymap_add(map, slots[i].key, slots[i].value) < 0) code = ids_no_memory(err);
    free(slots);
    return code;
}

static int get_links(struct ids_partial_reader *reader, struct ids_builder *builder, struct ids_error *err) {
    struct ids_calls *calls = &builder->calls;
    int code = 0;
    GET_KNOWN(forward, FORWARD, calls->forwards, calls->forward_count, calls->forward_room);
    if (!code) code = get_map(reader, &ids_partial_forward_of, &calls->forward_map, err);
    if (!code) code = get_map(reader, &ids_partial_call_of, &calls->external, err);
    if (!code) code = get_map(reader, &ids_partial_moment_of, &builder->join.op_ends, err);
    return code ? code : get_map(reader, &ids_partial_moment_of, &builder->join.op_goes_on, err);
}

/* Behind the lines of text. */
static int find_rows(const uint8_t *bytes, size_t length, const uint8_t **ret_rows, struct ids_error *err) {
    const uint8_t *line = memchr(bytes, '\n', length);
    const uint8_t *end = bytes + length, *at = line ? line + 1 : end;
    size_t path = 0;
    for (; at < end && *at >= '0' && *at <= '9' && path < length; at++) path = path * 10 + (size_t)(*at - '0');
    if (at == end || *at != ' ' || path > (size_t)(end - at) - 1) return damaged(err);
    at += 1 + path;
    if (at == end || *at != '\n') return damaged(err);
    *ret_rows = at + 1;
    return 0;
}

int ids_partial_read(const void *bytes, size_t length, struct ids_partial *ret_partial, struct ids_error *err) {
    struct ids_partial_reader all = {.end = (const uint8_t *)bytes + length,
                                     .rows_left = (uint64_t)length * IDS_PARTIAL_ROWS_A_BYTE + IDS_KEY_COUNT},
                              *reader = &all;
    int code = find_rows(bytes, length, &reader->at, err);
    if (!code) code = ids_builder_new(&ret_partial->file, err);
    if (code) return code;
    struct ids_builder *file = ret_partial->file;
    code = get_texts(reader, &file->trace->strings, err);
    if (!code) code = get_counts(reader, err);
    if (!code) code = get_sums(reader, &ret_partial->sums, err);
    if (!code) code = get_dimensions(reader, file, err);
    if (!code) code = get_tracks(reader, file->trace, err);
    if (!code) code = get_lists(reader, file, err);
    if (!code) code = get_programs(reader, file, err);
    if (!code) code = get_links(reader, file, err);
    if (code || reader->at == reader->end) return code;
    struct ids_partial_head unused;
    if (!ids_partial_look(reader->at, (size_t)(reader->end - reader->at), &unused)) return damaged(err);
    ids_fail(err, IDS_CORRUPT, "several partials in one file");
    return ids_hint(err, "give each as a file of its own");
}

int ids_partial_has_no_events(struct ids_error *err) {
    ids_fail(err, IDS_UNSUPPORTED, "a partial: it holds what reports need of a profile, and not its events");
    return ids_hint(err, "give the profile itself");
}

int ids_partial_open(const void *bytes, size_t length, struct ids_partial **ret_partial, struct ids_error *err) {
    struct ids_partial_head head;
    *ret_partial = NULL;
    if (!ids_partial_look(bytes, length, &head)) return damaged(err);
    if (!head.is_current) {
        ids_fail(err, IDS_UNSUPPORTED, "a partial of another version of idsprof");
        return ids_hint(err, "make it again of the profile: idsprof partial FILE -o PARTIAL");
    }
    struct ids_partial *partial = calloc(1, sizeof *partial);
    if (!partial) return ids_no_memory(err);
    int code = ids_partial_read(bytes, length, partial, err);
    if (code)
        ids_partial_free(partial);
    else
        *ret_partial = partial;
    return code;
}

void ids_partial_free(struct ids_partial *partial) {
    if (!partial) return;
    ids_builder_free(partial->file);
    free(partial);
}

int ids_partial_add(struct ids_builder *builder, struct ids_partial *partial, const char **ret_format,
                    struct ids_error *err) {
    int code = ids_partial_take(builder, partial, err);
    if (!code) *ret_format = ids_trace_text(builder->trace, partial->sums.format);
    ids_partial_free(partial);
    return code;
}

int ids_partial_load(struct ids_builder *builder, const void *bytes, size_t length, const char **ret_format,
                     struct ids_error *err) {
    struct ids_partial *partial = NULL;
    int code = ids_partial_open(bytes, length, &partial, err);
    return partial ? ids_partial_add(builder, partial, ret_format, err) : code;
}
