/* compile.c - what compilation cost, and which function was compiled in the middle of a step. */
#include "analyzers/compile_functions.h"
#include "lib/analysis/context.h"
#include "lib/analysis/metric_sql.h"

#include "lib/base/saturate.h"
#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

static const struct ids_metric_def metrics[] = {
    {"compile.total", "compile time", IDS_UNIT_TIME, IDS_BETTER_LOWER,
     "Backend compilation: union over all threads of backend_compile*, compile_or_get_cached, *Client::Compile and "
     "XlaCompile* events, so that compilations at the same time "
     "and workers inside one count once. A hit of the persistent cache counts with the time of its read where "
     "idsprof's Python hook or the Python tracer saw it; else it leaves no event.",
     IDS_SQL_SPANS("run", "dur_ps", "host_activities WHERE run = :run AND kind = 'compile'") "SELECT " IDS_SQL_UNION
                                                                                             " FROM span"},
    {"compile.count", "compilations", IDS_UNIT_COUNT, IDS_BETTER_LOWER,
     "Compilations that no other one encloses or caused on another thread. On a host where jax.monitoring reported "
     "compilations to idsprof's Python hook, only these count, with reads of the persistent cache.",
     "SELECT count(*) FROM compiles WHERE run = :run"},
    {"compile.in_steps", "inside steps", IDS_UNIT_COUNT, IDS_BETTER_LOWER,
     "Compilations that were caused inside a step: recompilation in the loop, unless it is the first step.",
     "SELECT count(step) FROM compiles WHERE run = :run"},
    {"compile.in_steps_time", "time inside steps", IDS_UNIT_TIME, IDS_BETTER_LOWER,
     "Sum of the durations of the compilations inside steps.",
     "SELECT coalesce(sum(dur_ps), 0) FROM compiles WHERE run = :run AND step IS NOT NULL"},
    {"compile.steps_share", "of the steps", IDS_UNIT_RATIO, IDS_BETTER_LOWER,
     "Share of the steps in which devices wait for a compilation: host.compile ÷ the steps of all devices.",
     "SELECT sum(dur_ps * (account = 'host.compile')) * 1.0 / sum(dur_ps) FROM ledger WHERE run = :run AND step_id IS "
     "NOT NULL"},
    {"compile.lowering", "lowering", IDS_UNIT_TIME, IDS_BETTER_LOWER,
     "From jaxpr to StableHLO, as jax.monitoring reported to idsprof's Python hook; on a host without it the union of "
     "lower_sharding_computation and lower_jaxpr_to_module.",
     IDS_SQL_SPANS("run", "dur_ps", "host_activities WHERE run = :run AND kind = 'lowering'") "SELECT " IDS_SQL_UNION
                                                                                              " FROM span"},
    {"compile.tracing", "tracing", IDS_UNIT_TIME, IDS_BETTER_LOWER,
     "Running the Python function to get its jaxpr, as jax.monitoring reported to idsprof's Python hook; on a host "
     "without it the union of trace_to_jaxpr, which the Python tracer alone records whole.",
     IDS_SQL_SPANS("run", "dur_ps", "host_activities WHERE run = :run AND kind = 'tracing'") "SELECT " IDS_SQL_UNION
                                                                                             " FROM span"},
    {"compile.autotuning", "autotuning", IDS_UNIT_TIME, IDS_BETTER_LOWER,
     "Union of XlaAutotunerMeasurement events (XLA on GPU), which lie inside backend compilation.",
     IDS_SQL_SPANS("run", "dur_ps", "host_activities WHERE run = :run AND kind = 'autotuning'") "SELECT " IDS_SQL_UNION
                                                                                                " FROM span"},
    {"compile.cache_reads", "cache reads", IDS_UNIT_COUNT, IDS_BETTER_NEITHER,
     "Reads of the persistent compilation cache that found something, as the Python hook recorded them, or all that "
     "the Python tracer saw.",
     "SELECT count(*) FROM host_activities WHERE run = :run AND kind = 'compilation cache read'"},
    {"compile.cache_hits", "cache hits", IDS_UNIT_COUNT, IDS_BETTER_NEITHER,
     "Executables that came from the persistent compilation cache, as jax.monitoring reported to idsprof's Python "
     "hook.",
     "SELECT count(*) FROM host_activities WHERE run = :run AND kind = 'compilation cache hit'"},
    {"compile.cache_misses", "cache misses", IDS_UNIT_COUNT, IDS_BETTER_NEITHER,
     "What jax.monitoring calls a miss: an executable that was compiled and written into the persistent cache. One "
     "that JAX does not write (compiled faster than jax_persistent_cache_min_compile_time_secs) does not count.",
     "SELECT count(*) FROM host_activities WHERE run = :run AND kind = 'compilation cache miss'"},
};

