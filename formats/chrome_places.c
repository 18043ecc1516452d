#include "formats/chrome_places.h"

#include "lib/base/vec.h"
#include "lib/model/classify.h"
#include "lib/model/keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The largest hosts have some thousand threads; what claims more than this is damage. */
enum { PLACES_LIMIT = 100000, TEXT_BYTES = 256 };

/* What kinds of keys the maps hold. */
enum { KEY_NUMBER = 1, KEY_TEXT, KEY_TIMELINE };

void ids_chrome_places_done(struct ids_chrome_places *places) {
    for (size_t i = 0; i < places->process_count; i++) ids_idmap_done(&places->processes[i].names);
    free(places->processes);
    free(places->threads);
    free(places->devices);
    for (size_t i = 0; i < places->stats_count; i++) free(places->stats[i].args);
    free(places->stats);
    ids_keymap_done(&places->stats_of);
    ids_keymap_done(&places->device_map);
    ids_keymap_done(&places->process_map);
    ids_keymap_done(&places->thread_map);
    *places = (struct ids_chrome_places){0};
}

static uint32_t intern(struct ids_chrome_places *places, struct ids_text text) {
    return ids_intern(places->sink->strings, text.at, text.length);
}

/* A pid or tid: *ret_number where it is one, else *ret_text; a missing one is 0. Returns its key, 0 when memory ran
 * out. */
static uint64_t id_key(struct ids_chrome_places *places, struct ids_chrome_scratch *scratch,
                       const struct ids_json_span *id, int *ret_is_number, int64_t *ret_number, uint32_t *ret_text) {
    *ret_is_number = 1;
    *ret_number = 0;
    *ret_text = 0;
    if (id->type == IDS_JSON_NONE || id->type == IDS_JSON_NULL || ids_chrome_integer(id, ret_number))
        return ids_key_of((uint64_t)*ret_number, KEY_NUMBER);
    *ret_is_number = 0;
    *ret_text = intern(places, ids_chrome_text(scratch, id));
    return *ret_text == IDS_NO_TEXT ? 0 : ids_key_of(*ret_text, KEY_TEXT);
}

int ids_chrome_process_of(struct ids_chrome_places *places, struct ids_chrome_scratch *scratch,
                          const struct ids_json_span *pid, uint32_t *ret_process, struct ids_error *err) {
    struct ids_chrome_process process = {0};
    int is_number;
    process.key = id_key(places, scratch, pid, &is_number, &process.number, &process.text);
    process.is_number = (uint8_t)is_number;
    uint64_t there;
    if (!process.key) return ids_no_memory(err);
    if (ids_keymap_get(&places->process_map, process.key, &there)) {
        *ret_process = (uint32_t)there;
        return 0;
    }
    if (places->process_count == PLACES_LIMIT) return ids_fail(err, IDS_LIMIT, "more than %d processes", PLACES_LIMIT);
    *ret_process = (uint32_t)places->process_count;
    struct ids_chrome_process *added = IDS_PUSH(places->processes, places->process_count, places->process_room);
    if (!added || ids_keymap_add(&places->process_map, process.key, *ret_process) < 0) return ids_no_memory(err);
    *added = process;
    return 0;
}

static int add_thread(struct ids_chrome_places *places, uint64_t key, const struct ids_chrome_thread *thread,
                      uint32_t *ret_thread, struct ids_error *err) {
    if (places->thread_count == PLACES_LIMIT) return ids_fail(err, IDS_LIMIT, "more than %d threads", PLACES_LIMIT);
    *ret_thread = (uint32_t)places->thread_count;
    struct ids_chrome_thread *added = IDS_PUSH(places->threads, places->thread_count, places->thread_room);
    if (!added || ids_keymap_add(&places->thread_map, key, *ret_thread) < 0) return ids_no_memory(err);
    *added = *thread;
    added->last_ps = INT64_MIN;
    return 0;
}

