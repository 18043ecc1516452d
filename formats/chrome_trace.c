/* chrome_trace.c - Chrome/Perfetto JSON: trace.json.gz and perfetto_trace.json.gz of JAX, XLA and TSL, Kineto files of
 * PyTorch.
 *
 * Format: "Trace Event Format" (Google, 2013..2016): {"traceEvents": [...], other members} or the bare array, whose
 * closing bracket may be missing. What is made of it:
 *
 * - A process (pid) is a plane, called as its process_name, or "process <pid>". One called "/device:..." is a device.
 *   Kineto gives devices the pids 0, 1, ... and Python's name; there, what has events of a category of devices' work
 *   (chrome_category.h), or of an unknown one with a stream among their args, or is labelled "GPU <pid>", "MTIA <pid>",
 *   is "/device:GPU:<pid>", "/device:MTIA:<pid>".
 * - A thread (tid) of it is a track, called as its thread_name, a tid that is a text, or "thread <tid>". On Kineto's
 *   devices events of any other category (gpu_user_annotation, cuda_sync) span those of the stream and get a track
 *   beside it, "<name> (<cat>)". What `idsprof extract` wrote on lanes (thread_name with lane_of) comes back to the
 *   thread it was on; its processes and threads are planes and tracks as they are, those without an event too.
 * - X is a slice; B/E and b/e (S/F) are paired by time, the latter on the track "async <cat>"; i, I, R, n, T, p are
 *   instants; C is a counter, on the track "counters"; s, t, f are flows. M names things. Others are counted in a diag.
 * - Every member that is not ph, name, pid, tid, ts, dur or args is an arg of the event (cat, id, ...), and so are
 *   those of args. Integers, other numbers and texts keep their types; true and false are texts; an object or array is
 *   the text of it.
 * - Times are microseconds with a fraction, taken as exact decimals to the nearest picosecond (XLA prints 1.92 as
 *   1.9199999999999999). Where they are beyond 11 days (an epoch, or time since boot) all are counted from the least of
 *   them.
 *
 * The file is read twice, because names must be known before events and Kineto writes names last. The first pass skips
 * most elements; another thread unpacks the file at the same time.
 */
#include "formats/chrome_bid.h"
#include "formats/chrome_pairs.h"
#include "formats/chrome_places.h"
#include "formats/chrome_properties.h"
#include "formats/chrome_survey.h"
#include "formats/json_window.h"

#include "lib/base/vec.h"
#include "lib/io/source.h"
#include "lib/model/account.h"
#include "lib/model/format.h"
#include "lib/model/keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nanoseconds since 1970 of a day in 2001: above it, a time is one of the wall clock. */
static const int64_t EPOCH_NS = 1000000000000000000;

/* Members beside the list up to this size are held against the grammar; larger ones are only passed over, in bounded
 * memory. */
enum { CHECKED_BYTES = 4 << 20 };

enum place { AT_START, AT_MEMBERS, IN_MEMBER, AT_ELEMENTS, AT_END };

/* What could not be kept, for the ledger. */
struct losses {
    uint64_t without_time, without_duration, out_of_range, without_begin, without_end, unknown_phases, strays, trailing;
    uint64_t foreign_accounts; /* of the category of our accounts, in a file that we did not write */
    uint64_t broken;           /* elements and members with values that are no JSON */
    int64_t broken_at;
};

/* Where the event before lay: writers go thread by thread, and so a map is seldom asked. */
struct last_place {
    char pid[24], tid[24];
    uint8_t pid_length, tid_length; /* 0: not remembered */
    uint32_t process, thread;
};

struct reader {
    struct ids_source *source;
    struct ids_sink *sink;
    struct ids_json_window window;
    struct ids_json_scan *scan; /* the window's */
    enum place place;
    int first_member, bare, counting; /* counting: the first pass */
    int has_list, has_objects;        /* traceEvents was there; it held objects */
    int after_element;                /* a comma or the bracket must follow */
    struct ids_json_skip skip;

