#include "lib/compare/run_figures.h"

#include "lib/compare/difference.h"
#include "lib/compare/items.h"
#include "lib/compare/ledger_rows.h"
#include "lib/hlo/scope.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 512 };

/* The figures of one run, put together name by name. */
struct gathering {
    struct ids_series sums; /* of one run */
    struct ids_report texts;
    double whole_ps; /* a step, or the window; 0: not known */
};

static int add(struct gathering *gathering, enum ids_figure_kind kind, const char *name, double value) {
    const struct ids_series_figure figure = {kind, name, IDS_UNIT_TIME, IDS_BETTER_LOWER};
    struct ids_series_run *run = gathering->sums.runs;
    size_t place = ids_series_place(&gathering->sums, &figure);
    if (place == SIZE_MAX) return -1;
    double before = place < run->value_count ? run->values[place] : NAN;
    return ids_series_put(run, place, isnan(before) ? value : before + value);
}

static int add_headline(struct gathering *gathering, const struct ids_side *side) {
    struct ids_difference rows[IDS_HEADLINES];
    size_t count = ids_headline_of_run(side, 0, rows);
    for (size_t i = 0; i < count; i++) {
        const struct ids_series_figure figure = {IDS_FIGURE_METRIC, rows[i].id, rows[i].unit, rows[i].better};
        size_t place = ids_series_place(&gathering->sums, &figure);
        if (place == SIZE_MAX) return -1;
        if (rows[i].has_a && ids_series_put(gathering->sums.runs, place, rows[i].a)) return -1;
        if (!i && rows[i].has_a && rows[i].unit == IDS_UNIT_TIME) gathering->whole_ps = rows[i].a;
    }
    return 0;
}

static int is_of_host(const char *account) {
    return !strncmp(account, "host.", 5);
}

static int add_ledger(struct gathering *gathering, const struct ids_side_run *run) {
    struct ids_ledger_row row;
    char name[NAME_BYTES];
    for (struct ids_ledger_reading at = ids_ledger_begin(run); ids_ledger_next(&at, &row);) {
        if (add(gathering, IDS_FIGURE_ACCOUNT, row.account, row.per_step_ps)) return -1;
        if (!row.culprit || !is_of_host(row.account)) continue;
        snprintf(name, sizeof name, "%s: %s", row.account, row.culprit);
        if (add(gathering, IDS_FIGURE_HOST, name, row.per_step_ps)) return -1;
    }
    return 0;
}

/* "a", "a/b" and "a/b/c" of "a/b/c": a scope is with all that is in it. */
static int add_scopes(struct gathering *gathering, const char *scope, double time_ps) {
    char path[IDS_SCOPE_BYTES];
    for (size_t i = 0; scope[i]; i++) {
        if (scope[i + 1] && scope[i + 1] != '/') continue;
        memcpy(path, scope, i + 1);
        path[i + 1] = '\0';
        if (add(gathering, IDS_FIGURE_SCOPE, path, time_ps)) return -1;
    }
    return 0;
}

static int add_items(struct gathering *gathering, const struct ids_side *side, enum ids_item_kind kind) {
    struct ids_items items;
    struct ids_error unused;
    if (ids_items_make(side, kind, &gathering->texts, &items, &unused)) return -1;
    int failed = 0;
    for (size_t i = 0; i < items.count && !failed; i++) {
        const struct ids_item *item = &items.at[i];
        char scope[IDS_SCOPE_BYTES] = "", name[NAME_BYTES];
        if (kind == IDS_ITEM_KERNELS) {
            failed = add(gathering, IDS_FIGURE_KERNEL, item->name, item->time_ps);
            continue;
        }
        ids_scope_of(item->op_name, scope);
        snprintf(name, sizeof name, "%s: %s", *scope ? scope : item->module, item->base);
        failed = add_scopes(gathering, scope, item->time_ps) || add(gathering, IDS_FIGURE_OP, name, item->time_ps);
    }
    ids_items_done(&items);
    return failed;
}

/* What is small, and unknown to the series, is left out: else each name that ever appears were a figure. */
static int keep(const struct gathering *gathering, struct ids_series *series, struct ids_series_run *run) {
    const struct ids_series *sums = &gathering->sums;
    for (size_t i = 0; i < sums->figure_count && i < sums->runs->value_count; i++) {
        const struct ids_series_figure *figure = &sums->figures[i];
        double value = sums->runs->values[i];
        int is_small = figure->kind != IDS_FIGURE_METRIC && value < IDS_FIGURE_LEAST * gathering->whole_ps;
        if (isnan(value) || (is_small && ids_series_find(series, figure->kind, figure->name) == SIZE_MAX)) continue;
        size_t place = ids_series_place(series, figure);
        if (place == SIZE_MAX || ids_series_put(run, place, value)) return -1;
    }
    return 0;
}

int ids_run_figures(const struct ids_side *side, const struct ids_series_run *head, struct ids_series *series,
                    struct ids_error *err) {
    struct gathering gathering = {0};
    ids_report_init(&gathering.texts);
    int failed = !ids_series_add_run(&gathering.sums, head) || add_headline(&gathering, side) ||
                 add_ledger(&gathering, &side->runs[0]) || add_items(&gathering, side, IDS_ITEM_OPS) ||
                 add_items(&gathering, side, IDS_ITEM_KERNELS);
    struct ids_series_run *added = failed ? NULL : ids_series_add_run(series, head);
    failed = !added || keep(&gathering, series, added);
    failed |= gathering.texts.out_of_memory;
    for (size_t i = 0; i < head->label_count && !failed; i++)
        failed = ids_series_add_label(series, added, head->labels[i].key, head->labels[i].value);
    ids_series_done(&gathering.sums);
    ids_report_done(&gathering.texts);
    return failed ? ids_no_memory(err) : 0;
}
