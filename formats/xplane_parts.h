/* xplane_parts.h - what the reader of an XSpace is made of, for the files xplane*.c. */
#ifndef IDS_FORMATS_XPLANE_PARTS_H
#define IDS_FORMATS_XPLANE_PARTS_H

#include "formats/pb_file.h"
#include "lib/base/idmap.h"
#include "lib/model/format.h"
#include "lib/wire/pb_wire.h"

#include <stdbool.h>

struct ids_xplane_spans {
    struct ids_span_bytes *at;
    size_t count, room;
};

enum { IDS_XPLANE_IDS_OF_A_BYTE = 256 };

/* Times above this (11 days) do not count from the start of the session, but from 1970 or the start of the machine. */
#define IDS_XPLANE_FAR_NS ((int64_t)1000000 * 1000000000)

struct ids_xplane_plane {
    struct ids_span_bytes span;
    uint32_t name; /* text */
    struct ids_xplane_spans lines, event_metadata, stat_metadata, stats;
};

/* A program's graph, which is told when all lines are read (xplane_programs.c). */
struct ids_hlo_program;
struct ids_xplane_program {
    struct ids_span_bytes graph;
    uint64_t id;
    uint64_t name_at; /* where its name is in the file */
    uint8_t *bytes;   /* those of the graph, where it was read ahead */
    struct ids_hlo_program *hlo;
};
struct ids_xplane_programs {
    struct ids_xplane_program *at;
    size_t count, room;
    size_t read; /* the first ones were read ahead, or tried */
};

struct ids_xplane_reader {
    struct ids_pb_file file;
    struct ids_sink *sink;
    uint64_t events;
    uint64_t without_time; /* events that were left out */
    bool head_ended;       /* the line's own fields were taken to end at its first event */
    int64_t base_ns;
    int64_t session_ns; /* added to lines that count from the session's start, where others count from 1970; else 0 */
    struct ids_xplane_plane *planes;
    size_t plane_count, plane_room;
    uint32_t host_name;
    /* of the plane being read */
    uint32_t plane_id;
    struct ids_idmap stat_texts; /* stat metadata id -> text */
    uint32_t near_stat_texts
        [IDS_XPLANE_IDS_OF_A_BYTE]; /* the same of ids below 128, which are one byte; of others IDS_IDMAP_NONE */
    struct ids_idmap event_names;   /* event metadata id -> the sink's name */
    uint32_t num_occurrences;       /* text */
    bool has_forms;                 /* its stats have IDS_KEY_FORM among them */
    bool is_of_part;                /* others read with the same maps, which may not change */
    struct ids_xplane_programs programs;
    struct ids_arg *args;
    size_t arg_count, arg_room;
};

int ids_xplane_corrupt(struct ids_error *err, uint64_t offset, const char *what);

/* Decodes a stat into reader->args. Texts behind references are resolved, other texts stay where they are. */
int ids_xplane_read_stat(struct ids_xplane_reader *reader, struct ids_pb pb, uint64_t offset, struct ids_error *err);
/* The line's own fields; they stand before its events in every file seen, but need not. */
int ids_xplane_read_line_head(struct ids_xplane_reader *reader, struct ids_span_bytes span,
                              struct ids_track_info *ret_track, int64_t *ret_timestamp_ns, struct ids_error *err);
/* A track and its events, into the sink (xplane_line.c). */
int ids_xplane_read_line(struct ids_xplane_reader *reader, struct ids_span_bytes span, struct ids_error *err);

/* Reads the stat metadata and the plane's stats: into reader->stat_texts and reader->args (xplane_names.c). */
int ids_xplane_read_plane_stats(struct ids_xplane_reader *reader, const struct ids_xplane_plane *plane,
                                struct ids_error *err);
int ids_xplane_read_event_metadata(struct ids_xplane_reader *reader, struct ids_span_bytes span, struct ids_error *err);

int ids_xplane_programs_add(struct ids_xplane_reader *reader, const struct ids_xplane_program *program,
                            struct ids_error *err);
/* How many from programs->read on may be read ahead. */
size_t ids_xplane_programs_ahead(const struct ids_xplane_programs *programs);
/* Reads one ahead, beside others and beside lines. */
void ids_xplane_program_read(const struct ids_xplane_reader *reader, struct ids_xplane_program *program);
/* Tells all to the sink. */
int ids_xplane_programs_tell(struct ids_xplane_reader *reader, struct ids_error *err);
void ids_xplane_programs_done(struct ids_xplane_programs *programs);

/* Reads what can be read of the plane's lines beside each other; *ret_next is the first that remains
 * (xplane_lots.c). */
int ids_xplane_read_in_parts(struct ids_xplane_reader *reader, const struct ids_xplane_plane *plane, size_t *ret_next,
                             struct ids_error *err);

#endif
