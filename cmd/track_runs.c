#include "cmd/track_runs.h"

#include "lib/base/counted.h"
#include "lib/capture/variables.h"
#include "lib/compare/run_figures.h"
#include "lib/run/format_names.h"
#include "lib/wire/shell_quote.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef IDS_VERSION
#define IDS_VERSION "unknown"
#endif

enum { DAY_S = 24 * 60 * 60, LABEL_BYTES = 1024, NUMBER_BYTES = 32 };
#define NS_PER_S INT64_C(1000000000)
static const char INCOMPLETE[] = "incomplete"; /* the label of a run of which something is missing: what */

/* ---- dates ---- */

int ids_track_date(const char *text, int64_t *ret_unix_s, struct ids_error *err) {
    struct tm utc = {0};
    const char *rest = strptime(text, "%Y-%m-%d", &utc);
    if (rest && *rest) rest = strptime(rest, "T%H:%M:%S", &utc);
    if (!rest || *rest) return ids_fail(err, IDS_USAGE, "'%s' is no date like 2026-10-11 or 2026-10-11T04:00:00", text);
    struct tm counted = utc; /* what is too much for a month or a minute goes into the next one */
    *ret_unix_s = (int64_t)timegm(&counted);
    if (counted.tm_mday != utc.tm_mday || counted.tm_min != utc.tm_min)
        return ids_fail(err, IDS_USAGE, "'%s': there is no such day or time", text);
    return 0;
}

/* A glob of names that begins like one is none. */
static int is_date(const char *text) {
    return strlen(text) >= 10 && !strpbrk(text, "*?[") && strspn(text, "0123456789") == 4 && text[4] == '-' &&
           text[7] == '-';
}

/* ---- adding ---- */

/* 0: the recording does not say. */
static int64_t says_when_ns(const struct ids_report *report) {
    const struct ids_value *value = ids_report_find_property(report, "recorded_unix_ns");
    return value && !value->missing && value->unit == IDS_UNIT_COUNT && value->i > 0 ? value->i : 0;
}

static int64_t recorded_at(const struct ids_report *report, const struct ids_run_label *label) {
    int64_t ns = says_when_ns(report);
    return ns ? ns / NS_PER_S : label->time_s;
}

static const char *text_of(const struct ids_report *report, const char *id) {
    const struct ids_value *value = ids_report_find_property(report, id);
    return value && !value->missing && value->unit == IDS_UNIT_NONE ? value->text : "";
}

static int split(const char *text, char key[LABEL_BYTES], const char **ret_value, struct ids_error *err) {
    const char *sign = strchr(text, '=');
    if (!sign || sign == text || (size_t)(sign - text) >= LABEL_BYTES)
        return ids_fail(err, IDS_USAGE, "'%s': expected KEY=VALUE", text);
    memcpy(key, text, (size_t)(sign - text));
    key[sign - text] = '\0';
    *ret_value = sign + 1;
    return 0;
}

/* What the path says, then the file, then what was given: the last counts. */
static int add_labels(struct ids_series *series, struct ids_series_run *run, const struct ids_run_label *path,
                      const struct ids_variables *file, const struct ids_track_labels *labels, struct ids_error *err) {
    char key[LABEL_BYTES], number[NUMBER_BYTES];
    const char *value = "";
    /* A name that begins with the method says it already. */
    int says_more = *path->method && strncmp(run->name, path->method, strlen(path->method)) != 0;
    int failed = says_more ? ids_series_add_label(series, run, "method", path->method) : 0;
    snprintf(number, sizeof number, "%lld", (long long)path->step);
    if (!failed && path->step >= 0) failed = ids_series_add_label(series, run, "step", number);
    for (size_t i = 0; i < file->count && !failed; i++) {
        int code = split(file->at[i], key, &value, err);
        if (code) return code;
        failed = ids_series_add_label(series, run, key, value);
    }
    for (size_t i = 0; i < labels->given->count && !failed; i++) {
        int code = split(labels->given->at[i], key, &value, err);
        if (code) return code;
        failed = ids_series_add_label(series, run, key, value);
    }
    return failed ? ids_no_memory(err) : 0;
}

