/* xplane.c - the XSpace profile that XLA, JAX and TensorFlow write (*.xplane.pb).
 *
 * Format: tsl/profiler/protobuf/xplane.proto. A file is an XSpace of planes (a device, or the host);
 * a plane holds lines (a stream, a thread) of events, and the tables of names that events and stats refer to. Writers
 * put the tables after the lines, so a plane is read twice: first its index (a skip by lengths, no event is touched),
 * then name tables, then every event once.
 *
 * Damage: if a length runs past the end of the file, the file was cut, and all whole events before are kept. A
 * malformed tag or varint, or a length that runs past its parent, is a corrupt file. (docs/metrics.md, Damaged files)
 */
#include "formats/hlo.h"
#include "formats/pb_file.h"
#include "lib/base/idmap.h"
#include "lib/base/parallel.h"
#include "lib/base/vec.h"
#include "lib/fields/xspace.h"
#include "lib/io/source.h"
#include "lib/model/format.h"
#include "lib/model/keys.h"
#include "lib/wire/pb_wire.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* protobuf's own limit: no message is longer. */
#define LENGTH_LIMIT ((uint64_t)INT32_MAX)
/* A line's timestamp above this is nanoseconds since 1970, not since the session's start (three years). */
#define EPOCH_NS ((int64_t)100000000 * 1000000000)
/* Times above this (11 days) do not count from the start of the session, but from 1970 or the start of the machine. */
#define FAR_NS ((int64_t)1000000 * 1000000000)

struct spans {
    struct ids_span_bytes *at;
    size_t count, room;
};

struct plane {
    struct ids_span_bytes span;
    uint32_t name; /* text */
    struct spans lines, event_metadata, stat_metadata, stats;
};

struct reader {
    struct ids_pb_file file;
    struct ids_sink *sink;
    uint64_t events;
    uint64_t without_time; /* events that were left out */
    bool head_ended;       /* the line's own fields were taken to end at its first event */
    int64_t base_ns;
    struct plane *planes;
    size_t plane_count, plane_room;
    uint32_t host_name;
    /* of the plane being read */
    uint32_t plane_id;
    struct ids_idmap stat_texts;  /* stat metadata id -> text */
    struct ids_idmap event_names; /* event metadata id -> the sink's name */
    uint32_t num_occurrences;     /* text */
    bool has_forms;               /* its stats have IDS_KEY_FORM among them */
    bool is_of_part;              /* others read with the same maps, which may not change */
    struct ids_arg *args;
    size_t arg_count, arg_room;
};

static int corrupt(struct ids_error *err, uint64_t offset, const char *what) {
    return ids_fail(err, IDS_CORRUPT, "%s (offset %" PRIu64 ")", what, offset);
}

/* --- stats ------------------------------------------------------------------------------------------------------ */

/* A field's tag as it stands in the file, for fields 1 to 15. */
#define TAG(number, wire) ((number) << 3 | (wire))

/* Passes over a field that the schema had not when this was written. 0, or -1 when it is malformed. */
static int skip_field(struct ids_pb *pb) {
    struct ids_pb_field field;
    return ids_pb_next(pb, &field) > 0 ? 0 : -1;
}

/* A length-delimited field's payload, pb standing behind its tag. 0, or -1 when it is malformed. */
static inline int take_bytes(struct ids_pb *pb, struct ids_pb *ret_payload) {
    uint64_t length;
    if (ids_pb_varint(pb, &length) != 1 || length > (uint64_t)(pb->end - pb->at)) return -1;
    *ret_payload = (struct ids_pb){pb->at, pb->at + length};
    pb->at += length;
    return 0;
}

static int unnamed_key(struct reader *reader, uint64_t id, uint32_t *ret_key, struct ids_error *err) {
    char name[32];
    if (reader->is_of_part) return corrupt(err, 0, "a stat without a name");
    int length = snprintf(name, sizeof name, "stat#%" PRId64, (int64_t)id);
    *ret_key = ids_intern(reader->sink->strings, name, (size_t)length);
    if (*ret_key == IDS_NO_TEXT || ids_idmap_set(&reader->stat_texts, id, *ret_key)) return ids_no_memory(err);
    return 0;
}

/* Decodes a stat into reader->args. Texts behind references are resolved, other texts stay where they are. A profile
 * has millions of stats: the switch is over the tag's byte. */
