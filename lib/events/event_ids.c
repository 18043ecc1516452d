#include "lib/events/event_ids.h"

#include "lib/base/parallel.h"
#include "lib/base/run_merge.h"
#include "lib/base/vec.h"
#include "lib/model/host_copies.h"
#include "lib/store/db.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINEAR = 32, /* rows that are stepped over before a jump is worth its queries */
    LOOK = 1000, /* rows that begin together and are looked at for one event; a damaged file may have all at time 0 */
};

struct wanted {
    const struct ids_event *event;
    int64_t start_ps, end_ps; /* its own: a sort that looks at events takes most of the time */
    uint32_t number;
};

/* A row of the table, as far as it is needed. */
struct row {
    struct ids_event_row found;
    int64_t start_ps;
    uint32_t text; /* of the trace's strings */
    uint8_t used;
};

/* The rows of a track of the trace; none where last is 0. */
struct bounds {
    int64_t first, last;
};

struct ids_event_ids {
    sqlite3 *db;
    const struct ids_row_pages *events;
    const struct ids_trace *trace;
    int64_t first_track, first_name;
    uint32_t *text_of_name; /* by name.id - first_name */
    size_t name_count, name_room;
    const struct ids_event **asked; /* by number */
    size_t asked_count, asked_room;
    struct bounds *bounds;       /* by track */
    uint32_t *in_order;          /* numbers by track, there about in the order of the rows */
    size_t in_order_count;       /* all but those for NULL */
    struct ids_event_row *found; /* by number */
};

/* One of the threads, which take one track after the other. */
struct finder {
    struct ids_event_ids *ids;
    struct wanted *wanted, *spare; /* of one track */
    struct ids_row_reader *rows;
    struct row *together; /* rows that begin at one time */
    size_t together_count, together_room, first_unused;
    struct row at; /* the row that `rows` is behind */
    int64_t last;  /* event.id of the track's last event; 0: no row left */
};

static int64_t duration_of(const struct ids_event *event) {
    return event->end_ps - event->start_ps;
}

/* By start, longer first; what is equal in the order of the trace. */
static int wanted_before(const struct wanted *a, const struct wanted *b) {
    if (a->start_ps != b->start_ps) return a->start_ps < b->start_ps;
    if (a->end_ps != b->end_ps) return a->end_ps > b->end_ps;
    return a->event < b->event;
}

IDS_DEFINE_RUN_MERGE(merge_wanted, struct wanted, wanted_before)

static int read_names(struct ids_event_ids *ids, struct ids_error *err) {
    sqlite3_stmt *names = NULL;
    if (sqlite3_prepare_v2(ids->db, "SELECT text FROM name WHERE id >= ? ORDER BY id", -1, &names, NULL) != SQLITE_OK)
        return ids_db_fail(ids->db, err);
    sqlite3_bind_int64(names, 1, ids->first_name);
    int code = 0;
    while (!code && sqlite3_step(names) == SQLITE_ROW) {
        const char *text = sqlite3_column_blob(names, 0);
        size_t length = (size_t)sqlite3_column_bytes(names, 0);
        uint32_t *place = IDS_PUSH(ids->text_of_name, ids->name_count, ids->name_room);
        if (!place)
            code = ids_no_memory(err);
        else
            *place = ids_strings_find(&ids->trace->strings, text ? text : "", length);
    }
    if (sqlite3_finalize(names) != SQLITE_OK && !code) code = ids_db_fail(ids->db, err);
    return code;
}

static int read_bounds(struct ids_event_ids *ids, struct ids_error *err) {
    sqlite3_stmt *tracks = NULL;
    ids->bounds = calloc(ids->trace->track_count + 1, sizeof *ids->bounds);
    if (!ids->bounds) return ids_no_memory(err);
    if (sqlite3_prepare_v2(ids->db, "SELECT id, first_event, last_event FROM track WHERE id >= ?", -1, &tracks, NULL) !=
        SQLITE_OK)
        return ids_db_fail(ids->db, err);
    sqlite3_bind_int64(tracks, 1, ids->first_track);
    while (sqlite3_step(tracks) == SQLITE_ROW) {
        const size_t track = (size_t)(sqlite3_column_int64(tracks, 0) - ids->first_track);
        if (track < ids->trace->track_count)
            ids->bounds[track] = (struct bounds){sqlite3_column_int64(tracks, 1), sqlite3_column_int64(tracks, 2)};
    }
    return sqlite3_finalize(tracks) == SQLITE_OK ? 0 : ids_db_fail(ids->db, err);
}

