#include "lib/compare/cause_groups.h"

#include "lib/base/intern.h"
#include "lib/compare/cause_intervals.h"
#include "lib/compare/cores.h"
#include "lib/compare/even_change.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL_TOLD = 3, TOGETHER_ERRORS = 3 };

/* ---- what all ops became slower by ---- */

/* What stays the same must be so much of the work of each side, or it says nothing of the whole. */
#define OF_WORK 0.5

static int is_work(const struct ids_entry *entry) {
    return !entry->is_gone && !strcmp(entry->cause.account, ids_account_id(IDS_WORK_COMPUTE));
}

static double work_of(const struct ids_entries *entries, int side) {
    double sum = 0;
    for (size_t i = 0; i < entries->count; i++) {
        const struct ids_entry *entry = &entries->at[i];
        if (is_work(entry)) sum += side ? entry->cause.b_ps : entry->cause.a_ps;
    }
    return sum;
}

/* Whether all of them together changed by more than chance makes of them: then what they vary by may hide that each
 * changed alike. */
static int is_beyond_chance(const struct ids_entries *entries, struct ids_entry *even) {
    ids_entry_find_interval(entries, even);
    const struct ids_interval *interval = &even->cause.interval;
    return interval->known && fabs(even->cause.change_ps) > TOGETHER_ERRORS * interval->typical.error;
}

/* `even`: the sum of all, which is found here. */
static int find_even_factor(const struct ids_entries *entries, double expected, struct ids_entry *even,
                            double *ret_factor) {
    struct ids_even_pair *pairs = calloc(entries->count + 1, sizeof *pairs);
    size_t count = 0;
    if (!pairs) return -1;
    for (size_t i = 0; i < entries->count; i++) {
        if (!ids_entry_is_same_op(&entries->at[i])) continue;
        ids_entry_add_times(entries, even, &entries->at[i]);
        even->cause.change_ps += entries->at[i].cause.change_ps;
    }
    *ret_factor = 1;
    if (even->cause.a_ps < OF_WORK * work_of(entries, 0) || even->cause.b_ps < OF_WORK * work_of(entries, 1)) {
        free(pairs);
        return 0;
    }
    int varies = is_beyond_chance(entries, even);
    for (size_t i = 0; i < entries->count; i++) {
        struct ids_entry *entry = &entries->at[i];
        if (!ids_entry_is_same_op(entry)) continue;
        ids_entry_find_interval(entries, entry);
        double error = varies && entry->cause.interval.known ? entry->cause.interval.typical.error : 0;
        pairs[count++] = (struct ids_even_pair){entry->cause.a_ps, entry->cause.b_ps, error};
    }
    *ret_factor = ids_even_factor(pairs, count, entries->options->threshold, expected);
    free(pairs);
    return 0;
}

/* Takes an even change out of the ops, so that what is left of each is its own: half of it (of its logarithm) from each
 * side, so that the way back is its mirror image. Where the machine's load makes it, also out of those that do not do
 * the same on both sides: what came took so long on a machine with that load. */
int ids_group_even(struct ids_entries *entries) {
    double no_core[] = {ids_side_no_core(entries->sides[0]), ids_side_no_core(entries->sides[1])};
    double factor = 1, expected = ids_cores_factor(no_core[0], no_core[1]);
    size_t count = entries->count;
    entries->load = expected;
    entries->no_core = fmax(no_core[0], no_core[1]);
    if (!ids_entries_add(entries)) return -1;
    struct ids_entry *even = &entries->at[count];
    even->is_gone = 1;
    even->cause.account = ids_account_id(IDS_WORK_COMPUTE);
    if (find_even_factor(entries, expected, even, &factor)) return -1;
    if (factor == 1) return 0;
    entries->even = factor;
    even->is_gone = 0;
    even->cause.change_ps = 0;
    even->cause.kind = IDS_CAUSE_EVEN;
    even->cause.factor = factor;
    even->cause.count = 0;
    even->cause.is_in_a = even->cause.is_in_b = 1;
    int is_of_load = ids_even_is_of_load(factor, expected);
    for (int side = 0; side < 2 && is_of_load; side++) even->cause.no_core[side] = no_core[side];
    for (size_t i = 0; i < count; i++) {
        struct ids_entry *entry = &entries->at[i];
        if (!(is_of_load ? is_work(entry) : ids_entry_is_same_op(entry))) continue;
        double half = sqrt(factor), own = entry->cause.b_ps / half - entry->cause.a_ps * half;
        even->cause.change_ps += entry->cause.change_ps - own;
        entry->cause.change_ps = own;
        even->cause.count++;
    }
    return 0;
}

/* ---- what the recording changed ---- */

static double tracer_level(const struct ids_side *side) {
    const struct ids_value *level = ids_report_find_property(side->runs[0].report, "python_tracer_level");
    return level ? ids_value_number(*level) : NAN;
}