static inline int read_stat(struct reader *reader, struct ids_pb pb, uint64_t offset, struct ids_error *err) {
    struct ids_arg *arg = IDS_PUSH(reader->args, reader->arg_count, reader->arg_room);
    if (!arg) return ids_no_memory(err);
    arg->type = IDS_VALUE_NONE;
    arg->length = 0;
    uint64_t id = 0, value = 0;
    struct ids_pb payload;
    while (pb.at < pb.end) {
        int bad = 0;
        switch (*pb.at++) {
        case TAG(STAT_METADATA_ID, IDS_PB_VARINT):
            bad = ids_pb_varint(&pb, &id) != 1;
            break;
        case TAG(STAT_DOUBLE, IDS_PB_FIXED64):
            bad = pb.end - pb.at < 8;
            if (bad) break;
            memcpy(&arg->d, pb.at, sizeof arg->d);
            arg->type = IDS_VALUE_REAL;
            pb.at += 8;
            break;
        case TAG(STAT_UINT, IDS_PB_VARINT):
            bad = ids_pb_varint(&pb, &value) != 1;
            arg->type = IDS_VALUE_UINT;
            arg->u = value;
            break;
        case TAG(STAT_INT, IDS_PB_VARINT):
            bad = ids_pb_varint(&pb, &value) != 1;
            arg->type = IDS_VALUE_INT;
            arg->u = value;
            break;
        case TAG(STAT_STR, IDS_PB_BYTES):
        case TAG(STAT_BYTES, IDS_PB_BYTES):
            arg->type = pb.at[-1] == TAG(STAT_STR, IDS_PB_BYTES) ? IDS_VALUE_CHARS : IDS_VALUE_BYTES;
            bad = take_bytes(&pb, &payload);
            if (bad) break;
            arg->chars = (const char *)payload.at;
            arg->length = (uint32_t)(payload.end - payload.at);
            break;
        case TAG(STAT_REF, IDS_PB_VARINT): {
            bad = ids_pb_varint(&pb, &value) != 1;
            if (bad) break;
            uint32_t text = ids_idmap_get(&reader->stat_texts, value);
            arg->type = text == IDS_IDMAP_NONE ? IDS_VALUE_REF : IDS_VALUE_TEXT;
            if (text == IDS_IDMAP_NONE)
                arg->u = value;
            else
                arg->text = text;
            break;
        }
        default:
            pb.at--;
            bad = skip_field(&pb);
        }
        if (bad) return corrupt(err, offset, "malformed stat");
    }
    arg->key = ids_idmap_get(&reader->stat_texts, id);
    return arg->key == IDS_IDMAP_NONE ? unnamed_key(reader, id, &arg->key, err) : 0;
}

/* --- the tables of names ---------------------------------------------------------------------------------------- */

/* A map entry: its key, and its value's bytes (empty when absent). */
static int read_entry(const uint8_t *bytes, struct ids_span_bytes span, uint64_t *ret_key, struct ids_pb *ret_value,
                      struct ids_error *err) {
    struct ids_pb pb = {bytes, bytes + span.length};
    struct ids_pb_field field;
    int more;
    *ret_key = 0;
    *ret_value = (struct ids_pb){bytes, bytes};
    while ((more = ids_pb_next(&pb, &field)) > 0) {
        if (field.number == ENTRY_KEY && field.wire == IDS_PB_VARINT) *ret_key = field.value;
        if (field.number == ENTRY_VALUE && field.wire == IDS_PB_BYTES) *ret_value = ids_pb_inside(&field);
    }
    return more < 0 ? corrupt(err, span.at, "malformed metadata entry") : 0;
}

static int read_stat_metadata(struct reader *reader, struct ids_span_bytes span, struct ids_error *err) {
    const uint8_t *bytes;
    int code = ids_pb_file_bytes(&reader->file, span, &bytes, err);
    if (code || !bytes) return code;
    uint64_t key;
    struct ids_pb value;
    code = read_entry(bytes, span, &key, &value, err);
    if (code) return code;
    struct ids_pb_field field;
    int more;
    uint32_t text = 0;
    while ((more = ids_pb_next(&value, &field)) > 0) {
        if (field.number != META_NAME || field.wire != IDS_PB_BYTES) continue;
        text = ids_intern(reader->sink->strings, (const char *)field.bytes, (size_t)field.value);
        if (text == IDS_NO_TEXT) return ids_no_memory(err);
    }
    if (text == IDS_KEY_FORM) reader->has_forms = true;
    if (more < 0) return corrupt(err, span.at, "malformed stat metadata");
    return ids_idmap_set(&reader->stat_texts, key, text) ? ids_no_memory(err) : 0;
}

/* The program's id: the number in "jit_f(123)", by which events name it, or else the metadata's key. */
static uint64_t program_of(struct ids_text name, uint64_t key) {
    if (name.length < 3 || name.at[name.length - 1] != ')') return key;
    uint64_t id = 0, scale = 1;
    size_t at = name.length - 1;
    while (at > 0 && name.at[at - 1] >= '0' && name.at[at - 1] <= '9') {
        id += (uint64_t)(name.at[--at] - '0') * scale;
        scale *= 10;
    }
    return at > 0 && at < name.length - 1u && name.at[at - 1] == '(' ? id : key;
}

