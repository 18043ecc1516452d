#include "lib/store/baseline.h"

#include "lib/base/memory.h"
#include "lib/base/vec.h"
#include "lib/io/unfinished.h"
#include "lib/store/baseline.sql.h"
#include "lib/store/db.h"
#include "lib/store/summary_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef IDS_VERSION
#define IDS_VERSION "unknown"
#endif

enum { NAME_MOST = 100, RUNS_MOST = 4096, ROWS_MOST = 2000000, EVENTS_MOST = 10000, UNITS = IDS_UNITS };

static const char step_time[] = "steps.mean";

/* What diff and check read of a run. */
static const char *const kept_tables[] = {"devices",       "modules", "steps",    "ledger", "ops",          "op_steps",
                                          "op_categories", "kernels", "compiles", "names",  "program_facts"};
/* Of all names of events, thousands, a comparison reads the host's calls that move data. */
static const char *const kept_names[] = {"DevicePut", "DevicePutWithSharding", "np.asarray(jax.Array)"};
/* Long texts that no comparison reads. */
static const char *const left_columns[] = {"text", "evidence", "meanwhile", "longest_device"};

/* ---- where ---- */

int ids_baseline_is_name(const char *name) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    size_t length = strlen(name);
    return length && length <= NAME_MOST && *name != '.' && strspn(name, letters) == length;
}

static int folder_of(char **ret_folder, struct ids_error *err) {
    const char *xdg = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    int length = -1;
    *ret_folder = NULL;
    if (xdg && *xdg == '/')
        length = asprintf(ret_folder, "%s/idsprof/baselines", xdg);
    else if (home && *home == '/')
        length = asprintf(ret_folder, "%s/.local/share/idsprof/baselines", home);
    else
        return ids_fail(err, IDS_NOT_FOUND, "neither XDG_DATA_HOME nor HOME is set, so baselines have no place");
    if (length >= 0) {
        ids_unfinished_sweep(*ret_folder, ids_unfinished_beside);
        return 0;
    }
    *ret_folder = NULL;
    return ids_no_memory(err);
}

static int path_of(const char *name, char **ret_path, struct ids_error *err) {
    char *folder;
    *ret_path = NULL;
    if (!ids_baseline_is_name(name))
        return ids_fail(err, IDS_USAGE, "'%s' cannot name a baseline (letters, digits, '.', '_' and '-')", name);
    int code = folder_of(&folder, err);
    if (!code && asprintf(ret_path, "%s/%s.db", folder, name) < 0) {
        *ret_path = NULL;
        code = ids_no_memory(err);
    }
    free(folder);
    return code;
}

/* The folders above the file. */
static int make_folders(char *path, struct ids_error *err) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        int failed = mkdir(path, 0777) && errno != EEXIST;
        int code = failed ? ids_fail_system(err, "cannot make the folder '%s'", path) : 0;
        *slash = '/';
        if (code) return code;
    }
    return 0;
}

/* ---- events ---- */

static int keep_text(struct ids_baseline *baseline, const char *text, const char **ret_text) {
    *ret_text = text ? ids_arena_copy(&baseline->arena, text, strlen(text)) : NULL;
    return text && !*ret_text;
}

static int add_event(struct ids_baseline *baseline, const struct ids_baseline_event *event) {
    struct ids_baseline_event *place = IDS_PUSH(baseline->events, baseline->event_count, baseline->event_room);
    if (place) *place = *event;
    return place ? 0 : -1;
}

/* ---- writing ---- */

struct writer {
    sqlite3 *db;
    struct ids_rows properties, metrics, cells;
    uint64_t sum; /* not kept: a baseline may be edited */
    struct ids_error *err;
};

static int write_properties(struct writer *writer, int64_t run, const struct ids_report *report) {
    int code = 0;
    for (size_t i = 0; i < report->property_count && !code; i++) {
        ids_rows_put_int(&writer->properties, run);
        ids_rows_put_text(&writer->properties, report->properties[i].id);
        ids_rows_put_int(&writer->properties, report->properties[i].value.unit);
        ids_rows_put_value(&writer->properties, report->properties[i].value);
        code = ids_rows_insert(&writer->properties, writer->err);
    }
    return code;
}