int ids_event_ids_new(sqlite3 *db, const struct ids_row_pages *events, const struct ids_trace *trace,
                      int64_t first_track, int64_t first_name, struct ids_event_ids **ret_ids, struct ids_error *err) {
    struct ids_event_ids *ids = calloc(1, sizeof *ids);
    if (!ids) return ids_no_memory(err);
    ids->db = db;
    ids->events = events;
    ids->trace = trace;
    ids->first_track = first_track;
    ids->first_name = first_name;
    int code = read_bounds(ids, err);
    if (!code) code = read_names(ids, err);
    if (code) {
        ids_event_ids_free(ids);
        return code;
    }
    *ret_ids = ids;
    return 0;
}

int ids_event_ids_want(struct ids_event_ids *ids, const struct ids_event *event, struct ids_error *err) {
    if (ids->asked_count >= UINT32_MAX) return ids_fail(err, IDS_LIMIT, "more than four billion findings");
    const struct ids_event **asked = IDS_PUSH(ids->asked, ids->asked_count, ids->asked_room);
    if (!asked) return ids_no_memory(err);
    *asked = event;
    return 0;
}

/* ---- rows of one track ---- */

/* The next row into finder->at; last = 0 behind the last one. */
static int next_row(struct finder *finder, struct ids_error *err) {
    enum { TRACK, START, DURATION, NAME, COLUMNS }; /* of the table event, behind its id */
    int64_t id, values[COLUMNS];
    int code = ids_row_reader_next(finder->rows, &id, values, COLUMNS, err);
    if (code) return code;
    if (!id || id > finder->last) {
        finder->last = 0;
        return 0;
    }
    size_t place = (size_t)(values[NAME] - finder->ids->first_name);
    finder->at = (struct row){
        .found = {id, values[DURATION]},
        .start_ps = values[START],
        .text = place < finder->ids->name_count ? finder->ids->text_of_name[place] : IDS_NO_TEXT,
    };
    if (finder->at.found.duration_ps < 0) finder->at.found.duration_ps = 0; /* as the trace takes them */
    return 0;
}

static int from_row(struct finder *finder, int64_t id, struct ids_error *err) {
    int code = ids_row_reader_seek(finder->rows, id, err);
    return code ? code : next_row(finder, err);
}

static int begin_track(struct finder *finder, uint32_t track, struct ids_error *err) {
    const struct bounds *bounds = &finder->ids->bounds[track];
    finder->last = bounds->last;
    finder->together_count = 0;
    return finder->last ? from_row(finder, bounds->first, err) : 0;
}

static int start_of(struct finder *finder, int64_t id, int64_t *ret_start_ps, struct ids_error *err) {
    enum { TRACK, START, COLUMNS };
    int64_t there, values[COLUMNS] = {0};
    int code = ids_row_reader_seek(finder->rows, id, err);
    if (!code) code = ids_row_reader_next(finder->rows, &there, values, COLUMNS, err);
    if (!code) *ret_start_ps = values[START];
    return code;
}

/* Far ahead: in steps that double, then by halves, so that threads with few wanted events among many cost little. */
static int jump(struct finder *finder, int64_t start_ps, struct ids_error *err) {
    int64_t low = finder->at.found.id, high = low, width = LINEAR, there_ps = INT64_MIN;
    int code = 0;
    while (!code && there_ps < start_ps && high < finder->last) { /* the row `low` begins before */
        if (there_ps != INT64_MIN) low = high;
        high = width < finder->last - low ? low + width : finder->last;
        width *= 2;
        code = start_of(finder, high, &there_ps, err);
    }
    if (there_ps < start_ps) high = finder->last + 1;
    while (!code && high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        code = start_of(finder, middle, &there_ps, err);
        if (there_ps < start_ps)
            low = middle;
        else
            high = middle;
    }
    if (code) return code;
    if (high > finder->last) {
        finder->last = 0;
        return 0;
    }
    return from_row(finder, high, err);
}

