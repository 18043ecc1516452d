#include "lib/store/row_pages.h"

#include "lib/base/vec.h"
#include "lib/store/db.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    HELD_BYTES = 2 << 20, /* pages that are written at once */
    LEAF = 0x0d,
    LEAF_HEADER = 8,
    INTERIOR = 0x05,
    INTERIOR_HEADER = 12,
    INTERIOR_CELL_MOST = 4 + 9 + 2, /* the page, the key, and the place of the cell */
    /* lengths of payload and id, length of the header, a type and at most 8 bytes for each column, and the 8 that the last one
     * is written in */
    CELL_MOST = 1 + 9 + 1 + 1 + IDS_ROW_COLUMNS_MOST * 9 + 8,
    FILE_CHANGES = 24, /* in the header of the file: counts changes */
    FILE_PAGES = 28,
    FILE_PAGES_AT = 92, /* the change at which FILE_PAGES was right */
};

/* A page, and the greatest id below it. */
struct child {
    int64_t last_id;
    uint32_t page;
};

struct children {
    struct child *at;
    size_t count, room;
};

struct ids_row_pages {
    sqlite3 *db;
    int fd;
    uint32_t root, page_bytes;
    uint8_t *held; /* pages that are full, and the one that is being filled */
    uint32_t held_pages, held_most;
    uint8_t *page;          /* the one that is being filled */
    uint32_t rows, content; /* of it: how many rows, and where the last one begins */
    int64_t last_id;
    struct children leaves; /* all; the last held_pages of them have no number yet */
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

/* Writes the cell of a row; returns its length. */
static size_t make_cell(uint8_t *cell, int64_t id, const int64_t *values, unsigned count, uint32_t nulls) {
    /* By how many bits a number needs beside its sign: its type, and how many bytes that has. */
    static const uint8_t type_of_bits[65] = {[0 ... 7] = 1,   [8 ... 15] = 2,  [16 ... 23] = 3,
                                             [24 ... 31] = 4, [32 ... 47] = 5, [48 ... 64] = 6};
    static const uint8_t bytes_of_type[10] = {0, 1, 2, 3, 4, 6, 8, 0, 0, 0};
    /* Columns that are NULL at the end need not be there. */
    while (count && nulls >> (count - 1) & 1) count--;
    uint8_t *head = put_varint(cell + 1, (uint64_t)id);
    uint8_t *type = head, *at = head + 2 + count;
    *type++ = (uint8_t)(2 + count); /* the length of the header itself */
    *type++ = 0;                    /* the id stands in the cell */
    for (unsigned i = 0; i < count; i++) {
        uint64_t value = (uint64_t)values[i];
        uint64_t magnitude = value ^ (uint64_t)(values[i] >> 63);
        unsigned kind = type_of_bits[magnitude ? 64 - __builtin_clzll(magnitude) : 0];
        if (value < 2) kind = 8 + (unsigned)value; /* 0 and 1 are types of their own */
        if (nulls >> i & 1) kind = 0;
        unsigned bytes = bytes_of_type[kind];
        uint64_t big_endian = __builtin_bswap64(value << ((64 - 8 * bytes) & 63));
        memcpy(at, &big_endian, sizeof big_endian); /* what is too much is written over */
        at += bytes;
        *type++ = (uint8_t)kind;
    }
    *cell = (uint8_t)(at - head); /* below 128 with so few columns */
    return (size_t)(at - cell);
}

static void begin_page(struct ids_row_pages *pages) {
    pages->page = pages->held + (size_t)pages->held_pages * pages->page_bytes;
    pages->rows = 0;
    pages->content = pages->page_bytes;
}

static void end_page(struct ids_row_pages *pages) {
    uint8_t *page = pages->page;
    page[0] = LEAF;
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
        if (n < 0) return ids_fail(err, IDS_IO, "cannot write the database: %s", strerror(errno));
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
        return ids_fail(err, IDS_IO, "cannot read the database: %s", strerror(errno));
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
    struct child *leaves = pages->leaves.at + pages->leaves.count - count;
    for (uint32_t i = 0; i < count; i++) leaves[i].page = first + i;
    pages->held_pages = 0;
    return 0;
}

static int next_page(struct ids_row_pages *pages, struct ids_error *err) {
    end_page(pages);
    struct child *leaf = IDS_PUSH(pages->leaves.at, pages->leaves.count, pages->leaves.room);
    if (!leaf) return ids_no_memory(err);
    *leaf = (struct child){.last_id = pages->last_id};
    pages->held_pages++;
    int code = pages->held_pages == pages->held_most ? write_held(pages, err) : 0;
    begin_page(pages);
    return code;
}

int ids_row_pages_put(struct ids_row_pages *pages, int64_t id, const int64_t *values, unsigned count, uint32_t nulls,
                      struct ids_error *err) {
    uint8_t cell[CELL_MOST];
    size_t length = make_cell(cell, id, values, count, nulls);
    if (LEAF_HEADER + 2 * (pages->rows + 1) + length > pages->content) {
        int code = next_page(pages, err);
        if (code) return code;
    }
    pages->content -= (uint32_t)length;
    memcpy(pages->page + pages->content, cell, length);
    put16(pages->page + LEAF_HEADER + 2 * pages->rows, pages->content);
    pages->rows++;
    pages->last_id = id;
    return 0;
}

/* ---- the tree above the rows ---- */

/* A page that leads to `count` others, at least two. */
static void make_interior(uint8_t *page, uint32_t page_bytes, const struct child *children, size_t count) {
    memset(page, 0, page_bytes);
    uint32_t content = page_bytes, cells = (uint32_t)count - 1;
    for (uint32_t i = 0; i < cells; i++) {
        uint8_t cell[INTERIOR_CELL_MOST];
        put32(cell, children[i].page);
        uint32_t length = (uint32_t)(put_varint(cell + 4, (uint64_t)children[i].last_id) - cell);
        content -= length;
        memcpy(page + content, cell, length);
        put16(page + INTERIOR_HEADER + 2 * i, content);
    }
    page[0] = INTERIOR;
    put16(page + 3, cells);
    put16(page + 5, content & 0xffff);
    put32(page + 8, children[cells].page);
}

/* Replaces pages by the pages above them. They are spread evenly, so that none leads to a single one. */
static int make_level(const struct ids_row_pages *pages, struct children *level, size_t most, struct ids_error *err) {
    size_t parents = (level->count + most - 1) / most, done = 0;
    uint8_t *bytes = malloc(parents * pages->page_bytes);
    if (!bytes) return ids_no_memory(err);
    for (size_t i = 0; i < parents; i++) {
        size_t count = (level->count - done) / (parents - i);
        make_interior(bytes + i * pages->page_bytes, pages->page_bytes, level->at + done, count);
        done += count;
        level->at[i].last_id = level->at[done - 1].last_id;
    }
    uint32_t first;
    int code = append(pages, bytes, (uint32_t)parents, &first, err);
    free(bytes);
    if (code) return code;
    for (size_t i = 0; i < parents; i++) level->at[i].page = first + (uint32_t)i;
    level->count = parents;
    return 0;
}

/* The root of a table stays where it was made. */
static int write_root(const struct ids_row_pages *pages, const uint8_t *page, struct ids_error *err) {
    uint8_t changes[4];
    int code = ids_db_exec(pages->db, "COMMIT", err);
    if (!code) code = write_pages(pages, page, pages->root, 1, err);
    if (code) return code;
    if (pread(pages->fd, changes, sizeof changes, FILE_CHANGES) != (ssize_t)sizeof changes)
        return ids_fail(err, IDS_IO, "cannot read the database: %s", strerror(errno));
    put32(changes, get32(changes) + 1);
    code = write_bytes(pages->fd, changes, sizeof changes, FILE_CHANGES, err);
    if (!code) code = write_bytes(pages->fd, changes, sizeof changes, FILE_PAGES_AT, err);
    return code ? code : ids_db_exec(pages->db, "BEGIN IMMEDIATE", err);
}

int ids_row_pages_finish(struct ids_row_pages *pages, struct ids_error *err) {
    if (!pages->leaves.count) { /* the only page is the root */
        end_page(pages);
        return write_root(pages, pages->page, err);
    }
    int code = pages->rows ? next_page(pages, err) : 0;
    if (!code) code = write_held(pages, err);
    size_t most = (pages->page_bytes - INTERIOR_HEADER) / INTERIOR_CELL_MOST;
    while (!code && pages->leaves.count > most) code = make_level(pages, &pages->leaves, most, err);
    if (code) return code;
    make_interior(pages->held, pages->page_bytes, pages->leaves.at, pages->leaves.count);
    return write_root(pages, pages->held, err);
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

int ids_row_pages_new(sqlite3 *db, int fd, const char *table, struct ids_row_pages **ret_pages, struct ids_error *err) {
    char sql[128];
    struct ids_row_pages *pages = calloc(1, sizeof *pages);
    if (!pages) return ids_no_memory(err);
    pages->db = db;
    pages->fd = fd;
    snprintf(sql, sizeof sql, "SELECT rootpage FROM sqlite_schema WHERE name = '%s'", table);
    int code = ask(db, sql, &pages->root, err);
    if (!code) code = ask(db, "PRAGMA page_size", &pages->page_bytes, err);
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
    free(pages->leaves.at);
    free(pages);
}
