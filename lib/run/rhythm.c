#include "lib/run/rhythm.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEAST = 4, PERIODS = 16, LONGEST = 1000, STEPS_MOST = 100 };

static int by_time(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* Half as long again as the usual step. */
static int is_long(const struct ids_rhythm_step *step, int64_t usual_ns) {
    return step->took_ns > usual_ns + usual_ns / 2;
}

/* Distances from one long step to the next, each once, the shortest first. */
static size_t list_periods(const struct ids_rhythm_step *steps, size_t count, int64_t usual_ns,
                           int64_t periods[PERIODS]) {
    size_t found = 0;
    int64_t before = -1;
    for (size_t i = 0; i < count && found < PERIODS; i++) {
        if (!is_long(&steps[i], usual_ns)) continue;
        int64_t period = before >= 0 ? steps[i].number - before : 0;
        size_t p = 0;
        while (p < found && periods[p] != period) p++;
        if (p == found && period >= 2 && period <= LONGEST) periods[found++] = period;
        before = steps[i].number;
    }
    if (found) qsort(periods, found, sizeof *periods, by_time);
    return found;
}

static int64_t median_of(int64_t *times, size_t count) {
    if (!count) return 0;
    qsort(times, count, sizeof *times, by_time);
    return times[count / 2];
}

/* At least three of four steps at these places are long, and at most one of four of the others. */
static int is_rhythm(const struct ids_rhythm_step *steps, size_t count, struct ids_rhythm *rhythm, int64_t *times) {
    size_t in = 0, in_long = 0, out_long = 0;
    for (size_t i = 0; i < count; i++) {
        int is_in = steps[i].number % rhythm->period == rhythm->first, slow = is_long(&steps[i], rhythm->usual_ns);
        if (is_in && slow) times[in_long] = steps[i].took_ns;
        in += (size_t)is_in;
        in_long += (size_t)(is_in && slow);
        out_long += (size_t)(!is_in && slow);
    }
    if (in_long < LEAST || in_long * 4 < in * 3 || out_long * 4 > count - in) return 0;
    rhythm->took_ns = median_of(times, in_long);
    return 1;
}

int ids_rhythm_find(const struct ids_rhythm_step *steps, size_t count, struct ids_rhythm *ret_rhythm) {
    int64_t periods[PERIODS], *times = calloc(count + 1, sizeof *times);
    int found = 0;
    if (!times) return 0;
    for (size_t i = 0; i < count; i++) times[i] = steps[i].took_ns;
    struct ids_rhythm rhythm = {.usual_ns = median_of(times, count)};
    size_t period_count = list_periods(steps, count, rhythm.usual_ns, periods);
    for (size_t p = 0; p < period_count && !found; p++) {
        int64_t before = -1;
        rhythm.period = periods[p];
        rhythm.first = -1;
        for (size_t i = 0; i < count && !found; i++) {
            if (steps[i].number < 0 || !is_long(&steps[i], rhythm.usual_ns)) continue;
            int follows = before >= 0 && steps[i].number - before == rhythm.period;
            before = steps[i].number;
            if (!follows || before % rhythm.period == rhythm.first) continue;
            rhythm.first = before % rhythm.period;
            found = is_rhythm(steps, count, &rhythm, times);
        }
    }
    free(times);
    if (found) *ret_rhythm = rhythm;
    return found;
}

static int number_of(const struct ids_report *report, const char *id, int64_t *ret_number) {
    const struct ids_value *value = ids_report_find_property(report, id);
    if (!value || value->missing) return 0;
    *ret_number = value->i;
    return 1;
}

const char *ids_rhythm_missed(const struct ids_rhythm *rhythm, struct ids_report *report) {
    int64_t first, last, left_out = -1;
    char took[IDS_VALUE_ROOM], times[IDS_VALUE_ROOM];
    if (!number_of(report, "steps.first", &first) || !number_of(report, "steps.last", &last) || first < 0) return NULL;
    number_of(report, "steps.left_out", &left_out);
    int64_t next = (rhythm->first - first % rhythm->period + rhythm->period) % rhythm->period;
    if (__builtin_add_overflow(first, next, &next)) return NULL;
    if (next <= last && next != left_out) return NULL;
    if (next == left_out && next <= last - rhythm->period) return NULL;
    int64_t took_ps;
    if (__builtin_mul_overflow(rhythm->took_ns, 1000, &took_ps)) return NULL;
    ids_value_format(ids_int_value(IDS_UNIT_TIME, took_ps), took, sizeof took);
    snprintf(times, sizeof times, "%.1f", (double)rhythm->took_ns / (double)rhythm->usual_ns);
    return ids_report_text(report,
                           "one of %" PRId64 " steps takes %s, %s × the usual one, such as step %" PRId64
                           ", and none of these is measured here: idsprof capture --start-step %" PRId64
                           " --steps %" PRId64 " measures one",
                           rhythm->period, took, times, next, next > 0 ? next - 1 : next + rhythm->period - 1,
                           rhythm->period < STEPS_MOST ? rhythm->period + 1 : 3);
}