/* The name that metadata gave the thread, or what stands for it. */
static uint32_t thread_name(struct ids_chrome_places *places, int is_number, int64_t number, uint32_t text) {
    if (!is_number) return text;
    char name[TEXT_BYTES];
    int length = snprintf(name, sizeof name, "thread %" PRId64, number);
    return intern(places, (struct ids_text){name, (uint32_t)length});
}

/* "stream 7 (cuda_sync)" */
static uint32_t layer_name(struct ids_chrome_places *places, uint32_t thread, uint32_t layer) {
    char *name = NULL;
    int length = asprintf(&name, "%s (%s)", ids_strings_z(places->sink->strings, thread),
                          ids_strings_z(places->sink->strings, layer));
    if (length < 0) return IDS_NO_TEXT;
    uint32_t text = intern(places, (struct ids_text){name, (uint32_t)length});
    free(name);
    return text;
}

int ids_chrome_thread_of(struct ids_chrome_places *places, struct ids_chrome_scratch *scratch, uint32_t process,
                         const struct ids_json_span *tid, uint32_t layer, uint32_t *ret_thread, struct ids_error *err) {
    int is_number;
    int64_t number;
    uint32_t text;
    uint64_t tid_key = id_key(places, scratch, tid, &is_number, &number, &text);
    if (!tid_key) return ids_no_memory(err);
    uint64_t key = ids_key_of(ids_key_of(places->processes[process].key, tid_key), layer), there;
    if (ids_keymap_get(&places->thread_map, key, &there)) {
        *ret_thread = (uint32_t)there;
        return 0;
    }
    struct ids_chrome_thread thread = {.process = process, .id = number, .is_thread = !layer};
    if (layer) {
        uint32_t under;
        int code = ids_chrome_thread_of(places, scratch, process, tid, 0, &under, err);
        if (code) return code;
        thread.name = layer_name(places, places->threads[under].name, layer);
    } else {
        thread.name = thread_name(places, is_number, number, text);
    }
    if (thread.name == IDS_NO_TEXT) return ids_no_memory(err);
    return add_thread(places, key, &thread, ret_thread, err);
}

int ids_chrome_timeline_of(struct ids_chrome_places *places, uint32_t process, uint32_t name, uint32_t *ret_thread,
                           struct ids_error *err) {
    uint64_t key = ids_key_of(ids_key_of(places->processes[process].key, name), KEY_TIMELINE), there;
    if (ids_keymap_get(&places->thread_map, key, &there)) {
        *ret_thread = (uint32_t)there;
        return 0;
    }
    struct ids_chrome_thread thread = {.process = process, .name = name};
    return add_thread(places, key, &thread, ret_thread, err);
}

/* ---- metadata ---- */

static const struct ids_json_span *arg_of(const struct ids_chrome_event *event, const char *key) {
    for (size_t i = 0; i < event->member_count; i++) {
        const struct ids_chrome_member *member = &event->members[i];
        if (ids_text_is((struct ids_text){member->key.at, (uint32_t)member->key.length}, key)) return &member->value;
    }
    return NULL;
}

/* `idsprof extract` gives a thread whose events overlap several tids. It writes down the file's own tid, and which
 * thread the overlapping events belong to. */
static int fold_lane(struct ids_chrome_places *places, struct ids_chrome_scratch *scratch, uint32_t process,
                     const struct ids_chrome_event *event, uint32_t thread, struct ids_error *err) {
    const struct ids_json_span *lane_of = arg_of(event, "lane_of"), *id = arg_of(event, "id");
    int64_t number;
    uint32_t under;
    if (id && ids_chrome_integer(id, &number)) places->threads[thread].id = number;
    if (!lane_of || !ids_chrome_integer(lane_of, &number)) return 0;
    int code = ids_chrome_thread_of(places, scratch, process, lane_of, 0, &under, err);
    if (!code && under != thread) places->threads[thread].lane_of = under + 1;
    return code;
}

