/* steps.c - how long steps took and where the time went. Which work belongs to which step is found in
 * lib/analysis/steps.c. */
#include "analyzers/framework.h"
#include "lib/analysis/context.h"
#include "lib/analysis/host_steps.h"
#include "lib/base/counted.h"
#include "lib/base/saturate.h"
#include "lib/model/step_marks.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct ids_metric_def metrics[] = {
    {"steps.mean", "step time", IDS_UNIT_TIME, IDS_BETTER_LOWER,
     "Mean step time over all steps and the devices that they have work on. On a device a step begins when the work of "
     "the one before has ended there, or, where that is later, when its annotation begins on the host, and ends where "
     "the next one begins (the last one with its last work or its annotation). The first one begins when the stream "
     "that it does most on is done with what was queued before. A device event belongs to the step "
     "whose annotation encloses its launch, directly or through what caused the launch, never by time: with "
     "asynchronous dispatch annotations end long before the device does. Where nothing marks steps a step is the time "
     "from the end of one execution of the hottest program to the end of the next one (steps.source: period).",
     "SELECT sum(dur_ps) / count(*) FROM device_steps WHERE run = :run"},
    {"steps.slowest", "slowest device", IDS_UNIT_TIME, IDS_BETTER_LOWER,
     "Mean over the steps of the time on the device where the step takes longest.",
     "WITH slowest AS (SELECT max(dur_ps) AS ps FROM device_steps WHERE run = :run GROUP BY step_id) SELECT sum(ps) / "
     "count(*) FROM slowest"},
    {"steps.count", "steps", IDS_UNIT_COUNT, IDS_BETTER_NEITHER,
     "Steps with work on a device. A first step that began as idsprof's own window opened is counted here and in no "
     "other figure, where two others or more are left: the hook waits for the devices before it opens a window, and "
     "recording begins. A step in whose middle the window opened is counted where what was recorded of it is longer "
     "than each other step: it was a slow one.",
     "SELECT count(*) + (SELECT left_out_step IS NOT NULL FROM run WHERE id = :run) FROM steps WHERE run = :run"},
    {"steps.median", "median", IDS_UNIT_TIME, IDS_BETTER_LOWER,
     "Median step time (mean of the two middle ones for an even count).",
     "WITH ordered AS (SELECT dur_ps, row_number() OVER (ORDER BY dur_ps) AS place, count(*) OVER () AS steps FROM "
     "steps WHERE run = :run) SELECT min(dur_ps) + (max(dur_ps) - min(dur_ps)) / 2 FROM ordered WHERE place IN ((steps "
     "+ 1) / 2, (steps + 2) / 2)"},
    {"steps.p95", "p95", IDS_UNIT_TIME, IDS_BETTER_LOWER,
     "The step time that 95 % of the steps do not exceed (nearest rank).",
     "WITH ordered AS (SELECT dur_ps, row_number() OVER (ORDER BY dur_ps) AS place, count(*) OVER () AS steps FROM "
     "steps WHERE run = :run) SELECT dur_ps FROM ordered WHERE place = (steps * 95 + 99) / 100"},
    {"steps.std", "standard deviation", IDS_UNIT_TIME, IDS_BETTER_LOWER, "Sample standard deviation of the step times.",
     "WITH mean AS (SELECT sum(dur_ps) * 1.0 / count(*) AS mean_ps FROM steps WHERE run = :run) SELECT "
     "CAST(round(sqrt(sum((dur_ps - mean_ps) * (dur_ps - mean_ps)) / (count(*) - 1))) AS INTEGER) FROM steps, mean "
     "WHERE run = :run"},
    {"steps.host_mean", "host step time", IDS_UNIT_TIME, IDS_BETTER_LOWER,
     "Mean length of the step annotations on the host: how long dispatching took.",
     "SELECT coalesce(sum(host_dur_ps), 0) / count(*) FROM steps WHERE run = :run"},
    {"steps.source", "found by", IDS_UNIT_NONE, IDS_BETTER_NEITHER,
     "marker: the file has a Steps line · annotation: events with step_num, or, where there are none, the annotation "
     "that recurs three times or more and in which nine tenths of the devices' work are launched · period: nothing "
     "marks steps, and the program with the most device time runs at even times (two thirds of the times between its "
     "ends are within a half of their median, over four executions or more): a step is the time from one end to the "
     "next. It is a guess: the program must run once a step. Where its executions come in groups of a fixed size, with "
     "a longer time or another program after each, there are no steps · none: none of these.",
     "SELECT coalesce(step_source, 'none') FROM run WHERE id = :run"},
};

