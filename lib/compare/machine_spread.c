#include "lib/compare/machine_spread.h"

#include "lib/compare/cores.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fewer ops tell nothing of the machine, nor do those of less than a thousandth of the work. */
enum { OPS_LEAST = 10, OF_WORK = 1000 };
/* The standard deviation of a normal distribution over its median absolute deviation. */
#define OF_MEDIAN 1.4826
/* An op may take several times as long, but not any time. */
#define MOST 1.0

static const char wait_for_core[] = "wait_for_core";

struct change {
    double of, weight; /* the op's, and its time */
};

static int smaller(const void *a, const void *b) {
    double left = ((const struct change *)a)->of, right = ((const struct change *)b)->of;
    return (left > right) - (left < right);
}

/* So that half of the time changed by less. */
static double median_of(struct change *at, size_t count) {
    double whole = 0, below = 0;
    size_t i = 0;
    qsort(at, count, sizeof *at, smaller);
    for (size_t j = 0; j < count; j++) whole += at[j].weight;
    while (i + 1 < count && below + at[i].weight < whole / 2) below += at[i++].weight;
    return at[i].of;
}

/* Of an op that runs beside others the ledger has as much as they leave: it is as unsure as what it takes by itself. */
static double time_of(const struct ids_entry *entry, int side) {
    double ps = side ? entry->cause.b_ps : entry->cause.a_ps;
    return ids_entry_is_same_op(entry) ? fmax(ps, entry->own_ps[side]) : ps;
}

/* By the median, so that a few ops that are slower by themselves say nothing of the others. What both sides have of an
 * op counts, whichever side is the first. */
int ids_find_machine_spread(struct ids_entries *entries) {
    struct change *changes = calloc(entries->count + 1, sizeof *changes);
    double work = 0;
    size_t count = 0;
    if (!changes) return -1;
    entries->machine_spread = (struct ids_machine_spread){0};
    for (size_t i = 0; i < entries->count; i++) {
        const struct ids_cause *cause = &entries->at[i].cause;
        if (ids_entry_is_same_op(&entries->at[i])) work += fmin(cause->a_ps, cause->b_ps);
    }
    for (size_t i = 0; i < entries->count; i++) {
        const struct ids_entry *entry = &entries->at[i];
        const struct ids_cause *cause = &entry->cause;
        if (!ids_entry_is_same_op(entry) || fmin(cause->a_ps, cause->b_ps) * OF_WORK < work) continue;
        double before = time_of(entry, 0), after = time_of(entry, 1);
        changes[count++] = (struct change){fabs(log(after / before / entries->even)), fmin(before, after)};
    }
    if (count >= OPS_LEAST) {
        double deviation = OF_MEDIAN * median_of(changes, count), df = (double)count - 1,
               far = ids_student_quantile(0.5 + IDS_CONFIDENCE / 2, df);
        entries->machine_spread = (struct ids_machine_spread){fmin(expm1(far * deviation) / far, MOST), df};
    }
    free(changes);
    return 0;
}

int ids_cause_is_python(const struct ids_cause *cause) {
    return !strcmp(cause->account, ids_account_id(IDS_HOST_PYTHON)) &&
           !(cause->culprit && !strcmp(cause->culprit, wait_for_core));
}

/* Where no core is free, which call of the host the device waits for is a race of threads that the whole recording may
 * share: one side may have most of it by chance. */
static int is_race(const struct ids_entries *entries, const struct ids_cause *cause) {
    return !strncmp(cause->account, "host.", 5) && cause->is_in_a && cause->is_in_b &&
           entries->no_core >= IDS_CORES_NONE_FREE;
}

/* The standard deviation. The side that has less of it tells how much that was by itself. */
static double of_machine(const struct ids_entries *entries, const struct ids_entry *entry) {
    const struct ids_cause *cause = &entry->cause;
    int is_of_program = ids_cause_is_python(cause) || ids_cause_is_fact(cause) || ids_cause_has_come_or_gone(cause);
    if (cause->kind == IDS_CAUSE_EVEN || is_of_program) return 0;
    double a = time_of(entry, 0), b = time_of(entry, 1);
    return entries->machine_spread.share * (is_race(entries, cause) ? fmax(a, b) : fmin(a, b));
}

void ids_add_machine_spread(const struct ids_entries *entries, const struct ids_entry *entry,
                            struct ids_variation *spread) {
    if (!(entries->machine_spread.share > 0) || !(spread->df > 0)) return;
    double own = of_machine(entries, entry), steps = spread->variance;
    double below = steps * steps / spread->df + own * own * own * own / entries->machine_spread.df;
    spread->variance = steps + own * own;
    if (below > 0) spread->df = spread->variance * spread->variance / below;
}
