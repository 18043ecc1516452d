/* xplane_line.c - the lines of a plane: their events and stats. */
#include "formats/xplane_parts.h"
#include "lib/base/vec.h"
#include "lib/fields/xspace.h"
#include "lib/io/source.h"
#include "lib/model/keys.h"

#include <inttypes.h>
#include <stdio.h>

int ids_xplane_corrupt(struct ids_error *err, uint64_t offset, const char *what) {
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

/* A number that ends before pb->end, behind which IDS_PB_SLACK bytes may be looked at. 0, or -1 when it is
 * malformed. */
__attribute__((always_inline)) static inline int take_number(struct ids_pb *pb, uint64_t *ret_value) {
    const uint8_t *behind = ids_pb_number(pb->at, ret_value);
    if (pb->at == pb->end || !behind || behind > pb->end) return -1;
    pb->at = behind;
    return 0;
}

static int unnamed_key(struct ids_xplane_reader *reader, uint64_t id, uint32_t *ret_key, struct ids_error *err) {
    char name[32];
    if (reader->is_of_part) return ids_xplane_corrupt(err, 0, "a stat without a name");
    int length = snprintf(name, sizeof name, "stat#%" PRId64, (int64_t)id);
    *ret_key = ids_intern(reader->sink->strings, name, (size_t)length);
    if (*ret_key == IDS_NO_TEXT || ids_idmap_set(&reader->stat_texts, id, *ret_key)) return ids_no_memory(err);
    return 0;
}

/* A stat of any kind: the switch is over the tag's byte. */
static int read_stat(struct ids_xplane_reader *reader, struct ids_pb pb, uint64_t offset, struct ids_error *err) {
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
        if (bad) return ids_xplane_corrupt(err, offset, "malformed stat");
    }
    arg->key = ids_idmap_get(&reader->stat_texts, id);
    return arg->key == IDS_IDMAP_NONE ? unnamed_key(reader, id, &arg->key, err) : 0;
}

/* A stat as nearly all are written: its tag, its length, an id below 128 of a known name, and one number. 1 and
 * *ret_arg; 0: it is another one, and nothing is read. A profile has millions of them. */
__attribute__((always_inline)) static inline int take_plain_stat(const struct ids_xplane_reader *reader,
                                                                 struct ids_pb *pb, struct ids_arg *ret_arg) {
    enum { LENGTH = 1, ID_TAG, ID, VALUE_TAG, VALUE }; /* where they stand */
    const uint8_t *at = pb->at;
    uint64_t number;
    if (at[ID_TAG] != TAG(STAT_METADATA_ID, IDS_PB_VARINT)) return 0;
    const uint32_t key = reader->near_stat_texts[at[ID]];
    const uint8_t *behind = ids_pb_number(at + VALUE, &number);
    if (behind != at + ID_TAG + at[LENGTH] || behind > pb->end || key == IDS_IDMAP_NONE) return 0;
    uint8_t type = IDS_VALUE_INT;
    if (at[VALUE_TAG] == TAG(STAT_REF, IDS_PB_VARINT)) {
        number = ids_idmap_get(&reader->stat_texts, number);
        if (number == IDS_IDMAP_NONE) return 0;
        type = IDS_VALUE_TEXT;
    } else if (at[VALUE_TAG] == TAG(STAT_UINT, IDS_PB_VARINT)) {
        type = IDS_VALUE_UINT;
    } else if (at[VALUE_TAG] != TAG(STAT_INT, IDS_PB_VARINT)) {
        return 0;
    }
    *ret_arg = (struct ids_arg){.key = key, .type = type, .u = number};
    pb->at = behind;
    return 1;
}
_Static_assert(IDS_PB_SLACK >= 5 + 10, "a stat's first bytes are looked at, and a number, wherever it ends");

static inline int is_stat(const struct ids_pb *pb) {
    return pb->at < pb->end && *pb->at == TAG(EVENT_STATS, IDS_PB_BYTES);
}

