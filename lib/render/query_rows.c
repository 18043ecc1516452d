#include "lib/render/query_rows.h"

#include "lib/base/buffer.h"
#include "lib/base/vec.h"
#include "lib/wire/clean.h"
#include "lib/wire/csv_put.h"
#include "lib/wire/json_writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    ALIGNED_ROWS = 1000, /* that decide how wide columns are; those behind them do not wait */
    ALIGNED_BYTES = 8 << 20,
    BLOB_SHOWN = 32, /* bytes of a blob in a table */
};

/* ---- texts ---- */

static void put_hex(struct ids_buffer *buffer, const char *bytes, size_t length) {
    static const char digits[] = "0123456789abcdef";
    IDS_BUFFER_PUT(buffer, "x'");
    for (size_t i = 0; i < length; i++) {
        ids_buffer_byte(buffer, digits[(unsigned char)bytes[i] >> 4]);
        ids_buffer_byte(buffer, digits[bytes[i] & 15]);
    }
    ids_buffer_byte(buffer, '\'');
}

static void put_format(struct ids_buffer *buffer, const char *text) {
    ids_buffer_put(buffer, text, strlen(text));
}

static void put_number(struct ids_buffer *buffer, struct ids_cell cell) {
    char text[IDS_NUMBER_BYTES];
    if (cell.type == IDS_CELL_INT) {
        snprintf(text, sizeof text, "%" PRId64, cell.i);
        put_format(buffer, text);
    } else {
        const char *real = ids_real_text(cell.d, text);
        put_format(buffer, real ? real : cell.d > 0 ? "Inf" : "-Inf");
    }
}

void ids_render_lines(struct ids_cell cell, FILE *out) {
    struct ids_buffer buffer = {0};
    ids_clean_put(&buffer, cell.bytes, cell.length, IDS_CLEAN_LINES);
    if (buffer.length) fwrite(buffer.at, 1, buffer.length, out);
    ids_buffer_done(&buffer);
}

/* ---- table ---- */

struct table_cell {
    size_t at, length, characters;
    int is_number;
};

struct table {
    FILE *out;
    int columns;
    struct table_cell *cells; /* the rows that wait; the first are the titles */
    size_t count, room;
    struct ids_buffer text;
    size_t *widths;
};

static int add_cell(struct table *table, struct ids_cell cell) {
    struct table_cell *added = IDS_PUSH(table->cells, table->count, table->room);
    if (!added) return -1;
    *added = (struct table_cell){.at = table->text.length};
    switch (cell.type) {
    case IDS_CELL_NULL:
        break;
    case IDS_CELL_INT:
    case IDS_CELL_REAL:
        put_number(&table->text, cell);
        added->is_number = 1;
        added->characters = table->text.length - added->at;
        break;
    case IDS_CELL_TEXT:
        added->characters = ids_clean_put(&table->text, cell.bytes, cell.length, IDS_CLEAN_LINE);
        break;
    case IDS_CELL_BLOB:
        put_hex(&table->text, cell.bytes, cell.length > BLOB_SHOWN ? BLOB_SHOWN : cell.length);
        if (cell.length > BLOB_SHOWN) IDS_BUFFER_PUT(&table->text, "...");
        added->characters = table->text.length - added->at;
        break;
    }
    added->length = table->text.length - added->at;
    return table->text.failed ? -1 : 0;
}

static void spaces(FILE *out, size_t count) {
    while (count--) fputc(' ', out);
}

static void put_row(const struct table *table, const struct table_cell *cells) {
    for (int i = 0; i < table->columns; i++) {
        size_t width = table->widths[i], characters = cells[i].characters;
        size_t pad = characters < width ? width - characters : 0;
        if (i) fputs("  ", table->out);
        if (cells[i].is_number) spaces(table->out, pad);
        if (cells[i].length) fwrite(table->text.at + cells[i].at, 1, cells[i].length, table->out);
        if (!cells[i].is_number && i + 1 < table->columns) spaces(table->out, pad);
    }
    fputc('\n', table->out);
}

static void flush_rows(struct table *table) {
    size_t rows = table->count / (size_t)table->columns;
    for (size_t i = 0; i < table->count; i++) {
        size_t *width = &table->widths[i % (size_t)table->columns];
        if (table->cells[i].characters > *width) *width = table->cells[i].characters;
    }
    for (size_t i = 0; i < rows; i++) put_row(table, &table->cells[i * (size_t)table->columns]);
    table->count = 0;
    table->text.length = 0;
}

static int add_titles(struct table *table, const struct ids_query *query) {
    for (int i = 0; i < table->columns; i++) {
        const char *title = ids_query_column(query, i);
        if (add_cell(table, (struct ids_cell){.type = IDS_CELL_TEXT, .bytes = title, .length = strlen(title)}))
            return -1;
    }
    return 0;
}

