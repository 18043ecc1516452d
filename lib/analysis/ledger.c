#include "lib/analysis/ledger.h"

#include "lib/base/saturate.h"
#include "lib/base/vec.h"

#include <stdlib.h>

const char *ids_known_name(enum ids_known known) {
    static const char *const names[IDS_KNOWN_COUNT] = {"recorded", "inferred", "unknown", "place inferred"};
    return known < IDS_KNOWN_COUNT ? names[known] : "";
}

enum ids_known ids_ledger_entry_known(const struct ids_ledger_entry *entry) {
    enum ids_known most = IDS_RECORDED;
    for (int known = 0; known < IDS_KNOWN_COUNT; known++) {
        if (entry->time_ps[known] > entry->time_ps[most]) most = (enum ids_known)known;
    }
    return most;
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

int ids_ledger_add_line(struct ids_ledger *ledger, uint32_t entry, uint32_t frame, int64_t ps) {
    uint64_t *number = ids_keymap_at(&ledger->line_numbers, (uint64_t)entry << 32 | frame);
    if (!number) return -1;
    if (!*number) {
        struct ids_entry_line *fresh = IDS_PUSH(ledger->lines, ledger->line_count, ledger->line_room);
        if (!fresh) return -1;
        *fresh = (struct ids_entry_line){.entry = entry, .frame = frame};
        *number = ledger->line_count;
    }
    ids_sum(&ledger->lines[*number - 1].ps, ps);
    return 0;
}

void ids_ledger_entry_note_op(struct ids_ledger_entry *entry, const struct ids_trace *trace, uint32_t op) {
    uint64_t one = entry->op ? trace->ops[entry->op - 1].fingerprint : 0, other = trace->ops[op].fingerprint;
    if (one && other && one != other) entry->is_mixed = 1;
    if (!entry->op || (!one && other)) entry->op = op + 1; /* one that says what it computes */
}

static int take_text(struct ids_ledger *ledger, uint32_t *own, const struct ids_ledger *theirs, uint32_t other) {
    if (*own || !other) return 0;
    struct ids_text text = ids_strings_text(&theirs->texts, other);
    *own = ids_intern(&ledger->texts, text.at, text.length);
    return *own == IDS_NO_TEXT ? -1 : 0;
}

int ids_ledger_entry_take(struct ids_ledger *ledger, struct ids_ledger_entry *entry, const struct ids_ledger *theirs,
                          const struct ids_ledger_entry *other, const struct ids_trace *trace) {
    if (other->op) ids_ledger_entry_note_op(entry, trace, other->op - 1);
    entry->is_mixed |= other->is_mixed;
    entry->is_sampled |= other->is_sampled;
    if (!entry->frame) entry->frame = other->frame, entry->lines = other->lines, entry->lines_of = other->lines_of;
    entry->is_of_other_thread |= other->is_of_other_thread;
    entry->intervals += other->intervals;
    for (int known = 0; known < IDS_KNOWN_COUNT; known++) ids_sum(&entry->time_ps[known], other->time_ps[known]);
    ids_sum(&entry->in_window_ps, other->in_window_ps);
    if (other->longest_ps > entry->longest_ps) { /* of equals the one that was met first */
        entry->longest_ps = other->longest_ps;
        entry->longest_at_ps = other->longest_at_ps;
        entry->longest_device = other->longest_device;
        entry->evidence = other->evidence;
        entry->evidence_op = other->evidence_op;
    }
    return take_text(ledger, &entry->recorded, theirs, other->recorded) ||
                   take_text(ledger, &entry->function, theirs, other->function)
               ? -1
               : 0;
}

void ids_ledger_done(struct ids_ledger *ledger) {
    ids_strings_done(&ledger->texts);
    free(ledger->entries);
    ids_keymap_done(&ledger->entry_numbers);
    free(ledger->lines);
    ids_keymap_done(&ledger->line_numbers);
    free(ledger->in_window);
    free(ledger->strips);
    free(ledger->idle);
    free(ledger->in_step);
    free(ledger->first_step);
    free(ledger->both_ways_ps);
    free(ledger->shares);
    free(ledger->first_share);
    free(ledger->awaited);
    free(ledger->late);
    free(ledger->uneven_ps);
}