static int write_metrics(struct writer *writer, int64_t run, const struct ids_report *report) {
    int code = 0;
    for (size_t i = 0; i < report->metric_count && !code; i++) {
        const struct ids_metric *metric = &report->metrics[i];
        if (metric->device) continue;
        ids_rows_put_int(&writer->metrics, run);
        ids_rows_put_text(&writer->metrics, metric->id);
        ids_rows_put_int(&writer->metrics, metric->value.unit);
        ids_rows_put_value(&writer->metrics, metric->value);
        ids_rows_put_text(&writer->metrics, metric->reason);
        ids_rows_put_text(&writer->metrics, metric->rule);
        code = ids_rows_insert(&writer->metrics, writer->err);
    }
    return code;
}

static int is_left(const char *column) {
    for (size_t i = 0; i < sizeof left_columns / sizeof *left_columns; i++) {
        if (!strcmp(left_columns[i], column)) return 1;
    }
    return 0;
}

static int is_kept_row(const struct ids_table *table, size_t row) {
    int name = strcmp(table->id, "names") ? -1 : ids_table_column(table, "name");
    if (name < 0) return 1;
    const struct ids_value *cell = ids_table_cell(table, row, name);
    for (size_t i = 0; i < sizeof kept_names / sizeof *kept_names && !cell->missing; i++) {
        if (!strcmp(kept_names[i], cell->text)) return 1;
    }
    return 0;
}

static int write_cells(struct writer *writer, int64_t run, const struct ids_table *table) {
    int code = 0;
    for (size_t row = 0; table && row < table->row_count; row++) {
        if (!is_kept_row(table, row)) continue;
        for (int column = 0; column < table->def->column_count && !code; column++) {
            const struct ids_value *value = ids_table_cell(table, row, column);
            if (value->missing || is_left(table->def->columns[column].id)) continue;
            ids_rows_put_int(&writer->cells, run);
            ids_rows_put_text(&writer->cells, table->id);
            ids_rows_put_int(&writer->cells, (int64_t)row);
            ids_rows_put_text(&writer->cells, table->def->columns[column].id);
            ids_rows_put_int(&writer->cells, value->unit);
            ids_rows_put_value(&writer->cells, *value);
            code = ids_rows_insert(&writer->cells, writer->err);
        }
    }
    return code;
}

static int write_head(struct writer *writer, const struct ids_baseline *baseline) {
    struct ids_rows rows;
    int code = ids_rows_prepare(&rows, writer->db, &writer->sum, "INSERT INTO baseline VALUES (?,?,?)", writer->err);
    if (!code) {
        ids_rows_put_text(&rows, baseline->name);
        ids_rows_put_int(&rows, baseline->saved_unix_s);
        ids_rows_put_text(&rows, baseline->program);
        code = ids_rows_insert(&rows, writer->err);
    }
    ids_rows_done(&rows);
    return code;
}

static int write_events(struct writer *writer, const struct ids_baseline *baseline) {
    static const char sql[] = "INSERT INTO event VALUES (?,?,?,?,?,?,?,?)";
    struct ids_rows rows;
    int code = ids_rows_prepare(&rows, writer->db, &writer->sum, sql, writer->err);
    for (size_t i = 0; i < baseline->event_count && !code; i++) {
        const struct ids_baseline_event *event = &baseline->events[i];
        ids_rows_put_int(&rows, event->unix_s);
        ids_rows_put_text(&rows, event->program);
        ids_rows_put_int(&rows, event->runs);
        ids_rows_put_text(&rows, event->id);
        ids_rows_put_int(&rows, event->value.unit);
        ids_rows_put_value(&rows, event->value);
        ids_rows_put_value(&rows, event->before);
        ids_rows_put_text(&rows, event->reason);
        code = ids_rows_insert(&rows, writer->err);
    }
    ids_rows_done(&rows);
    return code;
}