static int is_of_host(const struct ids_entry *entry) {
    const char *account = entry->cause.account;
    return !entry->is_gone && !strncmp(account, "host.", 5) && strcmp(account, ids_account_id(IDS_HOST_COMPILE)) != 0;
}

int ids_group_host(struct ids_entries *entries) {
    double levels[] = {tracer_level(entries->sides[0]), tracer_level(entries->sides[1])};
    struct ids_keymap wholes = {0};
    int failed = 0;
    if (isnan(levels[0]) || isnan(levels[1]) || (levels[0] > 0) == (levels[1] > 0)) return 0;
    for (size_t i = 0; i < entries->count && !failed; i++) {
        struct ids_entry *entry = &entries->at[i];
        if (!is_of_host(entry) || ids_account_is_unknown(entry->cause.account)) continue;
        uint64_t *number = ids_keymap_at(&wholes, ids_entry_key(entry->cause.account, NULL, NULL));
        failed = !number;
        if (failed) break;
        entry->cause.kind = IDS_CAUSE_HOST;
        entry->cause.culprit = entry->cause.where = NULL;
        if (*number)
            ids_entry_put_into(entries, &entries->at[*number - 1], entry);
        else
            *number = i + 1;
    }
    ids_keymap_done(&wholes);
    return failed;
}

/* ---- what is too small, or chance ---- */

/* An op that does the same in two single recordings and changed by no more than chance makes of it: a list of them,
 * each with an interval around zero, says less than their sum. Several recordings of a side know how far it moves by
 * itself, and the one that changed most may be it. */
static int is_chance_alone(const struct ids_entries *entries, const struct ids_entry *entry) {
    return !entries->sides[0]->by_run && ids_entry_is_same_op(entry) && entry->cause.interval.known &&
           ids_cause_may_be_chance(&entry->cause);
}

/* From which rank on a small cause is told alone; INFINITY: none is. */
static double least_rank(const struct ids_entries *entries, double least_ps) {
    double most[SMALL_TOLD] = {0};
    for (size_t i = 0; i < entries->count; i++) {
        const struct ids_entry *entry = &entries->at[i];
        if (entry->is_gone || ids_account_is_unknown(entry->cause.account)) continue;
        double rank = ids_cause_rank(&entry->cause, entries->sides[0]->by_run);
        if (fabs(entry->cause.change_ps) >= least_ps) {
            if (ids_cause_is_beyond_chance(&entry->cause, entries->sides[0]->by_run)) return INFINITY;
            continue;
        }
        if (!entry->cause.interval.known) continue;
        for (int at = 0; at < SMALL_TOLD; at++) {
            double lower = fmin(rank, most[at]);
            most[at] = fmax(rank, most[at]);
            rank = lower;
        }
    }
    for (int at = SMALL_TOLD; at--;) {
        if (most[at] > 0) return most[at];
    }
    return INFINITY;
}

int ids_group_small(struct ids_entries *entries, double least_ps) {
    double told = least_rank(entries, least_ps);
    struct ids_keymap wholes = {0};
    size_t count = entries->count;
    int failed = 0;
    for (size_t i = 0; i < count && !failed; i++) {
        struct ids_entry *entry = &entries->at[i];
        if (entry->is_gone || ids_account_is_unknown(entry->cause.account)) continue;
        int is_large = fabs(entry->cause.change_ps) >= least_ps, is_chance = is_chance_alone(entries, entry);
        entry->is_told = !is_chance && (is_large || ids_cause_rank(&entry->cause, entries->sides[0]->by_run) >= told);
        if (entry->is_told) continue;
        entry->cause.by_chance = is_chance && is_large;
        uint64_t *number = ids_keymap_at(&wholes, ids_entry_key(entry->cause.account, NULL, NULL));
        if (!number) {
            failed = 1;
        } else if (!*number) {
            *number = i + 1;
        } else {
            struct ids_entry *whole = &entries->at[*number - 1];
            whole->cause.kind = IDS_CAUSE_OTHERS;
            whole->cause.culprit = whole->cause.where = whole->cause.source = NULL;
            whole->cause.match = NULL;
            whole->cause.note = NULL;
            whole->cause.by_chance += entry->cause.by_chance;
            ids_entry_put_into(entries, whole, entry);
        }
    }
    ids_keymap_done(&wholes);
    for (size_t i = 0; i < count && !failed; i++) {
        struct ids_entry *entry = &entries->at[i];
        if (entry->is_gone || entry->is_told || ids_account_is_unknown(entry->cause.account)) continue;
        if (entry->cause.kind == IDS_CAUSE_OTHERS) ids_entry_find_interval(entries, entry);
        entry->is_told = fabs(entry->cause.change_ps) >= least_ps;
    }
    return failed;
}