/* The accounts in few columns. */
enum group { COMPUTE, TRANSFER, WAIT, COPIES, STALLED, HOST, DEVICE, GROUPS };

static const struct ids_column_def columns[] = {
    {"step", "step", IDS_UNIT_COUNT, 0},
    {"start", "at", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"duration", "time", IDS_UNIT_TIME, 0},
    {"slowest", "slowest", IDS_UNIT_TIME, 0},
    {"compute", "compute", IDS_UNIT_TIME, 0},
    {"transfer", "collectives", IDS_UNIT_TIME, 0},
    {"wait", "wait", IDS_UNIT_TIME, 0},
    {"copies", "copies", IDS_UNIT_TIME, 0},
    {"stalled", "stalled", IDS_UNIT_TIME, 0},
    {"host", "host", IDS_UNIT_TIME, 0},
    {"device", "device", IDS_UNIT_TIME, 0},
#define IDS_ACCOUNT(NAME, id, title, heading, meaning, of_idle) {id, id, IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
#include "lib/model/account.def"
    {"host_duration", "host step", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"slowest_device", "on", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_DETAIL},
    {"devices", "devices", IDS_UNIT_COUNT, IDS_COLUMN_DETAIL},
};
static const struct ids_table_def table_def = {
    "steps",
    "steps",
    columns,
    IDS_COUNT_OF(columns),
    "One row per step: its time, mean over the `devices` that it has work on, and on the slowest of them. The other "
    "columns are means of the ledger's accounts: the groups of the text (work.compute, comm.transfer, comm.wait, "
    "copy.*, stall.device, host.* with profiler, device.*) and those by single account each sum to `duration` but for "
    "rounding. Times since the run's first activity.",
    0,
};

static const struct ids_note notes[] = {
    {.before = "median ", .metric = "steps.median"},
    {.before = "p95 ", .metric = "steps.p95"},
    {.before = "sd ", .metric = "steps.std"},
};
static const struct ids_headline headlines[] = {{"steps", "step time", "steps.mean", notes, IDS_COUNT_OF(notes), 0}};

static enum group group_of(enum ids_account account) {
    if (account == IDS_WORK_COMPUTE) return COMPUTE;
    if (account == IDS_COMM_TRANSFER) return TRANSFER;
    if (account == IDS_COMM_WAIT) return WAIT;
    if (ids_account_is_copy(account)) return COPIES;
    if (account == IDS_STALL_DEVICE) return STALLED;
    return ids_account_is_host(account) || account == IDS_PROFILER ? HOST : DEVICE;
}

/* Adds what each step has of each account, over all devices, to sums[step]. */
static void sum_accounts(const struct ids_analysis *analysis, struct ids_account_times *sums) {
    const struct ids_ledger *ledger = &analysis->ledger;
    for (size_t b = 0; b < analysis->busy_count; b++) {
        const struct ids_device_steps *own = &analysis->steps.of_device[analysis->busy[b].index];
        for (size_t i = 0; i < own->count; i++) {
            if (own->at[i].step == IDS_NONE) continue;
            const struct ids_account_times *times = &ledger->in_step[ledger->first_step[b] + i];
            for (int a = 0; a < IDS_ACCOUNT_COUNT; a++) ids_sum(&sums[own->at[i].step].ps[a], times->ps[a]);
        }
    }
}

/* Where the columns begin that hold groups, and those that hold single accounts, in the order of their enums. */
enum { FIRST_GROUP = 4, FIRST_ACCOUNT = FIRST_GROUP + GROUPS, LAST = FIRST_ACCOUNT + IDS_ACCOUNT_COUNT };
_Static_assert(LAST + 3 == IDS_COUNT_OF(columns), "a column per account");

