/* perfetto.c - Perfetto's protobuf (a Trace of TracePackets), for ui.perfetto.dev and its trace processor.
 *
 * Field numbers: protos/perfetto/trace of the Perfetto project, below. A plane is a process, a track a thread; slices
 * that overlap without nesting lie on lanes, child tracks of the thread's. A slice is a begin and an end packet on its
 * lane, in order, so that none can be matched wrongly. Names and keys are interned: written once, then by number. Times
 * of the format are whole nanoseconds since 1970, or since the profile's start where its wall clock is not known: an
 * event whose picoseconds do not fit bears them as the annotations exact_start_ps and exact_duration_ps.
 */
#include "lib/base/vec.h"
#include "lib/export/export.h"
#include "lib/export/ids.h"
#include "lib/export/lanes.h"
#include "lib/model/keys.h"
#include "lib/wire/pb_writer.h"
#include "lib/wire/utf8.h"

#include <stdio.h>
#include <stdlib.h>

#define VIEWERS_ONLY "it is for viewers: idsprof makes its reports of the profile, and reads no such trace"

enum { TRACE_PACKET = 1 };
enum {
    PACKET_CLOCK_SNAPSHOT = 6,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE_ID = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED_DATA = 12,
    PACKET_SEQUENCE_FLAGS = 13,
    PACKET_TRACK_DESCRIPTOR = 60,
};
enum { FLAG_STATE_CLEARED = 1, FLAG_NEEDS_STATE = 2, SEQUENCE = 1 };
enum { SNAPSHOT_CLOCKS = 1, CLOCK_ID = 1, CLOCK_TIMESTAMP = 2, CLOCK_REALTIME = 1, CLOCK_BOOTTIME = 6 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT_UUID = 5, TRACK_COUNTER = 8 };
enum { PROCESS_PID = 1, PROCESS_SORT_INDEX = 3, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_SORT_INDEX = 3, THREAD_NAME = 5 };
enum { INTERNED_EVENT_NAMES = 2, INTERNED_ANNOTATION_NAMES = 3, INTERNED_STRINGS = 29 };
enum { INTERNED_ID = 1, INTERNED_TEXT = 2 };
enum {
    EVENT_ANNOTATIONS = 4,
    EVENT_LEGACY = 6,
    EVENT_TYPE = 9,
    EVENT_NAME_ID = 10,
    EVENT_TRACK_UUID = 11,
    EVENT_COUNTER = 30,
    EVENT_COUNTER_REAL = 44,
};
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum { LEGACY_NAME_ID = 1, LEGACY_PHASE = 2, LEGACY_UNSCOPED_ID = 6, LEGACY_BIND_TO_ENCLOSING = 12 };
enum {
    ANNOTATION_NAME_ID = 1,
    ANNOTATION_UINT = 3,
    ANNOTATION_INT = 4,
    ANNOTATION_REAL = 5,
    ANNOTATION_STRING = 6,
    ANNOTATION_STRING_ID = 17,
};
enum { LOST_PROGRAMS = 0, LOST_COUNTERS = 1, LOST_TIMES = 2, LOST_STATS = 3 };
enum { PS_IN_NS = 1000, INTERNED_BYTES = 64 << 10 /* texts of names go out when there are that many */ };

/* An annotation that every event of a name bears, encoded. */
struct piece {
    uint32_t key;
    size_t at, length; /* in the name's annotations */
};

struct name {
    uint32_t text; /* what its events are called */
    const char *annotations;
    const struct piece *pieces;
    size_t piece_count;
};

/* Whether a text has been interned, and the last event that had it as a key. */
struct known {
    unsigned char as; /* bits of enum interning */
    uint32_t seen, times;
};

struct track {
    uint32_t plane, name;
    uint64_t uuid;
    struct ids_lanes lanes;
    uint64_t *lane_uuids; /* of lanes 1 and on */
    size_t lane_count, lane_room;
};

struct perfetto {
    struct ids_export export; /* first */
    int64_t base_ns;          /* added to all times */
    int begun;
    uint64_t next_uuid;
    struct ids_thread_ids tids;
    uint32_t *planes; /* texts */
    size_t plane_count, plane_room;
    struct name *names;
    size_t name_count, name_room;
    struct track *tracks;
    size_t track_count, track_room;
    struct ids_arena arena;
    struct known *known; /* by text */
    size_t known_room;
    uint32_t serial;      /* of the event */
    struct piece *pieces; /* of the name that is being made */
    size_t piece_count, piece_room;
    struct ids_keymap counters; /* (track, name, key) -> uuid of its track */
    struct ids_buffer scratch, annotations, interned;
    uint32_t key_start, key_duration, key_id;
    struct track *ending; /* whose slices are ended */
};