/* All rows that begin at the time. */
static int gather_together(struct finder *finder, int64_t start_ps, struct ids_error *err) {
    int code = 0;
    for (int i = 0; !code && finder->last && finder->at.start_ps < start_ps && i < LINEAR; i++)
        code = next_row(finder, err);
    if (!code && finder->last && finder->at.start_ps < start_ps) code = jump(finder, start_ps, err);
    finder->together_count = finder->first_unused = 0;
    while (!code && finder->last && finder->at.start_ps == start_ps) {
        struct row *row = IDS_PUSH(finder->together, finder->together_count, finder->together_room);
        if (!row) return ids_no_memory(err);
        *row = finder->at;
        code = next_row(finder, err);
    }
    return code;
}

/* The end of a CPU client's op is not that of its event, and a step whose number is in its name has lost it in the
 * trace. */
static int is_same(const struct ids_trace *trace, const struct ids_event *event, const struct row *row) {
    int same_name = trace->names[event->name].text == row->text;
    int same_time = duration_of(event) == row->found.duration_ps;
    if (event->kind == IDS_KIND_OP || event->kind == IDS_KIND_REGION) return same_name;
    return same_time && (same_name || event->kind == IDS_KIND_STEP_MARK);
}

/* A copy that was made of two ops shares the row of the first. */
static struct ids_event_row share(const struct finder *finder, const struct ids_event *event) {
    for (size_t i = 0; i < finder->together_count && i < LOOK; i++) {
        if (finder->together[i].text == finder->ids->trace->names[event->name].text) return finder->together[i].found;
    }
    return (struct ids_event_row){0};
}

static struct ids_event_row take(struct finder *finder, const struct ids_event *event) {
    if (ids_is_host_copy(finder->ids->trace, event)) return share(finder, event);
    while (finder->first_unused < finder->together_count && finder->together[finder->first_unused].used)
        finder->first_unused++;
    for (size_t i = finder->first_unused, looked = 0; i < finder->together_count && looked < LOOK; i++, looked++) {
        struct row *row = &finder->together[i];
        if (row->used || !is_same(finder->ids->trace, event, row)) continue;
        row->used = 1;
        return row->found;
    }
    return (struct ids_event_row){0};
}

/* ---- all ---- */

/* What was asked for, by track: a device's work comes in time order over many tracks. */
struct by_track {
    struct ids_event_ids *ids;
    size_t *end; /* by track: behind its last number */
    size_t most; /* on one track */
    atomic_size_t next;
    struct ids_error *failures; /* by thread */
};

static int divide(struct ids_event_ids *ids, struct by_track *by_track, struct ids_error *err) {
    const size_t tracks = ids->trace->track_count;
    ids->in_order = malloc((ids->asked_count + 1) * sizeof *ids->in_order);
    by_track->end = calloc(tracks + 2, sizeof *by_track->end);
    if (!ids->in_order || !by_track->end) return ids_no_memory(err);
    for (size_t i = 0; i < ids->asked_count; i++)
        if (ids->asked[i]) by_track->end[ids->asked[i]->track + 1]++;
    for (size_t t = 0; t < tracks; t++) {
        if (by_track->end[t + 1] > by_track->most) by_track->most = by_track->end[t + 1];
        by_track->end[t + 1] += by_track->end[t];
    }
    ids->in_order_count = by_track->end[tracks];
    for (size_t i = 0; i < ids->asked_count; i++)
        if (ids->asked[i]) ids->in_order[by_track->end[ids->asked[i]->track]++] = (uint32_t)i;
    return 0;
}

