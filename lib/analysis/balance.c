#include "lib/analysis/balance.h"

#include "lib/analysis/late.h"
#include "lib/base/saturate.h"

#include <stdlib.h>

/* Waiting below 1 % of a step says nothing of who is late there. */
enum { WORTH_A_WORD = 100 };

static int by_step(const void *a, const void *b) {
    const struct ids_awaited *left = a, *right = b;
    if (left->step != right->step) return left->step < right->step ? -1 : 1;
    return (left->device > right->device) - (left->device < right->device);
}

/* Of the sums [first, end) of one step: whose is the largest, and whether they are worth a word. `late_ps`: by device
 * that stands for others, all zero before and after. */
static void look_at_step(const struct ids_analysis *analysis, struct ids_balance *balance,
                         const struct ids_awaited *first, const struct ids_awaited *end, int64_t *late_ps) {
    const struct ids_ledger *ledger = &analysis->ledger;
    const struct ids_awaited *most = first;
    uint32_t latest = ids_late_as(ledger, first->device);
    int64_t waited_ps = 0;
    for (const struct ids_awaited *at = first; at < end; at++) {
        ids_sum(&waited_ps, at->ps);
        ids_sum(&late_ps[ids_late_as(ledger, at->device)], at->ps);
        if (at->ps > most->ps) most = at;
    }
    for (const struct ids_awaited *at = first; at < end; at++) {
        uint32_t late = ids_late_as(ledger, at->device);
        if (late_ps[late] > late_ps[latest]) latest = late;
    }
    for (const struct ids_awaited *at = first; at < end; at++) late_ps[ids_late_as(ledger, at->device)] = 0;
    if (waited_ps < analysis->steps.at[first->step].sum_ps / WORTH_A_WORD) return;
    balance->steps++;
    balance->of_device[most->device].steps++;
    balance->of_late[latest].steps++;
}

static int look_at_steps(const struct ids_analysis *analysis, struct ids_balance *balance) {
    const struct ids_ledger *ledger = &analysis->ledger;
    size_t count = ledger->awaited_count;
    for (size_t i = 0; i < analysis->steps.count; i++) balance->together += analysis->steps.at[i].devices > 1;
    if (!analysis->steps.count || !count) return 0;
    struct ids_awaited *ordered = malloc(count * sizeof *ordered);
    int64_t *late_ps = calloc(analysis->trace->device_count + 1, sizeof *late_ps); /* also those not chosen */
    if (!ordered || !late_ps) {
        free(ordered);
        free(late_ps);
        return -1;
    }
    for (size_t i = 0; i < count; i++) ordered[i] = ledger->awaited[i];
    qsort(ordered, count, sizeof *ordered, by_step);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i; end < count && ordered[end].step == ordered[i].step;) end++;
        look_at_step(analysis, balance, &ordered[i], &ordered[end], late_ps);
    }
    free(late_ps);
    free(ordered);
    return 0;
}

int ids_balance_make(const struct ids_analysis *analysis, struct ids_balance *ret_balance, struct ids_error *err) {
    const struct ids_ledger *ledger = &analysis->ledger;
    struct ids_balance balance = {.straggler = IDS_NONE};
    balance.of_device = calloc(analysis->trace->device_count + 1, sizeof *balance.of_device);
    balance.of_late = calloc(analysis->trace->device_count + 1, sizeof *balance.of_late);
    if (!balance.of_device || !balance.of_late) {
        ids_balance_done(&balance);
        return ids_no_memory(err);
    }
    for (size_t s = 0; s < ledger->share_count; s++) {
        const struct ids_entry_share *share = &ledger->shares[s];
        const struct ids_ledger_entry *entry = &ledger->entries[share->entry];
        if (entry->account == IDS_COMM_WAIT) ids_sum(&balance.of_device[share->device].suffered_ps, share->ps);
    }
    for (size_t i = 0; i < ledger->awaited_count; i++) {
        uint32_t device = ledger->awaited[i].device;
        ids_sum(&balance.of_device[device].caused_ps, ledger->awaited[i].ps);
        ids_sum(&balance.of_late[ids_late_as(ledger, device)].caused_ps, ledger->awaited[i].ps);
        ids_sum(&balance.waited_ps, ledger->awaited[i].ps);
    }
    for (uint32_t b = 0; b < analysis->busy_count; b++) {
        int64_t caused_ps = balance.of_late[b].caused_ps;
        if (caused_ps > (balance.straggler == IDS_NONE ? 0 : balance.of_late[balance.straggler].caused_ps))
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
    free(balance->of_late);
    *balance = (struct ids_balance){0};
}
