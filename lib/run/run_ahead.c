#include "lib/run/run_ahead.h"

#include <stdlib.h>

int64_t ids_run_ahead_step(struct ids_run_ahead *run, int64_t call_ns, int64_t *ret_round_ns) {
    int64_t dry_ns = 0;
    run->ahead_ns += run->step_ns - call_ns;
    run->round_ns += run->step_ns;
    *ret_round_ns = run->step_ns;
    if (run->ahead_ns < 0) {
        dry_ns = -run->ahead_ns;
        *ret_round_ns = run->round_ns;
        ids_run_ahead_stop(run);
    }
    return run->step_ns + dry_ns;
}

int64_t ids_run_ahead_surely(const struct ids_run_ahead *run, int64_t call_ns) {
    int64_t most_ns = run->ahead_ns + run->step_ns;
    return call_ns / 4 > most_ns ? call_ns - most_ns : 0;
}

void ids_run_ahead_stop(struct ids_run_ahead *run) {
    run->ahead_ns = run->round_ns = 0;
}

/* Steps up to one whose call took long: it waited for them, or did something else. */
struct round {
    int64_t each_ns;
    size_t steps;
};

static int by_each(const void *a, const void *b) {
    const struct round *left = a, *right = b;
    return (left->each_ns > right->each_ns) - (left->each_ns < right->each_ns);
}

/* The first one begins nobody knows when. */
static size_t list_rounds(const int64_t *call_ns, size_t count, int64_t long_ns, struct round *rounds) {
    size_t found = 0, steps = 0;
    int64_t total_ns = 0;
    int is_begun = 0;
    for (size_t i = 0; i < count; i++) {
        steps++;
        total_ns += call_ns[i];
        if (call_ns[i] >= 0 && call_ns[i] < long_ns) continue;
        if (is_begun && call_ns[i] >= 0) rounds[found++] = (struct round){total_ns / (int64_t)steps, steps};
        is_begun = call_ns[i] >= 0;
        steps = 0;
        total_ns = 0;
    }
    return found;
}

/* That of the step at so many quarters of all, in order of what steps take; 0: there are none. */
static int64_t each_at(const struct round *rounds, size_t count, size_t quarters) {
    size_t steps = 0, before = 0;
    for (size_t i = 0; i < count; i++) steps += rounds[i].steps;
    for (size_t i = 0; i < count; i++) {
        before += rounds[i].steps;
        if (before * 4 >= steps * quarters) return rounds[i].each_ns;
    }
    return 0;
}

int64_t ids_run_ahead_work(const int64_t *call_ns, size_t count, int64_t step_ns) {
    struct round *rounds = calloc(count + 1, sizeof *rounds);
    if (!rounds) return step_ns;
    size_t found = list_rounds(call_ns, count, step_ns / 2, rounds);
    if (found) qsort(rounds, found, sizeof *rounds, by_each);
    int64_t work_ns = each_at(rounds, found, 2);
    int is_alike = work_ns >= step_ns / 3 && each_at(rounds, found, 3) / 2 <= each_at(rounds, found, 1);
    free(rounds);
    return is_alike && work_ns < step_ns ? work_ns : step_ns;
}

int ids_run_ahead_is_dry(int64_t total_ns, size_t count, int64_t step_ns) {
    return count > 0 && step_ns > 0 && total_ns / (int64_t)count > step_ns + step_ns / 2;
}
