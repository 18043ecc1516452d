/* The ledger closes, whatever a trace holds: generated traces with overlaps, moments, many streams, launches that are
 * missing or later than their work, several hosts, all kinds of devices. Each device's intervals follow each other
 * without a hole; their sums are the window's, each step's and each account's; the report's figures sum to what they
 * are parts of; savings sum to at most the step; and any number of threads reports the same. */
#include "lib/analysis/analysis.h"
#include "lib/analysis/context.h"
#include "lib/base/parallel.h"
#include "lib/report/render.h"
#include "tests/support/mini_trace.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { CASES = 10000, CASES_FEW = 600, CASES_VALGRIND = 40 };

static struct ids_error err;
static uint64_t seed;

static uint32_t any(uint32_t below) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

static int one_in(uint32_t n) {
    return !any(n);
}

/* --- a trace ---------------------------------------------------------------------------------------------------- */

static char text[1 << 16];
static size_t used;

__attribute__((format(printf, 1, 2))) static void add(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    used += (size_t)vsnprintf(text + used, sizeof text - used, format, arguments);
    va_end(arguments);
    ck_assert_uint_lt(used, sizeof text);
}

enum { SPAN_NS = 4000 };

/* START DURATION in nanoseconds; a moment now and then, and some that reach beyond the rest. */
static void add_times(void) {
    add("%uns %uns ", any(SPAN_NS), one_in(8) ? 0 : any(one_in(10) ? SPAN_NS : 200));
}

static void add_correlation(void) {
    if (!one_in(4))
        add(" correlation_id=%u", 1 + any(30)); /* several works of one launch, and launches that are not there */
}

static void add_gpu(uint32_t ordinal) {
    static const char *const names[] = {
        "gemm",      "relu",  "ncclDevKernel_AllReduce_Sum_f32", "ncclDevKernel_AllGather_x", "MemcpyH2D", "MemcpyD2H",
        "MemcpyD2D", "Memset"};
    add("plane /device:GPU:%u\n", ordinal);
    for (uint32_t stream = 1 + any(3); stream; stream--) {
        add("line %u \"Stream #%u\"\n", stream, stream);
        for (uint32_t events = any(10); events; events--) {
            add_times();
            add("%s", names[any(sizeof names / sizeof *names)]);
            add_correlation();
            add("\n");
        }
    }
}

static void add_tpu(uint32_t ordinal) {
    static const char *const names[] = {"f", "g", "while", "done", "ar", "copy"};
    add("plane /device:TPU:%u\n"
        "meta f hlo_category=\"loop fusion\" program_id=1\nmeta g hlo_category=convolution program_id=2\n"
        "meta while hlo_category=while program_id=1\nmeta done hlo_category=copy-done program_id=1\n"
        "meta ar hlo_category=all-reduce program_id=1\nmeta copy hlo_category=copy-start program_id=1\n",
        ordinal);
    if (one_in(2)) {
        add("line 1 \"XLA Modules\"\n");
        for (uint32_t events = any(4); events; events--) {
            add_times();
            add("jit_f(1) run_id=%u\n", any(4));
        }
    }
    if (one_in(3)) {
        add("line 4 Steps\n");
        for (uint32_t step = 0; step < 3; step++) {
            add_times();
            add("%u group_id=%u\n", step, step);
        }
    }
    add("line 2 \"XLA Ops\"\n");
    for (uint32_t events = any(14); events; events--) {
        add_times();
        add("%s\n", names[any(sizeof names / sizeof *names)]);
    }
    if (one_in(2)) {
        add("line 3 \"XLA TraceMe\"\n");
        add_times();
        add("barrier-cores\n");
        add("line 5 \"Async XLA Ops\"\n");
        add_times();
        add("copy\n");
    }
}

