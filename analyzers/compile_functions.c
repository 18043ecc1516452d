#include "analyzers/compile_functions.h"

#include "lib/base/saturate.h"
#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

static const struct ids_column_def columns[] = {
    {"function", "function", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"total", "total", IDS_UNIT_TIME, 0},
    {"backend", "backend", IDS_UNIT_TIME, 0},
    {"tracing", "tracing", IDS_UNIT_TIME, 0},
    {"lowering", "lowering", IDS_UNIT_TIME, 0},
    {"compilations", "compilations", IDS_UNIT_COUNT, 0},
    {"in_steps", "inside steps", IDS_UNIT_COUNT, 0},
    {"cache_hits", "cache hits", IDS_UNIT_COUNT, 0},
    {"cache_misses", "cache misses", IDS_UNIT_COUNT, 0},
    {"reason", "why again", IDS_UNIT_NONE, IDS_COLUMN_LONG},
};
const struct ids_table_def ids_compile_functions = {
    "compile_functions",
    "compilation by function",
    columns,
    IDS_COUNT_OF(columns),
    "One row per jitted function, most expensive first, at most 10,000: sums over what jax.monitoring reported to "
    "idsprof's Python hook. "
    "`backend` is the compilation by XLA or the read of the persistent cache in its place; `compilations` counts "
    "both. `reason` is why it was compiled again in the longest of these compilations (table compiles). "
    "A run that was recorded without the hook has no rows.",
    0,
};

enum { KEPT = 10000 };

struct ids_compile_told {
    struct ids_text function, reason;
    int64_t reason_ps; /* of the compilation that it is the reason of */
    int64_t backend_ps, tracing_ps, lowering_ps, total_ps;
    int64_t compilations, in_steps, hits, misses;
};

/* One event as a row of its own. 0 when it is none of compiling. */
static int tell(const struct ids_analysis *analysis, const struct ids_event *event, struct ids_compile_told *told) {
    int64_t length_ps = event->end_ps - event->start_ps;
    *told = (struct ids_compile_told){.function = ids_told_function(analysis->trace, event)};
    switch (event->kind) {
    case IDS_KIND_COMPILE:
        told->backend_ps = told->total_ps = length_ps;
        told->compilations = 1;
        told->reason = ids_recompile_reason(analysis->trace, event);
        told->reason_ps = told->reason.length ? length_ps : -1;
        told->in_steps = ids_step_of_host_event(analysis, event) != NULL;
        return 1;
    case IDS_KIND_TRACE:
        told->tracing_ps = told->total_ps = length_ps;
        return 1;
    case IDS_KIND_LOWER:
        told->lowering_ps = told->total_ps = length_ps;
        return 1;
    case IDS_KIND_CACHE_HIT:
        told->hits = 1;
        return 1;
    case IDS_KIND_CACHE_MISS:
        told->misses = 1;
        return 1;
    default:
        return 0;
    }
}

int ids_compile_functions_add(const struct ids_analysis *analysis, const struct ids_track *track,
                              struct ids_compile_list *list) {
    if (!ids_track_is_told(analysis->trace, track)) return 0;
    struct ids_cursor cursor = ids_cursor_over(&track->events);
    for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
        struct ids_compile_told told;
        if (!tell(analysis, event, &told)) continue;
        struct ids_compile_told *kept = IDS_PUSH(list->at, list->count, list->room);
        if (!kept) return -1;
        *kept = told;
    }
    return 0;
}

static int by_function(const void *a, const void *b) {
    const struct ids_compile_told *left = a, *right = b;
    uint32_t shorter = left->function.length < right->function.length ? left->function.length : right->function.length;
    int order = shorter ? memcmp(left->function.at, right->function.at, shorter) : 0;
    if (order) return order;
    return (left->function.length > right->function.length) - (left->function.length < right->function.length);
}

static int dearest_first(const void *a, const void *b) {
    const struct ids_compile_told *left = a, *right = b;
    if (left->total_ps != right->total_ps) return left->total_ps < right->total_ps ? 1 : -1;
    return by_function(a, b);
}

/* The rows of one function into one. */
static void unite(struct ids_compile_list *list) {
    size_t made = 0;
    if (list->count) qsort(list->at, list->count, sizeof *list->at, by_function);
    for (size_t i = 0; i < list->count; i++) {
        const struct ids_compile_told *one = &list->at[i];
        if (!made || by_function(&list->at[made - 1], one) != 0) {
            list->at[made++] = *one;
            continue;
        }
        struct ids_compile_told *sum = &list->at[made - 1];
        ids_sum(&sum->backend_ps, one->backend_ps);
        ids_sum(&sum->tracing_ps, one->tracing_ps);
        ids_sum(&sum->lowering_ps, one->lowering_ps);
        ids_sum(&sum->total_ps, one->total_ps);
        sum->compilations += one->compilations;
        sum->in_steps += one->in_steps;
        sum->hits += one->hits;
        sum->misses += one->misses;
        if (one->reason.length && (!sum->reason.length || one->reason_ps > sum->reason_ps)) {
            sum->reason = one->reason;
            sum->reason_ps = one->reason_ps;
        }
    }
    list->count = made;
    if (made) qsort(list->at, made, sizeof *list->at, dearest_first);
}

void ids_compile_functions_list(const struct ids_analysis *analysis, struct ids_compile_list *list,
                                struct ids_report *report) {
    int has_steps = analysis->steps.source == IDS_STEPS_ANNOTATION;
    unite(list);
    struct ids_table *table = ids_report_table(report, &ids_compile_functions);
    for (size_t i = 0; i < list->count && i < KEPT; i++) {
        const struct ids_compile_told *one = &list->at[i];
        struct ids_value row[] = {
            ids_text_value(ids_report_text(report, "%.*s", (int)one->function.length, one->function.at)),
            ids_int_value(IDS_UNIT_TIME, one->total_ps),
            ids_int_value(IDS_UNIT_TIME, one->backend_ps),
            ids_int_value(IDS_UNIT_TIME, one->tracing_ps),
            ids_int_value(IDS_UNIT_TIME, one->lowering_ps),
            ids_int_value(IDS_UNIT_COUNT, one->compilations),
            has_steps ? ids_int_value(IDS_UNIT_COUNT, one->in_steps) : ids_no_value(IDS_UNIT_COUNT),
            ids_int_value(IDS_UNIT_COUNT, one->hits),
            ids_int_value(IDS_UNIT_COUNT, one->misses),
            ids_text_value(one->reason.length ? ids_report_text(report, "%.*s", (int)one->reason.length, one->reason.at)
                                              : NULL),
        };
        IDS_ROW(report, table, columns, row);
    }
    if (list->count > KEPT) table->rows_left_out = (int64_t)(list->count - KEPT);
}
