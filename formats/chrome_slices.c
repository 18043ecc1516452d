/* chrome_slices.c - what an event of a Chrome trace is in the model: on which timeline it lies, when, and what it says.
 */
#include "formats/chrome_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nanoseconds since 1970 of a day in 2001: above it, a time is one of the wall clock. */
static const int64_t EPOCH_NS = 1000000000000000000;

static struct ids_text cat_of(struct ids_chrome_reader *reader, const struct ids_chrome_event *event) {
    return ids_chrome_category(&reader->scratch, event);
}

/* Keys are few, and mostly known by their mark. */
static int intern_key(struct ids_chrome_reader *reader, const struct ids_json_span *span, uint32_t *ret_key) {
    struct ids_chrome_last_key *last = &reader->last_keys[span->mark % IDS_CHROME_LAST_KEYS];
    if (span->mark && last->mark == span->mark) {
        *ret_key = last->key;
        return 0;
    }
    struct ids_text text = ids_chrome_text(&reader->scratch, span);
    *ret_key = ids_intern(reader->sink->strings, text.at, text.length);
    *last = (struct ids_chrome_last_key){span->mark, *ret_key};
    return *ret_key == IDS_NO_TEXT ? -1 : 0;
}

static int add_args(struct ids_chrome_reader *reader, const struct ids_chrome_event *event, uint32_t *count,
                    struct ids_error *err) {
    if (*count + event->member_count > reader->arg_room) {
        size_t room = ((size_t)*count + event->member_count) * 2;
        struct ids_arg *args = realloc(reader->args, room * sizeof *args);
        if (!args) return ids_no_memory(err);
        reader->args = args;
        reader->arg_room = room;
    }
    for (size_t i = 0; i < event->member_count; i++) {
        struct ids_arg *arg = &reader->args[(*count)++];
        if (intern_key(reader, &event->members[i].key, &arg->key)) return ids_no_memory(err);
        ids_chrome_value(&reader->scratch, &event->members[i].value, arg);
    }
    return 0;
}

void ids_chrome_note_broken(struct ids_chrome_reader *reader, uint64_t offset) {
    if (!reader->losses.broken++) reader->losses.broken_at = (int64_t)offset;
}

/* The event, with the args of a second one behind its own (the end of a B), to the sink. */
static int give(struct ids_chrome_reader *reader, uint32_t thread_index, enum ids_form form, int64_t start_ps,
                int64_t duration_ps, const struct ids_chrome_event *event, const struct ids_chrome_event *more,
                struct ids_error *err) {
    struct ids_slice slice = {.start_ps = start_ps, .duration_ps = duration_ps, .form = (uint8_t)form};
    struct ids_chrome_thread *thread = &reader->places.threads[thread_index];
    struct ids_text name = {"", 0};
    if (event->name.type != IDS_JSON_NONE) name = ids_chrome_text(&reader->scratch, &event->name);
    int code = thread->opened ? 0 : ids_chrome_open(&reader->places, thread_index, err);
    if (!code) code = ids_chrome_name(&reader->places, thread->process, name, &slice.name, err);
    if (!code) code = add_args(reader, event, &slice.arg_count, err);
    if (!code && more) code = add_args(reader, more, &slice.arg_count, err);
    if (code) return code;
    slice.args = reader->args;
    int64_t end_ps;
    if (!__builtin_add_overflow(start_ps, duration_ps, &end_ps) && end_ps > thread->last_ps) thread->last_ps = end_ps;
    if (start_ps < reader->first_ps) reader->first_ps = start_ps;
    if (end_ps > reader->last_ps) reader->last_ps = end_ps;
    return reader->sink->ops->slice(reader->sink, thread->track, &slice, err);
}

