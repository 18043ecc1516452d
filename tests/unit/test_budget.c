/* lib/compare/budget.c: what people write into budgets, right and wrong. */
#include "lib/analysis/analyzer.h"
#include "lib/compare/budget.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

static const struct ids_metric_def *find(const char *id, struct ids_error *err) {
    const struct ids_analyzer *unused;
    const struct ids_metric_def *metric = ids_metric_def_find(id, &unused);
    if (!metric) ids_fail(err, IDS_USAGE, "no metric '%s'", id);
    return metric;
}

START_TEST(a_budget) {
    static const char text[] = "# the field's example\n"
                               "steps.mean < 150 ms over 100 steps after 10   # of warm-up\n"
                               "\n"
                               "  device.utilization >= 70 %\r\n"
                               "compile.in_steps = 0\n"
                               "transfers.h2d_bytes <= 1.5GiB\n"
                               "steps.p95 no worse than baseline by 3 %\n"
                               "idle.share no worse than baseline";
    struct ids_budget budget = {0};
    struct ids_error err = IDS_ERROR_INIT;
    ck_assert_msg(!ids_budget_read(&budget, text, sizeof text - 1, find, &err), "%s", err.text);
    ck_assert_uint_eq(budget.count, 6);
    ck_assert_str_eq(budget.at[0].subject.metric->id, "steps.mean");
    ck_assert_int_eq(budget.at[0].kind, IDS_LIMIT_BELOW);
    ck_assert_double_eq(budget.at[0].value, 150e9);
    ck_assert_int_eq(budget.at[0].over, 100);
    ck_assert_int_eq(budget.at[0].after, 10);
    ck_assert_str_eq(budget.at[0].text, "steps.mean < 150 ms over 100 steps after 10");
    ck_assert_int_eq(budget.at[1].kind, IDS_LIMIT_AT_LEAST);
    ck_assert_double_eq_tol(budget.at[1].value, 0.7, 1e-12);
    ck_assert_int_eq(budget.at[2].kind, IDS_LIMIT_EQUAL);
    ck_assert_double_eq(budget.at[3].value, 1610612736.0);
    ck_assert_int_eq(budget.at[4].kind, IDS_LIMIT_BASELINE);
    ck_assert_double_eq_tol(budget.at[4].value, 0.03, 1e-12);
    ck_assert_double_eq_tol(budget.at[5].value, 0.05, 1e-12);
    ids_budget_done(&budget);
}
END_TEST

