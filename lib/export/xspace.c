/* xspace.c - the XSpace profile that XLA, JAX and TensorFlow write (*.xplane.pb), for XProf and all that reads it.
 *
 * Format: tsl/profiler/protobuf/xplane.proto; formats/xplane.c reads it. The length of a plane and of a line stands in
 * front of it, so events and names wait aside until the reader is done. Events keep the file's order and stats their
 * types.
 *
 * The format knows slices only. Other events (arrows, moments, counters) have no duration and say in the stat
 * IDS_KEY_FORM what they are, so that reading them gives the same again; on a device they have a line of their own,
 * because readers take what lies on a stream for kernels.
 *
 * A trace that was no XSpace is told as XLA's profiler would: times from the session's start, whose wall clock stands
 * in the plane "Task Environment"; the program's threads in "/host:CPU", the only host plane that XProf shows; streams
 * and their events as gpu_details.h says; launches tied by correlation_id.
 */
#include "lib/fields/xspace.h"
#include "lib/base/idmap.h"
#include "lib/base/keymap.h"
#include "lib/base/vec.h"
#include "lib/export/channels.h"
#include "lib/export/export.h"
#include "lib/export/gpu_details.h"
#include "lib/model/keys.h"
#include "lib/model/trace.h"
#include "lib/wire/pb_writer.h"

#include <stdlib.h>

enum { LOST_FORMS = 0, LOST_REFS = 1, LOST_TIMES = 2, LOST_DEVICES = 3 };
/* No run is longer: 26 days. What lies further away would make the session as long, and no reader shows the rest. */
#define RUN_PS ((int64_t)1 << 61)
enum { PS_IN_NS = 1000, RESERVED = 1 };

struct plane {
    uint32_t name;
    uint8_t is_device, is_gpu, has_process_name;
    uint64_t events;
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
    uint32_t plane, text;
    int64_t id;
    int used;
    uint64_t at; /* its map entry, among the names put aside */
    uint32_t length;
    size_t next; /* of the same plane: index + 1 */
};

struct track {
    uint32_t plane, name;
    int64_t id, origin_ps;
    size_t channel;
    size_t next;       /* of the same plane: index + 1 */
    uint64_t events;   /* on the channel */
    uint8_t is_stream; /* Kineto's, of the number `stream` */
    unsigned works;    /* enum ids_gpu_work */
    int64_t stream;
    size_t moments; /* of a device: the channel of what is no slice, + 1; 0: none */
    int64_t moments_id;
};

/* What becomes a line of the file. */
struct line {
    const struct track *track;
    size_t channel;
    int is_moments;
};