static int write_all(struct writer *writer, const struct ids_baseline *baseline,
                     const struct ids_report *const *reports, size_t count) {
    sqlite3 *db = writer->db;
    struct ids_error *err = writer->err;
    int code = ids_db_exec(db, "BEGIN", err);
    if (!code) code = ids_db_exec(db, ids_baseline_sql, err);
    if (!code) code = write_head(writer, baseline);
    if (!code) code = write_events(writer, baseline);
    if (!code)
        code = ids_rows_prepare(&writer->properties, db, &writer->sum, "INSERT INTO property VALUES (?,?,?,?)", err);
    if (!code)
        code = ids_rows_prepare(&writer->metrics, db, &writer->sum, "INSERT INTO metric VALUES (?,?,?,?,?,?)", err);
    if (!code) code = ids_rows_prepare(&writer->cells, db, &writer->sum, "INSERT INTO cell VALUES (?,?,?,?,?,?)", err);
    for (size_t i = 0; i < count && !code; i++) {
        int64_t run = (int64_t)i + 1;
        code = write_properties(writer, run, reports[i]);
        if (!code) code = write_metrics(writer, run, reports[i]);
        for (size_t t = 0; t < sizeof kept_tables / sizeof *kept_tables && !code; t++)
            code = write_cells(writer, run, ids_report_find_table(reports[i], kept_tables[t]));
    }
    ids_rows_done(&writer->properties);
    ids_rows_done(&writer->metrics);
    ids_rows_done(&writer->cells);
    return code ? code : ids_db_exec(db, "COMMIT", err);
}

static int fill(const char *path, const struct ids_baseline *baseline, const struct ids_report *const *reports,
                size_t count, struct ids_error *err) {
    struct writer writer = {.err = err};
    int code = ids_db_create(path, &writer.db, err);
    if (code) return code;
    code = write_all(&writer, baseline, reports, count);
    sqlite3_close(writer.db);
    return code;
}

/* The file appears under its name when it is whole. */
static int put_file(const struct ids_baseline *baseline, const struct ids_report *const *reports, size_t count,
                    struct ids_error *err) {
    const char *path = baseline->path;
    char *temporary = NULL;
    int fd = ids_summary_open_beside(path, &temporary, err);
    int code = fd < 0 ? fd : fill(temporary, baseline, reports, count, err);
    if (!code && ids_memory_ran_out()) code = ids_no_memory(err); /* a report may lack something */
    if (!code && fsync(fd)) code = ids_fail_system(err, "cannot write '%s'", path);
    if (!code && rename(temporary, path)) code = ids_fail_system(err, "cannot write '%s'", path);
    if (fd >= 0) close(fd);
    if (code && temporary) unlink(temporary);
    free(temporary);
    return code;
}

/* ---- reading ---- */

struct reader {
    sqlite3 *db;
    struct ids_baseline *baseline;
    const struct ids_table_def *(*find_table)(const char *id);
    uint64_t sum;
    size_t rows;
    struct ids_error *err;
    struct ids_value *cells; /* of the row that is being put together */
    const struct ids_table_def *def;
    struct ids_report *report;
    int64_t place;
    int has_events;
};

static int damaged(struct reader *reader, const char *what) {
    return ids_fail(reader->err, IDS_CORRUPT, "damaged baseline: %s", what);
}

/* The report of a run, which comes in order. */
static int report_of(struct reader *reader, int64_t run, struct ids_report **ret_report) {
    struct ids_baseline *baseline = reader->baseline;
    if (++reader->rows > ROWS_MOST) return damaged(reader, "too many rows");
    if (run < 1 || run > RUNS_MOST || run > (int64_t)baseline->count + 1) return damaged(reader, "runs out of order");
    if (run == (int64_t)baseline->count + 1) {
        struct ids_report *report = IDS_PUSH(baseline->reports, baseline->count, baseline->room);
        if (!report) return ids_no_memory(reader->err);
        ids_report_init(report);
    }
    *ret_report = &baseline->reports[run - 1];
    return 0;
}

static int unit_of(struct ids_rows *rows) {
    int64_t unit = ids_rows_get_int(rows, -1);
    return unit >= 0 && unit < UNITS ? (int)unit : -1;
}

static int read_property(void *context, struct ids_rows *rows) {
    struct reader *reader = context;
    struct ids_report *report = NULL;
    int code = report_of(reader, ids_rows_get_int(rows, 0), &report);
    if (code) return code;
    const char *id = ids_rows_get_text(rows);
    int unit = unit_of(rows);
    if (!id || unit < 0 || report->property_count > 1000) return damaged(reader, "a property");
    ids_report_property(report, id, ids_rows_get_value(rows, (enum ids_unit)unit));
    return 0;
}

