#include "lib/events/event_findings.h"

#include "lib/base/keymap.h"
#include "lib/base/run_merge.h"
#include "lib/events/event_ids.h"
#include "lib/events/event_parts.h"
#include "lib/events/findings.sql.h"
#include "lib/hlo/multiplier.h"
#include "lib/hlo/scope.h"
#include "lib/hlo/waste.h"
#include "lib/model/account.h"
#include "lib/model/host_copies.h"
#include "lib/model/matrix_units.h"
#include "lib/store/db.h"

#include <stdlib.h>
#include <string.h>

struct putter {
    sqlite3 *db;
    const struct ids_finding_pages *pages;
    const struct ids_row_pages *events;
    const struct ids_trace *trace;
    const struct ids_findings *findings;
    struct ids_finding_numbers *numbers;
    struct ids_finding_numbers first; /* of this run */
    struct ids_event_ids *ids;
    struct ids_keymap classes; /* what activities have in common -> activity_class.id */
    uint64_t *order;           /* findings->work as rows: the place of each is in its low half */
    sqlite3_stmt *insert, *insert_class, *insert_host_copy;
    int64_t last_put;                         /* the event of the activity written last */
    size_t first_host_activity, first_launch; /* their numbers in ids; work is from 0 */
    uint64_t lost;
    int column; /* of the row at hand */
    struct ids_error *err;
};

static const char activity_columns[] = "event class step around dur_ps self_ps idle_ps cause launch";

int ids_findings_tables(sqlite3 *db, int fd, struct ids_finding_pages *ret_pages, struct ids_error *err) {
    *ret_pages = (struct ids_finding_pages){0};
    int code = ids_db_exec(db, ids_findings_sql, err);
    if (!code) code = ids_row_pages_new(db, fd, "activity", activity_columns, &ret_pages->activity, err);
    if (!code) code = ids_stretch_rows_new(db, fd, &ret_pages->stretches, err);
    if (code) ids_finding_pages_free(ret_pages);
    return code;
}

int ids_finding_pages_show(struct ids_finding_pages *pages, struct ids_error *err) {
    int code = ids_row_pages_show(pages->activity, err);
    return code ? code : ids_stretch_rows_show(pages->stretches, err);
}

void ids_finding_pages_free(struct ids_finding_pages *pages) {
    ids_row_pages_free(pages->activity);
    ids_stretch_rows_free(pages->stretches);
    *pages = (struct ids_finding_pages){0};
}

/* ---- values of a row, left to right ---- */

static int prepare(struct putter *putter, sqlite3_stmt **statement, const char *sql) {
    return sqlite3_prepare_v2(putter->db, sql, -1, statement, NULL) == SQLITE_OK ? 0
                                                                                 : ids_db_fail(putter->db, putter->err);
}

static void put_int(struct putter *putter, sqlite3_stmt *statement, int64_t value) {
    sqlite3_bind_int64(statement, ++putter->column, value);
}

static void put_if(struct putter *putter, sqlite3_stmt *statement, int is_known, int64_t value) {
    if (is_known)
        put_int(putter, statement, value);
    else
        sqlite3_bind_null(statement, ++putter->column);
}

static void put_real_if(struct putter *putter, sqlite3_stmt *statement, int is_known, double value) {
    if (is_known)
        sqlite3_bind_double(statement, ++putter->column, value);
    else
        sqlite3_bind_null(statement, ++putter->column);
}

/* NULL where the text is empty. */
static void put_chars(struct putter *putter, sqlite3_stmt *statement, struct ids_text text) {
    if (text.length)
        ids_bind_text(statement, ++putter->column, text.at, text.length);
    else
        sqlite3_bind_null(statement, ++putter->column);
}

static void put_text(struct putter *putter, sqlite3_stmt *statement, uint32_t text) {
    put_chars(putter, statement, ids_strings_text(&putter->trace->strings, text));
}

static void put_word(struct putter *putter, sqlite3_stmt *statement, const char *word) {
    if (word && *word)
        sqlite3_bind_text(statement, ++putter->column, word, -1, SQLITE_STATIC);
    else
        sqlite3_bind_null(statement, ++putter->column);
}

/* One that goes before the row does. */
static void put_word_copy(struct putter *putter, sqlite3_stmt *statement, const char *word) {
    if (*word)
        sqlite3_bind_text(statement, ++putter->column, word, -1, SQLITE_TRANSIENT);
    else
        sqlite3_bind_null(statement, ++putter->column);
}