static int read_hlo(struct reader *reader, const struct ids_name_info *name, uint64_t key, uint64_t offset,
                    struct ids_error *err) {
    for (size_t i = 0; i < name->arg_count; i++) {
        const struct ids_arg *arg = &name->args[i];
        if (arg->type != IDS_VALUE_BYTES || (arg->key != IDS_KEY_HLO_PROTO && arg->key != IDS_KEY_HLO_PROTO_OLD))
            continue;
        const struct ids_sink_ops *ops = reader->sink->ops;
        uint64_t program_id = program_of(ids_strings_text(reader->sink->strings, name->text), key);
        const struct ids_program program = {name->text, program_id, arg->chars, arg->length};
        int code = ops->program ? ops->program(reader->sink, &program, err) : 0;
        if (code) return code;
        if (!ops->hlo) continue;
        code = ids_hlo_read((const uint8_t *)arg->chars, arg->length, program_id, reader->sink, err);
        if (code == IDS_CORRUPT) { /* the profile stands without it: ops lose their opcode */
            struct ids_diag diag = {IDS_WARNING, "xplane.hlo", err->text, (int64_t)offset, 1};
            code = reader->sink->ops->diag(reader->sink, &diag, err);
        }
        if (code) return code;
    }
    return 0;
}

static int read_event_metadata(struct reader *reader, struct ids_span_bytes span, struct ids_error *err) {
    const uint8_t *bytes;
    int code = ids_pb_file_bytes(&reader->file, span, &bytes, err);
    if (code || !bytes) return code;
    uint64_t key;
    struct ids_pb value;
    code = read_entry(bytes, span, &key, &value, err);
    if (code) return code;
    struct ids_name_info name = {.plane = reader->plane_id, .id = (int64_t)key};
    reader->arg_count = 0;
    struct ids_pb_field field;
    int more;
    while ((more = ids_pb_next(&value, &field)) > 0) {
        if (field.wire != IDS_PB_BYTES) continue;
        if (field.number == META_STATS) {
            code = read_stat(reader, ids_pb_inside(&field), span.at, err);
            if (code) return code;
        } else if (field.number == META_NAME || field.number == META_DISPLAY_NAME) {
            uint32_t text = ids_intern(reader->sink->strings, (const char *)field.bytes, (size_t)field.value);
            if (text == IDS_NO_TEXT) return ids_no_memory(err);
            *(field.number == META_NAME ? &name.text : &name.display) = text;
        }
    }
    if (more < 0) return corrupt(err, span.at, "malformed event metadata");
    name.args = reader->args;
    name.arg_count = reader->arg_count;
    uint32_t id;
    code = reader->sink->ops->name(reader->sink, &name, &id, err);
    if (code) return code;
    if (ids_idmap_set(&reader->event_names, key, id)) return ids_no_memory(err);
    return read_hlo(reader, &name, key, span.at, err);
}

/* A name for an event whose metadata the file does not hold. */
static int lost_name(struct reader *reader, uint64_t metadata_id, uint32_t *ret_name, struct ids_error *err) {
    char text[48];
    int length = snprintf(text, sizeof text, "event %" PRId64 " (name lost)", (int64_t)metadata_id);
    uint32_t display = ids_intern(reader->sink->strings, text, (size_t)length);
    if (display == IDS_NO_TEXT) return ids_no_memory(err);
    struct ids_name_info name = {.plane = reader->plane_id, .display = display, .id = (int64_t)metadata_id};
    int code = reader->sink->ops->name(reader->sink, &name, ret_name, err);
    if (!code && ids_idmap_set(&reader->event_names, metadata_id, *ret_name)) return ids_no_memory(err);
    return code;
}

/* --- lines and events ------------------------------------------------------------------------------------------- */

struct line {
    uint32_t track;
    int64_t timestamp_ps; /* since base_ns */
    bool no_time;         /* out of range, as 0 is among lines that count from 1970: harmless where it has no event */
};

/* An event that idsprof wrote and that was no slice: the stat that says so becomes the event's form again. */
static void take_form(struct reader *reader, struct ids_slice *slice) {
    static const char *const names[] = {IDS_FORM_NAMES};
    for (size_t i = 0; i < reader->arg_count; i++) {
        struct ids_arg *arg = &reader->args[i];
        if (arg->key != IDS_KEY_FORM || arg->type != IDS_VALUE_TEXT) continue;
        struct ids_text text = ids_strings_text(reader->sink->strings, arg->text);
        uint8_t form = IDS_FORM_SLICE;
        while (form < sizeof names / sizeof *names && !ids_text_is(text, names[form])) form++;
        if (form == sizeof names / sizeof *names) return;
        slice->form = form;
        memmove(arg, arg + 1, (reader->arg_count - i - 1) * sizeof *arg);
        slice->arg_count--;
        return;
    }
}

