/* series.h - figures of many runs: a row a run, a column a figure. What `idsprof track` keeps and asks.
 *
 * A figure is known by its kind and name: ("metric", "steps.mean"), ("account", "host.python"), ("scope",
 * "model/layer_3"), ("op", "model/layer_3: fusion"), ("kernel", ...), ("host", "host.python: load (train.py:12)").
 * Times are in ps, per step (without steps in the window) and device.
 */
#ifndef IDS_LIB_REPORT_SERIES_H
#define IDS_LIB_REPORT_SERIES_H

#include "lib/report/report.h"

enum ids_figure_kind {
    IDS_FIGURE_METRIC,
    IDS_FIGURE_ACCOUNT,
    IDS_FIGURE_SCOPE, /* a named scope with all that is in it */
    IDS_FIGURE_OP,
    IDS_FIGURE_KERNEL,
    IDS_FIGURE_HOST, /* a culprit of an account of the host */
    IDS_FIGURE_KINDS
};
const char *ids_figure_kind_name(enum ids_figure_kind kind); /* "scope" */

struct ids_series_figure {
    enum ids_figure_kind kind;
    const char *name;
    enum ids_unit unit;
    enum ids_better better;
};

struct ids_series_label {
    const char *key, *value;
};

struct ids_series_run {
    int64_t unix_s; /* when it was recorded */
    const char *name, *path, *devices, *program;
    struct ids_series_label *labels;
    size_t label_count, label_room;
    double *values; /* by figure, NAN: none; figures from value_count on have none either */
    size_t value_count;
};

struct ids_series {
    struct ids_arena arena; /* of all texts */
    struct ids_series_run *runs;
    size_t run_count, run_room;
    struct ids_series_figure *figures;
    size_t figure_count, figure_room;
    struct ids_keymap places; /* of figures, by kind and name: place + 1 */
};

void ids_series_done(struct ids_series *series);

/* Appends a run without figures and labels, with copies of the texts. NULL when memory ran out. It stays where it is
 * until the next one. */
struct ids_series_run *ids_series_add_run(struct ids_series *series, const struct ids_series_run *run);
void ids_series_remove_run(struct ids_series *series, size_t run);
/* 0, or -1 when memory ran out. A key that is there already gets the new value. */
int ids_series_add_label(struct ids_series *series, struct ids_series_run *run, const char *key, const char *value);
const char *ids_series_label(const struct ids_series_run *run, const char *key); /* NULL: none */
/* The place of a figure, which is added where it is new; SIZE_MAX when memory ran out. */
size_t ids_series_place(struct ids_series *series, const struct ids_series_figure *figure);
/* SIZE_MAX: there is none. */
size_t ids_series_find(const struct ids_series *series, enum ids_figure_kind kind, const char *name);
int ids_series_put(struct ids_series_run *run, size_t figure, double value);

/* The value of a run. What takes time (all kinds but metrics) and is not in a run that has others of its kind took none
 * there: 0. Else NAN: not known. */
double ids_series_value(const struct ids_series *series, size_t run, size_t figure);

/* By time, then by name. */
void ids_series_sort(struct ids_series *series);

#endif
