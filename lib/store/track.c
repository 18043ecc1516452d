#include "lib/store/track.h"

#include "lib/base/memory.h"
#include "lib/io/unfinished.h"
#include "lib/store/db.h"
#include "lib/store/summary_file.h"
#include "lib/store/track.sql.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef IDS_VERSION
#define IDS_VERSION "unknown"
#endif

enum { SCHEMA = 1, RUNS_MOST = 100000, FIGURES_MOST = 1000000, VALUES_MOST = 200000000, LABELS_MOST = 1000 };

/* ---- reading ---- */

struct reader {
    sqlite3 *db;
    struct ids_series *series;
    uint64_t sum; /* not kept: such a file may be edited */
    int64_t values;
    struct ids_error *err;
};

static int damaged(struct reader *reader, const char *what) {
    return ids_fail(reader->err, IDS_CORRUPT, "damaged: %s", what);
}

static int read_each(struct reader *reader, const char *sql, int (*read)(void *reader, struct ids_rows *)) {
    return ids_rows_each(reader->db, &reader->sum, sql, read, reader, reader->err);
}

static int read_head(void *context, struct ids_rows *rows) {
    struct reader *reader = context;
    int64_t schema = ids_rows_get_int(rows, 0);
    if (schema == SCHEMA) return 0;
    return ids_fail(reader->err, IDS_UNSUPPORTED, "made by another version of idsprof: its schema is %lld, not %d",
                    (long long)schema, SCHEMA);
}

static int read_run(void *context, struct ids_rows *rows) {
    struct reader *reader = context;
    struct ids_series *series = reader->series;
    struct ids_series_run run = {0};
    int64_t number = ids_rows_get_int(rows, 0);
    const char *texts[4];
    run.unix_s = ids_rows_get_int(rows, 0);
    for (size_t i = 0; i < 4; i++) texts[i] = ids_rows_get_text(rows);
    if (number != (int64_t)series->run_count + 1 || number > RUNS_MOST) return damaged(reader, "runs out of order");
    for (size_t i = 0; i < 4; i++) {
        if (!texts[i]) return damaged(reader, "a run without a text");
    }
    run.name = texts[0];
    run.path = texts[1];
    run.devices = texts[2];
    run.program = texts[3];
    return ids_series_add_run(series, &run) ? 0 : ids_no_memory(reader->err);
}

static struct ids_series_run *run_of(struct reader *reader, struct ids_rows *rows) {
    int64_t number = ids_rows_get_int(rows, 0);
    if (number < 1 || number > (int64_t)reader->series->run_count) return NULL;
    return &reader->series->runs[number - 1];
}

static int read_label(void *context, struct ids_rows *rows) {
    struct reader *reader = context;
    struct ids_series_run *run = run_of(reader, rows);
    const char *key = ids_rows_get_text(rows), *value = ids_rows_get_text(rows);
    if (!run || !key || !value || run->label_count == LABELS_MOST) return damaged(reader, "a label");
    return ids_series_add_label(reader->series, run, key, value) ? ids_no_memory(reader->err) : 0;
}

static int read_figure(void *context, struct ids_rows *rows) {
    struct reader *reader = context;
    struct ids_series *series = reader->series;
    struct ids_series_figure figure = {.kind = IDS_FIGURE_KINDS};
    int64_t number = ids_rows_get_int(rows, 0);
    const char *kind = ids_rows_get_text(rows);
    for (int i = 0; i < IDS_FIGURE_KINDS && kind; i++) {
        if (!strcmp(ids_figure_kind_name((enum ids_figure_kind)i), kind)) figure.kind = (enum ids_figure_kind)i;
    }
    figure.name = ids_rows_get_text(rows);
    int64_t unit = ids_rows_get_int(rows, -1), better = ids_rows_get_int(rows, -1);
    if (number != (int64_t)series->figure_count + 1 || number > FIGURES_MOST || figure.kind == IDS_FIGURE_KINDS ||
        !figure.name || unit <= IDS_UNIT_NONE || unit >= IDS_UNITS || better < 0 || better > IDS_BETTER_HIGHER)
        return damaged(reader, "a figure");
    figure.unit = (enum ids_unit)unit;
    figure.better = (enum ids_better)better;
    size_t place = ids_series_place(series, &figure);
    if (place == SIZE_MAX) return ids_no_memory(reader->err);
    return place + 1 == (size_t)number ? 0 : damaged(reader, "a figure that is there twice");
}