static int read_event(struct reader *reader, const struct line *line, struct ids_pb pb, uint64_t offset,
                      struct ids_error *err) {
    uint64_t metadata_id = 0, offset_ps = 0, duration_ps = 0, occurrences = 0;
    const uint8_t *begin = pb.at;
    struct ids_pb payload;
    int code;
    reader->arg_count = 0;
    while (pb.at < pb.end) {
        const uint8_t *field = pb.at;
        int bad = 0;
        switch (*pb.at++) {
        case TAG(EVENT_METADATA_ID, IDS_PB_VARINT):
            bad = ids_pb_varint(&pb, &metadata_id) != 1;
            break;
        case TAG(EVENT_OFFSET_PS, IDS_PB_VARINT):
            bad = ids_pb_varint(&pb, &offset_ps) != 1;
            break;
        case TAG(EVENT_DURATION_PS, IDS_PB_VARINT):
            bad = ids_pb_varint(&pb, &duration_ps) != 1;
            break;
        case TAG(EVENT_STATS, IDS_PB_BYTES):
            bad = take_bytes(&pb, &payload);
            if (bad) break;
            code = read_stat(reader, payload, offset + (uint64_t)(field - begin), err);
            if (code) return code;
            break;
        case TAG(EVENT_OCCURRENCES, IDS_PB_VARINT): { /* an aggregated event: it has no place in time */
            bad = ids_pb_varint(&pb, &occurrences) != 1;
            struct ids_arg *arg = IDS_PUSH(reader->args, reader->arg_count, reader->arg_room);
            if (!arg) return ids_no_memory(err);
            *arg = (struct ids_arg){.key = reader->num_occurrences, .type = IDS_VALUE_INT, .u = occurrences};
            break;
        }
        default:
            pb.at--;
            bad = skip_field(&pb);
        }
        if (bad) return corrupt(err, offset + (uint64_t)(field - begin), "malformed event");
    }
    struct ids_slice slice = {
        .duration_ps = (int64_t)duration_ps,
        .name = ids_idmap_get(&reader->event_names, metadata_id),
        .args = reader->args,
        .arg_count = (uint32_t)reader->arg_count,
    };
    if (line->no_time || __builtin_add_overflow(line->timestamp_ps, (int64_t)offset_ps, &slice.start_ps)) {
        reader->without_time++;
        return 0;
    }
    if (slice.name == IDS_IDMAP_NONE && (code = lost_name(reader, metadata_id, &slice.name, err))) return code;
    if (reader->has_forms && !duration_ps) take_form(reader, &slice);
    reader->events++;
    return reader->sink->ops->slice(reader->sink, line->track, &slice, err);
}

/* The line's own fields; they stand before its events in every file seen, but need not. */
static int read_line_head(struct reader *reader, struct ids_span_bytes span, struct ids_track_info *ret_track,
                          int64_t *ret_timestamp_ns, struct ids_error *err) {
    uint64_t at = span.at, end = span.at + span.length;
    bool seen_own = false;
    struct ids_pb_file_field field = {0};
    int more;
    *ret_timestamp_ns = 0;
    while ((more = ids_pb_file_field(&reader->file, &at, end, &field, err)) > 0) {
        if (field.number == LINE_EVENTS) {
            reader->head_ended =
                seen_own; /* writers go by field number: what a first event did not follow will not come */
            if (seen_own) break;
        } else if (field.number == LINE_ID && field.wire == IDS_PB_VARINT) {
            ret_track->id = (int64_t)field.value;
            seen_own = true;
        } else if (field.number == LINE_TIMESTAMP_NS && field.wire == IDS_PB_VARINT) {
            *ret_timestamp_ns = (int64_t)field.value;
            seen_own = true;
        } else if (field.number == LINE_NAME && field.wire == IDS_PB_BYTES) {
            const uint8_t *bytes;
            seen_own = true;
            int code = ids_pb_file_bytes(&reader->file, field.payload, &bytes, err);
            if (code) return code;
            if (!bytes) continue;
            ret_track->name = ids_intern(reader->sink->strings, (const char *)bytes, (size_t)field.payload.length);
            if (ret_track->name == IDS_NO_TEXT) return ids_no_memory(err);
        }
    }
    return more < 0 ? more : 0;
}