enum interning { AS_KEY = 1, AS_STRING = 2, AS_NAME = 4 };

static struct perfetto *of(struct ids_sink *sink) {
    return (struct perfetto *)sink;
}

static struct ids_buffer *out_of(struct perfetto *perfetto) {
    return &perfetto->export.buffer;
}

/* --- texts ------------------------------------------------------------------------------------------------------ */

/* protobuf's strings are valid UTF-8. */
static void put_string(struct ids_buffer *buffer, uint32_t field, const char *text, size_t length) {
    size_t message = ids_pb_open(buffer, field), plain = 0;
    for (size_t at = 0; at < length;) {
        if ((unsigned char)text[at] < 0x80) {
            at++;
            continue;
        }
        uint32_t character;
        int valid;
        size_t taken = ids_utf8_next(text + at, length - at, &character, &valid);
        if (!valid) {
            ids_buffer_put(buffer, text + plain, at - plain);
            IDS_BUFFER_PUT(buffer, IDS_REPLACEMENT_UTF8);
            plain = at + taken;
        }
        at += taken;
    }
    ids_buffer_put(buffer, text + plain, length - plain);
    ids_pb_close(buffer, message);
}

static void put_text(struct perfetto *perfetto, struct ids_buffer *buffer, uint32_t field, uint32_t text) {
    struct ids_text bytes = ids_strings_text(&perfetto->export.strings, text);
    put_string(buffer, field, bytes.at, bytes.length);
}

/* NULL when memory ran out. */
static struct known *known_of(struct perfetto *perfetto, uint32_t text) {
    if (text >= perfetto->known_room) {
        size_t room = perfetto->known_room ? perfetto->known_room : 1024;
        while (room <= text) room *= 2;
        struct known *known = realloc(perfetto->known, room * sizeof *known);
        if (!known) {
            perfetto->interned.failed = 1;
            return NULL;
        }
        memset(known + perfetto->known_room, 0, (room - perfetto->known_room) * sizeof *known);
        perfetto->known = known;
        perfetto->known_room = room;
    }
    return &perfetto->known[text];
}

/* The number of a text that is interned in one way, 1 and on; the first time its text goes along with the packet. */
static uint64_t intern(struct perfetto *perfetto, enum interning as, uint32_t text) {
    static const uint32_t fields[] = {
        [AS_KEY] = INTERNED_ANNOTATION_NAMES, [AS_STRING] = INTERNED_STRINGS, [AS_NAME] = INTERNED_EVENT_NAMES};
    struct known *known = known_of(perfetto, text);
    if (known && !(known->as & as)) {
        known->as |= (unsigned char)as;
        size_t entry = ids_pb_open(&perfetto->interned, fields[as]);
        ids_pb_put_uint(&perfetto->interned, INTERNED_ID, (uint64_t)text + 1);
        put_text(perfetto, &perfetto->interned, INTERNED_TEXT, text);
        ids_pb_close(&perfetto->interned, entry);
    }
    return (uint64_t)text + 1;
}

/* Interned data in a packet of their own, before the event that uses them. */
static int put_interned(struct perfetto *perfetto, struct ids_error *err) {
    struct ids_buffer *interned = &perfetto->interned, *buffer = out_of(perfetto);
    if (interned->failed) return ids_no_memory(err);
    if (!interned->length) return 0;
    size_t packet = ids_pb_open(buffer, TRACE_PACKET);
    ids_pb_put_uint(buffer, PACKET_SEQUENCE_ID, SEQUENCE);
    ids_pb_put_uint(buffer, PACKET_SEQUENCE_FLAGS, FLAG_NEEDS_STATE);
    ids_pb_put_bytes(buffer, PACKET_INTERNED_DATA, interned->at, interned->length);
    ids_pb_close(buffer, packet);
    interned->length = 0;
    return 0;
}