static void add_host_events(void) {
    static const char *const names[] = {"cudaLaunchKernel",
                                        "cudaMalloc",
                                        "cudaStreamSynchronize",
                                        "data_loading",
                                        "PjitFunction(step)",
                                        "backend_compile",
                                        "$train.py:12 step",
                                        "$lib.py:3 load",
                                        "aten::add",
                                        "block_until_ready",
                                        "BufferFromHostBuffer",
                                        "my region",
                                        "cudaMemcpyAsync",
                                        "TfrtCpuExecutable::ExecuteHelperOnSingleDevice"};
    for (uint32_t events = any(16); events; events--) {
        add_times();
        add("\"%s\"", names[any(sizeof names / sizeof *names)]);
        add_correlation();
        add("\n");
    }
}

/* A program that runs again and again, so that its period makes the steps where nothing marks them. */
static void add_loop(void) {
    for (uint32_t run = 0; run < 7; run++) {
        add("%uns %uns op0 hlo_op=op0 hlo_module=jit_loop run_id=%u device_ordinal=%u\n",
            run * (SPAN_NS / 8) + any(SPAN_NS / 32), 1 + any(SPAN_NS / 16), 10 + run, any(2) && run > 5);
    }
}

static void add_host(uint32_t number) {
    add("host h%u start_unix_ns=%u\n", number, 1000000 + any(3000));
    uint32_t devices = any(4), kind = any(3);
    for (uint32_t d = 0; d < devices && kind < 2; d++) kind ? add_tpu(d) : add_gpu(d);
    add("plane /host:CPU\n");
    int has_steps = one_in(2);
    for (uint32_t thread = 1 + any(3); thread; thread--) {
        add("line %u thread%u\n", 100 + thread, thread);
        for (uint32_t step = 0; has_steps && thread == 1 && step < 3; step++)
            add("%uns %uns train step_num=%u _r=1\n", step * (SPAN_NS / 3), any(SPAN_NS / 2), step);
        add_host_events();
    }
    if (kind < 2 && devices && !one_in(4)) return;
    for (uint32_t worker = 1 + any(3); worker; worker--) {
        add("line %u worker%u\n", worker, worker);
        for (uint32_t events = any(8); events; events--) {
            add_times();
            add("op%u hlo_op=op%u hlo_module=jit_step run_id=%u\n", any(4), any(4), 1 + any(3));
        }
        if (one_in(2)) {
            add_times();
            add("Rendezvous\n");
        }
        if (one_in(3)) add_loop();
    }
}

/* --- what must hold --------------------------------------------------------------------------------------------- */

/* What the visitor was told. */
enum { DEVICES = 24 };
static struct told {
    int64_t last_ps, sum_ps[IDS_ACCOUNT_COUNT], in_steps_ps, by_state_ps;
    int is_known;
} told[DEVICES];
static int64_t of_accounts_ps[IDS_ACCOUNT_COUNT];
static struct ids_analysis analysis;

static int hear(void *context, const struct ids_ledger_interval *interval, struct ids_error *ignored) {
    (void)context;
    (void)ignored;
    ck_assert_uint_lt(interval->busy, DEVICES);
    ck_assert_uint_lt(interval->account, IDS_ACCOUNT_COUNT);
    ck_assert_uint_lt(interval->known, IDS_KNOWN_COUNT);
    ck_assert_int_lt(interval->from_ps, interval->to_ps);
    struct told *device = &told[interval->busy];
    if (device->is_known) ck_assert_int_eq(device->last_ps, interval->from_ps);
    device->is_known = 1;
    device->last_ps = interval->to_ps;
    int64_t length_ps = interval->to_ps - interval->from_ps;
    if (interval->state & IDS_IS_IN_WINDOW) {
        device->sum_ps[interval->account] += length_ps;
        if (interval->state & IDS_IS_BUSY) device->by_state_ps += length_ps;
    }
    if (interval->step != IDS_NONE) device->in_steps_ps += length_ps;
    int counts = analysis.steps.count ? interval->step != IDS_NONE : (interval->state & IDS_IS_IN_WINDOW) != 0;
    if (counts) of_accounts_ps[interval->account] += length_ps;
    /* Whatever runs is no account of the host or of waiting for it. */
    if (interval->state & IDS_IS_BUSY) ck_assert(!ids_account_is_idle((enum ids_account)interval->account));
    return 0;
}

