/* xspace.c - the XSpace profile that XLA, JAX and TensorFlow write (*.xplane.pb), for XProf and all that reads it.
 *
 * Format: tsl/profiler/protobuf/xplane.proto; formats/xplane.c reads it. The length of a plane and of a line stands in front of it, so
 * events and names wait aside until the reader is done. Events keep the file's order and stats their types. The format knows
 * slices only: other events are slices of no duration.
 */
#include "lib/base/idmap.h"
#include "lib/base/vec.h"
#include "lib/export/export.h"
#include "lib/export/strands.h"
#include "lib/model/keys.h"
#include "lib/wire/pb_writer.h"

#include <stdlib.h>

enum { SPACE_PLANES = 1, SPACE_HOSTNAMES = 4 };
enum {
    PLANE_ID = 1,
    PLANE_NAME = 2,
    PLANE_LINES = 3,
    PLANE_EVENT_METADATA = 4,
    PLANE_STAT_METADATA = 5,
    PLANE_STATS = 6
};
enum { LINE_ID = 1, LINE_NAME = 2, LINE_TIMESTAMP_NS = 3, LINE_EVENTS = 4 };
enum { EVENT_METADATA_ID = 1, EVENT_OFFSET_PS = 2, EVENT_DURATION_PS = 3, EVENT_STATS = 4, EVENT_OCCURRENCES = 5 };
enum { STAT_METADATA_ID = 1, STAT_DOUBLE = 2, STAT_UINT = 3, STAT_INT = 4, STAT_STR = 5, STAT_BYTES = 6, STAT_REF = 7 };
enum { META_ID = 1, META_NAME = 2, META_DISPLAY_NAME = 4, META_STATS = 5 };
enum { ENTRY_KEY = 1, ENTRY_VALUE = 2 };
enum { LOST_FORMS = 0, LOST_REFS = 1 };
enum { PS_IN_NS = 1000, RESERVED = 1 };

struct plane {
    uint32_t name;
    struct ids_idmap texts;    /* interned text -> its stat metadata's id */
    struct ids_idmap text_ids; /* the ids that are taken, and those of references that lead nowhere */
    struct ids_idmap name_ids; /* of event metadata */
    uint64_t next_text, next_name;
    size_t first_name, last_name, first_track, last_track; /* its own, in order: index + 1; 0 none */
    struct ids_buffer stats;                               /* encoded */
    uint32_t *used_texts;                                  /* in the order of their ids' making */
    size_t used_count, used_room;
};

struct name {
    uint32_t plane;
    int64_t id;
    int used;
    uint64_t at; /* its map entry, among the names put aside */
    uint32_t length;
    size_t next; /* of the same plane: index + 1 */
};

struct track {
    uint32_t plane, name;
    int64_t id, origin_ps;
    size_t strand;
    size_t next; /* of the same plane: index + 1 */
};

struct xspace {
    struct ids_export export; /* first */
    int only_used;
    uint32_t host;
    int64_t base_ns;
    uint32_t num_occurrences; /* text */
    struct plane *planes;
    size_t plane_count, plane_room;
    struct name *names;
    size_t name_count, name_room;
    struct track *tracks;
    size_t track_count, track_room;
    struct ids_strands strands; /* events, by track */
    struct ids_aside *name_bytes;
    struct ids_buffer scratch;
};

static struct xspace *of(struct ids_sink *sink) {
    return (struct xspace *)sink;
}

/* --- stats ------------------------------------------------------------------------------------------------------ */

/* The id of the stat metadata that bears the text. 0 when memory ran out. */
static uint64_t text_id(struct plane *plane, uint32_t text) {
    uint32_t found = ids_idmap_get(&plane->texts, text);
    if (found != IDS_IDMAP_NONE) return found;
    while (ids_idmap_get(&plane->text_ids, plane->next_text) != IDS_IDMAP_NONE) plane->next_text++;
    uint64_t id = plane->next_text++;
    uint32_t *used = IDS_PUSH(plane->used_texts, plane->used_count, plane->used_room);
    if (!used || ids_idmap_set(&plane->texts, text, (uint32_t)id) || ids_idmap_set(&plane->text_ids, id, text))
        return 0;
    *used = text;
    return id;
}

