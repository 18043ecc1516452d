#include "lib/run/slowdown.h"

#include "lib/run/window_steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_RECORDED = 3, SIDE_MOST = 20, LEAST_AROUND = 10, LEAST_BESIDE = 5 };

static int by_time(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* The shorter one in the middle; 0 of none. */
static int64_t median_of(int64_t *times, size_t count) {
    if (!count) return 0;
    qsort(times, count, sizeof *times, by_time);
    return times[(count - 1) / 2];
}

static int is_quarter_longer(int64_t longer, int64_t than) {
    return longer - than > than / 4;
}

static int is_half_longer(int64_t longer, int64_t than) {
    return longer - than > than / 2;
}

/* The report's steps: their times, and the places of the first and the last one. */
static size_t take_measured(const struct ids_slowdown_step *steps, size_t count, const struct ids_report *report,
                            int64_t *times, size_t ends[2]) {
    int64_t first = ids_window_number(report, "steps.first"), last = ids_window_number(report, "steps.last"),
            left_out = ids_window_number(report, "steps.left_out");
    size_t found = 0;
    for (size_t i = 0; i < count && first >= 0; i++) {
        if (!steps[i].is_recorded || steps[i].is_of_other) continue;
        if (steps[i].number < first || steps[i].number > last) continue;
        if (steps[i].number == left_out) continue;
        if (!found) ends[0] = i;
        ends[1] = i;
        times[found++] = steps[i].took_ns;
    }
    return found;
}

/* The nearest ones that no window touches, from `at` in the direction `by`. */
static size_t take_side(const struct ids_slowdown_step *steps, size_t count, size_t at, int by,
                        int64_t times[SIDE_MOST]) {
    size_t found = 0;
    for (size_t i = at + (size_t)by; i < count && found < SIDE_MOST; i += (size_t)by) { /* below 0 is past the end */
        if (!steps[i].is_recorded) times[found++] = steps[i].took_ns;
    }
    return found;
}

/* The steps around the window. */
struct around {
    int64_t times[2 * SIDE_MOST]; /* shortest first */
    size_t before, after;
    int64_t usual_ns, quartile_ns; /* their median, and the upper quartile; 0: there are none */
    int64_t least_ns;              /* the lower quartile */
    int is_alike;                  /* there are enough on both sides, and they take as long as each other */
};

static struct around look_around(const struct ids_slowdown_step *steps, size_t count, const size_t ends[2]) {
    struct around around = {.is_alike = 0};
    int64_t *times = around.times;
    around.before = take_side(steps, count, ends[0], -1, times);
    around.after = take_side(steps, count, ends[1], 1, times + around.before);
    size_t all = around.before + around.after;
    int64_t one = median_of(times, around.before), other = median_of(times + around.before, around.after);
    if (!all) return around;
    around.usual_ns = median_of(times, all);
    around.quartile_ns = times[(all - 1) * 3 / 4];
    around.least_ns = times[(all - 1) / 4];
    around.is_alike = around.before && around.after && all >= LEAST_AROUND && !is_quarter_longer(one, other) &&
                      !is_quarter_longer(other, one) && !is_quarter_longer(around.quartile_ns, around.usual_ns);
    return around;
}

/* A quarter longer counts where the steps around are alike. What is half as long again as three quarters of them is no
 * chance, though they be few or unlike. */
static int is_slowed(const struct around *around, int64_t recorded_ns) {
    if (around->is_alike) return recorded_ns - around->usual_ns >= around->usual_ns / 4;
    return around->before + around->after >= LEAST_BESIDE && is_half_longer(recorded_ns, around->quartile_ns);
}

/* The same the other way. */
static int is_hurried(const struct around *around, int64_t measured_ns) {
    if (measured_ns <= 0) return 0;
    if (around->is_alike) return around->usual_ns - measured_ns >= measured_ns / 4;
    return around->before + around->after >= LEAST_BESIDE && is_half_longer(around->least_ns, measured_ns);
}

/* Of the whole run: a window may lie in a short while in which nothing else is like it. 1 and what is usual, where
 * three quarters of its steps take half as long again as those of the window. */
static int is_hurried_in_run(const struct ids_slowdown_step *steps, size_t count, int64_t measured_ns,
                             struct ids_slowdown *slowdown) {
    int64_t *times = calloc(count + 1, sizeof *times);
    size_t found = 0;
    for (size_t i = 0; times && i < count; i++) {
        if (!steps[i].is_recorded) times[found++] = steps[i].took_ns;
    }
    int64_t usual_ns = median_of(times, found);
    int is_it = measured_ns > 0 && found > (size_t)2 * SIDE_MOST && is_half_longer(times[(found - 1) / 4], measured_ns);
    free(times);
    if (!is_it) return 0;
    slowdown->usual_ns = usual_ns;
    slowdown->around = found;
    slowdown->side = "outside";
    return 1;
}

int ids_slowdown_find(const struct ids_slowdown_step *steps, size_t count, const struct ids_report *report,
                      int64_t step_ns, struct ids_slowdown *ret_slowdown) {
    struct ids_slowdown slowdown = {0};
    size_t ends[2];
    int64_t *times = calloc(count + 1, sizeof *times);
    size_t measured = times ? take_measured(steps, count, report, times, ends) : 0;
    slowdown.recorded_ns = median_of(times, measured);
    for (size_t i = 0; i < measured; i++) slowdown.recorded_mean_ns += times[i] / (int64_t)measured;
    free(times);
    if (measured < LEAST_RECORDED || ids_report_find_property(report, "kept")) return 0;
    const struct around around = look_around(steps, count, ends);
    slowdown.usual_ns = around.usual_ns;
    slowdown.around = around.before + around.after;
    slowdown.side = !around.before ? "after" : !around.after ? "before" : "around";
    if (!is_slowed(&around, slowdown.recorded_ns)) {
        slowdown.recorded_ns = step_ns; /* a device that works off what was launched before is quicker than calls */
        if (!is_hurried(&around, step_ns) && (around.is_alike || !is_hurried_in_run(steps, count, step_ns, &slowdown)))
            return 0;
    }
    *ret_slowdown = slowdown;
    return 1;
}

/* --- slow steps that are frequent ------------------------------------------------------------------------------- */

enum { LEAST_SLOW = 5, SLOW_OF = 10, LOST_OF = 4 };

int ids_slow_often_find(const struct ids_slowdown_step *steps, size_t count, const struct ids_report *report,
                        struct ids_slow_often *ret_often) {
    struct ids_slow_often often = {0};
    int64_t *times = calloc(count + 1, sizeof *times), *measured = calloc(count + 1, sizeof *measured);
    size_t ends[2], of_window = 0;
    double all_ns = 0, lost_ns = 0;
    int found = 0;
    if (times && measured) {
        for (size_t i = 0; i < count; i++) {
            if (!steps[i].is_recorded) times[often.steps++] = steps[i].took_ns;
        }
        of_window = take_measured(steps, count, report, measured, ends);
        const int64_t usual_ns = median_of(times, often.steps);
        for (size_t i = 0; i < often.steps; i++) {
            all_ns += (double)times[i];
            if (times[i] / 2 <= usual_ns) continue;
            often.slow++;
            lost_ns += (double)(times[i] - usual_ns);
        }
        if (often.steps) often.mean_ns = (int64_t)(all_ns / (double)often.steps);
        for (size_t i = 0; i < of_window; i++) found |= measured[i] / 2 > usual_ns;
        int64_t took_ns;
        for (size_t at = 0; !of_window && (took_ns = ids_window_step(report, &at)) >= 0;)
            found |= took_ns / 2 > usual_ns;
    }
    free(times);
    free(measured);
    *ret_often = often;
    return found && often.slow >= LEAST_SLOW && often.slow * SLOW_OF >= often.steps && lost_ns >= all_ns / LOST_OF;
}

int ids_slow_often_measured(const struct ids_slowdown *slowdown) {
    return slowdown->recorded_ns / 2 > slowdown->usual_ns;
}

static int is_saving(const struct ids_advice *advice) {
    return advice->per_step && advice->saves_ps > 0;
}

void ids_slow_often_tell(const struct ids_slow_often *often, struct ids_report *report) {
    struct ids_advice *first = NULL;
    for (size_t i = 0; i < report->advice_count; i++) {
        struct ids_advice *advice = &report->advice[i];
        if (is_saving(advice) && (!first || advice->saves_ps > first->saves_ps)) first = advice;
    }
    if (!first || first->chance_ps <= first->saves_ps / 2) return;
    first->evidence = ids_report_text(report,
                                      "%s; its size is unsure, because the window has few steps; %zu of the run's "
                                      "%zu other steps take more than twice the median",
                                      first->evidence ? first->evidence : "", often->slow, often->steps);
    ids_report_advice_by_saving(report);
}

static const char *say_time(struct ids_report *report, int64_t ns) {
    char text[IDS_VALUE_ROOM];
    int64_t ps;
    if (__builtin_mul_overflow(ns, 1000, &ps)) return "?";
    return ids_report_text(report, "%s", ids_value_format(ids_int_value(IDS_UNIT_TIME, ps), text, sizeof text));
}

/* Savings are parts of one step: together they are no more than it. */
static void keep_within(int64_t step_ps, struct ids_report *report) {
    double all = 0;
    for (size_t i = 0; i < report->advice_count; i++) {
        if (is_saving(&report->advice[i])) all += (double)report->advice[i].saves_ps;
    }
    for (size_t i = 0; i < report->advice_count && all > (double)step_ps; i++) {
        struct ids_advice *advice = &report->advice[i];
        if (is_saving(advice)) advice->saves_ps = (int64_t)((double)advice->saves_ps * ((double)step_ps / all));
    }
}

/* What the devices do all of the time in such a window they may do a part of the time in others. What saves less than
 * a tenth and stands before the compute, for which nobody knows a remedy, rests on the same window. */
static void warn_of_compute(const char *found, int64_t step_ns, struct ids_report *report) {
    const int64_t tenth_ps = step_ns < INT64_MAX / 1000 ? step_ns * 1000 / 10 : INT64_MAX;
    size_t place = 0;
    while (place < report->advice_count &&
           (!report->advice[place].account || strncmp(report->advice[place].account, "work.", 5) != 0))
        place++;
    if (place == report->advice_count) return;
    while (place && report->advice[place - 1].saves_ps >= 0 && report->advice[place - 1].saves_ps < tenth_ps) place--;
    const char *what = ids_report_text(report,
                                       "%s: the window is not typical, and devices may compute for less of other "
                                       "steps - record more of them: idsprof capture --steps 20",
                                       found);
    ids_report_advice_at(report,
                         &(struct ids_advice){.saves_ps = -1,
                                              .per_step = 1,
                                              .what = what,
                                              .evidence = "steps of the window by the devices, those outside by the "
                                                          "history"},
                         place);
}

/* What a step in the window would save becomes what one of `usual_ns` does. */
static void lower_savings(double times, int64_t usual_ns, const char *which, struct ids_report *report) {
    for (size_t i = 0; i < report->advice_count; i++) {
        struct ids_advice *advice = &report->advice[i];
        advice->takes_ps = (int64_t)((double)advice->takes_ps / times);
        if (!is_saving(advice)) continue;
        advice->saves_ps = (int64_t)((double)advice->saves_ps / times);
        advice->evidence =
            ids_report_text(report, "%s; steps in the window took %.2f × as long as %s (%s), so the saving is less",
                            advice->evidence ? advice->evidence : "", times, which, say_time(report, usual_ns));
    }
    keep_within(usual_ns > INT64_MAX / 1000 ? INT64_MAX : usual_ns * 1000, report);
}

/* A step that is slow by itself has most of what its window lost, and is as slow outside it: the means tell how much
 * of that was recording. */
static void lower_by_means(const struct ids_slowdown *slowdown, struct ids_report *report) {
    if (slowdown->recorded_mean_ns - slowdown->usual_mean_ns < slowdown->usual_mean_ns / 4) return;
    lower_savings((double)slowdown->recorded_mean_ns / (double)slowdown->usual_mean_ns, slowdown->usual_mean_ns,
                  "the mean step of the run with its slow ones", report);
}

/* Few steps have most of the window's time: what can be saved is theirs, and no part of a usual step. */
static int is_of_slow_steps(const struct ids_slowdown *slowdown) {
    return slowdown->recorded_mean_ns / 2 >= slowdown->recorded_ns;
}

int ids_slowdown_tell(const struct ids_slowdown *slowdown, struct ids_report *report) {
    double times = (double)slowdown->recorded_ns / (double)slowdown->usual_ns;
    int is_shorter = slowdown->recorded_ns < slowdown->usual_ns;
    const char *usual = say_time(report, slowdown->usual_ns), *took = say_time(report, slowdown->recorded_ns);
    const char *found = ids_report_text(report, "steps in the window took %.2f × as long as the %zu %s it", times,
                                        slowdown->around, slowdown->side);
    ids_report_property(report, "recording",
                        ids_text_value(ids_report_text(report, "%s: %s against %s%s", found, took, usual,
                                                       is_shorter ? ": the window is not typical" : "")));
    if (is_shorter)
        warn_of_compute(ids_report_text(report, "S%s", found + 1), slowdown->recorded_ns, report);
    else if (slowdown->usual_mean_ns)
        lower_by_means(slowdown, report);
    else if (!is_of_slow_steps(slowdown))
        lower_savings(times, slowdown->usual_ns, ids_report_text(report, "those %s it", slowdown->side), report);
    return !is_shorter && (slowdown->usual_mean_ns || !is_of_slow_steps(slowdown));
}
