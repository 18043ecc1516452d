#include "lib/compare/cause_intervals.h"

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

/* Welch's, from the deviations that the ledgers tell. */
static struct ids_interval over_steps(const struct ids_entries *entries, const struct ids_entry *entry) {
    double variance = 0, below = 0, all = 0;
    for (int side = 0; side < 2; side++) {
        double own = entry->variance[side], freedom = count_steps(entries->sides[side]) - 1;
        if (isnan(own) || !(freedom >= IDS_SAMPLE_LEAST - 1)) return (struct ids_interval){0};
        variance += own;
        below += own * own / freedom;
        all += freedom;
    }
    return ids_interval_by_error(entry->cause.change_ps, sqrt(variance), below > 0 ? variance * variance / below : all,
                                 IDS_CONFIDENCE);
}

static struct ids_variation spread_of(const struct ids_entries *entries, const struct ids_entry *entry) {
    return ids_variation_of(entry->by_run[0], entries->sides[0]->recording_count, entry->by_run[1],
                            entries->sides[1]->recording_count);
}

static struct ids_interval over_runs(const struct ids_entries *entries, const struct ids_entry *entry,
                                     const struct ids_variation *spread) {
    double per = 1 / (double)entries->sides[0]->recording_count + 1 / (double)entries->sides[1]->recording_count;
    return ids_interval_by_error(entry->cause.change_ps, sqrt(spread->variance * per), spread->df, IDS_CONFIDENCE);
}

static void set_interval(const struct ids_entries *entries, struct ids_entry *entry, struct ids_interval interval) {
    double noise = entries->options->noise * fmax(entry->cause.a_ps, entry->cause.b_ps);
    if (interval.known) ids_interval_set(&interval, IDS_CONFIDENCE, noise);
    entry->cause.interval = interval;
}

/* Of the entries before small ones are put together, so that each one's like are many. */
int ids_entries_find_intervals(struct ids_entries *entries) {
    struct ids_variation *spreads = calloc(entries->count + 1, sizeof *spreads);
    int failed = !spreads, by_run = entries->sides[0]->by_run;
    for (size_t i = 0; i < entries->count && by_run && !failed; i++) {
        if (!entries->at[i].is_gone) spreads[i] = spread_of(entries, &entries->at[i]);
    }
    if (by_run && !failed) failed = ids_shrink(spreads, entries->count);
    for (size_t i = 0; i < entries->count && !failed; i++) {
        struct ids_entry *entry = &entries->at[i];
        if (entry->is_gone) continue;
        set_interval(entries, entry, by_run ? over_runs(entries, entry, &spreads[i]) : over_steps(entries, entry));
    }
    free(spreads);
    return failed;
}

void ids_entry_find_interval(const struct ids_entries *entries, struct ids_entry *entry) {
    struct ids_variation spread = spread_of(entries, entry);
    set_interval(entries, entry,
                 entries->sides[0]->by_run ? over_runs(entries, entry, &spread) : over_steps(entries, entry));
}

static int is_large(const struct ids_entries *entries, const struct ids_entry *entry) {
    return fmax(entry->cause.a_ps, entry->cause.b_ps) * LARGE_OF_STEP >= entries->before_ps;
}

/* What the program says is asked of no statistics. */
static int is_asked(const struct ids_entry *entry) {
    return !entry->is_gone && entry->cause.interval.known && !ids_cause_is_structural(&entry->cause);
}

int ids_entries_hold_discovery_rate(struct ids_entries *entries) {
    double *p = calloc(entries->count + 1, sizeof *p);
    if (!p) return -1;
    for (int large = 0; large < 2; large++) {
        size_t count = 0;
        for (size_t i = 0; i < entries->count; i++) {
            const struct ids_entry *entry = &entries->at[i];
            if (is_asked(entry) && is_large(entries, entry) == large)
                p[count++] = ids_interval_p(&entry->cause.interval);
        }
        double limit = ids_discovery_limit(p, count, 1 - IDS_CONFIDENCE);
        for (size_t i = 0; i < entries->count; i++) {
            struct ids_interval *interval = &entries->at[i].cause.interval;
            if (is_asked(&entries->at[i]) && is_large(entries, &entries->at[i]) == large)
                ids_interval_set(interval, 1 - limit, interval->noise);
        }
    }
    free(p);
    return 0;
}