static int end_row(struct putter *putter, sqlite3_stmt *statement) {
    int filled = putter->column, wanted = sqlite3_bind_parameter_count(statement);
    putter->column = 0;
    if (filled != wanted) /* SQLite would take NULL for the others */
        return ids_fail(putter->err, IDS_UNSUPPORTED, "%d of %d values of a row: %s", filled, wanted,
                        sqlite3_sql(statement));
    sqlite3_step(statement);
    return sqlite3_reset(statement) == SQLITE_OK ? 0 : ids_db_fail(putter->db, putter->err);
}

/* Rows of one table: `put` is called with each index. */
static int put_all(struct putter *putter, const char *sql, size_t count, int (*put)(struct putter *, size_t)) {
    int code = prepare(putter, &putter->insert, sql);
    for (size_t i = 0; i < count && !code; i++) code = put(putter, i);
    sqlite3_finalize(putter->insert);
    putter->insert = NULL;
    return code;
}

/* ---- dimensions ---- */

static int put_device(struct putter *putter, size_t d) {
    static const char *const kinds[] = {"GPU", "TPU", "CPU", "CUSTOM"};
    const struct ids_trace *trace = putter->trace;
    const struct ids_device *device = &trace->devices[d];
    const struct ids_found_device *found = &putter->findings->devices[d];
    sqlite3_stmt *insert = putter->insert;
    put_int(putter, insert, ++putter->numbers->device);
    put_int(putter, insert, putter->numbers->run);
    sqlite3_bind_text(insert, ++putter->column, device->key, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, ++putter->column, device->label, -1, SQLITE_STATIC);
    put_word(putter, insert, kinds[device->kind]);
    put_text(putter, insert, device->model ? device->model : device->vendor);
    sqlite3_bind_text(insert, ++putter->column, ids_trace_text(trace, trace->hosts[device->host].name), -1,
                      SQLITE_STATIC);
    put_if(putter, insert, device->ordinal >= 0, device->ordinal);
    put_int(putter, insert, found->active);
    put_if(putter, insert, found->active, found->start_ps);
    put_if(putter, insert, found->active, found->end_ps);
    put_if(putter, insert, found->idle_ps != 0, found->idle_ps);
    put_if(putter, insert, found->cause != IDS_NO_CAUSE, found->cause);
    put_real_if(putter, insert, device->peak_flops > 0, device->peak_flops);
    put_real_if(putter, insert, device->peak_bytes_per_second > 0, device->peak_bytes_per_second);
    put_if(putter, insert, device->memory_bytes > 0, (int64_t)device->memory_bytes);
    return end_row(putter, insert);
}

static int put_op(struct putter *putter, size_t o) {
    const struct ids_op *op = &putter->trace->ops[o];
    const struct ids_module *module = op->module == IDS_NONE ? NULL : &putter->trace->modules[op->module];
    sqlite3_stmt *insert = putter->insert;
    put_int(putter, insert, ++putter->numbers->op);
    put_int(putter, insert, putter->numbers->run);
    struct ids_text name = ids_strings_text(&putter->trace->strings, op->name);
    ids_bind_text(insert, ++putter->column, name.at, name.length);
    put_text(putter, insert, module ? module->name : 0);
    put_if(putter, insert, module && module->program_id, module ? (int64_t)module->program_id : 0);
    put_text(putter, insert, op->category);
    put_text(putter, insert, op->opcode);
    const char *place = ids_trace_text(putter->trace, op->framework_name);
    char scope[IDS_SCOPE_BYTES];
    ids_scope_of(place, scope);
    put_text(putter, insert, op->framework_name);
    put_word_copy(putter, insert, scope);
    put_word(putter, insert, ids_op_pass(putter->trace, op));
    put_word(putter, insert, ids_op_family(putter->trace, op, NULL));
    put_text(putter, insert, op->source);
    put_text(putter, insert, op->long_name);
    put_text(putter, insert, op->shape);
    put_text(putter, insert, op->deduplicated_name);
    put_text(putter, insert, op->groups);
    put_if(putter, insert, op->group_size > 0, op->group_size);
    put_if(putter, insert, op->flops >= 0, op->flops);
    put_if(putter, insert, op->bytes_accessed >= 0, op->bytes_accessed);
    put_if(putter, insert, op->memory_bytes >= 0, op->memory_bytes);
    put_if(putter, insert, op->model_flops >= 0, op->model_flops);
    put_word(putter, insert, ids_multiplier_name(ids_multiplier_of(op->element)));
    put_word(putter, insert, op->narrower ? ids_multiplier_name(ids_multiplier_of(op->narrower)) : "");
    put_word(putter, insert, ids_cost_source_name((enum ids_cost_source)op->cost_source));
    put_int(putter, insert, op->framework);
    put_int(putter, insert, op->marker);
    put_int(putter, insert, op->container);
    put_word(putter, insert, op->waste ? ids_waste_name((enum ids_waste)op->waste) : "");
    put_text(putter, insert, op->waste_why);
    return end_row(putter, insert);
}