static void put_annotation(struct perfetto *perfetto, struct ids_buffer *buffer, const struct ids_arg *arg) {
    size_t annotation = ids_pb_open(buffer, EVENT_ANNOTATIONS);
    ids_pb_put_uint(buffer, ANNOTATION_NAME_ID, intern(perfetto, AS_KEY, arg->key));
    switch (arg->type) {
    case IDS_VALUE_INT:
        ids_pb_put_uint(buffer, ANNOTATION_INT, arg->u);
        break;
    case IDS_VALUE_UINT:
        ids_pb_put_uint(buffer, ANNOTATION_UINT, arg->u);
        break;
    case IDS_VALUE_REAL:
        ids_pb_put_double(buffer, ANNOTATION_REAL, arg->d);
        break;
    case IDS_VALUE_TEXT:
        ids_pb_put_uint(buffer, ANNOTATION_STRING_ID, intern(perfetto, AS_STRING, arg->text));
        break;
    case IDS_VALUE_CHARS:
        put_string(buffer, ANNOTATION_STRING, arg->chars, arg->length);
        break;
    case IDS_VALUE_BYTES: { /* the format has texts only */
        static const char hex[] = "0123456789abcdef";
        perfetto->scratch.length = 0;
        IDS_BUFFER_PUT(&perfetto->scratch, "hex:");
        for (uint32_t i = 0; i < arg->length; i++) {
            unsigned char byte = (unsigned char)arg->chars[i];
            ids_buffer_put(&perfetto->scratch, (const char[]){hex[byte >> 4], hex[byte & 15]}, 2);
        }
        put_string(buffer, ANNOTATION_STRING, perfetto->scratch.at, perfetto->scratch.length);
        break;
    }
    case IDS_VALUE_REF: {
        char text[32];
        int length = snprintf(text, sizeof text, "ref:%llu", (unsigned long long)arg->u);
        put_string(buffer, ANNOTATION_STRING, text, (size_t)length);
        break;
    }
    default:
        put_string(buffer, ANNOTATION_STRING, "", 0);
    }
    ids_pb_close(buffer, annotation);
}

/* An arg of the event itself. A key that it has twice gets " #2" (and so on) behind its name, as in Chrome's format. */
static void put_own(struct perfetto *perfetto, struct ids_buffer *buffer, const struct ids_arg *arg) {
    struct known *known = known_of(perfetto, arg->key);
    struct ids_arg named = *arg;
    if (!known) return;
    if (known->seen != perfetto->serial) {
        known->seen = perfetto->serial;
        known->times = 0;
    }
    if (++known->times > 1) {
        char number[16];
        int length = snprintf(number, sizeof number, " #%u", known->times);
        struct ids_text key = ids_strings_text(&perfetto->export.strings, arg->key);
        perfetto->scratch.length = 0;
        ids_buffer_put(&perfetto->scratch, key.at, key.length);
        ids_buffer_put(&perfetto->scratch, number, (size_t)length);
        if (!perfetto->scratch.failed)
            named.key = ids_intern(&perfetto->export.strings, perfetto->scratch.at, perfetto->scratch.length);
        if (perfetto->scratch.failed || named.key == IDS_NO_TEXT) {
            buffer->failed = 1;
            return;
        }
    }
    put_annotation(perfetto, buffer, &named);
}

/* --- descriptors ------------------------------------------------------------------------------------------------ */

/* The first packet; the wall clock, where it is known: times are those since 1970 then. */
static void begin(struct perfetto *perfetto) {
    struct ids_buffer *buffer = out_of(perfetto);
    static const unsigned clocks[] = {CLOCK_BOOTTIME, CLOCK_REALTIME};
    if (perfetto->begun) return;
    perfetto->begun = 1;
    size_t packet = ids_pb_open(buffer, TRACE_PACKET);
    ids_pb_put_uint(buffer, PACKET_SEQUENCE_ID, SEQUENCE);
    ids_pb_put_uint(buffer, PACKET_SEQUENCE_FLAGS, FLAG_STATE_CLEARED);
    if (perfetto->base_ns) {
        size_t snapshot = ids_pb_open(buffer, PACKET_CLOCK_SNAPSHOT);
        for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
            size_t clock = ids_pb_open(buffer, SNAPSHOT_CLOCKS);
            ids_pb_put_uint(buffer, CLOCK_ID, clocks[i]);
            ids_pb_put_uint(buffer, CLOCK_TIMESTAMP, (uint64_t)perfetto->base_ns);
            ids_pb_close(buffer, clock);
        }
        ids_pb_close(buffer, snapshot);
    }
    ids_pb_close(buffer, packet);
}

