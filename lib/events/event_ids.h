/* event_ids.h - which row of the table event an event of the trace is.
 *
 * The trace keeps some events of a file and the table all of them, both in order of (track, start, longer first). So
 * they are found by one merge over both: of events that begin together by name and duration, equal ones in their
 * order. */
#ifndef IDS_LIB_EVENTS_EVENT_IDS_H
#define IDS_LIB_EVENTS_EVENT_IDS_H

#include "lib/model/trace.h"

#include <sqlite3.h>

struct ids_event_ids;

/* For the run whose first track and name have these numbers. `db` and `trace` must outlive it. */
int ids_event_ids_new(sqlite3 *db, const struct ids_trace *trace, int64_t first_track, int64_t first_name,
                      struct ids_event_ids **ret_ids, struct ids_error *err);
/* Asks for an event, which may be NULL, and may be asked for again. What was asked for first is number 0, and so on. */
int ids_event_ids_want(struct ids_event_ids *ids, const struct ids_event *event, struct ids_error *err);
/* Finds all that were asked for; once. */
int ids_event_ids_find(struct ids_event_ids *ids, struct ids_error *err);

struct ids_event_row {
    int64_t id; /* event.id; 0 where the table has no such event, and for NULL */
    int64_t duration_ps;
};
struct ids_event_row ids_event_ids_get(const struct ids_event_ids *ids, size_t number);
void ids_event_ids_free(struct ids_event_ids *ids);

#endif
