/* Every allocation fails in turn: reading, joining, analysing and dumping end with IDS_NOMEM, and nothing stays
 * allocated.
 *
 * malloc and its kin are defined here, above those of the sanitizer or of glibc, which do the work. Under valgrind,
 * which puts its own in their place, nothing is counted, and the test passes over itself. */
#include "lib/analysis/analysis.h"
#include "lib/analysis/analyzer.h"
#include "lib/base/vec.h"
#include "lib/compare/check.h"
#include "lib/compare/diff.h"
#include "lib/compare/scale.h"
#include "lib/compare/trend.h"
#include "lib/io/source.h"
#include "lib/model/builder.h"
#include "lib/model/dump.h"
#include "lib/model/format.h"
#include "lib/run/format_names.h"
#include "lib/store/summary.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BENEATH(name) __interceptor_##name
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define BENEATH(name) __interceptor_##name
#endif
#ifndef BENEATH
#define BENEATH(name) __libc_##name
#endif
void *BENEATH(malloc)(size_t size);
void *BENEATH(calloc)(size_t count, size_t size);
void *BENEATH(realloc)(void *at, size_t size);
void BENEATH(free)(void *at);

static int counting;     /* only what happens between start and stop */
static long made, kept;  /* allocations asked for, and what is not freed */
static long first, last; /* these fail, counted from 1 */

static int refused(void) {
    if (!counting || ++made < first || made > last) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) {
    void *at = refused() ? NULL : BENEATH(malloc)(size);
    kept += counting && at;
    return at;
}

void *calloc(size_t count, size_t size) {
    void *at = refused() ? NULL : BENEATH(calloc)(count, size);
    kept += counting && at;
    return at;
}

void *realloc(void *was, size_t size) {
    void *at = refused() ? NULL : BENEATH(realloc)(was, size);
    kept += counting && at && !was;
    return at;
}

void free(void *at) {
    kept -= counting && at;
    BENEATH(free)(at);
}

