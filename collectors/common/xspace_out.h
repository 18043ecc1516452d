/* xspace_out.h - appends a serialized XSpace to a file, event by event: what collectors recorded themselves.
 *
 *   struct ids_xspace_out *out = ids_xspace_open(path, 0, why, sizeof why);
 *   ids_xspace_plane_begin(out, 1, "/host:idsprof");
 *   ids_xspace_line_begin(out, thread, "executes", begin_ns);
 *   ids_xspace_event_begin(out, ids_xspace_name(out, "jit_step"), start_ns, end_ns);
 *   ids_xspace_int(out, "bytes", 4096);
 *   ids_xspace_event_end(out);
 *   ids_xspace_line_end(out);
 *   ids_xspace_plane_end(out);
 *   failed = ids_xspace_close(out, &written, why, sizeof why);
 *
 * Several serialized XSpaces in one file are read as one, with the planes of all. So this appends to the file of a
 * vendor's profiler. Memory stays small: the lengths of planes and lines are put in when these end, names are kept once
 * a plane. Not for callbacks: it allocates and writes. One thread at a time. Nothing here can fail in the middle: the
 * first error is kept, what follows does nothing, and ids_xspace_close tells it. Functions take a NULL `out` and do
 * nothing.
 *
 * Times are nanoseconds of CLOCK_REALTIME. Texts are cut at IDS_XSPACE_TEXT bytes; above the limits events are dropped
 * and counted. Format: tsl/profiler/protobuf/xplane.proto.
 */
#ifndef IDS_COLLECTORS_COMMON_XSPACE_OUT_H
#define IDS_COLLECTORS_COMMON_XSPACE_OUT_H

#include <stddef.h>
#include <stdint.h>

enum {
    IDS_XSPACE_TEXT = 4096,          /* bytes of one text */
    IDS_XSPACE_EVENT = 16384,        /* bytes of one event with its stats; stats that do not fit are left out */
    IDS_XSPACE_NAMES = 1 << 16,      /* names of a plane; one more is called IDS_XSPACE_NO_NAME */
    IDS_XSPACE_NAME_BYTES = 1 << 24, /* that these take together */
};
#define IDS_XSPACE_NO_NAME "(one name too many)"
/* Limit of a plane's bytes, because readers of protobuf refuse messages above 2 GiB; events beyond it are dropped. */
#define IDS_XSPACE_PLANE_BYTES ((int64_t)1 << 30)

struct ids_xspace_out;

struct ids_xspace_written {
    int64_t events, drops; /* drops: events for which there was no room, of this writer alone */
    int64_t bytes;
};

/* Opens `path`, which exists, to write at its end. max_bytes: of everything written here, 0: no limit. NULL with the
 * reason. */
struct ids_xspace_out *ids_xspace_open(const char *path, int64_t max_bytes, char *why, size_t why_size);
/* Ends what is still open, closes the file and frees `out`. 0, or -1 with the reason. `written` may be NULL. */
int ids_xspace_close(struct ids_xspace_out *out, struct ids_xspace_written *written, char *why, size_t why_size);

/* Bytes that are an XSpace already, as a vendor returned them. Between planes. */
void ids_xspace_raw(struct ids_xspace_out *out, const void *bytes, size_t size);

void ids_xspace_plane_begin(struct ids_xspace_out *out, int64_t id, const char *name);
void ids_xspace_plane_end(struct ids_xspace_out *out);
/* A line of the open plane. Its events may begin before base_ns. */
void ids_xspace_line_begin(struct ids_xspace_out *out, int64_t id, const char *name, int64_t base_ns);
void ids_xspace_line_end(struct ids_xspace_out *out);

/* The id of an event's name in the open plane, from 1. */
int64_t ids_xspace_name(struct ids_xspace_out *out, const char *name);
int64_t ids_xspace_name_of(struct ids_xspace_out *out, const char *name, size_t length);
/* An event of the open line; an end before its start counts as the start. */
void ids_xspace_event_begin(struct ids_xspace_out *out, int64_t name, int64_t start_ns, int64_t end_ns);
void ids_xspace_event_end(struct ids_xspace_out *out);

/* A stat of the open event; where none is open, of the open plane (but not while a line is). */
void ids_xspace_int(struct ids_xspace_out *out, const char *key, int64_t value);
void ids_xspace_uint(struct ids_xspace_out *out, const char *key, uint64_t value);
void ids_xspace_double(struct ids_xspace_out *out, const char *key, double value);
void ids_xspace_text(struct ids_xspace_out *out, const char *key, const char *value);
void ids_xspace_text_of(struct ids_xspace_out *out, const char *key, const char *value, size_t length);

/* A compiled program, as XLA's profiler stores it in the plane "/host:metadata": a name "module(id)" with the
 * serialized HloProto. Of the open plane, and not while a line is open. `module` is a serialized HloModuleProto. The
 * ids of names (above) and of programs are of one number space: a plane holds names or programs, not both. */
void ids_xspace_program(struct ids_xspace_out *out, uint64_t id, const char *name, const void *module, size_t size);

#endif
