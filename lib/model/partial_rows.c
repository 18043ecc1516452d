#include "lib/model/partial_rows.h"

#include "lib/hlo/flow.h"
#include "lib/hlo/program_memory.h"
#include "lib/hlo/waste.h"
#include "lib/model/account.h"
#include "lib/model/allocations.h"
#include "lib/model/held.h"
#include "lib/model/keys.h"
#include "lib/model/link.h"
#include "lib/model/matrix_units.h"
#include "lib/model/programs.h"
#include "lib/model/python_frame.h"
#include "lib/model/stacks.h"

#include <math.h>

/* ---- the table ---- */

/* A member without a line is a compound literal that lacks it. */
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wmissing-braces" /* of a union without a name */
#define IDS_ROWS(id, type) _Static_assert(sizeof((type){
#define IDS_FIELD(id, member, kind, how) 0,
#define IDS_THREE(id, member, kind, how) {0},
#define IDS_REST(id, member) 0,
#define IDS_STRUCT(id, member) {},
#define IDS_INSIDE(id, path, kind, how)
#define IDS_ROWS_END(id) \
    }) < 65536, "a row");
/* clang-format off */
#include "lib/model/partial_fields.def"
/* clang-format on */
#pragma GCC diagnostic pop

#define IDS_ROWS(id, type) typedef type row_of_##id;
#define IDS_FIELD(id, member, kind, how)
#define IDS_THREE(id, member, kind, how)
#define IDS_REST(id, member)
#define IDS_STRUCT(id, member)
#define IDS_INSIDE(id, path, kind, how)
#define IDS_ROWS_END(id)
#include "lib/model/partial_fields.def"

enum { OR_NONE = IDS_PARTIAL_OR_NONE, FROM_1 = IDS_PARTIAL_FROM_1 };