int ids_chrome_say_host(struct ids_chrome_reader *reader, struct ids_error *err) {
    char name[32];
    struct ids_host_info host = {.name = ids_host_of_file(reader->sink, reader->properties.host)};
    snprintf(name, sizeof name, "rank %" PRId64, reader->properties.rank);
    if (reader->properties.ranks > 0) host.ranks = reader->properties.ranks;
    if (reader->properties.rank >= 0) host.name = ids_intern_z(reader->sink->strings, name);
    if (host.name == IDS_NO_TEXT) return ids_no_memory(err);
    __int128 base_ns = reader->survey.clock.least_ps / 1000000000 * 1000000; /* whole milliseconds */
    if (reader->survey.clock.is_far && base_ns == (int64_t)base_ns) host.base_ns = (int64_t)base_ns;
    if (reader->properties.has_base_time) {
        if (__builtin_add_overflow(reader->properties.base_time_ns, host.base_ns, &host.start_unix_ns))
            host.start_unix_ns = 0;
    } else if (host.base_ns > EPOCH_NS) {
        host.start_unix_ns = host.base_ns;
    }
    reader->base_ns = host.base_ns;
    reader->has_base = 1;
    return reader->sink->ops->host(reader->sink, &host, err);
}

/* The event's time since the base; 0 when it has none that can be kept. */
static int start_of(struct ids_chrome_reader *reader, const struct ids_chrome_event *event, int64_t *ret_ps,
                    int *ret_code, struct ids_error *err) {
    __int128 ps;
    *ret_code = 0;
    if (!ids_chrome_time(&event->ts, &ps)) {
        reader->losses.without_time++;
        return 0;
    }
    if (!reader->has_base) *ret_code = ids_chrome_say_host(reader, err);
    ps -= (__int128)reader->base_ns * 1000;
    if (ps != (int64_t)ps) {
        reader->losses.out_of_range++;
        return 0;
    }
    *ret_ps = (int64_t)ps;
    return !*ret_code;
}

static int64_t duration_of(struct ids_chrome_reader *reader, const struct ids_chrome_event *event) {
    __int128 ps;
    if (!ids_chrome_time(&event->dur, &ps)) {
        reader->losses.without_duration++;
        return 0;
    }
    return ps > INT64_MAX ? INT64_MAX : ps < INT64_MIN ? INT64_MIN : (int64_t)ps;
}

/* A timeline of the process called "async <cat>". */
static int async_thread(struct ids_chrome_reader *reader, uint32_t process, struct ids_text cat, uint32_t *ret_thread,
                        struct ids_error *err) {
    char *name = NULL;
    int length = asprintf(&name, "async %.*s", (int)(cat.length < 4096 ? cat.length : 4096), cat.at);
    uint32_t text = length < 0 ? IDS_NO_TEXT : ids_intern(reader->sink->strings, name, (size_t)length);
    free(name);
    if (text == IDS_NO_TEXT) return ids_no_memory(err);
    return ids_chrome_timeline_of(&reader->places, process, text, ret_thread, err);
}

static int keep_mark(struct ids_chrome_reader *reader, struct ids_chrome_mark *mark, struct ids_text element,
                     struct ids_error *err) {
    struct ids_chrome_thread *thread = &reader->places.threads[mark->thread];
    if (mark->ps > thread->last_ps) thread->last_ps = mark->ps;
    return ids_chrome_pairs_add(&reader->pairs, mark, element.at, element.length, err);
}

/* The phases of async events: b, n, e, and before them S, T or p, F. */
static int read_async(struct ids_chrome_reader *reader, uint32_t process, int64_t ps, struct ids_text element,
                      struct ids_error *err) {
    const struct ids_chrome_event *event = reader->event;
    struct ids_text cat = cat_of(reader, event);
    struct ids_text id = {"", 0};
    if (event->id.type != IDS_JSON_NONE) id = ids_chrome_text(&reader->scratch, &event->id);
    struct ids_chrome_mark mark = {
        .group = ids_key_of(ids_key_of(reader->places.processes[process].key, ids_hash_bytes(cat.at, cat.length)),
                            ids_hash_bytes(id.at, id.length)),
        .phase = event->phase == 'b' || event->phase == 'S'   ? 'B'
                 : event->phase == 'e' || event->phase == 'F' ? 'E'
                                                              : 'n',
        .ps = ps,
    };
    int code = async_thread(reader, process, cat, &mark.thread, err);
    return code ? code : keep_mark(reader, &mark, element, err);
}

/* Whether the event is work of the process's device. The ranges of a counter profiler are none: Kineto knows only their
 * order, and divides the window evenly among them. An event of an unknown category is work if it has a stream, or if
 * the device has no other work. */
