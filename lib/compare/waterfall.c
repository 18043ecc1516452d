#include "lib/compare/waterfall.h"

#include "lib/base/intern.h"
#include "lib/base/keymap.h"
#include "lib/base/vec.h"
#include "lib/compare/ledger_rows.h"
#include "lib/hlo/scope.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A cause is told alone where it is a fiftieth of the change, or a thousandth of the step. */
enum { OF_CHANGE = 50, OF_STEP = 1000 };

const char *ids_cause_kind_name(enum ids_cause_kind kind) {
    static const char *const names[] = {"culprit", "op", "scope", "others", "account"};
    return names[kind];
}

double ids_explained_share(const struct ids_waterfall *waterfall) {
    double change = waterfall->after_ps - waterfall->before_ps;
    if (change == 0) return NAN;
    double share = 1 - fabs(waterfall->unexplained_ps / change);
    return share > 0 ? share : 0;
}

/* An entry of the ledgers of either side, or several put together. */
struct entry {
    struct ids_cause cause;
    double *by_run[2];   /* the time of each run of a side */
    double variance[2];  /* of the mean of a side, from the deviations over steps; NAN: not known */
    const char *op_name; /* of work: the path of scopes; "" */
    int is_gone;         /* it became part of another one */
};

struct making {
    const struct ids_side *sides[2];
    const struct ids_matches *ops;
    struct ids_report *texts;
    struct entry *at;
    size_t count, room;
    struct ids_keymap numbers;  /* of a name in an account: index + 1 */
    struct ids_keymap pairs[2]; /* of an op of a side: its match + 1 */
};

static uint64_t hash_of(const char *text) {
    return text ? ids_hash_bytes(text, strlen(text)) : 0;
}

static uint64_t key_of(const char *account, const char *name, const char *where) {
    return ids_key_of(ids_key_of(hash_of(account), hash_of(name)), where && *where ? hash_of(where) : 0);
}

/* Accounts whose culprits are ops, which are told apart by where they are in the program. Functions are not: their line
 * moves from version to version. */
static int has_ops(const char *account) {
    return !strcmp(account, ids_account_id(IDS_WORK_COMPUTE)) || !strcmp(account, ids_account_id(IDS_COMM_TRANSFER));
}

static int is_unknown(const char *account) {
    return !strcmp(account, ids_account_id(IDS_HOST_UNKNOWN)) || !strcmp(account, ids_account_id(IDS_DEVICE_UNKNOWN));
}

/* ---- gathering ---- */

/* What a ledger says of where an op is: its path in the program, else the program. */
static const char *where_of(const struct ids_item *op) {
    return *op->op_name ? op->op_name : *op->module ? op->module : NULL;
}

static int pair_ops(struct making *making) {
    for (size_t i = 0; i < making->ops->count; i++) {
        const struct ids_match *match = &making->ops->at[i];
        const struct ids_item *items[] = {match->a, match->b};
        for (int side = 0; side < 2 && match->a && match->b; side++) {
            uint64_t key = key_of(NULL, items[side]->name, where_of(items[side]));
            if (ids_keymap_add(&making->pairs[side], key, i + 1) < 0) return -1;
        }
    }
    return 0;
}

static const struct ids_match *match_of(const struct making *making, int side, const struct ids_ledger_row *row) {
    uint64_t number;
    int is_there = ids_keymap_get(&making->pairs[side], key_of(NULL, row->culprit, row->where), &number);
    return is_there ? &making->ops->at[number - 1] : NULL;
}

/* Side b's words for an op of side a. */
static void call_as_b(const struct making *making, struct ids_ledger_row *row) {
    const struct ids_match *match = match_of(making, 0, row);
    if (!match) return;
    row->culprit = match->b->name;
    row->where = where_of(match->b);
}

