#include "lib/analysis/grades.h"

#include "lib/analysis/analyzer.h"
#include "lib/analysis/participants.h"
#include "lib/analysis/unrecorded_work.h"

#include <string.h>

#define SHARE(share) \
    { .unit = IDS_UNIT_RATIO, .d = (share) }
#define SECONDS(seconds) \
    { .unit = IDS_UNIT_TIME, .i = (seconds)*INT64_C(1000000000000) }

static const struct ids_grade_rules standard = {{
    /* A device that waits for its peers is busy and does no good, and a window begins with the first activity of a
     * device, after what the first step did on its host. Neither may make a run look better than it is. */
    {"device.utilization",
     {"device.utilization", "device.useful_share", "device.useful_steps_share"},
     SHARE(0.8),
     SHARE(0.5),
     1},
    {"host.overhead_share", {NULL}, SHARE(0.1), SHARE(0.2), 1},
    {"compile.total", {NULL}, SECONDS(2), SECONDS(10), 0},
    /* As much as advice speaks of. */
    {"compile.steps_share", {NULL}, SHARE(0.01), SHARE(0.01), 0},
    {"kernels.median", {NULL}, {.unit = IDS_UNIT_TIME}, {.unit = IDS_UNIT_TIME}, 1},
    {"occupancy.median", {NULL}, SHARE(0.5), SHARE(0), 1},
    /* Above nine tenths the next larger batch, or fragmentation, ends the program. */
    {"memory.share", {NULL}, SHARE(0.9), SHARE(0.97), 0},
    {"efficiency.memory_bound", {NULL}, SHARE(0.6), SHARE(0.4), 1},
    /* A device that exchanges is busy: how busy it is tells nothing of that. */
    {"collectives.exposed_share", {NULL}, SHARE(0.1), SHARE(0.25), 0},
}};

/* A headline shows the grade of another figure, or of its own and another one. */
static const struct {
    const char *metric, *shows;
} followers[] = {
    {"idle.share", "device.utilization"},
    {"kernels.small_count", "kernels.median"},
    {"compile.total", "compile.steps_share"},
    {"memory.peak", "memory.share"},
    {"collectives.share", "collectives.exposed_share"},
};
enum { FOLLOWERS = sizeof followers / sizeof *followers };

void ids_grade_rules_default(const struct ids_params *params, struct ids_grade_rules *ret_rules) {
    *ret_rules = standard;
    struct ids_grade_rule *kernels = ids_grade_rule_find(ret_rules, "kernels.median");
    kernels->bad.i = params->small_kernel_ps;
    if (__builtin_mul_overflow(params->small_kernel_ps, IDS_TIMES_SMALL, &kernels->warn.i)) kernels->warn.i = INT64_MAX;
}

struct ids_grade_rule *ids_grade_rule_find(struct ids_grade_rules *rules, const char *metric) {
    for (int i = 0; i < IDS_GRADE_RULES; i++) {
        if (!strcmp(rules->at[i].metric, metric)) return &rules->at[i];
    }
    return NULL;
}

const char *ids_grade_shown(const char *metric) {
    for (int f = 0; f < FOLLOWERS; f++) {
        if (!strcmp(followers[f].metric, metric)) return followers[f].shows;
    }
    return NULL;
}

struct ids_threshold ids_grade_threshold(const struct ids_grade_rule *rule) {
    int higher = ids_metric_def_find(rule->metric, NULL)->better == IDS_BETTER_HIGHER;
    return (struct ids_threshold){rule->metric, higher, rule->warn, rule->bad};
}

static enum ids_grade grade_of(const struct ids_grade_rule *rule, int higher, struct ids_value value) {
    double sign = higher ? 1 : -1;
    double own = sign * ids_value_number(value), warn = sign * ids_value_number(rule->warn),
           bad = sign * ids_value_number(rule->bad);
    if (value.missing || (own == 0 && !rule->of_nothing)) return IDS_GRADE_NONE;
    if (higher && warn <= 0) return IDS_GRADE_NONE; /* every value passes */
    return own > warn ? IDS_GRADE_GOOD : own >= bad ? IDS_GRADE_WARN : IDS_GRADE_BAD;
}

static void take(struct ids_metric *metric, enum ids_grade grade, struct ids_threshold threshold) {
    if (grade <= metric->grade) return;
    metric->grade = grade;
    metric->threshold = threshold;
}

/* The first step of our own window is in no mean, and takes most of a short one: there the other steps alone are judged
 * where a figure is of them. NULL: it is of the window, or there is no such step. */
