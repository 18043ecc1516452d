/* partial_rows.h - rows of a structure as bytes: each member a column, as partial_fields.def lists them. */
#ifndef IDS_LIB_MODEL_PARTIAL_ROWS_H
#define IDS_LIB_MODEL_PARTIAL_ROWS_H

#include "lib/base/buffer.h"
#include "lib/model/calls.h"
#include "lib/model/dimensions.h"
#include "lib/model/trace.h"

/* What a builder has once. */
struct ids_partial_sums {
    uint64_t file_bytes, plane_count, event_count, stat_count, counters_left_out, negative_durations, out_of_range;
    uint64_t held_bytes, held_peak;
    int64_t first_ps, last_ps;
    uint32_t stem, format, jax_version; /* texts */
    int tracer_host, tracer_device, tracer_python;
    uint8_t complete, is_beside, has_options;
};

/* What a number is a number of. */
enum ids_partial_kind {
    IDS_PARTIAL_PLAIN,
    IDS_PARTIAL_REAL,
    IDS_PARTIAL_BELOW,
    IDS_PARTIAL_LENGTH,
    IDS_PARTIAL_TIME,
    IDS_PARTIAL_SPAN,
    IDS_PARTIAL_SELF,
    IDS_PARTIAL_LINK,
    IDS_PARTIAL_COUNT,
    IDS_PARTIAL_TEXT, /* from here on: of a dimension */
    IDS_PARTIAL_HOST,
    IDS_PARTIAL_PLANE,
    IDS_PARTIAL_DEVICE,
    IDS_PARTIAL_TRACK,
    IDS_PARTIAL_NAME,
    IDS_PARTIAL_MODULE,
    IDS_PARTIAL_OP,
    IDS_PARTIAL_SHAPE,
    IDS_PARTIAL_CALL,
    IDS_PARTIAL_COST,
    IDS_PARTIAL_SAMPLING,
    IDS_PARTIAL_STACK,
    IDS_PARTIAL_DOING,
    IDS_PARTIAL_ALLOCATOR,
    IDS_PARTIAL_FORWARD,
    IDS_PARTIAL_KINDS,
};
enum { IDS_PARTIAL_OR_NONE = 1, IDS_PARTIAL_FROM_1 = 2 };

/* The first line of a partial, up to the version of its layout. */
#define IDS_PARTIAL_MAGIC "idsprof-partial "
/* A partial has no more rows than that for each of its bytes. */
enum { IDS_PARTIAL_ROWS_A_BYTE = 4 };

struct ids_partial_field {
    uint16_t offset;
    uint8_t width; /* 1, 2, 4 or 8 bytes */
    uint8_t kind;  /* enum ids_partial_kind */
    uint32_t how;
};

struct ids_partial_rows {
    const struct ids_partial_field *fields;
    uint16_t field_count, bytes; /* bytes: of the structure */
};

#define IDS_ROWS(id, type) extern const struct ids_partial_rows ids_partial_##id;
#define IDS_FIELD(id, member, kind, how)
#define IDS_THREE(id, member, kind, how)
#define IDS_REST(id, member)
#define IDS_STRUCT(id, member)
#define IDS_INSIDE(id, path, kind, how)
#define IDS_ROWS_END(id)
#include "lib/model/partial_fields.def"

/* Of all lines above, of the keys that have fixed numbers, and of the program's version. */
uint64_t ids_partial_layout(void);

/* `count` structures of `rows`, of which the first is at `at` and the next `stride` bytes behind it. */
void ids_partial_put(struct ids_buffer *to, const struct ids_partial_rows *rows, const void *at, size_t stride,
                     size_t count);
void ids_partial_put_number(struct ids_buffer *to, uint64_t number);
/* What divides both; the other one of a number and 0. */
uint64_t ids_partial_divisor(uint64_t a, uint64_t b);

struct ids_partial_reader {
    const uint8_t *at, *end;
    uint64_t count_of[IDS_PARTIAL_KINDS]; /* of each dimension, what numbers are held against */
    uint64_t rows_left;                   /* more than that many rows no file of this length has */
};
/* The other way, into rows of zeros; every number is checked. 0, or IDS_CORRUPT. */
int ids_partial_get(struct ids_partial_reader *reader, const struct ids_partial_rows *rows, void *at, size_t stride,
                    size_t count, struct ids_error *err);
int ids_partial_get_number(struct ids_partial_reader *reader, uint64_t *ret_number, struct ids_error *err);
/* A moment that a file may have: within 26 days of its start. */
static inline int ids_partial_is_time(int64_t time_ps) {
    const int64_t limit_ps = (int64_t)1 << 61;
    return time_ps >= -limit_ps && time_ps <= limit_ps;
}
/* A number of rows for which there is to be memory. */
int ids_partial_take_rows(struct ids_partial_reader *reader, uint64_t count, struct ids_error *err);

/* What numbers become in the builder that takes the rows over. */
struct ids_partial_moves {
    const uint32_t *map[IDS_PARTIAL_KINDS]; /* NULL: `first` more */
    uint32_t first[IDS_PARTIAL_KINDS];
    int64_t shift_ps;
    uint64_t link;
};
void ids_partial_renumber(const struct ids_partial_moves *moves, const struct ids_partial_rows *rows, void *at,
                          size_t stride, size_t count);

#endif