static struct entry *add_entry(struct making *making) {
    struct entry *entry = IDS_PUSH(making->at, making->count, making->room);
    if (!entry) return NULL;
    *entry = (struct entry){.op_name = "", .cause = {.count = 1}};
    for (int side = 0; side < 2; side++) {
        entry->by_run[side] = calloc(making->sides[side]->run_count, sizeof *entry->by_run[side]);
        if (!entry->by_run[side]) return NULL;
    }
    return entry;
}

static struct entry *entry_of(struct making *making, const struct ids_ledger_row *row) {
    int is_op = has_ops(row->account) && row->culprit;
    uint64_t *number = ids_keymap_at(&making->numbers, key_of(row->account, row->culprit, is_op ? row->where : NULL));
    if (!number) return NULL;
    if (*number) return &making->at[*number - 1];
    *number = making->count + 1;
    struct entry *entry = add_entry(making);
    if (!entry) return NULL;
    entry->cause.kind = is_op ? IDS_CAUSE_OP : IDS_CAUSE_CULPRIT;
    entry->cause.account = row->account;
    entry->cause.culprit = row->culprit;
    entry->cause.where = row->where;
    if (is_op) entry->cause.match = match_of(making, 1, row);
    if (is_op && row->where) entry->op_name = row->where;
    return entry;
}

static int add_run(struct making *making, int side, size_t r) {
    const struct ids_side *of = making->sides[side];
    const struct ids_side_run *run = &of->runs[r];
    double runs = (double)of->run_count, steps = run->steps ? (double)run->steps->row_count : NAN;
    struct ids_ledger_row row;
    for (size_t at = 0; ids_ledger_next(run, &at, &row);) {
        if (!side && has_ops(row.account) && row.culprit) call_as_b(making, &row);
        struct entry *entry = entry_of(making, &row);
        if (!entry) return -1;
        *(side ? &entry->cause.is_in_b : &entry->cause.is_in_a) = 1;
        *(side ? &entry->cause.b_ps : &entry->cause.a_ps) += row.per_step_ps / runs;
        entry->by_run[side][r] += row.per_step_ps;
        entry->variance[side] += row.deviation_ps * row.deviation_ps / steps / (runs * runs);
    }
    return 0;
}

static int gather(struct making *making) {
    int failed = pair_ops(making);
    for (int side = 1; side >= 0 && !failed; side--) {
        for (size_t r = 0; r < making->sides[side]->run_count && !failed; r++) failed = add_run(making, side, r);
    }
    return failed;
}

/* ---- putting together ---- */

static void put_into(const struct making *making, struct entry *whole, struct entry *part) {
    whole->cause.a_ps += part->cause.a_ps;
    whole->cause.b_ps += part->cause.b_ps;
    whole->cause.count += part->cause.count;
    for (int side = 0; side < 2; side++) {
        double deviation =
            sqrt(whole->variance[side]) + sqrt(part->variance[side]); /* at most, if they move together */
        whole->variance[side] = deviation * deviation;
        for (size_t r = 0; r < making->sides[side]->run_count; r++) whole->by_run[side][r] += part->by_run[side][r];
    }
    part->is_gone = 1;
}

/* An op that both sides run, and that on one of them others hide, neither came nor went. */
static int is_on_one_side(const struct entry *entry) {
    return entry->cause.kind == IDS_CAUSE_OP && !entry->cause.match && entry->cause.is_in_a != entry->cause.is_in_b;
}

/* "layer1", or the program where no scope is named; NULL: neither is known. */
static const char *scope_of(struct making *making, const struct entry *entry) {
    char scope[IDS_SCOPE_BYTES];
    ids_scope_of(entry->op_name, scope);
    if (*scope) return ids_report_text(making->texts, "%s", scope);
    size_t length = strcspn(entry->op_name, "/");
    return length ? ids_report_text(making->texts, "%.*s", (int)length, entry->op_name) : NULL;
}

