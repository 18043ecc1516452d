#include "lib/compare/cause_groups.h"

#include "lib/base/intern.h"
#include "lib/compare/cause_intervals.h"
#include "lib/compare/even_change.h"
#include "lib/hlo/scope.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL_TOLD = 3 };
/* ---- what all ops became slower by ---- */

static int is_even_pair(const struct ids_entry *entry) {
    const struct ids_cause *cause = &entry->cause;
    return cause->kind == IDS_CAUSE_OP && cause->match && !strcmp(cause->account, ids_account_id(IDS_WORK_COMPUTE)) &&
           cause->a_ps > 0 && cause->b_ps > 0 && !ids_cause_is_structural(cause);
}

static int find_even_factor(const struct ids_entries *entries, double *ret_factor) {
    struct ids_even_pair *pairs = calloc(entries->count + 1, sizeof *pairs);
    size_t count = 0;
    if (!pairs) return -1;
    for (size_t i = 0; i < entries->count; i++) {
        if (is_even_pair(&entries->at[i]))
            pairs[count++] = (struct ids_even_pair){entries->at[i].cause.a_ps, entries->at[i].cause.b_ps};
    }
    *ret_factor = ids_even_factor(pairs, count, entries->options->threshold);
    free(pairs);
    return 0;
}

/* Takes an even change out of the ops, so that what is left of each is its own. */
int ids_group_even(struct ids_entries *entries) {
    double factor = 1;
    size_t count = entries->count;
    if (find_even_factor(entries, &factor)) return -1;
    if (factor == 1) return 0;
    if (!ids_entries_add(entries)) return -1;
    struct ids_entry *even = &entries->at[count];
    even->cause.kind = IDS_CAUSE_EVEN;
    even->cause.account = ids_account_id(IDS_WORK_COMPUTE);
    even->cause.factor = factor;
    even->cause.count = 0;
    even->cause.is_in_a = even->cause.is_in_b = 1;
    for (size_t i = 0; i < count; i++) {
        struct ids_entry *entry = &entries->at[i];
        if (!is_even_pair(entry)) continue;
        double change = entry->cause.b_ps - entry->cause.b_ps / factor;
        entry->cause.change_ps -= change;
        even->cause.change_ps += change;
        even->cause.count++;
        ids_entry_add_times(entries, even, entry);
    }
    return 0;
}

/* ---- what computes something else ---- */

static int is_of_op(const struct ids_entry *entry) {
    return !entry->is_gone && entry->cause.kind == IDS_CAUSE_OP;
}

static int is_reshaped(const struct ids_cause *cause) {
    struct ids_shape_change unused;
    return cause->match && ids_shape_change(cause->match->a->shape, cause->match->b->shape, &unused);
}

/* Of the ops of a group one with another shape tells its shapes for all: of the forward pass, which a person wrote,
 * else the one that changed most. */
static int tells_more(const struct ids_cause *cause, const struct ids_cause *whole) {
    if (is_reshaped(cause) != is_reshaped(whole)) return is_reshaped(cause);
    if (is_reshaped(cause)) {
        int own = ids_is_backward(cause->match->b->op_name), others = ids_is_backward(whole->match->b->op_name);
        if (own != others) return others;
    }
    return fabs(cause->change_ps) > fabs(whole->largest_ps);
}

/* Puts an entry into the group of that name, which it makes where it is the first. */
static int put_into_group(struct ids_entries *entries, struct ids_keymap *groups, size_t i, enum ids_cause_kind kind,
                          const char *name) {
    struct ids_entry *entry = &entries->at[i];
    struct ids_cause *cause = &entry->cause;
    cause->added = !cause->match && cause->is_in_b;
    cause->removed = !cause->match && cause->is_in_a;
    cause->changed = cause->match != NULL;
    cause->largest_ps = cause->change_ps;
    uint64_t *number = ids_keymap_at(groups, ids_entry_key(cause->account, name, NULL));
    if (!number) return -1;
    if (!*number) {
        *number = i + 1;
        return 0;
    }
    struct ids_cause *whole = &entries->at[*number - 1].cause;
    if (tells_more(cause, whole)) {
        whole->largest_ps = cause->change_ps;
        whole->match = cause->match;
        whole->where = cause->where;
    }
    whole->kind = kind;
    whole->culprit = name;
    whole->added += cause->added;
    whole->removed += cause->removed;
    whole->changed += cause->changed;
    whole->is_in_a |= cause->is_in_a;
    whole->is_in_b |= cause->is_in_b;
    ids_entry_put_into(entries, &entries->at[*number - 1], entry);
    return 0;
}