static void hear_entry(void *context, uint32_t busy, size_t interval, uint32_t entry) {
    (void)context;
    (void)busy;
    (void)interval;
    ck_assert_uint_lt(entry, analysis.ledger.entry_count);
}

static int64_t sum_of(const struct ids_account_times *times) {
    int64_t sum_ps = 0;
    for (int a = 0; a < IDS_ACCOUNT_COUNT; a++) sum_ps += times->ps[a];
    return sum_ps;
}

static void check_device(size_t b) {
    const struct ids_ledger *ledger = &analysis.ledger;
    const struct ids_busy *busy = &analysis.busy[b];
    int64_t window_ps = busy->end_ps - busy->start_ps, in_steps_ps = 0;
    ck_assert_int_eq(sum_of(&ledger->in_window[b]), window_ps);
    for (int a = 0; a < IDS_ACCOUNT_COUNT; a++) ck_assert_int_eq(ledger->in_window[b].ps[a], told[b].sum_ps[a]);
    ck_assert_int_eq(ids_time_in(busy, IDS_IS_BUSY), told[b].by_state_ps);
    ck_assert_int_eq(sum_of(&ledger->idle[b]), window_ps - told[b].by_state_ps);
    int64_t gaps_ps = 0;
    for (size_t g = 0; g < busy->gap_count; g++) gaps_ps += busy->gaps[g].end_ps - busy->gaps[g].start_ps;
    ck_assert_int_eq(gaps_ps, window_ps - told[b].by_state_ps);
    const struct ids_device_steps *steps = analysis.steps.of_device ? &analysis.steps.of_device[busy->index] : NULL;
    for (size_t i = 0; steps && i < steps->count; i++) {
        const struct ids_device_step *step = &steps->at[i];
        if (i) ck_assert_int_ge(step->from_ps, steps->at[i - 1].to_ps);
        if (step->step == IDS_NONE) continue;
        ck_assert_int_eq(sum_of(&ledger->in_step[ledger->first_step[b] + i]), step->to_ps - step->from_ps);
        in_steps_ps += step->to_ps - step->from_ps;
    }
    ck_assert_int_eq(in_steps_ps, told[b].in_steps_ps);
    int64_t shares_ps = 0;
    for (size_t s = ledger->first_share[b]; s < ledger->first_share[b + 1]; s++) shares_ps += ledger->shares[s].ps;
    ck_assert_int_eq(shares_ps, analysis.steps.count ? in_steps_ps : window_ps);
}

static void check_entries(void) {
    int64_t sums_ps[IDS_ACCOUNT_COUNT] = {0};
    for (size_t e = 0; e < analysis.ledger.entry_count; e++) {
        const struct ids_ledger_entry *entry = &analysis.ledger.entries[e];
        sums_ps[entry->account] += ids_ledger_entry_time(entry);
    }
    for (int a = 0; a < IDS_ACCOUNT_COUNT; a++) ck_assert_int_eq(sums_ps[a], of_accounts_ps[a]);
}

static int64_t time_of(const struct ids_report *report, const char *id) {
    const struct ids_metric *metric = ids_report_find(report, id, NULL);
    return metric && !metric->value.missing ? metric->value.i : 0;
}

