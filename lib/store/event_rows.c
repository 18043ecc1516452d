#include "lib/store/event_rows.h"

#include "lib/base/run_merge.h"
#include "lib/base/saturate.h"
#include "lib/base/vec.h"
#include "lib/model/keys.h"
#include "lib/store/db.h"
#include "lib/store/event_parts.h"
#include "lib/store/events.sql.h"

#include <stdlib.h>
#include <string.h>

enum {
    ASIDE_BYTES = 64 << 20,
    DEPTH_MOST = 1 << 20, /* of events that are open at once; deeper ones are siblings */
};

struct host {
    int64_t id, shift_ps;
};

struct plane {
    uint32_t name;
    int is_device;
};

struct open_row {
    int64_t end_ps, children_ps;
    uint32_t row; /* index + 1 */
};

/* A track's events, until it ends. */
struct track {
    struct ids_row *rows;
    struct ids_row_rare *rare;
    size_t count, room, rare_count, rare_room;
    int64_t id; /* of the table */
    uint32_t plane;
    int unsorted;
};

/* What an event takes: a row of flow, once all events that hand on are known. */
struct taken {
    uint64_t key;
    int64_t event;
    uint8_t kind;
};

enum flow_kind { FLOW_ARROW, FLOW_CORRELATION, FLOW_LINK };

struct ids_event_rows {
    struct ids_sink sink; /* first, so that the sink is the builder */
    sqlite3 *db;
    struct ids_row_numbers *numbers;
    struct ids_event_stats *stats;
    struct ids_aside *aside;
    int64_t first_plane, first_track, first_name;
    int64_t host, origin_unix_ns;
    struct plane *planes;
    size_t plane_count, plane_room;
    struct track *tracks;
    size_t track_count, track_room;
    size_t waiting;
    struct ids_row *spare; /* for sorting */
    size_t spare_room;
    struct open_row *stack;
    size_t depth, stack_room;
    struct ids_batch batch;
    struct ids_keymap given; /* what events hand on: key -> event.id */
    struct taken *taken;
    size_t taken_count, taken_room;
    sqlite3_stmt *insert_host, *insert_plane, *insert_track, *insert_name, *insert_batch, *insert_name_stat,
        *insert_plane_stat, *end_track;
};

static struct ids_event_rows *of(struct ids_sink *sink) {
    return (struct ids_event_rows *)sink;
}

static int step(struct ids_event_rows *rows, sqlite3_stmt *statement, struct ids_error *err) {
    sqlite3_step(statement);
    return sqlite3_reset(statement) == SQLITE_OK ? 0 : ids_db_fail(rows->db, err);
}

static void bind_name(const struct ids_event_rows *rows, sqlite3_stmt *statement, int column, uint32_t text) {
    struct ids_text name = ids_strings_text(rows->sink.strings, text);
    ids_bind_text(statement, column, name.at, name.length);
}

/* ---- dimensions ---- */

static int put_host(struct ids_sink *sink, const struct ids_host_info *info, struct ids_error *err) {
    struct ids_event_rows *rows = of(sink);
    int64_t shift_ns, shift_ps = 0;
    /* As the trace builder does: the time 0 of the run is that of the first host whose clock is known. */
    if (info->start_unix_ns && !rows->origin_unix_ns) rows->origin_unix_ns = info->start_unix_ns;
    if (info->start_unix_ns && !__builtin_sub_overflow(info->start_unix_ns, rows->origin_unix_ns, &shift_ns)) {
        if (__builtin_mul_overflow(shift_ns, (int64_t)1000, &shift_ps)) shift_ps = 0;
    }
    rows->host = ++rows->numbers->host;
    sqlite3_stmt *insert = rows->insert_host;
    sqlite3_bind_int64(insert, 1, rows->host);
    sqlite3_bind_int64(insert, 2, rows->numbers->run);
    sqlite3_bind_null(insert, 3);
    if (info->name) bind_name(rows, insert, 3, info->name);
    sqlite3_bind_int64(insert, 4, info->base_ns);
    sqlite3_bind_null(insert, 5);
    if (info->start_unix_ns) sqlite3_bind_int64(insert, 5, info->start_unix_ns);
    sqlite3_bind_int64(insert, 6, shift_ps);
    return step(rows, insert, err);
}