static void list(const struct ids_analysis *analysis, struct ids_report *report, const struct ids_account_times *sums) {
    const struct ids_steps *steps = &analysis->steps;
    struct ids_table *table = ids_report_table(report, &table_def);
    for (size_t s = 0; s < steps->count; s++) {
        const struct ids_step *step = &steps->at[s];
        int64_t groups[GROUPS] = {0}, devices = (int64_t)step->devices;
        struct ids_value row[IDS_COUNT_OF(columns)] = {
            ids_int_value(IDS_UNIT_COUNT, step->number),
            ids_int_value(IDS_UNIT_TIME, step->start_ps - analysis->first_ps),
            ids_int_value(IDS_UNIT_TIME, ids_step_time(step)),
            ids_int_value(IDS_UNIT_TIME, step->slowest_ps),
        };
        for (int a = 0; a < IDS_ACCOUNT_COUNT; a++) {
            ids_sum(&groups[group_of((enum ids_account)a)], sums[s].ps[a]);
            row[FIRST_ACCOUNT + a] = ids_int_value(IDS_UNIT_TIME, sums[s].ps[a] / devices);
        }
        for (int g = 0; g < GROUPS; g++) row[FIRST_GROUP + g] = ids_int_value(IDS_UNIT_TIME, groups[g] / devices);
        row[LAST] = step->host_end_ps > step->host_start_ps
                        ? ids_int_value(IDS_UNIT_TIME, step->host_end_ps - step->host_start_ps)
                        : ids_no_value(IDS_UNIT_TIME);
        row[LAST + 1] = ids_text_value(analysis->trace->devices[step->slowest].key);
        row[LAST + 2] = ids_int_value(IDS_UNIT_COUNT, devices);
        IDS_ROW(report, table, columns, row);
    }
}

static int shorter(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static size_t count_of(const struct ids_steps *steps) {
    return steps->count + (steps->has_left_out != 0);
}

/* What the Python hook marks where a program annotates no steps (collectors/python/_idsprof/idsprof_executions.py). */
#define COUNTED_CALLS "call of "

static int is_counted_call(const char *name) {
    return !strncmp(name, COUNTED_CALLS, sizeof COUNTED_CALLS - 1);
}

/* "region 'evaluate'; the 12 calls of train_step in it take 41.2 % of it": what capture counts are those. */
static const char *name_of_block(const struct ids_analysis *analysis, struct ids_report *report, const char *name) {
    const struct ids_steps *steps = &analysis->steps;
    const char *inner = steps->inner_count ? ids_trace_text(analysis->trace, steps->inner_name) : "";
    if (!steps->inner_count || steps->block_ps <= 0) return ids_report_text(report, "region '%s'", name);
    const char *what = is_counted_call(inner) ? inner + sizeof "call " - 1 : ids_report_text(report, "of '%s'", inner);
    return ids_report_text(report, "region '%s'; %s %s in it %s %.1f %% of it", name,
                           IDS_COUNTED(steps->inner_count, is_counted_call(inner) ? "call" : "annotation"), what,
                           steps->inner_count == 1 ? "takes" : "take",
                           100 * (double)steps->inner_ps / (double)steps->block_ps);
}

static const char *name_of_marks(const struct ids_analysis *analysis, struct ids_report *report) {
    const char *name = ids_trace_text(analysis->trace, analysis->steps.name);
    if (ids_steps_are_block(analysis)) return name_of_block(analysis, report, name);
    return is_counted_call(name) ? ids_report_text(report, "each a %s", name)
                                 : ids_report_text(report, "annotation '%s'", name);
}

/* The numbers of the first and the last step; is_known 0: the steps are no sequence. Calls that are counted may be of
 * several threads, whose work the device does in another order. */
struct ends {
    int64_t first, last;
    int is_known;
};

static struct ends ends_of(const struct ids_analysis *analysis) {
    const struct ids_steps *steps = &analysis->steps;
    struct ends ends = {steps->has_left_out ? steps->left_out : steps->at[0].number, steps->at[steps->count - 1].number,
                        1};
    int is_counted =
        steps->source == IDS_STEPS_ANNOTATION && is_counted_call(ids_trace_text(analysis->trace, steps->name));
    for (size_t i = 0; i < steps->count && is_counted; i++) {
        if (steps->at[i].number < ends.first) ends.first = steps->at[i].number;
        if (steps->at[i].number > ends.last) ends.last = steps->at[i].number;
    }
    return ends;
}

/* "h0 246–249, h1 273–276" */
static const char *say_hosts(const struct ids_analysis *analysis, struct ids_report *report,
                             const struct ids_host_steps *hosts, size_t count) {
    enum { SHOWN = 4 };
    const char *text = "";
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        const char *name = ids_trace_text(analysis->trace, analysis->trace->hosts[hosts[i].host].name);
        text = ids_report_text(report, "%s%s%s %lld–%lld", text, i ? ", " : "", name, (long long)hosts[i].first,
                               (long long)hosts[i].last);
    }
    return count <= SHOWN ? text : ids_report_text(report, "%s and others of %zu more", text, count - SHOWN);
}

