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
#include "formats/xplane_parts.h"
#include "lib/base/parallel.h"
#include "lib/base/vec.h"
#include "lib/fields/xspace.h"
#include "lib/io/source.h"
#include "lib/model/keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* protobuf's own limit: no message is longer. */
#define LENGTH_LIMIT ((uint64_t)INT32_MAX)
/* A line's timestamp above this is nanoseconds since 1970, not since the session's start (three years). */
#define EPOCH_NS ((int64_t)100000000 * 1000000000)

/* --- planes ----------------------------------------------------------------------------------------------------- */

static int keep_span(struct ids_xplane_spans *spans, struct ids_span_bytes span, struct ids_error *err) {
    struct ids_span_bytes *kept = IDS_PUSH(spans->at, spans->count, spans->room);
    if (!kept) return ids_no_memory(err);
    *kept = span;
    return 0;
}

/* Where the plane's parts lie. */
static int index_plane(struct ids_xplane_reader *reader, struct ids_xplane_plane *plane, struct ids_error *err) {
    uint64_t at = plane->span.at, end = plane->span.at + plane->span.length;
    struct ids_pb_file_field field = {0};
    int more;
    while ((more = ids_pb_file_field(&reader->file, &at, end, &field, err)) > 0) {
        if (field.wire != IDS_PB_BYTES) continue;
        struct ids_xplane_spans *spans = field.number == PLANE_LINES            ? &plane->lines
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

static int index_space(struct ids_xplane_reader *reader, struct ids_error *err) {
    uint64_t at = 0;
    struct ids_pb_file_field field = {0};
    int more;
    for (uint64_t begin = 0; (more = ids_pb_file_field(&reader->file, &at, UINT64_MAX, &field, err)) > 0; begin = at) {
        if (field.wire != IDS_PB_BYTES)
            return ids_xplane_corrupt(err, begin, "not an XSpace: its fields are all messages or texts");
        if (field.number == SPACE_PLANES) {
            struct ids_xplane_plane *plane = IDS_PUSH(reader->planes, reader->plane_count, reader->plane_room);
            if (!plane) return ids_no_memory(err);
            *plane = (struct ids_xplane_plane){.span = field.payload};
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

static int read_plane(struct ids_xplane_reader *reader, const struct ids_xplane_plane *plane, struct ids_error *err) {
    int code = ids_xplane_read_plane_stats(reader, plane, err);
    if (code) return code;
    struct ids_plane_info info = {.name = plane->name, .args = reader->args, .arg_count = reader->arg_count};
    code = reader->sink->ops->plane(reader->sink, &info, &reader->plane_id, err);
    if (code) return code;
    ids_idmap_done(&reader->event_names);
    for (size_t i = 0; i < plane->event_metadata.count; i++) {
        code = ids_xplane_read_event_metadata(reader, plane->event_metadata.at[i], err);
        if (code) return code;
    }
    size_t next = 0;
    code = reader->sink->parts && ids_jobs() > 1 ? ids_xplane_read_in_parts(reader, plane, &next, err) : 0;
    if (code) return code;
    for (size_t i = next; i < plane->lines.count; i++) {
        code = ids_xplane_read_line(reader, plane->lines.at[i], err);
        if (code) return ids_error_at(err, "line %zu", i);
    }
    return 0;
}

/* --- the file --------------------------------------------------------------------------------------------------- */

/* Finds what times count from: the session's start, whose wall clock the plane "Task Environment" has, 1970, or the
 * machine's start. Where some planes count from the session's start and others from 1970, as when one was put beside
 * the profiler's later, all are told from the session's start. */
static int read_clock(struct ids_xplane_reader *reader, struct ids_host_info *host, struct ids_error *err) {
    bool is_near = false;
    for (size_t i = 0; i < reader->plane_count; i++) {
        const struct ids_xplane_plane *plane = &reader->planes[i];
        if (!host->start_unix_ns && !strcmp(ids_strings_z(reader->sink->strings, plane->name), "Task Environment")) {
            int code = ids_xplane_read_plane_stats(reader, plane, err);
            if (code) return ids_error_at(err, "plane %zu ('Task Environment')", i);
            for (size_t s = 0; s < reader->arg_count; s++) {
                const struct ids_arg *arg = &reader->args[s];
                if (arg->key == IDS_KEY_PROFILE_START_TIME &&
                    (arg->type == IDS_VALUE_UINT || arg->type == IDS_VALUE_INT)) {
                    host->start_unix_ns = arg->i;
                }
            }
        }
        if (plane->lines.count) { /* one line tells for its plane */
            struct ids_track_info track = {0};
            int64_t timestamp_ns;
            int code = ids_xplane_read_line_head(reader, plane->lines.at[0], &track, &timestamp_ns, err);
            if (code)
                return ids_error_at(err, "plane %zu ('%s'): line 0", i,
                                    ids_strings_z(reader->sink->strings, plane->name));
            if (timestamp_ns < IDS_XPLANE_FAR_NS) is_near = true;
            if (timestamp_ns >= IDS_XPLANE_FAR_NS && !host->base_ns) host->base_ns = timestamp_ns;
        }
    }
    if (is_near && host->base_ns >= EPOCH_NS && host->start_unix_ns >= EPOCH_NS) {
        host->base_ns = reader->session_ns = host->start_unix_ns;
    }
    if (host->base_ns >= EPOCH_NS) host->start_unix_ns = host->base_ns;
    return 0;
}

static int read_space(struct ids_xplane_reader *reader, struct ids_error *err) {
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
    code = ids_xplane_programs_tell(reader, err);
    if (code) return code;
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
    struct ids_xplane_reader reader = {.file = {.source = source, .size = ids_source_size(source)}, .sink = sink};
    int code = read_space(&reader, err);
    for (size_t i = 0; i < reader.plane_count; i++) {
        struct ids_xplane_plane *plane = &reader.planes[i];
        free(plane->lines.at);
        free(plane->event_metadata.at);
        free(plane->stat_metadata.at);
        free(plane->stats.at);
    }
    free(reader.planes);
    ids_xplane_programs_done(&reader.programs);
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