static int has_same_figures(const struct ids_series_run *a, const struct ids_series_run *b) {
    size_t common = 0;
    for (size_t i = 0; i < a->value_count && i < b->value_count; i++) {
        if (isnan(a->values[i]) || isnan(b->values[i])) continue; /* what is small may be in one of them alone */
        if (a->values[i] != b->values[i]) return 0;
        common++;
    }
    return common > 0;
}

/* A recording may be given as its folder, its file, that packed, a partial or a copy: what it says of itself tells,
 * when it was recorded, on what, and all that was measured. Of one that does not say when it was recorded only the path
 * tells: a benchmark may be the same to the digit on two days. Where a date is given the one before was wrong, or was
 * guessed: the path and all that was measured tell. */
static int is_same_recording(const struct ids_series_run *a, const struct ids_series_run *b, int says_when,
                             int is_dated) {
    int is_same_path = !strcmp(a->name, b->name) && !strcmp(a->path, b->path);
    if (is_same_path && ids_series_label(a, INCOMPLETE)) return 1; /* the time may have been in what was missing */
    if (a->unix_s == b->unix_s && is_same_path) return 1;
    if (!has_same_figures(a, b)) return 0;
    if (is_same_path) return says_when || is_dated;
    return says_when && a->unix_s == b->unix_s && !strcmp(a->devices, b->devices);
}

/* What is known of it and not given again still holds, but for what was missing. */
static int keep_labels(struct ids_series *series, const struct ids_series_run *old, struct ids_series_run *last) {
    int failed = 0;
    for (size_t i = 0; i < old->label_count && !failed; i++) {
        const char *key = old->labels[i].key;
        if (strcmp(key, INCOMPLETE) != 0 && !ids_series_label(last, key))
            failed = ids_series_add_label(series, last, key, old->labels[i].value);
    }
    return failed;
}

/* The same recording once: what is added last says most of it. */
static int replace(struct ids_series *series, int says_when, int is_dated, struct ids_track_added *added) {
    struct ids_series_run *last = &series->runs[series->run_count - 1];
    for (size_t i = 0; i + 1 < series->run_count; i++) {
        const struct ids_series_run *old = &series->runs[i];
        if (!is_same_recording(old, last, says_when, is_dated)) continue;
        if (keep_labels(series, old, last)) return -1;
        added->replaced++;
        if (old->unix_s != last->unix_s) {
            added->redated++;
            added->was = old->unix_s;
            added->is = last->unix_s;
        }
        ids_series_remove_run(series, i);
        return 0;
    }
    return 0;
}

static int add_run(struct ids_series *series, const struct ids_open_side *runs, size_t i,
                   const struct ids_variables *file, const struct ids_track_labels *labels, struct ids_error *err) {
    const struct ids_report *report = runs->pointers[i];
    struct ids_series_run head = {.unix_s = recorded_at(report, &runs->labels[i]),
                                  .name = text_of(report, "name"),
                                  .devices = text_of(report, "devices"),
                                  .program = "idsprof " IDS_VERSION};
    struct ids_side side;
    int code = labels->date ? ids_track_date(labels->date, &head.unix_s, err) : 0;
    if (code) return code;
    char *path = realpath(text_of(report, "path"), NULL);
    head.path = path ? path : text_of(report, "path");
    code = ids_side_init(&side, head.name, &runs->pointers[i], 1, ids_format_lacks, err);
    if (!code) {
        struct ids_side *const settled[] = {&side};
        ids_sides_settle(settled, 1, IDS_RECORDING_WINDOW);
        code = ids_run_figures(&side, &head, series, err);
        ids_side_done(&side);
    }
    free(path);
    if (!code && !report->complete &&
        ids_series_add_label(series, &series->runs[series->run_count - 1], INCOMPLETE,
                             ids_report_why_incomplete(report)))
        code = ids_no_memory(err);
    return code ? code : add_labels(series, &series->runs[series->run_count - 1], &runs->labels[i], file, labels, err);
}

/* What every run has of itself, or `add` alone says of it. */
static int check_key(const char *key, struct ids_error *err) {
    static const char *const own[] = {"name", "devices", "program", INCOMPLETE};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (!strcmp(key, own[i]))
            return ids_fail(err, IDS_USAGE, "the label '%s' is the run's own; choose another name", key);
    }
    return 0;
}

static int check_label(const char *text, struct ids_error *err) {
    char key[LABEL_BYTES];
    const char *unused;
    int code = split(text, key, &unused, err);
    return code ? code : check_key(key, err);
}