/* What the numbers of the steps are, and the same in words: NULL where the hosts' are the same. */
static struct ends number(const struct ids_analysis *analysis, struct ids_report *report, const char **ret_of_hosts) {
    struct ends ends = ends_of(analysis);
    struct ids_host_steps *hosts = NULL;
    size_t count;
    *ret_of_hosts = NULL;
    if (ids_host_steps(analysis, &hosts, &count) || !hosts) return ends;
    *ret_of_hosts = say_hosts(analysis, report, hosts, count);
    ends.is_known = 0;
    free(hosts);
    return ends;
}

/* ", 10–19"; nothing where the program begins to count anew. */
static const char *numbers_of(const struct ids_analysis *analysis, struct ids_report *report) {
    const char *of_hosts;
    if (ids_steps_are_block(analysis)) return "";
    struct ends ends = number(analysis, report, &of_hosts);
    if (of_hosts) return ids_report_text(report, "; %s", of_hosts);
    return ends.first <= ends.last ? ids_report_text(report, ", %lld–%lld", (long long)ends.first, (long long)ends.last)
                                   : "";
}

/* Whether the step in whose middle the window opened is among those that are looked at. */
static int has_running(const struct ids_steps *steps) {
    return steps->has_running && steps->count && steps->at[0].made == steps->made_running;
}

/* "; step 150 is in no mean: the window opened with it" */
static const char *say_left_out(const struct ids_steps *steps, struct ids_report *report) {
    if (has_running(steps))
        return ids_report_text(report, "; step %lld was recorded from its middle on, when the window opened",
                               (long long)steps->running);
    if (!steps->has_left_out) return "";
    return ids_report_text(report, "; step %lld is in no mean: the window opened with it", (long long)steps->left_out);
}

/* What the sentence about steps says, for programs. */
static void list_steps(const struct ids_analysis *analysis, struct ids_report *report, const char *source) {
    const struct ids_steps *steps = &analysis->steps;
    int annotated = steps->source == IDS_STEPS_ANNOTATION, periodic = steps->source == IDS_STEPS_PERIOD;
    const char *of_hosts;
    struct ends ends = number(analysis, report, &of_hosts);
    ids_report_property(report, "steps.count", ids_int_value(IDS_UNIT_COUNT, (int64_t)count_of(steps)));
    ids_report_property(report, "steps.left_out",
                        steps->has_left_out ? ids_int_value(IDS_UNIT_COUNT, steps->left_out)
                                            : ids_no_value(IDS_UNIT_COUNT));
    if (steps->inner_count)
        ids_report_property(report, "steps.in_region", ids_int_value(IDS_UNIT_COUNT, (int64_t)steps->inner_count));
    ids_report_property(report, "steps.running",
                        has_running(steps) ? ids_int_value(IDS_UNIT_COUNT, steps->running)
                                           : ids_no_value(IDS_UNIT_COUNT));
    ids_report_property(report, "steps.source", ids_text_value(source));
    ids_report_property(report, "steps.annotation",
                        ids_text_value(annotated ? ids_trace_text(analysis->trace, steps->name) : NULL));
    ids_report_property(report, "steps.program",
                        ids_text_value(periodic ? ids_report_text(report, "%s", steps->period.program) : NULL));
    ids_report_property(report, "steps.first",
                        ends.is_known ? ids_int_value(IDS_UNIT_COUNT, ends.first) : ids_no_value(IDS_UNIT_COUNT));
    ids_report_property(report, "steps.last",
                        ends.is_known ? ids_int_value(IDS_UNIT_COUNT, ends.last) : ids_no_value(IDS_UNIT_COUNT));
    if (of_hosts) ids_report_property(report, "steps.of_hosts", ids_text_value(of_hosts));
}

