#include "analyzers/joint_causes.h"

#include "lib/base/keymap.h"
#include "lib/base/saturate.h"

#include <stdlib.h>

/* An account of a function, on the deciding device. */
struct part {
    int64_t ps;
    uint64_t intervals; /* of all devices */
};

/* What one function of the program has, of the accounts of `kinds`. */
enum { KINDS = 5 };
static const enum ids_account kinds[KINDS] = {IDS_HOST_SYNC, IDS_HOST_PYTHON, IDS_HOST_DISPATCH, IDS_DEVICE_QUEUE,
                                              IDS_HOST_STAGING};
struct function {
    struct part parts[KINDS];
    uint32_t number; /* among joint causes, 0: it is none */
};

/* The index in `kinds` of what an entry is for its function; -1: of no function, or its remedy is another one. */
static int kind_of(const struct ids_analysis *analysis, size_t decider, const struct ids_ledger_entry *entry) {
    if (!entry->function || !entry->intervals) return -1;
    if (entry->account == IDS_DEVICE_QUEUE) {
        const struct ids_circumstances about = {
            .account = IDS_DEVICE_QUEUE,
            .platform = analysis->busy[decider].device->kind,
            .mean_ps = ids_ledger_entry_time(entry) / (int64_t)entry->intervals,
        };
        if (!ids_remedy_is_fewer_launches(&about)) return -1;
    }
    if (entry->account == IDS_HOST_STAGING && !ids_fetches_one_by_one(analysis, entry)) return -1;
    for (int k = 0; k < KINDS; k++) {
        if (kinds[k] == (enum ids_account)entry->account) return k;
    }
    return -1;
}

int ids_fetches_one_by_one(const struct ids_analysis *analysis, const struct ids_ledger_entry *entry) {
    enum { A_STEP = 20, WITHOUT_STEPS = 100 };
    uint64_t steps = analysis->steps.count, devices = analysis->busy_count;
    const char *culprit = entry->culprit ? ids_strings_z(&analysis->ledger.texts, entry->culprit) : NULL;
    if (entry->account == IDS_HOST_SYNC ? !ids_remedy_takes_values(culprit)
                                        : entry->account != IDS_HOST_STAGING || !ids_remedy_is_fetch(culprit))
        return 0;
    return entry->intervals >= (steps ? A_STEP * steps : WITHOUT_STEPS) * devices;
}

/* Several times in each step, on each device; without steps as often as advice must rest on. */
static int is_often(const struct ids_analysis *analysis, const struct part *part) {
    enum { A_STEP = 3, WITHOUT_STEPS = 20 };
    uint64_t steps = analysis->steps.count, devices = analysis->busy_count;
    return part->intervals >= (steps ? A_STEP * steps : WITHOUT_STEPS) * devices;
}

/* Two of its accounts or more have a tenth of it each, and all of it together is more than any piece that it takes time
 * from: else that one says more. */
static int is_joint(const struct ids_analysis *analysis, const struct ids_pieces *pieces,
                    const struct function *function) {
    int64_t all_ps = 0, least_ps = 0;
    int count = 0;
    for (int k = 0; k < KINDS; k++) {
        if (is_often(analysis, &function->parts[k])) ids_sum(&all_ps, function->parts[k].ps);
    }
    least_ps = all_ps / 10;
    for (int k = 0; k < KINDS; k++)
        count += is_often(analysis, &function->parts[k]) && function->parts[k].ps > least_ps;
    for (size_t i = 0; i < pieces->count; i++) {
        const struct ids_piece *piece = &pieces->at[i];
        if (piece->scope != IDS_REMEDY_OF_ACCOUNT || piece->time_ps < all_ps) continue;
        for (int k = 0; k < KINDS; k++) {
            if (kinds[k] == piece->account && function->parts[k].ps > 0) return 0;
        }
    }
    return count >= 2;
}

/* Sums up functions by their texts: how many there are, SIZE_MAX where memory ran out. */
static size_t sum_up(const struct ids_analysis *analysis, size_t decider, struct ids_keymap *numbers,
                     struct function *functions) {
    const struct ids_ledger *ledger = &analysis->ledger;
    size_t count = 0;
    for (size_t s = ledger->first_share[decider]; s < ledger->first_share[decider + 1]; s++) {
        const struct ids_ledger_entry *entry = &ledger->entries[ids_share_cause(ledger, &ledger->shares[s])];
        int kind = kind_of(analysis, decider, entry);
        if (kind < 0) continue;
        uint64_t *number = ids_keymap_at(numbers, entry->function);
        if (!number) return SIZE_MAX;
        if (!*number) *number = ++count;
        struct part *part = &functions[*number - 1].parts[kind];
        ids_sum(&part->ps, ledger->shares[s].ps);
        if (entry == &ledger->entries[ledger->shares[s].entry]) part->intervals += entry->intervals;
    }
    return count;
}

int ids_joint_causes_find(const struct ids_analysis *analysis, const struct ids_pieces *pieces,
                          struct ids_joint_causes *joint) {
    const struct ids_ledger *ledger = &analysis->ledger;
    size_t first = ledger->first_share[pieces->decider], end = ledger->first_share[pieces->decider + 1];
    struct function *functions = calloc(end - first + 1, sizeof *functions);
    struct ids_keymap numbers = {0};
    size_t count = functions ? sum_up(analysis, pieces->decider, &numbers, functions) : SIZE_MAX;
    int failed = count == SIZE_MAX;
    for (size_t f = 0; !failed && f < count; f++) {
        if (is_joint(analysis, pieces, &functions[f])) functions[f].number = ++joint->count;
    }
    for (size_t s = first; !failed && joint->count && s < end; s++) {
        uint32_t number = ids_share_cause(ledger, &ledger->shares[s]);
        const struct ids_ledger_entry *entry = &ledger->entries[number];
        int kind = kind_of(analysis, pieces->decider, entry);
        if (kind < 0) continue;
        uint64_t *place = ids_keymap_at(&numbers, entry->function);
        const struct function *function = place && *place ? &functions[*place - 1] : NULL;
        if (function && function->number && is_often(analysis, &function->parts[kind]))
            joint->of_entry[number] = function->number;
    }
    ids_keymap_done(&numbers);
    free(functions);
    return failed ? -1 : 0;
}
