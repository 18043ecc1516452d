#include "cmd/view_events.h"

#include "lib/base/keymap.h"
#include "lib/base/saturate.h"
#include "lib/base/vec.h"
#include "lib/model/account.h"
#include "lib/wire/json_writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const ids_view_event_keys[] = {"from", "to", "tracks", NULL};

/* The columns of a lane. */
struct lane {
    int64_t *gap, *time, *what, end_ps;
    size_t count, gap_room, time_room, what_room;
};

/* The rows of a track that are asked for. */
struct stretch {
    int64_t track, shift_ps, first, last; /* the events that begin there: first to last - 1 */
};

struct what {
    char *name, *path;
    int account; /* -1: not known */
};

struct answer {
    struct ids_query *query;
    int64_t from_ps, to_ps;
    struct stretch stretches[IDS_VIEW_TRACKS_MOST];
    int stretch_count;
    struct lane lanes[IDS_VIEW_LANES_MOST];
    struct what *whats;
    size_t what_count, what_room;
    struct ids_keymap what_numbers; /* (name, class of activity) -> index + 1 */
    struct ids_json json;
    int64_t deeper;
};

/* ---- what is asked ---- */

static int parse_tracks(const char *text, struct answer *answer) {
    for (char *end; *text; text = *end == ',' ? end + 1 : end) {
        long long track = strtoll(text, &end, 10);
        if (end == text || (*end && *end != ',') || track <= 0 || answer->stretch_count == IDS_VIEW_TRACKS_MOST)
            return -1;
        answer->stretches[answer->stretch_count++] = (struct stretch){.track = track};
    }
    return answer->stretch_count ? 0 : -1;
}

static int parse_moment(const char *text, int64_t *ret_ps) {
    char *end;
    *ret_ps = text ? strtoll(text, &end, 10) : 0;
    return text && end != text && !*end ? 0 : -1;
}

/* ---- which events ---- */

/* Runs a statement; 1 when it gave a row. */
static int ask(struct ids_query *query, char *sql, struct ids_error *err) {
    int code = ids_query_prepare(query, sql, err);
    return code ? code : ids_query_next(query, err);
}

/* The first event of the track that begins at the moment or later: events of a track are in order of time. */
static int find_first(struct answer *answer, const struct stretch *stretch, int64_t when_ps, int64_t *ret_event,
                      struct ids_error *err) {
    char sql[512];
    snprintf(sql, sizeof sql,
             "WITH RECURSIVE b(low, high) AS (SELECT %" PRId64 ", %" PRId64
             " UNION ALL SELECT iif(m.start_ps < %" PRId64 ", m.id + 1, b.low), iif(m.start_ps < %" PRId64
             ", b.high, m.id) FROM b JOIN event m ON m.id = (b.low + b.high) / 2 WHERE b.low < b.high) "
             "SELECT low FROM b WHERE low >= high",
             stretch->first, stretch->last, ids_sat_sub(when_ps, stretch->shift_ps),
             ids_sat_sub(when_ps, stretch->shift_ps));
    int code = ask(answer->query, sql, err);
    if (code != 1) return code < 0 ? code : ids_fail(err, IDS_CORRUPT, "the events are not in order");
    *ret_event = ids_query_cell(answer->query, 0).i;
    return 0;
}

static int find_stretch(struct answer *answer, struct stretch *stretch, struct ids_error *err) {
    char sql[256];
    snprintf(sql, sizeof sql,
             "SELECT t.first_event, t.last_event + 1, h.shift_ps FROM track t JOIN plane p ON p.id = t.plane "
             "JOIN host h ON h.id = p.host WHERE t.id = %" PRId64,
             stretch->track);
    int code = ask(answer->query, sql, err);
    if (code < 0) return code;
    if (!code || ids_query_cell(answer->query, 0).type != IDS_CELL_INT) return 0;
    stretch->first = ids_query_cell(answer->query, 0).i;
    stretch->last = ids_query_cell(answer->query, 1).i;
    stretch->shift_ps = ids_query_cell(answer->query, 2).i;
    struct stretch whole = *stretch;
    code = find_first(answer, &whole, answer->from_ps, &stretch->first, err);
    return code ? code : find_first(answer, &whole, answer->to_ps, &stretch->last, err);
}

/* ---- what they are ---- */

