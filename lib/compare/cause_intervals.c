#include "lib/compare/cause_intervals.h"

#include "lib/compare/machine_spread.h"
#include "lib/compare/shrinkage.h"

#include <math.h>
#include <stdlib.h>

/* Culprits of a hundredth of the step are few, and are asked apart from the hundreds of small ones. */
enum { LARGE_OF_STEP = 100 };

static double count_steps(const struct ids_side *side) {
    double steps = 0;
    for (size_t r = 0; r < side->run_count; r++)
        steps += side->runs[r].steps ? (double)side->runs[r].steps->row_count : NAN;
    return steps;
}

/* Of the difference. Welch's, from the deviations that the ledgers tell; without degrees of freedom it is not known. */
static struct ids_variation over_steps(const struct ids_entries *entries, const struct ids_entry *entry) {
    double variance = 0, below = 0, all = 0;
    for (int side = 0; side < 2; side++) {
        double own = entry->variance[side], freedom = count_steps(entries->sides[side]) - 1;
        if (isnan(own) || !(freedom >= IDS_SAMPLE_LEAST - 1)) return (struct ids_variation){0};
        variance += own;
        below += own * own / freedom;
        all += freedom;
    }
    return (struct ids_variation){(entry->cause.a_ps + entry->cause.b_ps) / 2, variance,
                                  below > 0 ? variance * variance / below : all};
}

static struct ids_variation over_runs(const struct ids_entries *entries, const struct ids_entry *entry) {
    double per = 1 / (double)entries->sides[0]->recording_count + 1 / (double)entries->sides[1]->recording_count;
    struct ids_variation spread = ids_variation_of(entry->by_run[0], entries->sides[0]->recording_count,
                                                   entry->by_run[1], entries->sides[1]->recording_count);
    spread.variance *= per;
    return spread;
}

static struct ids_variation spread_of(const struct ids_entries *entries, const struct ids_entry *entry) {
    return entries->sides[0]->by_run ? over_runs(entries, entry) : over_steps(entries, entry);
}

/* Of one recording a side, what waits and what computes on both; functions of Python and what changed are like nothing
 * else. */
static int is_like_others(const struct ids_entries *entries, const struct ids_entry *entry) {
    const struct ids_cause *cause = &entry->cause;
    if (entry->is_gone) return 0;
    if (entries->sides[0]->by_run) return 1;
    return !ids_cause_is_fact(cause) && !ids_cause_is_python(cause) && cause->is_in_a && cause->is_in_b;
}

int ids_entries_find_machine_spread(struct ids_entries *entries) {
    int is_asked = !entries->sides[0]->by_run && !(entries->options->noise > 0);
    return is_asked ? ids_find_machine_spread(entries) : 0;
}

/* What a time that samples counted varies by at least: n of them vary by their root (Poisson), and how sure that is 2 n
 * degrees of freedom say. */
static struct ids_variation of_samples(const struct ids_entries *entries, const struct ids_entry *entry) {
    struct ids_variation samples = {.mean = (entry->cause.a_ps + entry->cause.b_ps) / 2};
    for (int side = 0; side < 2 && ids_entry_is_sampled(entries, entry); side++) {
        double sample_ps = entries->sampled[side].sample_ps, ps = side ? entry->cause.b_ps : entry->cause.a_ps;
        double count = fmax(ps / sample_ps, 1); /* none tells no more than one does */
        samples.variance += count * sample_ps * sample_ps;
        samples.df += 2 * count;
    }
    return samples;
}

static void set_interval(const struct ids_entries *entries, struct ids_entry *entry, struct ids_variation spread) {
    double noise = entries->options->noise * fmax(entry->cause.a_ps, entry->cause.b_ps);
    entry->cause.interval = (struct ids_interval){0};
    if (!(spread.df > 0)) return;
    struct ids_variation samples = of_samples(entries, entry);
    if (samples.variance > spread.variance) spread = samples;
    ids_add_machine_spread(entries, entry, &spread);
    entry->cause.interval =
        ids_interval_by_error(entry->cause.change_ps, sqrt(spread.variance), spread.df, IDS_CONFIDENCE);
    ids_interval_set(&entry->cause.interval, IDS_CONFIDENCE, noise);
}

/* Of the entries before small ones are put together, so that each one's like are many. */
int ids_entries_find_intervals(struct ids_entries *entries) {
    struct ids_variation *spreads = calloc(entries->count + 1, sizeof *spreads);
    int failed = !spreads;
    for (size_t i = 0; i < entries->count && !failed; i++) {
        if (is_like_others(entries, &entries->at[i])) spreads[i] = spread_of(entries, &entries->at[i]);
    }
    if (!failed) failed = ids_shrink(spreads, entries->count);
    if (!failed) failed = ids_entries_find_machine_spread(entries);
    for (size_t i = 0; i < entries->count && !failed; i++) {
        struct ids_entry *entry = &entries->at[i];
        if (entry->is_gone) continue;
        set_interval(entries, entry, is_like_others(entries, entry) ? spreads[i] : spread_of(entries, entry));
    }
    free(spreads);
    return failed;
}

void ids_entry_find_interval(const struct ids_entries *entries, struct ids_entry *entry) {
    set_interval(entries, entry, spread_of(entries, entry));
}

/* Of one recording a side, functions of Python are few too, and apart from what waits and computes. */
enum { FAMILIES = 4 };

static int family_of(const struct ids_entries *entries, const struct ids_entry *entry) {
    int is_large = entry->cause.a_ps * LARGE_OF_STEP >= entries->step_ps[0] ||
                   entry->cause.b_ps * LARGE_OF_STEP >= entries->step_ps[1];
    return is_large + (!entries->sides[0]->by_run && ids_cause_is_python(&entry->cause) ? 2 : 0);
}

/* What one of two recordings alone did, at a place that the report names, is no chance among many. */
static int is_of_one_side(const struct ids_entries *entries, const struct ids_cause *cause) {
    if (entries->sides[0]->by_run || cause->kind == IDS_CAUSE_OP) return 0;
    return ids_cause_has_come_or_gone(cause) ||
           (cause->where && cause->is_in_a != cause->is_in_b && !cause->may_be_unseen);
}

/* What the program says is asked of no statistics. */
static int is_asked(const struct ids_entries *entries, const struct ids_entry *entry) {
    const struct ids_cause *cause = &entry->cause;
    return !entry->is_gone && cause->interval.known && !ids_cause_is_fact(cause) && !is_of_one_side(entries, cause);
}

int ids_entries_hold_discovery_rate(struct ids_entries *entries) {
    double *p = calloc(entries->count + 1, sizeof *p);
    if (!p) return -1;
    for (int family = 0; family < FAMILIES; family++) {
        size_t count = 0;
        for (size_t i = 0; i < entries->count; i++) {
            const struct ids_entry *entry = &entries->at[i];
            if (is_asked(entries, entry) && family_of(entries, entry) == family)
                p[count++] = ids_interval_p(&entry->cause.interval);
        }
        double limit = ids_discovery_limit(p, count, 1 - IDS_CONFIDENCE);
        for (size_t i = 0; i < entries->count; i++) {
            struct ids_interval *interval = &entries->at[i].cause.interval;
            if (is_asked(entries, &entries->at[i]) && family_of(entries, &entries->at[i]) == family)
                ids_interval_set(interval, 1 - limit, interval->noise);
        }
    }
    free(p);
    return 0;
}
