/* pb_file.h - protobuf fields of a file by their offset, for messages too long to be in memory whole.
 *
 * Of a length-delimited field only the place is read; what is inside is walked in turn, or fetched when it is wanted. A
 * length that runs past the end of the file is a file that was cut: said in `truncated`, and the walk ends there. A
 * length that runs past the message it is in, a malformed tag or a length above 2 GiB is IDS_CORRUPT with the offset.
 * (lib/wire/pb_wire.h walks bytes in memory.)
 */
#ifndef IDS_FORMATS_PB_FILE_H
#define IDS_FORMATS_PB_FILE_H

#include "lib/io/source.h"

#include <stdbool.h>
#include <stdint.h>

/* A stretch of the file. */
struct ids_span_bytes {
    uint64_t at, length;
};

struct ids_pb_file {
    struct ids_source *source;
    uint64_t size;        /* of the source */
    bool truncated;       /* a field ran past the end */
    uint64_t cut_at;      /* where that field begins */
    uint64_t left_out;    /* records above IDS_PB_FILE_RECORD */
    uint64_t left_out_at; /* where the first of them begins */
    uint8_t *record;      /* for records longer than a window */
    size_t record_room;
};

struct ids_pb_file_field {
    uint32_t number;
    uint8_t wire;                  /* enum ids_pb_wire */
    uint64_t value;                /* of varints; the length of bytes */
    struct ids_span_bytes payload; /* of bytes; may run past the end of the file */
};

/* The longest record that is fetched: an event, or a name with its stats, an HLO proto among them. */
#define IDS_PB_FILE_RECORD ((uint64_t)512 << 20)

void ids_pb_file_done(struct ids_pb_file *file);

/* Reads the field at *at inside a message that ends at `end`, and moves *at behind it. 1; 0 at the end of the message
 * or of the file; negative on error. */
int ids_pb_file_field(struct ids_pb_file *file, uint64_t *at, uint64_t end, struct ids_pb_file_field *ret_field,
                      struct ids_error *err);

/* The bytes of a span, and IDS_PB_SLACK more, valid until the next call. *ret_bytes is NULL when the span is not whole
 * in the file, or longer than IDS_PB_FILE_RECORD (which is counted in left_out). */
int ids_pb_file_bytes(struct ids_pb_file *file, struct ids_span_bytes span, const uint8_t **ret_bytes,
                      struct ids_error *err);

#endif
