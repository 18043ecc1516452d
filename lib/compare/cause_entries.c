#include "lib/compare/cause_entries.h"

#include "lib/base/intern.h"
#include "lib/base/vec.h"
#include "lib/compare/ledger_rows.h"
#include "lib/compare/recomputed.h"
#include "lib/compare/slice.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(const char *text) {
    return text ? ids_hash_bytes(text, strlen(text)) : 0;
}

uint64_t ids_entry_key(const char *account, const char *name, const char *where) {
    return ids_key_of(ids_key_of(hash_of(account), hash_of(name)), where && *where ? hash_of(where) : 0);
}

/* Accounts whose culprits are ops, which are told apart by where they are in the program. Functions are not: their line
 * moves from version to version. */
static int has_ops(const char *account) {
    return !strcmp(account, ids_account_id(IDS_WORK_COMPUTE)) || !strcmp(account, ids_account_id(IDS_COMM_TRANSFER));
}

int ids_account_is_unknown(const char *account) {
    return !strcmp(account, ids_account_id(IDS_HOST_UNKNOWN)) || !strcmp(account, ids_account_id(IDS_DEVICE_UNKNOWN));
}

/* Of its own time so much less is in the ledger where others run at the same moments. */
#define SHARED 0.95

int ids_entry_is_shared(const struct ids_entry *entry) {
    const struct ids_cause *cause = &entry->cause;
    return cause->a_ps < SHARED * entry->own_ps[0] || cause->b_ps < SHARED * entry->own_ps[1];
}

int ids_entry_is_same_op(const struct ids_entry *entry) {
    const struct ids_cause *cause = &entry->cause;
    return !entry->is_gone && cause->kind == IDS_CAUSE_OP && cause->match &&
           !strcmp(cause->account, ids_account_id(IDS_WORK_COMPUTE)) && cause->a_ps > 0 && cause->b_ps > 0 &&
           !ids_cause_is_structural(cause);
}

int ids_entry_is_sampled(const struct ids_entries *entries, const struct ids_entry *entry) {
    const struct ids_cause *cause = &entry->cause;
    return cause->kind == IDS_CAUSE_CULPRIT && cause->culprit &&
           !strcmp(cause->account, ids_account_id(IDS_HOST_PYTHON)) && entries->sampled[0].sample_ps > 0 &&
           entries->sampled[1].sample_ps > 0;
}

void ids_entries_find_unseen(struct ids_entries *entries) {
    for (size_t i = 0; i < entries->count; i++) {
        struct ids_cause *cause = &entries->at[i].cause;
        if (entries->at[i].is_gone || !ids_entry_is_sampled(entries, &entries->at[i])) continue;
        int side = cause->b_ps > cause->a_ps;
        cause->may_be_unseen = !ids_is_of_one_side(entries->sampled, side, side ? cause->b_ps : cause->a_ps);
    }
}

/* ---- gathering ---- */

/* What a ledger says of where an op is: its path in the program, else the program. */
static const char *where_of(const struct ids_item *op) {
    return *op->op_name ? op->op_name : *op->module ? op->module : NULL;
}

static int pair_ops(struct ids_entries *entries) {
    for (size_t i = 0; i < entries->ops->count; i++) {
        const struct ids_match *match = &entries->ops->at[i];
        const struct ids_item *items[] = {match->a, match->b};
        for (int side = 0; side < 2; side++) {
            if (!items[side]) continue;
            uint64_t key = ids_entry_key(NULL, items[side]->name, where_of(items[side]));
            if (ids_keymap_add(&entries->items[side], key, i + 1) < 0) return -1;
            if (match->a && match->b && ids_keymap_add(&entries->pairs[side], key, i + 1) < 0) return -1;
        }
    }
    return 0;
}

static const struct ids_item *item_of(const struct ids_entries *entries, int side, const struct ids_ledger_row *row) {
    uint64_t number;
    if (!row->culprit || !has_ops(row->account)) return NULL;
    if (!ids_keymap_get(&entries->items[side], ids_entry_key(NULL, row->culprit, row->where), &number)) return NULL;
    return side ? entries->ops->at[number - 1].b : entries->ops->at[number - 1].a;
}

