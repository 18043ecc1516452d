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
 * most elements (chrome_survey.c); another thread unpacks the file at the same time. What an event becomes is in
 * chrome_slices.c, what could not be kept in chrome_losses.c.
 */
#include "formats/chrome_bid.h"
#include "formats/chrome_reader.h"

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

static enum ids_json_result element(struct ids_chrome_reader *reader, int *ret_code, struct ids_error *err) {
    struct ids_json_scan *scan = reader->scan;
    const char *start = scan->at;
    int no_memory;
    reader->has_objects = 1;
    if (reader->counting) return ids_chrome_survey_element(&reader->survey, scan, ret_code, err);
    scan->broken = reader->scratch.broken = NULL;
    enum ids_json_result result = ids_chrome_event_read(scan, &reader->event, &no_memory);
    if (no_memory) *ret_code = ids_no_memory(err);
    if (result != IDS_JSON_OK) return result;
    *ret_code = ids_chrome_give_event(reader, (struct ids_text){start, (uint32_t)(scan->at - start)}, err);
    if (scan->broken || reader->scratch.broken)
        ids_chrome_note_broken(reader, scan->broken ? scan->broken : reader->scratch.broken);
    return IDS_JSON_OK;
}

static enum ids_json_result elements(struct ids_chrome_reader *reader, int *ret_code, struct ids_error *err) {
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
        reader->part = reader->bare ? IDS_CHROME_AT_END : IDS_CHROME_AT_MEMBERS;
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
static enum ids_json_result check_member(struct ids_chrome_reader *reader, int *ret_code, struct ids_error *err) {
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
    if (broken) ids_chrome_note_broken(reader, broken);
    return IDS_JSON_OK;
}

static enum ids_json_result member(struct ids_chrome_reader *reader, int *ret_code, struct ids_error *err) {
    struct ids_json_scan *scan = reader->scan;
    const char *start = scan->at;
    const int first = reader->first_member;
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
            reader->after_element = 0;
            reader->part = IDS_CHROME_AT_ELEMENTS;
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
            reader->part = IDS_CHROME_IN_MEMBER;
            return IDS_JSON_OK;
        }
        result = ids_json_value(scan, &value);
    }
    if (result == IDS_JSON_OK && scan->broken && !reader->counting) ids_chrome_note_broken(reader, scan->broken);
    if (result == IDS_JSON_OK && reader->counting && ids_chrome_property_wanted(&key))
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
    reader->after_element = 0;
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
static int pass(struct ids_chrome_reader *reader, int counting, int64_t *ret_cut, struct ids_error *err) {
    reader->counting = counting;
    reader->part = IDS_CHROME_AT_START;
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

static int end_tracks(struct ids_chrome_reader *reader, struct ids_error *err) {
    int code = 0;
    for (size_t i = 0; i < reader->places.thread_count && !code; i++) {
        const struct ids_chrome_thread *thread = &reader->places.threads[i];
        if (thread->opened) code = reader->sink->ops->track_end(reader->sink, thread->track, err);
    }
    return code;
}

static int read_passes(struct ids_chrome_reader *reader, struct ids_error *err) {
    int64_t cut;
    reader->counters_text = ids_intern_z(reader->sink->strings, "counters");
    if (reader->counters_text == IDS_NO_TEXT) return ids_no_memory(err);
    int code = pass(reader, 1, &cut, err);
    if (!code) code = ids_chrome_find_devices(&reader->places, err);
    if (!code) code = pass(reader, 0, &cut, err);
    if (!code)
        code = ids_chrome_pairs_match(&reader->pairs, ids_chrome_give_pair, reader, &reader->losses.without_begin, err);
    if (code) return code;
    if (!reader->has_list && cut < 0)
        return ids_fail(err, IDS_UNSUPPORTED, "JSON, but not a trace: it has no list 'traceEvents'");
    if (!reader->has_objects && reader->losses.strays)
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

static int chrome_read(struct ids_source *source, struct ids_sink *sink, struct ids_error *err) {
    struct ids_chrome_reader reader = {.source = source, .sink = sink, .first_ps = INT64_MAX, .last_ps = INT64_MIN};
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
