/* event_parts.h - what the parts of the row builder share: the records that wait for the end of their track (event_rows.c), the stats
 * (event_stats.c) and the table that SQLite reads rows from (event_batch.c). */
#ifndef IDS_LIB_STORE_EVENT_PARTS_H
#define IDS_LIB_STORE_EVENT_PARTS_H

#include "lib/base/buffer.h"
#include "lib/base/keymap.h"
#include "lib/io/aside.h"
#include "lib/store/event_rows.h"

/* ---- waiting events ---- */

struct ids_row {
    int64_t start_ps, duration_ps;
    int64_t self_ps;
    uint32_t name;   /* as the format knows it */
    uint32_t set;    /* in the run, from 1; 0 none */
    uint32_t rare;   /* index + 1 in the track's rare parts; 0 none */
    uint32_t parent; /* index + 1 in the track, in order; 0 none */
    uint32_t depth;
    uint8_t form;
};

/* Stats that are columns of the table event. */
enum { IDS_COLUMN_RUN_ID, IDS_COLUMN_PRODUCER, IDS_COLUMN_CONSUMER, IDS_COLUMN_CORRELATION, IDS_EVENT_COLUMNS };

/* What few events have. */
struct ids_row_rare {
    int64_t columns[IDS_EVENT_COLUMNS];
    uint64_t produces, consumes; /* keys of flows; 0 none */
    uint64_t loose_at;           /* packed stats, aside */
    uint32_t loose_bytes, loose_count;
    uint8_t has; /* a bit for each column */
};

/* ---- stats ---- */

struct ids_event_stats;

int ids_event_stats_new(sqlite3 *db, const struct ids_strings *strings, struct ids_row_numbers *numbers,
                        struct ids_aside *aside, struct ids_event_stats **ret_stats, struct ids_error *err);
void ids_event_stats_free(struct ids_event_stats *stats);
/* Sorts an event's stats into columns, a set and loose ones. *ret_has_rare: `ret_rare` is of use. */
int ids_event_stats_take(struct ids_event_stats *stats, const struct ids_slice *slice, uint32_t *ret_set,
                         struct ids_row_rare *ret_rare, int *ret_has_rare, struct ids_error *err);
/* Writes the loose stats of the event with that number. */
int ids_event_stats_put_loose(struct ids_event_stats *stats, int64_t event, const struct ids_row_rare *rare,
                              struct ids_error *err);
/* Stats of a plane or a name: rows (owner, ordinal, stat, value) of a statement. */
int ids_event_stats_put(struct ids_event_stats *stats, sqlite3_stmt *statement, int64_t owner,
                        const struct ids_arg *args, size_t count, struct ids_error *err);
/* Tables stat and event_column: at the end, when all are known. */
int ids_event_stats_finish(struct ids_event_stats *stats, struct ids_error *err);

/* Binds text as the tables hold it: a blob where it is not UTF-8 or has a zero byte. */
int ids_bind_text(sqlite3_stmt *statement, int column, const char *text, size_t length);

/* ---- the batch ---- */

/* The rows of one track, in order. */
struct ids_batch {
    const struct ids_row *rows;
    const struct ids_row_rare *rare;
    size_t count;
    int64_t track, first_event, first_name, first_set; /* what is added to numbers of the rows */
};

/* A statement that, stepped, inserts what *batch then holds. */
int ids_batch_prepare(sqlite3 *db, const struct ids_batch *batch, sqlite3_stmt **ret_insert, struct ids_error *err);

#endif