static int put_peak(struct putter *putter, size_t p) {
    const struct ids_found_peak *peak = &putter->findings->peaks[p];
    put_int(putter, putter->insert, putter->first.device + peak->device + 1);
    put_word(putter, putter->insert, peak->multiplies);
    put_real_if(putter, putter->insert, peak->flops > 0, peak->flops);
    put_real_if(putter, putter->insert, peak->bandwidth > 0, peak->bandwidth);
    return end_row(putter, putter->insert);
}

static int put_shape(struct putter *putter, size_t s) {
    const struct ids_shape *shape = &putter->trace->shapes[s];
    sqlite3_stmt *insert = putter->insert;
    const int64_t values[] = {shape->registers,
                              shape->static_shared_bytes,
                              shape->dynamic_shared_bytes,
                              shape->grid[0],
                              shape->grid[1],
                              shape->grid[2],
                              shape->block[0],
                              shape->block[1],
                              shape->block[2]};
    put_int(putter, insert, ++putter->numbers->shape);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) put_if(putter, insert, values[i] >= 0, values[i]);
    put_real_if(putter, insert, shape->occupancy > 0, shape->occupancy);
    put_real_if(putter, insert, shape->achieved > 0, shape->achieved);
    put_word(putter, insert, ids_occupancy_limit_name((enum ids_occupancy_limit)shape->limit));
    put_if(putter, insert, shape->blocks_at_once > 0, shape->blocks_at_once);
    put_real_if(putter, insert, shape->waves > 0, shape->waves);
    put_text(putter, insert, shape->groups);
    put_if(putter, insert, shape->group_size > 0, shape->group_size);
    return end_row(putter, insert);
}

static int put_step(struct putter *putter, size_t s) {
    const struct ids_found_step *step = &putter->findings->steps[s];
    sqlite3_stmt *insert = putter->insert;
    int has_host = step->host_end_ps > step->host_start_ps;
    put_int(putter, insert, ++putter->numbers->step);
    put_int(putter, insert, putter->numbers->run);
    put_int(putter, insert, step->number);
    put_int(putter, insert, step->start_ps);
    put_int(putter, insert, step->end_ps);
    put_if(putter, insert, has_host, step->host_start_ps);
    put_if(putter, insert, has_host, step->host_end_ps);
    return end_row(putter, insert);
}

/* The row is there since the file was read; how the hosts' clocks go together was found after that. */
static int put_clock(struct putter *putter, size_t h) {
    const struct ids_host *host = &putter->trace->hosts[h];
    const struct ids_clock *clock = &host->clock;
    sqlite3_stmt *update = putter->insert;
    int matched = clock->method == IDS_CLOCK_COLLECTIVES;
    put_int(putter, update, host->shift_ps);
    put_int(putter, update, clock->number);
    put_word(putter, update, ids_clock_method_name((enum ids_clock_method)clock->method));
    put_if(putter, update, !clock->number, clock->offset_ps);
    put_if(putter, update, matched, clock->residual_ps);
    if (matched)
        sqlite3_bind_double(update, ++putter->column, clock->drift);
    else
        sqlite3_bind_null(update, ++putter->column);
    put_int(putter, update, (int64_t)clock->matched);
    put_int(putter, update, putter->numbers->first_host + (int64_t)h);
    return end_row(putter, update);
}