/* A column whose first value is a number has its title to the right too. */
static void align_titles(struct table *table) {
    if (table->count < 2 * (size_t)table->columns) return;
    for (int i = 0; i < table->columns; i++) table->cells[i].is_number = table->cells[i + table->columns].is_number;
}

static int print_table(struct ids_query *query, FILE *out, struct ids_error *err) {
    struct table table = {.out = out, .columns = ids_query_columns(query)};
    int more = 0, waiting = 1, failed = 0;
    size_t rows = 0;
    table.widths = calloc((size_t)table.columns + 1, sizeof *table.widths);
    failed = !table.widths || add_titles(&table, query);
    while (!failed && (more = ids_query_next(query, err)) > 0) {
        for (int i = 0; i < table.columns && !failed; i++) failed = add_cell(&table, ids_query_cell(query, i));
        rows++;
        if (waiting && rows < ALIGNED_ROWS && table.text.length < ALIGNED_BYTES) continue;
        if (waiting) align_titles(&table);
        waiting = 0;
        if (!failed) flush_rows(&table);
    }
    if (!failed && waiting) align_titles(&table);
    if (!failed && more >= 0) flush_rows(&table);
    free(table.widths);
    free(table.cells);
    ids_buffer_done(&table.text);
    return failed ? ids_no_memory(err) : more;
}

/* ---- json and csv ---- */

static void put_json(struct ids_json *json, struct ids_cell cell) {
    struct ids_buffer hex = {0};
    switch (cell.type) {
    case IDS_CELL_NULL:
        ids_json_null(json);
        break;
    case IDS_CELL_INT:
        ids_json_int(json, cell.i);
        break;
    case IDS_CELL_REAL:
        ids_json_real(json, cell.d);
        break;
    case IDS_CELL_TEXT:
        ids_json_bytes(json, cell.bytes ? cell.bytes : "", cell.length);
        break;
    case IDS_CELL_BLOB:
        put_hex(&hex, cell.bytes, cell.length);
        ids_json_bytes(json, hex.at ? hex.at : "", hex.length);
        ids_buffer_done(&hex);
        break;
    }
}

static int print_json(struct ids_query *query, FILE *out, struct ids_error *err) {
    struct ids_json json = ids_json_to(out);
    int more, columns = ids_query_columns(query);
    ids_json_array(&json, IDS_JSON_BROKEN);
    while ((more = ids_query_next(query, err)) > 0) {
        ids_json_object(&json, IDS_JSON_INLINE);
        for (int i = 0; i < columns; i++) {
            ids_json_key(&json, ids_query_column(query, i));
            put_json(&json, ids_query_cell(query, i));
        }
        ids_json_end(&json);
    }
    if (!more) ids_json_end(&json);
    return more;
}

/* An empty text is told from NULL by its quotes. */
static void put_field(struct ids_buffer *line, const char *text, size_t length) {
    if (length)
        ids_csv_put_text(line, text, length);
    else
        IDS_BUFFER_PUT(line, "\"\"");
}

/* NULL is an empty field, an empty text "". */
static void put_csv(struct ids_buffer *line, struct ids_cell cell) {
    if (cell.type == IDS_CELL_TEXT)
        put_field(line, cell.bytes, cell.length);
    else if (cell.type == IDS_CELL_BLOB)
        put_hex(line, cell.bytes, cell.length);
    else if (cell.type != IDS_CELL_NULL)
        put_number(line, cell);
}

static int print_csv(struct ids_query *query, FILE *out, struct ids_error *err) {
    struct ids_buffer line = {0};
    int more = 1, columns = ids_query_columns(query);
    for (int i = 0; i < columns; i++) {
        const char *title = ids_query_column(query, i);
        if (i) ids_buffer_byte(&line, ',');
        put_field(&line, title, strlen(title));
    }
    while (more > 0 && !line.failed) {
        ids_buffer_byte(&line, '\n');
        if (!line.failed) fwrite(line.at, 1, line.length, out);
        line.length = 0;
        more = ids_query_next(query, err);
        for (int i = 0; more > 0 && i < columns; i++) {
            if (i) ids_buffer_byte(&line, ',');
            put_csv(&line, ids_query_cell(query, i));
        }
    }
    int failed = line.failed;
    ids_buffer_done(&line);
    return failed ? ids_no_memory(err) : more;
}

int ids_render_query(struct ids_query *query, enum ids_query_format format, FILE *out, struct ids_error *err) {
    if (format == IDS_QUERY_JSON) return print_json(query, out, err);
    return format == IDS_QUERY_CSV ? print_csv(query, out, err) : print_table(query, out, err);
}