/* Opens the packet that describes a track; the parts to close. */
struct descriptor {
    size_t packet, track;
};

static struct descriptor open_descriptor(struct perfetto *perfetto, uint64_t uuid, uint64_t parent) {
    struct ids_buffer *buffer = out_of(perfetto);
    begin(perfetto);
    size_t packet = ids_pb_open(buffer, TRACE_PACKET);
    ids_pb_put_uint(buffer, PACKET_SEQUENCE_ID, SEQUENCE);
    size_t track = ids_pb_open(buffer, PACKET_TRACK_DESCRIPTOR);
    ids_pb_put_uint(buffer, TRACK_UUID, uuid);
    if (parent) ids_pb_put_uint(buffer, TRACK_PARENT_UUID, parent);
    return (struct descriptor){packet, track};
}

static void close_descriptor(struct perfetto *perfetto, struct descriptor descriptor) {
    ids_pb_close(out_of(perfetto), descriptor.track);
    ids_pb_close(out_of(perfetto), descriptor.packet);
}

static int perfetto_host(struct ids_sink *sink, const struct ids_host_info *host, struct ids_error *err) {
    struct perfetto *perfetto = of(sink);
    if (!perfetto->begun && host->start_unix_ns > 0) perfetto->base_ns = host->start_unix_ns;
    begin(perfetto);
    return ids_export_write(&perfetto->export, err);
}

/* Process ids are small numbers, which the file's threads may have too: they are taken out of those. */
static int32_t pid_of(uint32_t plane) {
    return (int32_t)plane + 1;
}

static uint64_t process_uuid(uint32_t plane) {
    return UINT64_C(1) << 40 | plane;
}

static int perfetto_plane(struct ids_sink *sink, const struct ids_plane_info *info, uint32_t *ret_plane,
                          struct ids_error *err) {
    struct perfetto *perfetto = of(sink);
    struct ids_buffer *buffer = out_of(perfetto);
    uint32_t id = *ret_plane = (uint32_t)perfetto->plane_count;
    uint32_t *plane = IDS_PUSH(perfetto->planes, perfetto->plane_count, perfetto->plane_room);
    if (!plane) return ids_no_memory(err);
    *plane = info->name;
    struct descriptor descriptor = open_descriptor(perfetto, process_uuid(id), 0);
    size_t process = ids_pb_open(buffer, TRACK_PROCESS);
    ids_pb_put_uint(buffer, PROCESS_PID, (uint64_t)pid_of(id));
    ids_pb_put_uint(buffer, PROCESS_SORT_INDEX, id);
    put_text(perfetto, buffer, PROCESS_NAME, info->name);
    ids_pb_close(buffer, process);
    close_descriptor(perfetto, descriptor);
    perfetto->export.losses[LOST_STATS].count += info->arg_count;
    return ids_export_write(&perfetto->export, err);
}

static int is_program(const struct ids_arg *arg) {
    return arg->type == IDS_VALUE_BYTES && (arg->key == IDS_KEY_HLO_PROTO || arg->key == IDS_KEY_HLO_PROTO_OLD);
}

static int add_piece(struct perfetto *perfetto, const struct ids_arg *arg) {
    struct piece *piece = IDS_PUSH(perfetto->pieces, perfetto->piece_count, perfetto->piece_room);
    if (!piece || !known_of(perfetto, arg->key)) return -1;
    *piece = (struct piece){.key = arg->key, .at = perfetto->annotations.length};
    put_annotation(perfetto, &perfetto->annotations, arg);
    piece->length = perfetto->annotations.length - piece->at;
    return perfetto->annotations.failed ? -1 : 0;
}

