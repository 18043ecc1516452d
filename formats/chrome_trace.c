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
 * most elements (chrome_survey.c). Where the sink allows it, one that names its places first, as JAX does, is read at
 * once, until something stands behind the events that a first pass would have told before. Another thread unpacks the
 * file at the same time, and one more takes elements apart (chrome_ahead.c). What an event becomes is in
 * chrome_slices.c, what could not be kept in chrome_losses.c.
 */
#include "formats/chrome_bid.h"
#include "formats/chrome_reader.h"

#include "lib/base/parallel.h"
#include "lib/model/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Members beside the list up to this size are held against the grammar; larger ones are only passed over, in bounded
 * memory. */
enum { CHECKED_BYTES = 4 << 20 };

/* ---- elements and members ---- */

static int corrupt(const struct ids_chrome_reader *reader, struct ids_error *err) {
    return ids_fail(err, IDS_CORRUPT, "not JSON: %s was expected (offset %" PRIu64 ")",
                    reader->scan->why ? reader->scan->why : "something else",
                    ids_json_window_offset(&reader->window, reader->scan->at));
}

static void doubt(struct ids_chrome_reader *reader) {
    reader->in_doubt = 1;
}

/* In the only pass: what the event tells of others comes in time only if none was given yet. */
static int look_at_once(struct ids_chrome_reader *reader, struct ids_text element, struct ids_error *err) {
    reader->survey.tells = 0;
    int code = ids_chrome_survey_event(&reader->survey, reader->event, element, err);
    const int is_metadata = reader->event->phase == 'M';
    if (code || (is_metadata && !reader->has_base)) return code;
    /* Nor is it of a writer that names places first. */
    if (reader->survey.tells || !reader->places.process_count) doubt(reader);
    return reader->has_base || reader->in_doubt ? 0 : ids_chrome_find_devices(&reader->places, err);
}

/* `at` in the text of the element is `offset` bytes from the start of the file. */
static int give_element(struct ids_chrome_reader *reader, const struct ids_chrome_element *element, const char *at,
                        uint64_t offset, struct ids_error *err) {
    reader->scratch.broken = NULL;
    reader->event = &element->event;
    int code = reader->pass == IDS_CHROME_AT_ONCE ? look_at_once(reader, element->text, err) : 0;
    if (!code && !reader->in_doubt) code = ids_chrome_give_event(reader, element->text, err);
    const char *broken = element->broken ? element->broken : reader->scratch.broken;
    if (broken) ids_chrome_note_broken(reader, offset + (uint64_t)(broken - at));
    return code;
}

static enum ids_json_result element(struct ids_chrome_reader *reader, int *ret_code, struct ids_error *err) {
    struct ids_chrome_element element;
    int no_memory = 0;
    reader->has_objects = 1;
    if (reader->pass == IDS_CHROME_SURVEY) {
        enum ids_json_result result = ids_chrome_survey_element(&reader->survey, reader->scan, ret_code, err);
        if (result == IDS_JSON_OK) reader->list.after_element = 1;
        return result;
    }
    reader->parser.used = 0;
    enum ids_json_result result = ids_chrome_list_take(&reader->list, &reader->parser, &element, &no_memory);
    if (no_memory) *ret_code = ids_no_memory(err);
    if (result == IDS_JSON_OK)
        *ret_code = give_element(reader, &element, reader->window.at, reader->window.offset, err);
    return result;
}

static enum ids_json_result elements(struct ids_chrome_reader *reader, int *ret_code, struct ids_error *err) {
    enum ids_json_result result = ids_chrome_list_next(&reader->list);
    if (result == IDS_JSON_OK) return element(reader, ret_code, err);
    if (result != IDS_JSON_END) return result;
    reader->part = reader->bare ? IDS_CHROME_AT_END : IDS_CHROME_AT_MEMBERS;
    return IDS_JSON_OK;
}

