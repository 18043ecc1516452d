/* event_rows.h - the sink that makes a database of events: every event and every stat as rows (events.sql says which).
 *
 * Events of a track may come in any order; a track is put in order and written when it ends. What waits meanwhile is
 * held in memory up to a budget (48 bytes an event, 72 more for one with links); beyond it, sorted runs lie in an
 * unlinked file until they are merged. Beside that, memory follows the distinct names, tracks and texts, and not the
 * number of events.
 */
#ifndef IDS_LIB_EVENTS_EVENT_ROWS_H
#define IDS_LIB_EVENTS_EVENT_ROWS_H

#include "lib/events/row_numbers.h"
#include "lib/events/row_pages.h"
#include "lib/model/sink.h"

/* The tables that are written as pages. */
struct ids_event_pages {
    struct ids_row_pages *event, *flow;
};

struct ids_event_rows;

/* Makes the tables of events.sql, in a transaction of the caller's; `fd` and `db` as row_pages.h wants them. All runs
 * write into the same pages; they are finished when all are in, and freed in any case. */
int ids_event_tables(sqlite3 *db, int fd, struct ids_event_pages *ret_pages, struct ids_error *err);
int ids_event_pages_finish(const struct ids_event_pages *pages, struct ids_error *err);
void ids_event_pages_free(struct ids_event_pages *pages);
/* For the run `numbers->run`. `strings` is the table that texts are interned in (with the keys of
 * keys.h); both are the caller's, as are `db` and `numbers`. `held_most`: bytes of waiting events in memory. */
int ids_event_rows_new(sqlite3 *db, const struct ids_event_pages *pages, struct ids_strings *strings,
                       struct ids_row_numbers *numbers, size_t held_most, struct ids_event_rows **ret_rows,
                       struct ids_error *err);
struct ids_sink *ids_event_rows_sink(struct ids_event_rows *rows);
/* Writes the tracks that the reader left open, and the rows that need the end. After it the table event has the rows
 * of the run; the table flow has them after ids_event_pages_finish. */
int ids_event_rows_finish(struct ids_event_rows *rows, struct ids_error *err);
/* The wall clock at time 0 of the run; 0 unknown. */
int64_t ids_event_rows_origin(const struct ids_event_rows *rows);
void ids_event_rows_free(struct ids_event_rows *rows);

#endif
