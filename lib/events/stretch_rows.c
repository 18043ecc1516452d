#include "lib/events/stretch_rows.h"

#include "lib/base/keymap.h"
#include "lib/store/db.h"

#include <stdlib.h>

enum {
    PLACES = 16,         /* stretch_place, and the columns end, kind and event of stretch_block */
    LONG_UNIT_PS = 1000, /* many profilers count nanoseconds */
    COMMON_SHARE = 1000, /* a culprit of one in so many stretches */
    SHORT_MOST = 127,    /* the greatest number of one byte */
    DEVICE = 0,
    STEP,
    START,
    UNIT,
    EVENT,
    ENDS,
    KINDS = ENDS + PLACES,
    EVENTS = KINDS + PLACES,
    COLUMNS = EVENTS + PLACES,
};
_Static_assert((int)COLUMNS <= (int)IDS_ROW_COLUMNS_MOST, "row_pages.h");

/* A culprit of the run, and the kind of its last stretch; 0 none yet. */
struct culprit {
    int64_t kind;
    uint32_t what;
    int is_common;
};

struct ids_stretch_rows {
    sqlite3 *db;
    struct ids_row_pages *pages;
    struct ids_keymap kinds;  /* of this run: culprit, known and state -> stretch_kind.id */
    int64_t kind, rare_kind;  /* the last ones over all runs: up to SHORT_MOST, and above it */
    struct culprit *culprits; /* of this run */
    int64_t first_culprit;
    size_t culprit_count;
    struct ids_stretch first, last; /* of the block */
    unsigned count;
    int64_t ends_ps[PLACES], kind_of[PLACES], event_of[PLACES];
};

static const char columns[] =
    "id device step start_ps unit_ps event "
    "end1 end2 end3 end4 end5 end6 end7 end8 end9 end10 end11 end12 end13 end14 end15 end16 "
    "kind1 kind2 kind3 kind4 kind5 kind6 kind7 kind8 kind9 kind10 kind11 kind12 kind13 kind14 kind15 kind16 "
    "event1 event2 event3 event4 event5 event6 event7 event8 event9 event10 event11 event12 event13 event14 event15 "
    "event16";

int ids_stretch_rows_new(sqlite3 *db, int fd, struct ids_stretch_rows **ret_rows, struct ids_error *err) {
    struct ids_stretch_rows *rows = calloc(1, sizeof *rows);
    if (!rows) return ids_no_memory(err);
    rows->db = db;
    rows->rare_kind = SHORT_MOST;
    int code = ids_row_pages_new(db, fd, "stretch_block", columns, &rows->pages, err);
    if (code) {
        ids_stretch_rows_free(rows);
        return code;
    }
    *ret_rows = rows;
    return 0;
}

int ids_stretch_rows_begin_run(struct ids_stretch_rows *rows, int64_t first_culprit, const uint64_t *stretches,
                               size_t culprits, struct ids_error *err) {
    uint64_t all = 0;
    rows->culprits = calloc(culprits + 1, sizeof *rows->culprits);
    if (!rows->culprits) return ids_no_memory(err);
    rows->first_culprit = first_culprit;
    rows->culprit_count = culprits;
    for (size_t c = 0; c < culprits; c++) all += stretches[c];
    for (size_t c = 0; c < culprits; c++) rows->culprits[c].is_common = stretches[c] > all / COMMON_SHARE;
    return 0;
}

/* A number of one byte where many stretches have it, or all kinds may have one. */
static int64_t next_kind(struct ids_stretch_rows *rows, const struct culprit *culprit) {
    const int is_short = rows->culprit_count <= SHORT_MOST / 2 || !culprit || culprit->is_common;
    return is_short && rows->kind < SHORT_MOST ? ++rows->kind : ++rows->rare_kind;
}

static int add_kind(struct ids_stretch_rows *rows, const struct ids_stretch *stretch, int64_t kind,
                    struct ids_error *err) {
    sqlite3_stmt *insert = NULL;
    if (sqlite3_prepare_v2(rows->db, "INSERT INTO stretch_kind VALUES (?,?,?,?)", -1, &insert, NULL) != SQLITE_OK)
        return ids_db_fail(rows->db, err);
    sqlite3_bind_int64(insert, 1, kind);
    sqlite3_bind_int64(insert, 2, stretch->culprit);
    sqlite3_bind_int(insert, 3, stretch->known);
    sqlite3_bind_int(insert, 4, stretch->state);
    sqlite3_step(insert);
    return sqlite3_finalize(insert) == SQLITE_OK ? 0 : ids_db_fail(rows->db, err);
}