static const struct ids_column_def columns[] = {
    {"duration", "duration", IDS_UNIT_TIME, 0},
    {"start", "at", IDS_UNIT_TIME, 0},
    {"function", "function", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"step", "in step", IDS_UNIT_COUNT, 0},
    {"reason", "why again", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"event", "event", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_DETAIL},
    {"thread", "thread", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_DETAIL},
};
static const struct ids_table_def compiles = {
    "compiles",
    "compilations",
    columns,
    IDS_COUNT_OF(columns),
    "One row per compilation, longest first, at most 10,000. `function` is the jitted function whose call led to it, "
    "and `reason` what differs from its calls before: shape, dtype, weak type, sharding, static argument, static field "
    "(what a tree keeps beside its arrays), structure (of a tree), arguments (others, or passed by name), options of "
    "jit, parameters (of an op of jax), new function object, or same arguments (jax's options or caches changed). "
    "Idsprof's Python hook finds it; the first compilation has none. Times since the run's first device activity: "
    "negative before it.",
    0,
};

static const struct ids_note notes[] = {
    {.metric = "compile.count", .noun = "compilation"},
    {.metric = "compile.in_steps", .after = " inside steps"},
    {.before = "taking ", .metric = "compile.in_steps_time"},
    {.before = "lowering ", .metric = "compile.lowering"},
    {.before = "tracing ", .metric = "compile.tracing"},
    {.metric = "compile.cache_hits", .after = " from the cache"},
};
static const struct ids_headline headlines[] = {{"compile", "compile", "compile.total", notes, IDS_COUNT_OF(notes), 0}};

struct compilation {
    int64_t start_ps, length_ps;
    const struct ids_step *step; /* NULL outside */
    struct ids_text function, reason;
    uint32_t name, track;
};

struct gathering {
    struct ids_spans backend, lowering, tracing, autotuning;
    struct compilation *at;
    size_t count, room;
    uint64_t cache_reads, hits, misses;
    int told; /* jax.monitoring told of some host's compilations */
    struct ids_compile_list functions;
};

static int add_compilation(const struct ids_analysis *analysis, const struct ids_event *event,
                           struct gathering *gathering) {
    const struct ids_trace *trace = analysis->trace;
    ids_spans_add(&gathering->backend, event->start_ps, event->end_ps);
    if (ids_is_retold(analysis, event) || ids_is_part_of_compilation(trace, event)) return 0;
    struct compilation *kept = IDS_PUSH(gathering->at, gathering->count, gathering->room);
    if (!kept) return -1;
    *kept = (struct compilation){.start_ps = event->start_ps,
                                 .length_ps = event->end_ps - event->start_ps,
                                 .step = ids_step_of_host_event(analysis, event),
                                 .function = ids_compiled_function(trace, event),
                                 .reason = ids_recompile_reason(trace, event),
                                 .name = event->name,
                                 .track = event->track};
    return 0;
}

static int add_event(const struct ids_analysis *analysis, const struct ids_event *event, struct gathering *gathering) {
    switch (event->kind) {
    case IDS_KIND_COMPILE:
        return add_compilation(analysis, event, gathering);
    case IDS_KIND_LOWER:
        if (ids_is_retold(analysis, event)) break;
        ids_spans_add(&gathering->lowering, event->start_ps, event->end_ps);
        break;
    case IDS_KIND_TRACE:
        if (ids_is_retold(analysis, event)) break;
        ids_spans_add(&gathering->tracing, event->start_ps, event->end_ps);
        break;
    case IDS_KIND_AUTOTUNE:
        ids_spans_add(&gathering->autotuning, event->start_ps, event->end_ps);
        break;
    case IDS_KIND_CACHE_READ:
        gathering->cache_reads += !ids_is_retold(analysis, event);
        break;
    case IDS_KIND_CACHE_HIT:
        gathering->hits++;
        break;
    case IDS_KIND_CACHE_MISS:
        gathering->misses++;
        break;
    default:
        break;
    }
    return 0;
}

