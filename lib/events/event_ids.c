#include "lib/events/event_ids.h"

#include "lib/base/run_merge.h"
#include "lib/base/vec.h"
#include "lib/model/host_copies.h"
#include "lib/store/db.h"

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

struct ids_event_ids {
    sqlite3 *db;
    const struct ids_trace *trace;
    int64_t first_track, first_name;
    uint32_t *text_of_name; /* by name.id - first_name */
    size_t name_count, name_room;
    const struct ids_event **asked; /* by number */
    size_t asked_count, asked_room;
    struct wanted *wanted;       /* of one track */
    struct ids_event_row *found; /* by number */
    sqlite3_stmt *track, *point;
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

int ids_event_ids_new(sqlite3 *db, const struct ids_row_pages *events, const struct ids_trace *trace,
                      int64_t first_track, int64_t first_name, struct ids_event_ids **ret_ids, struct ids_error *err) {
    struct ids_event_ids *ids = calloc(1, sizeof *ids);
    if (!ids) return ids_no_memory(err);
    ids->db = db;
    ids->trace = trace;
    ids->first_track = first_track;
    ids->first_name = first_name;
    int code = ids_row_reader_new(events, &ids->rows, err);
    if (!code && (sqlite3_prepare_v2(db, "SELECT first_event, last_event FROM track WHERE id=?", -1, &ids->track,
                                     NULL) != SQLITE_OK ||
                  sqlite3_prepare_v2(db, "SELECT start_ps FROM event WHERE id=?", -1, &ids->point, NULL) != SQLITE_OK))
        code = ids_db_fail(db, err);
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

/* The next row into ids->at; last = 0 behind the last one. */
static int next_row(struct ids_event_ids *ids, struct ids_error *err) {
    enum { TRACK, START, DURATION, NAME, COLUMNS }; /* of the table event, behind its id */
    int64_t id, values[COLUMNS];
    int code = ids_row_reader_next(ids->rows, &id, values, COLUMNS, err);
    if (code) return code;
    if (!id || id > ids->last) {
        ids->last = 0;
        return 0;
    }
    size_t place = (size_t)(values[NAME] - ids->first_name);
    ids->at = (struct row){
        .found = {id, values[DURATION]},
        .start_ps = values[START],
        .text = place < ids->name_count ? ids->text_of_name[place] : IDS_NO_TEXT,
    };
    if (ids->at.found.duration_ps < 0) ids->at.found.duration_ps = 0; /* as the trace takes them */
    return 0;
}

static int from_row(struct ids_event_ids *ids, int64_t id, struct ids_error *err) {
    int code = ids_row_reader_seek(ids->rows, id, err);
    return code ? code : next_row(ids, err);
}

static int begin_track(struct ids_event_ids *ids, uint32_t track, struct ids_error *err) {
    sqlite3_bind_int64(ids->track, 1, ids->first_track + track);
    int result = sqlite3_step(ids->track);
    int64_t first = result == SQLITE_ROW ? sqlite3_column_int64(ids->track, 0) : 0;
    ids->last = result == SQLITE_ROW ? sqlite3_column_int64(ids->track, 1) : 0;
    if (sqlite3_reset(ids->track) != SQLITE_OK) return ids_db_fail(ids->db, err);
    ids->together_count = 0;
    return ids->last ? from_row(ids, first, err) : 0;
}

static int start_of(struct ids_event_ids *ids, int64_t id, int64_t *ret_start_ps, struct ids_error *err) {
    sqlite3_bind_int64(ids->point, 1, id);
    if (sqlite3_step(ids->point) == SQLITE_ROW) *ret_start_ps = sqlite3_column_int64(ids->point, 0);
    return sqlite3_reset(ids->point) == SQLITE_OK ? 0 : ids_db_fail(ids->db, err);
}

/* Far ahead: in steps that double, then by halves, so that threads with few wanted events among many cost little. */
static int jump(struct ids_event_ids *ids, int64_t start_ps, struct ids_error *err) {
    int64_t low = ids->at.found.id, high = low, width = LINEAR, there_ps = INT64_MIN;
    int code = 0;
    while (!code && there_ps < start_ps && high < ids->last) { /* the row `low` begins before */
        if (there_ps != INT64_MIN) low = high;
        high = width < ids->last - low ? low + width : ids->last;
        width *= 2;
        code = start_of(ids, high, &there_ps, err);
    }
    if (there_ps < start_ps) high = ids->last + 1;
    while (!code && high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        code = start_of(ids, middle, &there_ps, err);
        if (there_ps < start_ps)
            low = middle;
        else
            high = middle;
    }
    if (code) return code;
    if (high > ids->last) {
        ids->last = 0;
        return 0;
    }
    return from_row(ids, high, err);
}

/* All rows that begin at the time. */
static int gather_together(struct ids_event_ids *ids, int64_t start_ps, struct ids_error *err) {
    int code = 0;
    for (int i = 0; !code && ids->last && ids->at.start_ps < start_ps && i < LINEAR; i++) code = next_row(ids, err);
    if (!code && ids->last && ids->at.start_ps < start_ps) code = jump(ids, start_ps, err);
    ids->together_count = ids->first_unused = 0;
    while (!code && ids->last && ids->at.start_ps == start_ps) {
        struct row *row = IDS_PUSH(ids->together, ids->together_count, ids->together_room);
        if (!row) return ids_no_memory(err);
        *row = ids->at;
        code = next_row(ids, err);
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
static struct ids_event_row share(const struct ids_event_ids *ids, const struct ids_event *event) {
    for (size_t i = 0; i < ids->together_count && i < LOOK; i++) {
        if (ids->together[i].text == ids->trace->names[event->name].text) return ids->together[i].found;
    }
    return (struct ids_event_row){0};
}

static struct ids_event_row take(struct ids_event_ids *ids, const struct ids_event *event) {
    if (ids_is_host_copy(ids->trace, event)) return share(ids, event);
    while (ids->first_unused < ids->together_count && ids->together[ids->first_unused].used) ids->first_unused++;
    for (size_t i = ids->first_unused, looked = 0; i < ids->together_count && looked < LOOK; i++, looked++) {
        struct row *row = &ids->together[i];
        if (row->used || !is_same(ids->trace, event, row)) continue;
        row->used = 1;
        return row->found;
    }
    return (struct ids_event_row){0};
}

/* ---- all ---- */

/* What was asked for, by track: a device's work comes in time order over many tracks. */
struct by_track {
    uint32_t *numbers;
    size_t *end; /* by track: behind its last number */
    size_t most; /* on one track */
};

static int divide(const struct ids_event_ids *ids, struct by_track *by_track, struct ids_error *err) {
    const size_t tracks = ids->trace->track_count;
    by_track->numbers = malloc((ids->asked_count + 1) * sizeof *by_track->numbers);
    by_track->end = calloc(tracks + 2, sizeof *by_track->end);
    if (!by_track->numbers || !by_track->end) return ids_no_memory(err);
    for (size_t i = 0; i < ids->asked_count; i++)
        if (ids->asked[i]) by_track->end[ids->asked[i]->track + 1]++;
    for (size_t t = 0; t < tracks; t++) {
        if (by_track->end[t + 1] > by_track->most) by_track->most = by_track->end[t + 1];
        by_track->end[t + 1] += by_track->end[t];
    }
    for (size_t i = 0; i < ids->asked_count; i++)
        if (ids->asked[i]) by_track->numbers[by_track->end[ids->asked[i]->track]++] = (uint32_t)i;
    return 0;
}

/* The events of ids->wanted, which are of the track and in order. */
static int find_on_track(struct ids_event_ids *ids, uint32_t track, size_t count, struct ids_error *err) {
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): each place that divide() counted has one */
    const struct ids_host *host = &ids->trace->hosts[ids->trace->tracks[track].host];
    int64_t together_ps = 0;
    int code = begin_track(ids, track, err);
    for (size_t i = 0; i < count && !code; i++) {
        const struct wanted *wanted = &ids->wanted[i];
        if (i && wanted->event == wanted[-1].event) { /* asked for again */
            ids->found[wanted->number] = ids->found[wanted[-1].number];
            continue;
        }
        int64_t start_ps = wanted->start_ps - host->shift_ps; /* the builder added it, within its limits */
        if (!i || start_ps != together_ps) code = gather_together(ids, start_ps, err);
        together_ps = start_ps;
        if (!code) ids->found[wanted->number] = take(ids, wanted->event);
    }
    return code;
}

static int find_by_track(struct ids_event_ids *ids, const struct by_track *by_track, struct ids_error *err) {
    struct wanted *spare = malloc((by_track->most + 1) * sizeof *spare);
    ids->wanted = malloc((by_track->most + 1) * sizeof *ids->wanted);
    int code = spare && ids->wanted ? 0 : ids_no_memory(err);
    size_t first = 0;
    for (size_t t = 0; t < ids->trace->track_count && !code; first = by_track->end[t++]) {
        const size_t count = by_track->end[t] - first;
        for (size_t i = 0; i < count; i++) {
            const uint32_t number = by_track->numbers[first + i];
            const struct ids_event *event = ids->asked[number];
            ids->wanted[i] = (struct wanted){event, event->start_ps, event->end_ps, number};
        }
        merge_wanted(&ids->wanted, &spare, count);
        if (count) code = find_on_track(ids, (uint32_t)t, count, err);
    }
    free(spare);
    return code;
}

int ids_event_ids_find(struct ids_event_ids *ids, struct ids_error *err) {
    struct by_track by_track = {0};
    ids->found = calloc(ids->asked_count + 1, sizeof *ids->found);
    int code = ids->found ? divide(ids, &by_track, err) : ids_no_memory(err);
    if (!code) code = find_by_track(ids, &by_track, err);
    free(by_track.numbers);
    free(by_track.end);
    free(ids->asked);
    free(ids->wanted);
    ids->asked = NULL;
    ids->wanted = NULL;
    return code;
}

struct ids_event_row ids_event_ids_get(const struct ids_event_ids *ids, size_t number) {
    return number < ids->asked_count ? ids->found[number] : (struct ids_event_row){0};
}

void ids_event_ids_free(struct ids_event_ids *ids) {
    if (!ids) return;
    sqlite3_finalize(ids->track);
    ids_row_reader_free(ids->rows);
    sqlite3_finalize(ids->point);
    free(ids->text_of_name);
    free(ids->asked);
    free(ids->wanted);
    free(ids->found);
    free(ids->together);
    free(ids);
}