char *strdup(const char *text) { /* a sanitizer's does not pass by malloc */
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

/* ---- what is tried ---- */

struct input {
    const struct ids_format *format;
    char *bytes;
    size_t length;
    const struct ids_trace *trace;   /* for the analysis */
    const struct ids_report *report; /* for comparisons */
};

extern const struct ids_format ids_xplane_format, ids_mini_format;
static struct ids_error err;

static int build(const struct input *input, struct ids_trace **ret_trace) {
    struct ids_source *source;
    struct ids_builder *builder;
    int code = ids_source_memory(input->bytes, input->length, &source, &err);
    if (code) return code;
    code = ids_builder_new(&builder, &err);
    if (!code) {
        code = input->format->read(source, ids_builder_sink(builder), &err);
        if (!code) code = ids_builder_finish(builder, ret_trace, &err);
        if (code) ids_builder_free(builder);
    }
    ids_source_close(source);
    return code;
}

static int build_and_free(const struct input *input) {
    struct ids_trace *trace;
    int code = build(input, &trace);
    if (!code) ids_trace_free(trace);
    return code;
}

static int dump(const struct input *input) {
    struct ids_source *source;
    struct ids_dump *sink;
    int code = ids_source_memory(input->bytes, input->length, &source, &err);
    if (code) return code;
    code = ids_dump_new(&sink, &err);
    if (!code) {
        code = input->format->read(source, ids_dump_sink(sink), &err);
        ids_dump_free(sink);
    }
    ids_source_close(source);
    return code;
}

static int analyze(const struct input *input) {
    struct ids_report report;
    struct ids_params params;
    ids_params_default(&params);
    ids_report_init(&report);
    int code = ids_analyze(input->trace, &params, &report, &err);
    ids_report_done(&report);
    return code;
}

/* The run three times on either side. */
static int sides_of(const struct input *input, struct ids_side sides[2]) {
    const struct ids_report *const reports[] = {input->report, input->report, input->report};
    struct ids_side *const settled[] = {&sides[0], &sides[1]};
    int code = ids_side_init(&sides[0], "a", reports, 3, ids_format_lacks, &err);
    if (!code && (code = ids_side_init(&sides[1], "b", reports, 3, ids_format_lacks, &err))) ids_side_done(&sides[0]);
    if (!code) ids_sides_settle(settled, 2, IDS_RECORDING_PROCESS);
    return code;
}

static int compare(const struct input *input) {
    static const struct ids_compare_options options = {.threshold = 0.01};
    struct ids_side sides[2];
    struct ids_diff diff;
    int code = sides_of(input, sides);
    if (code) return code;
    code = ids_diff_make(&sides[0], &sides[1], &options, &diff, &err);
    if (!code) ids_diff_done(&diff);
    ids_side_done(&sides[0]);
    ids_side_done(&sides[1]);
    return code;
}

static const struct ids_metric_def *find_metric(const char *id, struct ids_error *why) {
    (void)why;
    const struct ids_analyzer *unused;
    return ids_metric_def_find(id, &unused);
}

static int check_scale_and_trend(const struct input *input) {
    static const char text[] = "run.window < 1 s\nsteps.mean < 1 s over 1 after 0\nidle.share no worse than baseline";
    static const int64_t steps[] = {1, 2, 3};
    struct ids_side sides[2];
    struct ids_budget budget = {0};
    struct ids_check check;
    const struct ids_check_options options = {.noise = 0.01};
    struct ids_scale scale;
    struct ids_trend trend;
    int code = sides_of(input, sides);
    if (code) return code;
    code = ids_budget_read(&budget, text, sizeof text - 1, find_metric, &err);
    if (!code && !(code = ids_check_make(&sides[0], &sides[1], &budget, &options, &check, &err)))
        ids_check_done(&check);
    const struct ids_scale_trace traces[] = {{.name = "a", .path = "a", .report = sides[0].runs[0].report},
                                             {.name = "b", .path = "b", .report = sides[1].runs[0].report}};
    const struct ids_scale_input inputs[] = {
        {"a", 1, &traces[0], 1, &sides[0]}, {"a", 2, &traces[1], 1, &sides[1]}, {"b", 1, &traces[1], 1, &sides[1]}};
    if (!code && !(code = ids_scale_make(inputs, 3, NULL, 0, IDS_SCALING_GUESS, &scale, &err))) ids_scale_done(&scale);
    if (!code && !(code = ids_trend_make(&sides[0], steps, &trend, &err))) ids_trend_done(&trend);
    ids_budget_done(&budget);
    ids_side_done(&sides[0]);
    ids_side_done(&sides[1]);
    return code;
}

/* Runs it with allocations from..to failing; how many there were. */
static long attempt(int (*operation)(const struct input *), const struct input *input, long from, long to,
                    int *ret_code) {
    err = (struct ids_error)IDS_ERROR_INIT;
    made = kept = 0;
    first = from;
    last = to;
    counting = 1;
    *ret_code = operation(input);
    counting = 0;
    return made;
}

static void fail_each(int (*operation)(const struct input *), const struct input *input) {
    int code;
    long count = attempt(operation, input, 1, 0, &code);
    ck_assert_msg(!code, "%s", err.text);
    ck_assert_int_eq(kept, 0);
    ck_assert_int_gt(count, 10);
    long harmless = 0;
    for (long i = 1; i <= count; i++) {
        for (int all = 0; all < 2; all++) { /* this one, or this one and all that follow */
            attempt(operation, input, i, all ? count : i, &code);
            ck_assert_msg(kept == 0, "allocation %ld of %ld%s: %ld pieces left", i, count, all ? " and on" : "", kept);
            harmless += !code;
            if (!code) continue;
            ck_assert_msg(code == IDS_NOMEM, "allocation %ld of %ld%s: %d '%s'", i, count, all ? " and on" : "", code,
                          err.text);
            ck_assert_int_eq(err.code, IDS_NOMEM);
            ck_assert_ptr_nonnull(strstr(err.text, "memory"));
        }
    }
    /* Shrinking an array to its size, and the buffer of glibc's qsort, are as good as done when they fail. */
    ck_assert_int_le(harmless, 2 * count / 5);
}

/* Whether what the libraries call is what is defined above. */
static int in_effect(void) {
    size_t room = 0;
    made = 0;
    first = last = 0;
    counting = 1;
    void *array = ids_vec_grow(NULL, &room, 1);
    free(array);
    counting = 0;
    if (!made) puts("malloc is another's (valgrind's?): no allocation fails");
    return made > 0;
}

/* ---- inputs ---- */

static struct input testdata(const char *name) {
    char path[1024];
    const char *root = getenv("IDS_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/testdata/%s", root ? root : ".", name);
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s", path);
    fseek(file, 0, SEEK_END);
    struct input input = {.format = &ids_xplane_format, .length = (size_t)ftell(file)};
    input.bytes = malloc(input.length);
    rewind(file);
    ck_assert_uint_eq(fread(input.bytes, 1, input.length, file), input.length);
    fclose(file);
    return input;
}

/* GPU, TPU and CPU with links, steps, HLO, copies, gaps and oddities: what takes memory. */
static struct input mini(void) {
    static const char text[] =
        "idsprof-mini 1\n"
        "host a start_unix_ns=1000\n"
        "hlo module=jit_f name=ar.1 opcode=all-reduce program=3\n"
        "plane /device:GPU:0 gpu_device_name=\"a gpu\"\n"
        "line 2 \"Stream #2\"\n"
        "900us 1us k3 correlation_id=3 kernel_details=\"regs:8 grid:1,1,1 block:1,1,1\"\n"
        "0us 100us k1 correlation_id=1 hlo_op=ar.1 hlo_module=jit_f program_id=3\n"
        "300us -1us MemcpyH2D memcpy_details=\"size:5 async:1\" correlation_id=2\n"
        "300us 10us MemcpyH2D memcpy_details=\"size:5 async:1\" correlation_id=2\n"
        "plane /device:TPU:0\n"
        "meta f hlo_category=\"loop fusion\" program_id=4 flops=5\n"
        "line 1 \"XLA Modules\"\n0us 100us jit_g(4) _ct=12 _c=1\n"
        "line 2 \"XLA Ops\"\n0us 10us f\n40us 20us f\n"
        "line 3 \"Async XLA Ops\"\n0us 60us f\n"
        "line 4 \"XLA TraceMe\"\n12us 5us barrier-cores\n"
        "plane /host:CPU\n"
        "line 1 python\n"
        "0us 1ms \"$train.py:1 main\"\n"
        "0us 400us train step_num=0 _r=1\n1us 1us l1 correlation_id=1\n250us 1us l2 correlation_id=2\n120us 100us "
        "backend_compile\n"
        "500us 300us train step_num=1 _r=1\n600us 1us l3 correlation_id=3\n"
        "610us 20us PjitFunction(h)\n611us 1us CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice\n"
        "620us 1us ThreadpoolListener::Record _pt=15 _p=9\n0us 1us DoEnqueueProgram _pt=12 _p=1\n"
        "line 2 worker\n"
        "700us 0us ThreadpoolListener::StartRegion _ct=15 _c=9\n"
        "710us 5us dot hlo_op=dot hlo_module=jit_h run_id=1 _pt=0 _p=1\n711us 1us Rendezvous\n"
        "720us 0us ThreadpoolListener::StopRegion\n"
        "730us 1us \"end: dot\" _ct=0 _c=1\n";
    struct input input = {.format = &ids_mini_format, .length = sizeof text - 1};
    input.bytes = malloc(input.length);
    memcpy(input.bytes, text, input.length);
    return input;
}

static void fail_all(struct input input) {
    struct ids_trace *trace;
    ck_assert_int_eq(build(&input, &trace), 0);
    input.trace = trace;
    fail_each(build_and_free, &input);
    fail_each(dump, &input);
    fail_each(analyze, &input);
    struct ids_report report;
    struct ids_params params;
    ids_params_default(&params);
    ids_report_init(&report);
    ck_assert_int_eq(ids_analyze(trace, &params, &report, &err), 0);
    input.report = &report;
    fail_each(compare, &input);
    fail_each(check_scale_and_trend, &input);
    ids_report_done(&report);
    ids_trace_free(trace);
    free(input.bytes);
}

/* ---- a summary, which SQLite reads ---- */

static const struct ids_column_def columns_read[] = {{"name", "name", IDS_UNIT_NONE, 0}};
static const struct ids_table_def table_read = {"ops", "ops", columns_read, 1, "One row per op.", 0};

static const struct ids_table_def *find_read(const char *id) {
    return strcmp(id, table_read.id) ? NULL : &table_read;
}

static int read_summary(const struct input *input) {
    struct ids_report report;
    ids_report_init(&report);
    int code = ids_summary_read(input->bytes, "key", find_read, &report, &err);
    ids_report_done(&report);
    return code;
}

/* What could not be held is not in the sum that the summary is checked by, and is no damage of the file. */
START_TEST(a_summary) {
    if (!in_effect()) return;
    char path[] = "/tmp/idsprof-allocation-XXXXXX";
    const struct ids_value cell = ids_text_value("dot");
    struct ids_report report;
    int file = mkstemp(path), code;
    ck_assert_int_ge(file, 0);
    close(file);
    ids_report_init(&report);
    ids_report_property(&report, "name", ids_text_value("r"));
    ids_report_metric(&report, "idle.gaps", NULL, ids_int_value(IDS_UNIT_COUNT, 1));
    ids_report_row(&report, ids_report_table(&report, &table_read), &cell);
    ck_assert_msg(ids_summary_write(&report, "key", path, &err) == 0, "%s", err.text);
    ids_report_done(&report);
    const struct input input = {.bytes = path};
    long count = attempt(read_summary, &input, 1, 0, &code);
    ck_assert_msg(!code, "%s", err.text);
    ck_assert_int_gt(count, 50);
    for (long i = 1; i <= count; i++) {
        attempt(read_summary, &input, i, i, &code);
        ck_assert_msg(!code || code == IDS_NOMEM, "allocation %ld of %ld: %d '%s'", i, count, code, err.text);
    }
    unlink(path);
}
END_TEST

START_TEST(a_text_of_everything) {
    if (in_effect()) fail_all(mini());
}
END_TEST

START_TEST(a_recorded_trace) {
    if (in_effect()) fail_all(testdata("cpu1_nohlo/plugins/profile/2026_11_21_02_02_59/host.xplane.pb"));
}
END_TEST

IDS_RUN_SUITE("allocation", a_summary, a_text_of_everything, a_recorded_trace)
