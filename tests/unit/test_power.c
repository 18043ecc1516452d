/* What a whole diff says of simulated recordings: how often a change is called and a cause is named, how often an equal
 * pair is. A report is made as the analyzers make it, of random times, and diff judges it. Random numbers have a fixed
 * seed. IDS_TRIALS=1000 build/release/unit/test_power prints the tables of tests/truth/README.md. */
#include "lib/analysis/analyzer.h"
#include "lib/compare/diff.h"
#include "lib/run/format_names.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_MOST = 5, OPS_MOST = 300, STEPS = 20, OF_LAYER = 10 };
static const double OP_PS = 1e8;

static uint64_t state;

static double uniform(void) { /* splitmix64 */
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static double normal(void) {
    return sqrt(-2 * log(1 - uniform())) * cos(2 * 3.14159265358979323846 * uniform());
}

/* Few say whether memory is sound, and nothing of chance. */
static int trials(int otherwise) {
    const char *text = getenv("IDS_TRIALS");
    return text && atoi(text) > 0 ? atoi(text) : ids_some_of(otherwise, 1);
}

/* ---- a program and how it varies ---- */

struct program {
    size_t ops;
    double uneven; /* 0: all ops take as long; else the deviation of the logarithm of their times */
    size_t changed;
    double factor; /* of that op after the change */
    double all;    /* of all ops after the change */
};

/* All as shares. `process` is the deviation of processes, whose windows are compared. `run` is the deviation of
 * recordings as a whole, `own` that of an op from recording to recording, `step` that of steps as a whole, `own_step`
 * that of an op from step to step; `memory` is the autocorrelation of steps; `slow` is how often a step takes three
 * times as long. */
struct noise {
    const char *name;
    double process, run, own, step, own_step, memory, slow;
};

static double mean_of(const struct program *program, size_t op) {
    if (program->uneven == 0) return OP_PS;
    double place = ((double)(op * 7919 % program->ops) + 0.5) / (double)program->ops; /* the same in every recording */
    return OP_PS * exp(program->uneven * (place - 0.5) * 3.5);
}

/* ---- a recording ---- */

struct times {
    double at[OPS_MOST][STEPS];
    double of_step[STEPS];
};

/* `process` is what all windows of one process share. */
static void draw(struct times *times, const struct program *program, const struct noise *noise, double process,
                 int after) {
    double run = process * (1 + noise->run * normal()), before = normal(), step[STEPS];
    for (size_t s = 0; s < STEPS; s++) {
        before = noise->memory * before + sqrt(1 - noise->memory * noise->memory) * normal();
        step[s] = (1 + noise->step * before) * (uniform() < noise->slow ? 3 : 1);
        times->of_step[s] = 0;
    }
    for (size_t op = 0; op < program->ops; op++) {
        double mean = mean_of(program, op) * run * (1 + noise->own * normal());
        if (after) mean *= program->all * (op == program->changed ? program->factor : 1);
        for (size_t s = 0; s < STEPS; s++) {
            times->at[op][s] = floor(mean * step[s] * (1 + noise->own_step * normal()));
            times->of_step[s] += times->at[op][s];
        }
    }
}

static double mean(const double *at) {
    return ids_mean(at, STEPS);
}

static double deviation(const double *at) {
    double squares = 0;
    for (size_t s = 0; s < STEPS; s++) squares += (at[s] - mean(at)) * (at[s] - mean(at));
    return sqrt(squares / (STEPS - 1));
}

/* ---- its report ---- */

struct row {
    struct ids_table *table;
    struct ids_value *at;
};

static struct row row_of(struct ids_report *report, const char *table) {
    const struct ids_table_def *def = ids_table_def_find(table);
    struct row row = {ids_report_table(report, def), calloc((size_t)def->column_count, sizeof(struct ids_value))};
    ck_assert_ptr_nonnull(row.at);
    for (int c = 0; c < def->column_count; c++) row.at[c] = ids_no_value(def->columns[c].unit);
    return row;
}

static struct ids_value *cell(struct row *row, const char *column) {
    int at = ids_table_column(row->table, column);
    ck_assert_msg(at >= 0, "no column %s", column);
    return &row->at[at];
}

static void set_int(struct row *row, const char *column, double value) {
    struct ids_value *at = cell(row, column);
    *at = ids_int_value((enum ids_unit)at->unit, (int64_t)value);
}

static void set_text(struct row *row, const char *column, const char *text) {
    *cell(row, column) = ids_text_value(text);
}

static void add_steps(struct ids_report *report, const struct times *times) {
    struct row row = row_of(report, "steps");
    for (int c = 0; c < row.table->def->column_count; c++) {
        if (row.at[c].unit == IDS_UNIT_TIME) row.at[c] = ids_int_value(IDS_UNIT_TIME, 0);
    }
    for (size_t s = 0; s < STEPS; s++) {
        static const char *const columns[] = {"duration", "slowest", "compute", "work.compute", "host_duration"};
        set_int(&row, "step", (double)s);
        for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) set_int(&row, columns[c], times->of_step[s]);
        ids_report_row(report, row.table, row.at);
    }
    free(row.at);
    int64_t whole = (int64_t)mean(times->of_step);
    ids_report_metric(report, "steps.mean", NULL, ids_int_value(IDS_UNIT_TIME, whole));
    ids_report_metric(report, "steps.work.compute", NULL, ids_int_value(IDS_UNIT_TIME, whole));
    ids_report_metric(report, "steps.count", NULL, ids_int_value(IDS_UNIT_COUNT, STEPS));
}