static int put_plane(struct ids_sink *sink, const struct ids_plane_info *info, uint32_t *ret_plane,
                     struct ids_error *err) {
    struct ids_event_rows *rows = of(sink);
    *ret_plane = (uint32_t)rows->plane_count;
    struct plane *plane = IDS_PUSH(rows->planes, rows->plane_count, rows->plane_room);
    if (!plane) return ids_no_memory(err);
    struct ids_text name = ids_strings_text(rows->sink.strings, info->name);
    *plane = (struct plane){info->name, name.length >= 8 && !memcmp(name.at, "/device:", 8)};
    int64_t id = ++rows->numbers->plane;
    sqlite3_bind_int64(rows->insert_plane, 1, id);
    sqlite3_bind_int64(rows->insert_plane, 2, rows->host);
    bind_name(rows, rows->insert_plane, 3, info->name);
    int code = step(rows, rows->insert_plane, err);
    return code ? code
                : ids_event_stats_put(rows->stats, rows->insert_plane_stat, id, info->args, info->arg_count, err);
}

static int put_name(struct ids_sink *sink, const struct ids_name_info *info, uint32_t *ret_name,
                    struct ids_error *err) {
    struct ids_event_rows *rows = of(sink);
    int64_t id = ++rows->numbers->name;
    *ret_name = (uint32_t)(id - rows->first_name);
    sqlite3_bind_int64(rows->insert_name, 1, id);
    sqlite3_bind_int64(rows->insert_name, 2, rows->first_plane + info->plane);
    bind_name(rows, rows->insert_name, 3, info->text);
    sqlite3_bind_null(rows->insert_name, 4);
    if (info->display) bind_name(rows, rows->insert_name, 4, info->display);
    sqlite3_bind_int64(rows->insert_name, 5, info->id);
    int code = step(rows, rows->insert_name, err);
    return code ? code : ids_event_stats_put(rows->stats, rows->insert_name_stat, id, info->args, info->arg_count, err);
}

static int put_track(struct ids_sink *sink, const struct ids_track_info *info, uint32_t *ret_track,
                     struct ids_error *err) {
    struct ids_event_rows *rows = of(sink);
    *ret_track = (uint32_t)rows->track_count;
    struct track *track = IDS_PUSH(rows->tracks, rows->track_count, rows->track_room);
    if (!track) return ids_no_memory(err);
    *track = (struct track){.id = ++rows->numbers->track, .plane = info->plane};
    sqlite3_bind_int64(rows->insert_track, 1, track->id);
    sqlite3_bind_int64(rows->insert_track, 2, rows->first_plane + info->plane);
    bind_name(rows, rows->insert_track, 3, info->name);
    sqlite3_bind_int64(rows->insert_track, 4, info->id);
    sqlite3_bind_int64(rows->insert_track, 5, info->origin_ps);
    return step(rows, rows->insert_track, err);
}

/* ---- events ---- */

static uint64_t arg_hash(const struct ids_event_rows *rows, const struct ids_arg *arg) {
    struct ids_text text;
    switch (arg->type) {
    case IDS_VALUE_TEXT:
        text = ids_strings_text(rows->sink.strings, arg->text);
        return ids_hash_bytes(text.at, text.length);
    case IDS_VALUE_CHARS:
    case IDS_VALUE_BYTES:
        return ids_hash_bytes(arg->chars, arg->length);
    default:
        return arg->u;
    }
}

static uint64_t flow_key(const struct ids_event_rows *rows, enum flow_kind kind, uint64_t type, uint64_t id) {
    return ids_key_of(ids_key_of((uint64_t)kind << 32 | type, (uint64_t)rows->host), id);
}

