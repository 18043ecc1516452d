#include "lib/run/rare_step.h"
#include "lib/run/window_steps.h"

#include <stdlib.h>

/* Fewer steps like it may be chance, and the usual one is not known of fewer. */
enum { LEAST_LIKE = 3, LEAST_STEPS = 20, LEAST_MEASURED = 3 };

static int by_time(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static int is_measured(const struct ids_slowdown_step *step, const struct ids_report *report) {
    return step->is_recorded && !step->is_of_other && step->number >= ids_window_number(report, "steps.first") &&
           step->number <= ids_window_number(report, "steps.last") &&
           step->number != ids_window_number(report, "steps.left_out");
}

/* The median of those that no window touches; 0: there are too few. */
static int64_t find_usual(const struct ids_slowdown_step *steps, size_t count, size_t *ret_steps) {
    int64_t *times = calloc(count + 1, sizeof *times), usual_ns = 0;
    *ret_steps = 0;
    for (size_t i = 0; times && i < count; i++) {
        if (!steps[i].is_recorded) times[(*ret_steps)++] = steps[i].took_ns;
    }
    if (*ret_steps >= LEAST_STEPS) {
        qsort(times, *ret_steps, sizeof *times, by_time);
        usual_ns = times[(*ret_steps - 1) / 2];
    }
    free(times);
    return usual_ns;
}

int ids_rare_step_find(const struct ids_slowdown_step *steps, size_t count, const struct ids_report *report,
                       struct ids_rare_step *ret_rare) {
    struct ids_rare_step rare = {0};
    size_t slow = 0;
    const int64_t usual_ns = find_usual(steps, count, &rare.steps);
    if (!usual_ns || ids_window_number(report, "steps.first") < 0 || ids_report_find_property(report, "kept")) return 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_measured(&steps[i], report)) continue;
        rare.measured++;
        if (steps[i].took_ns / 2 <= usual_ns) continue;
        slow++;
        rare.longer_ns = steps[i].took_ns - usual_ns;
    }
    for (size_t i = 0; i < count; i++) {
        if (steps[i].is_recorded || steps[i].took_ns - usual_ns < rare.longer_ns / 2) continue;
        rare.like++;
        rare.lost_ns += (double)(steps[i].took_ns - usual_ns) / (double)rare.steps;
    }
    *ret_rare = rare;
    return slow == 1 && rare.measured >= LEAST_MEASURED && rare.like >= LEAST_LIKE;
}

static const char *say_time(struct ids_report *report, double ns) {
    char text[IDS_VALUE_ROOM];
    return ids_report_text(report, "%s",
                           ids_value_format(ids_int_value(IDS_UNIT_TIME, (int64_t)(ns * 1000)), text, sizeof text));
}

/* All that one step has of it would be chance. */
static int is_of_that_step(const struct ids_rare_step *rare, const struct ids_advice *advice) {
    if (!advice->per_step || advice->saves_ps <= 0 || advice->chance_ps < advice->saves_ps) return 0;
    return (double)advice->saves_ps / 1000 * (double)rare->measured >= (double)rare->longer_ns / 2;
}

int ids_rare_step_tell(const struct ids_rare_step *rare, struct ids_report *report) {
    double of_run = rare->lost_ns * (double)rare->measured / (double)rare->longer_ns;
    int found = 0;
    for (size_t i = 0; i < report->advice_count; i++) {
        struct ids_advice *advice = &report->advice[i];
        if (!is_of_that_step(rare, advice)) continue;
        advice->saves_ps = (int64_t)((double)advice->saves_ps * of_run);
        advice->takes_ps = (int64_t)((double)advice->takes_ps * of_run);
        advice->chance_ps = 0;
        advice->evidence = ids_report_text(
            report, "%s; by the history %zu of %zu other steps are like it and lose %s a step",
            advice->evidence ? advice->evidence : "", rare->like, rare->steps, say_time(report, rare->lost_ns));
        found = 1;
    }
    return found;
}
