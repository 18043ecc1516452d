#include "lib/events/row_pages.h"

#include "lib/base/buffer.h"
#include "lib/base/vec.h"
#include "lib/store/db.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    HELD_BYTES = 1 << 20, /* pages that are written at once */
    LEAF = 0x0d,
    LEAF_KEYED = 0x0a,
    LEAF_HEADER = 8,
    INTERIOR = 0x05,
    INTERIOR_KEYED = 0x02,
    INTERIOR_HEADER = 12,
    /* lengths of payload and header, an id, a type and at most 8 bytes for each column, and the 8 that the last one is
     * written in; words count as numbers, of which no table has so many */
    CELL_MOST = 2 + 9 + 1 + 1 + IDS_ROW_COLUMNS_MOST * 9 + 8,
    FILE_CHANGES = 24, /* in the header of the file: counts changes */
    FILE_PAGES = 28,
    FILE_PAGES_AT = 92, /* the change at which FILE_PAGES was right */
};

/* A page, and what separates it from the next: its greatest id, or the row between them. */
struct child {
    uint32_t page;
    uint32_t bytes; /* of the separator */
    size_t at;
};

/* Pages of one level of the tree, in order. */
struct level {
    struct child *children;
    size_t count, room;
    struct ids_buffer separators;
};

struct ids_row_pages {
    sqlite3 *db;
    int fd;
    uint32_t root, page_bytes;
    int keyed;
    uint8_t *held; /* pages that are full, and the one that is being filled */
    uint32_t held_pages, held_most;
    uint8_t *page;          /* the one that is being filled */
    uint32_t rows, content; /* of it: how many rows, and where the last one begins */
    int64_t last_id;
    uint8_t up[CELL_MOST]; /* keyed: a row that had no room, and goes above the page when another row comes */
    uint32_t up_bytes;
    struct level leaves; /* all; the last held_pages of them have no number yet */
    uint32_t *above;     /* pages that led to them when rows were shown; they are written over the next time */
    size_t above_count, above_room;
};

/* ---- bytes ---- */