static int read_line(struct reader *reader, struct ids_span_bytes span, struct ids_error *err) {
    struct ids_track_info track = {.plane = reader->plane_id};
    int64_t timestamp_ns;
    int code = read_line_head(reader, span, &track, &timestamp_ns, err);
    if (code) return code;
    struct line line;
    line.no_time = __builtin_sub_overflow(timestamp_ns, reader->base_ns, &timestamp_ns) ||
                   __builtin_mul_overflow(timestamp_ns, (int64_t)1000, &line.timestamp_ps);
    if (!line.no_time) track.origin_ps = line.timestamp_ps;
    code = reader->sink->ops->track(reader->sink, &track, &line.track, err);
    if (code) return code;

    uint64_t before = reader->events;
    uint64_t at = span.at, end = span.at + span.length;
    struct ids_pb_file_field field = {0};
    int more;
    for (;;) {
        /* The fast way: events that lie whole in the window, one after the other. */
        const uint8_t *bytes;
        size_t length;
        uint64_t left = (end < reader->file.size ? end : reader->file.size) - at;
        if (at >= reader->file.size || !left) break;
        code = ids_source_window(reader->file.source, at, left < 4096 ? (size_t)left : 4096, &bytes, &length, err);
        if (code) return code;
        if (length > left) length = (size_t)left;
        struct ids_pb pb = {bytes, bytes + length};
        while (pb.at < pb.end && *pb.at == (LINE_EVENTS << 3 | IDS_PB_BYTES)) {
            struct ids_pb next = {pb.at + 1, pb.end};
            uint64_t event_length;
            if (ids_pb_varint(&next, &event_length) != 1 || event_length > (uint64_t)(next.end - next.at)) break;
            struct ids_pb event = {next.at, next.at + event_length};
            code = read_event(reader, &line, event, at + (uint64_t)(next.at - bytes), err);
            if (code) return code;
            pb.at = event.end;
        }
        at += (uint64_t)(pb.at - bytes);
        if (pb.at > bytes) continue;
        /* The slow way: another field, or an event longer than what was left in the window. */
        more = ids_pb_file_field(&reader->file, &at, end, &field, err);
        if (more < 0) return more;
        if (more == 0) break;
        int is_own = field.number == LINE_NAME ? field.wire == IDS_PB_BYTES
                                               : field.number <= LINE_TIMESTAMP_NS && field.wire == IDS_PB_VARINT;
        if (is_own && reader->head_ended && reader->events > before) {
            struct ids_diag late = {IDS_DAMAGE, "xplane.line_order",
                                    "a line's id, name or time after its events was not used", (int64_t)at, 1};
            code = reader->sink->ops->diag(reader->sink, &late, err);
            if (code) return code;
        }
        if (field.number != LINE_EVENTS || field.wire != IDS_PB_BYTES) continue;
        code = ids_pb_file_bytes(&reader->file, field.payload, &bytes, err);
        if (code) return code;
        if (!bytes) continue;
        struct ids_pb event = {bytes, bytes + field.payload.length};
        code = read_event(reader, &line, event, field.payload.at, err);
        if (code) return code;
    }
    return reader->sink->ops->track_end(reader->sink, line.track, err);
}

/* --- planes ----------------------------------------------------------------------------------------------------- */

static int keep_span(struct spans *spans, struct ids_span_bytes span, struct ids_error *err) {
    struct ids_span_bytes *kept = IDS_PUSH(spans->at, spans->count, spans->room);
    if (!kept) return ids_no_memory(err);
    *kept = span;
    return 0;
}

/* Where the plane's parts lie. */
static int index_plane(struct reader *reader, struct plane *plane, struct ids_error *err) {
    uint64_t at = plane->span.at, end = plane->span.at + plane->span.length;
    struct ids_pb_file_field field = {0};
    int more;
    while ((more = ids_pb_file_field(&reader->file, &at, end, &field, err)) > 0) {
        if (field.wire != IDS_PB_BYTES) continue;
        struct spans *spans = field.number == PLANE_LINES            ? &plane->lines
                              : field.number == PLANE_EVENT_METADATA ? &plane->event_metadata
                              : field.number == PLANE_STAT_METADATA  ? &plane->stat_metadata
                              : field.number == PLANE_STATS          ? &plane->stats
                                                                     : NULL;
        int code = 0;
        if (spans) {
            code = keep_span(spans, field.payload, err);
        } else if (field.number == PLANE_NAME) {
            const uint8_t *bytes;
            code = ids_pb_file_bytes(&reader->file, field.payload, &bytes, err);
            if (code || !bytes) return code;
            plane->name = ids_intern(reader->sink->strings, (const char *)bytes, (size_t)field.payload.length);
            if (plane->name == IDS_NO_TEXT) return ids_no_memory(err);
        }
        if (code) return code;
    }
    return more < 0 ? more : 0;
}