static int perfetto_name(struct ids_sink *sink, const struct ids_name_info *info, uint32_t *ret_name,
                         struct ids_error *err) {
    struct perfetto *perfetto = of(sink);
    struct ids_buffer *buffer = &perfetto->annotations;
    *ret_name = (uint32_t)perfetto->name_count;
    struct name *name = IDS_PUSH(perfetto->names, perfetto->name_count, perfetto->name_room);
    if (!name) return ids_no_memory(err);
    *name = (struct name){.text = info->display ? info->display : info->text};
    buffer->length = 0;
    perfetto->piece_count = 0;
    int long_name = info->display && info->text && info->display != info->text;
    for (size_t i = 0; i < info->arg_count; i++) {
        if (is_program(&info->args[i])) continue;
        if (info->args[i].key == IDS_KEY_LONG_NAME) long_name = 0;
        if (add_piece(perfetto, &info->args[i])) return ids_no_memory(err);
    }
    const struct ids_arg arg = {.key = IDS_KEY_LONG_NAME, .type = IDS_VALUE_TEXT, .text = info->text};
    if (long_name && add_piece(perfetto, &arg)) return ids_no_memory(err);
    name->piece_count = perfetto->piece_count;
    if (name->piece_count) {
        size_t bytes = name->piece_count * sizeof *name->pieces;
        struct piece *pieces = ids_arena_alloc(&perfetto->arena, bytes);
        name->annotations = ids_arena_copy(&perfetto->arena, buffer->at, buffer->length);
        if (!name->annotations || !pieces) return ids_no_memory(err);
        memcpy(pieces, perfetto->pieces, bytes);
        name->pieces = pieces;
    }
    if (perfetto->interned.length < INTERNED_BYTES) return 0;
    begin(perfetto);
    int code = put_interned(perfetto, err);
    return code ? code : ids_export_write(&perfetto->export, err);
}

static int perfetto_track(struct ids_sink *sink, const struct ids_track_info *info, uint32_t *ret_track,
                          struct ids_error *err) {
    struct perfetto *perfetto = of(sink);
    struct ids_buffer *buffer = out_of(perfetto);
    *ret_track = (uint32_t)perfetto->track_count;
    struct track *track = IDS_PUSH(perfetto->tracks, perfetto->track_count, perfetto->track_room);
    if (!track) return ids_no_memory(err);
    *track = (struct track){.plane = info->plane, .name = info->name, .uuid = ++perfetto->next_uuid};
    /* One scope for all, and none with a number that a process may have: such a thread would be taken for its main
     * thread. */
    int64_t wanted = info->id > 65536 ? info->id : -1;
    int32_t tid = ids_thread_id(&perfetto->tids, 0, wanted);
    if (tid < 0) return ids_no_memory(err);
    struct descriptor descriptor = open_descriptor(perfetto, track->uuid, 0);
    size_t thread = ids_pb_open(buffer, TRACK_THREAD);
    ids_pb_put_uint(buffer, THREAD_PID, (uint64_t)pid_of(info->plane));
    ids_pb_put_uint(buffer, THREAD_TID, (uint64_t)tid);
    ids_pb_put_uint(buffer, THREAD_SORT_INDEX, *ret_track);
    put_text(perfetto, buffer, THREAD_NAME, info->name);
    ids_pb_close(buffer, thread);
    close_descriptor(perfetto, descriptor);
    return ids_export_write(&perfetto->export, err);
}

/* --- events ----------------------------------------------------------------------------------------------------- */

static int64_t floor_ns(int64_t ps) {
    return ps / PS_IN_NS - (ps % PS_IN_NS < 0);
}

/* Opens a packet with a track event; `ns` is the moment without the base. */
static struct descriptor open_event(struct perfetto *perfetto, int64_t ns, uint64_t uuid, unsigned type) {
    struct ids_buffer *buffer = out_of(perfetto);
    int64_t timestamp;
    if (__builtin_add_overflow(ns, perfetto->base_ns, &timestamp) || timestamp < 0) {
        perfetto->export.losses[LOST_TIMES].count += type != TYPE_END;
        timestamp = 0;
    }
    size_t packet = ids_pb_open(buffer, TRACE_PACKET);
    ids_pb_put_uint(buffer, PACKET_TIMESTAMP, (uint64_t)timestamp);
    ids_pb_put_uint(buffer, PACKET_SEQUENCE_ID, SEQUENCE);
    ids_pb_put_uint(buffer, PACKET_SEQUENCE_FLAGS, FLAG_NEEDS_STATE);
    size_t event = ids_pb_open(buffer, PACKET_TRACK_EVENT);
    if (type) ids_pb_put_uint(buffer, EVENT_TYPE, type);
    ids_pb_put_uint(buffer, EVENT_TRACK_UUID, uuid);
    return (struct descriptor){packet, event};
}

static uint64_t lane_uuid(const struct track *track, size_t lane) {
    return lane ? track->lane_uuids[lane - 1] : track->uuid;
}

static int end_slice(void *context, size_t lane, int64_t end) {
    struct perfetto *perfetto = context;
    close_descriptor(perfetto, open_event(perfetto, end, lane_uuid(perfetto->ending, lane), TYPE_END));
    return 0;
}