enum { NAME = 32, PATH = 80 };

static void name_op(size_t op, char name[static NAME], char path[static PATH]) {
    snprintf(name, NAME, "fusion.%zu", op);
    snprintf(path, PATH, "jit(train_step)/layer%zu/op%zu", op / OF_LAYER, op % OF_LAYER);
}

static void add_ops(struct ids_report *report, const struct program *program, const struct times *times) {
    struct row ops = row_of(report, "ops"), ledger = row_of(report, "ledger");
    for (size_t op = 0; op < program->ops; op++) {
        char name[NAME], path[PATH], fingerprint[NAME];
        name_op(op, name, path);
        snprintf(fingerprint, sizeof fingerprint, "%016zx", op + 1);
        double time = mean(times->at[op]);
        set_int(&ops, "self", time * STEPS);
        set_int(&ops, "total", time * STEPS);
        set_int(&ops, "count", STEPS);
        set_int(&ops, "mean", time);
        set_text(&ops, "name", name);
        set_text(&ops, "category", "fusion");
        set_text(&ops, "module", "jit_train_step");
        set_text(&ops, "op_name", path);
        set_text(&ops, "shape", "f32[8]");
        set_text(&ops, "class", "compute");
        set_text(&ops, "fingerprint", fingerprint);
        ids_report_row(report, ops.table, ops.at);
        set_text(&ledger, "account", "work.compute");
        set_int(&ledger, "time", time * STEPS);
        set_int(&ledger, "per_step", time);
        set_int(&ledger, "sd", deviation(times->at[op]));
        set_text(&ledger, "known", "recorded");
        set_text(&ledger, "culprit", name);
        set_text(&ledger, "where", path);
        ids_report_row(report, ledger.table, ledger.at);
    }
    free(ops.at);
    free(ledger.at);
}

static void add_op_steps(struct ids_report *report, const struct program *program, const struct times *times) {
    struct row row = row_of(report, "op_steps");
    for (size_t op = 0; op < program->ops; op++) {
        char vector[STEPS * 24], *at = vector;
        double sum = 0, squares = 0;
        for (size_t s = 0; s < STEPS; s++) {
            at += sprintf(at, "%c%.0f", s ? ',' : '[', times->at[op][s]);
            sum += times->at[op][s];
            squares += times->at[op][s] * times->at[op][s] * 1e-24;
        }
        strcpy(at, "]");
        set_int(&row, "op", (double)op);
        set_int(&row, "in_steps", sum);
        *cell(&row, "squares") = ids_real_value(IDS_UNIT_NUMBER, squares);
        set_text(&row, "by_step", vector);
        set_int(&row, "count_in_steps", STEPS);
        ids_report_row(report, row.table, row.at);
    }
    free(row.at);
}

static void make_report(struct ids_report *report, const struct program *program, const struct noise *noise,
                        const char *process, double of_process, int after) {
    struct times *times = malloc(sizeof *times);
    ck_assert_ptr_nonnull(times);
    draw(times, program, noise, of_process, after);
    ids_report_init(report);
    ids_report_property(report, "process", ids_text_value(process));
    add_steps(report, times);
    add_ops(report, program, times);
    add_op_steps(report, program, times);
    ck_assert_int_eq(report->out_of_memory, 0);
    free(times);
}

/* ---- what diff says ---- */

struct said {
    int called, flat;      /* the step time is called different; as a regression or an improvement */
    int first, same;       /* the changed op is the first cause; the table of ops calls it the same */
    int largest;           /* no other op changed more */
    int wrong;             /* an op that did not change is called a cause */
    size_t ops, wrong_ops; /* ops that did not change, and those that are called slower or faster */
};

static const char *text_at(const struct ids_table *table, size_t row, const char *column) {
    int number = ids_table_column(table, column);
    ck_assert_msg(number >= 0, "no column %s", column);
    const struct ids_value *at = ids_table_cell(table, row, number);
    return at->missing || at->unit != IDS_UNIT_NONE ? "" : at->text;
}