/* A reference to a text that the file does not hold keeps its number, unless that is another text's here. 1 when it is. */
static int reference_is_free(struct plane *plane, uint64_t id) {
    uint32_t text = ids_idmap_get(&plane->text_ids, id);
    if (text == IDS_IDMAP_NONE) return ids_idmap_set(&plane->text_ids, id, IDS_NO_TEXT - RESERVED) == 0;
    return text == IDS_NO_TEXT - RESERVED;
}

/* Adds a stat as field `field`. -1 when memory ran out. */
static int put_stat(struct xspace *xspace, struct plane *plane, struct ids_buffer *buffer, uint32_t field,
                    const struct ids_arg *arg) {
    uint64_t key = text_id(plane, arg->key), text;
    if (!key) return -1;
    size_t stat = ids_pb_open(buffer, field);
    ids_pb_put_uint(buffer, STAT_METADATA_ID, key);
    switch (arg->type) {
    case IDS_VALUE_INT:
        ids_pb_put_uint(buffer, STAT_INT, arg->u);
        break;
    case IDS_VALUE_UINT:
        ids_pb_put_uint(buffer, STAT_UINT, arg->u);
        break;
    case IDS_VALUE_REAL:
        ids_pb_put_double(buffer, STAT_DOUBLE, arg->d);
        break;
    case IDS_VALUE_TEXT:
        text = text_id(plane, arg->text);
        if (!text) return -1;
        ids_pb_put_uint(buffer, STAT_REF, text);
        break;
    case IDS_VALUE_CHARS:
        ids_pb_put_bytes(buffer, STAT_STR, arg->chars, arg->length);
        break;
    case IDS_VALUE_BYTES:
        ids_pb_put_bytes(buffer, STAT_BYTES, arg->chars, arg->length);
        break;
    case IDS_VALUE_REF:
        if (reference_is_free(plane, arg->u))
            ids_pb_put_uint(buffer, STAT_REF, arg->u);
        else
            xspace->export.losses[LOST_REFS].count++;
        break;
    default:
        break;
    }
    ids_pb_close(buffer, stat);
    return 0;
}

/* --- planes, names, tracks -------------------------------------------------------------------------------------- */

static int xspace_host(struct ids_sink *sink, const struct ids_host_info *host, struct ids_error *err) {
    (void)err;
    of(sink)->host = host->name;
    of(sink)->base_ns = host->base_ns;
    return 0;
}

static int xspace_plane(struct ids_sink *sink, const struct ids_plane_info *info, uint32_t *ret_plane,
                        struct ids_error *err) {
    struct xspace *xspace = of(sink);
    *ret_plane = (uint32_t)xspace->plane_count;
    struct plane *plane = IDS_PUSH(xspace->planes, xspace->plane_count, xspace->plane_room);
    if (!plane) return ids_no_memory(err);
    *plane = (struct plane){.name = info->name, .next_text = 1, .next_name = 1};
    for (size_t i = 0; i < info->arg_count; i++) {
        if (put_stat(xspace, plane, &plane->stats, PLANE_STATS, &info->args[i])) return ids_no_memory(err);
    }
    return plane->stats.failed ? ids_no_memory(err) : 0;
}

/* The file's own id where it has one that is not taken. */
static int choose_name_id(struct plane *plane, int64_t wanted, int64_t *ret_id) {
    uint64_t id = (uint64_t)wanted;
    if (!id || ids_idmap_get(&plane->name_ids, id) != IDS_IDMAP_NONE) {
        while (ids_idmap_get(&plane->name_ids, plane->next_name) != IDS_IDMAP_NONE) plane->next_name++;
        id = plane->next_name++;
    }
    *ret_id = (int64_t)id;
    return ids_idmap_set(&plane->name_ids, id, 0);
}

static int is_program(const struct ids_arg *arg) {
    return arg->type == IDS_VALUE_BYTES && (arg->key == IDS_KEY_HLO_PROTO || arg->key == IDS_KEY_HLO_PROTO_OLD);
}