static int put_device_step(struct putter *putter, size_t s) {
    const struct ids_found_device_step *step = &putter->findings->device_steps[s];
    put_int(putter, putter->insert, ++putter->numbers->device_step);
    put_int(putter, putter->insert, putter->first.device + step->device + 1);
    put_int(putter, putter->insert, putter->first.step + step->step + 1);
    put_int(putter, putter->insert, step->start_ps);
    put_int(putter, putter->insert, step->end_ps);
    return end_row(putter, putter->insert);
}

static int put_account(struct putter *putter, size_t account) {
    put_int(putter, putter->insert, (int64_t)account);
    put_word(putter, putter->insert, ids_account_id((enum ids_account)account));
    put_word(putter, putter->insert, ids_account_meaning((enum ids_account)account));
    return end_row(putter, putter->insert);
}

static int put_culprit(struct putter *putter, size_t c) {
    const struct ids_found_culprit *culprit = &putter->findings->culprits[c];
    put_int(putter, putter->insert, ++putter->numbers->culprit);
    put_int(putter, putter->insert, putter->numbers->run);
    put_int(putter, putter->insert, culprit->account);
    put_chars(putter, putter->insert, culprit->culprit);
    put_chars(putter, putter->insert, culprit->where);
    return end_row(putter, putter->insert);
}

static int begin_stretches(struct putter *putter) {
    const struct ids_findings *findings = putter->findings;
    uint64_t *stretches = malloc((findings->culprit_count + 1) * sizeof *stretches);
    if (!stretches) return ids_no_memory(putter->err);
    for (size_t c = 0; c < findings->culprit_count; c++) stretches[c] = findings->culprits[c].intervals;
    int code = ids_stretch_rows_begin_run(putter->pages->stretches, putter->first.culprit + 1, stretches,
                                          findings->culprit_count, putter->err);
    free(stretches);
    return code;
}

static int put_stretch(struct putter *putter, const struct ids_found_interval *interval) {
    size_t work = putter->findings->devices[interval->device].first_work + interval->event - 1;
    int64_t event = interval->event ? ids_event_ids_get(putter->ids, work).id : 0;
    const struct ids_stretch stretch = {
        .id = ++putter->numbers->stretch,
        .device = putter->first.device + interval->device + 1,
        .step = interval->step ? putter->first.step + interval->step : 0,
        .culprit = putter->first.culprit + interval->culprit + 1,
        .event = event,
        .from_ps = interval->from_ps,
        .to_ps = interval->to_ps,
        .state = interval->state,
        .known = interval->known,
    };
    return ids_stretch_rows_put(putter->pages->stretches, &stretch, putter->err);
}

/* ---- activities ---- */

static int has_bytes(const struct ids_event *event) {
    int is_copy = event->kind == IDS_KIND_COPY || event->kind == IDS_KIND_SET;
    return (is_copy || event->collective) && event->value >= 0;
}

/* All columns of activity_class are in the key. */
static uint64_t class_key(const struct ids_trace *trace, const struct ids_found_work *work) {
    const struct ids_event *event = work->event;
    uint64_t words = (uint64_t)event->kind | (uint64_t)event->class << 8 | (uint64_t)event->class_rule << 16 |
                     (uint64_t)event->collective << 24 | (uint64_t)event->direction << 32 |
                     (uint64_t)event->asynchronous << 40 | (uint64_t)event->pinned << 48 |
                     (uint64_t)event->in_graph << 56 | (uint64_t)work->beside << 57 |
                     (uint64_t)event->begins_run << 63 |
                     (uint64_t)trace->names[event->name].matrix_use << 58; /* the rest of it: the op, the device */
    uint64_t key = ids_key_of(ids_key_of(words, event->device), ids_key_of(event->op, event->shape));
    return has_bytes(event) ? ids_key_of(key, (uint64_t)event->value) : key;
}

static struct ids_event_row row_of_work(const struct putter *putter, const struct ids_found_work *work) {
    return ids_event_ids_get(putter->ids, (size_t)(work - putter->findings->work));
}