static void say_source(const struct ids_analysis *analysis, struct ids_report *report) {
    static const char *const sources[] = {"none", "marker", "annotation", "period"};
    const struct ids_steps *steps = &analysis->steps;
    if (steps->source != IDS_STEPS_NONE && steps->count) list_steps(analysis, report, sources[steps->source]);
    struct ids_metric *metric = ids_report_metric(report, "steps.source", NULL, ids_text_value(sources[steps->source]));
    uint64_t all = steps->assigned + steps->unassigned;
    if (steps->source != IDS_STEPS_NONE && !steps->count) {
        ids_report_rule(report, metric, "no step lies wholly in the window");
    } else if (steps->source == IDS_STEPS_ANNOTATION) {
        ids_report_rule(report, metric, "%s; %llu of %s assigned through their launch; %s launched nothing%s",
                        name_of_marks(analysis, report), (unsigned long long)steps->assigned,
                        IDS_COUNTED(all, "device event"), IDS_COUNTED(steps->without_work, "annotation"),
                        say_left_out(steps, report));
        ids_report_property(report, "steps",
                            ids_text_value(ids_report_text(report, "%s (%s%s%s)", IDS_COUNTED(count_of(steps), "step"),
                                                           name_of_marks(analysis, report),
                                                           numbers_of(analysis, report), say_left_out(steps, report))));
    } else if (steps->source == IDS_STEPS_MARKER) {
        ids_report_rule(report, metric, "the file's Steps line");
        ids_report_property(
            report, "steps",
            ids_text_value(ids_report_text(report, "%s (Steps line)", IDS_COUNTED(steps->count, "step"))));
    } else if (steps->source == IDS_STEPS_PERIOD) {
        ids_report_rule(
            report, metric,
            "nothing marks steps: from the end of one execution of %s to the end of the next one, which is a "
            "step only if the program runs it once a step",
            steps->period.program);
        ids_report_property(report, "steps",
                            ids_text_value(ids_report_text(report, "%s (period of %s; nothing marks steps)",
                                                           IDS_COUNTED(steps->count, "step"), steps->period.program)));
    } else if (steps->is_launchless) {
        ids_report_rule(report, metric,
                        "annotation '%s' marks %s, but the recording holds no launch for most of what devices "
                        "do from the first step on (of %s, %llu are assigned): a step's time would be that of a few "
                        "kernels",
                        ids_trace_text(analysis->trace, steps->name), IDS_COUNTED(steps->marked, "step"),
                        IDS_COUNTED(all, "device event"), (unsigned long long)steps->assigned);
    } else if (steps->blurred) {
        ids_report_rule(
            report, metric,
            "annotation '%s' marks %s, but %zu of them have no work or time of their own: executions are chained from "
            "thread to thread, or run beside each other, so they do not tell steps apart",
            ids_trace_text(analysis->trace, steps->name), IDS_COUNTED(steps->marked, "step"), steps->blurred);
    } else {
        ids_report_rule(
            report, metric,
            "the trace has no Steps line, no annotation with step_num "
            "(jax.profiler.StepTraceAnnotation) that launched work, and none that recurs around all work%s%s",
            *steps->period.why ? "; " : "", steps->period.why);
    }
}

/* A first step that takes longer by `longer_ps` is warm-up where the program is at its beginning, or where compiling
 * and first use are half of that: a checkpoint of step 160 is none. Numbers that the program does not give say
 * nothing. */
static int is_warm_up(const struct ids_steps *steps, const struct ids_account_times *sums, int64_t longer_ps) {
    enum { EARLY = 10 };
    int is_numbered = steps->source != IDS_STEPS_PERIOD && !steps->unnumbered;
    if (is_numbered && steps->at[0].number < EARLY) return 1;
    int64_t first_use_ps = sums[0].ps[IDS_HOST_COMPILE] + sums[0].ps[IDS_HOST_RUNTIME];
    return first_use_ps / (int64_t)steps->at[0].devices >= longer_ps / 2;
}