static int read_metric(void *context, struct ids_rows *rows) {
    struct reader *reader = context;
    struct ids_report *report = NULL;
    int code = report_of(reader, ids_rows_get_int(rows, 0), &report);
    if (code) return code;
    const char *id = ids_rows_get_text(rows);
    int unit = unit_of(rows);
    if (!id || unit < 0 || report->metric_count > 10000) return damaged(reader, "a metric");
    struct ids_metric *metric = ids_report_metric(report, id, NULL, ids_rows_get_value(rows, (enum ids_unit)unit));
    const char *reason = ids_rows_get_text(rows), *rule = ids_rows_get_text(rows);
    if (reason) metric->reason = ids_report_text(report, "%s", reason);
    if (rule) ids_report_rule(report, metric, "%s", rule);
    return 0;
}

static void end_row(struct reader *reader) {
    if (!reader->def) return;
    ids_report_row(reader->report, ids_report_table(reader->report, reader->def), reader->cells);
    free(reader->cells);
    reader->cells = NULL;
    reader->def = NULL;
}

static int begin_row(struct reader *reader, struct ids_report *report, const struct ids_table_def *def, int64_t place) {
    reader->cells = calloc((size_t)def->column_count, sizeof *reader->cells);
    if (!reader->cells) return ids_no_memory(reader->err);
    for (int i = 0; i < def->column_count; i++) reader->cells[i] = ids_no_value(def->columns[i].unit);
    reader->def = def;
    reader->report = report;
    reader->place = place;
    return 0;
}

static int read_cell(void *context, struct ids_rows *rows) {
    struct reader *reader = context;
    struct ids_report *report = NULL;
    int64_t run = ids_rows_get_int(rows, 0);
    /* The reports stay where they are: all runs have properties, which were read before. */
    if (run > (int64_t)reader->baseline->count) return damaged(reader, "a table of no run");
    int code = report_of(reader, run, &report);
    if (code) return code;
    const char *table = ids_rows_get_text(rows);
    const struct ids_table_def *def = table ? reader->find_table(table) : NULL;
    int64_t place = ids_rows_get_int(rows, 0);
    const char *id = ids_rows_get_text(rows);
    int unit = unit_of(rows);
    if (!id || unit < 0) return damaged(reader, "a cell");
    if (reader->def && (reader->report != report || reader->def != def || reader->place != place)) end_row(reader);
    if (!def) return 0; /* of a version that has more */
    if (!reader->def) code = begin_row(reader, report, def, place);
    for (int i = 0; i < def->column_count && !code; i++) {
        if (strcmp(def->columns[i].id, id) != 0 || def->columns[i].unit != (enum ids_unit)unit) continue;
        struct ids_value value = ids_rows_get_value(rows, (enum ids_unit)unit);
        if (unit == IDS_UNIT_NONE && !value.missing) value.text = ids_report_text(report, "%s", value.text);
        reader->cells[i] = value;
    }
    return code;
}

static int read_each(struct reader *reader, const char *sql, int (*read)(void *reader, struct ids_rows *)) {
    return ids_rows_each(reader->db, &reader->sum, sql, read, reader, reader->err);
}

static int read_event(void *context, struct ids_rows *rows) {
    struct reader *reader = context;
    struct ids_baseline *baseline = reader->baseline;
    struct ids_baseline_event event = {.unix_s = ids_rows_get_int(rows, 0)};
    if (baseline->event_count == EVENTS_MOST) return damaged(reader, "too many events");
    int failed = keep_text(baseline, ids_rows_get_text(rows), &event.program);
    event.runs = ids_rows_get_int(rows, 0);
    failed |= keep_text(baseline, ids_rows_get_text(rows), &event.id);
    int unit = unit_of(rows);
    if (unit <= IDS_UNIT_NONE) unit = IDS_UNIT_NUMBER; /* no figure is a text */
    event.value = ids_rows_get_value(rows, (enum ids_unit)unit);
    event.before = ids_rows_get_value(rows, (enum ids_unit)unit);
    failed |= keep_text(baseline, ids_rows_get_text(rows), &event.reason);
    if (!failed && (!event.program || (event.reason && !event.id))) return damaged(reader, "an event");
    if (failed || add_event(baseline, &event)) return ids_no_memory(reader->err);
    return 0;
}

