/* stacks.c - what Python threads ran, out of sampled stacks: a tree of calls, with the time of each. */
#include "lib/model/stacks.h"
#include "analyzers/callers.h"
#include "lib/analysis/context.h"
#include "lib/base/saturate.h"
#include "lib/model/python_frame.h"
#include "lib/model/told_files.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 2000 };

static const struct ids_metric_def metrics[] = {
    {"stacks.time", "sampled", IDS_UNIT_TIME, IDS_BETTER_NEITHER,
     "Time in which sampled stacks say what Python ran, over all threads (idsprof capture --stacks); threads run at "
     "the same time, so it may be longer than the recording.",
     "SELECT sum(self_ps) FROM events WHERE run = :run AND plane = '/host:idsprof.stacks'"},
};

static const struct ids_column_def columns[] = {
    {"total", "total", IDS_UNIT_TIME, 0},
    {"share", "share", IDS_UNIT_RATIO, 0},
    {"self", "self", IDS_UNIT_TIME, 0},
    {"call", "call", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_NAME},
    {"file", "file", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_DETAIL},
    {"line", "line", IDS_UNIT_COUNT, IDS_COLUMN_DETAIL},
    {"host", "host", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
    {"depth", "depth", IDS_UNIT_COUNT, IDS_COLUMN_DETAIL},
};
static const struct ids_table_def stacks = {
    "stacks",
    "what Python ran",
    columns,
    IDS_COUNT_OF(columns),
    "The sampled stacks of the whole recording as a tree: one row per call below the same calls around it, behind the "
    "one that it is in (`depth`), most time first; the outermost rows are threads. `total` is the time in which the "
    "call was on the stack, `self` the time in which it was the innermost one, `share` is of its thread's time. A "
    "function is named with the line that it was at, so that its lines are rows of their own. The 2000 calls with most "
    "time are here; the time of others is in the `total` of what is around them.",
    IDS_TABLE_TREE,
};

/* A stack with what is below it. */
struct node {
    int64_t total_ps;
    uint32_t first, next; /* the one below with most time, and the one beside with less: index + 1; 0 none */
    uint32_t depth, thread;
    uint32_t stack;
};

static int most_first(const void *a, const void *b) {
    const struct node *left = a, *right = b;
    if (left->total_ps != right->total_ps) return left->total_ps < right->total_ps ? 1 : -1;
    return (left->stack > right->stack) - (left->stack < right->stack);
}

/* What is around a stack stands before it. */
static void sum_up(const struct ids_trace *trace, struct node *nodes) {
    for (size_t s = 0; s < trace->stack_count; s++) {
        uint32_t outside = trace->stacks[s].outside;
        nodes[s] = (struct node){.total_ps = trace->stacks[s].self_ps, .stack = (uint32_t)s};
        nodes[s].depth = outside ? nodes[outside - 1].depth + 1 : 0;
        nodes[s].thread = outside ? nodes[outside - 1].thread : (uint32_t)s;
    }
    for (size_t s = trace->stack_count; s-- > 0;) {
        uint32_t outside = trace->stacks[s].outside;
        if (outside) ids_sum(&nodes[outside - 1].total_ps, nodes[s].total_ps);
    }
}

/* Ties those with most time together; what is around one of them has at least as much. *ret_first: of the threads. */
static int tie(const struct ids_trace *trace, struct node *nodes, uint32_t *ret_first) {
    size_t count = trace->stack_count;
    struct node *order = malloc(count * sizeof *order);
    if (!order) return -1;
    memcpy(order, nodes, count * sizeof *order);
    qsort(order, count, sizeof *order, most_first);
    *ret_first = 0;
    for (size_t i = count < MOST_ROWS ? count : MOST_ROWS; i-- > 0;) {
        uint32_t outside = trace->stacks[order[i].stack].outside;
        uint32_t *first = outside ? &nodes[outside - 1].first : ret_first;
        if (!order[i].total_ps) continue;
        nodes[order[i].stack].next = *first;
        *first = order[i].stack + 1;
    }
    free(order);
    return 0;
}

/* "load (train.py:88)", "time.sleep". */
static const char *words_of(struct ids_report *report, struct ids_text name, const struct ids_python_call *call) {
    if (!call->function.length) return ids_report_text(report, "%.*s", (int)name.length, name.at);
    if (call->file.length)
        return ids_report_text(report, "%.*s (%.*s:%" PRId64 ")", (int)call->function.length, call->function.at,
                               (int)call->file.length, call->file.at, call->line);
    return ids_report_text(report, "%.*s%s%.*s", (int)call->module.length, call->module.at,
                           call->module.length ? "." : "", (int)call->function.length, call->function.at);
}

static void list_one(const struct ids_trace *trace, const struct node *nodes, const struct node *node,
                     struct ids_report *report, struct ids_table *table) {
    const struct ids_stack *stack = &trace->stacks[node->stack];
    struct ids_text name = ids_strings_text(&trace->strings, stack->text);
    const struct ids_host *host = &trace->hosts[trace->tracks[stack->track].host];
    int64_t thread_ps = nodes[node->thread].total_ps;
    struct ids_python_frame frame = {.line = 0};
    struct ids_python_call call = {.line = 0};
    if (stack->outside && ids_python_call_of(name, &call) && ids_python_frame_of(name, &frame) && frame.file.length)
        call.file = ids_told_file(trace, frame.file);
    struct ids_value row[] = {
        ids_int_value(IDS_UNIT_TIME, node->total_ps),
        thread_ps ? ids_real_value(IDS_UNIT_RATIO, (double)node->total_ps / (double)thread_ps)
                  : ids_no_value(IDS_UNIT_RATIO),
        ids_int_value(IDS_UNIT_TIME, stack->self_ps),
        ids_text_value(words_of(report, name, &call)),
        ids_text_value(frame.file.length ? ids_report_text(report, "%.*s", (int)frame.file.length, frame.file.at)
                                         : NULL),
        frame.file.length ? ids_int_value(IDS_UNIT_COUNT, frame.line) : ids_no_value(IDS_UNIT_COUNT),
        ids_text_value(host->name ? ids_trace_text(trace, host->name) : NULL),
        ids_int_value(IDS_UNIT_COUNT, node->depth),
    };
    IDS_ROW(report, table, columns, row);
}

static void list(const struct ids_trace *trace, const struct node *nodes, uint32_t first, struct ids_report *report) {
    struct ids_table *table = ids_report_table(report, &stacks);
    for (uint32_t at = first; at;) {
        const struct node *node = &nodes[at - 1];
        list_one(trace, nodes, node, report, table);
        at = node->first;
        while (!at && node) {
            uint32_t outside = trace->stacks[node->stack].outside;
            at = node->next;
            node = outside ? &nodes[outside - 1] : NULL;
        }
    }
}

/* Of all samples of a track in the mean: the first ones may be closer. */
static int64_t period_on(const struct ids_sampling *sampling, int64_t sampled_ps) {
    if (!(sampling->period_ps > 0)) return 0;
    int64_t dense_ps = sampling->dense_period_ps > 0 ? sampling->dense_ps : 0;
    if (dense_ps > sampled_ps) dense_ps = sampled_ps;
    double dense = dense_ps ? (double)dense_ps / (double)sampling->dense_period_ps : 0;
    double count = dense + (double)(sampled_ps - dense_ps) / (double)sampling->period_ps;
    return count > 0 ? (int64_t)llround((double)sampled_ps / count) : 0;
}

/* Of all samplings the one that tells least. */
static int64_t period_of(const struct ids_trace *trace) {
    int64_t most_ps = 0;
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        if (!track->sampling || track->last_ps <= track->first_ps) continue;
        int64_t period_ps = period_on(&trace->samplings[track->sampling - 1], track->last_ps - track->first_ps);
        if (period_ps > most_ps) most_ps = period_ps;
    }
    return most_ps;
}