/* The links that an event's stats say. A launch has the correlation id on the host, what it launched on the device. */
static void find_links(const struct ids_event_rows *rows, const struct ids_slice *slice, struct ids_row_rare *rare) {
    uint64_t producer_type = 0, consumer_type = 0, arrow = 0;
    for (uint32_t i = 0; i < slice->arg_count; i++) {
        const struct ids_arg *arg = &slice->args[i];
        if (arg->key == IDS_KEY_PRODUCER_TYPE) producer_type = arg->u;
        if (arg->key == IDS_KEY_CONSUMER_TYPE) consumer_type = arg->u;
        if (slice->form < IDS_FORM_FLOW_OUT) continue;
        struct ids_text key = ids_strings_text(rows->sink.strings, arg->key);
        if (key.length == 2 && !memcmp(key.at, "id", 2)) arrow = flow_key(rows, FLOW_ARROW, 0, arg_hash(rows, arg));
    }
    if (rare->has >> IDS_COLUMN_PRODUCER & 1)
        rare->produces = flow_key(rows, FLOW_LINK, producer_type, (uint64_t)rare->columns[IDS_COLUMN_PRODUCER]);
    if (rare->has >> IDS_COLUMN_CONSUMER & 1)
        rare->consumes = flow_key(rows, FLOW_LINK, consumer_type, (uint64_t)rare->columns[IDS_COLUMN_CONSUMER]);
    if (slice->form == IDS_FORM_FLOW_OUT) rare->produces = arrow;
    if (slice->form == IDS_FORM_FLOW_IN) rare->consumes = arrow;
}

static int keep_slice(struct ids_sink *sink, uint32_t track_id, const struct ids_slice *slice, struct ids_error *err) {
    struct ids_event_rows *rows = of(sink);
    struct track *track = &rows->tracks[track_id];
    if (track->count >= UINT32_MAX - 1) return ids_fail(err, IDS_LIMIT, "more than four billion events on one track");
    struct ids_row *row = IDS_PUSH(track->rows, track->count, track->room);
    if (!row) return ids_no_memory(err);
    *row = (struct ids_row){
        .start_ps = slice->start_ps, .duration_ps = slice->duration_ps, .name = slice->name, .form = slice->form};
    rows->waiting++;
    if (track->count > 1) {
        const struct ids_row *before = row - 1;
        track->unsorted |= before->start_ps > row->start_ps ||
                           (before->start_ps == row->start_ps && before->duration_ps < row->duration_ps);
    }
    if (!slice->arg_count) return 0;
    struct ids_row_rare rare;
    int has_rare;
    int code = ids_event_stats_take(rows->stats, slice, &row->set, &rare, &has_rare, err);
    if (code) return code;
    find_links(rows, slice, &rare);
    if (!has_rare && !rare.produces && !rare.consumes) return 0;
    struct ids_row_rare *kept = IDS_PUSH(track->rare, track->rare_count, track->rare_room);
    if (!kept) return ids_no_memory(err);
    *kept = rare;
    row->rare = (uint32_t)track->rare_count;
    return 0;
}

static int row_before(const struct ids_row *a, const struct ids_row *b) {
    return a->start_ps != b->start_ps ? a->start_ps < b->start_ps : a->duration_ps > b->duration_ps;
}

IDS_DEFINE_RUN_MERGE(merge_rows, struct ids_row, row_before)

static int sort_track(struct ids_event_rows *rows, struct track *track, struct ids_error *err) {
    if (rows->spare_room < track->room) {
        free(rows->spare);
        rows->spare = malloc(track->room * sizeof *rows->spare);
        rows->spare_room = rows->spare ? track->room : 0;
        if (!rows->spare) return ids_no_memory(err);
    }
    struct ids_row *before = track->rows;
    merge_rows(&track->rows, &rows->spare, track->count);
    if (track->rows != before) { /* the buffers changed places */
        size_t room = track->room;
        track->room = rows->spare_room;
        rows->spare_room = room;
    }
    return 0;
}