static int put_class(struct putter *putter, const struct ids_found_work *work) {
    const struct ids_event *event = work->event;
    sqlite3_stmt *insert = putter->insert_class;
    int is_copy = event->kind == IDS_KIND_COPY || event->kind == IDS_KIND_SET;
    enum ids_matrix_use matrix_use = ids_matrix_use(putter->trace, event);
    int column = putter->column;
    putter->column = 0;
    put_int(putter, insert, ++putter->numbers->class);
    put_int(putter, insert, putter->first.device + event->device + 1);
    put_word(putter, insert, ids_kind_name((enum ids_kind)event->kind));
    put_word(putter, insert, ids_class_name((enum ids_class)event->class));
    put_word(putter, insert, ids_class_rule_name((enum ids_class_rule)event->class_rule));
    put_word(putter, insert, event->collective ? ids_collective_name((enum ids_collective)event->collective) : NULL);
    put_word(putter, insert,
             event->direction < IDS_DIRECTION_COUNT ? ids_direction_name((enum ids_direction)event->direction) : NULL);
    put_if(putter, insert, has_bytes(event), event->value);
    put_if(putter, insert, is_copy && event->asynchronous < 2, event->asynchronous);
    put_if(putter, insert, is_copy && event->pinned < 2, event->pinned);
    put_int(putter, insert, work->beside);
    put_int(putter, insert, event->in_graph);
    put_word(putter, insert, event->kind == IDS_KIND_KERNEL ? ids_matrix_use_name(matrix_use) : NULL);
    put_int(putter, insert, event->begins_run);
    put_if(putter, insert, event->op != IDS_NONE, putter->first.op + event->op + 1);
    put_if(putter, insert, event->shape != IDS_NONE, putter->first.shape + event->shape + 1);
    int code = end_row(putter, insert);
    putter->column = column;
    return code;
}

/* The op that began it has the event's row in table activity. */
static int put_host_copy(struct putter *putter, const struct ids_found_work *work, int64_t event, int64_t class) {
    sqlite3_stmt *insert = putter->insert_host_copy;
    int column = putter->column;
    putter->column = 0;
    put_int(putter, insert, event);
    put_int(putter, insert, class);
    put_if(putter, insert, work->step != 0, putter->first.step + work->step);
    put_int(putter, insert, work->event->end_ps - work->event->start_ps);
    int code = end_row(putter, insert);
    putter->column = column;
    return code;
}

static int put_work(struct putter *putter, size_t place) {
    const struct ids_found_work *work = &putter->findings->work[(uint32_t)putter->order[place]];
    const struct ids_event *event = work->event;
    struct ids_event_row row = row_of_work(putter, work);
    if (!row.id) {
        putter->lost++;
        return 0;
    }
    int is_host_copy = ids_is_host_copy(putter->trace, event);
    if (!is_host_copy && putter->last_put == row.id) return 0; /* it is there */
    uint64_t *class = ids_keymap_at(&putter->classes, class_key(putter->trace, work));
    if (!class) return ids_no_memory(putter->err);
    if (!*class) {
        int code = put_class(putter, work);
        if (code) return code;
        *class = (uint64_t)putter->numbers->class;
    }
    if (is_host_copy) return put_host_copy(putter, work, row.id, (int64_t) * class);
    putter->last_put = row.id;
    struct ids_event_row around = ids_event_ids_get(putter->ids, work->around ? work->around - 1 : SIZE_MAX);
    struct ids_event_row launch =
        ids_event_ids_get(putter->ids, work->launch ? putter->first_launch + work->launch - 1 : SIZE_MAX);
    int64_t duration_ps = event->end_ps - event->start_ps;
    int is_gap_end = work->cause != IDS_NO_CAUSE;
    const int64_t values[] = {(int64_t) * class, putter->first.step + work->step,
                              around.id,         duration_ps,
                              event->self_ps,    work->idle_ps,
                              work->cause,       launch.id};
    uint32_t nulls = (uint32_t)(work->step == 0) << 1 | (uint32_t)(around.id == 0) << 2 |
                     (uint32_t)(duration_ps == row.duration_ps) << 3 | (uint32_t)(event->self_ps == duration_ps) << 4 |
                     (uint32_t)!is_gap_end << 5 | (uint32_t)!is_gap_end << 6 | (uint32_t)(launch.id == 0) << 7;
    return ids_row_pages_put(putter->pages->activity, row.id,
                             &(struct ids_row_values){values, sizeof values / sizeof *values, nulls, 0}, putter->err);
}

/* ---- host_activities ---- */

static int put_host_activity(struct putter *putter, size_t d) {
    struct ids_event_row row = ids_event_ids_get(putter->ids, putter->first_host_activity + d);
    if (!row.id) {
        putter->lost++;
        return 0;
    }
    put_int(putter, putter->insert, row.id);
    put_int(putter, putter->insert, putter->findings->host_activities[d].event->kind);
    return end_row(putter, putter->insert);
}

