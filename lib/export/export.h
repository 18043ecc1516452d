/* export.h - writes a trace in another format: sinks that any reader can feed, and that write while they are fed.
 *
 *   struct ids_export *export;
 *   ids_export_format_find("chrome")->open(out, &params, &export, err);
 *   ... a reader feeds &export->sink, mostly through ordered.h and filter.h ...
 *   code = export->finish(export, err);
 *   ids_export_free(export);
 *
 * Memory grows with names, tracks and the largest event, not with the number of events: what must wait (a protobuf
 * message with its length in front) is spilled to disk.
 */
#ifndef IDS_LIB_EXPORT_EXPORT_H
#define IDS_LIB_EXPORT_EXPORT_H

#include "lib/base/buffer.h"
#include "lib/export/out.h"
#include "lib/model/sink.h"

/* Parts of the input that the format cannot hold. */
struct ids_export_loss {
    const char *one, *many; /* "HLO program", "HLO programs" */
    uint64_t count;
    const char *consequence; /* NULL, or what a report of the export lacks for it */
};
enum { IDS_EXPORT_LOSSES = 4 };
/* Of lost programs. */
#define IDS_EXPORT_NO_PROGRAMS                                                                                     \
    "without them a report of it knows ops by their names alone: it may miss collectives and layers, and count "   \
    "their time elsewhere; it has no operations and bytes of ops, no waste, and nothing of what programs keep in " \
    "memory"

struct ids_export {
    struct ids_sink sink; /* first, so that the sink is the export */
    struct ids_strings strings;
    struct ids_out *out;
    struct ids_buffer buffer;                         /* made, but not yet written */
    uint64_t events;                                  /* written, of any form */
    struct ids_export_loss losses[IDS_EXPORT_LOSSES]; /* those with `one` are used */
    /* Writes the rest, once the reader is done. */
    int (*finish)(struct ids_export *export, struct ids_error *err);
    void (*done)(struct ids_export *export); /* frees what the format added */
};

struct ids_export_params {
    const char *host; /* of a file that names none; must outlive the export */
    int only_used;    /* names that no event has, and that hold no program, are left out */
};

/* A format, one file, one line in exports.def. */
struct ids_export_format {
    const char *name;   /* of --format */
    const char *title;  /* in messages: "CSV has no place for ..." */
    const char *suffix; /* of its files, behind the profile's name */
    int wants_order;    /* events by time, a parent before its children (ordered.h) */
    int packs;          /* its bytes go through gzip.h */
    int is_text;        /* a terminal can show it */
    int is_for_viewers; /* a track of accounts makes sense in it */
    int (*open)(struct ids_out *out, const struct ids_export_params *params, struct ids_export **ret_export,
                struct ids_error *err);
};
extern const struct ids_export_format *const ids_export_formats[];
extern const int ids_export_format_count;
/* NULL when none is called so. */
const struct ids_export_format *ids_export_format_find(const char *name);

/* Programs: each is handed to `take` with the name that a file of it should have. `export->events` counts them. */
struct ids_program_files {
    int (*take)(struct ids_program_files *files, const char *name, const void *bytes, size_t length,
                struct ids_error *err);
};
/* `wanted`: NULL, or globs of which a program's name must match one. */
int ids_programs_new(struct ids_program_files *files, const char *const *wanted, size_t wanted_count,
                     struct ids_export **ret_export, struct ids_error *err);

void ids_export_free(struct ids_export *export);

/* For formats: fills the common part of an export, which is zeroed. */
int ids_export_init(struct ids_export *export, struct ids_out *out, const struct ids_sink_ops *ops,
                    struct ids_error *err);
/* Hands the buffer on when it is large, or whatever is in it. */
int ids_export_write(struct ids_export *export, struct ids_error *err);
int ids_export_write_all(struct ids_export *export, struct ids_error *err);

/* For formats that want none of it. */
int ids_export_no_diag(struct ids_sink *sink, const struct ids_diag *diag, struct ids_error *err);
int ids_export_no_track_end(struct ids_sink *sink, uint32_t track, struct ids_error *err);

#endif