static const struct ids_metric *of_the_mean_steps(const struct ids_grade_rule *rule, const struct ids_report *report,
                                                  const char *device) {
    const struct ids_value *left_out = ids_report_find_property(report, "steps.left_out");
    const struct ids_metric *found = NULL;
    for (int f = 0; f < IDS_GRADE_FIGURES && left_out && !left_out->missing; f++) {
        if (rule->figures[f] && !strcmp(rule->figures[f], "device.useful_steps_share"))
            found = ids_report_find(report, rule->figures[f], device);
    }
    return found && !found->value.missing ? found : NULL;
}

static void grade_by_rule(const struct ids_grade_rule *rule, const struct ids_report *report,
                          struct ids_metric *metric) {
    struct ids_threshold threshold = ids_grade_threshold(rule);
    const struct ids_metric *of_steps = of_the_mean_steps(rule, report, metric->device);
    for (int f = 0; f < IDS_GRADE_FIGURES; f++) {
        const struct ids_metric *judged = rule->figures[f] ? ids_report_find(report, rule->figures[f], metric->device)
                                          : f              ? NULL
                                                           : metric;
        if (!judged) continue;
        threshold.of = judged->id;
        take(metric, grade_of(rule, threshold.higher, judged->value), threshold);
    }
    if (!of_steps || grade_of(rule, threshold.higher, of_steps->value) >= metric->grade) return;
    metric->grade = IDS_GRADE_NONE;
    threshold.of = of_steps->id;
    take(metric, grade_of(rule, threshold.higher, of_steps->value), threshold);
}

/* While a graph is recorded the device has nothing to do, which is neither good nor bad. */
static int is_graph_recording(const struct ids_report *report) {
    return ids_report_find_property(report, "graph_recording") != NULL;
}

/* What a device worked at that the file does not have is neither idle nor busy, and kernels of graphs are not small
 * because those beside them are. */
static int is_known(const struct ids_grade_rule *rule, const struct ids_report *report) {
    if (!strcmp(rule->metric, "kernels.median")) return !ids_are_graphs_unrecorded(report);
    return strcmp(rule->metric, "device.utilization") != 0 || !ids_is_utilization_unknown(report);
}

/* A device that exchanges works, but one that waits does not: where it may wait for somebody who was not read, nobody
 * knows whether it works well. As much of collectives counts as their own share warns of. */
static int may_be_worse(const struct ids_grade_rules *rules, const struct ids_report *report,
                        const struct ids_metric *metric) {
    static const char share[] = "collectives.exposed_share";
    if (strcmp(metric->id, "device.utilization") != 0 || metric->grade != IDS_GRADE_GOOD) return 0;
    const struct ids_metric *exposed = ids_report_find(report, share, metric->device);
    if (!exposed || exposed->value.missing || !ids_report_find_property(report, IDS_PEERS_NOT_READ)) return 0;
    for (int r = 0; r < IDS_GRADE_RULES; r++)
        if (!strcmp(rules->at[r].metric, share)) return exposed->value.d > ids_value_number(rules->at[r].warn);
    return 0;
}

void ids_grade(const struct ids_grade_rules *rules, struct ids_report *report) {
    const int rules_to_go_by = is_graph_recording(report) ? 0 : IDS_GRADE_RULES;
    for (size_t i = 0; i < report->metric_count; i++) {
        struct ids_metric *metric = &report->metrics[i];
        metric->grade = IDS_GRADE_NONE;
        metric->threshold = (struct ids_threshold){0};
        for (int r = 0; r < rules_to_go_by; r++) {
            if (!strcmp(rules->at[r].metric, metric->id) && is_known(&rules->at[r], report))
                grade_by_rule(&rules->at[r], report, metric);
        }
        if (may_be_worse(rules, report, metric)) {
            metric->grade = IDS_GRADE_NONE;
            metric->threshold = (struct ids_threshold){0};
        }
    }
    for (size_t i = 0; i < report->metric_count; i++) {
        struct ids_metric *metric = &report->metrics[i];
        const char *shows = ids_grade_shown(metric->id);
        const struct ids_metric *shown = shows ? ids_report_find(report, shows, metric->device) : NULL;
        int is_none = metric->value.unit == IDS_UNIT_COUNT && !metric->value.i;
        /* Of no kernel nothing is to be warned. */
        if (shown && (!is_none || shown->grade == IDS_GRADE_GOOD)) take(metric, shown->grade, shown->threshold);
    }
}

void ids_grade_standard(struct ids_report *report) {
    struct ids_params params;
    struct ids_grade_rules rules;
    ids_params_default(&params);
    ids_grade_rules_default(&params, &rules);
    ids_grade(&rules, report);
}