static void put16(uint8_t *at, uint32_t value) {
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static void put32(uint8_t *at, uint32_t value) {
    value = __builtin_bswap32(value);
    memcpy(at, &value, sizeof value);
}

static uint32_t get32(const uint8_t *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return __builtin_bswap32(value);
}

/* SQLite's varint: the highest groups of 7 bits first; a ninth byte has 8. Ids are above 0 and far below 2^56. */
static uint8_t *put_varint(uint8_t *at, uint64_t value) {
    unsigned groups = 1;
    while (groups < 9 && value >> (7 * groups)) groups++;
    for (unsigned i = groups; i-- > 1;) *at++ = (uint8_t)(value >> (7 * i) | 0x80);
    *at++ = (uint8_t)(value & 0x7f);
    return at;
}

/* ---- rows ---- */

/* Writes a row's record, its length in front; returns where it ends. The id of a table with ids stands before the
 * record. */
static uint8_t *make_record(uint8_t *head, int keyed, const struct ids_row_values *row) {
    /* By how many bits a number needs beside its sign: its type, and how many bytes that has. */
    static const uint8_t type_of_bits[65] = {[0 ... 7] = 1,   [8 ... 15] = 2,  [16 ... 23] = 3,
                                             [24 ... 31] = 4, [32 ... 47] = 5, [48 ... 64] = 6};
    static const uint8_t bytes_of_type[10] = {0, 1, 2, 3, 4, 6, 8, 0, 0, 0};
    uint64_t there = ~row->nulls & (UINT64_MAX >> (64 - row->count));
    /* Columns that are NULL at the end need not be there. */
    unsigned count = there ? 64 - (unsigned)__builtin_clzll(there) : 0;
    uint8_t *types = head + 1 + !keyed, *at = types + count;
    head[0] = (uint8_t)(at - head); /* the length of the header itself */
    if (!keyed) head[1] = 0;        /* the column of the id */
    for (unsigned i = 0; i < count; i += 8)
        memset(types + i, 0, 8); /* NULL; values are written over what is too much */
    for (; there; there &= there - 1) {
        unsigned i = (unsigned)__builtin_ctzll(there);
        if (row->words >> i & 1) {
            const char *word = (const char *)(uintptr_t)row->values[i];
            size_t length = strnlen(word, IDS_ROW_WORD_MOST);
            memcpy(at, word, length);
            at += length;
            types[i] = (uint8_t)(13 + 2 * length);
            continue;
        }
        uint64_t value = (uint64_t)row->values[i];
        uint64_t magnitude = value ^ (0 - (value >> 63)); /* of a negative one, its complement */
        unsigned kind = type_of_bits[64 - __builtin_clzll(magnitude | 1)];
        kind = value < 2 ? 8 + (unsigned)value : kind; /* 0 and 1 are types of their own */
        unsigned bytes = bytes_of_type[kind];
        uint64_t big_endian = __builtin_bswap64(value << ((64 - 8 * bytes) & 63));
        memcpy(at, &big_endian, sizeof big_endian); /* what is too much is written over */
        at += bytes;
        types[i] = (uint8_t)kind;
    }
    return at;
}

static void begin_page(struct ids_row_pages *pages) {
    pages->page = pages->held + (size_t)pages->held_pages * pages->page_bytes;
    pages->rows = 0;
    pages->content = pages->page_bytes;
}

static void end_page(struct ids_row_pages *pages) {
    uint8_t *page = pages->page;
    page[0] = pages->keyed ? LEAF_KEYED : LEAF;
    put16(page + 1, 0); /* no free blocks */
    put16(page + 3, pages->rows);
    put16(page + 5, pages->content & 0xffff); /* 65536 is written as 0 */
    page[7] = 0;
    uint32_t used = LEAF_HEADER + 2 * pages->rows;
    memset(page + used, 0, pages->content - used);
}

/* ---- the file ---- */

static int write_bytes(int fd, const uint8_t *bytes, size_t length, uint64_t at, struct ids_error *err) {
    while (length) {
        ssize_t n = pwrite(fd, bytes, length, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return ids_fail_system(err, "cannot write the database");
        bytes += n;
        at += (uint64_t)n;
        length -= (size_t)n;
    }
    return 0;
}

static int write_pages(const struct ids_row_pages *pages, const uint8_t *bytes, uint32_t first, uint32_t count,
                       struct ids_error *err) {
    uint64_t at = (uint64_t)(first - 1) * pages->page_bytes, length = (uint64_t)count * pages->page_bytes;
    int code = write_bytes(pages->fd, bytes, length, at, err);
    /* The disk begins to write while rows are still made, so that a sync at the end waits for the last of them only. */
    if (!code) sync_file_range(pages->fd, (off_t)at, (off_t)length, SYNC_FILE_RANGE_WRITE);
    return code;
}

uint32_t ids_row_pages_behind(uint32_t used, uint32_t count, uint32_t page_bytes) {
    uint32_t locks = (1u << 30) / page_bytes + 1;
    return used + 1 <= locks && locks <= used + count ? locks + 1 : used + 1;
}

/* Writes pages behind all others and tells the file of them, between two transactions of SQLite's. */
static int append(const struct ids_row_pages *pages, const uint8_t *bytes, uint32_t count, uint32_t *ret_first,
                  struct ids_error *err) {
    uint8_t header[100];
    int code = ids_db_exec(pages->db, "COMMIT", err);
    if (code) return code;
    if (pread(pages->fd, header, sizeof header, 0) != (ssize_t)sizeof header)
        return ids_fail_system(err, "cannot read the database");
    uint32_t used = get32(header + FILE_PAGES);
    uint32_t first = ids_row_pages_behind(used, count, pages->page_bytes);
    if (UINT32_MAX - 1 - first < count) return ids_fail(err, IDS_LIMIT, "more than four billion pages");
    code = write_pages(pages, bytes, first, count, err);
    if (code) return code;
    uint32_t change = get32(header + FILE_CHANGES) + 1;
    put32(header + FILE_CHANGES, change);
    put32(header + FILE_PAGES, first + count - 1);
    put32(header + FILE_PAGES_AT, change);
    code = write_bytes(pages->fd, header, sizeof header, 0, err);
    if (!code) *ret_first = first;
    return code ? code : ids_db_exec(pages->db, "BEGIN IMMEDIATE", err);
}

static int write_held(struct ids_row_pages *pages, struct ids_error *err) {
    uint32_t first, count = pages->held_pages;
    if (!count) return 0;
    int code = append(pages, pages->held, count, &first, err);
    if (code) return code;
    struct child *leaves = pages->leaves.children + pages->leaves.count - count;
    for (uint32_t i = 0; i < count; i++) leaves[i].page = first + i;
    pages->held_pages = 0;
    return 0;
}

static int add_child(struct level *level, uint32_t page, const uint8_t *separator, size_t bytes,
                     struct ids_error *err) {
    struct child *child = IDS_PUSH(level->children, level->count, level->room);
    if (!child) return ids_no_memory(err);
    *child = (struct child){page, (uint32_t)bytes, level->separators.length};
    ids_buffer_put(&level->separators, separator, bytes);
    return level->separators.failed ? ids_no_memory(err) : 0;
}

static int next_page(struct ids_row_pages *pages, const uint8_t *separator, size_t bytes, struct ids_error *err) {
    end_page(pages);
    int code = add_child(&pages->leaves, 0, separator, bytes, err);
    if (code) return code;
    pages->held_pages++;
    if (pages->held_pages == pages->held_most) code = write_held(pages, err);
    begin_page(pages);
    return code;
}

static int next_page_by_id(struct ids_row_pages *pages, struct ids_error *err) {
    uint8_t separator[9];
    return next_page(pages, separator, (size_t)(put_varint(separator, (uint64_t)pages->last_id) - separator), err);
}

static int has_room(const struct ids_row_pages *pages, size_t length) {
    return LEAF_HEADER + 2 * (pages->rows + 1) + length <= pages->content;
}

static void put_cell(struct ids_row_pages *pages, const uint8_t *cell, size_t length) {
    pages->content -= (uint32_t)length;
    memcpy(pages->page + pages->content, cell, length);
    put16(pages->page + LEAF_HEADER + (size_t)2 * pages->rows, pages->content);
    pages->rows++;
}

int ids_row_pages_put(struct ids_row_pages *pages, int64_t id, const struct ids_row_values *values,
                      struct ids_error *err) {
    uint8_t bytes[CELL_MOST], *cell = bytes + 1;
    uint8_t *head = put_varint(cell + 1, (uint64_t)id), *end = make_record(head, 0, values);
    cell[0] = (uint8_t)(end - head) & 0x7f;
    if (end - head >= 0x80) *--cell = (uint8_t)(0x80 | (end - head) >> 7);
    size_t length = (size_t)(end - cell);
    if (!has_room(pages, length)) {
        int code = next_page_by_id(pages, err);
        if (code) return code;
    }
    put_cell(pages, cell, length);
    pages->last_id = id;
    return 0;
}

/* The row that waited goes above the page, which is full. */
static int put_up(struct ids_row_pages *pages, struct ids_error *err) {
    size_t bytes = pages->up_bytes;
    pages->up_bytes = 0;
    return bytes ? next_page(pages, pages->up, bytes, err) : 0;
}

int ids_row_pages_put_keyed(struct ids_row_pages *pages, const struct ids_row_values *values, struct ids_error *err) {
    uint8_t cell[CELL_MOST];
    int code = put_up(pages, err);
    if (code) return code;
    uint8_t *end = make_record(cell + 1, 1, values);
    size_t length = (size_t)(end - cell);
    cell[0] = (uint8_t)(length - 1);
    if (has_room(pages, length)) {
        put_cell(pages, cell, length);
    } else {
        memcpy(pages->up, cell, length);
        pages->up_bytes = (uint32_t)length;
    }
    return 0;
}

/* No row came behind the one that waited: the row before it goes up in its place. */
static int share_last_rows(struct ids_row_pages *pages, struct ids_error *err) {
    uint8_t last[CELL_MOST], separator[CELL_MOST];
    size_t bytes = pages->up_bytes, before = (size_t)pages->page[pages->content] + 1;
    if (!bytes) return 0;
    memcpy(last, pages->up, bytes);
    memcpy(separator, pages->page + pages->content, before);
    pages->content += (uint32_t)before;
    pages->rows--;
    pages->up_bytes = 0;
    int code = next_page(pages, separator, before, err);
    if (!code) put_cell(pages, last, bytes);
    return code;
}

/* ---- the tree above the rows ---- */

/* A page that leads to the children [first, last]; what separates the last one from the next goes up. */
static void make_interior(const struct ids_row_pages *pages, uint8_t *page, const struct level *level, size_t first,
                          size_t last) {
    memset(page, 0, pages->page_bytes);
    uint32_t content = pages->page_bytes;
    for (size_t i = first; i < last; i++) {
        const struct child *child = &level->children[i];
        content -= 4 + child->bytes;
        put32(page + content, child->page);
        memcpy(page + content + 4, level->separators.at + child->at, child->bytes);
        put16(page + INTERIOR_HEADER + 2 * (i - first), content);
    }
    page[0] = pages->keyed ? INTERIOR_KEYED : INTERIOR;
    put16(page + 3, (uint32_t)(last - first));
    put16(page + 5, content & 0xffff);
    put32(page + 8, level->children[last].page);
}

/* How many children any page has room for. */
static size_t most_children(const struct ids_row_pages *pages, const struct level *level) {
    uint32_t longest = 0;
    for (size_t i = 0; i < level->count; i++) {
        if (level->children[i].bytes > longest) longest = level->children[i].bytes;
    }
    size_t most = (pages->page_bytes - INTERIOR_HEADER) / (2 + 4 + longest);
    return most > 2 ? most : 2; /* the smallest page has room for three */
}

static void level_done(struct level *level) {
    free(level->children);
    ids_buffer_done(&level->separators);
    *level = (struct level){0};
}

/* Numbers `count` pages of the tree above the rows, of which *used were numbered already, and writes them. */
static int write_above(struct ids_row_pages *pages, const uint8_t *bytes, size_t count, size_t *used,
                       struct level *level, struct ids_error *err) {
    size_t done = 0;
    int code = 0;
    for (; done < count && *used < pages->above_count && !code; done++) {
        level->children[done].page = pages->above[(*used)++];
        code = write_pages(pages, bytes + done * pages->page_bytes, level->children[done].page, 1, err);
    }
    if (code || done == count) return code;
    uint32_t first;
    code = append(pages, bytes + done * pages->page_bytes, (uint32_t)(count - done), &first, err);
    for (; done < count && !code; done++, (*used)++) {
        uint32_t *page = IDS_PUSH(pages->above, pages->above_count, pages->above_room);
        if (!page) return ids_no_memory(err);
        *page = level->children[done].page = first++;
    }
    return code;
}

/* The level above: pages are spread evenly, so that none leads to a single one. */
static int make_level(struct ids_row_pages *pages, const struct level *level, size_t most, size_t *used,
                      struct level *above, struct ids_error *err) {
    size_t parents = (level->count + most - 1) / most, done = 0;
    uint8_t *bytes = malloc(parents * pages->page_bytes);
    int code = bytes ? 0 : ids_no_memory(err);
    for (size_t i = 0; i < parents && !code; i++) {
        size_t last = done + (level->count - done) / (parents - i) - 1;
        const struct child *child = &level->children[last];
        make_interior(pages, bytes + i * pages->page_bytes, level, done, last);
        code = add_child(above, 0, (const uint8_t *)level->separators.at + child->at, child->bytes, err);
        done = last + 1;
    }
    if (!code) code = write_above(pages, bytes, parents, used, above, err);
    free(bytes);
    return code;
}

/* The root of a table stays where it was made. */
static int write_root(const struct ids_row_pages *pages, const uint8_t *page, struct ids_error *err) {
    uint8_t changes[4];
    int code = ids_db_exec(pages->db, "COMMIT", err);
    if (!code) code = write_pages(pages, page, pages->root, 1, err);
    if (code) return code;
    if (pread(pages->fd, changes, sizeof changes, FILE_CHANGES) != (ssize_t)sizeof changes)
        return ids_fail_system(err, "cannot read the database");
    put32(changes, get32(changes) + 1);
    code = write_bytes(pages->fd, changes, sizeof changes, FILE_CHANGES, err);
    if (!code) code = write_bytes(pages->fd, changes, sizeof changes, FILE_PAGES_AT, err);
    return code ? code : ids_db_exec(pages->db, "BEGIN IMMEDIATE", err);
}

/* Levels above the leaves until one page has room for the last of them: the root. */
static int make_tree(struct ids_row_pages *pages, struct ids_error *err) {
    struct level below = {0};
    const struct level *level = &pages->leaves;
    size_t most, used = 0;
    int code = 0;
    while (!code && level->count > (most = most_children(pages, level))) {
        struct level above = {0};
        code = make_level(pages, level, most, &used, &above, err);
        level_done(&below);
        below = above;
        level = &below;
    }
    uint8_t *root = pages->held; /* nothing is in it now */
    if (!code) make_interior(pages, root, level, 0, level->count - 1);
    if (!code) code = write_root(pages, root, err);
    level_done(&below);
    return code;
}

int ids_row_pages_show(struct ids_row_pages *pages, struct ids_error *err) {
    int code = share_last_rows(pages, err);
    if (code) return code;
    if (!pages->leaves.count) { /* the only page is the root, and is not full yet */
        end_page(pages);
        return write_root(pages, pages->page, err);
    }
    if (pages->rows) code = pages->keyed ? next_page(pages, pages->up, 0, err) : next_page_by_id(pages, err);
    if (!code) code = write_held(pages, err);
    if (!code) code = make_tree(pages, err);
    begin_page(pages);
    return code;
}

/* ---- reading ---- */

struct ids_row_reader {
    const struct ids_row_pages *pages;
    size_t leaf, leaf_count;
    uint32_t row, rows; /* of the page: the next one, and how many there are */
    uint8_t page[];     /* the leaf, and 8 bytes more, for numbers are read as if they had so many */
};

static const uint8_t *get_varint(const uint8_t *at, uint64_t *ret_value) {
    uint64_t value = 0;
    while (*at & 0x80) value = value << 7 | (*at++ & 0x7f);
    *ret_value = value << 7 | *at++;
    return at;
}

static int64_t get_number(const uint8_t *at, unsigned bytes) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return (int64_t)__builtin_bswap64(word) >> (64 - 8 * bytes);
}

static int64_t greatest_id(const struct ids_row_pages *pages, size_t leaf) {
    uint64_t id;
    get_varint((const uint8_t *)pages->leaves.separators.at + pages->leaves.children[leaf].at, &id);
    return (int64_t)id;
}

static int read_leaf(struct ids_row_reader *reader, size_t leaf, struct ids_error *err) {
    const struct ids_row_pages *pages = reader->pages;
    reader->row = 0;
    if (leaf == reader->leaf) return 0;
    reader->leaf = leaf;
    reader->rows = 0;
    if (leaf >= reader->leaf_count) return 0;
    uint32_t number = pages->leaves.count ? pages->leaves.children[leaf].page : pages->root;
    off_t at = (off_t)((uint64_t)(number - 1) * pages->page_bytes);
    if (pread(pages->fd, reader->page, pages->page_bytes, at) != (ssize_t)pages->page_bytes)
        return ids_fail_system(err, "cannot read the database");
    reader->rows = (uint32_t)reader->page[3] << 8 | reader->page[4];
    return 0;
}

/* Behind the lengths of a row and its id: its header. */
static const uint8_t *row_at(const struct ids_row_reader *reader, uint32_t row, int64_t *ret_id) {
    const uint8_t *place = reader->page + LEAF_HEADER + (size_t)2 * row;
    uint64_t bytes, id;
    const uint8_t *at = get_varint(reader->page + ((size_t)place[0] << 8 | place[1]), &bytes);
    at = get_varint(at, &id);
    *ret_id = (int64_t)id;
    return at;
}

int ids_row_reader_new(const struct ids_row_pages *pages, struct ids_row_reader **ret_reader, struct ids_error *err) {
    struct ids_row_reader *reader = calloc(1, sizeof *reader + pages->page_bytes + 8);
    if (!reader) return ids_no_memory(err);
    reader->pages = pages;
    reader->leaf = SIZE_MAX;
    reader->leaf_count = pages->leaves.count ? pages->leaves.count : 1; /* the root */
    *ret_reader = reader;
    return 0;
}

int ids_row_reader_seek(struct ids_row_reader *reader, int64_t id, struct ids_error *err) {
    size_t low = 0, high = reader->pages->leaves.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (greatest_id(reader->pages, middle) < id)
            low = middle + 1;
        else
            high = middle;
    }
    int code = read_leaf(reader, low, err);
    uint32_t first = 0, behind = code ? 0 : reader->rows;
    while (first < behind) {
        uint32_t middle = first + (behind - first) / 2;
        int64_t there;
        row_at(reader, middle, &there);
        if (there < id)
            first = middle + 1;
        else
            behind = middle;
    }
    reader->row = first;
    return code;
}