/* An event is over. */
static void close_row(struct track *track, const struct open_row *open) {
    struct ids_row *row = &track->rows[open->row - 1];
    row->self_ps = row->duration_ps - open->children_ps;
    if (row->self_ps < 0) row->self_ps = 0; /* children that overlap each other on lanes */
}

/* Parent, depth and self time: the rule of the trace builder (assemble.c). A child lies wholly inside its parent; an event that only
 * overlaps the open one is its sibling. Counters and arrows lie in an event, and nothing lies in them. */
static int nest_track(struct ids_event_rows *rows, struct track *track, struct ids_error *err) {
    rows->depth = 0;
    for (size_t i = 0; i < track->count; i++) {
        struct ids_row *row = &track->rows[i];
        int64_t end_ps = row->start_ps;
        ids_sum(&end_ps, row->duration_ps > 0 ? row->duration_ps : 0);
        row->self_ps = row->duration_ps;
        while (rows->depth) {
            const struct open_row *open = &rows->stack[rows->depth - 1];
            if (end_ps <= open->end_ps && (row->start_ps < open->end_ps || row->start_ps == end_ps)) break;
            close_row(track, open);
            rows->depth--;
        }
        struct open_row *parent = rows->depth ? &rows->stack[rows->depth - 1] : NULL;
        row->parent = parent ? parent->row : 0;
        row->depth = (uint32_t)rows->depth;
        if (row->form != IDS_FORM_SLICE || rows->depth >= DEPTH_MOST || row->duration_ps < 0) continue;
        if (parent) ids_sum(&parent->children_ps, row->duration_ps);
        struct open_row *open = IDS_PUSH(rows->stack, rows->depth, rows->stack_room);
        if (!open) return ids_no_memory(err);
        *open = (struct open_row){.end_ps = end_ps, .row = (uint32_t)i + 1};
    }
    for (; rows->depth; rows->depth--) close_row(track, &rows->stack[rows->depth - 1]);
    return 0;
}

static int add_taken(struct ids_event_rows *rows, uint64_t key, int64_t event, enum flow_kind kind,
                     struct ids_error *err) {
    struct taken *taken = IDS_PUSH(rows->taken, rows->taken_count, rows->taken_room);
    if (!taken) return ids_no_memory(err);
    *taken = (struct taken){key, event, (uint8_t)kind};
    return 0;
}

/* Notes what the event hands on and takes. An arrow is of the slice around it. */
static int note_links(struct ids_event_rows *rows, const struct track *track, const struct ids_row *row,
                      int64_t first_event, struct ids_error *err) {
    const struct ids_row_rare *rare = &track->rare[row->rare - 1];
    int64_t event = first_event + (row - track->rows);
    int is_arrow = row->form >= IDS_FORM_FLOW_OUT;
    if (is_arrow && row->parent) event = first_event + row->parent - 1;
    int code = 0;
    if (rare->has >> IDS_COLUMN_CORRELATION & 1 && !is_arrow && rare->columns[IDS_COLUMN_CORRELATION] != 0) {
        uint64_t key = flow_key(rows, FLOW_CORRELATION, 0, (uint64_t)rare->columns[IDS_COLUMN_CORRELATION]);
        if (rows->planes[track->plane].is_device)
            code = add_taken(rows, key, event, FLOW_CORRELATION, err);
        else if (ids_keymap_add(&rows->given, key, (uint64_t)event) < 0)
            return ids_no_memory(err);
    }
    if (rare->produces && ids_keymap_add(&rows->given, rare->produces, (uint64_t)event) < 0) return ids_no_memory(err);
    if (rare->consumes && !code) code = add_taken(rows, rare->consumes, event, is_arrow ? FLOW_ARROW : FLOW_LINK, err);
    return code;
}