static const struct ids_match *match_of(const struct ids_entries *entries, int side, const struct ids_ledger_row *row) {
    uint64_t number;
    int is_there = ids_keymap_get(&entries->pairs[side], ids_entry_key(NULL, row->culprit, row->where), &number);
    return is_there ? &entries->ops->at[number - 1] : NULL;
}

/* Side b's words for an op of side a. */
static void call_as_b(struct ids_entries *entries, const struct ids_item *item, struct ids_ledger_row *row) {
    const struct ids_match *match = match_of(entries, 0, row);
    if (match) {
        row->culprit = match->b->name;
        row->where = where_of(match->b);
    } else if (item && *item->path) {
        row->where = item->path;
    }
}

struct ids_entry *ids_entries_add(struct ids_entries *entries) {
    struct ids_entry *entry = IDS_PUSH(entries->at, entries->count, entries->room);
    if (!entry) return NULL;
    *entry = (struct ids_entry){.op_name = "", .module = "", .cause = {.count = 1}};
    for (int side = 0; side < 2; side++) {
        entry->by_run[side] = calloc(entries->sides[side]->recording_count, sizeof *entry->by_run[side]);
        if (!entry->by_run[side]) return NULL;
    }
    return entry;
}

/* An op that is gone is not the op that bears its name now. */
static uint64_t key_of_row(const struct ids_ledger_row *row, int is_op, int is_gone) {
    uint64_t key = ids_entry_key(row->account, row->culprit, is_op ? row->where : NULL);
    return is_gone ? ids_key_of(key, 1) : key;
}

static struct ids_entry *entry_of(struct ids_entries *entries, const struct ids_ledger_row *row, int is_gone) {
    int is_op = has_ops(row->account) && row->culprit;
    uint64_t *number = ids_keymap_at(&entries->numbers, key_of_row(row, is_op, is_gone));
    if (!number) return NULL;
    if (*number) return &entries->at[*number - 1];
    *number = entries->count + 1;
    struct ids_entry *entry = ids_entries_add(entries);
    if (!entry) return NULL;
    entry->cause.kind = is_op ? IDS_CAUSE_OP : IDS_CAUSE_CULPRIT;
    entry->cause.account = row->account;
    entry->cause.culprit = row->culprit;
    entry->cause.where = row->where;
    if (is_op && !is_gone) entry->cause.match = match_of(entries, 1, row);
    if (is_op && row->where) entry->op_name = row->where;
    return entry;
}

static const char *without_jit(const char *module) {
    return !strncmp(module, "jit_", 4) || !strncmp(module, "pmap", 4) ? module + 4 : module;
}

static int is_word_end(char c) {
    return c != '_' && !isalnum((unsigned char)c);
}

static int ends_with_jit(const char *text, const char *end) {
    return end - text >= 4 && !memcmp(end - 4, "jit_", 4);
}

/* Side b's name of a program in a culprit that is named after it: "train_step", "PjitFunction(train_step)". */
static void call_program_as_b(struct ids_entries *entries, struct ids_ledger_row *row) {
    for (size_t i = 0; i < entries->ops->renamed_count; i++) {
        const char *from = without_jit(entries->ops->renamed[i].a), *to = without_jit(entries->ops->renamed[i].b);
        const char *found = strstr(row->culprit, from), *rest = found ? found + strlen(from) : NULL;
        if (!found || !is_word_end(*rest) ||
            (found != row->culprit && !is_word_end(found[-1]) && !ends_with_jit(row->culprit, found)))
            continue;
        row->culprit = ids_report_text(entries->texts, "%.*s%s%s", (int)(found - row->culprit), row->culprit, to, rest);
        return;
    }
}

