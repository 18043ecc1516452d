#include "lib/report/html/timeline.h"

#include "lib/wire/json_writer.h"

#include <stdlib.h>

static const char *const kinds[IDS_ROW_KINDS] = {"group",    "steps",  "accounts",     "gaps",   "ops",
                                                 "programs", "thread", "compilations", "counter"};

enum {
    SHORT_RUN = 50, /* ms: the times of a shorter one are in picoseconds, else in nanoseconds */
    IN_MS = 1000000000,
};

struct writing {
    struct ids_json json;
    const struct ids_picture *picture;
    int64_t unit_ps;
    int64_t *column; /* that is being written */
    size_t room;
    int failed; /* memory ran out */
};

/* Rounded down, also before the zero. */
static int64_t units(const struct writing *writing, int64_t ps) {
    int64_t since = ps - writing->picture->zero_ps;
    return since / writing->unit_ps - (since % writing->unit_ps < 0);
}

static void write_number(struct writing *writing, const char *key, int64_t value) {
    ids_json_key(&writing->json, key);
    ids_json_int(&writing->json, value);
}

static void write_accounts(struct writing *writing) {
    struct ids_json *json = &writing->json;
    ids_json_key(json, "accounts");
    ids_json_array(json, IDS_JSON_INLINE);
    for (int a = 0; a <= IDS_ACCOUNT_COUNT; a++) ids_json_text(json, ids_account_id((enum ids_account)a));
    ids_json_end(json);
}

static void write_texts(struct writing *writing) {
    struct ids_json *json = &writing->json;
    const struct ids_strings *texts = &writing->picture->texts;
    ids_json_key(json, "texts");
    ids_json_array(json, IDS_JSON_INLINE);
    for (uint32_t i = 0; i < texts->count; i++) {
        struct ids_text text = ids_strings_text(texts, i);
        ids_json_bytes(json, text.at, text.length);
    }
    ids_json_end(json);
}

static int64_t *room_for(struct writing *writing, size_t count) {
    if (count > writing->room) {
        int64_t *column = realloc(writing->column, count * sizeof *column);
        if (!column) {
            writing->failed = 1;
            return NULL;
        }
        writing->column = column;
        writing->room = count;
    }
    return writing->column;
}

static void write_column(struct writing *writing, const char *key, size_t count) {
    ids_json_key(&writing->json, key);
    ids_json_ints(&writing->json, writing->column, writing->failed ? 0 : count);
}

static void write_whats(struct writing *writing) {
    const struct ids_picture *picture = writing->picture;
    static const char *const columns[] = {"name", "path", "source", "detail", "account"};
    ids_json_key(&writing->json, "what");
    ids_json_object(&writing->json, IDS_JSON_INLINE);
    int64_t *column = room_for(writing, picture->what_count);
    for (int c = 0; c < (int)(sizeof columns / sizeof *columns); c++) {
        for (size_t w = 0; w < picture->what_count && column; w++) {
            const struct ids_picture_what *what = &picture->whats[w];
            const uint32_t cells[] = {what->name, what->path, what->source, what->detail, what->account};
            column[w] = cells[c];
        }
        write_column(writing, columns[c], picture->what_count);
    }
    ids_json_end(&writing->json);
}

static void write_details(struct writing *writing) {
    struct ids_json *json = &writing->json;
    const struct ids_picture *picture = writing->picture;
    ids_json_key(json, "details");
    ids_json_array(json, IDS_JSON_INLINE);
    for (size_t d = 0; d < picture->detail_count; d++) {
        const struct ids_picture_detail *detail = &picture->details[d];
        ids_json_object(json, IDS_JSON_INLINE);
        write_number(writing, "from", units(writing, detail->from_ps));
        write_number(writing, "to", units(writing, detail->to_ps));
        write_number(writing, "why", detail->why);
        ids_json_key(json, "whole");
        ids_json_bool(json, !detail->least_ps);
        ids_json_end(json);
    }
    ids_json_end(json);
}

/* ---- lanes ---- */

enum column { GAP, TIME, WHAT, LAUNCH, AGO, COUNT, BUSY, LEAD, COLUMNS };

static int64_t thousandths(int64_t part_ps, const struct ids_mark *mark) {
    int64_t whole_ps = mark->end_ps - mark->start_ps;
    return whole_ps > 0 ? (int64_t)(1000.0 * (double)part_ps / (double)whole_ps + 0.5) : 1000;
}

/* What one mark has in a column, 1 and *ret_cell where it has something. `before`: where the one before ends. */
static int cell_of(const struct writing *writing, enum column column, const struct ids_mark *mark, int64_t before,
                   int64_t *ret_cell) {
    int64_t start = units(writing, mark->start_ps);
    int one = mark->count == 1;
    switch (column) {
    case GAP:
        *ret_cell = start - before;
        return 1;
    case TIME:
        *ret_cell = units(writing, mark->end_ps) - start;
        return 1;
    case WHAT:
        *ret_cell = one && mark->what ? (int64_t)mark->what - 1 : -1 - (int64_t)mark->account;
        return 1;
    case LAUNCH:
        *ret_cell = (int64_t)mark->launch - 1;
        return one;
    case AGO:
        *ret_cell = start - units(writing, mark->launch_ps);
        return one && mark->launch;
    case COUNT:
        *ret_cell = mark->count;
        return !one || !mark->what;
    case BUSY:
        *ret_cell = thousandths(mark->busy_ps, mark);
        return !one;
    case LEAD:
        *ret_cell = thousandths(mark->lead_ps, mark);
        return !one;
    case COLUMNS:
        break;
    }
    return 0;
}