/* The event's stats that come one behind the other, pb standing at the first one's tag. */
static int read_stats(struct ids_xplane_reader *reader, struct ids_pb *ret_pb, uint64_t offset, struct ids_error *err) {
    const uint8_t *begin = ret_pb->at;
    struct ids_pb pb = *ret_pb;
    for (;;) {
        struct ids_arg *arg = reader->args, *end = reader->args;
        if (arg) { /* there is no room before the first one */
            arg += reader->arg_count;
            end += reader->arg_room;
        }
        while (arg < end && is_stat(&pb) && take_plain_stat(reader, &pb, arg)) arg++;
        reader->arg_count = (size_t)(arg - reader->args);
        if (!is_stat(&pb)) break;
        uint64_t place = offset + (uint64_t)(pb.at - begin);
        struct ids_pb payload;
        pb.at++;
        if (take_bytes(&pb, &payload)) return ids_xplane_corrupt(err, place, "malformed event");
        int code = read_stat(reader, payload, place, err);
        if (code) return code;
    }
    ret_pb->at = pb.at;
    return 0;
}

int ids_xplane_read_stat(struct ids_xplane_reader *reader, struct ids_pb pb, uint64_t offset, struct ids_error *err) {
    return read_stat(reader, pb, offset, err);
}

/* --- lines and events ------------------------------------------------------------------------------------------- */

struct line {
    uint32_t track;
    int64_t timestamp_ps; /* since base_ns */
    bool no_time;         /* out of range, as 0 is among lines that count from 1970: harmless where it has no event */
};