int ids_track_check_labels(const struct ids_track_labels *labels, struct ids_error *err) {
    const struct ids_opt_texts *given = labels->given;
    int64_t unused;
    int code = labels->date ? ids_track_date(labels->date, &unused, err) : 0;
    for (size_t i = 0; i < given->count && !code; i++) {
        code = check_label(given->at[i], err);
        for (size_t k = 0; k < i && !code; k++) {
            size_t length = strcspn(given->at[i], "=");
            if (!strncmp(given->at[i], given->at[k], length + 1))
                code = ids_fail(err, IDS_USAGE, "the label '%.*s' is given twice: '%s', '%s'", (int)length,
                                given->at[i], given->at[k], given->at[i]);
        }
    }
    return code;
}

int ids_track_add_runs(struct ids_series *series, const struct ids_open_side *runs,
                       const struct ids_track_labels *labels, struct ids_track_added *ret_added,
                       struct ids_error *err) {
    struct ids_variables file = {0};
    int code = labels->file ? ids_variables_read(&file, labels->file, err) : 0;
    *ret_added = (struct ids_track_added){0};
    for (size_t i = 0; i < file.count && !code; i++) {
        code = check_label(file.at[i], err);
        if (code) ids_error_at(err, "%s", labels->file);
    }
    if (!code && labels->date && runs->count > 1)
        code = ids_fail(err, IDS_USAGE, "--date is of one run, and there are %zu", runs->count);
    for (size_t i = 0; i < runs->count && !code; i++) {
        code = add_run(series, runs, i, &file, labels, err);
        int says_when = says_when_ns(runs->pointers[i]) > 0;
        if (!code && replace(series, says_when, labels->date != NULL, ret_added)) code = ids_no_memory(err);
    }
    ids_variables_done(&file);
    return code;
}

/* ---- choosing ---- */

static const char *value_of(const struct ids_series_run *run, const char *key) {
    const char *label = ids_series_label(run, key);
    if (label) return label;
    return !strcmp(key, "devices")   ? run->devices
           : !strcmp(key, "name")    ? run->name
           : !strcmp(key, "program") ? run->program
                                     : NULL;
}

/* "4" of "4 \xc3\x97 TPU v4" too. */
static int is_wanted(const char *key, const char *value, const char *wanted) {
    if (!strcmp(value, wanted) || !fnmatch(wanted, value, 0)) return 1;
    size_t digits = strcmp(key, "devices") != 0 ? 0 : strspn(wanted, "0123456789");
    return digits && !wanted[digits] && !strncmp(value, wanted, digits) && value[digits] == ' ';
}

int ids_track_keep(struct ids_series *series, const struct ids_opt_texts *where, struct ids_error *err) {
    for (size_t w = 0; w < where->count; w++) {
        char key[LABEL_BYTES];
        const char *wanted = "";
        int code = split(where->at[w], key, &wanted, err);
        if (code) return code;
        for (size_t i = series->run_count; i-- > 0;) {
            const char *value = value_of(&series->runs[i], key);
            if (!value || !is_wanted(key, value, wanted)) ids_series_remove_run(series, i);
        }
        if (!series->run_count) return ids_fail(err, IDS_NOT_FOUND, "no run has the label %s", where->at[w]);
    }
    return 0;
}

/* Leaves out all for which `is_kept` says 0. The note says how many there are, and the last of them: that is often what
 * is looked for. */
static void leave_out(struct ids_series *series, int (*is_kept)(const struct ids_series_run *, const char *text),
                      const char *text, const char *what, const char *key, struct ids_track_notes *notes) {
    struct ids_course_note *note = &notes->at[notes->count];
    size_t count = 0;
    for (size_t i = 0; i < series->run_count; i++) count += !is_kept(&series->runs[i], text);
    if (!count) return;
    notes->count++;
    for (size_t i = series->run_count, seen = 0; i-- > 0;) {
        const struct ids_series_run *run = &series->runs[i];
        if (is_kept(run, text)) continue;
        if (!seen++) {
            char wanted[IDS_COURSE_NOTE], called[IDS_COURSE_NAME];
            const char *value = value_of(run, key);
            int is_of_devices = !strcmp(key, "devices");
            snprintf(note->text, sizeof note->text, "left out: %s%s, %s%s: %.700s", IDS_COUNTED(count, what),
                     is_of_devices ? " on other devices" : "", count > 1 ? "the last " : "",
                     ids_course_name(run, called), value);
            snprintf(wanted, sizeof wanted, "%s=%s", key, is_of_devices ? value : "*");
            if (ids_shell_quote(wanted, note->where, sizeof note->where) < 0) *note->where = '\0';
        }
        ids_series_remove_run(series, i);
    }
}

