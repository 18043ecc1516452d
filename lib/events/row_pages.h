/* row_pages.h - writes rows of a table as pages of SQLite's file format (https://sqlite.org/fileformat2.html). This is
 * many times as fast as SQLite's own insert: rows come in the order of their keys, so each page is filled and written
 * once.
 *
 * SQLite owns the file; our pages are appended. Between two of its transactions we update the file's header, as another
 * process that had written to the file would, and SQLite continues after our pages. Nothing points to them before
 * ids_row_pages_show.
 */
#ifndef IDS_LIB_EVENTS_ROW_PAGES_H
#define IDS_LIB_EVENTS_ROW_PAGES_H

#include "lib/base/error.h"

#include <sqlite3.h>
#include <stdint.h>

enum { IDS_ROW_COLUMNS_MOST = 53, IDS_ROW_WORD_MOST = 15 };

struct ids_row_pages;

/* For the empty table `table`; `columns` are the names of all its columns in the order in which a put fills them, with
 * spaces between. IDS_UNSUPPORTED when the table has others: SQLite looks at no row that is written so. `fd` is the
 * file of `db`, open for writing; `db` takes no exclusive lock that outlives a transaction, keeps no journal, and is
 * in a transaction. Both stay the caller's. */
int ids_row_pages_new(sqlite3 *db, int fd, const char *table, const char *columns, struct ids_row_pages **ret_pages,
                      struct ids_error *err);

/* The columns of a row: numbers, NULL where bit i of `nulls` is set; where bit i of `words` is, values[i] is the place
 * of a text of at most IDS_ROW_WORD_MOST bytes (const char *). */
struct ids_row_values {
    const int64_t *values;
    unsigned count; /* at most IDS_ROW_COLUMNS_MOST */
    uint64_t nulls, words;
};

/* Adds a row to a table with an INTEGER PRIMARY KEY `id`, its first column, which is above all before; `values` are the
 * others. Every megabyte or so it ends the transaction of `db` and begins another: no statement may be half done. */
int ids_row_pages_put(struct ids_row_pages *pages, int64_t id, const struct ids_row_values *values,
                      struct ids_error *err);
/* Adds a row to a table WITHOUT ROWID, whose primary key are its first columns; the key is above all before. */
int ids_row_pages_put_keyed(struct ids_row_pages *pages, const struct ids_row_values *values, struct ids_error *err);
/* From now on the table has the rows that were put, in the transaction that `db` is in then. More may be put behind
 * them and shown again; not so WITHOUT ROWID. */
int ids_row_pages_show(struct ids_row_pages *pages, struct ids_error *err);
void ids_row_pages_free(struct ids_row_pages *pages);

/* Reads the rows of a table with ids that were shown, many times as fast as SQLite steps through them. Put no more
 * before it is freed. */
struct ids_row_reader;
int ids_row_reader_new(const struct ids_row_pages *pages, struct ids_row_reader **ret_reader, struct ids_error *err);
/* The next row is the first whose id is at least `id`. */
int ids_row_reader_seek(struct ids_row_reader *reader, int64_t id, struct ids_error *err);
/* *ret_id, and the first `count` columns behind it, all of them numbers; NULL is 0. *ret_id is 0 behind the last
 * row. */
int ids_row_reader_next(struct ids_row_reader *reader, int64_t *ret_id, int64_t *values, unsigned count,
                        struct ids_error *err);
void ids_row_reader_free(struct ids_row_reader *reader);

/* The first of `count` pages in a row behind the first `used` of a file: the page with byte 2^30 is never used, it is
 * where SQLite's locks are. */
uint32_t ids_row_pages_behind(uint32_t used, uint32_t count, uint32_t page_bytes);

#endif
