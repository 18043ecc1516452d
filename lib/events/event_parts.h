/* event_parts.h - what the parts of the row builder share: the events that wait for the end of their track
 * (event_track.c), what lies in what (event_nest.c), the stats (event_stats.c) and the links (event_flows.c).
 * event_rows.c puts them together. */
#ifndef IDS_LIB_EVENTS_EVENT_PARTS_H
#define IDS_LIB_EVENTS_EVENT_PARTS_H

#include "lib/base/buffer.h"
#include "lib/base/keymap.h"
#include "lib/events/row_numbers.h"
#include "lib/events/row_pages.h"
#include "lib/io/spill.h"
#include "lib/model/link.h"
#include "lib/model/sink.h"

/* ---- events that wait ---- */

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

/* What few events have. */
struct ids_row_rare {
    struct ids_link_ids links; /* columns of the table event */
    uint64_t arrow;            /* its key where the event is an end of one; 0 none */
    uint64_t extra_at;         /* packed stats, aside */
    uint32_t extra_bytes, extra_count;
};

/* A sorted part of a track's rows that was spilled to disk. */
struct ids_row_run {
    uint64_t at, end;
};

/* The events of one track, in any order. */
struct ids_track_rows {
    struct ids_row *rows;
    struct ids_row_rare *rare;
    size_t count, room, rare_count, rare_room;
    int unsorted;
    struct ids_row_run *runs; /* of events that came before */
    size_t run_count, run_room;
    uint64_t count_in_runs;
};

/* What tracks share to be put in order. All zeros at first. */
struct ids_row_sorter {
    struct ids_spill *runs, *ordered; /* made when memory does not do */
    struct ids_track_rows idle;       /* room of a track that has ended, for the next one */
    struct ids_row *spare;            /* for sorting */
    size_t spare_room;
    struct ids_open_row *stack; /* of the events that are open where the sweep is */
    size_t depth, stack_room;
};

void ids_row_sorter_done(struct ids_row_sorter *sorter);
void ids_track_rows_done(struct ids_track_rows *track);
/* Before a track's first row; so many are likely to come, 0 if unknown. It takes the room of one that has ended. */
void ids_track_rows_begin(struct ids_track_rows *track, struct ids_row_sorter *sorter, size_t likely);
/* As ids_track_rows_done, but the next track may have its room. */
void ids_track_rows_end(struct ids_track_rows *track, struct ids_row_sorter *sorter);
/* `rare` may be NULL; row->rare is set here. */
int ids_track_rows_add(struct ids_track_rows *track, const struct ids_row *row, const struct ids_row_rare *rare,
                       struct ids_error *err);
static inline uint64_t ids_track_rows_count(const struct ids_track_rows *track) {
    return track->count_in_runs + track->count;
}
static inline size_t ids_track_rows_bytes(const struct ids_track_rows *track) {
    return track->count * sizeof *track->rows + track->rare_count * sizeof *track->rare;
}
/* Sorts the events in memory, spills them to disk, and frees the memory. */
int ids_track_rows_spill(struct ids_track_rows *track, struct ids_row_sorter *sorter, struct ids_error *err);
/* Gives every event to `put`, ordered by start, longer ones first, with parent, depth and self time; `index` counts
 * them from 0. `rare` is NULL for an event without. */
typedef int ids_row_put(void *context, uint64_t index, const struct ids_row *row, const struct ids_row_rare *rare,
                        struct ids_error *err);
int ids_track_rows_each(struct ids_track_rows *track, struct ids_row_sorter *sorter, ids_row_put *put, void *context,
                        struct ids_error *err);

/* ---- what lies in what ---- */

struct ids_open_row {
    int64_t end_ps, duration_ps, children_ps;
    uint64_t where;
    uint32_t index; /* + 1 */
};

/* Called with the self time of an event that has ended, if it differs from its duration. */
typedef int ids_row_closed(void *context, uint64_t where, int64_t self_ps, struct ids_error *err);

/* One step of the sweep over a track's events in order: sets the row's parent, depth and self_ps. self_ps is first
 * the whole duration; `closed` gets the real value when it is known. `where` is any number that identifies the event
 * in its track. */
int ids_nest_next(struct ids_row_sorter *sorter, struct ids_row *row, uint64_t index, uint64_t where,
                  ids_row_closed *closed, void *context, struct ids_error *err);
int ids_nest_end(struct ids_row_sorter *sorter, ids_row_closed *closed, void *context, struct ids_error *err);

/* ---- stats ---- */

struct ids_event_stats;

int ids_event_stats_new(sqlite3 *db, const struct ids_strings *strings, struct ids_row_numbers *numbers,
                        struct ids_spill *spill, struct ids_event_stats **ret_stats, struct ids_error *err);
void ids_event_stats_free(struct ids_event_stats *stats);
/* Sorts an event's stats into columns, a set and extra ones. *ret_has_rare: `ret_rare` is of use. */
int ids_event_stats_take(struct ids_event_stats *stats, const struct ids_slice *slice, uint32_t *ret_set,
                         struct ids_row_rare *ret_rare, int *ret_has_rare, struct ids_error *err);
/* Writes the extra stats of the event with that number. */
int ids_event_stats_put_extra(struct ids_event_stats *stats, int64_t event, const struct ids_row_rare *rare,
                              struct ids_error *err);
/* Stats of a plane or a name: rows (owner, ordinal, stat, value) of a statement. */
int ids_event_stats_put(struct ids_event_stats *stats, sqlite3_stmt *statement, int64_t owner,
                        const struct ids_arg *args, size_t count, struct ids_error *err);
/* Tables stat and event_column: at the end, when all are known. */
int ids_event_stats_finish(struct ids_event_stats *stats, struct ids_error *err);

/* Binds text as the tables hold it: a blob where it is not UTF-8 or has a zero byte. */
int ids_bind_text(sqlite3_stmt *statement, int column, const char *text, size_t length);

/* ---- links ---- */

/* Which event caused which, by a key that both have. Memory does not grow with their number: keys, then events, are
 * divided into parts that are joined and sorted one by one. */
struct ids_event_flows;

int ids_event_flows_new(struct ids_event_flows **ret_flows, struct ids_error *err);
void ids_event_flows_free(struct ids_event_flows *flows);
/* What an event hands on. The first that hands on a key is it. Key 0 is none. */
int ids_event_flows_give(struct ids_event_flows *flows, uint64_t key, int64_t event, struct ids_error *err);
int ids_event_flows_take(struct ids_event_flows *flows, uint64_t key, int64_t event, enum ids_link link,
                         struct ids_error *err);
/* Writes the rows of table flow. The events named were first_event to last_event. */
int ids_event_flows_write(struct ids_event_flows *flows, struct ids_row_pages *pages, int64_t first_event,
                          int64_t last_event, struct ids_error *err);

#endif
