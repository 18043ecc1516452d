#include "lib/report/series.h"

#include "lib/base/intern.h"
#include "lib/base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *ids_figure_kind_name(enum ids_figure_kind kind) {
    static const char *const names[IDS_FIGURE_KINDS] = {"metric", "account", "scope", "op", "kernel", "host"};
    return names[kind];
}

void ids_series_done(struct ids_series *series) {
    for (size_t i = 0; i < series->run_count; i++) {
        free(series->runs[i].labels);
        free(series->runs[i].values);
    }
    free(series->runs);
    free(series->figures);
    ids_keymap_done(&series->places);
    ids_arena_done(&series->arena);
    *series = (struct ids_series){0};
}

static const char *copy_of(struct ids_series *series, const char *text) {
    return ids_arena_copy(&series->arena, text ? text : "", text ? strlen(text) : 0);
}

struct ids_series_run *ids_series_add_run(struct ids_series *series, const struct ids_series_run *run) {
    struct ids_series_run own = {.unix_s = run->unix_s};
    own.name = copy_of(series, run->name);
    own.path = copy_of(series, run->path);
    own.devices = copy_of(series, run->devices);
    own.program = copy_of(series, run->program);
    if (!own.name || !own.path || !own.devices || !own.program) return NULL;
    struct ids_series_run *place = IDS_PUSH(series->runs, series->run_count, series->run_room);
    if (place) *place = own;
    return place;
}

void ids_series_remove_run(struct ids_series *series, size_t run) {
    free(series->runs[run].labels);
    free(series->runs[run].values);
    series->run_count--;
    memmove(&series->runs[run], &series->runs[run + 1], (series->run_count - run) * sizeof *series->runs);
}

int ids_series_add_label(struct ids_series *series, struct ids_series_run *run, const char *key, const char *value) {
    struct ids_series_label label = {copy_of(series, key), copy_of(series, value)};
    if (!label.key || !label.value) return -1;
    for (size_t i = 0; i < run->label_count; i++) {
        if (strcmp(run->labels[i].key, key) != 0) continue;
        run->labels[i].value = label.value;
        return 0;
    }
    struct ids_series_label *place = IDS_PUSH(run->labels, run->label_count, run->label_room);
    if (place) *place = label;
    return place ? 0 : -1;
}

const char *ids_series_label(const struct ids_series_run *run, const char *key) {
    for (size_t i = 0; i < run->label_count; i++) {
        if (!strcmp(run->labels[i].key, key)) return run->labels[i].value;
    }
    return NULL;
}

static uint64_t key_of(enum ids_figure_kind kind, const char *name) {
    return ids_key_of((uint64_t)kind + 1, ids_hash_bytes(name, strlen(name)));
}

size_t ids_series_find(const struct ids_series *series, enum ids_figure_kind kind, const char *name) {
    uint64_t place;
    return ids_keymap_get(&series->places, key_of(kind, name), &place) ? (size_t)place - 1 : SIZE_MAX;
}

size_t ids_series_place(struct ids_series *series, const struct ids_series_figure *figure) {
    uint64_t *place = ids_keymap_at(&series->places, key_of(figure->kind, figure->name));
    if (!place) return SIZE_MAX;
    if (*place) return (size_t)*place - 1;
    const char *name = copy_of(series, figure->name);
    struct ids_series_figure *added =
        name ? IDS_PUSH(series->figures, series->figure_count, series->figure_room) : NULL;
    if (!added) return SIZE_MAX;
    *added = *figure;
    added->name = name;
    *place = series->figure_count;
    return series->figure_count - 1;
}

int ids_series_put(struct ids_series_run *run, size_t figure, double value) {
    if (figure >= run->value_count) {
        size_t count = figure + figure / 2 + 16;
        double *values = realloc(run->values, count * sizeof *values);
        if (!values) return -1;
        for (size_t i = run->value_count; i < count; i++) values[i] = NAN;
        run->values = values;
        run->value_count = count;
    }
    run->values[figure] = value;
    return 0;
}

static int has_kind(const struct ids_series *series, const struct ids_series_run *run, enum ids_figure_kind kind) {
    for (size_t i = 0; i < run->value_count && i < series->figure_count; i++) {
        if (series->figures[i].kind == kind && !isnan(run->values[i])) return 1;
    }
    return 0;
}

double ids_series_value(const struct ids_series *series, size_t run, size_t figure) {
    const struct ids_series_run *of = &series->runs[run];
    enum ids_figure_kind kind = series->figures[figure].kind;
    double value = figure < of->value_count ? of->values[figure] : NAN;
    if (!isnan(value) || kind == IDS_FIGURE_METRIC) return value;
    return has_kind(series, of, kind) ? 0 : NAN;
}

static int by_time(const void *a, const void *b) {
    const struct ids_series_run *left = a, *right = b;
    if (left->unix_s != right->unix_s) return left->unix_s < right->unix_s ? -1 : 1;
    return strcmp(left->name, right->name);
}

void ids_series_sort(struct ids_series *series) {
    if (series->run_count) qsort(series->runs, series->run_count, sizeof *series->runs, by_time);
}
