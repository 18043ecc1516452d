#include "lib/analysis/balance.h"

#include "lib/base/saturate.h"

#include <stdlib.h>

/* Waiting below 1 % of a step says nothing of who is late there. */
enum { WORTH_A_WORD = 100 };

static int by_step(const void *a, const void *b) {
    const struct ids_awaited *left = a, *right = b;
    if (left->step != right->step) return left->step < right->step ? -1 : 1;
    return (left->device > right->device) - (left->device < right->device);
}

/* Of the sums [first, end) of one step: whose is the largest, and whether they are worth a word. */
static void look_at_step(const struct ids_analysis *analysis, struct ids_balance *balance,
                         const struct ids_awaited *first, const struct ids_awaited *end) {
    const struct ids_awaited *most = first;
    int64_t waited_ps = 0;
    for (const struct ids_awaited *at = first; at < end; at++) {
        ids_sum(&waited_ps, at->ps);
        if (at->ps > most->ps) most = at;
    }
    if (waited_ps < analysis->steps.at[first->step].sum_ps / WORTH_A_WORD) return;
    balance->steps++;
    balance->of_device[most->device].steps++;
}

static int look_at_steps(const struct ids_analysis *analysis, struct ids_balance *balance) {
    const struct ids_ledger *ledger = &analysis->ledger;
    size_t count = ledger->awaited_count;
    for (size_t i = 0; i < analysis->steps.count; i++) balance->together += analysis->steps.at[i].devices > 1;
    if (!analysis->steps.count || !count) return 0;
    struct ids_awaited *ordered = malloc(count * sizeof *ordered);
    if (!ordered) return -1;
    for (size_t i = 0; i < count; i++) ordered[i] = ledger->awaited[i];
    qsort(ordered, count, sizeof *ordered, by_step);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i; end < count && ordered[end].step == ordered[i].step;) end++;
        look_at_step(analysis, balance, &ordered[i], &ordered[end]);
    }
    free(ordered);
    return 0;
}

int ids_balance_make(const struct ids_analysis *analysis, struct ids_balance *ret_balance, struct ids_error *err) {
    const struct ids_ledger *ledger = &analysis->ledger;
    struct ids_balance balance = {.straggler = IDS_NONE};
    balance.of_device = calloc(analysis->trace->device_count + 1, sizeof *balance.of_device);
    if (!balance.of_device) return ids_no_memory(err);
    for (size_t s = 0; s < ledger->share_count; s++) {
        const struct ids_entry_share *share = &ledger->shares[s];
        const struct ids_ledger_entry *entry = &ledger->entries[share->entry];
        if (entry->account == IDS_COMM_WAIT) ids_sum(&balance.of_device[share->device].suffered_ps, share->ps);
    }
    for (size_t i = 0; i < ledger->awaited_count; i++) {
        ids_sum(&balance.of_device[ledger->awaited[i].device].caused_ps, ledger->awaited[i].ps);
        ids_sum(&balance.waited_ps, ledger->awaited[i].ps);
    }
    for (uint32_t b = 0; b < analysis->busy_count; b++) {
        int64_t caused_ps = balance.of_device[b].caused_ps;
        if (caused_ps > (balance.straggler == IDS_NONE ? 0 : balance.of_device[balance.straggler].caused_ps))
            balance.straggler = b;
    }
    if (look_at_steps(analysis, &balance)) {
        ids_balance_done(&balance);
        return ids_no_memory(err);
    }
    *ret_balance = balance;
    return 0;
}

void ids_balance_done(struct ids_balance *balance) {
    free(balance->of_device);
    *balance = (struct ids_balance){0};
}