static void look_at_causes(const struct ids_report *report, const char *changed, struct said *said) {
    const struct ids_table *causes = ids_report_find_table(report, "waterfall");
    for (size_t row = 0; causes && row < causes->row_count; row++) {
        int is_it = !strcmp(text_at(causes, row, "culprit"), changed);
        const char *verdict = text_at(causes, row, "verdict");
        if (!row) said->first = is_it;
        said->wrong |= !is_it && (!strcmp(verdict, "regression") || !strcmp(verdict, "improvement"));
    }
}

static double change_of(const struct ids_table *table, size_t row) {
    return fabs(ids_value_number(*ids_table_cell(table, row, ids_table_column(table, "change"))));
}

static void look_at_ops(const struct ids_report *report, const char *changed, struct said *said) {
    const struct ids_table *ops = ids_report_find_table(report, "ops");
    double most = 0;
    for (size_t row = 0; ops && row < ops->row_count; row++) {
        int is_it = !strcmp(text_at(ops, row, "name"), changed), same = !strcmp(text_at(ops, row, "class"), "same");
        int unsure = !strcmp(text_at(ops, row, "class"), "unsure");
        if (is_it) said->same = same;
        if (change_of(ops, row) > most) said->largest = is_it;
        most = fmax(most, change_of(ops, row));
        said->ops += !is_it;
        said->wrong_ops += !is_it && !same && !unsure;
    }
}

static struct said said_of(const struct ids_diff *diff, const struct program *program) {
    struct said said = {0};
    char name[NAME], path[PATH];
    enum ids_verdict verdict = ids_diff_verdict(diff);
    name_op(program->changed, name, path);
    said.flat = verdict == IDS_VERDICT_REGRESSION || verdict == IDS_VERDICT_IMPROVEMENT;
    said.called = said.flat || verdict == IDS_VERDICT_DIFFERS;
    look_at_causes(&diff->report, name, &said);
    look_at_ops(&diff->report, name, &said);
    return said;
}

/* `windows`: the runs of a side are windows of one process. */
static struct said compare(const struct program *program, const struct noise *noise, size_t runs, int windows) {
    struct ids_report reports[2][RUNS_MOST];
    const struct ids_report *pointers[2][RUNS_MOST];
    struct ids_side sides[2];
    struct ids_side *settled[] = {&sides[0], &sides[1]};
    struct ids_error err = IDS_ERROR_INIT;
    const struct ids_compare_options options = {.threshold = 0.01};
    struct ids_diff diff;
    for (int side = 0; side < 2; side++) {
        double of_process = windows ? 1 + noise->process * normal() : 1;
        for (size_t i = 0; i < runs; i++) {
            char process[NAME];
            snprintf(process, sizeof process, "%d of %d", windows ? 0 : (int)i, side);
            make_report(&reports[side][i], program, noise, process, of_process, side);
            pointers[side][i] = &reports[side][i];
        }
        ck_assert_int_eq(ids_side_init(&sides[side], "side", pointers[side], runs, ids_format_lacks, &err), 0);
    }
    ids_sides_settle(settled, 2, IDS_RECORDING_PROCESS);
    ck_assert_int_eq(ids_diff_make(&sides[0], &sides[1], &options, &diff, &err), 0);
    struct said said = said_of(&diff, program);
    ids_diff_done(&diff);
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < runs; i++) ids_report_done(&reports[side][i]);
        ids_side_done(&sides[side]);
    }
    return said;
}

static struct said sum_of(const struct program *program, const struct noise *noise, size_t runs, int windows,
                          int count) {
    struct said sum = {0};
    for (int i = 0; i < count; i++) {
        struct said one = compare(program, noise, runs, windows);
        sum.called += one.called;
        sum.flat += one.flat;
        sum.first += one.first;
        sum.same += one.same;
        sum.largest += one.largest;
        sum.wrong += one.wrong;
        sum.ops += one.ops;
        sum.wrong_ops += one.wrong_ops;
    }
    return sum;
}

static int is_shown(void) {
    return getenv("IDS_TRIALS") != NULL;
}

static int is_asked(void) {
    return !is_shown() && ids_some_of(1, 0);
}

/* ---- one op of 300 ---- */

static const struct noise own_spread = {.name = "own spread 5 %", .own = 0.05, .own_step = 0.02};