static void check_report(const struct ids_trace *trace, const struct ids_params *params) {
    struct ids_report report;
    ids_report_init(&report);
    ck_assert_msg(!ids_analyze(trace, params, &report, &err), "%s", err.text);
    int64_t steps_ps = 0, idle_ps = 0, saved_ps = 0;
    for (int a = 0; a < IDS_ACCOUNT_COUNT; a++) {
        const char *idle = ids_account_idle_id((enum ids_account)a);
        steps_ps += time_of(&report, ids_account_steps_id((enum ids_account)a));
        if (idle) idle_ps += time_of(&report, idle);
    }
    ck_assert_int_eq(idle_ps, time_of(&report, "idle.total"));
    int64_t mean_ps = time_of(&report, "steps.mean");
    ck_assert_int_eq(steps_ps, mean_ps);
    const struct ids_table *accounts = ids_report_find_table(&report, "accounts");
    double shares = 0;
    for (size_t row = 0; accounts && row < accounts->row_count; row++)
        shares += accounts->cells[row * (size_t)accounts->def->column_count + 2].d;
    if (accounts && accounts->row_count) ck_assert_double_eq_tol(shares, 1, 1e-9);
    for (size_t i = 0; i < report.advice_count; i++) {
        if (report.advice[i].saves_ps > 0) saved_ps += report.advice[i].saves_ps;
    }
    /* They are of the device that decides the step. */
    int64_t most_ps = analysis.steps.count ? 0 : time_of(&report, "run.window");
    for (size_t s = 0; s < analysis.steps.count; s++) {
        if (analysis.steps.at[s].slowest_ps > most_ps) most_ps = analysis.steps.at[s].slowest_ps;
    }
    ck_assert_int_le(saved_ps, most_ps);
    ids_report_done(&report);
}

/* The caller frees it. */
static char *report_by(unsigned jobs, const struct ids_trace *trace, const struct ids_params *params) {
    struct ids_report report;
    ids_report_init(&report);
    ids_jobs_set(jobs, 0);
    ck_assert_msg(!ids_analyze(trace, params, &report, &err), "%s", err.text);
    ids_jobs_set(1, 0);
    struct ids_section sections[32] = {0};
    ck_assert_int_le(ids_analyzer_count, 32);
    for (int i = 0; i < ids_analyzer_count; i++) {
        sections[i].name = ids_analyzers[i]->name;
        sections[i].metrics = ids_analyzers[i]->metrics;
        sections[i].metric_count = ids_analyzers[i]->metric_count;
        sections[i].tables = ids_analyzers[i]->tables;
        sections[i].table_count = ids_analyzers[i]->table_count;
    }
    const struct ids_render render = {.sections = sections, .section_count = ids_analyzer_count};
    char *json;
    size_t length;
    FILE *out = open_memstream(&json, &length);
    ck_assert_ptr_nonnull(out);
    ck_assert(!ids_render_json(&report, &render, out, &err));
    fclose(out);
    ids_report_done(&report);
    return json;
}

/* Its findings: each interval with its culprit, and the gaps. The caller frees it. */
static char *findings_by(unsigned jobs, const struct ids_trace *trace, const struct ids_params *params) {
    struct ids_report report;
    struct ids_findings findings;
    ids_report_init(&report);
    ids_jobs_set(jobs, 0);
    ck_assert_msg(!ids_analyze_events(trace, params, &report, &findings, &err), "%s", err.text);
    ids_jobs_set(1, 0);
    char *told_of;
    size_t length;
    FILE *out = open_memstream(&told_of, &length);
    ck_assert_ptr_nonnull(out);
    struct ids_found_cursor cursor = ids_found_cursor_over(findings.intervals, findings.interval_lists);
    for (const struct ids_found_interval *interval; (interval = ids_found_cursor_next(&cursor));) {
        ck_assert_uint_lt(interval->culprit, findings.culprit_count);
        const struct ids_found_culprit *culprit = &findings.culprits[interval->culprit];
        ck_assert_uint_eq(culprit->account, interval->account);
        fprintf(out, "%u %u %u %u %lld %lld %u %u %.*s, %.*s\n", interval->device, interval->step, interval->event,
                interval->state, (long long)interval->from_ps, (long long)interval->to_ps, interval->account,
                interval->known, (int)culprit->culprit.length, culprit->culprit.at, (int)culprit->where.length,
                culprit->where.at);
    }
    for (size_t i = 0; i < findings.work_count; i++)
        fprintf(out, "%lld %d\n", (long long)findings.work[i].idle_ps, findings.work[i].cause);
    fclose(out);
    ids_findings_done(&findings);
    ids_report_done(&report);
    return told_of;
}

