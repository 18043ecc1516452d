/* cause_hidden.c - callbacks that hold a core while the device computes on the others: on the ledger that time is of
 * the ops that waited. */
#include "lib/compare/cause_groups.h"

#include <math.h>
#include <string.h>

static const char callback[] = "custom-call";

/* The entry of what the host did in a callback, which only one side has. */
static struct ids_entry *entry_of(const struct ids_entries *entries, const struct ids_item *item, int side) {
    for (size_t i = 0; i < entries->count; i++) {
        struct ids_entry *entry = &entries->at[i];
        const struct ids_cause *cause = &entry->cause;
        if (entry->is_gone || cause->kind != IDS_CAUSE_CULPRIT || !cause->culprit) continue;
        if (cause->is_in_a != !side || cause->is_in_b != side) continue;
        if (!strcmp(cause->culprit, item->base) || !strcmp(cause->culprit, item->name)) return entry;
    }
    return NULL;
}

/* By how much ops that share their moments became slower (where the callback is new) or faster. */
static double waited(const struct ids_entries *entries, int side) {
    double sum = 0;
    for (size_t i = 0; i < entries->count; i++) {
        const struct ids_entry *entry = &entries->at[i];
        if (entry->is_gone || entry->cause.kind != IDS_CAUSE_OP || !entry->cause.match) continue;
        if (ids_cause_is_structural(&entry->cause) || !ids_entry_is_shared(entry)) continue;
        sum += fmax(side ? entry->cause.change_ps : -entry->cause.change_ps, 0);
    }
    return sum;
}

int ids_find_hidden(struct ids_entries *entries) {
    for (size_t i = 0; i < entries->ops->count; i++) {
        const struct ids_match *match = &entries->ops->at[i];
        if ((match->a && match->b) || (!match->a && !match->b)) continue;
        int side = match->b != NULL;
        const struct ids_item *item = side ? match->b : match->a;
        if (strcmp(item->category, callback) != 0) continue;
        struct ids_entry *entry = entry_of(entries, item, side);
        if (!entry) continue;
        double beside = item->time_ps - fabs(entry->cause.change_ps);
        if (beside > 0) entry->cause.hidden_ps = fmin(beside, waited(entries, side));
    }
    return 0;
}