static int index_space(struct reader *reader, struct ids_error *err) {
    uint64_t at = 0;
    struct ids_pb_file_field field = {0};
    int more;
    for (uint64_t begin = 0; (more = ids_pb_file_field(&reader->file, &at, UINT64_MAX, &field, err)) > 0; begin = at) {
        if (field.wire != IDS_PB_BYTES)
            return corrupt(err, begin, "not an XSpace: its fields are all messages or texts");
        if (field.number == SPACE_PLANES) {
            struct plane *plane = IDS_PUSH(reader->planes, reader->plane_count, reader->plane_room);
            if (!plane) return ids_no_memory(err);
            *plane = (struct plane){.span = field.payload};
            int code = index_plane(reader, plane, err);
            if (code)
                return ids_error_at(err, "plane %zu ('%s')", reader->plane_count - 1,
                                    ids_strings_z(reader->sink->strings, plane->name));
        } else if (field.number <= SPACE_HOSTNAMES) {
            const uint8_t *bytes;
            int code = ids_pb_file_bytes(&reader->file, field.payload, &bytes, err);
            if (code) return code;
            if (!bytes) continue;
            uint32_t text = ids_intern(reader->sink->strings, (const char *)bytes, (size_t)field.payload.length);
            if (text == IDS_NO_TEXT) return ids_no_memory(err);
            if (field.number == SPACE_HOSTNAMES) {
                reader->host_name = text;
                continue;
            }
            struct ids_diag diag = {IDS_WARNING,
                                    field.number == SPACE_ERRORS ? "xplane.profiler_error" : "xplane.profiler_warning",
                                    ids_strings_z(reader->sink->strings, text), (int64_t)field.payload.at, 1};
            code = reader->sink->ops->diag(reader->sink, &diag, err);
            if (code) return code;
        }
    }
    return more < 0 ? more : 0;
}

/* Reads the stat metadata and the plane's stats: into reader->stat_texts and reader->args. */
static int read_plane_stats(struct reader *reader, const struct plane *plane, struct ids_error *err) {
    ids_idmap_done(&reader->stat_texts);
    reader->has_forms = false;
    for (size_t i = 0; i < plane->stat_metadata.count; i++) {
        int code = read_stat_metadata(reader, plane->stat_metadata.at[i], err);
        if (code) return code;
    }
    reader->arg_count = 0;
    for (size_t i = 0; i < plane->stats.count; i++) {
        const uint8_t *bytes;
        struct ids_span_bytes span = plane->stats.at[i];
        int code = ids_pb_file_bytes(&reader->file, span, &bytes, err);
        if (code) return code;
        if (!bytes) continue;
        code = read_stat(reader, (struct ids_pb){bytes, bytes + span.length}, span.at, err);
        if (code) return code;
        /* Later windows move the bytes away: texts of plane stats are few, so they are interned. */
        struct ids_arg *arg = &reader->args[reader->arg_count - 1];
        if (arg->type != IDS_VALUE_CHARS && arg->type != IDS_VALUE_BYTES) continue;
        uint32_t text = ids_intern(reader->sink->strings, arg->chars, arg->length);
        if (text == IDS_NO_TEXT) return ids_no_memory(err);
        arg->chars = ids_strings_z(reader->sink->strings, text);
    }
    return 0;
}

/* --- lines beside each other ------------------------------------------------------------------------------------ */

enum { LOTS_OF_A_THREAD = 4 }; /* they are not equally long */

/* Lines that one thread reads into a part of the sink. */
struct lot {
    size_t from, to; /* of the plane's lines */
    struct ids_sink *part;
    uint64_t events, without_time;
    bool is_read; /* and nothing of it is to be read again in order */
};

struct lots {
    const struct reader *reader;
    const struct plane *plane;
    struct lot *at;
    size_t count, room;
    atomic_size_t refused; /* what comes behind this one is read again anyway */
};

/* 0, or -1 when memory ran out. */
static int cut_into_lots(struct lots *lots) {
    const struct spans *lines = &lots->plane->lines;
    uint64_t total = 0, length = 0;
    for (size_t i = 0; i < lines->count; i++) total += lines->at[i].length;
    uint64_t wanted = total / ((uint64_t)ids_jobs() * LOTS_OF_A_THREAD);
    if (wanted < ids_jobs_least()) wanted = ids_jobs_least();
    struct lot *lot = NULL;
    for (size_t i = 0; i < lines->count; i++) {
        if (!lot || length >= wanted) {
            lot = IDS_PUSH(lots->at, lots->count, lots->room);
            if (!lot) return -1;
            *lot = (struct lot){.from = i};
            length = 0;
        }
        lot->to = i + 1;
        length += lines->at[i].length;
    }
    return 0;
}

static void read_into_part(const struct lots *lots, struct lot *lot, struct ids_source *source, struct ids_error *err) {
    struct reader reader = *lots->reader; /* its maps are looked up only */
    reader.file = (struct ids_pb_file){.source = source, .size = lots->reader->file.size};
    reader.sink = lot->part;
    reader.is_of_part = true;
    reader.args = NULL;
    reader.arg_count = reader.arg_room = 0;
    reader.events = reader.without_time = 0;
    int code = 0;
    for (size_t i = lot->from; i < lot->to && !code; i++) code = read_line(&reader, lots->plane->lines.at[i], err);
    lot->events = reader.events;
    lot->without_time = reader.without_time;
    lot->is_read = !code && !reader.file.truncated && !reader.file.left_out;
    free(reader.args);
    ids_pb_file_done(&reader.file);
}