struct xspace {
    struct ids_export export; /* first */
    struct ids_key_spellings spellings;
    int only_used;
    uint32_t host;
    int64_t base_ns, start_unix_ns;
    int is_xspace;                  /* what is read */
    uint32_t num_occurrences;       /* text */
    uint32_t process_name, moments; /* texts */
    struct plane *planes;
    size_t plane_count, plane_room;
    struct name *names;
    size_t name_count, name_room;
    struct track *tracks;
    size_t track_count, track_room;
    struct ids_channels channels; /* events, by track */
    struct ids_spill *name_bytes;
    struct ids_keymap line_ids; /* (plane, id) of lines */
    int64_t fresh_id;
    struct ids_buffer scratch, details;
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

/* A reference to a text that the file does not hold keeps its number, unless that is another text's here. 1 when it
 * is. */
static int reference_is_free(struct plane *plane, uint64_t id) {
    uint32_t text = ids_idmap_get(&plane->text_ids, id);
    if (text == IDS_IDMAP_NONE) return ids_idmap_set(&plane->text_ids, id, IDS_NO_TEXT - RESERVED) == 0;
    return text == IDS_NO_TEXT - RESERVED;
}

/* Adds a stat as field `field`. -1 when memory ran out. */
static int put_stat(struct xspace *xspace, struct plane *plane, struct ids_buffer *buffer, uint32_t field,
                    const struct ids_arg *arg) {
    /* Kineto's word for XLA's. */
    uint32_t name = arg->key == IDS_KEY_CORRELATION && !xspace->is_xspace ? IDS_KEY_CORRELATION_ID : arg->key;
    uint64_t key = text_id(plane, name), text;
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
    of(sink)->is_xspace = host->is_xspace;
    of(sink)->base_ns = host->is_xspace ? host->base_ns : 0;
    of(sink)->start_unix_ns = host->is_xspace ? 0 : host->start_unix_ns;
    return 0;
}

static int xspace_plane(struct ids_sink *sink, const struct ids_plane_info *info, uint32_t *ret_plane,
                        struct ids_error *err) {
    struct xspace *xspace = of(sink);
    *ret_plane = (uint32_t)xspace->plane_count;
    struct plane *plane = IDS_PUSH(xspace->planes, xspace->plane_count, xspace->plane_room);
    if (!plane) return ids_no_memory(err);
    struct ids_text text = ids_strings_text(sink->strings, info->name);
    *plane = (struct plane){.name = info->name,
                            .next_text = 1,
                            .next_name = 1,
                            .is_device = (uint8_t)ids_text_begins(text, "/device:"),
                            .is_gpu = (uint8_t)ids_text_begins(text, "/device:GPU:")};
    for (size_t i = 0; i < info->arg_count; i++) {
        plane->has_process_name |= info->args[i].key == xspace->process_name;
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
    *name = (struct name){.plane = info->plane, .text = info->text, .used = !xspace->only_used};
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
    name->at = ids_spill_length(xspace->name_bytes);
    name->length = (uint32_t)buffer->length;
    return ids_spill_append(xspace->name_bytes, buffer->at, buffer->length, err);
}

/* Another id where the plane has a line of that one: XProf puts lines of one id together. */
static int take_line_id(struct xspace *xspace, uint32_t plane, int64_t *id, struct ids_error *err) {
    enum { FRESH_FIRST = 1 << 30 }; /* no system has threads of such numbers */
    int added = ids_keymap_add(&xspace->line_ids, ids_key_of(plane, (uint64_t)*id), 1);
    while (!added) {
        *id = FRESH_FIRST + xspace->fresh_id++;
        added = ids_keymap_add(&xspace->line_ids, ids_key_of(plane, (uint64_t)*id), 1);
    }
    return added < 0 ? ids_no_memory(err) : 0;
}

static int xspace_track(struct ids_sink *sink, const struct ids_track_info *info, uint32_t *ret_track,
                        struct ids_error *err) {
    struct xspace *xspace = of(sink);
    *ret_track = (uint32_t)xspace->track_count;
    struct track *track = IDS_PUSH(xspace->tracks, xspace->track_count, xspace->track_room);
    if (!track) return ids_no_memory(err);
    *track = (struct track){.plane = info->plane,
                            .name = info->name,
                            .id = info->id,
                            .origin_ps = info->origin_ps - info->origin_ps % PS_IN_NS,
                            .channel = xspace->channels.count};
    struct plane *plane = &xspace->planes[info->plane];
    *(plane->last_track ? &xspace->tracks[plane->last_track - 1].next : &plane->first_track) = xspace->track_count;
    plane->last_track = xspace->track_count;
    /* Of sampled stacks threads that came one after another have one number: that of the events which are theirs. */
    int keeps_id = xspace->is_xspace || ids_plane_is_sampled(ids_strings_text(sink->strings, plane->name));
    if (!xspace->is_xspace) {
        struct ids_text name = ids_strings_text(sink->strings, info->name);
        track->is_stream = plane->is_gpu && ids_gpu_stream_number(name, &track->stream);
    }
    int code = keeps_id ? 0 : take_line_id(xspace, info->plane, &track->id, err);
    if (code) return code;
    return ids_channels_add(&xspace->channels, err);
}

/* --- events ----------------------------------------------------------------------------------------------------- */

/* An aggregated event, which has no place in time: the reader made its number of occurrences the last arg. */
static int is_aggregated(const struct xspace *xspace, const struct ids_slice *slice, int64_t offset_ps) {
    if (offset_ps || !slice->arg_count) return 0;
    const struct ids_arg *last = &slice->args[slice->arg_count - 1];
    return last->key == xspace->num_occurrences && last->type == IDS_VALUE_INT;
}

static const char *form_name(uint8_t form) {
    static const char *const names[] = {IDS_FORM_NAMES};
    return form < sizeof names / sizeof *names ? names[form] : names[IDS_FORM_INSTANT];
}

/* Says what the event is, where that is no slice. -1 when memory ran out. */
static int put_form(struct xspace *xspace, struct plane *plane, uint8_t form) {
    const struct ids_arg arg = {
        .key = IDS_KEY_FORM, .type = IDS_VALUE_TEXT, .text = ids_intern_z(&xspace->export.strings, form_name(form))};
    xspace->export.losses[LOST_FORMS].count++;
    return arg.text == IDS_NO_TEXT ? -1 : put_stat(xspace, plane, &xspace->scratch, EVENT_STATS, &arg);
}

/* Adds what XProf knows a GPU's event by. -1 when memory ran out. */
static int put_details(struct xspace *xspace, struct track *track, const struct ids_slice *slice) {
    enum ids_gpu_work work;
    struct ids_buffer *details = &xspace->details;
    struct ids_text name = ids_strings_text(&xspace->export.strings, xspace->names[slice->name].text);
    uint32_t key =
        ids_gpu_details(&xspace->export.strings, &xspace->spellings, name, track->stream, slice, details, &work);
    track->works |= work;
    if (details->failed || details->length > UINT32_MAX) return -1;
    const struct ids_arg arg = {
        .key = key, .type = IDS_VALUE_CHARS, .chars = details->at, .length = (uint32_t)details->length};
    return key ? put_stat(xspace, &xspace->planes[track->plane], &xspace->scratch, EVENT_STATS, &arg) : 0;
}

/* Where the event goes. */
static int choose_channel(struct xspace *xspace, struct track *track, uint8_t form, size_t *ret_channel,
                          struct ids_error *err) {
    *ret_channel = track->channel;
    int apart = form != IDS_FORM_SLICE && xspace->planes[track->plane].is_device && track->name != xspace->moments;
    track->events += !apart;
    if (!apart) return 0;
    if (!track->moments) {
        track->moments = xspace->channels.count + 1;
        track->moments_id = track->id;
        int code = take_line_id(xspace, track->plane, &track->moments_id, err);
        if (!code) code = ids_channels_add(&xspace->channels, err);
        if (code) return code;
    }
    *ret_channel = track->moments - 1;
    return 0;
}

static int is_far(int64_t ps) {
    return ps > RUN_PS || ps < -RUN_PS;
}

static int xspace_slice(struct ids_sink *sink, uint32_t track_id, const struct ids_slice *slice,
                        struct ids_error *err) {
    struct xspace *xspace = of(sink);
    struct track *track = &xspace->tracks[track_id];
    struct plane *plane = &xspace->planes[track->plane];
    struct name *name = &xspace->names[slice->name];
    struct ids_buffer *buffer = &xspace->scratch;
    int64_t offset_ps;
    if (!xspace->is_xspace && is_far(slice->start_ps)) {
        xspace->export.losses[LOST_TIMES].count++;
        return 0;
    }
    if (__builtin_sub_overflow(slice->start_ps, track->origin_ps, &offset_ps))
        return ids_fail(err, IDS_LIMIT, "an event more than 106 days from the start of its line");
    uint32_t arg_count = slice->arg_count;
    name->used = 1;
    buffer->length = 0;
    size_t event = ids_pb_open(buffer, LINE_EVENTS), channel;
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
    if (slice->form != IDS_FORM_SLICE && put_form(xspace, plane, slice->form)) return ids_no_memory(err);
    if (slice->form == IDS_FORM_SLICE && track->is_stream && put_details(xspace, track, slice))
        return ids_no_memory(err);
    ids_pb_close(buffer, event);
    if (buffer->failed) return ids_no_memory(err);
    int code = choose_channel(xspace, track, slice->form, &channel, err);
    if (code) return code;
    xspace->export.events++;
    plane->events++;
    return ids_channels_append(&xspace->channels, channel, buffer->at, buffer->length, err);
}

/* --- the file --------------------------------------------------------------------------------------------------- */

/* The lines of a track: its own, and one of what is no slice. */
static int lines_of(const struct track *track, struct line lines[2]) {
    int count = 0;
    if (track->events || !track->moments) lines[count++] = (struct line){track, track->channel, 0};
    if (track->moments) lines[count++] = (struct line){track, track->moments - 1, 1};
    return count;
}

static void put_line_name(struct xspace *xspace, const struct line *line) {
    const struct track *track = line->track;
    int has_own =
        !line->is_moments || (!track->events && !track->is_stream); /* a timeline of counters has nothing else */
    struct ids_text name = ids_strings_text(&xspace->export.strings, has_own ? track->name : xspace->moments);
    xspace->details.length = 0;
    if (track->works && has_own && !ids_gpu_is_stream_name(name))
        ids_gpu_stream_name(track->stream, track->works, &xspace->details);
    else
        ids_buffer_put(&xspace->details, name.at, name.length);
}

static void put_line_head(struct xspace *xspace, const struct line *line, struct ids_buffer *buffer) {
    const struct track *track = line->track;
    int64_t timestamp_ns = xspace->base_ns;
    put_line_name(xspace, line);
    ids_pb_put_uint(buffer, LINE_ID, (uint64_t)(line->is_moments ? track->moments_id : track->id));
    if (xspace->details.length) ids_pb_put_bytes(buffer, LINE_NAME, xspace->details.at, xspace->details.length);
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
        int code = ids_spill_read(xspace->name_bytes, name->at, name->length, &bytes, err);
        if (code) return code;
        ids_buffer_put(&xspace->export.buffer, bytes, name->length);
        code = ids_export_write(&xspace->export, err);
        if (code) return code;
    }
    return 0;
}

static int write_line(struct xspace *xspace, const struct line *line, struct ids_error *err) {
    struct ids_buffer *buffer = &xspace->export.buffer;
    uint64_t events = xspace->channels.at[line->channel].length;
    xspace->scratch.length = 0;
    put_line_head(xspace, line, &xspace->scratch);
    if (xspace->details.failed) return ids_no_memory(err);
    put_length(buffer, PLANE_LINES, xspace->scratch.length + events);
    ids_buffer_put(buffer, xspace->scratch.at, xspace->scratch.length);
    int code = ids_export_write_all(&xspace->export, err);
    return code ? code : ids_channels_write(&xspace->channels, line->channel, xspace->export.out, err);
}

/* How long the plane's lines and names are. */
static uint64_t length_of_parts(struct xspace *xspace, const struct plane *plane) {
    uint64_t length = 0;
    for (size_t i = plane->first_track; i; i = xspace->tracks[i - 1].next) {
        struct line lines[2];
        for (int l = 0, count = lines_of(&xspace->tracks[i - 1], lines); l < count; l++) {
            xspace->scratch.length = 0;
            put_line_head(xspace, &lines[l], &xspace->scratch);
            uint64_t line = xspace->scratch.length + xspace->channels.at[lines[l].channel].length;
            length += 1 + ids_pb_varint_size(line) + line;
        }
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
    for (size_t i = plane->first_track; i && !code; i = xspace->tracks[i - 1].next) {
        struct line lines[2];
        for (int l = 0, count = lines_of(&xspace->tracks[i - 1], lines); l < count && !code; l++)
            code = write_line(xspace, &lines[l], err);
    }
    if (!code) code = write_names(xspace, plane, err);
    if (!code) ids_buffer_put(&xspace->export.buffer, tables.at, tables.length);
    ids_buffer_done(&head);
    ids_buffer_done(&tables);
    return code;
}

/* The plane of that name; NULL for none. */
static struct plane *plane_called(struct xspace *xspace, const char *name) {
    for (size_t i = 0; i < xspace->plane_count; i++) {
        if (ids_text_is(ids_strings_text(&xspace->export.strings, xspace->planes[i].name), name))
            return &xspace->planes[i];
    }
    return NULL;
}

/* Counts the devices with events that XProf leaves out: it knows planes of GPUs and TPUs by their names. */
static void count_unshown(struct xspace *xspace) {
    for (size_t i = 0; i < xspace->plane_count; i++) {
        const struct plane *plane = &xspace->planes[i];
        struct ids_text name = ids_strings_text(&xspace->export.strings, plane->name);
        xspace->export.losses[LOST_DEVICES].count +=
            plane->is_device && !plane->is_gpu && plane->events && !ids_text_begins(name, "/device:TPU:");
    }
}

/* Gives the threads of the program beside a device the name under which XProf looks for them; what they were called
 * stays as a stat. */
static int name_host(struct xspace *xspace, struct ids_error *err) {
    static const char name[] = "/host:CPU";
    struct plane *host = NULL;
    int has_device = 0;
    if (plane_called(xspace, name)) return 0;
    for (size_t i = 0; i < xspace->plane_count; i++) {
        struct plane *plane = &xspace->planes[i];
        has_device |= plane->is_device && plane->events;
        if (!plane->is_device && (!host || plane->events > host->events)) host = plane;
    }
    if (!has_device || !host) return 0;
    const struct ids_arg before = {.key = xspace->process_name, .type = IDS_VALUE_TEXT, .text = host->name};
    if (!host->has_process_name && put_stat(xspace, host, &host->stats, PLANE_STATS, &before))
        return ids_no_memory(err);
    host->name = ids_intern_z(&xspace->export.strings, name);
    return host->name == IDS_NO_TEXT ? ids_no_memory(err) : 0;
}

/* The plane that tells when the session began. */
static int add_clock(struct xspace *xspace, struct ids_error *err) {
    static const char name[] = "Task Environment";
    uint32_t ignored;
    if (xspace->start_unix_ns <= 0 || plane_called(xspace, name)) return 0;
    const struct ids_arg start = {
        .key = IDS_KEY_PROFILE_START_TIME, .type = IDS_VALUE_UINT, .u = (uint64_t)xspace->start_unix_ns};
    const struct ids_plane_info info = {
        .name = ids_intern_z(&xspace->export.strings, name), .args = &start, .arg_count = 1};
    if (info.name == IDS_NO_TEXT) return ids_no_memory(err);
    return xspace_plane(&xspace->export.sink, &info, &ignored, err);
}

static int xspace_finish(struct ids_export *export, struct ids_error *err) {
    struct xspace *xspace = (struct xspace *)export;
    int code = xspace->is_xspace ? 0 : name_host(xspace, err);
    if (!xspace->is_xspace) count_unshown(xspace);
    if (!code) code = add_clock(xspace, err);
    if (code) return code;
    for (size_t i = 0; i < xspace->plane_count; i++) {
        code = write_plane(xspace, (uint32_t)i, err);
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
    ids_channels_done(&xspace->channels);
    ids_spill_free(xspace->name_bytes);
    ids_keymap_done(&xspace->line_ids);
    ids_buffer_done(&xspace->scratch);
    ids_buffer_done(&xspace->details);
}

static int open_xspace(struct ids_out *out, const struct ids_export_params *params, struct ids_export **ret_export,
                       struct ids_error *err) {
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
    xspace->export.losses[LOST_FORMS] =
        (struct ids_export_loss){"event that is not a slice (kept without a duration)",
                                 "events that are not slices (kept without a duration)", 0, NULL};
    xspace->export.losses[LOST_TIMES] =
        (struct ids_export_loss){"event more than 26 days from the others (left out)",
                                 "events more than 26 days from the others (left out)", 0, NULL};
    xspace->export.losses[LOST_REFS] =
        (struct ids_export_loss){"reference that leads nowhere", "references that lead nowhere", 0, NULL};
    xspace->export.losses[LOST_DEVICES] =
        (struct ids_export_loss){"device that is no GPU or TPU (kept, but XProf does not show it)",
                                 "devices that are no GPU or TPU (kept, but XProf does not show them)", 0, NULL};
    xspace->only_used = params->only_used;
    int code = ids_export_init(&xspace->export, out, &ops, err);
    if (!code) code = ids_channels_init(&xspace->channels, err);
    if (!code) code = ids_spill_new(NAMES_MEMORY_BYTES, &xspace->name_bytes, err);
    if (!code) {
        xspace->num_occurrences = ids_intern_z(&xspace->export.strings, "num_occurrences");
        xspace->process_name = ids_intern_z(&xspace->export.strings, "process_name");
        xspace->moments = ids_intern_z(&xspace->export.strings, "moments");
        if (xspace->moments == IDS_NO_TEXT) code = ids_no_memory(err);
    }
    if (code) {
        ids_export_free(&xspace->export);
        return code;
    }
    *ret_export = &xspace->export;
    return 0;
}

const struct ids_export_format ids_xspace_export = {
    .name = "xplane",
    .title = "XSpace",
    .suffix = ".xplane.pb",
    .open = open_xspace,
};