static int xspace_name(struct ids_sink *sink, const struct ids_name_info *info, uint32_t *ret_name,
                       struct ids_error *err) {
    struct xspace *xspace = of(sink);
    struct plane *plane = &xspace->planes[info->plane];
    struct ids_buffer *buffer = &xspace->scratch;
    *ret_name = (uint32_t)xspace->name_count;
    struct name *name = IDS_PUSH(xspace->names, xspace->name_count, xspace->name_room);
    if (!name) return ids_no_memory(err);
    *name = (struct name){.plane = info->plane, .used = !xspace->only_used};
    *(plane->last_name ? &xspace->names[plane->last_name - 1].next : &plane->first_name) = xspace->name_count;
    plane->last_name = xspace->name_count;
    if (choose_name_id(plane, info->id, &name->id)) return ids_no_memory(err);
    buffer->length = 0;
    size_t entry = ids_pb_open(buffer, PLANE_EVENT_METADATA);
    ids_pb_put_uint(buffer, ENTRY_KEY, (uint64_t)name->id);
    size_t value = ids_pb_open(buffer, ENTRY_VALUE);
    struct ids_text text = ids_strings_text(sink->strings, info->text);
    ids_pb_put_uint(buffer, META_ID, (uint64_t)name->id);
    ids_pb_put_bytes(buffer, META_NAME, text.at, text.length);
    text = ids_strings_text(sink->strings, info->display);
    if (text.length) ids_pb_put_bytes(buffer, META_DISPLAY_NAME, text.at, text.length);
    for (size_t i = 0; i < info->arg_count; i++) {
        name->used |= is_program(&info->args[i]);
        if (put_stat(xspace, plane, buffer, META_STATS, &info->args[i])) return ids_no_memory(err);
    }
    ids_pb_close(buffer, value);
    ids_pb_close(buffer, entry);
    if (buffer->failed) return ids_no_memory(err);
    if (buffer->length > INT32_MAX) return ids_fail(err, IDS_LIMIT, "a name with more than 2 GiB of stats");
    name->at = ids_aside_length(xspace->name_bytes);
    name->length = (uint32_t)buffer->length;
    return ids_aside_append(xspace->name_bytes, buffer->at, buffer->length, err);
}

static int xspace_track(struct ids_sink *sink, const struct ids_track_info *info, uint32_t *ret_track,
                        struct ids_error *err) {
    struct xspace *xspace = of(sink);
    *ret_track = (uint32_t)xspace->track_count;
    struct track *track = IDS_PUSH(xspace->tracks, xspace->track_count, xspace->track_room);
    if (!track) return ids_no_memory(err);
    *track = (struct track){info->plane, info->name, info->id, info->origin_ps, xspace->strands.count, 0};
    struct plane *plane = &xspace->planes[info->plane];
    *(plane->last_track ? &xspace->tracks[plane->last_track - 1].next : &plane->first_track) = xspace->track_count;
    plane->last_track = xspace->track_count;
    track->origin_ps -= track->origin_ps % PS_IN_NS;
    return ids_strands_add(&xspace->strands, err);
}

/* --- events ----------------------------------------------------------------------------------------------------- */

/* An aggregated event, which has no place in time: the reader made its number of occurrences the last arg. */
static int is_aggregated(const struct xspace *xspace, const struct ids_slice *slice, int64_t offset_ps) {
    if (offset_ps || !slice->arg_count) return 0;
    const struct ids_arg *last = &slice->args[slice->arg_count - 1];
    return last->key == xspace->num_occurrences && last->type == IDS_VALUE_INT;
}

static int xspace_slice(struct ids_sink *sink, uint32_t track_id, const struct ids_slice *slice,
                        struct ids_error *err) {
    struct xspace *xspace = of(sink);
    const struct track *track = &xspace->tracks[track_id];
    struct plane *plane = &xspace->planes[track->plane];
    struct name *name = &xspace->names[slice->name];
    struct ids_buffer *buffer = &xspace->scratch;
    int64_t offset_ps;
    if (__builtin_sub_overflow(slice->start_ps, track->origin_ps, &offset_ps))
        return ids_fail(err, IDS_LIMIT, "an event more than 106 days from the start of its line");
    uint32_t arg_count = slice->arg_count;
    name->used = 1;
    buffer->length = 0;
    size_t event = ids_pb_open(buffer, LINE_EVENTS);
    ids_pb_put_uint(buffer, EVENT_METADATA_ID, (uint64_t)name->id);
    if (is_aggregated(xspace, slice, offset_ps)) {
        ids_pb_put_uint(buffer, EVENT_OCCURRENCES, slice->args[--arg_count].u);
    } else {
        ids_pb_put_uint(buffer, EVENT_OFFSET_PS, (uint64_t)offset_ps);
    }
    if (slice->duration_ps) ids_pb_put_uint(buffer, EVENT_DURATION_PS, (uint64_t)slice->duration_ps);
    for (uint32_t i = 0; i < arg_count; i++) {
        if (put_stat(xspace, plane, buffer, EVENT_STATS, &slice->args[i])) return ids_no_memory(err);
    }
    ids_pb_close(buffer, event);
    if (buffer->failed) return ids_no_memory(err);
    xspace->export.events++;
    if (slice->form != IDS_FORM_SLICE) xspace->export.losses[LOST_FORMS].count++;
    return ids_strands_append(&xspace->strands, track->strand, buffer->at, buffer->length, err);
}