/* The elements that follow, while another thread takes apart what comes behind them. It stops where they end. */
static enum ids_json_result read_ahead(struct ids_chrome_reader *reader, int *ret_code, struct ids_error *err) {
    struct ids_chrome_ahead *ahead;
    const struct ids_chrome_batch *batch;
    enum ids_json_result result = IDS_JSON_BAD;
    *ret_code = ids_chrome_ahead_begin(&reader->window, &reader->list, &reader->parser, &ahead, err);
    if (*ret_code) return result;
    while (!*ret_code && !reader->in_doubt && (batch = ids_chrome_ahead_next(ahead))) {
        if (batch->count) reader->has_objects = 1;
        for (size_t i = 0; i < batch->count && !*ret_code && !reader->in_doubt; i++)
            *ret_code = give_element(reader, &batch->elements[i], batch->at, batch->offset, err);
    }
    struct ids_error of_thread = IDS_ERROR_INIT;
    int code = ids_chrome_ahead_end(ahead, &result, &of_thread);
    if (code && !*ret_code) *ret_code = ids_error_pass(err, &of_thread);
    if (result != IDS_JSON_END) return result;
    reader->part = reader->bare ? IDS_CHROME_AT_END : IDS_CHROME_AT_MEMBERS;
    return IDS_JSON_OK;
}

static void note_broken(struct ids_chrome_reader *reader, const char *at) {
    ids_chrome_note_broken(reader, ids_json_window_offset(&reader->window, at));
}

/* A member beside the list that is told what it is, if it is `wanted`; and said where it is no JSON. */
static enum ids_json_result check_member(struct ids_chrome_reader *reader, const struct ids_json_span *key, int wanted,
                                         int *ret_code, struct ids_error *err) {
    struct ids_json_scan *scan = reader->scan;
    struct ids_json_span value;
    const char *broken = NULL;
    enum ids_json_result result = ids_json_value(scan, &value);
    if (result != IDS_JSON_OK) return result;
    if (wanted) *ret_code = ids_chrome_property(&reader->places, key, &value, &reader->properties, err);
    if (*ret_code) return IDS_JSON_OK;
    if (ids_chrome_scratch_reset(&reader->scratch, value.length)) {
        *ret_code = ids_no_memory(err);
        return IDS_JSON_OK;
    }
    ids_json_minify(&value, reader->scratch.at, &broken);
    if (broken) note_broken(reader, broken);
    return IDS_JSON_OK;
}

static enum ids_json_result member(struct ids_chrome_reader *reader, int *ret_code, struct ids_error *err) {
    struct ids_json_scan *scan = reader->scan;
    const char *start = scan->at;
    const int first = reader->first_member;
    int wanted = 0; /* now, and by somebody */
    struct ids_json_span key, value;
    scan->broken = NULL;
    enum ids_json_result result = ids_json_member(scan, &reader->first_member, &key);
    if (result == IDS_JSON_END) reader->part = IDS_CHROME_AT_END;
    if (result == IDS_JSON_END) return IDS_JSON_OK;
    if (result == IDS_JSON_OK) result = ids_json_space(scan);
    if (result == IDS_JSON_OK) {
        int opens = *scan->at == '{' || *scan->at == '[';
        if (*scan->at == '[' && ids_text_is((struct ids_text){key.at, (uint32_t)key.length}, "traceEvents")) {
            scan->at++;
            reader->has_list = 1;
            reader->list.after_element = 0;
            reader->part = IDS_CHROME_AT_ELEMENTS;
            return IDS_JSON_OK;
        }
        wanted = reader->pass != IDS_CHROME_EVENTS && ids_chrome_property_wanted(&key);
        const int is_large = opens && scan->end - start > CHECKED_BYTES;
        if (wanted && reader->pass == IDS_CHROME_AT_ONCE && (reader->has_base || is_large)) {
            doubt(reader);
            return IDS_JSON_OK;
        }
        if (opens && reader->pass != IDS_CHROME_SURVEY && !is_large) {
            result = check_member(reader, &key, wanted, ret_code, err);
            if (result != IDS_JSON_MORE || !scan->whole) {
                if (result == IDS_JSON_MORE) {
                    scan->at = start;
                    reader->first_member = first;
                }
                return result;
            }
        }
        if (opens && (reader->pass != IDS_CHROME_SURVEY || !wanted)) {
            reader->skip = (struct ids_json_skip){0};
            reader->part = IDS_CHROME_IN_MEMBER;
            return IDS_JSON_OK;
        }
        result = ids_json_value(scan, &value);
    }
    if (result == IDS_JSON_OK && scan->broken && reader->pass != IDS_CHROME_SURVEY) note_broken(reader, scan->broken);
    if (result == IDS_JSON_OK && wanted)
        *ret_code = ids_chrome_property(&reader->places, &key, &value, &reader->properties, err);
    if (result == IDS_JSON_MORE) {
        scan->at = start;
        reader->first_member = first;
    }
    return result;
}