static int has_launches(const struct ids_lane *lane) {
    for (size_t m = 0; m < lane->count; m++) {
        if (lane->marks[m].launch) return 1;
    }
    return 0;
}

static void write_lane(struct writing *writing, const struct ids_lane *lane) {
    static const char *const keys[COLUMNS] = {"gap", "time", "what", "launch", "ago", "count", "busy", "lead"};
    int launches = has_launches(lane);
    ids_json_object(&writing->json, IDS_JSON_INLINE);
    int64_t *column = room_for(writing, lane->count);
    for (int c = 0; c < COLUMNS; c++) {
        int64_t before = 0;
        size_t count = 0;
        if ((c == LAUNCH || c == AGO) && !launches) continue;
        for (size_t m = 0; m < lane->count && column; m++) {
            count += (size_t)cell_of(writing, (enum column)c, &lane->marks[m], before, &column[count]);
            if (c == GAP) before = units(writing, lane->marks[m].end_ps);
        }
        write_column(writing, keys[c], count);
    }
    ids_json_end(&writing->json);
}

static void write_points(struct writing *writing, const struct ids_picture_row *row) {
    struct ids_json *json = &writing->json;
    int64_t before = 0;
    int64_t *column = room_for(writing, row->point_count);
    for (size_t p = 0; p < row->point_count && column; p++) {
        int64_t at = units(writing, row->points[p].at_ps);
        column[p] = at - before;
        before = at;
    }
    write_column(writing, "at", row->point_count);
    ids_json_key(json, "value");
    ids_json_array(json, IDS_JSON_INLINE);
    for (size_t p = 0; p < row->point_count; p++) ids_json_real(json, row->points[p].value);
    ids_json_end(json);
    ids_json_key(json, "is_bytes");
    ids_json_bool(json, row->is_bytes);
}

static void write_rows(struct writing *writing) {
    struct ids_json *json = &writing->json;
    const struct ids_picture *picture = writing->picture;
    ids_json_key(json, "rows");
    ids_json_array(json, IDS_JSON_BROKEN);
    for (size_t r = 0; r < picture->row_count; r++) {
        const struct ids_picture_row *row = &picture->rows[r];
        ids_json_object(json, IDS_JSON_INLINE);
        ids_json_key(json, "kind");
        ids_json_text(json, kinds[row->kind]);
        write_number(writing, "label", row->label);
        write_number(writing, "parent", (int64_t)row->parent - 1);
        if (row->key) write_number(writing, "key", row->key);
        if (row->track) write_number(writing, "track", row->track);
        if (row->deeper) write_number(writing, "deeper", (int64_t)row->deeper);
        if (row->kind == IDS_ROW_COUNTER) write_points(writing, row);
        ids_json_key(json, "lanes");
        ids_json_array(json, IDS_JSON_INLINE);
        for (uint32_t i = 0; i < row->lane_count; i++) {
            if (row->lanes[i].count) write_lane(writing, &row->lanes[i]);
        }
        ids_json_end(json);
        ids_json_end(json);
    }
    ids_json_end(json);
}

int ids_timeline_write(void *own, FILE *out, struct ids_error *err) {
    const struct ids_timeline_page *page = own;
    const struct ids_picture *picture = page->picture;
    struct writing writing = {.json = ids_json_to(out), .picture = picture, .unit_ps = 1000};
    struct ids_json *json = &writing.json;
    ids_json_object(json, IDS_JSON_BROKEN);
    if (page->missing || picture->end_ps <= picture->start_ps) {
        ids_json_key(json, "missing");
        ids_json_text(json, page->missing ? page->missing : "the profile has no event of a device");
        ids_json_end(json);
        return 0;
    }
    if (picture->end_ps - picture->start_ps < (int64_t)SHORT_RUN * IN_MS) writing.unit_ps = 1;
    write_number(&writing, "unit_ps", writing.unit_ps);
    write_number(&writing, "from", units(&writing, picture->start_ps));
    write_number(&writing, "to", units(&writing, picture->end_ps));
    write_number(&writing, "zero_ps", picture->zero_ps);
    write_number(&writing, "least", picture->least_ps / writing.unit_ps);
    write_number(&writing, "events", (int64_t)picture->events);
    write_number(&writing, "thread_events", (int64_t)picture->thread_events);
    write_number(&writing, "marks", (int64_t)picture->mark_count);
    ids_json_key(json, "extract");
    ids_json_text(json, page->extract);
    write_accounts(&writing);
    write_texts(&writing);
    write_whats(&writing);
    write_details(&writing);
    write_rows(&writing);
    ids_json_end(json);
    free(writing.column);
    return writing.failed ? ids_no_memory(err) : 0;
}