/* Describes the lanes up to `lane`. */
static int make_lanes(struct perfetto *perfetto, struct track *track, size_t lane, struct ids_error *err) {
    while (track->lane_count < lane) {
        uint64_t *uuid = IDS_PUSH(track->lane_uuids, track->lane_count, track->lane_room);
        if (!uuid) return ids_no_memory(err);
        *uuid = ++perfetto->next_uuid;
        struct descriptor descriptor = open_descriptor(perfetto, *uuid, track->uuid);
        put_text(perfetto, out_of(perfetto), TRACK_NAME, track->name);
        close_descriptor(perfetto, descriptor);
    }
    return 0;
}

/* What an event is called, and its annotations. */
static void fill_event(struct perfetto *perfetto, const struct ids_slice *slice) {
    struct ids_buffer *buffer = out_of(perfetto);
    const struct name *name = &perfetto->names[slice->name];
    ids_pb_put_uint(buffer, EVENT_NAME_ID, (uint64_t)name->text + 1);
    ids_buffer_put(buffer, perfetto->annotations.at, perfetto->annotations.length);
    for (size_t i = 0; i < name->piece_count; i++) { /* where the event has the key too, its own holds */
        const struct piece *piece = &name->pieces[i];
        if (perfetto->known[piece->key].seen != perfetto->serial)
            ids_buffer_put(buffer, name->annotations + piece->at, piece->length);
    }
}

/* Encodes the event's own args, before its packet is opened: they may need interning. */
static int prepare(struct perfetto *perfetto, const struct ids_slice *slice, struct ids_error *err) {
    struct ids_buffer *buffer = &perfetto->annotations;
    buffer->length = 0;
    perfetto->serial++;
    intern(perfetto, AS_NAME, perfetto->names[slice->name].text);
    for (uint32_t i = 0; i < slice->arg_count; i++) put_own(perfetto, buffer, &slice->args[i]);
    if (slice->start_ps % PS_IN_NS || slice->duration_ps % PS_IN_NS) {
        const struct ids_arg start = {.key = perfetto->key_start, .type = IDS_VALUE_INT, .i = slice->start_ps};
        const struct ids_arg duration = {.key = perfetto->key_duration, .type = IDS_VALUE_INT, .i = slice->duration_ps};
        put_annotation(perfetto, buffer, &start);
        if (slice->form == IDS_FORM_SLICE) put_annotation(perfetto, buffer, &duration);
    }
    if (buffer->failed) return ids_no_memory(err);
    return put_interned(perfetto, err);
}

static int put_slice(struct perfetto *perfetto, struct track *track, const struct ids_slice *slice,
                     struct ids_error *err) {
    int64_t start = floor_ns(slice->start_ps), end_ps = slice->start_ps;
    if (slice->duration_ps > 0 && __builtin_add_overflow(slice->start_ps, slice->duration_ps, &end_ps))
        end_ps = INT64_MAX;
    int64_t end = floor_ns(end_ps);
    size_t lane;
    perfetto->ending = track;
    if (ids_lanes_place(&track->lanes, start, end, end_slice, perfetto, &lane)) return ids_no_memory(err);
    int code = make_lanes(perfetto, track, lane, err);
    if (code) return code;
    struct descriptor event = open_event(perfetto, start, lane_uuid(track, lane), TYPE_BEGIN);
    fill_event(perfetto, slice);
    close_descriptor(perfetto, event);
    return lane < IDS_LANES_MAX ? 0 : end_slice(perfetto, lane, end);
}

static int put_instant(struct perfetto *perfetto, const struct track *track, const struct ids_slice *slice) {
    struct descriptor event = open_event(perfetto, floor_ns(slice->start_ps), track->uuid, TYPE_INSTANT);
    fill_event(perfetto, slice);
    close_descriptor(perfetto, event);
    return 0;
}