/* --- the file --------------------------------------------------------------------------------------------------- */

static void put_line_head(const struct xspace *xspace, const struct track *track, struct ids_buffer *buffer) {
    struct ids_text name = ids_strings_text(&xspace->export.strings, track->name);
    int64_t timestamp_ns = xspace->base_ns;
    ids_pb_put_uint(buffer, LINE_ID, (uint64_t)track->id);
    if (name.length) ids_pb_put_bytes(buffer, LINE_NAME, name.at, name.length);
    /* A base that was subtracted can be added again without an overflow. */
    if (!__builtin_add_overflow(timestamp_ns, track->origin_ps / PS_IN_NS, &timestamp_ns) && timestamp_ns)
        ids_pb_put_uint(buffer, LINE_TIMESTAMP_NS, (uint64_t)timestamp_ns);
}

static void put_stat_metadata(const struct xspace *xspace, const struct plane *plane, struct ids_buffer *buffer) {
    for (size_t i = 0; i < plane->used_count; i++) {
        struct ids_text text = ids_strings_text(&xspace->export.strings, plane->used_texts[i]);
        uint32_t id = ids_idmap_get(&plane->texts, plane->used_texts[i]);
        size_t entry = ids_pb_open(buffer, PLANE_STAT_METADATA);
        ids_pb_put_uint(buffer, ENTRY_KEY, id);
        size_t value = ids_pb_open(buffer, ENTRY_VALUE);
        ids_pb_put_uint(buffer, META_ID, id);
        ids_pb_put_bytes(buffer, META_NAME, text.at, text.length);
        ids_pb_close(buffer, value);
        ids_pb_close(buffer, entry);
    }
}

/* protobuf's own limit: no message is longer. */
static int check_length(uint64_t length, const char *what, struct ids_error *err) {
    if (length <= INT32_MAX) return 0;
    return ids_fail(err, IDS_LIMIT, "%s would be above 2 GiB, which no XSpace can hold; take out a part of the run",
                    what);
}

/* Adds the message's head: tag and length. */
static void put_length(struct ids_buffer *buffer, uint32_t field, uint64_t length) {
    ids_pb_put_tag(buffer, field, IDS_PB_BYTES);
    ids_pb_put_varint(buffer, length);
}

static int write_names(struct xspace *xspace, const struct plane *plane, struct ids_error *err) {
    for (size_t i = plane->first_name; i; i = xspace->names[i - 1].next) {
        const struct name *name = &xspace->names[i - 1];
        if (!name->used) continue;
        const uint8_t *bytes;
        int code = ids_aside_read(xspace->name_bytes, name->at, name->length, &bytes, err);
        if (code) return code;
        ids_buffer_put(&xspace->export.buffer, bytes, name->length);
        code = ids_export_write(&xspace->export, err);
        if (code) return code;
    }
    return 0;
}

static int write_line(struct xspace *xspace, const struct track *track, struct ids_error *err) {
    struct ids_buffer *buffer = &xspace->export.buffer;
    uint64_t events = xspace->strands.at[track->strand].length;
    xspace->scratch.length = 0;
    put_line_head(xspace, track, &xspace->scratch);
    put_length(buffer, PLANE_LINES, xspace->scratch.length + events);
    ids_buffer_put(buffer, xspace->scratch.at, xspace->scratch.length);
    int code = ids_export_write_all(&xspace->export, err);
    return code ? code : ids_strands_write(&xspace->strands, track->strand, xspace->export.out, err);
}

/* How long the plane's lines and names are. */
static uint64_t length_of_parts(struct xspace *xspace, const struct plane *plane) {
    uint64_t length = 0;
    for (size_t i = plane->first_track; i; i = xspace->tracks[i - 1].next) {
        const struct track *track = &xspace->tracks[i - 1];
        xspace->scratch.length = 0;
        put_line_head(xspace, track, &xspace->scratch);
        uint64_t line = xspace->scratch.length + xspace->strands.at[track->strand].length;
        length += 1 + ids_pb_varint_size(line) + line;
    }
    for (size_t i = plane->first_name; i; i = xspace->names[i - 1].next) {
        if (xspace->names[i - 1].used) length += xspace->names[i - 1].length;
    }
    return length;
}