int ids_chrome_metadata(struct ids_chrome_places *places, struct ids_chrome_scratch *scratch,
                        const struct ids_chrome_event *event, int *ret_known, struct ids_error *err) {
    static const struct {
        const char *name, *arg;
        int of_thread;
    } kinds[] = {{"process_name", "name", 0},
                 {"process_labels", "labels", 0},
                 {"process_sort_index", "sort_index", 0},
                 {"thread_name", "name", 1},
                 {"thread_labels", "name", 1}, /* of idsprof extract: an empty name, which viewers refuse */
                 {"thread_sort_index", "sort_index", 1}};
    enum {
        PROCESS_NAME,
        PROCESS_LABELS,
        PROCESS_SORT_INDEX,
        THREAD_NAME,
        THREAD_LABELS,
        KINDS = sizeof kinds / sizeof *kinds
    };
    struct ids_text name = ids_chrome_text(scratch, &event->name);
    int kind = 0;
    while (kind < KINDS && !ids_text_is(name, kinds[kind].name)) kind++;
    *ret_known = kind < KINDS;
    const struct ids_json_span *value = kind < KINDS ? arg_of(event, kinds[kind].arg) : NULL;
    if (!value) return 0;
    uint32_t process, thread;
    int code = ids_chrome_process_of(places, scratch, &event->pid, &process, err);
    if (code) return code;
    if (kind == PROCESS_SORT_INDEX) {
        places->processes[process].has_sort_index =
            (uint8_t)ids_chrome_integer(value, &places->processes[process].sort_index);
        return 0;
    }
    if (kind > THREAD_LABELS) return 0;
    uint32_t text = intern(places, ids_chrome_text(scratch, value));
    if (text == IDS_NO_TEXT) return ids_no_memory(err);
    if (kind == THREAD_NAME || kind == THREAD_LABELS) {
        code = ids_chrome_thread_of(places, scratch, process, &event->tid, 0, &thread, err);
        if (!code) places->threads[thread].name = text;
        if (!code) places->threads[thread].is_named = 1;
        return code ? code : fold_lane(places, scratch, process, event, thread, err);
    }
    *(kind == PROCESS_NAME ? &places->processes[process].name : &places->processes[process].labels) = text;
    return 0;
}

/* ---- into the sink ---- */

/* Kineto labels a device's process "GPU 0", "MTIA 17": what it is, and the pid. *ret_maker is the length of the
 * word. */
static int is_device_label(struct ids_text label, int64_t number, size_t *ret_maker) {
    char digits[24];
    size_t word = 0;
    while (word < label.length && label.at[word] >= 'A' && label.at[word] <= 'Z') word++;
    int length = snprintf(digits, sizeof digits, " %" PRId64, number);
    *ret_maker = word;
    return word > 1 && label.length == word + (size_t)length && !memcmp(label.at + word, digits, (size_t)length);
}

int ids_chrome_find_devices(struct ids_chrome_places *places, struct ids_error *err) {
    for (size_t i = 0; i < places->process_count && !places->is_written; i++) {
        struct ids_chrome_process *process = &places->processes[i];
        struct ids_text label = ids_strings_text(places->sink->strings, process->labels);
        size_t maker;
        int labelled = process->is_number && is_device_label(label, process->number, &maker);
        /* A label alone says nothing: devices that did nothing have one, and a rank's host may have such a pid. */
        process->gpu = process->works || process->ranges || (process->strange && !ids_text_is(label, "CPU")) ||
                       (labelled && process->unknown);
        if (!labelled || (maker == 3 && ids_text_begins(label, "GPU"))) continue;
        process->maker = intern(places, (struct ids_text){label.at, (uint32_t)maker});
        if (process->maker == IDS_NO_TEXT) return ids_no_memory(err);
    }
    return 0;
}