/* An arrow's end is bound to the slice that is open at its moment; without one it stays an instant. */
static int put_flow(struct perfetto *perfetto, const struct track *track, const struct ids_slice *slice) {
    static const char phases[] = {[IDS_FORM_FLOW_OUT] = 's', [IDS_FORM_FLOW_STEP] = 't', [IDS_FORM_FLOW_IN] = 'f'};
    struct ids_buffer *buffer = out_of(perfetto);
    const struct ids_arg *id = NULL;
    for (uint32_t i = 0; i < slice->arg_count && !id; i++) {
        if (slice->args[i].key == perfetto->key_id) id = &slice->args[i];
    }
    int64_t when = floor_ns(slice->start_ps);
    size_t lane = 0;
    if (!id || !ids_lanes_at(&track->lanes, when, &lane)) return put_instant(perfetto, track, slice);
    uint64_t number = id->type == IDS_VALUE_INT || id->type == IDS_VALUE_UINT ? id->u
                      : id->type == IDS_VALUE_TEXT                            ? id->text
                                                   : ids_hash_bytes(id->type == IDS_VALUE_CHARS ? id->chars : "",
                                                                    id->type == IDS_VALUE_CHARS ? id->length : 0);
    struct descriptor event = open_event(perfetto, when, lane_uuid(track, lane), 0);
    fill_event(perfetto, slice);
    size_t legacy = ids_pb_open(buffer, EVENT_LEGACY);
    ids_pb_put_uint(buffer, LEGACY_NAME_ID, (uint64_t)perfetto->names[slice->name].text + 1);
    ids_pb_put_uint(buffer, LEGACY_PHASE, (uint64_t)phases[slice->form]);
    ids_pb_put_uint(buffer, LEGACY_UNSCOPED_ID, number);
    ids_pb_put_uint(buffer, LEGACY_BIND_TO_ENCLOSING, 1);
    ids_pb_close(buffer, legacy);
    close_descriptor(perfetto, event);
    return 0;
}

/* The track of one series, made when its first value comes. 0 when memory ran out. */
static uint64_t counter_uuid(struct perfetto *perfetto, uint32_t track_id, uint32_t name, uint32_t key) {
    uint64_t *uuid = ids_keymap_at(&perfetto->counters, ids_key_of(ids_key_of(track_id, name), key));
    if (!uuid || *uuid) return uuid ? *uuid : 0;
    *uuid = ++perfetto->next_uuid;
    struct ids_buffer *buffer = out_of(perfetto), *scratch = &perfetto->scratch;
    struct descriptor descriptor = open_descriptor(perfetto, *uuid, process_uuid(perfetto->tracks[track_id].plane));
    struct ids_text text = ids_strings_text(&perfetto->export.strings, perfetto->names[name].text);
    scratch->length = 0;
    ids_buffer_put(scratch, text.at, text.length);
    text = ids_strings_text(&perfetto->export.strings, key);
    ids_buffer_byte(scratch, ' ');
    ids_buffer_put(scratch, text.at, text.length);
    put_string(buffer, TRACK_NAME, scratch->at ? scratch->at : "", scratch->length);
    ids_pb_close(buffer, ids_pb_open(buffer, TRACK_COUNTER));
    close_descriptor(perfetto, descriptor);
    return *uuid;
}

static int put_counter(struct perfetto *perfetto, uint32_t track_id, const struct ids_slice *slice,
                       struct ids_error *err) {
    struct ids_buffer *buffer = out_of(perfetto);
    for (uint32_t i = 0; i < slice->arg_count; i++) {
        const struct ids_arg *arg = &slice->args[i];
        int is_int = arg->type == IDS_VALUE_INT || (arg->type == IDS_VALUE_UINT && arg->u <= INT64_MAX);
        if (!is_int && arg->type != IDS_VALUE_REAL && arg->type != IDS_VALUE_UINT) {
            perfetto->export.losses[LOST_COUNTERS].count++;
            continue;
        }
        uint64_t uuid = counter_uuid(perfetto, track_id, slice->name, arg->key);
        if (!uuid) return ids_no_memory(err);
        struct descriptor event = open_event(perfetto, floor_ns(slice->start_ps), uuid, TYPE_COUNTER);
        if (is_int)
            ids_pb_put_uint(buffer, EVENT_COUNTER, arg->u);
        else
            ids_pb_put_double(buffer, EVENT_COUNTER_REAL, arg->type == IDS_VALUE_REAL ? arg->d : (double)arg->u);
        close_descriptor(perfetto, event);
    }
    return 0;
}