/* Mean, median, p95, deviation, and whether the first step stands out. */
static void figures(const struct ids_analysis *analysis, struct ids_report *report,
                    const struct ids_account_times *sums, int64_t *times_ps) {
    const struct ids_steps *steps = &analysis->steps;
    size_t n = steps->count;
    int64_t total_ps = 0, host_ps = 0, pairs_ps = 0, pairs = 0, slowest_ps = 0;
    for (size_t s = 0; s < n; s++) {
        times_ps[s] = ids_step_time(&steps->at[s]);
        ids_sum(&total_ps, times_ps[s]);
        ids_sum(&pairs_ps, steps->at[s].sum_ps);
        pairs += steps->at[s].devices;
        ids_sum(&slowest_ps, steps->at[s].slowest_ps);
        ids_sum(&host_ps, steps->at[s].host_end_ps - steps->at[s].host_start_ps);
    }
    if (!n) return; /* the caller has some */
    int64_t first_ps = times_ps[0];
    double mean = (double)total_ps / (double)n, squares = 0;
    for (size_t s = 0; s < n; s++) squares += ((double)times_ps[s] - mean) * ((double)times_ps[s] - mean);
    qsort(times_ps, n, sizeof *times_ps, shorter);
    int64_t median_ps = n % 2 ? times_ps[n / 2] : times_ps[n / 2 - 1] + (times_ps[n / 2] - times_ps[n / 2 - 1]) / 2;
    struct ids_metric *metric =
        ids_report_metric(report, "steps.mean", NULL, ids_int_value(IDS_UNIT_TIME, pairs ? pairs_ps / pairs : 0));
    if (n > 2 && first_ps > 2 * median_ps) {
        ids_report_rule(report, metric,
                        is_warm_up(steps, sums, first_ps - median_ps)
                            ? "the first step takes more than twice the median: this window has warm-up in it"
                            : "the first step takes more than twice the median");
    }
    ids_report_metric(report, "steps.slowest", NULL, ids_int_value(IDS_UNIT_TIME, slowest_ps / (int64_t)n));
    ids_report_metric(report, "steps.count", NULL, ids_int_value(IDS_UNIT_COUNT, (int64_t)count_of(steps)));
    ids_report_metric(report, "steps.median", NULL, ids_int_value(IDS_UNIT_TIME, median_ps));
    ids_report_metric(report, "steps.p95", NULL, ids_int_value(IDS_UNIT_TIME, times_ps[(n * 95 + 99) / 100 - 1]));
    if (n > 1)
        ids_report_metric(report, "steps.std", NULL,
                          ids_int_value(IDS_UNIT_TIME, (int64_t)llround(sqrt(squares / (double)(n - 1)))));
    else
        ids_report_no_data(report, "steps.std", IDS_UNIT_TIME, NULL, "a single step does not vary");
    if (steps->source == IDS_STEPS_ANNOTATION)
        ids_report_metric(report, "steps.host_mean", NULL, ids_int_value(IDS_UNIT_TIME, host_ps / (int64_t)n));
    else
        ids_report_no_data(report, "steps.host_mean", IDS_UNIT_TIME, NULL, "no step annotation on the host");
}

/* A moment in another clock, or one of 0, makes a step of days, and every mean is of it alone. */
static void say_stretched(const struct ids_steps *steps, struct ids_report *report) {
    enum { TIMES = 1000 };
    const int64_t hour_ps = INT64_C(3600) * 1000000000000;
    const struct ids_metric *median = ids_report_find(report, "steps.median", NULL);
    char time[IDS_VALUE_ROOM];
    for (size_t s = 0; s < steps->count && steps->count > 2 && median && !median->value.missing; s++) {
        int64_t time_ps = ids_step_time(&steps->at[s]);
        if (time_ps < hour_ps || time_ps / TIMES < median->value.i) continue;
        ids_value_format(ids_int_value(IDS_UNIT_TIME, time_ps), time, sizeof time);
        const char *text =
            ids_report_text(report,
                            "step %" PRId64 " takes %s, more than 1000 times the median: a moment in it "
                            "may be wrong, and figures of all steps are of this one: report on the others alone",
                            steps->at[s].number, time);
        if (text) ids_report_diag(report, IDS_WARNING, "steps.stretched", text, -1, 1);
        return;
    }
}

/* Whether the recording says of any work of a device who launched it. */
static int says_who_launched(const struct ids_trace *trace) {
    for (size_t d = 0; d < trace->device_count; d++) {
        struct ids_cursor cursor = ids_cursor_over(&trace->devices[d].activity);
        for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
            if (event->launch) return 1;
        }
    }
    return 0;
}

