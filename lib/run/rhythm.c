#include "lib/run/rhythm.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEAST = 4, PERIODS = 16, PLACES = 16, LONGEST = 1000, STEPS_MOST = 100 };

/* The steps that are judged. */
struct judged {
    const struct ids_rhythm_step *steps;
    size_t count;
    int64_t usual_ns, level_ns;
    int64_t *times; /* room for as many */
};

static int by_time(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static int is_long(const struct judged *all, size_t i) {
    return all->steps[i].number >= 0 && all->steps[i].took_ns - all->usual_ns > all->level_ns;
}

/* Distances from one long step to the next, each once. */
static size_t list_periods(const struct judged *all, int64_t periods[PERIODS]) {
    size_t found = 0;
    int64_t before = -1;
    for (size_t i = 0; i < all->count && found < PERIODS; i++) {
        if (!is_long(all, i)) continue;
        int64_t period = before >= 0 ? all->steps[i].number - before : 0;
        size_t p = 0;
        while (p < found && periods[p] != period) p++;
        if (p == found && period >= 2 && period <= LONGEST) periods[found++] = period;
        before = all->steps[i].number;
    }
    return found;
}

static int64_t median_of(int64_t *times, size_t count) {
    if (!count) return 0;
    qsort(times, count, sizeof *times, by_time);
    return times[count / 2];
}

/* How much longer its steps take in all than usual ones; 0: it is no rhythm. */
static double weigh(const struct judged *all, struct ids_rhythm *rhythm) {
    size_t in = 0, in_long = 0, out_long = 0;
    double longer_ns = 0;
    for (size_t i = 0; i < all->count; i++) {
        int is_in = all->steps[i].number % rhythm->period == rhythm->first, slow = is_long(all, i);
        if (is_in && slow) {
            longer_ns += (double)(all->steps[i].took_ns - all->usual_ns);
            all->times[in_long] = all->steps[i].took_ns;
        }
        in += (size_t)is_in;
        in_long += (size_t)(is_in && slow);
        out_long += (size_t)(!is_in && slow);
    }
    if (in_long < LEAST || in_long * 4 < in * 3 || out_long * 4 > in_long) return 0;
    rhythm->took_ns = median_of(all->times, in_long);
    return longer_ns;
}

/* The best of this period, if it is better than *best. */
static double try_period(const struct judged *all, int64_t period, double most, struct ids_rhythm *best) {
    struct ids_rhythm rhythm = {.period = period, .first = -1, .usual_ns = all->usual_ns};
    int64_t before = -1;
    for (size_t i = 0, places = 0; i < all->count && places < PLACES; i++) {
        if (!is_long(all, i)) continue;
        int follows = before >= 0 && all->steps[i].number - before == period;
        before = all->steps[i].number;
        if (!follows || before % period == rhythm.first) continue;
        rhythm.first = before % period;
        places++;
        double longer_ns = weigh(all, &rhythm);
        if (longer_ns <= most) continue;
        most = longer_ns;
        *best = rhythm;
    }
    return most;
}

int ids_rhythm_find(const struct ids_rhythm_step *steps, size_t count, struct ids_rhythm *ret_rhythm) {
    struct judged all = {.steps = steps, .count = count, .times = calloc(count + 1, sizeof *all.times)};
    double most = 0;
    int64_t last = -1, longest_ns = 0;
    if (!all.times) return 0;
    for (size_t i = 0; i < count; i++) {
        all.times[i] = steps[i].took_ns;
        if (steps[i].number > last) last = steps[i].number;
        if (steps[i].took_ns > longest_ns) longest_ns = steps[i].took_ns;
    }
    all.usual_ns = median_of(all.times, count);
    for (all.level_ns = all.usual_ns / 2; all.level_ns > 0 && all.level_ns < longest_ns; all.level_ns *= 2) {
        int64_t periods[PERIODS];
        size_t period_count = list_periods(&all, periods);
        for (size_t p = 0; p < period_count; p++) most = try_period(&all, periods[p], most, ret_rhythm);
        if (all.level_ns > INT64_MAX / 4) break;
    }
    free(all.times);
    if (most > 0) ret_rhythm->last = last;
    return most > 0;
}

int ids_rhythm_of_turn(const struct ids_rhythm_step *steps, size_t count, int64_t every, int64_t place,
                       struct ids_rhythm *ret_rhythm) {
    int64_t *times = calloc(count + 1, sizeof *times), last = -1;
    size_t ends = 0, others = 0;
    if (!times) return 0;
    for (size_t i = 0; i < count; i++) {
        int is_end = steps[i].number >= 0 && steps[i].number % every == place;
        times[is_end ? ends++ : count - ++others] = steps[i].took_ns;
        if (steps[i].number > last) last = steps[i].number;
    }
    struct ids_rhythm rhythm = {.period = every, .first = place, .last = last};
    rhythm.took_ns = median_of(times, ends);
    rhythm.usual_ns = median_of(times + ends, others);
    free(times);
    if (ends < LEAST || !rhythm.usual_ns || rhythm.took_ns - rhythm.usual_ns < rhythm.usual_ns / 2) return 0;
    *ret_rhythm = rhythm;
    return 1;
}

static int number_of(const struct ids_report *report, const char *id, int64_t *ret_number) {
    const struct ids_value *value = ids_report_find_property(report, id);
    if (!value || value->missing) return 0;
    *ret_number = value->i;
    return 1;
}

/* The step of the rhythm that a capture is to measure, and in how many steps: the first one after what was measured, if
 * the program has it, else its last one. A step more before it opens the window. 0: it has none. */
static int64_t steps_to_measure(const struct ids_rhythm *rhythm, int64_t *step) {
    int64_t steps = rhythm->period < STEPS_MOST ? rhythm->period + 1 : 3;
    if (*step == 0) *step = rhythm->period;
    if (*step >= rhythm->last) {
        int64_t over = (rhythm->last - 1 - rhythm->first) % rhythm->period;
        *step = rhythm->last - 1 - over;
        if (over < 0 || *step < 1) return 0;
    }
    return steps < rhythm->last - *step + 2 ? steps : rhythm->last - *step + 2;
}

int ids_rhythm_is_measured(const struct ids_rhythm *rhythm, const struct ids_rhythm_step *steps, size_t count,
                           const struct ids_report *report) {
    int64_t first, last, left_out = -1, measured = 0, in = 0;
    if (!number_of(report, "steps.first", &first) || !number_of(report, "steps.last", &last)) return 0;
    number_of(report, "steps.left_out", &left_out);
    for (size_t i = 0; i < count; i++) {
        const struct ids_rhythm_step *step = &steps[i];
        if (step->number < first || step->number > last || step->number < 0 || step->number == left_out) continue;
        measured++;
        if (step->number % rhythm->period == rhythm->first)
            in++;
        else if (step->took_ns - rhythm->usual_ns >= (rhythm->took_ns - rhythm->usual_ns) / 2)
            return 0;
    }
    return in && measured + 1 >= in * rhythm->period;
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
    int64_t took_ps, steps = steps_to_measure(rhythm, &next);
    if (!steps || __builtin_mul_overflow(rhythm->took_ns, 1000, &took_ps)) return NULL;
    ids_value_format(ids_int_value(IDS_UNIT_TIME, took_ps), took, sizeof took);
    snprintf(times, sizeof times, "%.1f", (double)rhythm->took_ns / (double)rhythm->usual_ns);
    return ids_report_text(report,
                           "one of %" PRId64 " steps takes %s, %s × the usual one, such as step %" PRId64
                           ", and none of these is measured here: idsprof capture --start-step %" PRId64
                           " --steps %" PRId64 " measures one",
                           rhythm->period, took, times, next, next - 1, steps);
}