/* Ops of one scope that came and went are one cause: an instruction that became three is no four causes. */
static int join_scopes(struct making *making) {
    struct ids_keymap wholes = {0}; /* of account and scope: index + 1 */
    int failed = 0;
    for (size_t i = 0; i < making->count && !failed; i++) {
        struct entry *entry = &making->at[i];
        const char *scope = is_on_one_side(entry) ? scope_of(making, entry) : NULL;
        if (!scope) continue;
        entry->cause.added = (size_t)entry->cause.is_in_b;
        entry->cause.removed = (size_t)entry->cause.is_in_a;
        uint64_t *number = ids_keymap_at(&wholes, key_of(entry->cause.account, scope, NULL));
        if (!number) {
            failed = 1;
        } else if (!*number) {
            *number = i + 1;
        } else {
            struct entry *whole = &making->at[*number - 1];
            whole->cause.kind = IDS_CAUSE_SCOPE;
            whole->cause.culprit = scope;
            whole->cause.where = NULL;
            whole->cause.added += entry->cause.added;
            whole->cause.removed += entry->cause.removed;
            whole->cause.is_in_a |= entry->cause.is_in_a;
            whole->cause.is_in_b |= entry->cause.is_in_b;
            put_into(making, whole, entry);
        }
    }
    ids_keymap_done(&wholes);
    return failed;
}

static double change_of(const struct ids_cause *cause) {
    return cause->b_ps - cause->a_ps;
}

/* What is too small to be told alone: in each account one cause. */
static int join_small(struct making *making, double least_ps) {
    struct ids_keymap wholes = {0};
    size_t count = making->count;
    int failed = 0;
    for (size_t i = 0; i < count && !failed; i++) {
        struct entry *entry = &making->at[i];
        if (entry->is_gone || is_unknown(entry->cause.account) || fabs(change_of(&entry->cause)) >= least_ps) continue;
        uint64_t *number = ids_keymap_at(&wholes, key_of(entry->cause.account, NULL, NULL));
        if (!number) {
            failed = 1;
        } else if (!*number) {
            *number = i + 1;
        } else {
            struct entry *whole = &making->at[*number - 1];
            whole->cause.kind = IDS_CAUSE_OTHERS;
            whole->cause.culprit = whole->cause.where = NULL;
            whole->cause.match = NULL;
            put_into(making, whole, entry);
        }
    }
    ids_keymap_done(&wholes);
    return failed;
}

/* ---- intervals ---- */

static double count_steps(const struct ids_side *side) {
    double steps = 0;
    for (size_t r = 0; r < side->run_count; r++)
        steps += side->runs[r].steps ? (double)side->runs[r].steps->row_count : NAN;
    return steps;
}

/* Welch's, from the deviations that the ledgers tell. */
static struct ids_interval over_steps(const struct making *making, const struct entry *entry) {
    struct ids_interval interval = {0};
    double change = change_of(&entry->cause), variance = 0, below = 0;
    for (int side = 0; side < 2; side++) {
        double own = entry->variance[side], freedom = count_steps(making->sides[side]) - 1;
        if (isnan(own) || !(freedom >= IDS_SAMPLE_LEAST - 1)) return interval;
        variance += own;
        below += own * own / freedom;
    }
    double width =
        variance > 0 ? sqrt(variance) * ids_student_quantile(0.5 + IDS_CONFIDENCE / 2, variance * variance / below) : 0;
    interval.known = 1;
    interval.low = change - width;
    interval.high = change + width;
    interval.typical_a = entry->cause.a_ps;
    interval.typical_b = entry->cause.b_ps;
    return interval;
}

static struct ids_interval over_runs(const struct making *making, const struct entry *entry) {
    return ids_interval_of((struct ids_sample){entry->by_run[0], making->sides[0]->run_count, 0},
                           (struct ids_sample){entry->by_run[1], making->sides[1]->run_count, 0}, IDS_CONFIDENCE);
}

/* ---- all of it ---- */

static int largest_first(const void *a, const void *b) {
    const struct ids_cause *left = a, *right = b;
    double l = fabs(change_of(left)), r = fabs(change_of(right));
    if (l != r) return l < r ? 1 : -1;
    int order = strcmp(left->account, right->account);
    return order ? order : strcmp(left->culprit ? left->culprit : "", right->culprit ? right->culprit : "");
}