/* "steps take 111.2 ms on the host (annotation 'train')": all that is known of them without work of a device. */
static const char *on_host(const struct ids_analysis *analysis, struct ids_report *report) {
    const struct ids_steps *steps = &analysis->steps;
    int64_t host_ps = 0, count = 0;
    char time[IDS_VALUE_ROOM];
    for (size_t i = 0; i < steps->mark_count; i++, count++)
        ids_sum(&host_ps, steps->mark[i].end_ps - steps->mark[i].start_ps);
    ids_value_format(ids_int_value(IDS_UNIT_TIME, count ? host_ps / count : 0), time, sizeof time);
    return ids_report_text(report, "steps take %s on the host (%s)", time, name_of_marks(analysis, report));
}

/* Why no step is found. */
static const char *why_none(const struct ids_analysis *analysis, struct ids_report *report) {
    const struct ids_trace *trace = analysis->trace;
    const struct ids_steps *steps = &analysis->steps;
    if (!analysis->busy_count && steps->mark_count && steps->name != IDS_NONE)
        return ids_report_text(report, "%s; %s", on_host(analysis, report), ids_no_activity_reason(analysis));
    if (!analysis->busy_count) return ids_no_activity_reason(analysis);
    if (steps->source != IDS_STEPS_NONE) return "no step lies wholly in the window";
    int is_counted = steps->name != IDS_NONE && is_counted_call(ids_trace_text(trace, steps->name));
    if (steps->is_launchless)
        return ids_report_text(report,
                               "%s; the recording lacks the launches of most device work, so nothing says what of it "
                               "is whose",
                               on_host(analysis, report));
    if (steps->blurred)
        return is_counted
                   ? "calls were counted as steps, but device work cannot be assigned to them: see the rule of "
                     "steps.source"
                   : "steps are annotated, but device work cannot be assigned to steps: see the rule of steps.source";
    if (steps->name == IDS_NONE)
        return ids_report_text(report, "no steps in this trace: %s", ids_how_to_mark_steps(ids_framework_of(trace)));
    if (ids_steps_are_block(analysis))
        return ids_report_text(report,
                               "nothing in this trace marks steps, and the region '%s', which was recorded, is none: "
                               "%s; %s",
                               ids_trace_text(trace, steps->name),
                               says_who_launched(trace) ? "no device's work was launched by the thread of the region"
                                                        : "nothing says which thread launched devices' work",
                               ids_how_to_mark_steps(ids_framework_of(trace)));
    if (is_counted)
        return ids_report_text(report,
                               "steps were counted (each a %s), but nothing in this trace ties devices' work to them",
                               ids_trace_text(trace, steps->name));
    if (!trace->complete)
        return "steps are annotated, but what was read of this incomplete run ties no device's work to them";
    if (trace->device_count && trace->devices[0].kind == IDS_DEVICE_CPU)
        return "steps are annotated, but nothing in this trace ties devices' work to them (JAX's trace.json of a CPU "
               "lacks the links that its xplane.pb has)";
    return "steps are annotated, but nothing in this trace ties devices' work to them";
}

static int steps_run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    const struct ids_steps *steps = &analysis->steps;
    if (!steps->count || !analysis->busy_count) {
        say_source(analysis, report);
        ids_metrics_missing(report, metrics, IDS_COUNT_OF(metrics), why_none(analysis, report));
        return 0;
    }
    struct ids_account_times *sums = calloc(steps->count, sizeof *sums);
    int64_t *times_ps = calloc(steps->count, sizeof *times_ps);
    int failed = !sums || !times_ps;
    if (!failed) {
        sum_accounts(analysis, sums);
        figures(analysis, report, sums, times_ps);
        say_source(analysis, report);
        say_stretched(steps, report);
        list(analysis, report, sums);
    }
    free(sums);
    free(times_ps);
    return failed ? ids_no_memory(err) : 0;
}

static const struct ids_table_def *const tables[] = {&table_def};

const struct ids_analyzer ids_steps_analyzer = {
    .name = "steps",
    .title = "steps",
    .metrics = metrics,
    .metric_count = IDS_COUNT_OF(metrics),
    .tables = tables,
    .table_count = IDS_COUNT_OF(tables),
    .headlines = headlines,
    .headline_count = IDS_COUNT_OF(headlines),
    .run = steps_run,
};