static int is_work(struct ids_chrome_reader *reader, const struct ids_chrome_process *process, struct ids_text cat) {
    switch (ids_chrome_family_of(&reader->categories, cat, 0)) {
    case IDS_CHROME_WORK:
        return 1;
    case IDS_CHROME_UNKNOWN:
        reader->strange_on_device = 1;
        return !process->works || ids_chrome_has_arg(reader->event, "stream");
    default:
        return 0;
    }
}

/* The thread that the event lies on. An arrow binds to the slice around it and stays on the thread. */
static int thread_of(struct ids_chrome_reader *reader, uint32_t process, uint32_t *ret_thread, struct ids_error *err) {
    uint32_t layer = 0;
    if (reader->places.processes[process].gpu && !strchr("stf", reader->event->phase)) {
        struct ids_text cat = cat_of(reader, reader->event);
        if (cat.length && !is_work(reader, &reader->places.processes[process], cat))
            layer = ids_intern(reader->sink->strings, cat.at, cat.length);
        if (layer == IDS_NO_TEXT) return ids_no_memory(err);
    }
    int code =
        ids_chrome_thread_of(&reader->places, &reader->scratch, process, &reader->event->tid, layer, ret_thread, err);
    if (!code && reader->places.threads[*ret_thread].lane_of)
        *ret_thread = reader->places.threads[*ret_thread].lane_of - 1;
    return code;
}

static struct ids_chrome_last_place *last_place(struct ids_chrome_reader *reader,
                                                const struct ids_chrome_event *event) {
    const struct ids_json_span *pid = &event->pid, *tid = &event->tid;
    if (pid->type != IDS_JSON_NUMBER || tid->type != IDS_JSON_NUMBER) return NULL;
    unsigned ends = (unsigned char)pid->at[pid->length - 1] + (unsigned char)tid->at[tid->length - 1] + tid->length;
    return &reader->last[ends % IDS_CHROME_LAST_PLACES];
}

static int is_place(const struct ids_chrome_last_place *last, const struct ids_chrome_event *event) {
    return last && event->pid.length == last->pid_length && event->tid.length == last->tid_length &&
           !memcmp(event->tid.at, last->tid, last->tid_length) && !memcmp(event->pid.at, last->pid, last->pid_length);
}

/* Remembers numbers only: they are one place however they are written, and their processes have no second tracks
 * here. */
static void remember(struct ids_chrome_reader *reader, const struct ids_chrome_event *event, uint32_t process,
                     uint32_t thread) {
    struct ids_chrome_last_place *last = last_place(reader, event);
    if (!last || event->pid.length > sizeof last->pid || event->tid.length > sizeof last->tid ||
        reader->places.processes[process].gpu)
        return;
    last->pid_length = (uint8_t)event->pid.length;
    last->tid_length = (uint8_t)event->tid.length;
    memcpy(last->pid, event->pid.at, event->pid.length);
    memcpy(last->tid, event->tid.at, event->tid.length);
    last->thread = thread;
}

/* Of an element that is not given to the sink, and whose values nobody reads. */
static int look_at_nested(struct ids_chrome_reader *reader, struct ids_text element, struct ids_error *err) {
    if (ids_chrome_scratch_reset(&reader->scratch, element.length)) return ids_no_memory(err);
    for (size_t i = 0; i < reader->event->member_count; i++)
        ids_chrome_text(&reader->scratch, &reader->event->members[i].value);
    return 0;
}