static enum ids_json_result begin(struct ids_chrome_reader *reader) {
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
    reader->list.after_element = 0;
    reader->part = reader->bare ? IDS_CHROME_AT_ELEMENTS : IDS_CHROME_AT_MEMBERS;
    return IDS_JSON_OK;
}

static enum ids_json_result step(struct ids_chrome_reader *reader, int *ret_code, struct ids_error *err) {
    enum ids_json_result result;
    switch (reader->part) {
    case IDS_CHROME_AT_START:
        return begin(reader);
    case IDS_CHROME_AT_MEMBERS:
        return member(reader, ret_code, err);
    case IDS_CHROME_IN_MEMBER:
        result = ids_json_skip(reader->scan, &reader->skip);
        if (result == IDS_JSON_OK) reader->part = IDS_CHROME_AT_MEMBERS;
        return result;
    case IDS_CHROME_AT_ELEMENTS:
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
static int ends_between(struct ids_chrome_reader *reader) {
    if (reader->part != IDS_CHROME_AT_ELEMENTS && reader->part != IDS_CHROME_AT_MEMBERS) return 0;
    return ids_json_space(reader->scan) == IDS_JSON_MORE;
}

/* 1 when the file ends where it may: all closed, or the bare array's bracket is missing, which writers that append
 * leave out. An object that is not closed was written by somebody who meant to close it, and lacks what should have
 * come. */
static int ends_well(struct ids_chrome_reader *reader) {
    return reader->part == IDS_CHROME_AT_END ||
           (reader->bare && reader->part == IDS_CHROME_AT_ELEMENTS && ends_between(reader));
}

/* What does not read as JSON in a gzip file that is damaged is the damage, and the end of what can be read. */
static int damaged_source(struct ids_chrome_reader *reader, int *ret_code, struct ids_error *err) {
    *ret_code = ids_json_window_drain(&reader->window, err);
    return !*ret_code && ids_source_cut(reader->source);
}

/* One pass over the file. *ret_cut is the offset at which an element that ends early begins, or -1. */
static int pass(struct ids_chrome_reader *reader, enum ids_chrome_pass pass, int64_t *ret_cut, struct ids_error *err) {
    int goes_ahead = 0;
    reader->pass = pass;
    reader->part = IDS_CHROME_AT_START;
    reader->list.strays = 0;
    *ret_cut = -1;
    int code = ids_json_window_open(&reader->window, reader->source, err);
    while (!code) {
        enum ids_json_result result = goes_ahead ? read_ahead(reader, &code, err) : step(reader, &code, err);
        if (code || result == IDS_JSON_END || reader->in_doubt) break;
        if (reader->places.is_written && pass == IDS_CHROME_AT_ONCE) doubt(reader);
        if (result == IDS_JSON_BAD && pass == IDS_CHROME_AT_ONCE) doubt(reader); /* a first pass may say it better */
        if (reader->in_doubt) break;
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
        goes_ahead = result == IDS_JSON_MORE && pass != IDS_CHROME_SURVEY && reader->part == IDS_CHROME_AT_ELEMENTS &&
                     !reader->scan->whole && ids_jobs() > 1;
    }
    ids_json_window_close(&reader->window);
    return code;
}

/* ---- the whole file ---- */

static int end_tracks(struct ids_chrome_reader *reader, struct ids_error *err) {
    int code = 0;
    for (size_t i = 0; i < reader->places.thread_count && !code; i++) {
        const struct ids_chrome_thread *thread = &reader->places.threads[i];
        if (thread->opened) code = reader->sink->ops->track_end(reader->sink, thread->track, err);
    }
    return code;
}

static int read_passes(struct ids_chrome_reader *reader, int at_once, struct ids_error *err) {
    int64_t cut = -1;
    reader->counters_text = ids_intern_z(reader->sink->strings, "counters");
    if (reader->counters_text == IDS_NO_TEXT) return ids_no_memory(err);
    int code = pass(reader, at_once ? IDS_CHROME_AT_ONCE : IDS_CHROME_SURVEY, &cut, err);
    if (!code && !reader->has_base) code = ids_chrome_find_devices(&reader->places, err);
    if (!code && !at_once) code = pass(reader, IDS_CHROME_EVENTS, &cut, err);
    if (reader->in_doubt) return code;
    if (!code)
        code = ids_chrome_pairs_match(&reader->pairs, ids_chrome_give_pair, reader, &reader->losses.without_begin, err);
    if (code) return code;
    if (!reader->has_list && cut < 0)
        return ids_fail(err, IDS_UNSUPPORTED, "JSON, but not a trace: it has no list 'traceEvents'");
    if (!reader->has_objects && reader->list.strays)
        return ids_fail(err, IDS_UNSUPPORTED, "JSON, but not a trace: its list holds no events");
    if (!reader->has_base) {
        if (cut >= 0)
            return ids_fail(err, IDS_TRUNCATED, "the file ends before its first event is whole (offset %" PRId64 ")",
                            cut);
        code = ids_chrome_say_host(reader, err);
    }
    if (!code) code = ids_chrome_open_written(&reader->places, err);
    if (!code) code = end_tracks(reader, err);
    if (!code && cut >= 0) {
        reader->sink->complete = 0;
        code = ids_chrome_say_cut(reader, cut, err);
    }
    return code ? code : ids_chrome_say_losses(reader, err);
}

/* *ret_in_doubt: only with a first pass; *ret_too_late: and not into this sink. */
static int read_file(struct ids_source *source, struct ids_sink *sink, int at_once, int *ret_in_doubt,
                     int *ret_too_late, struct ids_error *err) {
    struct ids_chrome_reader reader = {.source = source, .sink = sink, .first_ps = INT64_MAX, .last_ps = INT64_MIN};
    reader.properties.rank = -1;
    reader.places.sink = sink;
    reader.survey = (struct ids_chrome_survey){.places = &reader.places, .categories = &reader.categories};
    reader.scan = &reader.window.scan;
    reader.list.scan = reader.scan;
    int code = read_passes(&reader, at_once, err);
    *ret_in_doubt = reader.in_doubt || (at_once && code && code != IDS_NOMEM);
    *ret_too_late = reader.has_base;
    ids_chrome_survey_done(&reader.survey);
    ids_chrome_parser_done(&reader.parser);
    ids_chrome_pairs_done(&reader.pairs);
    ids_chrome_places_done(&reader.places);
    free(reader.scratch.at);
    free(reader.args);
    ids_json_window_done(&reader.window);
    return code;
}

static int chrome_read(struct ids_source *source, struct ids_sink *sink, struct ids_error *err) {
    int in_doubt, too_late;
    if (!sink->may_begin_again) return read_file(source, sink, 0, &in_doubt, &too_late, err);
    int code = read_file(source, sink, 1, &in_doubt, &too_late, err);
    if (!in_doubt || code == IDS_NOMEM) return code;
    *err = (struct ids_error)IDS_ERROR_INIT;
    if (!too_late) return read_file(source, sink, 0, &in_doubt, &too_late, err);
    sink->begins_again = 1;
    return ids_fail(err, IDS_LIMIT, "what the events are stands behind them");
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