    struct ids_chrome_event event, second;
    struct ids_chrome_scratch scratch;
    struct ids_chrome_places places;
    struct ids_chrome_properties properties;
    struct ids_chrome_categories categories;
    struct ids_chrome_survey survey;
    int strange_on_device; /* a device has events of unknown categories */
    struct ids_chrome_pairs pairs;
    struct ids_arg *args; /* of the event; the keys of the one before stay until they are filled */
    size_t arg_room;
    uint32_t counters_text;
    struct last_place last;
    int64_t base_ns;
    int has_base;
    uint64_t slices;
    int64_t first_ps, last_ps;
    struct losses losses;
};

/* ---- events into the sink ---- */

static struct ids_text cat_of(struct reader *reader, const struct ids_chrome_event *event) {
    return ids_chrome_category(&reader->scratch, event);
}

/* The key at place `i`. Events of one kind follow each other: mostly it is the key that stood there last time. */
static int intern_key(struct reader *reader, const struct ids_json_span *span, uint32_t *key) {
    struct ids_text before = ids_strings_text(reader->sink->strings, *key);
    if (!span->escaped && before.length == span->length && !memcmp(before.at, span->at, before.length)) return 0;
    struct ids_text text = ids_chrome_text(&reader->scratch, span);
    *key = ids_intern(reader->sink->strings, text.at, text.length);
    return *key == IDS_NO_TEXT ? -1 : 0;
}

