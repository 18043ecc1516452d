/* event_findings.h - what the analysis found of single events, as rows of the tables of findings.sql. */
#ifndef IDS_LIB_EVENTS_EVENT_FINDINGS_H
#define IDS_LIB_EVENTS_EVENT_FINDINGS_H

#include "lib/events/event_rows.h"
#include "lib/events/stretch_rows.h"
#include "lib/model/findings.h"

/* The tables that are written as pages (row_pages.h). */
struct ids_finding_pages {
    struct ids_row_pages *activity;
    struct ids_stretch_rows *stretches;
};

/* Makes the tables, in a transaction of the caller's. The pages are the caller's to show when all runs are in, and
 * to free. */
int ids_findings_tables(sqlite3 *db, int fd, struct ids_finding_pages *ret_pages, struct ids_error *err);
int ids_finding_pages_show(struct ids_finding_pages *pages, struct ids_error *err);
void ids_finding_pages_free(struct ids_finding_pages *pages);

/* The numbers of the run's first rows, and of the next rows of each table, over all runs of a database. */
struct ids_finding_numbers {
    int64_t run, first_host, first_track, first_name, first_event;
    int64_t device, op, shape, class, step, culprit, stretch, device_step;
};
/* Writes the findings of a run whose events are in the table event already, whose pages are `events`. *ret_lost counts
 * what could not be tied to its row (a damaged file). */
int ids_findings_put(sqlite3 *db, const struct ids_finding_pages *pages, const struct ids_row_pages *events,
                     const struct ids_trace *trace, const struct ids_findings *findings,
                     struct ids_finding_numbers *numbers, uint64_t *ret_lost, struct ids_error *err);

#endif