static int sum_up_host(const struct ids_analysis *analysis, uint32_t host, void *sums, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    struct gathering *gathering = sums;
    const uint64_t kinds = IDS_KINDS(IDS_KIND_COMPILE) | IDS_KINDS(IDS_KIND_LOWER) | IDS_KINDS(IDS_KIND_TRACE) |
                           IDS_KINDS(IDS_KIND_AUTOTUNE) | IDS_KINDS(IDS_KIND_CACHE_READ) |
                           IDS_KINDS(IDS_KIND_CACHE_HIT) | IDS_KINDS(IDS_KIND_CACHE_MISS);
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        if (track->host != host) continue;
        gathering->told |= ids_track_is_told(trace, track);
        struct ids_cursor cursor = ids_cursor_over_kinds(&track->events, kinds);
        for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
            if (add_event(analysis, event, gathering)) return ids_no_memory(err);
        }
        if (ids_compile_functions_add(analysis, track, &gathering->functions)) return ids_no_memory(err);
    }
    return 0;
}

static void compile_done(void *sums) {
    struct gathering *gathering = sums;
    ids_spans_done(&gathering->backend);
    ids_spans_done(&gathering->lowering);
    ids_spans_done(&gathering->tracing);
    ids_spans_done(&gathering->autotuning);
    free(gathering->at);
    free(gathering->functions.at);
}

static int longest_first(const void *a, const void *b) {
    const struct compilation *left = a, *right = b;
    if (left->length_ps != right->length_ps) return left->length_ps < right->length_ps ? 1 : -1;
    return (left->start_ps > right->start_ps) - (left->start_ps < right->start_ps);
}

static void list(const struct ids_analysis *analysis, struct ids_report *report, struct gathering *gathering) {
    enum { KEPT = 10000 };
    const struct ids_trace *trace = analysis->trace;
    struct ids_table *table = ids_report_table(report, &compiles);
    if (gathering->count) qsort(gathering->at, gathering->count, sizeof *gathering->at, longest_first);
    for (size_t i = 0; i < gathering->count && i < KEPT; i++) {
        const struct compilation *one = &gathering->at[i];
        struct ids_text function = one->function, reason = one->reason;
        struct ids_value row[] = {
            ids_int_value(IDS_UNIT_TIME, one->length_ps),
            ids_int_value(IDS_UNIT_TIME, one->start_ps - analysis->first_ps),
            ids_text_value(function.at ? ids_report_text(report, "%.*s", (int)function.length, function.at) : NULL),
            one->step ? ids_int_value(IDS_UNIT_COUNT, one->step->number) : ids_no_value(IDS_UNIT_COUNT),
            ids_text_value(reason.length ? ids_report_text(report, "%.*s", (int)reason.length, reason.at) : NULL),
            ids_text_value(ids_trace_name(trace, one->name)),
            ids_text_value(ids_trace_text(trace, trace->tracks[one->track].name)),
        };
        IDS_ROW(report, table, columns, row);
    }
    if (gathering->count > KEPT) table->rows_left_out = (int64_t)(gathering->count - KEPT);
}

static int has_host(const struct ids_trace *trace) {
    for (size_t t = 0; t < trace->track_count; t++) {
        if (trace->tracks[t].role == IDS_TRACK_HOST && trace->tracks[t].event_count) return 1;
    }
    return 0;
}

static void steps_share(const struct ids_analysis *analysis, struct ids_report *report) {
    const struct ids_ledger *ledger = &analysis->ledger;
    double compile_ps = 0, all_ps = 0;
    for (size_t i = 0; i < ledger->first_step[analysis->busy_count]; i++) {
        compile_ps += (double)ledger->in_step[i].ps[IDS_HOST_COMPILE];
        for (int a = 0; a < IDS_ACCOUNT_COUNT; a++) all_ps += (double)ledger->in_step[i].ps[a];
    }
    if (all_ps > 0)
        ids_report_metric(report, "compile.steps_share", NULL, ids_real_value(IDS_UNIT_RATIO, compile_ps / all_ps));
    else
        ids_report_no_data(report, "compile.steps_share", IDS_UNIT_RATIO, NULL, "no steps in this trace");
}

/* Python frames are only counted and are no events of their track, but they have names: the tracer was on. */
static int has_python(const struct ids_trace *trace) {
    int python = 0;
    for (size_t n = 0; n < trace->name_count; n++) python |= trace->names[n].kind == IDS_KIND_PYTHON;
    return python;
}

