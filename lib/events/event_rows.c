#include "lib/events/event_rows.h"

#include "lib/base/memory.h"
#include "lib/base/vec.h"
#include "lib/events/event_parts.h"
#include "lib/events/events.sql.h"
#include "lib/events/row_pages.h"
#include "lib/model/clocks.h"
#include "lib/model/keys.h"
#include "lib/store/db.h"

#include <stdlib.h>
#include <string.h>

enum {
    EXTRA_BYTES = 32 << 20, /* of stats that no other event shares; more go into a file */
    BYTES_OF_AN_EVENT = 40, /* in a profile, about */
};

struct host {
    int64_t id, shift_ps;
};

struct plane {
    uint32_t name;
    int is_device;
};

struct track {
    struct ids_track_rows rows;
    int64_t id; /* of the table */
    uint32_t plane;
    size_t likely_rows; /* 0: unknown, or more than there may be in memory */
};

struct ids_event_rows {
    struct ids_sink sink; /* first, so that the sink is the builder */
    sqlite3 *db;
    struct ids_row_numbers *numbers;
    struct ids_event_pages pages;
    struct ids_event_stats *stats;
    struct ids_event_flows *flows;
    struct ids_spill *extra;
    int64_t first_plane, first_name, first_set, first_event; /* what is added to numbers of the run */
    int64_t host, origin_unix_ns;
    struct plane *planes;
    size_t plane_count, plane_room;
    struct track *tracks;
    size_t track_count, track_room;
    size_t waiting_tracks;  /* that have events */
    size_t held, held_most; /* bytes of waiting events in memory */
    struct ids_row_sorter sorter;
    sqlite3_stmt *insert_host, *insert_plane, *insert_track, *insert_name, *insert_name_stat, *insert_plane_stat,
        *end_track;
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
    /* As the trace builder does: the time 0 of the run is that of the first host whose clock is known. What matching
     * the hosts adds is put in afterwards (ids_findings_put). */
    if (info->start_unix_ns && !rows->origin_unix_ns) rows->origin_unix_ns = info->start_unix_ns;
    int64_t shift_ps = ids_clock_recorded_shift(info->start_unix_ns, rows->origin_unix_ns);
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
    const uint64_t likely = info->bytes / BYTES_OF_AN_EVENT;
    if (likely < rows->held_most / 2 / sizeof(struct ids_row)) track->likely_rows = (size_t)likely;
    sqlite3_bind_int64(rows->insert_track, 1, track->id);
    sqlite3_bind_int64(rows->insert_track, 2, rows->first_plane + info->plane);
    bind_name(rows, rows->insert_track, 3, info->name);
    sqlite3_bind_int64(rows->insert_track, 4, info->id);
    sqlite3_bind_int64(rows->insert_track, 5, info->origin_ps);
    return step(rows, rows->insert_track, err);
}

/* ---- events ---- */

/* What the columns do not hold of the links that an event's stats say. */
static void find_links(const struct ids_event_rows *rows, const struct ids_slice *slice, struct ids_row_rare *rare) {
    for (uint32_t i = 0; i < slice->arg_count; i++) {
        const struct ids_arg *arg = &slice->args[i];
        ids_link_take_type(&rare->links, arg);
        if (slice->form >= IDS_FORM_FLOW_OUT && arg->key == IDS_KEY_ARROW_ID)
            rare->arrow = ids_link_arrow(rows->sink.strings, (uint64_t)rows->host, arg);
    }
}

/* Memory is full: what the tracks that hold most have goes aside. */
static int spill(struct ids_event_rows *rows, struct ids_error *err) {
    size_t share = rows->held / rows->waiting_tracks / 2;
    int code = 0;
    for (size_t i = 0; i < rows->track_count && !code; i++) {
        struct ids_track_rows *track = &rows->tracks[i].rows;
        size_t bytes = ids_track_rows_bytes(track);
        if (!bytes || bytes < share) continue;
        code = ids_track_rows_spill(track, &rows->sorter, err);
        rows->held -= bytes;
    }
    return code;
}

static int keep_slice(struct ids_sink *sink, uint32_t track_id, const struct ids_slice *slice, struct ids_error *err) {
    struct ids_event_rows *rows = of(sink);
    struct ids_track_rows *track = &rows->tracks[track_id].rows;
    struct ids_row row = {
        .start_ps = slice->start_ps, .duration_ps = slice->duration_ps, .name = slice->name, .form = slice->form};
    struct ids_row_rare rare;
    int has_rare = 0;
    if (slice->arg_count) {
        int code = ids_event_stats_take(rows->stats, slice, &row.set, &rare, &has_rare, err);
        if (code) return code;
        find_links(rows, slice, &rare);
        has_rare |= rare.arrow != 0;
    }
    if (!ids_track_rows_count(track)) {
        rows->waiting_tracks++;
        ids_track_rows_begin(track, &rows->sorter, rows->tracks[track_id].likely_rows);
    }
    rows->held += sizeof row + (has_rare ? sizeof rare : 0);
    int code = ids_track_rows_add(track, &row, has_rare ? &rare : NULL, err);
    return !code && rows->held > rows->held_most ? spill(rows, err) : code;
}