static int perfetto_slice(struct ids_sink *sink, uint32_t track_id, const struct ids_slice *slice,
                          struct ids_error *err) {
    struct perfetto *perfetto = of(sink);
    struct track *track = &perfetto->tracks[track_id];
    int code = slice->form == IDS_FORM_COUNTER ? 0 : prepare(perfetto, slice, err);
    if (code) return code;
    switch (slice->form) {
    case IDS_FORM_INSTANT:
        code = put_instant(perfetto, track, slice);
        break;
    case IDS_FORM_COUNTER:
        code = put_counter(perfetto, track_id, slice, err);
        break;
    case IDS_FORM_FLOW_OUT:
    case IDS_FORM_FLOW_STEP:
    case IDS_FORM_FLOW_IN:
        code = put_flow(perfetto, track, slice);
        break;
    default:
        code = put_slice(perfetto, track, slice, err);
    }
    if (code) return code;
    perfetto->export.events++;
    return ids_export_write(&perfetto->export, err);
}

static int perfetto_track_end(struct ids_sink *sink, uint32_t track_id, struct ids_error *err) {
    struct perfetto *perfetto = of(sink);
    perfetto->ending = &perfetto->tracks[track_id];
    int code = ids_lanes_end(&perfetto->ending->lanes, end_slice, perfetto);
    return code ? code : ids_export_write(&perfetto->export, err);
}

static int perfetto_program(struct ids_sink *sink, const struct ids_program *program, struct ids_error *err) {
    (void)program, (void)err;
    of(sink)->export.losses[LOST_PROGRAMS].count++;
    return 0;
}

static int perfetto_finish(struct ids_export *export, struct ids_error *err) {
    begin((struct perfetto *)export);
    return ids_export_write_all(export, err);
}

static void perfetto_done(struct ids_export *export) {
    struct perfetto *perfetto = (struct perfetto *)export;
    for (size_t i = 0; i < perfetto->track_count; i++) {
        ids_lanes_done(&perfetto->tracks[i].lanes);
        free(perfetto->tracks[i].lane_uuids);
    }
    free(perfetto->tracks);
    free(perfetto->names);
    free(perfetto->planes);
    free(perfetto->known);
    free(perfetto->pieces);
    ids_arena_done(&perfetto->arena);
    ids_thread_ids_done(&perfetto->tids);
    ids_keymap_done(&perfetto->counters);
    ids_buffer_done(&perfetto->scratch);
    ids_buffer_done(&perfetto->annotations);
    ids_buffer_done(&perfetto->interned);
}

static int intern_keys(struct perfetto *perfetto) {
    struct ids_strings *strings = &perfetto->export.strings;
    perfetto->key_start = ids_intern_z(strings, "exact_start_ps");
    perfetto->key_duration = ids_intern_z(strings, "exact_duration_ps");
    perfetto->key_id = ids_intern_z(strings, "id");
    return perfetto->key_id == IDS_NO_TEXT ? -1 : 0;
}

static int open_perfetto(struct ids_out *out, const struct ids_export_params *params, struct ids_export **ret_export,
                         struct ids_error *err) {
    (void)params;
    static const struct ids_sink_ops ops = {.host = perfetto_host,
                                            .plane = perfetto_plane,
                                            .name = perfetto_name,
                                            .track = perfetto_track,
                                            .slice = perfetto_slice,
                                            .track_end = perfetto_track_end,
                                            .program = perfetto_program,
                                            .diag = ids_export_no_diag};
    struct perfetto *perfetto = calloc(1, sizeof *perfetto);
    if (!perfetto) return ids_no_memory(err);
    perfetto->export.finish = perfetto_finish;
    perfetto->export.done = perfetto_done;
    struct ids_export_loss *losses = perfetto->export.losses;
    losses[LOST_PROGRAMS] = (struct ids_export_loss){"HLO program", "HLO programs", 0, VIEWERS_ONLY};
    losses[LOST_COUNTERS] =
        (struct ids_export_loss){"counter value that is not a number", "counter values that are not numbers", 0, NULL};
    losses[LOST_TIMES] =
        (struct ids_export_loss){"event before time 0 (moved there)", "events before time 0 (moved there)", 0, NULL};
    losses[LOST_STATS] = (struct ids_export_loss){"stat of a plane", "stats of planes", 0, NULL};
    int code = ids_export_init(&perfetto->export, out, &ops, err);
    if (!code && intern_keys(perfetto)) code = ids_no_memory(err);
    if (code) {
        ids_export_free(&perfetto->export);
        return code;
    }
    *ret_export = &perfetto->export;
    return 0;
}

const struct ids_export_format ids_perfetto_export = {
    .name = "perfetto",
    .title = "Perfetto's format",
    .suffix = ".pftrace",
    .wants_order = 1,
    .is_for_viewers = 1,
    .open = open_perfetto,
};