static int find_kind(struct ids_stretch_rows *rows, const struct ids_stretch *stretch, int64_t *ret_kind,
                     struct ids_error *err) {
    const size_t place = (size_t)(stretch->culprit - rows->first_culprit);
    struct culprit *culprit = place < rows->culprit_count ? &rows->culprits[place] : NULL;
    const uint32_t what = (uint32_t)stretch->state << 8 | stretch->known;
    if (culprit && culprit->kind && culprit->what == what) {
        *ret_kind = culprit->kind;
        return 0;
    }
    uint64_t *kind = ids_keymap_at(&rows->kinds, ids_key_of((uint64_t)stretch->culprit, what));
    if (!kind) return ids_no_memory(err);
    if (!*kind) {
        const int64_t number = next_kind(rows, culprit);
        int code = add_kind(rows, stretch, number, err);
        if (code) return code;
        *kind = (uint64_t)number;
    }
    *ret_kind = (int64_t)*kind;
    if (culprit) *culprit = (struct culprit){*ret_kind, what, culprit->is_common};
    return 0;
}

/* What is common to all ends, so that they take fewer bytes. */
static int64_t unit_of(const struct ids_stretch_rows *rows) {
    for (unsigned i = 0; i < rows->count; i++) {
        if (rows->ends_ps[i] % LONG_UNIT_PS) return 1;
    }
    return LONG_UNIT_PS;
}

static int end_block(struct ids_stretch_rows *rows, struct ids_error *err) {
    if (!rows->count) return 0;
    int64_t values[COLUMNS], unit_ps = unit_of(rows), event = 0;
    uint64_t nulls = 0;
    for (unsigned i = 0; i < PLACES; i++) {
        int has_event = i < rows->count && rows->event_of[i];
        if (has_event && !event) event = rows->event_of[i];
        values[ENDS + i] = i < rows->count ? rows->ends_ps[i] / unit_ps : 0;
        values[KINDS + i] = i < rows->count ? rows->kind_of[i] : 0;
        values[EVENTS + i] = has_event ? rows->event_of[i] - event : 0;
        if (i >= rows->count) nulls |= (uint64_t)1 << (ENDS + i) | (uint64_t)1 << (KINDS + i);
        if (!has_event) nulls |= (uint64_t)1 << (EVENTS + i);
    }
    values[DEVICE] = rows->first.device;
    values[STEP] = rows->first.step;
    values[START] = rows->first.from_ps;
    values[UNIT] = unit_ps;
    values[EVENT] = event;
    nulls |= (uint64_t)!rows->first.step << STEP | (uint64_t)!event << EVENT;
    rows->count = 0;
    return ids_row_pages_put(rows->pages, rows->first.id, &(struct ids_row_values){values, COLUMNS, nulls, 0}, err);
}

int ids_stretch_rows_put(struct ids_stretch_rows *rows, const struct ids_stretch *stretch, struct ids_error *err) {
    const struct ids_stretch *first = &rows->first;
    int64_t kind = 0;
    int code = find_kind(rows, stretch, &kind, err);
    int goes_on = rows->count < PLACES && stretch->device == first->device && stretch->step == first->step &&
                  stretch->from_ps == rows->last.to_ps;
    if (!code && !goes_on) code = end_block(rows, err);
    if (code) return code;
    if (!rows->count) rows->first = *stretch;
    rows->ends_ps[rows->count] = stretch->to_ps - rows->first.from_ps;
    rows->kind_of[rows->count] = kind;
    rows->event_of[rows->count++] = stretch->event;
    rows->last = *stretch;
    return 0;
}

int ids_stretch_rows_end_run(struct ids_stretch_rows *rows, struct ids_error *err) {
    ids_keymap_done(&rows->kinds);
    free(rows->culprits);
    rows->culprits = NULL;
    rows->culprit_count = 0;
    return end_block(rows, err);
}

int ids_stretch_rows_show(struct ids_stretch_rows *rows, struct ids_error *err) {
    return ids_row_pages_show(rows->pages, err);
}

void ids_stretch_rows_free(struct ids_stretch_rows *rows) {
    if (!rows) return;
    ids_row_pages_free(rows->pages);
    ids_keymap_done(&rows->kinds);
    free(rows->culprits);
    free(rows);
}