/* ---- the end of a track ---- */

/* A track whose events are being written. */
struct writing {
    struct ids_event_rows *rows;
    const struct track *track;
    int64_t first_event;
};

static int note_end(const struct writing *writing, int64_t event, enum ids_link link, uint64_t key, int takes,
                    struct ids_error *err) {
    struct ids_event_flows *flows = writing->rows->flows;
    return takes ? ids_event_flows_take(flows, key, event, link, err) : ids_event_flows_give(flows, key, event, err);
}

/* Notes what the event hands on and takes. An arrow is of the slice around it. */
static int note_links(const struct writing *writing, int64_t event, const struct ids_row *row,
                      const struct ids_row_rare *rare, struct ids_error *err) {
    const struct ids_event_rows *rows = writing->rows;
    const uint64_t host = (uint64_t)rows->host;
    if (row->form == IDS_FORM_FLOW_OUT || row->form == IDS_FORM_FLOW_IN) {
        const int64_t around = row->parent ? writing->first_event + row->parent - 1 : event;
        return note_end(writing, around, IDS_LINK_ARROW, rare->arrow, row->form == IDS_FORM_FLOW_IN, err);
    }
    const int is_device = rows->planes[writing->track->plane].is_device;
    int code = note_end(writing, event, IDS_LINK_CORRELATION, ids_link_correlation(&rare->links, host), is_device, err);
    if (!code) code = note_end(writing, event, IDS_LINK_TYPED, ids_link_given(&rare->links, host), 0, err);
    return code ? code : note_end(writing, event, IDS_LINK_TYPED, ids_link_taken(&rare->links, host), 1, err);
}

/* The columns of table event, behind its id. */
enum {
    AT_TRACK,
    AT_START,
    AT_DURATION,
    AT_NAME,
    AT_PARENT,
    AT_DEPTH,
    AT_SELF,
    AT_FORM,
    AT_SET,
    AT_COLUMNS, /* and those of enum ids_link_stat */
    AT_END = AT_COLUMNS + IDS_LINK_STATS,
};
_Static_assert((int)AT_END <= (int)IDS_ROW_COLUMNS_MOST, "row_pages.h");
static const char event_columns[] =
    "id track start_ps dur_ps name parent depth self_ps form stat_set run_id producer_id "
    "consumer_id correlation_id";

static int put_event(void *context, uint64_t index, const struct ids_row *row, const struct ids_row_rare *rare,
                     struct ids_error *err) {
    const struct writing *writing = context;
    struct ids_event_rows *rows = writing->rows;
    int64_t event = writing->first_event + (int64_t)index;
    int64_t values[AT_END] = {
        [AT_TRACK] = writing->track->id,
        [AT_START] = row->start_ps,
        [AT_DURATION] = row->duration_ps,
        [AT_NAME] = rows->first_name + row->name,
        [AT_PARENT] = writing->first_event + row->parent - 1,
        [AT_DEPTH] = row->depth,
        [AT_SELF] = row->self_ps,
        [AT_FORM] = row->form,
        [AT_SET] = rows->first_set + row->set - 1,
    };
    uint32_t has = rare ? rare->links.has : 0;
    uint32_t nulls = (uint32_t)!row->parent << AT_PARENT | (uint32_t)(row->self_ps == row->duration_ps) << AT_SELF |
                     (uint32_t)!row->form << AT_FORM | (uint32_t)!row->set << AT_SET |
                     (~has & ((1u << IDS_LINK_STATS) - 1)) << AT_COLUMNS;
    if (has) memcpy(&values[AT_COLUMNS], rare->links.id, sizeof rare->links.id);
    int code = ids_row_pages_put(rows->pages.event, event, &(struct ids_row_values){values, AT_END, nulls, 0}, err);
    if (code || !rare) return code;
    if (rare->extra_count) code = ids_event_stats_put_extra(rows->stats, event, rare, err);
    return code ? code : note_links(writing, event, row, rare, err);
}

static int write_track(struct ids_event_rows *rows, struct track *track, struct ids_error *err) {
    int64_t count = (int64_t)ids_track_rows_count(&track->rows);
    struct writing writing = {rows, track, rows->numbers->event + 1};
    int code = ids_track_rows_each(&track->rows, &rows->sorter, put_event, &writing, err);
    if (code) return code;
    rows->numbers->event += count;
    sqlite3_bind_int64(rows->end_track, 1, writing.first_event);
    sqlite3_bind_int64(rows->end_track, 2, rows->numbers->event);
    sqlite3_bind_int64(rows->end_track, 3, count);
    sqlite3_bind_int64(rows->end_track, 4, track->id);
    return step(rows, rows->end_track, err);
}