static uint32_t plane_name(struct ids_chrome_places *places, const struct ids_chrome_process *process) {
    struct ids_text name = ids_strings_text(places->sink->strings, process->name);
    static const char device[] = "/device:";
    if (name.length >= sizeof device - 1 && !memcmp(name.at, device, sizeof device - 1)) return process->name;
    if (!process->gpu && process->name) return process->name;
    char made[TEXT_BYTES];
    int length = process->gpu ? snprintf(made, sizeof made, "%s%.32s:", device,
                                         process->maker ? ids_strings_z(places->sink->strings, process->maker) : "GPU")
                              : snprintf(made, sizeof made, "process ");
    size_t room = sizeof made - (size_t)length;
    length += process->is_number
                  ? snprintf(made + length, room, "%" PRId64, process->number)
                  : snprintf(made + length, room, "%.200s", ids_strings_z(places->sink->strings, process->text));
    return intern(places, (struct ids_text){made, (uint32_t)length});
}

/* All that the file lists are of one kind. */
static int are_devices_alike(const struct ids_chrome_places *places) {
    const struct ids_chrome_device *first = places->devices;
    for (size_t i = 1; i < places->device_count; i++) {
        const struct ids_chrome_device *other = &first[i];
        if (other->name != first->name || other->memory_bytes != first->memory_bytes || other->cores != first->cores)
            return 0;
    }
    return places->device_count > 0;
}

/* PyTorch on ROCm lists devices as HIP counts them, and gives events the agent's number, which counts the CPUs first
 * (HSA): where all are of one kind, any of them tells what the device is. */
static const struct ids_chrome_device *device_of(const struct ids_chrome_places *places,
                                                 const struct ids_chrome_process *process) {
    uint64_t place;
    if (!process->gpu || !process->is_number) return NULL;
    if (ids_keymap_get(&places->device_map, ids_key_of((uint64_t)process->number, 0), &place))
        return &places->devices[place];
    return process->works && are_devices_alike(places) ? places->devices : NULL;
}

static struct ids_arg text_arg(uint32_t key, uint32_t text) {
    return (struct ids_arg){.key = key, .type = IDS_VALUE_TEXT, .text = text};
}

static struct ids_arg int_arg(uint32_t key, int64_t value) {
    return (struct ids_arg){.key = key, .type = IDS_VALUE_INT, .i = value};
}

/* The plane as it was before idsprof wrote it into this file; 0 when somebody else wrote it. */
static int open_written(struct ids_chrome_places *places, struct ids_chrome_process *process, int *ret_code,
                        struct ids_error *err) {
    uint64_t place;
    if (!process->is_number || !ids_keymap_get(&places->stats_of, ids_key_of((uint64_t)process->number, 0), &place))
        return 0;
    const struct ids_chrome_stats *stats = &places->stats[place - 1];
    const struct ids_plane_info plane = {
        .name = plane_name(places, process), .args = stats->args, .arg_count = stats->count};
    *ret_code = plane.name == IDS_NO_TEXT ? ids_no_memory(err)
                                          : places->sink->ops->plane(places->sink, &plane, &process->plane, err);
    process->opened = !*ret_code;
    return 1;
}