#define PLACE(id, member, kind, how) \
    {offsetof(row_of_##id, member), sizeof(((row_of_##id *)0)->member), IDS_PARTIAL_##kind, how},
#define IDS_ROWS(id, type) static const struct ids_partial_field fields_of_##id[] = {
#define IDS_FIELD(id, member, kind, how) PLACE(id, member, kind, how)
#define IDS_THREE(id, member, kind, how) \
    PLACE(id, member[0], kind, how) PLACE(id, member[1], kind, how) PLACE(id, member[2], kind, how)
#define IDS_REST(id, member)
#define IDS_STRUCT(id, member)
#define IDS_INSIDE(id, path, kind, how) PLACE(id, path, kind, how)
#define IDS_ROWS_END(id)                               \
    { 0, 0, 0, 0 }                                     \
    }                                                  \
    ;                                                  \
    const struct ids_partial_rows ids_partial_##id = { \
        fields_of_##id, sizeof fields_of_##id / sizeof *fields_of_##id - 1, sizeof(row_of_##id)};
/* clang-format off */
#include "lib/model/partial_fields.def"
/* clang-format on */

static uint64_t of_rows(uint64_t key, const char *id, const struct ids_partial_rows *rows) {
    key = ids_key_of(key, ids_hash_bytes(id, strlen(id)));
    for (size_t f = 0; f < rows->field_count; f++) {
        const struct ids_partial_field *field = &rows->fields[f];
        key = ids_key_of(key, (uint64_t)field->width << 56 | (uint64_t)field->kind << 48 | field->how);
    }
    return key;
}

/* Raised when the same rows are written in another way. */
enum { WRITING = 3 };

uint64_t ids_partial_layout(void) {
    uint64_t key = ids_key_of(ids_hash_bytes(IDS_VERSION, strlen(IDS_VERSION)), IDS_KEY_COUNT);
    key = ids_key_of(key, WRITING);
#define IDS_ROWS(id, type) key = of_rows(key, #id, &ids_partial_##id);
#define IDS_FIELD(id, member, kind, how) key = ids_key_of(key, ids_hash_bytes(#member, strlen(#member)));
#define IDS_THREE(id, member, kind, how)
#define IDS_REST(id, member)
#define IDS_STRUCT(id, member)
#define IDS_INSIDE(id, path, kind, how)
#define IDS_ROWS_END(id)
#include "lib/model/partial_fields.def"
    return key;
}

/* Columns are of so many rows, then come those of the next rows: what one column after the other is read into stays in
 * the nearer caches. */
enum { BLOCK_ROWS = 512 };

/* For each block of `count` rows. */
#define EACH_BLOCK(first, rows_of_it, count)                                                           \
    for (size_t first = 0, rows_of_it;                                                                 \
         first < (count) && (rows_of_it = (count)-first < BLOCK_ROWS ? (count)-first : BLOCK_ROWS, 1); \
         first += rows_of_it)

/* ---- writing ---- */

/* How a column is written: the way that takes fewest bytes. Times that are whole nanoseconds, or ticks of some other
 * clock, are written as so many of that unit: the largest that divides all numbers which the way writes. */
enum way { SAME, NUMBERS, STEPS, SPANS, AS_IT_IS, WAYS };
enum { VARINT_BYTES = 10 };

/* Unsigned, as wide as it is. Copies of a known width are one instruction. */
static inline uint64_t number_at(const char *at, uint8_t width) {
    uint64_t value = 0;
    if (width == 8)
        memcpy(&value, at, 8);
    else if (width == 4)
        memcpy(&value, at, 4);
    else if (width == 2)
        memcpy(&value, at, 2);
    else
        memcpy(&value, at, 1);
    return value;
}

static inline uint64_t load(const char *at, uint8_t width) {
    uint64_t value = number_at(at, width);
    return width == 4 ? (uint64_t)(int64_t)(int32_t)value : value; /* IDS_NONE is -1 then, in one byte */
}

static uint64_t zigzag(uint64_t value) {
    return value << 1 ^ (0 - (value >> 63));
}

static uint64_t unzigzag(uint64_t value) {
    return value >> 1 ^ (uint64_t)(-(int64_t)(value & 1));
}

static size_t varint_bytes(uint64_t value) {
    return (size_t)(70 - __builtin_clzll(value | 1)) / 7;
}

void ids_partial_put_number(struct ids_buffer *to, uint64_t number) {
    char *space = ids_buffer_space(to, VARINT_BYTES);
    if (!space) return;
    size_t length = 0;
    for (; number >= 0x80; number >>= 7) space[length++] = (char)(number | 0x80);
    space[length++] = (char)number;
    to->length += length;
}

/* A moment's end is told by its length, and the time of its own, which mostly is that, by the difference. */
static uint64_t before(enum way way, const char *row, const struct ids_partial_field *field, uint64_t last) {
    if (way != SPANS) return way == STEPS ? last : 0;
    uint64_t from = load(row + (field - 1)->offset, (field - 1)->width);
    return field->kind == IDS_PARTIAL_SPAN ? from : from - load(row + (field - 2)->offset, (field - 2)->width);
}

static int has_spans(const struct ids_partial_field *field) {
    return field->kind == IDS_PARTIAL_SPAN || field->kind == IDS_PARTIAL_SELF;
}

static int has_unit(const struct ids_partial_field *field) {
    return field->kind == IDS_PARTIAL_LENGTH || field->kind == IDS_PARTIAL_TIME || has_spans(field);
}

uint64_t ids_partial_divisor(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static uint64_t unit_of(enum way way, const struct ids_partial_field *field, const char *at, size_t stride,
                        size_t count) {
    uint64_t unit = 0, last = 0;
    if (!has_unit(field)) return 1;
    for (size_t i = 0; i < count && unit != 1; i++) {
        const char *row = at + i * stride;
        uint64_t value = load(row + field->offset, field->width), more = value - before(way, row, field, last);
        if ((int64_t)more < 0) more = 0 - more;
        if (unit ? more % unit : more) unit = ids_partial_divisor(unit, more);
        last = value;
    }
    return unit ? unit : 1;
}

/* In how many of the unit a number is written. */
static inline uint64_t in_units(uint64_t number, uint64_t unit) {
    if (unit == 1) return zigzag(number);
    return zigzag((int64_t)number < 0 ? 0 - (0 - number) / unit : number / unit);
}

struct writing {
    enum way way;
    uint64_t unit;
};

static struct writing choose(const struct ids_partial_field *field, const char *at, size_t stride, size_t count) {
    size_t bytes[WAYS] = {[NUMBERS] = 0}, same = 1;
    uint64_t last = 0, first = load(at + field->offset, field->width), unit[WAYS];
    while (same < count && load(at + same * stride + field->offset, field->width) == first) same++;
    if (same == count) return (struct writing){SAME, 1};
    for (enum way way = NUMBERS; way < AS_IT_IS; way++)
        unit[way] = way == SPANS && !has_spans(field) ? 1 : unit_of(way, field, at, stride, count);
    for (size_t i = 0; i < count; i++) {
        const char *row = at + i * stride;
        uint64_t value = load(row + field->offset, field->width);
        bytes[NUMBERS] += varint_bytes(in_units(value, unit[NUMBERS]));
        bytes[STEPS] += varint_bytes(in_units(value - last, unit[STEPS]));
        if (has_spans(field)) bytes[SPANS] += varint_bytes(in_units(value - before(SPANS, row, field, 0), unit[SPANS]));
        last = value;
    }
    bytes[AS_IT_IS] = count * field->width;
    unit[AS_IT_IS] = 1;
    enum way best = AS_IT_IS;
    for (enum way way = NUMBERS; way < AS_IT_IS; way++) {
        if (bytes[way] && bytes[way] < bytes[best]) best = way;
    }
    return (struct writing){best, unit[best]};
}

static void put_column(struct ids_buffer *to, const struct ids_partial_field *field, const char *at, size_t stride,
                       size_t count) {
    const struct writing writing = choose(field, at, stride, count);
    const enum way way = writing.way;
    uint64_t last = 0;
    ids_buffer_byte(to, (char)way);
    if (has_unit(field)) ids_partial_put_number(to, writing.unit);
    if (way == SAME) count = 1;
    char *space = ids_buffer_space(to, count * VARINT_BYTES);
    if (!space) return;
    for (size_t i = 0; i < count; i++) {
        const char *row = at + i * stride;
        uint64_t value = load(row + field->offset, field->width);
        if (way == SAME || way == AS_IT_IS) {
            ids_buffer_put(to, row + field->offset, field->width);
            continue;
        }
        ids_partial_put_number(to, in_units(value - before(way, row, field, last), writing.unit));
        last = value;
    }
}

void ids_partial_put(struct ids_buffer *to, const struct ids_partial_rows *rows, const void *at, size_t stride,
                     size_t count) {
    EACH_BLOCK(first, of_block, count) {
        const char *block = (const char *)at + first * stride;
        for (size_t f = 0; f < rows->field_count; f++) put_column(to, &rows->fields[f], block, stride, of_block);
    }
}

/* ---- reading ---- */

static int damaged(struct ids_error *err) {
    return ids_fail(err, IDS_CORRUPT, "a damaged partial");
}

/* Of up to 8 bytes at once: the seven bits of each are moved together in three steps. */
static inline int get_short_varint(struct ids_partial_reader *reader, uint64_t *ret_number) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const uint64_t tops = UINT64_C(0x8080808080808080);
    uint64_t word;
    if (reader->end - reader->at < 8) return -1;
    memcpy(&word, reader->at, sizeof word);
    const uint64_t ends = ~word & tops;
    if (!ends) return -1;
    reader->at += (__builtin_ctzll(ends) + 1) / 8;
    word &= (ends ^ (ends - 1)) & ~tops;
    word = (word & UINT64_C(0x007f007f007f007f)) | (word & UINT64_C(0x7f007f007f007f00)) >> 1;
    word = (word & UINT64_C(0x00003fff00003fff)) | (word & UINT64_C(0x3fff00003fff0000)) >> 2;
    *ret_number = (word & UINT64_C(0x0fffffff)) | (word & UINT64_C(0x0fffffff00000000)) >> 4;
    return 0;
#else
    (void)reader, (void)ret_number;
    return -1;
#endif
}

static inline int get_varint(struct ids_partial_reader *reader, uint64_t *ret_number) {
    if (reader->at < reader->end && *reader->at < 0x80) {
        *ret_number = *reader->at++;
        return 0;
    }
    if (!get_short_varint(reader, ret_number)) return 0;
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64 && reader->at < reader->end; shift += 7) {
        uint8_t byte = *reader->at++;
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte >= 0x80) continue;
        *ret_number = number;
        return 0;
    }
    return -1;
}