static int account_of(const char *class, const char *direction) {
    static const char *const directions[] = {"H2D", "D2H", "D2D", "P2P", "memset"};
    static const enum ids_account of_copy[] = {IDS_COPY_H2D, IDS_COPY_D2H, IDS_COPY_D2D, IDS_COPY_P2P, IDS_COPY_SET};
    if (!class) return -1;
    if (!strcmp(class, "collective")) return IDS_COMM_TRANSFER;
    if (!strcmp(class, "stalled")) return IDS_STALL_DEVICE;
    if (strcmp(class, "copy") != 0) return IDS_WORK_COMPUTE;
    for (size_t i = 0; direction && i < sizeof directions / sizeof *directions; i++) {
        if (!strcmp(direction, directions[i])) return (int)of_copy[i];
    }
    return IDS_COPY_OTHER;
}

static char *copy_of(struct ids_cell cell) {
    enum { LONGEST = 600 };
    return strndup(cell.type == IDS_CELL_TEXT ? cell.bytes : "", cell.length < LONGEST ? cell.length : LONGEST);
}

static int64_t what_of(struct answer *answer) {
    struct ids_query *query = answer->query;
    struct ids_cell name = ids_query_cell(query, 2), class = ids_query_cell(query, 4);
    uint64_t *number = ids_keymap_at(&answer->what_numbers,
                                     ids_key_of((uint64_t)name.i, class.type == IDS_CELL_INT ? (uint64_t) class.i : 0));
    if (!number) return -1;
    if (!*number) {
        struct ids_cell kind = ids_query_cell(query, 5), direction = ids_query_cell(query, 6);
        struct what *fresh = IDS_PUSH(answer->whats, answer->what_count, answer->what_room);
        if (!fresh) return -1;
        *fresh = (struct what){copy_of(ids_query_cell(query, 3)), copy_of(ids_query_cell(query, 7)),
                               account_of(kind.type == IDS_CELL_TEXT ? kind.bytes : NULL,
                                          direction.type == IDS_CELL_TEXT ? direction.bytes : NULL)};
        *number = answer->what_count;
        if (!fresh->name || !fresh->path) return -1;
    }
    return (int64_t)*number - 1;
}

/* ---- lanes ---- */

/* Into the first lane that is free: what lies in another event comes below it. */
static int put_event(struct answer *answer, int64_t start_ps, int64_t end_ps, int64_t what) {
    for (int i = 0; i < IDS_VIEW_LANES_MOST; i++) {
        struct lane *lane = &answer->lanes[i];
        if (lane->count && lane->end_ps > start_ps) continue;
        size_t gaps = lane->count, times = gaps;
        int64_t *gap = IDS_PUSH(lane->gap, gaps, lane->gap_room), *time = IDS_PUSH(lane->time, times, lane->time_room),
                *place = gap && time ? IDS_PUSH(lane->what, lane->count, lane->what_room) : NULL;
        if (!place) return -1;
        *gap = ids_sat_sub(start_ps, gaps > 1 ? lane->end_ps : 0);
        *time = ids_sat_sub(end_ps, start_ps);
        *place = what;
        lane->end_ps = end_ps;
        return 0;
    }
    answer->deeper++;
    return 0;
}

static void write_lanes(struct answer *answer, int64_t track) {
    struct ids_json *json = &answer->json;
    ids_json_object(json, IDS_JSON_INLINE);
    ids_json_key(json, "track");
    ids_json_int(json, track);
    ids_json_key(json, "deeper");
    ids_json_int(json, answer->deeper);
    ids_json_key(json, "lanes");
    ids_json_array(json, IDS_JSON_INLINE);
    for (int i = 0; i < IDS_VIEW_LANES_MOST && answer->lanes[i].count; i++) {
        struct lane *lane = &answer->lanes[i];
        ids_json_object(json, IDS_JSON_INLINE);
        ids_json_key(json, "gap");
        ids_json_ints(json, lane->gap, lane->count);
        ids_json_key(json, "time");
        ids_json_ints(json, lane->time, lane->count);
        ids_json_key(json, "what");
        ids_json_ints(json, lane->what, lane->count);
        ids_json_end(json);
        lane->count = 0;
    }
    ids_json_end(json);
    ids_json_end(json);
    answer->deeper = 0;
}