/* A baseline of an older version has no events. */
static int read_is_there(void *context, struct ids_rows *rows) {
    struct reader *reader = context;
    reader->has_events = ids_rows_get_int(rows, 0) > 0;
    return 0;
}

static int read_events(struct reader *reader) {
    int code =
        read_each(reader, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'event'", read_is_there);
    if (code || !reader->has_events) return code;
    return read_each(reader, "SELECT unix_s, program, runs, id, unit, value, before, reason FROM event ORDER BY rowid",
                     read_event);
}

static int read_head(void *context, struct ids_rows *rows) {
    struct reader *reader = context;
    struct ids_baseline *baseline = reader->baseline;
    const char *name = ids_rows_get_text(rows);
    baseline->saved_unix_s = ids_rows_get_int(rows, 0);
    const char *program = ids_rows_get_text(rows);
    if (!name || !program || baseline->program) return damaged(reader, "its head");
    baseline->program = strdup(program);
    return baseline->program ? 0 : ids_no_memory(reader->err);
}

static int read_all(struct reader *reader) {
    int code = read_each(reader, "SELECT name, saved_unix_s, program FROM baseline", read_head);
    if (!code) code = read_events(reader);
    if (!code) code = read_each(reader, "SELECT run, id, unit, value FROM property ORDER BY run, rowid", read_property);
    if (!code)
        code =
            read_each(reader, "SELECT run, id, unit, value, reason, rule FROM metric ORDER BY run, rowid", read_metric);
    if (!code)
        code = read_each(reader, "SELECT run, table_id, place, column_id, unit, value FROM cell ORDER BY run, rowid",
                         read_cell);
    end_row(reader);
    free(reader->cells);
    if (!code && (!reader->baseline->program || !reader->baseline->count))
        code = damaged(reader, "there is no run in it");
    for (size_t i = 0; i < reader->baseline->count && !code; i++)
        code = ids_report_check(&reader->baseline->reports[i], reader->err);
    return code;
}

int ids_baseline_load(const char *name, const struct ids_table_def *(*find_table)(const char *id),
                      struct ids_baseline *ret_baseline, struct ids_error *err) {
    struct reader reader = {.baseline = ret_baseline, .find_table = find_table, .err = err};
    *ret_baseline = (struct ids_baseline){.name = strdup(name)};
    int code = ret_baseline->name ? path_of(name, &ret_baseline->path, err) : ids_no_memory(err);
    if (!code) code = ids_db_open(ret_baseline->path, IDS_DB_GIVEN, &reader.db, err);
    if (code == IDS_NOT_FOUND)
        code = ids_fail(err, IDS_NOT_FOUND, "no baseline '%s' ('idsprof baseline list' shows all)", name);
    if (!code) {
        code = read_all(&reader);
        sqlite3_close(reader.db);
        if (code) ids_error_at(err, "'%s'", ret_baseline->path);
    }
    if (code) ids_baseline_done(ret_baseline);
    return code;
}

void ids_baseline_done(struct ids_baseline *baseline) {
    for (size_t i = 0; i < baseline->count; i++) ids_report_done(&baseline->reports[i]);
    free(baseline->reports);
    free(baseline->events);
    ids_arena_done(&baseline->arena);
    free(baseline->name);
    free(baseline->path);
    free(baseline->program);
    *baseline = (struct ids_baseline){0};
}

/* ---- changing ---- */

/* What was done to the baseline of that name before; a file that cannot be read has no past. */
static int take_past(struct ids_baseline *baseline) {
    struct reader reader = {.baseline = &(struct ids_baseline){0}, .err = &(struct ids_error)IDS_ERROR_INIT};
    struct ids_baseline *old = reader.baseline;
    if (ids_db_open(baseline->path, IDS_DB_GIVEN, &reader.db, reader.err)) return 0;
    int code = read_events(&reader);
    sqlite3_close(reader.db);
    if (code == IDS_NOMEM) {
        free(old->events);
        ids_arena_done(&old->arena);
        return code;
    }
    baseline->events = old->events;
    baseline->event_count = old->event_count;
    baseline->event_room = old->event_room;
    baseline->arena = old->arena;
    return 0;
}

static struct ids_value step_time_of(const struct ids_report *const *reports, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        const struct ids_metric *metric = ids_report_find(reports[i], step_time, NULL);
        if (!metric || metric->value.missing || metric->value.unit != IDS_UNIT_TIME) return ids_no_value(IDS_UNIT_TIME);
        sum += (double)metric->value.i;
    }
    return ids_int_value(IDS_UNIT_TIME, (int64_t)(sum / (double)count + 0.5));
}