static void read_lot(void *context, size_t number) {
    struct lots *lots = context;
    struct lot *lot = &lots->at[number];
    struct ids_sink *sink = lots->reader->sink;
    struct ids_source *source = NULL;
    struct ids_error unused = IDS_ERROR_INIT; /* who reads it in order has the same one */
    if (number > atomic_load(&lots->refused)) return;
    int code = ids_source_beside(lots->reader->file.source, &source, &unused);
    if (!code) code = sink->parts->begin(sink, lots->reader->plane_id, &lot->part, &unused);
    if (!code) read_into_part(lots, lot, source, &unused);
    ids_source_close(source);
    if (lot->part) sink->parts->end(lot->part);
    size_t first = atomic_load(&lots->refused);
    while (!lot->is_read && number < first && !atomic_compare_exchange_weak(&lots->refused, &first, number)) {
    }
}

/* Takes the parts over until one is not as it would be in order; *ret_next is the first line that remains. */
static int take_lots(struct reader *reader, struct lots *lots, size_t *ret_next, struct ids_error *err) {
    for (size_t i = 0; i < lots->count; i++) {
        struct lot *lot = &lots->at[i];
        int taken = 0;
        if (!lot->is_read) return 0;
        int code = reader->sink->parts->take(reader->sink, lot->part, &taken, err);
        if (code || !taken) return code;
        reader->events += lot->events;
        reader->without_time += lot->without_time;
        *ret_next = lot->to;
        reader->sink->parts->free(lot->part); /* what the next one brings may take its place */
        lot->part = NULL;
    }
    return 0;
}

/* Reads what can be read beside each other. */
static int read_in_parts(struct reader *reader, const struct plane *plane, size_t *ret_next, struct ids_error *err) {
    struct lots lots = {.reader = reader, .plane = plane, .refused = SIZE_MAX};
    int code = 0;
    if (cut_into_lots(&lots)) {
        code = ids_no_memory(err);
    } else if (lots.count > 1) {
        ids_parallel(lots.count, read_lot, &lots);
        code = take_lots(reader, &lots, ret_next, err);
    }
    for (size_t i = 0; i < lots.count; i++)
        if (lots.at[i].part) reader->sink->parts->free(lots.at[i].part);
    free(lots.at);
    return code;
}

static int read_plane(struct reader *reader, const struct plane *plane, struct ids_error *err) {
    int code = read_plane_stats(reader, plane, err);
    if (code) return code;
    struct ids_plane_info info = {.name = plane->name, .args = reader->args, .arg_count = reader->arg_count};
    code = reader->sink->ops->plane(reader->sink, &info, &reader->plane_id, err);
    if (code) return code;
    ids_idmap_done(&reader->event_names);
    for (size_t i = 0; i < plane->event_metadata.count; i++) {
        code = read_event_metadata(reader, plane->event_metadata.at[i], err);
        if (code) return code;
    }
    size_t next = 0;
    code = reader->sink->parts && ids_jobs() > 1 ? read_in_parts(reader, plane, &next, err) : 0;
    if (code) return code;
    for (size_t i = next; i < plane->lines.count; i++) {
        code = read_line(reader, plane->lines.at[i], err);
        if (code) return ids_error_at(err, "line %zu", i);
    }
    return 0;
}

/* --- the file --------------------------------------------------------------------------------------------------- */

/* Finds what times count from: the session's start, whose wall clock the plane "Task Environment" has, 1970, or the
 * machine's start. */
static int read_clock(struct reader *reader, struct ids_host_info *host, struct ids_error *err) {
    for (size_t i = 0; i < reader->plane_count; i++) {
        const struct plane *plane = &reader->planes[i];
        if (!host->start_unix_ns && !strcmp(ids_strings_z(reader->sink->strings, plane->name), "Task Environment")) {
            int code = read_plane_stats(reader, plane, err);
            if (code) return ids_error_at(err, "plane %zu ('Task Environment')", i);
            for (size_t s = 0; s < reader->arg_count; s++) {
                const struct ids_arg *arg = &reader->args[s];
                if (arg->key == IDS_KEY_PROFILE_START_TIME &&
                    (arg->type == IDS_VALUE_UINT || arg->type == IDS_VALUE_INT)) {
                    host->start_unix_ns = arg->i;
                }
            }
        }
        for (size_t l = 0; l < plane->lines.count && !host->base_ns; l++) {
            struct ids_track_info track = {0};
            int64_t timestamp_ns;
            int code = read_line_head(reader, plane->lines.at[l], &track, &timestamp_ns, err);
            if (code)
                return ids_error_at(err, "plane %zu ('%s'): line %zu", i,
                                    ids_strings_z(reader->sink->strings, plane->name), l);
            if (timestamp_ns < FAR_NS) break; /* one line tells for its plane */
            host->base_ns = timestamp_ns;
        }
    }
    if (host->base_ns >= EPOCH_NS) host->start_unix_ns = host->base_ns;
    return 0;
}