static struct said one_op(double uneven, double factor, size_t changed, size_t runs, int count) {
    struct program program = {.ops = 300, .uneven = uneven, .changed = changed, .factor = factor, .all = 1};
    state = 20261122;
    struct said said = sum_of(&program, &own_spread, runs, 0, count);
    if (is_shown())
        printf("| %s | %zu | x %.2f | %.1f %% | %.1f %% | %.1f %% | %.2f %% | %.2f %% | %.1f %% |\n",
               uneven > 0 ? "uneven" : "even", runs, factor, 100.0 * said.largest / count, 100.0 * said.first / count,
               100.0 * said.same / count, 100.0 * said.wrong / count, 100.0 * (double)said.wrong_ops / (double)said.ops,
               100.0 * said.flat / count);
    return said;
}

START_TEST(one_op_of_300) {
    int count = trials(40);
    if (is_shown())
        puts("| ops | recordings a side | one op | changed most | named first | called same | another op is a cause | "
             "other ops called | step called |\n"
             "|---|---|---|---|---|---|---|---|---|");
    struct said said = one_op(0, 1.2, 150, 3, count);
    if (is_shown()) {
        one_op(0, 1.0, 150, 3, count);
        one_op(0, 1.5, 150, 3, count);
        one_op(0, 1.2, 150, 5, count);
        one_op(0, 1.2, 150, 1, count);
        one_op(0.7, 1.2, 150, 3, count);
    }
    if (!is_asked()) return;
    /* At this spread another op changes more by chance in 7 of 100 trials. */
    ck_assert_int_ge(100 * said.largest, 85 * count);
    ck_assert_int_ge(100 * said.first, 95 * said.largest);
    ck_assert_int_le(100 * said.same, 5 * count);
    ck_assert_int_le(100 * said.wrong, 5 * count);
}
END_TEST

/* ---- power and false alarms ---- */

static const struct noise noises[] = {
    {.name = "white", .run = 0.005, .own = 0.005, .step = 0.02, .own_step = 0.02},
    {.name = "AR(1)", .run = 0.005, .own = 0.005, .step = 0.02, .own_step = 0.02, .memory = 0.6},
    {.name = "slow steps", .run = 0.005, .own = 0.005, .step = 0.02, .own_step = 0.02, .slow = 0.05},
};

static const double changes[] = {0, 0.005, 0.01, 0.02, 0.05};
enum { CHANGES = sizeof changes / sizeof *changes };

static void power(const struct noise *noise, size_t runs, int count, int ret_called[CHANGES]) {
    if (is_shown()) printf("| %s | %zu |", noise->name, runs);
    for (size_t c = 0; c < CHANGES; c += is_shown() ? 1 : CHANGES - 1) {
        struct program program = {.ops = 4, .changed = 0, .factor = 1, .all = 1 + changes[c]};
        state = 20261122 + c;
        struct said said = sum_of(&program, noise, runs, 0, count);
        ret_called[c] = said.called;
        if (is_shown()) printf(" %.1f %% |", 100.0 * said.called / count);
    }
    if (is_shown()) putchar('\n');
}

/* How often, of 100, a change of 5 % is called at least. */
static int least_power(const struct noise *noise, size_t runs) {
    if (runs > 3) return 95;
    return noise->memory > 0 ? 70 : 90;
}

START_TEST(power_and_false_alarms) {
    int count = trials(60);
    if (is_shown())
        puts("\n| noise | recordings a side | equal | 0.5 % | 1 % | 2 % | 5 % |\n|---|---|---|---|---|---|---|");
    for (size_t n = 0; n < sizeof noises / sizeof *noises; n++) {
        static const size_t runs[] = {1, 3, 5};
        for (size_t r = 0; r < 3; r++) {
            int called[CHANGES];
            power(&noises[n], runs[r], count, called);
            if (runs[r] > 1 && is_asked()) { /* of equal sets of recordings at most two in a hundred */
                ck_assert_int_le(50 * called[0], count + 60);
                ck_assert_int_ge(100 * called[CHANGES - 1], least_power(&noises[n], runs[r]) * count);
            }
        }
    }
}
END_TEST

/* ---- windows of one process ---- */

/* What differs from process to process (where its memory lies, which cores it has) is the same in all its windows. */
START_TEST(windows_of_one_process) {
    static const struct noise shared = {
        .name = "shared", .process = 0.01, .run = 0.001, .own = 0.001, .step = 0.02, .own_step = 0.02, .memory = 0.5};
    const struct program program = {.ops = 4, .factor = 1, .all = 1};
    int count = trials(100);
    state = 20261122;
    struct said said = sum_of(&program, &shared, 3, 1, count);
    if (is_shown())
        printf("\nThree windows of one process against three of another one: %.1f %% called a regression or an "
               "improvement\n",
               100.0 * said.flat / count);
    if (is_asked()) ck_assert_int_le(100 * said.flat, count);
}
END_TEST

IDS_RUN_SUITE("power", one_op_of_300, power_and_false_alarms, windows_of_one_process)