/* Those that begin in the stretch, and those around its first one that began before. */
static int write_stretch(struct answer *answer, const struct stretch *stretch, struct ids_error *err) {
    char sql[1200];
    snprintf(sql, sizeof sql,
             "WITH RECURSIVE up(id, parent) AS (SELECT id, parent FROM event WHERE id = %" PRId64
             " AND track = %" PRId64 " UNION ALL SELECT e.id, e.parent FROM up JOIN event e ON e.id = up.parent), "
             "there(id) AS (SELECT up.id FROM up JOIN event e ON e.id = up.id WHERE e.start_ps + e.dur_ps > %" PRId64
             " UNION ALL SELECT id FROM event WHERE id >= %" PRId64 " AND id < %" PRId64
             ") SELECT e.start_ps, e.dur_ps, n.id, coalesce(n.display, n.text), c.id, c.class, c.direction, o.op_name "
             "FROM there JOIN event e ON e.id = there.id JOIN name n ON n.id = e.name LEFT JOIN activity a ON a.event "
             "= e.id LEFT JOIN activity_class c ON c.id = a.class LEFT JOIN op o ON o.id = c.op WHERE coalesce(e.form, "
             "1) = 1 ORDER BY e.id",
             stretch->first - 1, stretch->track, ids_sat_sub(answer->from_ps, stretch->shift_ps), stretch->first,
             stretch->last);
    int code = ask(answer->query, sql, err);
    for (; code == 1; code = ids_query_next(answer->query, err)) {
        int64_t start_ps = ids_sat_add(ids_query_cell(answer->query, 0).i, stretch->shift_ps);
        int64_t time_ps = ids_query_cell(answer->query, 1).i, what = what_of(answer);
        if (what < 0 || put_event(answer, start_ps, ids_sat_add(start_ps, time_ps > 0 ? time_ps : 0), what))
            return ids_no_memory(err);
    }
    if (code < 0) return code;
    write_lanes(answer, stretch->track);
    return 0;
}

static void write_whats(struct answer *answer) {
    struct ids_json *json = &answer->json;
    ids_json_key(json, "name");
    ids_json_array(json, IDS_JSON_INLINE);
    for (size_t w = 0; w < answer->what_count; w++) ids_json_text(json, answer->whats[w].name);
    ids_json_end(json);
    ids_json_key(json, "path");
    ids_json_array(json, IDS_JSON_INLINE);
    for (size_t w = 0; w < answer->what_count; w++) ids_json_text(json, answer->whats[w].path);
    ids_json_end(json);
    ids_json_key(json, "account");
    ids_json_array(json, IDS_JSON_INLINE);
    for (size_t w = 0; w < answer->what_count; w++) {
        if (answer->whats[w].account < 0)
            ids_json_null(json);
        else
            ids_json_text(json, ids_account_id((enum ids_account)answer->whats[w].account));
    }
    ids_json_end(json);
}

static int write_answer(struct answer *answer, struct ids_error *err) {
    int64_t events = 0;
    struct ids_json *json = &answer->json;
    for (int i = 0; i < answer->stretch_count; i++) {
        int code = find_stretch(answer, &answer->stretches[i], err);
        if (code) return code;
        events += answer->stretches[i].last - answer->stretches[i].first;
    }
    ids_json_object(json, IDS_JSON_BROKEN);
    if (events > IDS_VIEW_EVENTS_MOST) {
        ids_json_key(json, "too_many");
        ids_json_int(json, events);
        ids_json_end(json);
        return 0;
    }
    ids_json_key(json, "rows");
    ids_json_array(json, IDS_JSON_BROKEN);
    for (int i = 0; i < answer->stretch_count; i++) {
        int code = write_stretch(answer, &answer->stretches[i], err);
        if (code) return code;
    }
    ids_json_end(json);
    write_whats(answer);
    ids_json_end(json);
    return 0;
}

static void answer_done(struct answer *answer) {
    for (int i = 0; i < IDS_VIEW_LANES_MOST; i++) {
        free(answer->lanes[i].gap);
        free(answer->lanes[i].time);
        free(answer->lanes[i].what);
    }
    for (size_t w = 0; w < answer->what_count; w++) {
        free(answer->whats[w].name);
        free(answer->whats[w].path);
    }
    free(answer->whats);
    ids_keymap_done(&answer->what_numbers);
    free(answer);
}

char *ids_view_events(void *query, const char *const *values, size_t *ret_length) {
    struct ids_error err = IDS_ERROR_INIT;
    char *text = NULL;
    struct answer *answer = calloc(1, sizeof *answer);
    FILE *out = answer ? open_memstream(&text, ret_length) : NULL;
    int failed = !out;
    if (out && !values[0] && !values[1] && !values[2]) {
        fputs("{}\n", out); /* whether somebody is there */
    } else if (out) {
        answer->query = query;
        answer->json = ids_json_to(out);
        failed = parse_moment(values[0], &answer->from_ps) || parse_moment(values[1], &answer->to_ps) || !values[2] ||
                 parse_tracks(values[2], answer) || write_answer(answer, &err);
    }
    if (out && (ferror(out) | fclose(out))) failed = 1;
    if (answer) answer_done(answer);
    if (!failed) return text;
    free(text);
    return NULL;
}