static int stacks_run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    if (!trace->stack_count) {
        ids_metrics_missing(report, metrics, IDS_COUNT_OF(metrics),
                            "no stacks were sampled; idsprof capture samples them unless --stacks 0 is given");
        return 0;
    }
    struct node *nodes = calloc(trace->stack_count, sizeof *nodes);
    uint32_t first = 0;
    if (!nodes) return ids_no_memory(err);
    sum_up(trace, nodes);
    int failed = tie(trace, nodes, &first);
    int64_t time_ps = 0;
    for (size_t s = 0; s < trace->stack_count; s++) ids_sum(&time_ps, trace->stacks[s].self_ps);
    int64_t period_ps = period_of(trace);
    if (period_ps) ids_report_property(report, "stacks_period", ids_int_value(IDS_UNIT_TIME, period_ps));
    if (!failed) {
        ids_report_metric(report, "stacks.time", NULL, ids_int_value(IDS_UNIT_TIME, time_ps));
        list(trace, nodes, first, report);
    }
    free(nodes);
    failed = failed || ids_callers_list(analysis, report);
    return failed ? ids_no_memory(err) : 0;
}

static const struct ids_table_def *const tables[] = {&stacks, &ids_callers_table};

const struct ids_analyzer ids_stacks_analyzer = {
    .name = "stacks",
    .title = "what Python ran",
    .metrics = metrics,
    .metric_count = IDS_COUNT_OF(metrics),
    .tables = tables,
    .table_count = IDS_COUNT_OF(tables),
    .run = stacks_run,
};