int ids_partial_get_number(struct ids_partial_reader *reader, uint64_t *ret_number, struct ids_error *err) {
    return get_varint(reader, ret_number) ? damaged(err) : 0;
}

int ids_partial_take_rows(struct ids_partial_reader *reader, uint64_t count, struct ids_error *err) {
    if (count > reader->rows_left) return damaged(err);
    reader->rows_left -= count;
    return 0;
}

/* Numbers that stand below `limit`, or are `other`, are allowed. */
struct bounds {
    uint64_t limit, other;
};

static struct bounds bounds_of(const struct ids_partial_reader *reader, const struct ids_partial_field *field) {
    if (field->kind == IDS_PARTIAL_BELOW) return (struct bounds){field->how, UINT64_MAX};
    if (field->kind < IDS_PARTIAL_TEXT) return (struct bounds){UINT64_MAX, UINT64_MAX};
    const uint64_t count = reader->count_of[field->kind];
    if (field->how == IDS_PARTIAL_FROM_1) return (struct bounds){count + 1, UINT64_MAX};
    return (struct bounds){count, field->how == IDS_PARTIAL_OR_NONE ? IDS_NONE : UINT64_MAX};
}

/* Numbers of `unit`, each behind `from`. */
#define GET_EACH(bits, from)                                             \
    for (size_t i = 0; i < count; i++) {                                 \
        char *row = at + i * stride;                                     \
        if (get_varint(reader, &value)) return -1;                       \
        last = unzigzag(value) * unit + (from);                          \
        number = (uint##bits##_t)last;                                   \
        failed |= !((number < bounds.limit) | (number == bounds.other)); \
        memcpy(row + field->offset, &number, sizeof number);             \
    }

/* A column of one width; its rows are zeros. Each loop runs for every number of every event. */
#define DEFINE_GET(bits)                                                                                  \
    static int get_##bits(struct ids_partial_reader *reader, struct writing writing,                      \
                          const struct ids_partial_field *field, char *at, size_t stride, size_t count) { \
        const struct bounds bounds = bounds_of(reader, field);                                            \
        const uint64_t unit = writing.unit, steps = writing.way == STEPS ? UINT64_MAX : 0;                \
        uint64_t value, last = 0;                                                                         \
        uint##bits##_t number = 0;                                                                        \
        int failed = 0;                                                                                   \
        if (writing.way == SAME) {                                                                        \
            memcpy(&number, reader->at, sizeof number);                                                   \
            reader->at += sizeof number;                                                                  \
            for (size_t i = 0; number && i < count; i++)                                                  \
                memcpy(at + i * stride + field->offset, &number, sizeof number);                          \
            failed = !((number < bounds.limit) | (number == bounds.other));                               \
        } else if (writing.way == AS_IT_IS) {                                                             \
            for (size_t i = 0; i < count; i++, reader->at += sizeof number) {                             \
                memcpy(&number, reader->at, sizeof number);                                               \
                failed |= !((number < bounds.limit) | (number == bounds.other));                          \
                memcpy(at + i * stride + field->offset, &number, sizeof number);                          \
            }                                                                                             \
        } else if (writing.way == SPANS) {                                                                \
            GET_EACH(bits, before(SPANS, row, field, 0))                                                  \
        } else {                                                                                          \
            GET_EACH(bits, last &steps)                                                                   \
        }                                                                                                 \
        return failed ? -1 : 0;                                                                           \
    }