static int open_plane(struct ids_chrome_places *places, struct ids_chrome_process *process, struct ids_error *err) {
    int written;
    if (open_written(places, process, &written, err)) return written;
    struct ids_arg args[8];
    struct ids_plane_info plane = {.name = plane_name(places, process), .args = args};
    uint32_t keys[3];
    static const char *const names[] = {"process_name", "process_labels", "process_sort_index"};
    for (int i = 0; i < 3; i++) {
        keys[i] = ids_intern_z(places->sink->strings, names[i]);
        if (keys[i] == IDS_NO_TEXT) return ids_no_memory(err);
    }
    if (plane.name == IDS_NO_TEXT) return ids_no_memory(err);
    if (process->name && process->name != plane.name) args[plane.arg_count++] = text_arg(keys[0], process->name);
    if (process->labels) args[plane.arg_count++] = text_arg(keys[1], process->labels);
    if (process->has_sort_index) args[plane.arg_count++] = int_arg(keys[2], process->sort_index);
    const struct ids_chrome_device *device = device_of(places, process);
    if (device) {
        if (device->name) args[plane.arg_count++] = text_arg(IDS_KEY_GPU_DEVICE_NAME, device->name);
        if (device->vendor) args[plane.arg_count++] = text_arg(IDS_KEY_DEVICE_VENDOR, device->vendor);
        const struct {
            uint32_t key;
            int64_t value;
        } numbers[] = {{IDS_KEY_MEMORY_SIZE, device->memory_bytes},
                       {IDS_KEY_CORE_COUNT, device->cores},
                       {IDS_KEY_COMPUTE_CAP_MAJOR, device->capability_major},
                       {IDS_KEY_COMPUTE_CAP_MINOR, device->capability_minor}};
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            if (numbers[i].value >= 0) args[plane.arg_count++] = int_arg(numbers[i].key, numbers[i].value);
        }
    }
    int code = places->sink->ops->plane(places->sink, &plane, &process->plane, err);
    if (!code) process->opened = 1;
    return code;
}

/* A thread of a device on which work lies is a stream, and is called so that every reader of the trace sees it. */
static uint32_t stream_name(struct ids_chrome_places *places, const struct ids_chrome_thread *thread) {
    struct ids_text name = ids_strings_text(places->sink->strings, thread->name);
    char made[TEXT_BYTES];
    if (ids_is_stream(name)) return thread->name;
    int length = snprintf(made, sizeof made, "Stream #%" PRId64 "(%.200s)", thread->id,
                          ids_strings_z(places->sink->strings, thread->name));
    return intern(places, (struct ids_text){made, (uint32_t)length});
}

int ids_chrome_open(struct ids_chrome_places *places, uint32_t index, struct ids_error *err) {
    struct ids_chrome_thread *thread = &places->threads[index];
    struct ids_chrome_process *process = &places->processes[thread->process];
    int code = process->opened ? 0 : open_plane(places, process, err);
    if (code || thread->opened) return code;
    struct ids_track_info info = {.plane = process->plane, .name = thread->name, .id = thread->id};
    if (process->gpu && thread->is_thread) info.name = stream_name(places, thread);
    if (info.name == IDS_NO_TEXT) return ids_no_memory(err);
    code = places->sink->ops->track(places->sink, &info, &thread->track, err);
    if (!code) thread->opened = 1;
    return code;
}

int ids_chrome_open_written(struct ids_chrome_places *places, struct ids_error *err) {
    int code = 0;
    for (size_t i = 0; i < places->process_count && places->is_written && !code; i++) {
        struct ids_chrome_process *process = &places->processes[i];
        if (process->name && !process->opened) code = open_plane(places, process, err);
    }
    for (size_t i = 0; i < places->thread_count && places->is_written && !code; i++) {
        const struct ids_chrome_thread *thread = &places->threads[i];
        if (thread->is_named && !thread->lane_of && !thread->is_accounts)
            code = ids_chrome_open(places, (uint32_t)i, err);
    }
    return code;
}

int ids_chrome_name(struct ids_chrome_places *places, uint32_t index, struct ids_text text, uint32_t *ret_name,
                    struct ids_error *err) {
    struct ids_chrome_process *process = &places->processes[index];
    struct ids_name_info info = {.plane = process->plane, .text = intern(places, text)};
    if (info.text == IDS_NO_TEXT) return ids_no_memory(err);
    *ret_name = ids_idmap_get(&process->names, info.text);
    if (*ret_name != IDS_IDMAP_NONE) return 0;
    int code = places->sink->ops->name(places->sink, &info, ret_name, err);
    if (!code && ids_idmap_set(&process->names, info.text, *ret_name)) return ids_no_memory(err);
    return code;
}