/* The events of finder->wanted, which are of the track and in order. */
static int find_on_track(struct finder *finder, uint32_t track, size_t count, struct ids_error *err) {
    struct ids_event_ids *ids = finder->ids;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): each place that divide() counted has one */
    const struct ids_host *host = &ids->trace->hosts[ids->trace->tracks[track].host];
    int64_t together_ps = 0;
    int code = begin_track(finder, track, err);
    for (size_t i = 0; i < count && !code; i++) {
        const struct wanted *wanted = &finder->wanted[i];
        if (i && wanted->event == wanted[-1].event) { /* asked for again */
            ids->found[wanted->number] = ids->found[wanted[-1].number];
            continue;
        }
        int64_t start_ps = wanted->start_ps - host->shift_ps; /* the builder added it, within its limits */
        if (!i || start_ps != together_ps) code = gather_together(finder, start_ps, err);
        together_ps = start_ps;
        if (!code) ids->found[wanted->number] = take(finder, wanted->event);
    }
    return code;
}

static int find_track(struct finder *finder, uint32_t track, uint32_t *numbers, size_t count, struct ids_error *err) {
    for (size_t i = 0; i < count; i++) {
        const struct ids_event *event = finder->ids->asked[numbers[i]];
        finder->wanted[i] = (struct wanted){event, event->start_ps, event->end_ps, numbers[i]};
    }
    merge_wanted(&finder->wanted, &finder->spare, count);
    for (size_t i = 0; i < count; i++) numbers[i] = finder->wanted[i].number;
    return count ? find_on_track(finder, track, count, err) : 0;
}

static void find_some(void *context, size_t thread) {
    struct by_track *by_track = context;
    struct ids_event_ids *ids = by_track->ids;
    struct ids_error *err = &by_track->failures[thread];
    struct finder finder = {.ids = ids,
                            .wanted = malloc((by_track->most + 1) * sizeof *finder.wanted),
                            .spare = malloc((by_track->most + 1) * sizeof *finder.spare)};
    int code = finder.wanted && finder.spare ? ids_row_reader_new(ids->events, &finder.rows, err) : ids_no_memory(err);
    for (size_t t; !code && (t = atomic_fetch_add(&by_track->next, 1)) < ids->trace->track_count;) {
        size_t first = t ? by_track->end[t - 1] : 0;
        code = find_track(&finder, (uint32_t)t, ids->in_order + first, by_track->end[t] - first, err);
    }
    ids_row_reader_free(finder.rows);
    free(finder.wanted);
    free(finder.spare);
    free(finder.together);
}

static int find_by_track(struct by_track *by_track, struct ids_error *err) {
    const size_t threads = ids_jobs();
    by_track->failures = calloc(threads, sizeof *by_track->failures);
    if (!by_track->failures) return ids_no_memory(err);
    ids_parallel_events(by_track->ids->in_order_count, threads, find_some, by_track);
    for (size_t i = 0; i < threads; i++)
        if (by_track->failures[i].code) return ids_error_pass(err, &by_track->failures[i]);
    return 0;
}

int ids_event_ids_find(struct ids_event_ids *ids, struct ids_error *err) {
    struct by_track by_track = {.ids = ids};
    ids->found = calloc(ids->asked_count + 1, sizeof *ids->found);
    int code = ids->found ? divide(ids, &by_track, err) : ids_no_memory(err);
    if (!code) code = find_by_track(&by_track, err);
    free(by_track.end);
    free(by_track.failures);
    free(ids->asked);
    ids->asked = NULL;
    return code;
}

size_t ids_event_ids_in_order(const struct ids_event_ids *ids, size_t place) {
    return place < ids->in_order_count ? ids->in_order[place] : SIZE_MAX;
}

struct ids_event_row ids_event_ids_get(const struct ids_event_ids *ids, size_t number) {
    return number < ids->asked_count ? ids->found[number] : (struct ids_event_row){0};
}

void ids_event_ids_free(struct ids_event_ids *ids) {
    if (!ids) return;
    free(ids->text_of_name);
    free(ids->asked);
    free(ids->bounds);
    free(ids->in_order);
    free(ids->found);
    free(ids);
}