int ids_baseline_save(const char *name, const struct ids_report *const *reports, size_t count, int force,
                      int64_t now_unix_s, char **ret_path, struct ids_error *err) {
    struct ids_baseline baseline = {
        .name = strdup(name), .program = strdup("idsprof " IDS_VERSION), .saved_unix_s = now_unix_s};
    struct stat status;
    int code = baseline.name && baseline.program ? path_of(name, &baseline.path, err) : ids_no_memory(err);
    int exists = !code && !lstat(baseline.path, &status);
    if (!code && !force && exists)
        code = ids_fail(err, IDS_USAGE, "the baseline '%s' exists; use --force to overwrite", name);
    if (!code) code = make_folders(baseline.path, err);
    if (!code && exists && take_past(&baseline)) code = ids_no_memory(err);
    struct ids_baseline_event event = {.unix_s = now_unix_s,
                                       .runs = (int64_t)count,
                                       .program = baseline.program,
                                       .value = step_time_of(reports, count)};
    event.before = ids_no_value(IDS_UNIT_TIME);
    if (!event.value.missing) event.id = step_time;
    if (!code && add_event(&baseline, &event)) code = ids_no_memory(err);
    if (!code) code = put_file(&baseline, reports, count, err);
    if (!code) {
        *ret_path = baseline.path;
        baseline.path = NULL;
    }
    ids_baseline_done(&baseline);
    return code;
}

int ids_baseline_accept(struct ids_baseline *baseline, const struct ids_baseline_event *event, struct ids_error *err) {
    const struct ids_report **pointers = calloc(baseline->count, sizeof *pointers);
    struct ids_baseline_event own = *event;
    own.program = "idsprof " IDS_VERSION;
    if (!pointers || add_event(baseline, &own)) {
        free(pointers);
        return ids_no_memory(err);
    }
    for (size_t i = 0; i < baseline->count; i++) pointers[i] = &baseline->reports[i];
    int code = put_file(baseline, pointers, baseline->count, err);
    free(pointers);
    return code;
}

/* ---- which there are ---- */

int ids_baseline_remove(const char *name, struct ids_error *err) {
    char *path;
    int code = path_of(name, &path, err);
    if (!code && unlink(path)) {
        code = errno == ENOENT
                   ? ids_fail(err, IDS_NOT_FOUND, "no baseline '%s' ('idsprof baseline list' shows all)", name)
                   : ids_fail_system(err, "cannot remove '%s'", path);
    }
    free(path);
    return code;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_name(struct ids_baseline_names *names, const char *file) {
    size_t length = strlen(file);
    if (length < 4 || strcmp(file + length - 3, ".db") != 0) return 0;
    char *name = strndup(file, length - 3);
    if (name && !ids_baseline_is_name(name)) {
        free(name);
        return 0;
    }
    char **place = name ? IDS_PUSH(names->at, names->count, names->room) : NULL;
    if (place) {
        *place = name;
        return 0;
    }
    free(name);
    return -1;
}

int ids_baseline_names_list(struct ids_baseline_names *ret_names, struct ids_error *err) {
    char *folder;
    *ret_names = (struct ids_baseline_names){0};
    int code = folder_of(&folder, err);
    DIR *stream = code ? NULL : opendir(folder);
    if (!code && !stream && errno != ENOENT) code = ids_fail_system(err, "cannot read '%s'", folder);
    const struct dirent *found;
    while (!code && stream && (found = readdir(stream))) {
        if (add_name(ret_names, found->d_name)) code = ids_no_memory(err);
    }
    if (stream) closedir(stream);
    free(folder);
    if (code) ids_baseline_names_done(ret_names);
    if (ret_names->count) qsort(ret_names->at, ret_names->count, sizeof *ret_names->at, by_name);
    return code;
}

void ids_baseline_names_done(struct ids_baseline_names *names) {
    for (size_t i = 0; i < names->count; i++) free(names->at[i]);
    free(names->at);
    *names = (struct ids_baseline_names){0};
}
