#include "analyzers/op_families.h"

#include "lib/base/saturate.h"
#include "lib/base/vec.h"
#include "lib/report/alike_names.h"

#include <stdlib.h>

uint64_t ids_op_family_key(const struct ids_analysis *analysis, const struct ids_ledger_entry *entry) {
    const struct ids_ledger *ledger = &analysis->ledger;
    enum ids_account account = (enum ids_account)entry->account;
    int is_of_ops = account == IDS_WORK_COMPUTE || account == IDS_COMM_TRANSFER || ids_account_is_copy(account);
    if (!is_of_ops || !entry->evidence_op) return 0;
    const struct ids_op *op = &analysis->trace->ops[entry->evidence_op - 1];
    if (op->fingerprint || !op->framework || !entry->culprit || !entry->where) return op->fingerprint;
    return ids_key_of(ids_hash_without_numbers(ids_strings_z(&ledger->texts, entry->where)), entry->culprit);
}

int ids_op_families_add(struct ids_op_families *families, const struct ids_analysis *analysis,
                        const struct ids_ledger_entry *entry, int64_t ps) {
    uint64_t key = ids_op_family_key(analysis, entry), unused = 0;
    uint64_t *place = key ? ids_keymap_at(&families->places, key) : &unused;
    if (!place) return -1;
    if (!*place) {
        struct ids_op_family *fresh = IDS_PUSH(families->at, families->count, families->room);
        if (!fresh) return -1;
        *fresh = (struct ids_op_family){0};
        *place = families->count;
    }
    struct ids_op_family *family = &families->at[*place - 1];
    ids_sum(&family->time_ps, ps);
    family->count++;
    if (!family->most || ps > family->most_ps) family->most = entry, family->most_ps = ps;
    return 0;
}

struct ids_op_family ids_op_families_largest(const struct ids_op_families *families) {
    struct ids_op_family largest = {0};
    for (size_t i = 0; i < families->count; i++) {
        if (families->at[i].time_ps > largest.time_ps) largest = families->at[i];
    }
    return largest;
}

void ids_op_families_done(struct ids_op_families *families) {
    ids_keymap_done(&families->places);
    free(families->at);
    *families = (struct ids_op_families){0};
}
