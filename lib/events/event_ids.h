/* event_ids.h - finds the row of the table event for an event of the trace.
 *
 * The trace keeps some events of a file, the table has all of them, and both are sorted by (track, start, longer
 * first). So one merge over both finds them. Events that begin together are told apart by name and duration, and
 * equal ones by their order. */
#ifndef IDS_LIB_EVENTS_EVENT_IDS_H
#define IDS_LIB_EVENTS_EVENT_IDS_H

#include "lib/events/row_pages.h"
#include "lib/model/trace.h"

#include <sqlite3.h>

struct ids_event_ids;

/* For the run whose first track and name have these numbers. `events`: the rows of the table event, which were shown.
 * They, `db` and `trace` must outlive it. */
int ids_event_ids_new(sqlite3 *db, const struct ids_row_pages *events, const struct ids_trace *trace,
                      int64_t first_track, int64_t first_name, struct ids_event_ids **ret_ids, struct ids_error *err);
/* Requests an event, which may be NULL or requested before. Requests are numbered from 0. */
int ids_event_ids_want(struct ids_event_ids *ids, const struct ids_event *event, struct ids_error *err);
/* Finds all that were asked for; once. */
int ids_event_ids_find(struct ids_event_ids *ids, struct ids_error *err);

struct ids_event_row {
    int64_t id; /* event.id; 0 where the table has no such event, and for NULL */
    int64_t duration_ps;
};
/* The requests of events, which are all but those for NULL, about in the order of their rows: the number of request
 * `place`. */
size_t ids_event_ids_in_order(const struct ids_event_ids *ids, size_t place);
struct ids_event_row ids_event_ids_get(const struct ids_event_ids *ids, size_t number);
void ids_event_ids_free(struct ids_event_ids *ids);

#endif