static int put_compilation(struct putter *putter, size_t d) {
    const struct ids_found_host_activity *host_activity = &putter->findings->host_activities[d];
    struct ids_event_row row = ids_event_ids_get(putter->ids, putter->first_host_activity + d);
    if (!row.id || host_activity->event->kind != IDS_KIND_COMPILE) return 0;
    put_int(putter, putter->insert, row.id);
    put_if(putter, putter->insert, host_activity->step != 0, putter->first.step + host_activity->step);
    put_chars(putter, putter->insert, host_activity->function);
    put_int(putter, putter->insert, host_activity->part);
    return end_row(putter, putter->insert);
}

static int put_transfer(struct putter *putter, size_t d) {
    const struct ids_event *event = putter->findings->host_activities[d].event;
    struct ids_event_row row = ids_event_ids_get(putter->ids, putter->first_host_activity + d);
    if (!row.id || event->kind != IDS_KIND_TRANSFER) return 0;
    put_int(putter, putter->insert, row.id);
    put_word(putter, putter->insert, ids_direction_name((enum ids_direction)event->direction));
    put_if(putter, putter->insert, event->value >= 0, event->value);
    return end_row(putter, putter->insert);
}

/* All kinds there are, so that the numbers mean something without the program. */
static int put_kind(struct putter *putter, size_t kind) {
    put_int(putter, putter->insert, (int64_t)kind);
    put_word(putter, putter->insert, ids_kind_name((enum ids_kind)kind));
    return end_row(putter, putter->insert);
}

/* Names of hosts' events that say that an op waits. */
static int put_stall_names(struct putter *putter) {
    static const char names[] = "SELECT n.id, n.text FROM name n JOIN plane p ON p.id = n.plane "
                                "WHERE n.id >= ? AND p.name NOT LIKE '/device:%'";
    sqlite3_stmt *select = NULL;
    int code = prepare(putter, &select, names);
    if (!code) code = prepare(putter, &putter->insert, "INSERT OR IGNORE INTO stall_name VALUES (?)");
    if (!code) sqlite3_bind_int64(select, 1, putter->numbers->first_name);
    while (!code && sqlite3_step(select) == SQLITE_ROW) {
        const char *text = sqlite3_column_blob(select, 1);
        size_t length = (size_t)sqlite3_column_bytes(select, 1);
        if (!text || ids_kind_of_name(text, length) != IDS_KIND_STALL) continue;
        put_int(putter, putter->insert, sqlite3_column_int64(select, 0));
        code = end_row(putter, putter->insert);
    }
    sqlite3_finalize(putter->insert);
    putter->insert = NULL;
    if (sqlite3_finalize(select) != SQLITE_OK && !code) code = ids_db_fail(putter->db, putter->err);
    return code;
}

/* ---- all ---- */

static int find_ids(struct putter *putter) {
    const struct ids_findings *findings = putter->findings;
    int code = ids_event_ids_new(putter->db, putter->events, putter->trace, putter->numbers->first_track,
                                 putter->numbers->first_name, &putter->ids, putter->err);
    for (size_t i = 0; i < findings->work_count && !code; i++)
        code = ids_event_ids_want(putter->ids, findings->work[i].event, putter->err);
    for (size_t i = 0; i < findings->host_activity_count && !code; i++)
        code = ids_event_ids_want(putter->ids, findings->host_activities[i].event, putter->err);
    for (size_t i = 0; i < findings->launch_count && !code; i++)
        code = ids_event_ids_want(putter->ids, findings->launches[i], putter->err);
    putter->first_host_activity = findings->work_count;
    putter->first_launch = findings->work_count + findings->host_activity_count;
    return code ? code : ids_event_ids_find(putter->ids, putter->err);
}

static int number_before(const uint64_t *a, const uint64_t *b) {
    return *a < *b;
}

IDS_DEFINE_RUN_MERGE(merge_numbers, uint64_t, number_before)

/* Rows go to the end of their table, which fills its pages. Those that are lost have no row and come first. They were
 * found nearly in this order. */