int ids_row_reader_next(struct ids_row_reader *reader, int64_t *ret_id, int64_t *values, unsigned count,
                        struct ids_error *err) {
    static const uint8_t bytes_of_type[10] = {0, 1, 2, 3, 4, 6, 8, 0, 0, 0};
    *ret_id = 0;
    while (reader->row == reader->rows) {
        if (reader->leaf + 1 >= reader->leaf_count) return 0;
        int code = read_leaf(reader, reader->leaf + 1, err);
        if (code) return code;
    }
    const uint8_t *header = row_at(reader, reader->row++, ret_id), *at = header + header[0];
    const uint8_t *type = header + 2, *end = at; /* behind the type of the id */
    for (unsigned i = 0; i < count; i++, type++) {
        unsigned bytes = type < end ? bytes_of_type[*type] : 0;
        values[i] = bytes ? get_number(at, bytes) : type < end && *type == 9;
        at += bytes;
    }
    return 0;
}

void ids_row_reader_free(struct ids_row_reader *reader) {
    free(reader);
}

/* ---- life ---- */

static int ask(sqlite3 *db, const char *sql, uint32_t *ret_number, struct ids_error *err) {
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (result == SQLITE_OK) result = sqlite3_step(statement);
    if (result == SQLITE_ROW) *ret_number = (uint32_t)sqlite3_column_int64(statement, 0);
    int code = result == SQLITE_ROW ? 0 : ids_db_fail(db, err);
    sqlite3_finalize(statement);
    return code;
}