static int write_plane(struct xspace *xspace, uint32_t index, struct ids_error *err) {
    const struct plane *plane = &xspace->planes[index];
    struct ids_buffer head = {0}, tables = {0};
    struct ids_text name = ids_strings_text(&xspace->export.strings, plane->name);
    ids_pb_put_uint(&head, PLANE_ID, index);
    ids_pb_put_bytes(&head, PLANE_NAME, name.at, name.length);
    put_stat_metadata(xspace, plane, &tables);
    ids_buffer_put(&tables, plane->stats.at, plane->stats.length);
    uint64_t length = head.length + length_of_parts(xspace, plane) + tables.length;
    int code = head.failed || tables.failed ? ids_no_memory(err) : check_length(length, "a plane", err);
    if (!code) {
        put_length(&xspace->export.buffer, SPACE_PLANES, length);
        ids_buffer_put(&xspace->export.buffer, head.at, head.length);
    }
    for (size_t i = plane->first_track; i && !code; i = xspace->tracks[i - 1].next)
        code = write_line(xspace, &xspace->tracks[i - 1], err);
    if (!code) code = write_names(xspace, plane, err);
    if (!code) ids_buffer_put(&xspace->export.buffer, tables.at, tables.length);
    ids_buffer_done(&head);
    ids_buffer_done(&tables);
    return code;
}

static int xspace_finish(struct ids_export *export, struct ids_error *err) {
    struct xspace *xspace = (struct xspace *)export;
    for (size_t i = 0; i < xspace->plane_count; i++) {
        int code = write_plane(xspace, (uint32_t)i, err);
        if (code) return code;
    }
    struct ids_text host = ids_strings_text(&export->strings, xspace->host);
    if (host.length) ids_pb_put_bytes(&export->buffer, SPACE_HOSTNAMES, host.at, host.length);
    return ids_export_write_all(export, err);
}

static void xspace_done(struct ids_export *export) {
    struct xspace *xspace = (struct xspace *)export;
    for (size_t i = 0; i < xspace->plane_count; i++) {
        struct plane *plane = &xspace->planes[i];
        ids_idmap_done(&plane->texts);
        ids_idmap_done(&plane->text_ids);
        ids_idmap_done(&plane->name_ids);
        ids_buffer_done(&plane->stats);
        free(plane->used_texts);
    }
    free(xspace->planes);
    free(xspace->names);
    free(xspace->tracks);
    ids_strands_done(&xspace->strands);
    ids_aside_free(xspace->name_bytes);
    ids_buffer_done(&xspace->scratch);
}

int ids_xspace_new(struct ids_out *out, int only_used, struct ids_export **ret_export, struct ids_error *err) {
    enum { NAMES_MEMORY_BYTES = 32 << 20 };
    static const struct ids_sink_ops ops = {.host = xspace_host,
                                            .plane = xspace_plane,
                                            .name = xspace_name,
                                            .track = xspace_track,
                                            .slice = xspace_slice,
                                            .track_end = ids_export_no_track_end,
                                            .diag = ids_export_no_diag};
    struct xspace *xspace = calloc(1, sizeof *xspace);
    if (!xspace) return ids_no_memory(err);
    xspace->export.finish = xspace_finish;
    xspace->export.done = xspace_done;
    xspace->export.losses[LOST_FORMS] = (struct ids_export_loss){
        "event that is no slice (kept without a duration)", "events that are no slices (kept without a duration)", 0};
    xspace->export.losses[LOST_REFS] =
        (struct ids_export_loss){"reference that leads nowhere", "references that lead nowhere", 0};
    xspace->only_used = only_used;
    int code = ids_export_init(&xspace->export, out, &ops, err);
    if (!code) code = ids_strands_init(&xspace->strands, err);
    if (!code) code = ids_aside_new(NAMES_MEMORY_BYTES, &xspace->name_bytes, err);
    if (!code) {
        xspace->num_occurrences = ids_intern_z(&xspace->export.strings, "num_occurrences");
        if (xspace->num_occurrences == IDS_NO_TEXT) code = ids_no_memory(err);
    }
    if (code) {
        ids_export_free(&xspace->export);
        return code;
    }
    *ret_export = &xspace->export;
    return 0;
}