static int add_args(struct reader *reader, const struct ids_chrome_event *event, uint32_t *count,
                    struct ids_error *err) {
    if (*count + event->member_count > reader->arg_room) {
        size_t room = (*count + event->member_count) * 2;
        struct ids_arg *args = realloc(reader->args, room * sizeof *args);
        if (!args) return ids_no_memory(err);
        for (size_t i = reader->arg_room; i < room; i++) args[i].key = 0;
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

/* The element, or a member beside the list, holds a value that is no JSON and was taken as it is. */
static void note_broken(struct reader *reader, const char *at) {
    if (!reader->losses.broken++) reader->losses.broken_at = (int64_t)ids_json_window_offset(&reader->window, at);
}

/* The event, with the args of a second one behind its own (the end of a B), to the sink. */
static int give(struct reader *reader, uint32_t thread_index, enum ids_form form, int64_t start_ps, int64_t duration_ps,
                const struct ids_chrome_event *event, const struct ids_chrome_event *more, struct ids_error *err) {
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

static int say_host(struct reader *reader, struct ids_error *err) {
    char name[32];
    struct ids_host_info host = {.name = ids_host_of_file(reader->sink, reader->properties.host)};
    snprintf(name, sizeof name, "rank %" PRId64, reader->properties.rank);
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
static int start_of(struct reader *reader, const struct ids_chrome_event *event, int64_t *ret_ps, int *ret_code,
                    struct ids_error *err) {
    __int128 ps;
    *ret_code = 0;
    if (!ids_chrome_time(&event->ts, &ps)) {
        reader->losses.without_time++;
        return 0;
    }
    if (!reader->has_base) *ret_code = say_host(reader, err);
    ps -= (__int128)reader->base_ns * 1000;
    if (ps != (int64_t)ps) {
        reader->losses.out_of_range++;
        return 0;
    }
    *ret_ps = (int64_t)ps;
    return !*ret_code;
}

static int64_t duration_of(struct reader *reader, const struct ids_chrome_event *event) {
    __int128 ps;
    if (!ids_chrome_time(&event->dur, &ps)) {
        reader->losses.without_duration++;
        return 0;
    }
    return ps > INT64_MAX ? INT64_MAX : ps < INT64_MIN ? INT64_MIN : (int64_t)ps;
}

/* A timeline of the process called "async <cat>". */
static int async_thread(struct reader *reader, uint32_t process, struct ids_text cat, uint32_t *ret_thread,
                        struct ids_error *err) {
    char *name = NULL;
    int length = asprintf(&name, "async %.*s", (int)(cat.length < 4096 ? cat.length : 4096), cat.at);
    uint32_t text = length < 0 ? IDS_NO_TEXT : ids_intern(reader->sink->strings, name, (size_t)length);
    free(name);
    if (text == IDS_NO_TEXT) return ids_no_memory(err);
    return ids_chrome_timeline_of(&reader->places, process, text, ret_thread, err);
}

static int keep_mark(struct reader *reader, struct ids_chrome_mark *mark, struct ids_text element,
                     struct ids_error *err) {
    struct ids_chrome_thread *thread = &reader->places.threads[mark->thread];
    if (mark->ps > thread->last_ps) thread->last_ps = mark->ps;
    return ids_chrome_pairs_add(&reader->pairs, mark, element.at, element.length, err);
}

/* The phases of async events: b, n, e, and before them S, T or p, F. */
static int read_async(struct reader *reader, uint32_t process, int64_t ps, struct ids_text element,
                      struct ids_error *err) {
    const struct ids_chrome_event *event = &reader->event;
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

/* Whether the event is work of the process's device. The ranges of a counter profiler are work if there are no kernels.
 * An event of an unknown category is work if it has a stream, or if the device has no other work. */
static int is_work(struct reader *reader, const struct ids_chrome_process *process, struct ids_text cat) {
    switch (ids_chrome_family_of(&reader->categories, cat, 0)) {
    case IDS_CHROME_WORK:
        return 1;
    case IDS_CHROME_RANGE:
        return !process->works;
    case IDS_CHROME_UNKNOWN:
        reader->strange_on_device = 1;
        return !process->works || ids_chrome_has_arg(&reader->event, "stream");
    default:
        return 0;
    }
}

/* The thread that the event lies on. An arrow binds to the slice around it and stays on the thread. */
static int thread_of(struct reader *reader, uint32_t process, uint32_t *ret_thread, struct ids_error *err) {
    uint32_t layer = 0;
    if (reader->places.processes[process].gpu && !strchr("stf", reader->event.phase)) {
        struct ids_text cat = cat_of(reader, &reader->event);
        if (cat.length && !is_work(reader, &reader->places.processes[process], cat))
            layer = ids_intern(reader->sink->strings, cat.at, cat.length);
        if (layer == IDS_NO_TEXT) return ids_no_memory(err);
    }
    int code =
        ids_chrome_thread_of(&reader->places, &reader->scratch, process, &reader->event.tid, layer, ret_thread, err);
    if (!code && reader->places.threads[*ret_thread].lane_of)
        *ret_thread = reader->places.threads[*ret_thread].lane_of - 1;
    return code;
}

static int is_last(const struct reader *reader, const struct ids_chrome_event *event) {
    const struct last_place *last = &reader->last;
    return event->pid.length == last->pid_length && event->tid.length == last->tid_length && last->tid_length &&
           !memcmp(event->pid.at, last->pid, last->pid_length) && !memcmp(event->tid.at, last->tid, last->tid_length);
}

/* Remembers numbers only: they are one place however they are written, and their processes have no second tracks
 * here. */
static void remember(struct reader *reader, const struct ids_chrome_event *event, uint32_t process, uint32_t thread) {
    struct last_place *last = &reader->last;
    last->pid_length = last->tid_length = 0;
    if (event->pid.type != IDS_JSON_NUMBER || event->tid.type != IDS_JSON_NUMBER ||
        event->pid.length > sizeof last->pid || event->tid.length > sizeof last->tid ||
        reader->places.processes[process].gpu)
        return;
    last->pid_length = (uint8_t)event->pid.length;
    last->tid_length = (uint8_t)event->tid.length;
    memcpy(last->pid, event->pid.at, event->pid.length);
    memcpy(last->tid, event->tid.at, event->tid.length);
    last->process = process;
    last->thread = thread;
}

/* Of an element that is not given to the sink, and whose values nobody reads. */
static int look_at_nested(struct reader *reader, struct ids_text element, struct ids_error *err) {
    if (ids_chrome_scratch_reset(&reader->scratch, element.length)) return ids_no_memory(err);
    for (size_t i = 0; i < reader->event.member_count; i++)
        ids_chrome_text(&reader->scratch, &reader->event.members[i].value);
    return 0;
}

static int read_event(struct reader *reader, struct ids_text element, struct ids_error *err) {
    const struct ids_chrome_event *event = &reader->event;
    if (!event->phase && !event->member_count && event->name.type == IDS_JSON_NONE && event->ts.type == IDS_JSON_NONE)
        return 0; /* JAX ends its list with {} */
    if (event->phase == 'M') return look_at_nested(reader, element, err);
    if (!event->phase || !strchr("XBEiIRCstfbneSTpF", event->phase)) {
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
    if (event->phase == 'X' && is_last(reader, event)) {
        reader->slices++;
        return give(reader, reader->last.thread, IDS_FORM_SLICE, ps, duration_of(reader, event), event, NULL, err);
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
static int reread(const struct ids_chrome_pairs *pairs, const struct ids_chrome_mark *mark,
                  struct ids_chrome_event *event, struct ids_error *err) {
    const char *text = pairs->text + mark->text_at;
    struct ids_json_scan scan = {text, text + mark->text_length, 1, NULL, NULL};
    int no_memory;
    return ids_chrome_event_read(&scan, event, &no_memory) == IDS_JSON_OK ? 0 : ids_no_memory(err);
}

static int give_pair(void *context, const struct ids_chrome_mark *begin, const struct ids_chrome_mark *end,
                     struct ids_error *err) {
    struct reader *reader = context;
    int moment = end == begin;
    size_t length = begin->text_length + (end ? end->text_length : 0);
    if (ids_chrome_scratch_reset(&reader->scratch, length)) return ids_no_memory(err);
    int code = reread(&reader->pairs, begin, &reader->event, err);
    if (!code && end && !moment) code = reread(&reader->pairs, end, &reader->second, err);
    if (code) return code;
    reader->losses.without_end += !end;
    int64_t end_ps = end ? end->ps : reader->places.threads[begin->thread].last_ps, duration_ps;
    if (__builtin_sub_overflow(end_ps, begin->ps, &duration_ps)) duration_ps = INT64_MAX;
    code = give(reader, begin->thread, moment ? IDS_FORM_INSTANT : IDS_FORM_SLICE, begin->ps, duration_ps,
                &reader->event, end && !moment ? &reader->second : NULL, err);
    if (reader->scratch.broken && !reader->losses.broken++) reader->losses.broken_at = -1; /* the window is past it */
    return code;
}

/* ---- elements and members ---- */

static int corrupt(const struct reader *reader, struct ids_error *err) {
    return ids_fail(err, IDS_CORRUPT, "not JSON: %s was expected (offset %" PRIu64 ")",
                    reader->scan->why ? reader->scan->why : "something else",
                    ids_json_window_offset(&reader->window, reader->scan->at));
}

static enum ids_json_result element(struct reader *reader, int *ret_code, struct ids_error *err) {
    struct ids_json_scan *scan = reader->scan;
    const char *start = scan->at;
    int no_memory;
    reader->has_objects = 1;
    if (reader->counting) return ids_chrome_survey_element(&reader->survey, scan, ret_code, err);
    scan->broken = reader->scratch.broken = NULL;
    enum ids_json_result result = ids_chrome_event_read(scan, &reader->event, &no_memory);
    if (no_memory) *ret_code = ids_no_memory(err);
    if (result != IDS_JSON_OK) return result;
    *ret_code = read_event(reader, (struct ids_text){start, (uint32_t)(scan->at - start)}, err);
    if (scan->broken || reader->scratch.broken)
        note_broken(reader, scan->broken ? scan->broken : reader->scratch.broken);
    return IDS_JSON_OK;
}

static enum ids_json_result elements(struct reader *reader, int *ret_code, struct ids_error *err) {
    struct ids_json_scan *scan = reader->scan;
    enum ids_json_result result = ids_json_space(scan);
    if (result != IDS_JSON_OK) return result;
    if (*scan->at == ',' && reader->after_element) {
        scan->at++;
        reader->after_element = 0;
        return IDS_JSON_OK;
    }
    if (*scan->at == ']') {
        scan->at++;
        reader->place = reader->bare ? AT_END : AT_MEMBERS;
        return IDS_JSON_OK;
    }
    if (reader->after_element || *scan->at == ',') {
        scan->why = reader->after_element ? "',' or ']'" : "an event";
        return IDS_JSON_BAD;
    }
    const int object = *scan->at == '{';
    struct ids_json_span stray;
    result = object ? element(reader, ret_code, err) : ids_json_value(scan, &stray);
    if (result != IDS_JSON_OK) return result;
    reader->after_element = 1;
    reader->losses.strays += !reader->counting && !object;
    return result;
}

/* A member beside the list whose value nobody reads: it is passed over, and said where it is no JSON. */
static enum ids_json_result check_member(struct reader *reader, int *ret_code, struct ids_error *err) {
    struct ids_json_scan *scan = reader->scan;
    struct ids_json_span value;
    const char *broken = NULL;
    enum ids_json_result result = ids_json_value(scan, &value);
    if (result != IDS_JSON_OK) return result;
    if (ids_chrome_scratch_reset(&reader->scratch, value.length)) {
        *ret_code = ids_no_memory(err);
        return IDS_JSON_OK;
    }
    ids_json_minify(&value, reader->scratch.at, &broken);
    if (broken) note_broken(reader, broken);
    return IDS_JSON_OK;
}

static enum ids_json_result member(struct reader *reader, int *ret_code, struct ids_error *err) {
    struct ids_json_scan *scan = reader->scan;
    const char *start = scan->at;
    const int first = reader->first_member;
    struct ids_json_span key, value;
    scan->broken = NULL;
    enum ids_json_result result = ids_json_member(scan, &reader->first_member, &key);
    if (result == IDS_JSON_END) reader->place = AT_END;
    if (result == IDS_JSON_END) return IDS_JSON_OK;
    if (result == IDS_JSON_OK) result = ids_json_space(scan);
    if (result == IDS_JSON_OK) {
        int opens = *scan->at == '{' || *scan->at == '[';
        if (*scan->at == '[' && ids_text_is((struct ids_text){key.at, (uint32_t)key.length}, "traceEvents")) {
            scan->at++;
            reader->has_list = 1;
            reader->after_element = 0;
            reader->place = AT_ELEMENTS;
            return IDS_JSON_OK;
        }
        if (opens && !reader->counting && scan->end - start <= CHECKED_BYTES) {
            result = check_member(reader, ret_code, err);
            if (result != IDS_JSON_MORE || !scan->whole) {
                if (result == IDS_JSON_MORE) {
                    scan->at = start;
                    reader->first_member = first;
                }
                return result;
            }
        }
        if (opens && (!reader->counting || !ids_chrome_property_wanted(&key))) {
            reader->skip = (struct ids_json_skip){0};
            reader->place = IN_MEMBER;
            return IDS_JSON_OK;
        }
        result = ids_json_value(scan, &value);
    }
    if (result == IDS_JSON_OK && scan->broken && !reader->counting) note_broken(reader, scan->broken);
    if (result == IDS_JSON_OK && reader->counting && ids_chrome_property_wanted(&key))
        *ret_code = ids_chrome_property(&reader->places, &key, &value, &reader->properties, err);
    if (result == IDS_JSON_MORE) {
        scan->at = start;
        reader->first_member = first;
    }
    return result;
}

static enum ids_json_result begin(struct reader *reader) {
    struct ids_json_scan *scan = reader->scan;
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    if (scan->end - scan->at >= 3 && !memcmp(scan->at, byte_order_mark, 3)) scan->at += 3;
    enum ids_json_result result = ids_json_space(scan);
    if (result != IDS_JSON_OK) return result;
    reader->bare = reader->has_list = *scan->at == '[';
    if (!reader->bare && *scan->at != '{') {
        scan->why = "'{' or '['";
        return IDS_JSON_BAD;
    }
    scan->at++;
    reader->first_member = 1;
    reader->after_element = 0;
    reader->place = reader->bare ? AT_ELEMENTS : AT_MEMBERS;
    return IDS_JSON_OK;
}

static enum ids_json_result step(struct reader *reader, int *ret_code, struct ids_error *err) {
    enum ids_json_result result;
    switch (reader->place) {
    case AT_START:
        return begin(reader);
    case AT_MEMBERS:
        return member(reader, ret_code, err);
    case IN_MEMBER:
        result = ids_json_skip(reader->scan, &reader->skip);
        if (result == IDS_JSON_OK) reader->place = AT_MEMBERS;
        return result;
    case AT_ELEMENTS:
        return elements(reader, ret_code, err);
    default:
        result = ids_json_space(reader->scan);
        if (result == IDS_JSON_MORE) return result;
        reader->losses.trailing = 1;
        return IDS_JSON_END;
    }
}

/* 1 when nothing but space is left of what the scan stands in front of: the file ends between two elements or
 * members. */
static int ends_between(struct reader *reader) {
    if (reader->place != AT_ELEMENTS && reader->place != AT_MEMBERS) return 0;
    return ids_json_space(reader->scan) == IDS_JSON_MORE;
}

/* 1 when the file ends where it may: all closed, or the bare array's bracket is missing, which writers that append
 * leave out. An object that is not closed was written by somebody who meant to close it, and lacks what should have
 * come. */
static int ends_well(struct reader *reader) {
    return reader->place == AT_END || (reader->bare && reader->place == AT_ELEMENTS && ends_between(reader));
}

/* What does not read as JSON in a gzip file that is damaged is the damage, and the end of what can be read. */
static int damaged_source(struct reader *reader, int *ret_code, struct ids_error *err) {
    *ret_code = ids_json_window_drain(&reader->window, err);
    return !*ret_code && ids_source_cut(reader->source);
}

/* One pass over the file. *ret_cut is the offset at which an element that ends early begins, or -1. */
static int pass(struct reader *reader, int counting, int64_t *ret_cut, struct ids_error *err) {
    reader->counting = counting;
    reader->place = AT_START;
    *ret_cut = -1;
    int code = ids_json_window_open(&reader->window, reader->source, err);
    while (!code) {
        enum ids_json_result result = step(reader, &code, err);
        if (code || result == IDS_JSON_END) break;
        if (result == IDS_JSON_BAD && damaged_source(reader, &code, err)) {
            *ret_cut = (int64_t)ids_json_window_offset(&reader->window, reader->scan->at);
            break;
        }
        if (result == IDS_JSON_BAD && !code) code = corrupt(reader, err);
        if (result == IDS_JSON_MORE && reader->scan->whole) {
            if (!ends_well(reader)) *ret_cut = (int64_t)ids_json_window_offset(&reader->window, reader->scan->at);
            break;
        }
        if (result == IDS_JSON_MORE) code = ids_json_window_read_on(&reader->window, err);
    }
    ids_json_window_close(&reader->window);
    return code;
}

/* ---- the whole file ---- */

static int say(struct reader *reader, enum ids_severity severity, const char *id, const char *text, int64_t offset,
               uint64_t count, struct ids_error *err) {
    if (!count) return 0;
    struct ids_diag diag = {severity, id, text, offset, count};
    return reader->sink->ops->diag(reader->sink, &diag, err);
}

/* JAX's converter writes the earliest events up to a limit and says nothing of the rest (docs/trace_facts.md). */
static int say_cap(struct reader *reader, struct ids_error *err) {
    if (reader->slices != 1000000 && reader->slices != 5000000) return 0;
    char text[256];
    int64_t covered_ps = 0;
    if (reader->last_ps > reader->first_ps && __builtin_sub_overflow(reader->last_ps, reader->first_ps, &covered_ps))
        covered_ps = 0;
    snprintf(text, sizeof text,
             "exactly %" PRIu64
             " events, a limit of the writer: probably only the earliest of them; they cover %" PRId64
             ".%03d s, and the xplane.pb of the run has all",
             reader->slices, covered_ps / 1000000000000, (int)(covered_ps / 1000000000 % 1000));
    return say(reader, IDS_WARNING, "chrome.capped", text, -1, 1, err);
}

/* What nobody here has heard of may be a new device's: it is named, loudly unless the devices are known without it. */
static int say_categories(struct reader *reader, struct ids_error *err) {
    char names[700], text[900];
    uint64_t count = ids_chrome_unknown(&reader->categories, names, sizeof names);
    int has_device = 0;
    for (size_t i = 0; i < reader->places.process_count; i++)
        has_device |= reader->places.processes[i].opened && reader->places.processes[i].gpu;
    snprintf(text, sizeof text, "events of categories that idsprof does not know: %s", names);
    return say(reader, has_device && !reader->strange_on_device ? IDS_NOTE : IDS_WARNING, "chrome.category", text, -1,
               count, err);
}

static int say_losses(struct reader *reader, struct ids_error *err) {
    const struct losses *losses = &reader->losses;
    const struct {
        enum ids_severity severity;
        const char *id, *text;
        uint64_t count;
    } all[] = {
        {IDS_WARNING, "chrome.without_time", "events without a time (ts) were left out", losses->without_time},
        {IDS_WARNING, "chrome.without_duration", "complete events (X) without a duration (dur) were taken as moments",
         losses->without_duration},
        {IDS_DAMAGE, "chrome.time_range", "events more than 106 days from the first one were left out",
         losses->out_of_range},
        {IDS_WARNING, "chrome.end_without_begin", "end events (E, e) without a begin were left out",
         losses->without_begin},
        {IDS_WARNING, "chrome.begin_without_end",
         "begun events without an end were taken to last as long as their timeline", losses->without_end},
        {IDS_NOTE, "chrome.phase", "events of an unknown kind (ph) were left out", losses->unknown_phases},
        {IDS_NOTE, "chrome.accounts",
         "events of the category '" IDS_ACCOUNT_CATEGORY
         "' were left out: idsprof gives it to accounts that it adds for viewers, which are not events of the run",
         losses->foreign_accounts},
        {IDS_NOTE, "chrome.metadata", "metadata events (M) of an unknown kind were left out",
         reader->survey.unknown_metadata},
        {IDS_WARNING, "chrome.stray", "elements of traceEvents that are not objects were left out", losses->strays},
        {IDS_NOTE, "chrome.trailing", "what follows the end of the JSON was not read", losses->trailing},
        {IDS_NOTE, "chrome.property", "members beside traceEvents that are too large or not JSON were not read",
         reader->properties.unread},
    };
    int code = say_cap(reader, err);
    if (!code) code = say_categories(reader, err);
    if (!code)
        code = say(reader, IDS_DAMAGE, "chrome.broken_value",
                   "elements hold values that are not JSON (a word, a number, an escape or a control character), which "
                   "were taken as they are written",
                   losses->broken_at, losses->broken, err);
    for (size_t i = 0; i < sizeof all / sizeof *all && !code; i++)
        code = say(reader, all[i].severity, all[i].id, all[i].text, -1, all[i].count, err);
    return code;
}

/* The file ends early; `cut` is where what is not whole begins. */
static int say_cut(struct reader *reader, int64_t cut, struct ids_error *err) {
    const uint64_t length = ids_json_window_offset(&reader->window, reader->scan->end);
    char text[160];
    if ((uint64_t)cut < length)
        snprintf(text, sizeof text,
                 "the file is cut at %" PRIu64 " bytes inside the event at %" PRId64 "; what comes before it was kept",
                 length, cut);
    else
        snprintf(text, sizeof text,
                 "the file is cut at %" PRIu64 " bytes: its JSON is not closed; everything before was kept", length);
    return say(reader, IDS_DAMAGE, "chrome.truncated", text, cut, 1, err);
}

static int end_tracks(struct reader *reader, struct ids_error *err) {
    int code = 0;
    for (size_t i = 0; i < reader->places.thread_count && !code; i++) {
        const struct ids_chrome_thread *thread = &reader->places.threads[i];
        if (thread->opened) code = reader->sink->ops->track_end(reader->sink, thread->track, err);
    }
    return code;
}

static int read_passes(struct reader *reader, struct ids_error *err) {
    int64_t cut;
    reader->counters_text = ids_intern_z(reader->sink->strings, "counters");
    if (reader->counters_text == IDS_NO_TEXT) return ids_no_memory(err);
    int code = pass(reader, 1, &cut, err);
    if (!code) code = ids_chrome_find_devices(&reader->places, err);
    if (!code) code = pass(reader, 0, &cut, err);
    if (!code) code = ids_chrome_pairs_match(&reader->pairs, give_pair, reader, &reader->losses.without_begin, err);
    if (code) return code;
    if (!reader->has_list && cut < 0)
        return ids_fail(err, IDS_UNSUPPORTED, "JSON, but not a trace: it has no list 'traceEvents'");
    if (!reader->has_objects && reader->losses.strays)
        return ids_fail(err, IDS_UNSUPPORTED, "JSON, but not a trace: its list holds no events");
    if (!reader->has_base) {
        if (cut >= 0)
            return ids_fail(err, IDS_TRUNCATED, "the file ends before its first event is whole (offset %" PRId64 ")",
                            cut);
        code = say_host(reader, err);
    }
    if (!code) code = ids_chrome_open_written(&reader->places, err);
    if (!code) code = end_tracks(reader, err);
    if (!code && cut >= 0) {
        reader->sink->complete = 0;
        code = say_cut(reader, cut, err);
    }
    return code ? code : say_losses(reader, err);
}

static int chrome_read(struct ids_source *source, struct ids_sink *sink, struct ids_error *err) {
    struct reader reader = {.source = source, .sink = sink, .first_ps = INT64_MAX, .last_ps = INT64_MIN};
    reader.properties.rank = -1;
    reader.places.sink = sink;
    reader.survey = (struct ids_chrome_survey){.places = &reader.places, .categories = &reader.categories};
    reader.scan = &reader.window.scan;
    int code = read_passes(&reader, err);
    ids_chrome_survey_done(&reader.survey);
    ids_chrome_event_done(&reader.event);
    ids_chrome_event_done(&reader.second);
    ids_chrome_pairs_done(&reader.pairs);
    ids_chrome_places_done(&reader.places);
    free(reader.scratch.at);
    free(reader.args);
    ids_json_window_done(&reader.window);
    return code;
}

static const char *const suffixes[] = {".trace.json.gz", ".trace.json", NULL};
static const char *const generic_suffixes[] = {".pt.trace.json.gz", ".pt.trace.json", ".json.gz", ".json", NULL};

const struct ids_format ids_chrome_trace_format = {
    .name = "chrome_trace",
    .title = "Chrome trace (trace.json)",
    .expected = "a Chrome trace of JAX or PyTorch, *.trace.json",
    .form = "json",
    .lacks =
        "trace.json lacks programs, kernel details, memory, the links between threads, and events beyond a million "
        "(newer writers: five)",
    .suffixes = suffixes,
    .generic_suffixes = generic_suffixes,
    .streams = 1,
    .bid = ids_chrome_bid,
    .read = chrome_read,
};
