/* stretch_rows.h - stretches of the ledger as rows of the table stretch_block: a row has several of one device and
 * step, one behind the other. There are as many stretches as events, and what a row of a table needs beside its values
 * is more than what a stretch says.
 */
#ifndef IDS_LIB_EVENTS_STRETCH_ROWS_H
#define IDS_LIB_EVENTS_STRETCH_ROWS_H

#include "lib/events/row_pages.h"

struct ids_stretch {
    int64_t id;                           /* one above that before it */
    int64_t device, step, culprit, event; /* of their tables; step and event are 0 where there is none */
    int64_t from_ps, to_ps;
    uint16_t state;
    uint8_t known;
};

struct ids_stretch_rows;

/* `fd` and `db` as for ids_row_pages_new; the tables are there and empty. */
int ids_stretch_rows_new(sqlite3 *db, int fd, struct ids_stretch_rows **ret_rows, struct ids_error *err);
/* Before those of a run: its culprits from `first_culprit` on, and how many stretches each has, about. */
int ids_stretch_rows_begin_run(struct ids_stretch_rows *rows, int64_t first_culprit, const uint64_t *stretches,
                               size_t culprits, struct ids_error *err);
int ids_stretch_rows_put(struct ids_stretch_rows *rows, const struct ids_stretch *stretch, struct ids_error *err);
/* The stretches of a run are all there: those of another one share nothing with them. */
int ids_stretch_rows_end_run(struct ids_stretch_rows *rows, struct ids_error *err);
/* As ids_row_pages_show. */
int ids_stretch_rows_show(struct ids_stretch_rows *rows, struct ids_error *err);
void ids_stretch_rows_free(struct ids_stretch_rows *rows);

#endif