/* A track that gets more events after its end would not be in order; no format does so. */
static int end_track(struct ids_sink *sink, uint32_t track_id, struct ids_error *err) {
    struct ids_event_rows *rows = of(sink);
    struct track *track = &rows->tracks[track_id];
    if (!ids_track_rows_count(&track->rows)) return 0;
    rows->held -= ids_track_rows_bytes(&track->rows);
    int code = write_track(rows, track, err);
    ids_track_rows_end(&track->rows, &rows->sorter);
    if (--rows->waiting_tracks) return code;
    ids_spill_clear(rows->extra);
    if (rows->sorter.runs) ids_spill_clear(rows->sorter.runs);
    return code;
}

/* They are in the report, and so in the table diag. */
static int pass_diag(struct ids_sink *sink, const struct ids_diag *diag, struct ids_error *err) {
    (void)sink;
    (void)diag;
    (void)err;
    return 0;
}

/* ---- life ---- */

int ids_event_tables(sqlite3 *db, int fd, struct ids_event_pages *ret_pages, struct ids_error *err) {
    struct ids_event_pages pages = {0};
    int code = ids_db_exec(db, ids_events_sql, err);
    if (!code) code = ids_row_pages_new(db, fd, "event", event_columns, &pages.event, err);
    if (!code) code = ids_row_pages_new(db, fd, "flow", "to_event kind from_event", &pages.flow, err);
    if (code)
        ids_event_pages_free(&pages);
    else
        *ret_pages = pages;
    return code;
}

int ids_event_pages_finish(const struct ids_event_pages *pages, struct ids_error *err) {
    return ids_row_pages_show(pages->flow, err);
}

void ids_event_pages_free(struct ids_event_pages *pages) {
    ids_row_pages_free(pages->event);
    ids_row_pages_free(pages->flow);
    *pages = (struct ids_event_pages){0};
}

static int prepare_all(struct ids_event_rows *rows, struct ids_error *err) {
    const struct {
        sqlite3_stmt **statement;
        const char *sql;
    } all[] = {
        {&rows->insert_host, "INSERT INTO host (id, run, name, base_ns, start_unix_ns, shift_ps) VALUES (?,?,?,?,?,?)"},
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
    return 0;
}

int ids_event_rows_new(sqlite3 *db, const struct ids_event_pages *pages, struct ids_strings *strings,
                       struct ids_row_numbers *numbers, size_t held_most, struct ids_event_rows **ret_rows,
                       struct ids_error *err) {
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
    rows->sink = (struct ids_sink){.ops = &ops, .strings = strings, .complete = 1};
    rows->db = db;
    rows->numbers = numbers;
    rows->pages = *pages;
    rows->first_event = numbers->event + 1;
    rows->held_most = held_most;
    rows->first_plane = numbers->plane + 1;
    rows->first_name = numbers->name + 1;
    rows->first_set = numbers->set + 1;
    int code = ids_spill_new(EXTRA_BYTES, &rows->extra, err);
    if (!code) code = ids_event_stats_new(db, strings, numbers, rows->extra, &rows->stats, err);
    if (!code) code = ids_event_flows_new(&rows->flows, err);
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

/* What was freed goes back to the system, which the allocator would keep for this thread, while another one
 * analyzes. */
static void give_back(const struct ids_event_rows *rows) {
    enum { EVENTS_LEAST = 1 << 17 };
    if (rows->numbers->event - rows->first_event > EVENTS_LEAST) ids_memory_give_back();
}

int ids_event_rows_finish(struct ids_event_rows *rows, struct ids_error *err) {
    int code = 0;
    for (size_t i = 0; i < rows->track_count && !code; i++) code = end_track(&rows->sink, (uint32_t)i, err);
    ids_row_sorter_done(&rows->sorter);
    give_back(rows);
    if (!code) code = ids_row_pages_show(rows->pages.event, err);
    if (!code)
        code = ids_event_flows_write(rows->flows, rows->pages.flow, rows->first_event, rows->numbers->event, err);
    give_back(rows);
    return code ? code : ids_event_stats_finish(rows->stats, err);
}

int64_t ids_event_rows_origin(const struct ids_event_rows *rows) {
    return rows->origin_unix_ns;
}

void ids_event_rows_free(struct ids_event_rows *rows) {
    if (!rows) return;
    sqlite3_stmt *const all[] = {rows->insert_host,      rows->insert_plane,      rows->insert_track, rows->insert_name,
                                 rows->insert_name_stat, rows->insert_plane_stat, rows->end_track};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sqlite3_finalize(all[i]);
    for (size_t i = 0; i < rows->track_count; i++) ids_track_rows_done(&rows->tracks[i].rows);
    free(rows->tracks);
    free(rows->planes);
    ids_row_sorter_done(&rows->sorter);
    ids_event_flows_free(rows->flows);
    ids_event_stats_free(rows->stats);
    ids_spill_free(rows->extra);
    free(rows);
}
