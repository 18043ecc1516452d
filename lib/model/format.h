/* format.h - what a file format is: one file in formats/, one line in formats.def. */
#ifndef IDS_LIB_MODEL_FORMAT_H
#define IDS_LIB_MODEL_FORMAT_H

#include "lib/model/sink.h"

struct ids_source;

struct ids_format {
    const char *name;     /* "xplane" */
    const char *title;    /* "XSpace profile (xplane.pb)" */
    const char *expected; /* in messages: "an XSpace profile, *.xplane.pb"; NULL: it is for tests */
    const char *form;     /* `list` says so of a run: "xplane"; in JSON too */
    /* What a file of it does not hold, while one of another format of the same run does: "trace.json lacks programs".
     * NULL: nothing. */
    const char *lacks;
    const char *const *suffixes; /* NULL-terminated; which files of a folder are worth opening */
    /* NULL, or endings that others use too: in a folder such a file is opened when its content bids (run_files.h). */
    const char *const *generic_suffixes;
    /* NULL, or endings of files that lie in the folder of a run and are read with it: they say more of it. */
    const char *const *beside_suffixes;
    /* How sure the format is that a file that begins with these bytes is its own: 0 (no) to 100. `head` holds the first
     * IDS_FORMAT_HEAD bytes, or the whole file when it is shorter. Content decides; a suffix only hints. *more is 0
     * before, and set to 1 when only what follows can tell: then it is asked again with a longer head, if the file
     * has one (head.h). */
    int (*bid)(const uint8_t *head, size_t length, int *more);
    /* 1: read() goes through the content once or more from front to back (ids_stream). 0: it jumps, and a packed source
     * is unpacked before. */
    int streams;
    /* Reads the whole source into the sink. A file that ends early: complete events before the end are delivered,
     * sink->complete becomes 0, a diag says where, and the result is 0 - or IDS_TRUNCATED when not one event was
     * whole. */
    int (*read)(struct ids_source *source, struct ids_sink *sink, struct ids_error *err);
};

enum { IDS_FORMAT_HEAD = 4096 }; /* IDS_HEAD_BYTES of head.h */

extern const struct ids_format *const ids_formats[];
extern const int ids_format_count;

#endif
