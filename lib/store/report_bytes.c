#include "lib/store/report_bytes.h"

#include "lib/base/intern.h"
#include "lib/base/vec.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Everything is a number: how many bytes it takes, 0 to 8, and these bytes, the lowest first. NONE stands for no value.
 * A text is the place at which it begins among all texts, each of which is there once with a zero byte behind it.
 *
 *   <bytes of texts> <texts> <numbers> <8 zero bytes, so that a number can be read at once> */
enum { NONE = 9, NUMBER_BYTES = 8, MOST_PROPERTIES = 1000 /* setting one looks at all others */ };

/* ---- writing ---- */

struct writer {
    struct ids_buffer texts, numbers;
    struct ids_strings known;
    uint32_t *places; /* of each known text */
    size_t place_count, place_room;
    int no_memory;
};

static void put_number(struct ids_buffer *to, uint64_t value) {
    char *at = ids_buffer_space(to, 1 + NUMBER_BYTES);
    if (!at) return;
    int bytes = value ? (71 - __builtin_clzll(value)) / 8 : 0;
    at[0] = (char)bytes;
    for (int i = 0; i < bytes; i++) at[1 + i] = (char)(value >> 8 * i);
    to->length += 1 + (size_t)bytes;
}

/* Small ones of either sign in few bytes. */
static void put_int(struct ids_buffer *to, int64_t value) {
    put_number(to, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

/* Round numbers in few bytes: their low bits are zeros. */
static void put_real(struct ids_buffer *to, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_number(to, __builtin_bswap64(bits));
}

static void put_text(struct writer *writer, const char *text) {
    if (!text) {
        ids_buffer_byte(&writer->numbers, NONE);
        return;
    }
    size_t length = strlen(text);
    uint32_t id = ids_intern(&writer->known, text, length);
    while (id != IDS_NO_TEXT && id >= writer->place_count) { /* a new one; the empty text is known from the start */
        struct ids_text added = ids_strings_text(&writer->known, (uint32_t)writer->place_count);
        uint32_t *place = IDS_PUSH(writer->places, writer->place_count, writer->place_room);
        if (!place || writer->texts.length > UINT32_MAX) id = IDS_NO_TEXT;
        if (place) *place = (uint32_t)writer->texts.length;
        ids_buffer_put(&writer->texts, added.at, (size_t)added.length + 1);
    }
    writer->no_memory |= id == IDS_NO_TEXT;
    put_number(&writer->numbers, id == IDS_NO_TEXT ? 0 : writer->places[id]);
}

static void put_value(struct writer *writer, struct ids_value value) {
    if (value.missing) {
        ids_buffer_byte(&writer->numbers, NONE);
    } else if (value.unit == IDS_UNIT_NONE) {
        put_text(writer, value.text);
    } else if (ids_unit_is_real(value.unit)) {
        put_real(&writer->numbers, value.d);
    } else {
        put_int(&writer->numbers, value.i);
    }
}

static void put_figures(struct writer *writer, const struct ids_report *report) {
    put_number(&writer->numbers, report->property_count);
    for (size_t i = 0; i < report->property_count; i++) {
        const struct ids_property *property = &report->properties[i];
        put_text(writer, property->id);
        put_number(&writer->numbers, property->value.unit);
        put_value(writer, property->value);
    }
    put_number(&writer->numbers, report->metric_count);
    for (size_t i = 0; i < report->metric_count; i++) {
        const struct ids_metric *metric = &report->metrics[i];
        put_text(writer, metric->id);
        put_text(writer, metric->device);
        put_number(&writer->numbers, metric->value.unit);
        put_value(writer, metric->value);
        put_text(writer, metric->reason);
        put_text(writer, metric->rule);
        put_number(&writer->numbers, metric->grade);
    }
}

static void put_sentences(struct writer *writer, const struct ids_report *report) {
    put_number(&writer->numbers, report->advice_count);
    for (size_t i = 0; i < report->advice_count; i++) {
        const struct ids_advice *advice = &report->advice[i];
        put_int(&writer->numbers, advice->saves_ps);
        put_int(&writer->numbers, advice->chance_ps);
        put_int(&writer->numbers, advice->takes_ps);
        put_number(&writer->numbers, advice->per_step != 0);
        put_text(writer, advice->account);
        put_text(writer, advice->culprit);
        put_text(writer, advice->where);
        put_number(&writer->numbers, advice->part_count);
        for (size_t p = 0; p < advice->part_count; p++) {
            put_text(writer, advice->parts[p].account);
            put_value(writer, ids_real_value(IDS_UNIT_RATIO, advice->parts[p].share));
        }
        put_text(writer, advice->what);
        put_text(writer, advice->evidence);
        put_text(writer, advice->explain);
    }
    put_number(&writer->numbers, report->diag_count);
    for (size_t i = 0; i < report->diag_count; i++) {
        const struct ids_report_diag *diag = &report->diags[i];
        put_int(&writer->numbers, diag->severity);
        put_text(writer, diag->id);
        put_text(writer, diag->text);
        put_int(&writer->numbers, diag->offset);
        put_number(&writer->numbers, diag->count);
    }
}

static void put_tables(struct writer *writer, const struct ids_report *report) {
    put_number(&writer->numbers, report->table_count);
    for (size_t i = 0; i < report->table_count; i++) {
        const struct ids_table *table = &report->tables[i];
        size_t columns = (size_t)table->def->column_count;
        put_text(writer, table->id);
        put_int(&writer->numbers, table->rows_left_out);
        put_number(&writer->numbers, columns);
        put_number(&writer->numbers, table->row_count);
        for (size_t k = 0; k < table->row_count * columns; k++) put_value(writer, table->cells[k]);
    }
}

int ids_report_put_bytes(const struct ids_report *report, struct ids_buffer *to, struct ids_error *err) {
    static const char zeros[NUMBER_BYTES];
    struct writer writer = {0};
    int code = ids_report_check(report, err); /* then a cell's unit is its column's */
    if (!code) {
        put_number(&writer.numbers, report->complete != 0);
        put_figures(&writer, report);
        put_sentences(&writer, report);
        put_tables(&writer, report);
        put_number(to, writer.texts.length);
        ids_buffer_put(to, writer.texts.at, writer.texts.length);
        ids_buffer_put(to, writer.numbers.at, writer.numbers.length);
        ids_buffer_put(to, zeros, sizeof zeros);
        if (writer.no_memory || writer.texts.failed || writer.numbers.failed || to->failed) code = ids_no_memory(err);
    }
    ids_buffer_done(&writer.texts);
    ids_buffer_done(&writer.numbers);
    ids_strings_done(&writer.known);
    free(writer.places);
    return code;
}

/* ---- reading ---- */

struct reader {
    struct ids_report *report;
    const unsigned char *at, *end; /* NUMBER_BYTES behind `end` can be read too */
    const char *texts;             /* in the report's arena */
    size_t text_bytes;
    const struct ids_table_def *(*find_table)(const char *id);
    int damaged; /* sticky: what is read after that is 0 */
    struct ids_error *err;
};

static inline uint64_t load(const unsigned char *at) {
    uint64_t value;
    memcpy(&value, at, sizeof value);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

/* 0 and *ret_missing where there is none. */
static inline uint64_t get_number(struct reader *reader, int *ret_missing) {
    *ret_missing = 0;
    unsigned bytes = reader->at < reader->end ? *reader->at++ : UINT_MAX;
    if (bytes == NONE) {
        *ret_missing = 1;
        return 0;
    }
    if (bytes > NUMBER_BYTES || bytes > (size_t)(reader->end - reader->at)) {
        reader->damaged = 1;
        reader->at = reader->end;
        return 0;
    }
    uint64_t value = load(reader->at);
    reader->at += bytes;
    return bytes ? value & UINT64_MAX >> (64 - 8 * bytes) : 0;
}

static uint64_t get_count(struct reader *reader) {
    int missing;
    uint64_t value = get_number(reader, &missing);
    reader->damaged |= missing;
    return value;
}

/* How many things follow, each of which takes at least a byte. */
static size_t get_many(struct reader *reader) {
    uint64_t count = get_count(reader);
    if (count <= (uint64_t)(reader->end - reader->at)) return (size_t)count;
    reader->damaged = 1;
    return 0;
}

/* One of so many, from 0. */
static unsigned get_choice(struct reader *reader, unsigned choices) {
    uint64_t value = get_count(reader);
    if (value < choices) return (unsigned)value;
    reader->damaged = 1;
    return 0;
}

static int64_t signed_of(uint64_t value) {
    return (int64_t)(value >> 1 ^ -(value & 1));
}

static int64_t get_int(struct reader *reader) {
    return signed_of(get_count(reader));
}

static double real_of(uint64_t value) {
    double real;
    value = __builtin_bswap64(value);
    memcpy(&real, &value, sizeof real);
    return real;
}

static const char *text_at(struct reader *reader, uint64_t place) {
    if (place < reader->text_bytes) return reader->texts + place;
    reader->damaged = 1;
    return "";
}

static const char *get_text(struct reader *reader) {
    int missing;
    uint64_t place = get_number(reader, &missing);
    return missing ? NULL : text_at(reader, place);
}

/* A text that must be there. */
static const char *get_name(struct reader *reader) {
    const char *text = get_text(reader);
    reader->damaged |= !text;
    return text ? text : "";
}

static inline struct ids_value get_value(struct reader *reader, enum ids_unit unit) {
    int missing;
    uint64_t value = get_number(reader, &missing);
    if (missing) return ids_no_value(unit);
    if (unit == IDS_UNIT_NONE) return ids_text_value(text_at(reader, value));
    if (ids_unit_is_real(unit)) return ids_real_value(unit, real_of(value));
    return ids_int_value(unit, signed_of(value));
}

static void get_figures(struct reader *reader) {
    size_t count = get_many(reader);
    if (count > MOST_PROPERTIES) reader->damaged = 1;
    for (size_t i = 0; i < count && !reader->damaged; i++) {
        const char *id = get_name(reader);
        enum ids_unit unit = (enum ids_unit)get_choice(reader, IDS_UNITS);
        ids_report_property(reader->report, id, get_value(reader, unit));
    }
    count = get_many(reader);
    for (size_t i = 0; i < count && !reader->damaged; i++) {
        const char *id = get_name(reader), *device = get_text(reader);
        enum ids_unit unit = (enum ids_unit)get_choice(reader, IDS_UNITS);
        struct ids_metric *metric = ids_report_metric(reader->report, id, device, get_value(reader, unit));
        metric->reason = get_text(reader);
        metric->rule = get_text(reader);
        metric->grade = (enum ids_grade)get_choice(reader, IDS_GRADE_BAD + 1);
    }
}

static void get_parts(struct reader *reader, struct ids_advice *advice) {
    advice->part_count = get_choice(reader, IDS_ADVICE_PARTS + 1);
    for (size_t p = 0; p < advice->part_count && !reader->damaged; p++) {
        advice->parts[p].account = get_name(reader);
        advice->parts[p].share = get_value(reader, IDS_UNIT_RATIO).d;
    }
}

static void get_sentences(struct reader *reader) {
    size_t count = get_many(reader);
    for (size_t i = 0; i < count && !reader->damaged; i++) {
        struct ids_advice advice = {.saves_ps = get_int(reader)};
        advice.chance_ps = get_int(reader);
        advice.takes_ps = get_int(reader);
        advice.per_step = get_count(reader) != 0;
        advice.account = get_text(reader);
        advice.culprit = get_text(reader);
        advice.where = get_text(reader);
        get_parts(reader, &advice);
        advice.what = get_text(reader);
        advice.evidence = get_text(reader);
        advice.explain = get_text(reader);
        ids_report_advice(reader->report, &advice);
    }
    count = get_many(reader);
    for (size_t i = 0; i < count && !reader->damaged; i++) {
        int severity = (int)get_int(reader);
        const char *id = get_name(reader), *text = get_text(reader);
        int64_t offset = get_int(reader);
        ids_report_diag(reader->report, severity, id, text, offset, get_count(reader));
    }
}

static int get_table(struct reader *reader) {
    const char *id = get_name(reader);
    int64_t left_out = get_int(reader);
    uint64_t columns = get_count(reader);
    size_t rows = get_many(reader);
    if (reader->damaged) return 0;
    const struct ids_table_def *def = reader->find_table(id);
    if (!def || columns != (uint64_t)def->column_count)
        return ids_fail(reader->err, IDS_NOT_FOUND, "a report whose table '%s' is not known", id);
    if (!columns || rows > (size_t)(reader->end - reader->at) / columns || ids_report_find_table(reader->report, id)) {
        reader->damaged = 1;
        return 0;
    }
    struct ids_table *table = ids_report_table(reader->report, def);
    table->rows_left_out = left_out;
    struct ids_value *cell = ids_report_rows(reader->report, table, rows);
    for (size_t row = 0; cell && row < rows; row++) {
        for (int i = 0; i < def->column_count; i++) *cell++ = get_value(reader, def->columns[i].unit);
    }
    return 0;
}

/* The texts move into the report's own memory, in which all that is read then points to them. */
static int begin(struct reader *reader) {
    uint64_t bytes = get_many(reader);
    if (reader->damaged || (bytes && reader->at[bytes - 1])) {
        reader->damaged = 1;
        return 0;
    }
    char *texts = ids_arena_copy(&reader->report->arena, (const char *)reader->at, (size_t)bytes);
    if (!texts) return ids_no_memory(reader->err);
    reader->texts = texts;
    reader->text_bytes = (size_t)bytes;
    reader->at += bytes;
    reader->report->complete = get_count(reader) != 0;
    return 0;
}

int ids_report_get_bytes(struct ids_report *report, const void *bytes, size_t length,
                         const struct ids_table_def *(*find_table)(const char *id), struct ids_error *err) {
    struct reader reader = {.report = report, .at = bytes, .find_table = find_table, .err = err};
    if (length <= NUMBER_BYTES) return ids_fail(err, IDS_CORRUPT, "damaged report: too short");
    reader.end = reader.at + length - NUMBER_BYTES;
    int code = begin(&reader);
    if (!code) {
        get_figures(&reader);
        get_sentences(&reader);
    }
    size_t tables = code ? 0 : get_many(&reader);
    for (size_t i = 0; i < tables && !code && !reader.damaged; i++) code = get_table(&reader);
    if (!code && (reader.damaged || reader.at != reader.end)) code = ids_fail(err, IDS_CORRUPT, "damaged report");
    return code ? code : ids_report_check(report, err);
}