static int check_columns(sqlite3 *db, const char *table, const char *columns, struct ids_error *err) {
    static const char sql[] =
        "SELECT group_concat(name, ' ') FROM (SELECT name FROM pragma_table_info(?) ORDER BY cid)";
    sqlite3_stmt *statement = NULL;
    int code = 0, result = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (result == SQLITE_OK) result = sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
    if (result == SQLITE_OK) result = sqlite3_step(statement);
    const char *there = result == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    if (result != SQLITE_ROW)
        code = ids_db_fail(db, err);
    else if (!there || strcmp(there, columns) != 0)
        code = ids_fail(err, IDS_UNSUPPORTED, "the table %s has the columns '%s', but its rows are made of '%s'", table,
                        there ? there : "", columns);
    sqlite3_finalize(statement);
    return code;
}

/* Whether the table is WITHOUT ROWID: then the index of its primary key is the table itself and has no row in the
 * schema. pragma_table_list would say it, but SQLite before 3.37 has none. */
static int ask_keyed(sqlite3 *db, const char *table, uint32_t *ret_keyed, struct ids_error *err) {
    char sql[256];
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM pragma_index_list('%s') AS key WHERE origin = 'pk' AND NOT EXISTS "
             "(SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = key.name)",
             table);
    return ask(db, sql, ret_keyed, err);
}