static int put_rare(struct ids_event_rows *rows, const struct track *track, int64_t first_event,
                    struct ids_error *err) {
    int code = 0;
    for (size_t i = 0; i < track->count && !code; i++) {
        const struct ids_row *row = &track->rows[i];
        if (!row->rare) continue;
        const struct ids_row_rare *rare = &track->rare[row->rare - 1];
        if (rare->loose_count) code = ids_event_stats_put_loose(rows->stats, first_event + (int64_t)i, rare, err);
        if (!code) code = note_links(rows, track, row, first_event, err);
    }
    return code;
}

static int put_rows(struct ids_event_rows *rows, struct track *track, struct ids_error *err) {
    int64_t first_event = rows->numbers->event + 1;
    rows->batch.rows = track->rows;
    rows->batch.rare = track->rare;
    rows->batch.count = track->count;
    rows->batch.track = track->id;
    rows->batch.first_event = first_event;
    int code = step(rows, rows->insert_batch, err);
    if (code) return code;
    rows->numbers->event += (int64_t)track->count;
    sqlite3_bind_int64(rows->end_track, 1, first_event);
    sqlite3_bind_int64(rows->end_track, 2, rows->numbers->event);
    sqlite3_bind_int64(rows->end_track, 3, (int64_t)track->count);
    sqlite3_bind_int64(rows->end_track, 4, track->id);
    code = step(rows, rows->end_track, err);
    return code ? code : put_rare(rows, track, first_event, err);
}

/* A track that gets more events after its end would not be in order; no format does so. */
static int end_track(struct ids_sink *sink, uint32_t track_id, struct ids_error *err) {
    struct ids_event_rows *rows = of(sink);
    struct track *track = &rows->tracks[track_id];
    int code = track->unsorted ? sort_track(rows, track, err) : 0;
    if (!code) code = nest_track(rows, track, err);
    if (!code && track->count) code = put_rows(rows, track, err);
    rows->waiting -= track->count;
    free(track->rows);
    free(track->rare);
    *track = (struct track){.id = track->id, .plane = track->plane};
    if (!rows->waiting) ids_aside_clear(rows->aside);
    return code;
}

/* They are in the report, and so in the table diag. */
static int pass_diag(struct ids_sink *sink, const struct ids_diag *diag, struct ids_error *err) {
    (void)sink;
    (void)diag;
    (void)err;
    return 0;
}

/* ---- flows ---- */

static int taken_order(const void *a, const void *b) {
    const struct taken *left = a, *right = b;
    if (left->event != right->event) return left->event < right->event ? -1 : 1;
    return (int)left->kind - (int)right->kind; /* as the words are ordered */
}

static int put_flows(struct ids_event_rows *rows, struct ids_error *err) {
    static const char *const kinds[] = {"arrow", "correlation", "link"};
    sqlite3_stmt *insert = NULL;
    if (sqlite3_prepare_v2(rows->db, "INSERT OR IGNORE INTO flow VALUES (?,?,?)", -1, &insert, NULL) != SQLITE_OK)
        return ids_db_fail(rows->db, err);
    if (rows->taken_count) qsort(rows->taken, rows->taken_count, sizeof *rows->taken, taken_order);
    int code = 0;
    for (size_t i = 0; i < rows->taken_count && !code; i++) {
        uint64_t from;
        if (!ids_keymap_get(&rows->given, rows->taken[i].key, &from)) continue;
        sqlite3_bind_int64(insert, 1, rows->taken[i].event);
        sqlite3_bind_text(insert, 2, kinds[rows->taken[i].kind], -1, SQLITE_STATIC);
        sqlite3_bind_int64(insert, 3, (int64_t)from);
        code = step(rows, insert, err);
    }
    sqlite3_finalize(insert);
    return code;
}

/* ---- life ---- */

int ids_event_tables(sqlite3 *db, struct ids_error *err) {
    return ids_db_exec(db, ids_events_sql, err);
}