START_TEST(mistakes) {
    static const struct {
        const char *text, *says;
    } table[] = {
        {"steps.mena < 1 ms", "line 1: no metric 'steps.mena'"},
        {"\n\nsteps.mean", "line 3: expected <"},
        {"steps.mean < ", "a value is missing"},
        {"steps.mean < 150", "'150' has no unit (expected ns, us, ms or s): write '150 ms'"},
        {"idle.share <= 10", "line 1: idle.share: '10' has no unit (expected %): write '10 %'"},
        {"idle.share <= 0.1", "write '10 %', or '0.1 %' if that is meant"},
        {"transfers.h2d_bytes <= 1000", "write '1000 B'"},
        {"transfers.h2d_rate >= 1", "write '1 GB/s'"},
        {"steps.mean no worse than baseline by 5", "write '5 ms'"},
        {"idle.share no worse than baseline by 5", "write '5 %'"},
        {"op[fusion*] < 2", "write '2 ms'"},
        {"steps.mean < 150 MB", "expected ns, us, ms or s"},
        {"steps.mean << 1 ms", "'<<': expected <"},
        {"steps.mean < x ms", "is not a number"},
        {"steps.mean < 1 ms over many", "expected a number of steps"},
        {"steps.mean < 1 ms over 5 steps and", "'and' is unexpected"},
        {"device.utilization > 70 % over 5", "only figures of steps"},
        {"steps.source = 1", "is a text"},
        {"steps.mean no better", "expected 'no worse than baseline'"},
        {"steps.count no worse than baseline", "neither better nor worse"},
        {"steps.mean no worse than baseline by 5 MB", "expected ns, us, ms or s"},
        {"idle.share no worse than baseline by 5 ms", "expected %"},
        {"steps.mean no worse than baseline by -5 %", "is below 0"},
        {"steps.mean no worse than baseline by", "a value is missing"},
        {"steps.mean < 1 ms median", "expected 'median of N runs'"},
        {"steps.mean < 1 ms median of many", "expected a number of runs"},
        {"steps.mean < 1 ms median of 0 runs", "of 0 runs"},
        {"op < 1 ms", "'op' needs a name or glob: op[*]"},
        {"op[] < 1 ms", "between brackets"},
        {"op[x < 1 ms", "between brackets"},
        {"steps.mean[x] < 1 ms", "takes no brackets"},
        {"nobody.* < 1 ms", "no account is called like 'nobody.*'"},
        {"work.compute[layer3] < 1 ms over 5 steps", "only figures of steps"},
        {"compile.in_steps < 3 ms", "a number without a unit"},
        {"steps.mean < 1.2.3 ms", "is not a number"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct ids_budget budget = {0};
        struct ids_error err = IDS_ERROR_INIT;
        int code = ids_budget_read(&budget, table[i].text, strlen(table[i].text), find, &err);
        ck_assert_msg(code == IDS_USAGE, "'%s' gave %d", table[i].text, code);
        ck_assert_msg(strstr(err.text, table[i].says) != NULL, "'%s' says: %s", table[i].text, err.text);
        ids_budget_done(&budget);
    }
}
END_TEST

/* What a limit is on, and what stands behind its value. */
START_TEST(subjects) {
    static const struct {
        const char *text, *id, *pattern;
        enum ids_subject_kind kind;
        double value;
        enum ids_run_aggregate aggregate;
        int64_t runs, over;
        int is_optional, is_share;
    } table[] = {
        {"work.compute < 2 ms", "steps.work.compute", NULL, IDS_SUBJECT_METRIC, 2e9, 0, 0, 0, 0, 0},
        {"work.compute[layer3] < 2 ms", "work.compute[layer3]", "layer3", IDS_SUBJECT_ACCOUNT, 2e9, 0, 0, 0, 0, 0},
        {"host.* < 2 ms", "host.*", NULL, IDS_SUBJECT_ACCOUNT, 2e9, 0, 0, 0, 0, 0},
        {"op[fusion.3] < 1us optional", "op[fusion.3]", "fusion.3", IDS_SUBJECT_OP, 1e6, 0, 0, 0, 1, 0},
        {"kernel[void f<int[4], 2>(x) #1] < 1 s", "kernel[void f<int[4], 2>(x) #1]", "void f<int[4], 2>(x) #1",
         IDS_SUBJECT_KERNEL, 1e12, 0, 0, 0, 0, 0},
        {"scope[layer?/mlp] < 1 s", "scope[layer?/mlp]", "layer?/mlp", IDS_SUBJECT_SCOPE, 1e12, 0, 0, 0, 0, 0},
        {"program[jit_*] < 1 s", "program[jit_*]", "jit_*", IDS_SUBJECT_PROGRAM, 1e12, 0, 0, 0, 0, 0},
        {"steps.mean < 1 s median of 3 runs over 5", "steps.mean", NULL, IDS_SUBJECT_METRIC, 1e12, IDS_OF_RUNS_MEDIAN,
         3, 5, 0, 0},
        {"steps.mean < 1 s optional max of 2", "steps.mean", NULL, IDS_SUBJECT_METRIC, 1e12, IDS_OF_RUNS_MAX, 2, 0, 1,
         0},
        {"idle.share <= 0", "idle.share", NULL, IDS_SUBJECT_METRIC, 0, 0, 0, 0, 0, 0},
        {"steps.mean no worse than baseline by 2 ms optional", "steps.mean", NULL, IDS_SUBJECT_METRIC, 2e9, 0, 0, 0, 1,
         0},
        {"steps.mean no worse than baseline by 2 %", "steps.mean", NULL, IDS_SUBJECT_METRIC, 0.02, 0, 0, 0, 0, 1},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct ids_budget budget = {0};
        struct ids_error err = IDS_ERROR_INIT;
        int code = ids_budget_read(&budget, table[i].text, strlen(table[i].text), find, &err);
        ck_assert_msg(!code, "'%s': %s", table[i].text, err.text);
        const struct ids_limit *limit = &budget.at[0];
        ck_assert_str_eq(limit->subject.metric->id, table[i].id);
        ck_assert_pstr_eq(limit->subject.pattern, table[i].pattern);
        ck_assert_int_eq(limit->subject.kind, table[i].kind);
        ck_assert_double_eq_tol(limit->value, table[i].value, 1e-12);
        ck_assert_int_eq(limit->aggregate, table[i].aggregate);
        ck_assert_int_eq(limit->runs, table[i].runs);
        ck_assert_int_eq(limit->over, table[i].over);
        ck_assert_int_eq(limit->is_optional, table[i].is_optional);
        ck_assert_int_eq(limit->is_share, table[i].is_share);
        ck_assert_str_eq(limit->text, table[i].text);
        ids_budget_done(&budget);
    }
}
END_TEST

/* A scope, or components of it that follow each other. */
START_TEST(scopes) {
    ck_assert(ids_pattern_matches_scope("layer3", "layer3"));
    ck_assert(ids_pattern_matches_scope("layer3", "model/layer3/mlp"));
    ck_assert(ids_pattern_matches_scope("layer3/mlp", "model/layer3/mlp"));
    ck_assert(ids_pattern_matches_scope("layer?", "model/layer3"));
    ck_assert(!ids_pattern_matches_scope("layer3", "model/layer30/mlp"));
    ck_assert(!ids_pattern_matches_scope("layer", "layer3"));
    ck_assert(!ids_pattern_matches_scope("layer3", ""));
    ck_assert(ids_pattern_matches_scope("f32[8]", "a/f32[8]"));
}
END_TEST

START_TEST(pairs) {
    struct ids_budget budget = {0};
    struct ids_error err = IDS_ERROR_INIT;
    ck_assert_int_eq(ids_budget_add(&budget, "steps.mean=150ms", IDS_LIMIT_AT_MOST, find, &err), 0);
    ck_assert_str_eq(budget.at[0].text, "steps.mean <= 150ms");
    ck_assert_int_eq(ids_budget_add(&budget, "op[a=b c]=2ms optional", IDS_LIMIT_AT_MOST, find, &err), 0);
    ck_assert_str_eq(budget.at[1].subject.pattern, "a=b c");
    ck_assert_int_eq(budget.at[1].is_optional, 1);
    ck_assert_int_eq(ids_budget_add(&budget, "idle.share=10", IDS_LIMIT_AT_MOST, find, &err), IDS_USAGE);
    ck_assert_int_eq(ids_budget_add(&budget, "steps.mean", IDS_LIMIT_AT_MOST, find, &err), IDS_USAGE);
    ck_assert_int_eq(ids_budget_add(&budget, "=1", IDS_LIMIT_AT_MOST, find, &err), IDS_USAGE);
    ids_budget_done(&budget);
}
END_TEST

/* No text of a few bytes makes it crash or read beyond its end. */
START_TEST(every_cut) {
    static const char text[] = "steps.mean < 150 ms over 100 steps after 10\nsteps.p95 no worse than baseline by 3 %\n"
                               "op[fus[ab]*] < 1 ms median of 3 runs optional\nhost.*[x] < 1 s";
    for (size_t length = 0; length < sizeof text; length++) {
        char *copy = malloc(length + 1);
        ck_assert_ptr_nonnull(copy);
        memcpy(copy, text, length);
        struct ids_budget budget = {0};
        struct ids_error err = IDS_ERROR_INIT;
        char *exact = realloc(copy, length ? length : 1);
        ids_budget_read(&budget, exact, length, find, &err);
        ids_budget_done(&budget);
        free(exact);
    }
}
END_TEST

IDS_RUN_SUITE("budget", a_budget, mistakes, subjects, scopes, pairs, every_cut)