static void check_jobs(const struct ids_trace *trace, const struct ids_params *params) {
    char *(*const makers[])(unsigned, const struct ids_trace *, const struct ids_params *) = {report_by, findings_by};
    for (int i = 0; i < 2 && (!i || one_in(3)); i++) {
        char *one = makers[i](1, trace, params), *many = makers[i](2 + any(3), trace, params);
        ck_assert_msg(!strcmp(one, many), "many threads report something else than one");
        free(one);
        free(many);
    }
}

static void check_trace(struct ids_trace *trace) {
    memset(told, 0, sizeof told);
    memset(of_accounts_ps, 0, sizeof of_accounts_ps);
    analysis = (struct ids_analysis){.trace = trace};
    ids_params_default(&analysis.params);
    if (one_in(4)) analysis.params.window = (enum ids_window_mode)any(3);
    if (one_in(6)) {
        analysis.params.from_ps = any(SPAN_NS / 2) * 1000;
        analysis.params.to_ps = analysis.params.from_ps + 1 + any(SPAN_NS) * 1000;
    }
    int code = ids_steps_make(&analysis, &err);
    if (!code) code = ids_busy_make(&analysis, &err);
    if (!code) code = ids_steps_trim(&analysis, &err);
    const struct ids_ledger_visitor visitor = {.interval = hear, .entry = hear_entry};
    if (!code) code = ids_ledger_make(&analysis, &visitor, NULL, &err);
    int is_cut =
        analysis.params.from_ps || analysis.params.to_ps != INT64_MAX || analysis.params.window == IDS_WINDOW_STEPS;
    ck_assert_msg(!code || (is_cut && strstr(err.text, "the window is empty")), "%s", err.text);
    for (size_t b = 0; b < analysis.busy_count && !code; b++) check_device(b);
    if (!code) check_entries();
    if (!code) check_report(trace, &analysis.params);
    if (!code && analysis.busy_count > 1 && one_in(4)) check_jobs(trace, &analysis.params);
    ids_analysis_done(&analysis);
}

START_TEST(generated_traces_close) {
    const char *first = getenv("IDS_CLOSURE_SEED"); /* of the case to look at alone */
    uint64_t cases = getenv("IDS_VALGRIND") ? CASES_VALGRIND : (uint64_t)ids_some_of(CASES, CASES_FEW);
    size_t with_steps = 0, with_periods = 0, with_devices = 0;
    for (uint64_t i = first ? strtoull(first, NULL, 10) : 1; first || i <= cases; i++) {
        seed = i * 0x9e3779b97f4a7c15u;
        used = 0;
        text[0] = '\0';
        for (uint32_t host = 1 + any(3); host; host--) add_host(host);
        printf("IDS_CLOSURE_SEED=%llu\n", (unsigned long long)i); /* the last one is what failed */
        if (first) puts(text);
        struct ids_trace *trace = mini_trace(text);
        with_devices += trace->device_count > 0;
        check_trace(trace);
        with_steps += analysis.steps.count > 0;
        with_periods += analysis.steps.source == IDS_STEPS_PERIOD;
        ids_trace_free(trace);
        if (first) break;
    }
    /* That the generator reaches what is to be held: of 10,000 it made 9,954, 3,270 and 110. */
    ck_assert(first || (with_devices > cases / 2 && with_steps > cases / 10 && with_periods >= cases / 250));
}
END_TEST

IDS_RUN_SUITE("closure", generated_traces_close)