static void figures(const struct ids_analysis *analysis, struct ids_report *report, const struct gathering *gathering) {
    int python = has_python(analysis->trace);
    int64_t total_ps = ids_spans_total(&gathering->backend), in_steps_ps = 0;
    uint64_t in_steps = 0;
    for (size_t i = 0; i < gathering->count; i++) {
        if (!gathering->at[i].step) continue;
        in_steps++;
        ids_sum(&in_steps_ps, gathering->at[i].length_ps);
    }
    struct ids_metric *total = ids_report_metric(report, "compile.total", NULL, ids_int_value(IDS_UNIT_TIME, total_ps));
    ids_report_rule(report, total, "compilations inside the recording; before it there is no data%s",
                    python || gathering->told ? "" : ", and cache hits leave no event without the Python tracer");
    ids_report_metric(report, "compile.count", NULL, ids_int_value(IDS_UNIT_COUNT, (int64_t)gathering->count));
    if (analysis->steps.source == IDS_STEPS_ANNOTATION) {
        ids_report_metric(report, "compile.in_steps", NULL, ids_int_value(IDS_UNIT_COUNT, (int64_t)in_steps));
        ids_report_metric(report, "compile.in_steps_time", NULL, ids_int_value(IDS_UNIT_TIME, in_steps_ps));
    } else {
        const char *why = "no step annotation shows which host work belongs to a step";
        ids_report_no_data(report, "compile.in_steps", IDS_UNIT_COUNT, NULL, "%s", why);
        ids_report_no_data(report, "compile.in_steps_time", IDS_UNIT_TIME, NULL, "%s", why);
    }
    steps_share(analysis, report);
    ids_report_metric(report, "compile.lowering", NULL,
                      ids_int_value(IDS_UNIT_TIME, ids_spans_total(&gathering->lowering)));
    if (gathering->autotuning.count)
        ids_report_metric(report, "compile.autotuning", NULL,
                          ids_int_value(IDS_UNIT_TIME, ids_spans_total(&gathering->autotuning)));
    else
        ids_report_no_data(report, "compile.autotuning", IDS_UNIT_TIME, NULL,
                           "no autotuning event in the trace (XLA on GPU only)");
    if (python || gathering->told) {
        ids_report_metric(report, "compile.tracing", NULL,
                          ids_int_value(IDS_UNIT_TIME, ids_spans_total(&gathering->tracing)));
        ids_report_metric(report, "compile.cache_reads", NULL,
                          ids_int_value(IDS_UNIT_COUNT, (int64_t)gathering->cache_reads));
    } else {
        ids_report_no_data(report, "compile.tracing", IDS_UNIT_TIME, NULL,
                           "tracing leaves no whole event without `idsprof capture` or the Python tracer");
        ids_report_no_data(report, "compile.cache_reads", IDS_UNIT_COUNT, NULL,
                           "cache hits and misses leave no event without `idsprof capture` or the Python tracer");
    }
    if (gathering->told) {
        ids_report_metric(report, "compile.cache_hits", NULL, ids_int_value(IDS_UNIT_COUNT, (int64_t)gathering->hits));
        ids_report_metric(report, "compile.cache_misses", NULL,
                          ids_int_value(IDS_UNIT_COUNT, (int64_t)gathering->misses));
    } else {
        const char *why = "only the Python hook of `idsprof capture` records what jax.monitoring says";
        ids_report_no_data(report, "compile.cache_hits", IDS_UNIT_COUNT, NULL, "%s", why);
        ids_report_no_data(report, "compile.cache_misses", IDS_UNIT_COUNT, NULL, "%s", why);
    }
}

static int compile_run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    if (!has_host(analysis->trace)) {
        ids_metrics_missing(report, metrics, IDS_COUNT_OF(metrics),
                            "the trace has no host events, and compilation happens on the host");
        return 0;
    }
    struct gathering *gathering = analysis->sums;
    if (ids_spans_unite(&gathering->backend) || ids_spans_unite(&gathering->lowering) ||
        ids_spans_unite(&gathering->tracing) || ids_spans_unite(&gathering->autotuning))
        return ids_no_memory(err);
    figures(analysis, report, gathering);
    list(analysis, report, gathering);
    ids_compile_functions_list(analysis, &gathering->functions, report);
    return 0;
}

static const struct ids_table_def *const tables[] = {&compiles, &ids_compile_functions};

const struct ids_analyzer ids_compile_analyzer = {
    .name = "compile",
    .title = "compile time",
    .metrics = metrics,
    .metric_count = IDS_COUNT_OF(metrics),
    .tables = tables,
    .table_count = IDS_COUNT_OF(tables),
    .headlines = headlines,
    .headline_count = IDS_COUNT_OF(headlines),
    .gathering = {.size = sizeof(struct gathering), .host = sum_up_host, .done = compile_done},
    .run = compile_run,
};