DEFINE_GET(8)
DEFINE_GET(16)
DEFINE_GET(32)
DEFINE_GET(64)

static int is_moment(const struct ids_partial_field *field, const char *row) {
    int64_t time_ps, before_ps = INT64_MIN;
    memcpy(&time_ps, row + field->offset, sizeof time_ps);
    if (field->kind == IDS_PARTIAL_SPAN) memcpy(&before_ps, row + (field - 1)->offset, sizeof before_ps);
    if (field->kind == IDS_PARTIAL_LENGTH || field->kind == IDS_PARTIAL_SELF) return time_ps >= 0;
    return ids_partial_is_time(time_ps) && time_ps >= before_ps;
}

static int are_moments(const struct ids_partial_field *field, const char *at, size_t stride, size_t count) {
    int failed = 0;
    for (size_t i = 0; i < count; i++) failed |= !is_moment(field, at + i * stride);
    return !failed;
}

static int are_finite(const struct ids_partial_field *field, const char *at, size_t stride, size_t count) {
    for (size_t i = 0; i < count; i++) {
        double real;
        memcpy(&real, at + i * stride + field->offset, sizeof real);
        if (!isfinite(real)) return 0;
    }
    return 1;
}

static int get_column(struct ids_partial_reader *reader, const struct ids_partial_field *field, char *at, size_t stride,
                      size_t count) {
    int (*const get)(struct ids_partial_reader *, struct writing, const struct ids_partial_field *, char *, size_t,
                     size_t) = field->width == 8   ? get_64
                               : field->width == 4 ? get_32
                               : field->width == 2 ? get_16
                                                   : get_8;
    if (reader->at == reader->end) return -1;
    const enum way way = (enum way) * reader->at++;
    uint64_t unit = 1;
    if (has_unit(field) && get_varint(reader, &unit)) return -1;
    uint64_t whole = way == SAME ? field->width : way == AS_IT_IS ? field->width * (uint64_t)count : 0;
    if (way >= WAYS || (way == SPANS && !has_spans(field)) || whole > (uint64_t)(reader->end - reader->at)) return -1;
    if (get(reader, (struct writing){way, unit}, field, at, stride, count)) return -1;
    switch ((enum ids_partial_kind)field->kind) {
    case IDS_PARTIAL_REAL:
        return are_finite(field, at, stride, count) ? 0 : -1;
    case IDS_PARTIAL_TIME:
    case IDS_PARTIAL_SPAN:
    case IDS_PARTIAL_SELF:
    case IDS_PARTIAL_LENGTH:
        return are_moments(field, at, stride, count) ? 0 : -1;
    default:
        return 0;
    }
}