static int read_value(void *context, struct ids_rows *rows) {
    struct reader *reader = context;
    struct ids_series_run *run = run_of(reader, rows);
    int64_t figure = ids_rows_get_int(rows, 0);
    struct ids_value value = ids_rows_get_value(rows, IDS_UNIT_NUMBER);
    if (!run || figure < 1 || figure > (int64_t)reader->series->figure_count || value.missing || !isfinite(value.d) ||
        ++reader->values > VALUES_MOST)
        return damaged(reader, "a value");
    return ids_series_put(run, (size_t)figure - 1, value.d) ? ids_no_memory(reader->err) : 0;
}

static int read_all(struct reader *reader) {
    int code = read_each(reader, "SELECT schema FROM track", read_head);
    if (code == IDS_CORRUPT)
        return ids_fail(reader->err, IDS_UNSUPPORTED, "not a file that 'idsprof track' made, so it is left as it is");
    if (!code)
        code = read_each(reader, "SELECT run, unix_s, name, path, devices, program FROM run ORDER BY run", read_run);
    if (!code) code = read_each(reader, "SELECT run, key, value FROM label ORDER BY run, rowid", read_label);
    if (!code)
        code = read_each(reader, "SELECT figure, kind, name, unit, better FROM figure ORDER BY figure", read_figure);
    if (!code) code = read_each(reader, "SELECT run, figure, value FROM value ORDER BY run, figure", read_value);
    return code;
}

int ids_track_load(const char *path, struct ids_series *ret_series, struct ids_error *err) {
    struct reader reader = {.series = ret_series, .err = err};
    *ret_series = (struct ids_series){0};
    int code = ids_db_open(path, IDS_DB_GIVEN, &reader.db, err);
    if (code == IDS_NOT_FOUND) return ids_fail(err, IDS_NOT_FOUND, "'%s': no such file", path);
    if (!code) {
        code = read_all(&reader);
        sqlite3_close(reader.db);
    }
    return code ? ids_error_at(err, "'%s'", path) : 0;
}

/* ---- writing ---- */

struct writer {
    sqlite3 *db;
    const struct ids_series *series;
    uint64_t sum;
    struct ids_error *err;
};

/* Each row of a table, by a function that puts its values; it returns 0 for a row that is left out. */
static int write_each(struct writer *writer, const char *sql, size_t count,
                      int (*put)(const struct writer *, struct ids_rows *, size_t)) {
    struct ids_rows rows;
    int code = ids_rows_prepare(&rows, writer->db, &writer->sum, sql, writer->err);
    for (size_t i = 0; i < count && !code; i++) {
        if (put(writer, &rows, i)) code = ids_rows_insert(&rows, writer->err);
    }
    ids_rows_done(&rows);
    return code;
}

static int put_head(const struct writer *writer, struct ids_rows *rows, size_t i) {
    (void)writer;
    (void)i;
    ids_rows_put_int(rows, SCHEMA);
    ids_rows_put_text(rows, "idsprof " IDS_VERSION);
    return 1;
}

static int put_run(const struct writer *writer, struct ids_rows *rows, size_t i) {
    const struct ids_series_run *run = &writer->series->runs[i];
    ids_rows_put_int(rows, (int64_t)i + 1);
    ids_rows_put_int(rows, run->unix_s);
    ids_rows_put_text(rows, run->name);
    ids_rows_put_text(rows, run->path);
    ids_rows_put_text(rows, run->devices);
    ids_rows_put_text(rows, run->program);
    return 1;
}

static int put_figure(const struct writer *writer, struct ids_rows *rows, size_t i) {
    const struct ids_series_figure *figure = &writer->series->figures[i];
    ids_rows_put_int(rows, (int64_t)i + 1);
    ids_rows_put_text(rows, ids_figure_kind_name(figure->kind));
    ids_rows_put_text(rows, figure->name);
    ids_rows_put_int(rows, figure->unit);
    ids_rows_put_int(rows, figure->better);
    return 1;
}