int ids_row_pages_new(sqlite3 *db, int fd, const char *table, const char *columns, struct ids_row_pages **ret_pages,
                      struct ids_error *err) {
    char sql[128];
    struct ids_row_pages *pages = calloc(1, sizeof *pages);
    if (!pages) return ids_no_memory(err);
    pages->db = db;
    pages->fd = fd;
    snprintf(sql, sizeof sql, "SELECT rootpage FROM sqlite_schema WHERE name = '%s'", table);
    int code = ask(db, sql, &pages->root, err);
    if (!code) code = check_columns(db, table, columns, err);
    uint32_t keyed = 0;
    if (!code) code = ask_keyed(db, table, &keyed, err);
    pages->keyed = (int)keyed;
    if (!code) code = ask(db, "PRAGMA page_size", &pages->page_bytes, err);
    if (!code && !pages->page_bytes) code = ids_fail(err, IDS_CORRUPT, "damaged database: pages of 0 bytes");
    if (!code) {
        pages->held_most = HELD_BYTES / pages->page_bytes;
        pages->held = malloc((size_t)pages->held_most * pages->page_bytes);
        if (!pages->held) code = ids_no_memory(err);
    }
    if (code) {
        ids_row_pages_free(pages);
        return code;
    }
    begin_page(pages);
    *ret_pages = pages;
    return 0;
}

void ids_row_pages_free(struct ids_row_pages *pages) {
    if (!pages) return;
    free(pages->held);
    free(pages->above);
    level_done(&pages->leaves);
    free(pages);
}