static int prepare_all(struct ids_event_rows *rows, struct ids_error *err) {
    const struct {
        sqlite3_stmt **statement;
        const char *sql;
    } all[] = {
        {&rows->insert_host, "INSERT INTO host VALUES (?,?,?,?,?,?)"},
        {&rows->insert_plane, "INSERT INTO plane VALUES (?,?,?)"},
        {&rows->insert_track, "INSERT INTO track VALUES (?,?,?,?,?,NULL,NULL,0)"},
        {&rows->insert_name, "INSERT INTO name VALUES (?,?,?,?,?)"},
        {&rows->insert_name_stat, "INSERT INTO name_stat VALUES (?,?,?,?)"},
        {&rows->insert_plane_stat, "INSERT INTO plane_stat VALUES (?,?,?,?)"},
        {&rows->end_track, "UPDATE track SET first_event=?, last_event=?, event_count=? WHERE id=?"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (sqlite3_prepare_v2(rows->db, all[i].sql, -1, all[i].statement, NULL) != SQLITE_OK)
            return ids_db_fail(rows->db, err);
    }
    return ids_batch_prepare(rows->db, &rows->batch, &rows->insert_batch, err);
}

int ids_event_rows_new(sqlite3 *db, struct ids_strings *strings, struct ids_row_numbers *numbers,
                       struct ids_event_rows **ret_rows, struct ids_error *err) {
    static const struct ids_sink_ops ops = {
        .host = put_host,
        .plane = put_plane,
        .name = put_name,
        .track = put_track,
        .slice = keep_slice,
        .track_end = end_track,
        .diag = pass_diag,
    };
    struct ids_event_rows *rows = calloc(1, sizeof *rows);
    if (!rows) return ids_no_memory(err);
    rows->sink = (struct ids_sink){&ops, strings, 1};
    rows->db = db;
    rows->numbers = numbers;
    rows->first_plane = numbers->plane + 1;
    rows->first_track = numbers->track + 1;
    rows->first_name = numbers->name + 1;
    rows->batch.first_name = rows->first_name;
    rows->batch.first_set = numbers->set + 1;
    int code = ids_aside_new(ASIDE_BYTES, &rows->aside, err);
    if (!code) code = ids_event_stats_new(db, strings, numbers, rows->aside, &rows->stats, err);
    if (!code) code = prepare_all(rows, err);
    if (code) {
        ids_event_rows_free(rows);
        return code;
    }
    *ret_rows = rows;
    return 0;
}

struct ids_sink *ids_event_rows_sink(struct ids_event_rows *rows) {
    return &rows->sink;
}

int ids_event_rows_finish(struct ids_event_rows *rows, struct ids_error *err) {
    int code = 0;
    for (size_t i = 0; i < rows->track_count && !code; i++) {
        if (rows->tracks[i].count) code = end_track(&rows->sink, (uint32_t)i, err);
    }
    if (!code) code = put_flows(rows, err);
    return code ? code : ids_event_stats_finish(rows->stats, err);
}

int64_t ids_event_rows_origin(const struct ids_event_rows *rows) {
    return rows->origin_unix_ns;
}

void ids_event_rows_free(struct ids_event_rows *rows) {
    if (!rows) return;
    sqlite3_stmt *const all[] = {rows->insert_host,  rows->insert_plane,     rows->insert_track,      rows->insert_name,
                                 rows->insert_batch, rows->insert_name_stat, rows->insert_plane_stat, rows->end_track};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sqlite3_finalize(all[i]);
    for (size_t i = 0; i < rows->track_count; i++) {
        free(rows->tracks[i].rows);
        free(rows->tracks[i].rare);
    }
    free(rows->tracks);
    free(rows->planes);
    free(rows->spare);
    free(rows->stack);
    free(rows->taken);
    ids_keymap_done(&rows->given);
    ids_event_stats_free(rows->stats);
    ids_aside_free(rows->aside);
    free(rows);
}
