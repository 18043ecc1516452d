#include "lib/run/slowdown.h"

#include <stdio.h>
#include <stdlib.h>

enum { LEAST_RECORDED = 3, LEAST_OTHERS = 20 };

static int by_time(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static int64_t number_of(const struct ids_report *report, const char *id) {
    const struct ids_value *value = ids_report_find_property(report, id);
    return value && !value->missing && value->unit == IDS_UNIT_COUNT ? value->i : -1;
}

/* The shorter one in the middle; 0 of fewer than `least`. */
static int64_t median_of(int64_t *times, size_t count, size_t least) {
    if (count < least) return 0;
    qsort(times, count, sizeof *times, by_time);
    return times[(count - 1) / 2];
}

int ids_slowdown_find(const struct ids_slowdown_step *steps, size_t count, const struct ids_report *report,
                      struct ids_slowdown *ret_slowdown) {
    int64_t first = number_of(report, "steps.first"), last = number_of(report, "steps.last"),
            left_out = number_of(report, "steps.left_out");
    int64_t *recorded = calloc(count + 1, sizeof *recorded), *others = calloc(count + 1, sizeof *others);
    size_t recorded_count = 0, other_count = 0;
    for (size_t i = 0; i < count && recorded && others; i++) {
        int is_measured = first >= 0 && steps[i].number >= first && steps[i].number <= last;
        if (!steps[i].is_recorded)
            others[other_count++] = steps[i].took_ns;
        else if (is_measured && steps[i].number != left_out)
            recorded[recorded_count++] = steps[i].took_ns;
    }
    struct ids_slowdown slowdown = {median_of(recorded, recorded_count, LEAST_RECORDED),
                                    median_of(others, other_count, LEAST_OTHERS)};
    free(recorded);
    free(others);
    if (!slowdown.usual_ns || slowdown.recorded_ns - slowdown.usual_ns < slowdown.usual_ns / 4) return 0;
    *ret_slowdown = slowdown;
    return 1;
}

static const char *say_time(struct ids_report *report, int64_t ns) {
    char text[IDS_VALUE_ROOM];
    int64_t ps;
    if (__builtin_mul_overflow(ns, 1000, &ps)) return "?";
    return ids_report_text(report, "%s", ids_value_format(ids_int_value(IDS_UNIT_TIME, ps), text, sizeof text));
}

void ids_slowdown_tell(const struct ids_slowdown *slowdown, struct ids_report *report) {
    double times = (double)slowdown->recorded_ns / (double)slowdown->usual_ns;
    const char *usual = say_time(report, slowdown->usual_ns);
    ids_report_property(report, "recording",
                        ids_text_value(ids_report_text(report,
                                                       "recording made steps %.2f × as long: %s against %s of the "
                                                       "run's other steps",
                                                       times, say_time(report, slowdown->recorded_ns), usual)));
    for (size_t i = 0; i < report->advice_count; i++) {
        struct ids_advice *advice = &report->advice[i];
        if (!advice->per_step || advice->saves_ps <= 0) continue;
        advice->saves_ps = (int64_t)((double)advice->saves_ps / times);
        advice->evidence = ids_report_text(report, "%s; recorded steps took %.2f × as long: the saving is of one of %s",
                                           advice->evidence ? advice->evidence : "", times, usual);
    }
}