static int add_run(struct ids_entries *entries, int side, size_t r) {
    const struct ids_side *of = entries->sides[side];
    const struct ids_side_run *run = &of->runs[r];
    double weight = run->weight, steps = run->steps ? (double)run->steps->row_count : NAN;
    struct ids_ledger_row row;
    for (struct ids_ledger_reading at = ids_ledger_begin(run); ids_ledger_next(&at, &row);) {
        const struct ids_item *item = item_of(entries, side, &row);
        if (ids_is_slice(entries->options) && !item) continue; /* the ops that were matched are those of the slice */
        int is_gone = !side && item && !match_of(entries, side, &row);
        if (!side && row.culprit && has_ops(row.account))
            call_as_b(entries, item, &row);
        else if (!side && row.culprit)
            call_program_as_b(entries, &row);
        struct ids_entry *entry = entry_of(entries, &row, is_gone);
        if (!entry) return -1;
        if (!entry->where[side]) entry->where[side] = row.where;
        if (item && !entry->cause.source) {
            entry->cause.source = *item->source ? item->source : NULL;
            entry->cause.is_place_before = is_gone;
        }
        *(side ? &entry->cause.is_in_b : &entry->cause.is_in_a) = 1;
        if (item) entry->own_ps[side] = item->time_ps;
        if (item) entry->cause.recomputed = ids_item_is_recomputed(item);
        if (item && (side || !*entry->module))
            entry->module = side ? item->module : ids_matches_program_in_b(entries->ops, item->module);
        *(side ? &entry->cause.b_ps : &entry->cause.a_ps) += row.per_step_ps * weight;
        entry->by_run[side][run->recording] += row.per_step_ps * weight * (double)of->recording_count;
        entry->variance[side] += row.deviation_ps * row.deviation_ps / steps * (weight * weight);
    }
    return 0;
}

static int gather(struct ids_entries *entries) {
    int failed = pair_ops(entries) || ids_sampled_calls_read(entries->sides[0], &entries->sampled[0]) ||
                 ids_sampled_calls_read(entries->sides[1], &entries->sampled[1]);
    for (int side = 1; side >= 0 && !failed; side--) {
        for (size_t r = 0; r < entries->sides[side]->run_count && !failed; r++) failed = add_run(entries, side, r);
    }
    for (size_t i = 0; i < entries->count && !failed; i++) {
        entries->at[i].cause.change_ps = entries->at[i].cause.b_ps - entries->at[i].cause.a_ps;
    }
    return failed;
}

/* ---- putting together ---- */

void ids_entry_empty(const struct ids_entries *entries, struct ids_entry *entry) {
    entry->cause.a_ps = entry->cause.b_ps = entry->cause.change_ps = 0;
    for (int side = 0; side < 2; side++) {
        entry->variance[side] = entry->own_ps[side] = 0;
        memset(entry->by_run[side], 0, entries->sides[side]->recording_count * sizeof *entry->by_run[side]);
    }
}

void ids_entry_add_times(const struct ids_entries *entries, struct ids_entry *whole, const struct ids_entry *part) {
    whole->cause.a_ps += part->cause.a_ps;
    whole->cause.b_ps += part->cause.b_ps;
    for (int side = 0; side < 2; side++) {
        double deviation =
            sqrt(whole->variance[side]) + sqrt(part->variance[side]); /* at most, if they move together */
        whole->variance[side] = deviation * deviation;
        whole->own_ps[side] += part->own_ps[side];
        for (size_t r = 0; r < entries->sides[side]->recording_count; r++)
            whole->by_run[side][r] += part->by_run[side][r];
    }
}

void ids_entry_put_into(const struct ids_entries *entries, struct ids_entry *whole, struct ids_entry *part) {
    ids_entry_add_times(entries, whole, part);
    whole->cause.change_ps += part->cause.change_ps;
    whole->cause.count += part->cause.count;
    part->is_gone = 1;
}

int ids_entries_make(const struct ids_side *a, const struct ids_side *b, const struct ids_matches *ops,
                     const struct ids_structure *structure, const struct ids_compare_options *options,
                     const double step_ps[2], struct ids_report *texts, struct ids_entries *ret_entries) {
    *ret_entries = (struct ids_entries){.sides = {a, b},
                                        .ops = ops,
                                        .structure = structure,
                                        .options = options,
                                        .texts = texts,
                                        .step_ps = {step_ps[0], step_ps[1]},
                                        .even = 1,
                                        .load = 1};
    return gather(ret_entries);
}

void ids_entries_done(struct ids_entries *entries) {
    for (size_t i = 0; i < entries->count; i++) {
        free(entries->at[i].by_run[0]);
        free(entries->at[i].by_run[1]);
    }
    free(entries->at);
    for (int side = 0; side < 2; side++) free(entries->sampled[side].at);
    ids_keymap_done(&entries->numbers);
    ids_keymap_done(&entries->pairs[0]);
    ids_keymap_done(&entries->pairs[1]);
    ids_keymap_done(&entries->items[0]);
    ids_keymap_done(&entries->items[1]);
}