int ids_group_shapes(struct ids_entries *entries) {
    struct ids_keymap groups = {0};
    char text[IDS_SHAPE_CHANGE_TEXT];
    int failed = 0;
    if (!entries->structure->like_count) return 0;
    ids_shape_change_text(&entries->structure->like, text);
    const char *name = ids_report_text(entries->texts, "%s", text);
    for (size_t i = 0; i < entries->count && !failed; i++) {
        if (is_of_op(&entries->at[i]) && ids_cause_is_structural(&entries->at[i].cause))
            failed = put_into_group(entries, &groups, i, IDS_CAUSE_SHAPES, name);
    }
    ids_keymap_done(&groups);
    return failed;
}

/* "layer1", or the program where no scope is named; NULL: neither is known. Of a combined collective, which is in
 * several ("jit(f)/(gradients/psum:sync_stats/psum)"), the first. */
static const char *scope_of(struct ids_entries *entries, const struct ids_entry *entry) {
    char scope[IDS_SCOPE_BYTES];
    const char *several = strstr(entry->op_name, "/(");
    const char *first = several ? ids_report_text(entries->texts, "%.*s/%.*s", (int)(several - entry->op_name),
                                                  entry->op_name, (int)strcspn(several + 2, ":)"), several + 2)
                                : entry->op_name;
    ids_scope_of(first, scope);
    if (*scope) return ids_report_text(entries->texts, "%s", scope);
    size_t length = strcspn(entry->op_name, "/");
    return length ? ids_report_text(entries->texts, "%.*s", (int)length, entry->op_name) : NULL;
}

int ids_group_scopes(struct ids_entries *entries) {
    struct ids_keymap groups = {0};
    int failed = 0;
    for (size_t i = 0; i < entries->count && !failed; i++) {
        struct ids_entry *entry = &entries->at[i];
        const char *scope = is_of_op(entry) && ids_cause_is_structural(&entry->cause) ? scope_of(entries, entry) : NULL;
        if (scope) failed = put_into_group(entries, &groups, i, IDS_CAUSE_SCOPE, scope);
    }
    ids_keymap_done(&groups);
    return failed;
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

/* ---- what is too small ---- */

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
        entry->is_told = fabs(entry->cause.change_ps) >= least_ps ||
                         ids_cause_rank(&entry->cause, entries->sides[0]->by_run) >= told;
        if (entry->is_told) continue;
        uint64_t *number = ids_keymap_at(&wholes, ids_entry_key(entry->cause.account, NULL, NULL));
        if (!number) {
            failed = 1;
        } else if (!*number) {
            *number = i + 1;
        } else {
            struct ids_entry *whole = &entries->at[*number - 1];
            whole->cause.kind = IDS_CAUSE_OTHERS;
            whole->cause.culprit = whole->cause.where = NULL;
            whole->cause.match = NULL;
            ids_entry_put_into(entries, whole, entry);
        }
    }
    ids_keymap_done(&wholes);
    for (size_t i = 0; i < count && !failed; i++) {
        struct ids_entry *entry = &entries->at[i];
        if (entry->is_gone || entry->cause.kind != IDS_CAUSE_OTHERS) continue;
        ids_entry_find_interval(entries, entry);
        entry->is_told = fabs(entry->cause.change_ps) >= least_ps;
    }
    return failed;
}
