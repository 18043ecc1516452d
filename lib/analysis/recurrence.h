/* recurrence.h - in which steps a cost comes: in every one, in a few, in every fifth, or in the first ones alone. */
#ifndef IDS_LIB_ANALYSIS_RECURRENCE_H
#define IDS_LIB_ANALYSIS_RECURRENCE_H

#include <stddef.h>
#include <stdint.h>

/* What one step has of something. */
struct ids_step_cell {
    uint32_t step; /* index in ids_steps.at */
    int64_t ps;
};

struct ids_recurrence {
    uint32_t steps;             /* that have it: a quarter or more of what the step with the most has */
    uint32_t seen;              /* that have a tenth of that or more */
    uint32_t first, last, most; /* of these, and the one with the most: indices of ids_steps.at */
    uint32_t period; /* they come this far apart (2 or more) from one end of the window to the other; 0: they do not */
    int whole;       /* they hold nine tenths of it */
    int64_t ps, most_ps; /* in all steps, and in the one with the most */
    double squares;      /* Σ over steps of its time there in s, squared */
};

/* Of `count` cells in the order of steps, `steps` in the window. */
struct ids_recurrence ids_recurrence_of(const struct ids_step_cell *cells, size_t count, size_t steps);

/* Half of the steps or fewer have all of it that is worth a word. */
static inline int ids_recurs_in_few(const struct ids_recurrence *recurrence, size_t steps) {
    return recurrence->whole && recurrence->steps && (size_t)recurrence->steps * 2 <= steps;
}

/* The share of its mean that is chance: other steps would have had as much less. Two standard errors from step to step,
 * 1 at most; 0 of what comes at a regular distance, and where there are fewer than three steps. */
double ids_recurs_by_chance(const struct ids_recurrence *recurrence, size_t steps);

/* The step with the most has four times the mean. */
static inline int ids_recurs_unevenly(const struct ids_recurrence *recurrence, size_t steps) {
    return recurrence->most_ps / 4 > recurrence->ps / (int64_t)steps;
}

/* Only the first step has it, or the first fifth of the steps: of fewer than three steps nobody can tell. */
static inline int ids_recurs_at_first_only(const struct ids_recurrence *recurrence, size_t steps) {
    return steps >= 3 && ids_recurs_in_few(recurrence, steps) && !recurrence->first &&
           (recurrence->last == 0 ||
            (recurrence->last + 1 == recurrence->steps && (size_t)recurrence->steps * 5 <= steps));
}

#endif
