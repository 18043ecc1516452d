#include "lib/analysis/recurrence.h"

#include "lib/base/saturate.h"

#include <math.h>

static int64_t most_of(const struct ids_step_cell *cells, size_t count) {
    int64_t most_ps = 0;
    for (size_t i = 0; i < count; i++) {
        if (cells[i].ps > most_ps) most_ps = cells[i].ps;
    }
    return most_ps;
}

/* How far apart the steps are that have it: of two that is a distance and no period yet. */
struct distance {
    uint32_t period;
    int is_one;
};

static void see(struct distance *distance, uint32_t before, uint32_t step) {
    if (!distance->period) distance->period = step - before;
    distance->is_one &= distance->period == step - before;
}

struct ids_recurrence ids_recurrence_of(const struct ids_step_cell *cells, size_t count, size_t steps) {
    struct ids_recurrence result = {0};
    struct distance distance = {.is_one = 1};
    int64_t most_ps = result.most_ps = most_of(cells, count), held_ps = 0;
    for (size_t i = 0; i < count; i++) {
        double seconds = (double)cells[i].ps * 1e-12;
        ids_sum(&result.ps, cells[i].ps);
        result.squares += seconds * seconds;
        if (cells[i].ps <= 0 || cells[i].ps < most_ps / 10) continue;
        result.seen++;
        if (cells[i].ps < most_ps / 4) continue;
        ids_sum(&held_ps, cells[i].ps);
        if (result.steps++)
            see(&distance, result.last, cells[i].step);
        else
            result.first = cells[i].step;
        result.last = cells[i].step;
        if (cells[i].ps == most_ps) result.most = cells[i].step;
    }
    result.whole = held_ps >= result.ps - result.ps / 10;
    if (result.steps >= 3 && distance.is_one && distance.period > 1 && result.first < distance.period &&
        result.last + distance.period >= steps)
        result.period = distance.period;
    return result;
}

double ids_recurs_by_chance(const struct ids_recurrence *recurrence, size_t steps) {
    double count = (double)steps, mean = (double)recurrence->ps * 1e-12 / count;
    if (steps < 3 || recurrence->period || mean <= 0) return 0;
    double variance = (recurrence->squares - count * mean * mean) / (count - 1);
    double chance = variance > 0 ? 2 * sqrt(variance / count) / mean : 0;
    return chance < 1 ? chance : 1;
}