int ids_chrome_give_event(struct ids_chrome_reader *reader, struct ids_text element, struct ids_error *err) {
    const struct ids_chrome_event *event = reader->event;
    if (!event->phase && !event->member_count && event->name.type == IDS_JSON_NONE && event->ts.type == IDS_JSON_NONE)
        return 0; /* JAX ends its list with {} */
    if (event->phase == 'M') return look_at_nested(reader, element, err);
    if (event->phase != 'X' && (!event->phase || !strchr("BEiIRCstfbneSTpF", event->phase))) {
        reader->losses.unknown_phases++;
        return look_at_nested(reader, element, err);
    }
    int64_t ps;
    int code;
    if (!start_of(reader, event, &ps, &code, err)) return code ? code : look_at_nested(reader, element, err);
    if (ids_chrome_scratch_reset(&reader->scratch, element.length)) return ids_no_memory(err);
    uint32_t process, thread;
    if (event->phase == 'X' || event->phase == 'B') {
        enum ids_chrome_family family = ids_chrome_family_of(&reader->categories, cat_of(reader, event), 1);
        if (family == IDS_CHROME_ACCOUNT && event->phase == 'X') {
            reader->losses.foreign_accounts += !reader->places.is_written;
            return look_at_nested(reader, element, err);
        }
    }
    const struct ids_chrome_last_place *last = event->phase == 'X' ? last_place(reader, event) : NULL;
    if (is_place(last, event)) {
        reader->slices++;
        return give(reader, last->thread, IDS_FORM_SLICE, ps, duration_of(reader, event), event, NULL, err);
    }
    code = ids_chrome_process_of(&reader->places, &reader->scratch, &event->pid, &process, err);
    if (code) return code;
    if (strchr("bneSTpF", event->phase)) return read_async(reader, process, ps, element, err);
    if (event->phase == 'C') {
        code = ids_chrome_timeline_of(&reader->places, process, reader->counters_text, &thread, err);
        return code ? code : give(reader, thread, IDS_FORM_COUNTER, ps, 0, event, NULL, err);
    }
    code = thread_of(reader, process, &thread, err);
    if (code) return code;
    switch (event->phase) {
    case 'X':
        reader->slices++;
        remember(reader, event, process, thread);
        return give(reader, thread, IDS_FORM_SLICE, ps, duration_of(reader, event), event, NULL, err);
    case 'B':
    case 'E': {
        struct ids_chrome_mark mark = {
            .group = ids_key_of(thread, 0), .ps = ps, .thread = thread, .phase = event->phase};
        return keep_mark(reader, &mark, element, err);
    }
    case 's':
        return give(reader, thread, IDS_FORM_FLOW_OUT, ps, 0, event, NULL, err);
    case 't':
        return give(reader, thread, IDS_FORM_FLOW_STEP, ps, 0, event, NULL, err);
    case 'f':
        return give(reader, thread, IDS_FORM_FLOW_IN, ps, 0, event, NULL, err);
    default:
        return give(reader, thread, IDS_FORM_INSTANT, ps, 0, event, NULL, err);
    }
}

/* ---- pairs ---- */

/* Takes a kept element apart again. It was whole when it was kept. */
static int reread(struct ids_chrome_reader *reader, const struct ids_chrome_mark *mark,
                  struct ids_chrome_event *ret_event, struct ids_error *err) {
    const char *text = reader->pairs.text + mark->text_at;
    struct ids_json_scan scan = {text, text + mark->text_length, 1, NULL, NULL};
    int no_memory;
    return ids_chrome_event_read(&scan, &reader->parser, ret_event, &no_memory) == IDS_JSON_OK ? 0 : ids_no_memory(err);
}

int ids_chrome_give_pair(void *context, const struct ids_chrome_mark *begin, const struct ids_chrome_mark *end,
                         struct ids_error *err) {
    struct ids_chrome_reader *reader = context;
    struct ids_chrome_event first, second;
    int moment = end == begin;
    size_t length = begin->text_length + (end ? end->text_length : 0);
    if (ids_chrome_scratch_reset(&reader->scratch, length)) return ids_no_memory(err);
    reader->parser.used = 0;
    int code = reread(reader, begin, &first, err);
    if (!code && end && !moment) code = reread(reader, end, &second, err);
    if (code) return code;
    first.members = reader->parser.members; /* the second one may have moved them */
    reader->event = &first;
    reader->losses.without_end += !end;
    int64_t end_ps = end ? end->ps : reader->places.threads[begin->thread].last_ps, duration_ps;
    if (__builtin_sub_overflow(end_ps, begin->ps, &duration_ps)) duration_ps = INT64_MAX;
    code = give(reader, begin->thread, moment ? IDS_FORM_INSTANT : IDS_FORM_SLICE, begin->ps, duration_ps, &first,
                end && !moment ? &second : NULL, err);
    reader->event = NULL;
    if (reader->scratch.broken && !reader->losses.broken++) reader->losses.broken_at = -1; /* the window is past it */
    return code;
}