/* What a run has several of, labels and values. */
static int write_of_runs(struct writer *writer) {
    struct ids_rows labels, values;
    struct ids_error *err = writer->err;
    int code = ids_rows_prepare(&labels, writer->db, &writer->sum, "INSERT INTO label VALUES (?,?,?)", err);
    if (code) return code;
    code = ids_rows_prepare(&values, writer->db, &writer->sum, "INSERT INTO value VALUES (?,?,?)", err);
    for (size_t i = 0; i < writer->series->run_count && !code; i++) {
        const struct ids_series_run *run = &writer->series->runs[i];
        for (size_t l = 0; l < run->label_count && !code; l++) {
            ids_rows_put_int(&labels, (int64_t)i + 1);
            ids_rows_put_text(&labels, run->labels[l].key);
            ids_rows_put_text(&labels, run->labels[l].value);
            code = ids_rows_insert(&labels, err);
        }
        for (size_t f = 0; f < run->value_count && f < writer->series->figure_count && !code; f++) {
            if (isnan(run->values[f])) continue;
            ids_rows_put_int(&values, (int64_t)i + 1);
            ids_rows_put_int(&values, (int64_t)f + 1);
            ids_rows_put_value(&values, ids_real_value(IDS_UNIT_NUMBER, run->values[f]));
            code = ids_rows_insert(&values, err);
        }
    }
    ids_rows_done(&labels);
    ids_rows_done(&values);
    return code;
}

static int fill(const char *path, const struct ids_series *series, struct ids_error *err) {
    struct writer writer = {.series = series, .err = err};
    int code = ids_db_create(path, &writer.db, err);
    if (code) return code;
    code = ids_db_exec(writer.db, "BEGIN", err);
    if (!code) code = ids_db_exec(writer.db, ids_track_sql, err);
    if (!code) code = write_each(&writer, "INSERT INTO track VALUES (?,?)", 1, put_head);
    if (!code) code = write_each(&writer, "INSERT INTO run VALUES (?,?,?,?,?,?)", series->run_count, put_run);
    if (!code) code = write_each(&writer, "INSERT INTO figure VALUES (?,?,?,?,?)", series->figure_count, put_figure);
    if (!code) code = write_of_runs(&writer);
    if (!code) code = ids_db_exec(writer.db, "COMMIT", err);
    sqlite3_close(writer.db);
    return code;
}

/* The file gets its name when it is whole. */
static int write_whole(const char *path, const struct ids_series *series, struct ids_error *err) {
    char *temporary = NULL;
    ids_unfinished_sweep_beside(path); /* what a killed one left */
    int fd = ids_summary_open_beside(path, &temporary, err);
    int code = fd < 0 ? fd : fill(temporary, series, err);
    if (!code && ids_memory_ran_out()) code = ids_no_memory(err);
    if (!code && fsync(fd)) code = ids_fail_system(err, "cannot write '%s'", path);
    if (!code && rename(temporary, path)) code = ids_fail_system(err, "cannot write '%s'", path);
    if (fd >= 0) close(fd);
    if (code && temporary) unlink(temporary);
    free(temporary);
    return code;
}

/* ---- changing ---- */

/* Opens and locks the file of that name as it is now: who waited holds the lock of one that was renamed over. */
static int lock(const char *path, int *ret_fd, int *ret_is_new, struct ids_error *err) {
    struct stat own, named;
    for (;;) {
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0) return ids_fail_system(err, "cannot open '%s'", path);
        if (flock(fd, LOCK_EX) && errno != ENOLCK && errno != EOPNOTSUPP) {
            int code = ids_fail_system(err, "cannot lock '%s'", path);
            close(fd);
            return code;
        }
        if (!fstat(fd, &own) && !stat(path, &named) && own.st_ino == named.st_ino && own.st_dev == named.st_dev) {
            *ret_fd = fd;
            *ret_is_new = own.st_size == 0;
            return 0;
        }
        close(fd);
    }
}

int ids_track_update(const char *path, ids_track_change *change, void *user, struct ids_error *err) {
    struct ids_series series = {0};
    int fd = -1, is_new = 0, code = lock(path, &fd, &is_new, err);
    if (code) return code;
    if (!is_new) code = ids_track_load(path, &series, err);
    if (!code) code = change(&series, user, err);
    if (!code) {
        ids_series_sort(&series);
        code = write_whole(path, &series, err);
    }
    if (code && is_new) unlink(path);
    close(fd);
    ids_series_done(&series);
    return code;
}