/* Of accounts alone, where a side's ledger is of steps and the comparison is not. */
static int take_accounts(struct ids_waterfall *waterfall, const struct ids_parts *parts) {
    for (size_t i = 0; i < parts->count; i++) {
        const struct ids_part *part = &parts->at[i];
        if (is_unknown(part->title) || part->a_ps == part->b_ps) continue;
        struct ids_cause *cause = IDS_PUSH(waterfall->at, waterfall->count, waterfall->room);
        if (!cause) return -1;
        *cause = (struct ids_cause){.kind = IDS_CAUSE_ACCOUNT,
                                    .account = part->title,
                                    .is_in_a = part->a_ps > 0,
                                    .is_in_b = part->b_ps > 0,
                                    .count = 1,
                                    .a_ps = (double)part->a_ps,
                                    .b_ps = (double)part->b_ps,
                                    .interval = part->interval};
    }
    return 0;
}

static int take_entries(struct making *making, struct ids_waterfall *waterfall) {
    double least = fabs(waterfall->after_ps - waterfall->before_ps) / OF_CHANGE;
    if (waterfall->before_ps / OF_STEP > least) least = waterfall->before_ps / OF_STEP;
    if (gather(making) || join_scopes(making) || join_small(making, least)) return -1;
    for (size_t i = 0; i < making->count; i++) {
        const struct entry *entry = &making->at[i];
        double change = change_of(&entry->cause);
        if (entry->is_gone) continue;
        if (is_unknown(entry->cause.account)) {
            waterfall->unknown_ps += change;
            continue;
        }
        if (fabs(change) < least) continue;
        struct ids_cause *cause = IDS_PUSH(waterfall->at, waterfall->count, waterfall->room);
        if (!cause) return -1;
        *cause = entry->cause;
        cause->interval = making->sides[0]->by_run ? over_runs(making, entry) : over_steps(making, entry);
        if (cause->interval.out_of_memory) return -1;
    }
    return 0;
}

static int are_comparable(const struct ids_side *side) {
    for (size_t r = 0; r < side->run_count; r++) {
        if (!ids_ledger_is_comparable(side, &side->runs[r])) return 0;
        if (!ids_report_find_table(side->runs[r].report, "ledger")) return 0;
    }
    return 1;
}

static void making_done(struct making *making) {
    for (size_t i = 0; i < making->count; i++) {
        free(making->at[i].by_run[0]);
        free(making->at[i].by_run[1]);
    }
    free(making->at);
    ids_keymap_done(&making->numbers);
    ids_keymap_done(&making->pairs[0]);
    ids_keymap_done(&making->pairs[1]);
}

int ids_waterfall_make(const struct ids_side *a, const struct ids_side *b, const struct ids_parts *parts,
                       const struct ids_matches *ops, struct ids_report *texts, struct ids_waterfall *ret_waterfall,
                       struct ids_error *err) {
    struct ids_waterfall *waterfall = ret_waterfall;
    struct making making = {.sides = {a, b}, .ops = ops, .texts = texts};
    *waterfall = (struct ids_waterfall){.before_ps = (double)parts->whole_a_ps, .after_ps = (double)parts->whole_b_ps};
    int failed =
        are_comparable(a) && are_comparable(b) ? take_entries(&making, waterfall) : take_accounts(waterfall, parts);
    making_done(&making);
    if (failed) {
        ids_waterfall_done(waterfall);
        return ids_no_memory(err);
    }
    if (waterfall->count) qsort(waterfall->at, waterfall->count, sizeof *waterfall->at, largest_first);
    waterfall->unexplained_ps = waterfall->after_ps - waterfall->before_ps;
    for (size_t i = 0; i < waterfall->count; i++) waterfall->unexplained_ps -= change_of(&waterfall->at[i]);
    return 0;
}

void ids_waterfall_done(struct ids_waterfall *waterfall) {
    free(waterfall->at);
    *waterfall = (struct ids_waterfall){0};
}