static int read_space(struct reader *reader, struct ids_error *err) {
    int code = index_space(reader, err);
    if (code) return code;
    if (!reader->plane_count) {
        return reader->file.truncated ? ids_fail(err, IDS_TRUNCATED, "the file ends before its first plane")
                                      : ids_fail(err, IDS_CORRUPT, "an XSpace without planes");
    }
    reader->num_occurrences = ids_intern_z(reader->sink->strings, "num_occurrences");
    if (reader->num_occurrences == IDS_NO_TEXT) return ids_no_memory(err);
    struct ids_host_info host = {.name = ids_host_of_file(reader->sink, reader->host_name), .is_xspace = 1};
    code = read_clock(reader, &host, err);
    if (code) return code;
    reader->base_ns = host.base_ns;
    code = reader->sink->ops->host(reader->sink, &host, err);
    if (code) return code;
    for (size_t i = 0; i < reader->plane_count; i++) {
        code = read_plane(reader, &reader->planes[i], err);
        if (code)
            return ids_error_at(err, "plane %zu ('%s')", i,
                                ids_strings_z(reader->sink->strings, reader->planes[i].name));
    }
    if (reader->without_time) {
        struct ids_diag lost = {IDS_DAMAGE, "xplane.time_range",
                                "events more than 106 days from the start of the session were left out", -1,
                                reader->without_time};
        code = reader->sink->ops->diag(reader->sink, &lost, err);
        if (code) return code;
    }
    if (reader->file.left_out) {
        struct ids_diag lost = {IDS_DAMAGE, "xplane.record_limit", "a record above 512 MiB was left out",
                                (int64_t)reader->file.left_out_at, reader->file.left_out};
        code = reader->sink->ops->diag(reader->sink, &lost, err);
        if (code) return code;
    }
    if (!reader->file.truncated) return 0;
    if (!reader->events) {
        return ids_fail(err, IDS_TRUNCATED, "the file is cut at %" PRIu64 " bytes, before its first whole event",
                        reader->file.size);
    }
    reader->sink->complete = 0;
    char text[160];
    snprintf(text, sizeof text,
             "the file is cut at %" PRIu64 " bytes inside the record at %" PRIu64 "; %" PRIu64
             " whole events were kept",
             reader->file.size, reader->file.cut_at, reader->events);
    struct ids_diag diag = {IDS_DAMAGE, "xplane.truncated", text, (int64_t)reader->file.cut_at, reader->events};
    return reader->sink->ops->diag(reader->sink, &diag, err);
}

static int xplane_read(struct ids_source *source, struct ids_sink *sink, struct ids_error *err) {
    struct reader reader = {.file = {.source = source, .size = ids_source_size(source)}, .sink = sink};
    int code = read_space(&reader, err);
    for (size_t i = 0; i < reader.plane_count; i++) {
        struct plane *plane = &reader.planes[i];
        free(plane->lines.at);
        free(plane->event_metadata.at);
        free(plane->stat_metadata.at);
        free(plane->stats.at);
    }
    free(reader.planes);
    free(reader.args);
    ids_pb_file_done(&reader.file);
    ids_idmap_done(&reader.stat_texts);
    ids_idmap_done(&reader.event_names);
    return code;
}

/* An XSpace begins with a plane (or a host name), a plane with an id or a name; names of planes mostly begin with
 * '/'. */
static int xplane_bid(const uint8_t *head, size_t length, int *more) {
    (void)more;
    struct ids_pb pb = {head, head + length};
    uint64_t tag, size;
    if (ids_pb_varint(&pb, &tag) != 1 || (tag & 7) != IDS_PB_BYTES || tag >> 3 < SPACE_PLANES ||
        tag >> 3 > SPACE_HOSTNAMES)
        return 0;
    if (ids_pb_varint(&pb, &size) != 1 || size > LENGTH_LIMIT) return 0;
    if (tag >> 3 != SPACE_PLANES) return size <= (uint64_t)(pb.end - pb.at) ? 20 : 0; /* a host name, a warning */
    if (size < (uint64_t)(pb.end - pb.at)) pb.end = pb.at + size;
    struct ids_pb_field field;
    while (ids_pb_next(&pb, &field) > 0) {
        if (field.number == PLANE_NAME)
            return field.wire == IDS_PB_BYTES && field.value && field.bytes[0] == '/' ? 90 : 40;
        if (field.number > PLANE_STATS) return 0;
    }
    return 10;
}

static const char *const suffixes[] = {".xplane.pb", ".xplane.pb.gz", NULL};

const struct ids_format ids_xplane_format = {
    .name = "xplane",
    .title = "XSpace profile (xplane.pb)",
    .expected = "an XSpace profile, *.xplane.pb",
    .form = "xplane",
    .suffixes = suffixes,
    .bid = xplane_bid,
    .streams = 0,
    .read = xplane_read,
};
