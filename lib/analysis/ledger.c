#include "lib/analysis/ledger.h"

#include "lib/base/vec.h"

#include <stdlib.h>

const char *ids_known_name(enum ids_known known) {
    static const char *const names[IDS_KNOWN_COUNT] = {"recorded", "inferred", "unknown"};
    return known < IDS_KNOWN_COUNT ? names[known] : "";
}

static uint64_t key_of_entry(enum ids_account account, uint32_t culprit, uint32_t where) {
    return ids_key_of(ids_key_of(account, culprit), where);
}

/* Whether there is one; where there are many, no more are made. */
static int is_there(const struct ids_ledger *ledger, enum ids_account account, struct ids_text culprit,
                    struct ids_text where) {
    uint64_t number;
    uint32_t culprit_id = ids_strings_find(&ledger->texts, culprit.length ? culprit.at : "", culprit.length);
    uint32_t where_id = ids_strings_find(&ledger->texts, where.length ? where.at : "", where.length);
    return culprit_id != IDS_NO_TEXT && where_id != IDS_NO_TEXT &&
           ids_keymap_get(&ledger->entry_numbers, key_of_entry(account, culprit_id, where_id), &number);
}

int64_t ids_ledger_entry_of(struct ids_ledger *ledger, enum ids_account account, struct ids_text culprit,
                            struct ids_text where) {
    if (ledger->count_of[account] >= IDS_LEDGER_ENTRIES && !is_there(ledger, account, culprit, where)) {
        culprit = (struct ids_text){IDS_LEDGER_OTHERS, sizeof IDS_LEDGER_OTHERS - 1};
        where = (struct ids_text){"", 0};
    }
    uint32_t culprit_id = ids_intern(&ledger->texts, culprit.length ? culprit.at : "", culprit.length);
    uint32_t where_id = ids_intern(&ledger->texts, where.length ? where.at : "", where.length);
    if (culprit_id == IDS_NO_TEXT || where_id == IDS_NO_TEXT) return -1;
    uint64_t key = key_of_entry(account, culprit_id, where_id);
    uint64_t *number = ids_keymap_at(&ledger->entry_numbers, key);
    if (!number) return -1;
    if (*number) return (int64_t)*number - 1;
    struct ids_ledger_entry *fresh = IDS_PUSH(ledger->entries, ledger->entry_count, ledger->entry_room);
    if (!fresh) return -1;
    *fresh = (struct ids_ledger_entry){
        .account = (uint8_t)account, .culprit = culprit_id, .where = where_id, .cause = IDS_NONE, .awaited = IDS_NONE};
    *number = ledger->entry_count;
    ledger->count_of[account]++;
    return (int64_t)ledger->entry_count - 1;
}

void ids_ledger_done(struct ids_ledger *ledger) {
    ids_strings_done(&ledger->texts);
    free(ledger->entries);
    ids_keymap_done(&ledger->entry_numbers);
    free(ledger->in_window);
    free(ledger->strips);
    free(ledger->idle);
    free(ledger->in_step);
    free(ledger->first_step);
    free(ledger->both_ways_ps);
    free(ledger->shares);
    free(ledger->first_share);
    free(ledger->awaited);
}