static int is_whole(const struct ids_series_run *run, const char *unused) {
    (void)unused;
    return !ids_series_label(run, INCOMPLETE);
}

static int is_on(const struct ids_series_run *run, const char *devices) {
    return !strcmp(run->devices, devices);
}

/* Those of the most of the last runs, and of two that are as many the later: one night that lost a host hides nothing,
 * and a job that moved is followed as soon as there are three runs, which are a level. */
static const char *usual_devices(const struct ids_series *series) {
    size_t first = series->run_count > IDS_COURSE_RUNS ? series->run_count - IDS_COURSE_RUNS : 0, most = 0;
    const char *usual = "";
    for (size_t i = series->run_count; i-- > first;) {
        size_t count = 0;
        for (size_t k = first; k < series->run_count; k++)
            count += is_on(&series->runs[k], series->runs[i].devices) != 0;
        if (count <= most) continue;
        most = count;
        usual = series->runs[i].devices;
    }
    return usual;
}

void ids_track_keep_comparable(struct ids_series *series, struct ids_track_notes *notes) {
    size_t whole = 0;
    *notes = (struct ids_track_notes){0};
    for (size_t i = 0; i < series->run_count; i++) whole += is_whole(&series->runs[i], NULL) != 0;
    if (whole) leave_out(series, is_whole, NULL, "incomplete run", INCOMPLETE, notes);
    leave_out(series, is_on, usual_devices(series), "run", "devices", notes);
}

/* DATE..DATE: from the begin of the first day to the end of the last. */
static int range_of(const char *text, int64_t *ret_from, int64_t *ret_to, struct ids_error *err) {
    const char *dots = strstr(text, "..");
    char first[NUMBER_BYTES];
    *ret_from = INT64_MIN;
    *ret_to = INT64_MAX;
    if (!dots && !is_date(text)) return IDS_NOT_FOUND;
    size_t length = dots ? (size_t)(dots - text) : strlen(text);
    snprintf(first, sizeof first, "%.*s", (int)(length < NUMBER_BYTES ? length : NUMBER_BYTES - 1), text);
    if ((*first && !is_date(first)) || (dots && dots[2] && !is_date(dots + 2))) return IDS_NOT_FOUND;
    int code = *first ? ids_track_date(first, ret_from, err) : 0;
    const char *last = dots ? dots + 2 : first;
    if (!code && *last) {
        code = ids_track_date(last, ret_to, err);
        if (!code && !strchr(last, 'T')) *ret_to += DAY_S - 1;
    }
    return code;
}

int ids_track_pick(const struct ids_series *series, const char *text, size_t **ret_at, size_t *ret_count,
                   struct ids_error *err) {
    int64_t from, to;
    size_t *at = calloc(series->run_count + 1, sizeof *at), count = 0;
    if (!at) return ids_no_memory(err);
    int code = range_of(text, &from, &to, err), by_name = code == IDS_NOT_FOUND;
    for (size_t i = 0; i < series->run_count && code == IDS_USAGE; i++) {
        if (strcmp(text, series->runs[i].name) != 0) continue; /* "2026-10-11_b" */
        code = by_name = IDS_NOT_FOUND;
        *err = (struct ids_error)IDS_ERROR_INIT;
    }
    for (size_t i = 0; i < series->run_count && (!code || by_name); i++) {
        const struct ids_series_run *run = &series->runs[i];
        int is_meant = by_name ? !strcmp(text, run->name) || !fnmatch(text, run->name, 0)
                               : run->unix_s >= from && run->unix_s <= to;
        if (is_meant) at[count++] = i;
    }
    if (by_name) code = 0;
    if (!code && !count)
        code = ids_fail(err, IDS_NOT_FOUND, "'%s': no run is of that %s", text, by_name ? "name" : "time");
    if (code) {
        free(at);
        return code;
    }
    *ret_at = at;
    *ret_count = count;
    return 0;
}