static int order_work(struct putter *putter) {
    size_t count = putter->findings->work_count;
    uint64_t *spare = malloc((count + 1) * sizeof *spare);
    int code = 0;
    putter->order = malloc((count + 1) * sizeof *putter->order);
    if (!spare || !putter->order) code = ids_no_memory(putter->err);
    for (size_t i = 0, placed = 0; placed < count && !code; i++) {
        size_t number = ids_event_ids_in_order(putter->ids, i);
        if (number >= count) continue; /* no work */
        int64_t id = ids_event_ids_get(putter->ids, number).id;
        int64_t row = id ? id - putter->numbers->first_event + 1 : 0;
        if (row > UINT32_MAX) code = ids_fail(putter->err, IDS_LIMIT, "more than four billion events");
        putter->order[placed++] = (uint64_t)row << 32 | number;
    }
    if (!code) merge_numbers(&putter->order, &spare, count);
    free(spare);
    return code;
}

static int put_everything(struct putter *putter) {
    const struct ids_trace *trace = putter->trace;
    const struct ids_findings *findings = putter->findings;
    const struct {
        const char *sql;
        size_t count;
        int (*put)(struct putter *, size_t);
    } tables[] = {
        {"UPDATE host SET shift_ps=?, clock=?, clock_method=?, offset_ps=?, residual_ps=?, drift=?, matched=? WHERE "
         "id=?",
         trace->host_count, put_clock},
        {"INSERT INTO device VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", findings->device_count, put_device},
        {"INSERT INTO device_peak VALUES (?,?,?,?)", findings->peak_count, put_peak},
        {"INSERT INTO op VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", trace->op_count, put_op},
        {"INSERT INTO launch_shape VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", trace->shape_count, put_shape},
        {"INSERT INTO step VALUES (?,?,?,?,?,?,?)", findings->step_count, put_step},
        {"INSERT INTO device_step VALUES (?,?,?,?,?)", findings->device_step_count, put_device_step},
        {"INSERT OR IGNORE INTO account VALUES (?,?,?)", IDS_ACCOUNT_COUNT, put_account},
        {"INSERT INTO culprit VALUES (?,?,?,?,?)", findings->culprit_count, put_culprit},
        {"INSERT OR IGNORE INTO host_activity_kind VALUES (?,?)", IDS_KIND_COUNT, put_kind},
        {"INSERT OR IGNORE INTO host_activity VALUES (?,?)", findings->host_activity_count, put_host_activity},
        {"INSERT OR IGNORE INTO compilation VALUES (?,?,?,?)", findings->host_activity_count, put_compilation},
        {"INSERT OR IGNORE INTO transfer VALUES (?,?,?)", findings->host_activity_count, put_transfer},
    };
    int code = find_ids(putter);
    if (!code) code = order_work(putter);
    if (!code)
        code = prepare(putter, &putter->insert_class,
                       "INSERT INTO activity_class VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    if (!code) code = prepare(putter, &putter->insert_host_copy, "INSERT OR IGNORE INTO host_copy VALUES (?,?,?,?)");
    for (size_t i = 0; i < sizeof tables / sizeof *tables && !code; i++)
        code = put_all(putter, tables[i].sql, tables[i].count, tables[i].put);
    for (size_t i = 0; i < findings->work_count && !code; i++) code = put_work(putter, i);
    if (!code) code = begin_stretches(putter);
    struct ids_found_cursor cursor = ids_found_cursor_over(findings->intervals, findings->interval_lists);
    for (const struct ids_found_interval *interval; !code && (interval = ids_found_cursor_next(&cursor));)
        code = put_stretch(putter, interval);
    if (!code) code = ids_stretch_rows_end_run(putter->pages->stretches, putter->err);
    return code ? code : put_stall_names(putter);
}

int ids_findings_put(sqlite3 *db, const struct ids_finding_pages *pages, const struct ids_row_pages *events,
                     const struct ids_trace *trace, const struct ids_findings *findings,
                     struct ids_finding_numbers *numbers, uint64_t *ret_lost, struct ids_error *err) {
    struct putter putter = {.db = db,
                            .pages = pages,
                            .events = events,
                            .trace = trace,
                            .findings = findings,
                            .numbers = numbers,
                            .first = *numbers,
                            .err = err};
    int code = put_everything(&putter);
    sqlite3_finalize(putter.insert_class);
    sqlite3_finalize(putter.insert_host_copy);
    ids_keymap_done(&putter.classes);
    ids_event_ids_free(putter.ids);
    free(putter.order);
    if (!code) *ret_lost = putter.lost;
    return code;
}
