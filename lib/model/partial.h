/* partial.h - what a builder made of one file, as bytes: idsprof reads the file once, on any machine, and many of them
 * together are the run.
 *
 * A partial is the builder before the joins. It is loaded into a builder of its own, and the builder of the run takes
 * that over: hosts, tracks and names get the numbers that they would have got if the file had been read then, and what
 * files share (texts, ops of TensorFlow, kernel shapes, costs) is found by what it is. So joins, clocks and analysis
 * are those of the run, and so is the report.
 *
 * The bytes: lines of text (ids_partial_head), then rows as columns (partial_rows.h). They are packed by gzip, which
 * has the checksum.
 */
#ifndef IDS_LIB_MODEL_PARTIAL_H
#define IDS_LIB_MODEL_PARTIAL_H

#include "lib/base/buffer.h"
#include "lib/base/error.h"

#include <stdint.h>

struct ids_builder;

/* What the file was. */
struct ids_partial_of {
    const char *path, *stem; /* the stem: the name of its host in a run of several (ids_sink.file_name) */
    const char *format;      /* ids_format.name */
    uint64_t bytes;
    int is_beside; /* it lies beside the files of a run, and is no host of it */
};

#define IDS_PARTIAL_SUFFIX ".idspart"

enum { IDS_PARTIAL_PATH_ROOM = 2048 };

/* What the first bytes say. */
struct ids_partial_head {
    char path[IDS_PARTIAL_PATH_ROOM]; /* the end of it, where it is longer */
    int is_beside;
    int is_current; /* this program can load it */
};

/* 1: these bytes begin a partial, and *ret_head is filled in as far as they go; 0: they do not. */
int ids_partial_look(const void *bytes, size_t length, struct ids_partial_head *ret_head);

/* The builder's file as bytes, which are added to `to`. What is open is ended; the builder may then be freed, and no
 * more. IDS_LIMIT where not all of the file is in the builder. */
int ids_partial_write(struct ids_builder *builder, const struct ids_partial_of *of, struct ids_buffer *to,
                      struct ids_error *err);

/* What is said where events are wanted. */
int ids_partial_has_no_events(struct ids_error *err);

/* What the bytes hold, on any thread. IDS_UNSUPPORTED of another version, IDS_CORRUPT of anything that
 * ids_partial_write does not write; *ret_partial is NULL then. */
struct ids_partial;
int ids_partial_open(const void *bytes, size_t length, struct ids_partial **ret_partial, struct ids_error *err);
/* Adds it to the builder, as if the file had been read now, and frees it. *ret_format is the name of the file's format.
 * IDS_CORRUPT as above, IDS_LIMIT where there is no room for it. */
int ids_partial_add(struct ids_builder *builder, struct ids_partial *partial, const char **ret_format,
                    struct ids_error *err);
void ids_partial_free(struct ids_partial *partial);

/* Both: opens it and adds it. */
int ids_partial_load(struct ids_builder *builder, const void *bytes, size_t length, const char **ret_format,
                     struct ids_error *err);

/* The same of a builder into which the file was read just now, in whole or in part; nothing but ids_builder_free may
 * follow for it. */
int ids_partial_hand_over(struct ids_builder *builder, struct ids_builder *file, const struct ids_partial_of *of,
                          struct ids_error *err);

#endif