/* An event that idsprof wrote and that was no slice: the stat that says so becomes the event's form again. */
static void take_form(struct ids_xplane_reader *reader, struct ids_slice *slice) {
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

/* A name for an event whose metadata the file does not hold. */
static int lost_name(struct ids_xplane_reader *reader, uint64_t metadata_id, uint32_t *ret_name,
                     struct ids_error *err) {
    char text[48];
    int length = snprintf(text, sizeof text, "event %" PRId64 " (name lost)", (int64_t)metadata_id);
    uint32_t display = ids_intern(reader->sink->strings, text, (size_t)length);
    if (display == IDS_NO_TEXT) return ids_no_memory(err);
    struct ids_name_info name = {.plane = reader->plane_id, .display = display, .id = (int64_t)metadata_id};
    int code = reader->sink->ops->name(reader->sink, &name, ret_name, err);
    if (!code && ids_idmap_set(&reader->event_names, metadata_id, *ret_name)) return ids_no_memory(err);
    return code;
}

/* What an event says of itself. */
struct fields {
    uint64_t metadata_id, offset_ps, duration_ps;
};

/* The fields that follow in whatever order, pb standing at one. */
static int read_fields(struct ids_xplane_reader *reader, struct ids_pb pb, uint64_t offset, struct fields *fields,
                       struct ids_error *err) {
    uint64_t occurrences = 0;
    const uint8_t *begin = pb.at;
    int code;
    while (pb.at < pb.end) {
        const uint8_t *field = pb.at;
        int bad = 0;
        switch (*pb.at++) {
        case TAG(EVENT_METADATA_ID, IDS_PB_VARINT):
            bad = take_number(&pb, &fields->metadata_id);
            break;
        case TAG(EVENT_OFFSET_PS, IDS_PB_VARINT):
            bad = take_number(&pb, &fields->offset_ps);
            break;
        case TAG(EVENT_DURATION_PS, IDS_PB_VARINT):
            bad = take_number(&pb, &fields->duration_ps);
            break;
        case TAG(EVENT_STATS, IDS_PB_BYTES):
            pb.at--;
            code = read_stats(reader, &pb, offset + (uint64_t)(field - begin), err);
            if (code) return code;
            break;
        case TAG(EVENT_OCCURRENCES, IDS_PB_VARINT): { /* an aggregated event: it has no place in time */
            bad = take_number(&pb, &occurrences);
            struct ids_arg *arg = IDS_PUSH(reader->args, reader->arg_count, reader->arg_room);
            if (!arg) return ids_no_memory(err);
            *arg = (struct ids_arg){.key = reader->num_occurrences, .type = IDS_VALUE_INT, .u = occurrences};
            break;
        }
        default:
            pb.at--;
            bad = skip_field(&pb);
        }
        if (bad) return ids_xplane_corrupt(err, offset + (uint64_t)(field - begin), "malformed event");
    }
    return 0;
}

/* Takes the field where it is the next one; what is malformed is left to read_fields. */
__attribute__((always_inline)) static inline void take_if_next(struct ids_pb *pb, uint8_t tag, uint64_t *ret_value) {
    struct ids_pb behind = {pb->at + 1, pb->end};
    if (pb->at < pb->end && *pb->at == tag && !take_number(&behind, ret_value)) pb->at = behind.at;
}

/* An event, behind which IDS_PB_SLACK bytes may be looked at. Writers put the fields in the order of their numbers, and
 * the stats last: so they are read without a switch. */
__attribute__((always_inline)) static inline int read_event(struct ids_xplane_reader *reader, const struct line *line,
                                                            struct ids_pb pb, uint64_t offset, struct ids_error *err) {
    struct fields fields = {0};
    const uint8_t *begin = pb.at;
    int code;
    reader->arg_count = 0;
    take_if_next(&pb, TAG(EVENT_METADATA_ID, IDS_PB_VARINT), &fields.metadata_id);
    take_if_next(&pb, TAG(EVENT_OFFSET_PS, IDS_PB_VARINT), &fields.offset_ps);
    take_if_next(&pb, TAG(EVENT_DURATION_PS, IDS_PB_VARINT), &fields.duration_ps);
    if (pb.at < pb.end) {
        code = read_stats(reader, &pb, offset + (uint64_t)(pb.at - begin), err);
        if (!code && pb.at < pb.end) code = read_fields(reader, pb, offset + (uint64_t)(pb.at - begin), &fields, err);
        if (code) return code;
    }
    struct ids_slice slice = {
        .duration_ps = (int64_t)fields.duration_ps,
        .name = ids_idmap_get(&reader->event_names, fields.metadata_id),
        .args = reader->args,
        .arg_count = (uint32_t)reader->arg_count,
    };
    if (line->no_time || __builtin_add_overflow(line->timestamp_ps, (int64_t)fields.offset_ps, &slice.start_ps)) {
        reader->without_time++;
        return 0;
    }
    if (slice.name == IDS_IDMAP_NONE && (code = lost_name(reader, fields.metadata_id, &slice.name, err))) return code;
    if (reader->has_forms && !fields.duration_ps) take_form(reader, &slice);
    reader->events++;
    return reader->sink->ops->slice(reader->sink, line->track, &slice, err);
}

/* The line's own fields; they stand before its events in every file seen, but need not. */
int ids_xplane_read_line_head(struct ids_xplane_reader *reader, struct ids_span_bytes span,
                              struct ids_track_info *ret_track, int64_t *ret_timestamp_ns, struct ids_error *err) {
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

int ids_xplane_read_line(struct ids_xplane_reader *reader, struct ids_span_bytes span, struct ids_error *err) {
    struct ids_track_info track = {.plane = reader->plane_id, .bytes = span.length};
    int64_t timestamp_ns;
    int code = ids_xplane_read_line_head(reader, span, &track, &timestamp_ns, err);
    if (code) return code;
    if (reader->session_ns && timestamp_ns < IDS_XPLANE_FAR_NS) timestamp_ns += reader->session_ns;
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
        /* The fast way: events that lie whole in the window, and not at its end, one after the other. */
        const uint8_t *bytes;
        size_t length;
        uint64_t left = (end < reader->file.size ? end : reader->file.size) - at;
        if (at >= reader->file.size || !left) break;
        code = ids_source_window(reader->file.source, at, left < 4096 ? (size_t)left : 4096, &bytes, &length, err);
        if (code) return code;
        if (length > left) length = (size_t)left;
        struct ids_pb pb = {bytes, length > IDS_PB_SLACK ? bytes + length - IDS_PB_SLACK : bytes};
        while (pb.at < pb.end && *pb.at == (LINE_EVENTS << 3 | IDS_PB_BYTES)) {
            uint64_t event_length;
            struct ids_pb event = {ids_pb_number(pb.at + 1, &event_length), pb.end};
            if (!event.at || event.at > event.end || event_length > (uint64_t)(event.end - event.at)) break;
            event.end = event.at + event_length;
            code = read_event(reader, &line, event, at + (uint64_t)(event.at - bytes), err);
            if (code) return code;
            pb.at = event.end;
        }
        at += (uint64_t)(pb.at - bytes);
        if (pb.at > bytes) continue;
        /* The slow way: another field, or an event that is not. */
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