int ids_partial_get(struct ids_partial_reader *reader, const struct ids_partial_rows *rows, void *at, size_t stride,
                    size_t count, struct ids_error *err) {
    EACH_BLOCK(first, of_block, count) {
        char *block = (char *)at + first * stride;
        for (size_t f = 0; f < rows->field_count; f++)
            if (get_column(reader, &rows->fields[f], block, stride, of_block)) return damaged(err);
    }
    return 0;
}

/* ---- other numbers ---- */

static inline void store(char *at, uint8_t width, uint64_t value) {
    if (width == 8)
        memcpy(at, &value, 8);
    else if (width == 4)
        memcpy(at, &value, 4);
    else
        memcpy(at, &value, width);
}

static void renumber_column(const struct ids_partial_moves *moves, const struct ids_partial_field *field, char *at,
                            size_t stride, size_t count) {
    const uint32_t *map = moves->map[field->kind];
    const uint32_t first = moves->first[field->kind], from = field->how == IDS_PARTIAL_FROM_1;
    if (!map && !first) return;
    for (size_t i = 0; i < count; i++) {
        uint64_t number = number_at(at + i * stride, field->width);
        if (field->how == IDS_PARTIAL_OR_NONE ? number == IDS_NONE : from && !number) continue;
        number -= from;
        store(at + i * stride, field->width, (map ? map[number] : number + first) + from);
    }
}

static void shift_column(const struct ids_partial_moves *moves, const struct ids_partial_field *field, char *at,
                         size_t stride, size_t count) {
    const int is_link = field->kind == IDS_PARTIAL_LINK;
    if (is_link ? !moves->link : !moves->shift_ps) return;
    for (size_t i = 0; i < count; i++) {
        uint64_t value = number_at(at + i * stride, field->width);
        if (is_link)
            value = ids_link_moved(value, moves->link);
        else
            value += (uint64_t)moves->shift_ps;
        store(at + i * stride, field->width, value);
    }
}

void ids_partial_renumber(const struct ids_partial_moves *moves, const struct ids_partial_rows *rows, void *at,
                          size_t stride, size_t count) {
    EACH_BLOCK(first, of_block, count) {
        for (size_t f = 0; f < rows->field_count; f++) {
            const struct ids_partial_field *field = &rows->fields[f];
            char *column = (char *)at + first * stride + field->offset;
            if (field->kind >= IDS_PARTIAL_TEXT)
                renumber_column(moves, field, column, stride, of_block);
            else if (field->kind == IDS_PARTIAL_TIME || field->kind == IDS_PARTIAL_SPAN ||
                     field->kind == IDS_PARTIAL_LINK)
                shift_column(moves, field, column, stride, of_block);
        }
    }
}
