/* cause_structure.c - which ops that came, went or compute something else are one cause. */
#include "lib/base/intern.h"
#include "lib/base/vec.h"
#include "lib/compare/cause_groups.h"
#include "lib/compare/cause_intervals.h"
#include "lib/compare/sums.h"
#include "lib/hlo/scope.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where an op is: in a scope, or in none of the program that is named instead. NULL: neither is known. */
struct place {
    const char *scope;
    int is_scope;
    size_t group; /* that its time goes with; 0: none, else its index + 1 */
};

/* Ops of a scope, or of several, in one account. */
struct group {
    size_t whole;      /* the entry that the others are put into */
    const char *scope; /* "layers/mlp"; of ops without a scope the program; of a dimension NULL */
    int is_scope;      /* it is a scope's, not a program's */
    int is_made;       /* its ops have no place in the program: the compiler made them (a copy) */
    int is_gone;       /* it became part of another one */
    int is_dimension;
    int has_other_types;      /* the program says so of its scope */
    int takes_in;             /* the other ops of its scopes */
    size_t siblings;          /* that it was put together of, with itself ... */
    const char *first, *last; /* ... and by number */
    /* Of the other ops of its scopes, which run at the same moments: */
    double net_ps, gross_ps, own_ps;
};

struct groups {
    struct ids_entries *entries;
    struct place *places; /* of each entry */
    struct group *at;
    size_t count, room;
    struct ids_keymap numbers;  /* of an account and a scope: index + 1 */
    struct ids_keymap balances; /* of the same: how many more ops came than went, as two's complement */
};

static struct ids_cause *cause_of(const struct groups *groups, const struct group *group) {
    return &groups->entries->at[group->whole].cause;
}

static const char *module_of(const struct groups *groups, const struct group *group) {
    return groups->entries->at[group->whole].module;
}

static int is_of_op(const struct ids_entry *entry) {
    return !entry->is_gone && entry->cause.kind == IDS_CAUSE_OP;
}

static int is_asked(const struct ids_entry *entry) {
    return is_of_op(entry) && ids_cause_is_structural(&entry->cause);
}

/* ---- putting together ---- */

/* 2: with a shape that says how; 1: one array of a tuple is another one. */
static int is_reshaped(const struct ids_cause *cause) {
    if (!cause->match || !ids_shapes_are_comparable(cause->match->a->shape, cause->match->b->shape)) return 0;
    return *cause->match->b->shape == '(' ? 1 : 2;
}

/* How near an op is to what a person wrote: the forward pass, then what is of no pass (the weights' update). */
static int nearness(const struct ids_item *item) {
    return ids_is_backward(item->op_name) ? 0 : !strcmp(ids_pass_of(item->op_name), "forward") ? 2 : 1;
}

/* Of the ops of a group one with another shape tells its shapes for all: of the forward pass, which a person wrote,
 * else the one that changed most. */
static int tells_more(const struct ids_cause *cause, const struct ids_cause *whole) {
    if (is_reshaped(cause) != is_reshaped(whole)) return is_reshaped(cause) > is_reshaped(whole);
    if (is_reshaped(cause)) {
        int own = nearness(cause->match->b), others = nearness(whole->match->b);
        if (own != others) return own > others;
    }
    return fabs(cause->largest_ps) > fabs(whole->largest_ps);
}

static void begin(struct ids_cause *cause) {
    cause->added = !cause->match && cause->is_in_b;
    cause->removed = !cause->match && cause->is_in_a;
    cause->changed = cause->match != NULL;
    cause->recomputed *= (long)cause->added - (long)cause->removed;
    cause->largest_ps = cause->change_ps;
    cause->largest = cause->culprit;
}

static void put_into(struct ids_entries *entries, size_t at, size_t part_at, enum ids_cause_kind kind,
                     const char *name) {
    struct ids_cause *whole = &entries->at[at].cause, *part = &entries->at[part_at].cause;
    if (tells_more(part, whole)) {
        whole->largest_ps = part->largest_ps;
        whole->largest = part->largest;
        whole->match = part->match;
        whole->where = part->where;
        whole->source = part->source;
        whole->is_place_before = part->is_place_before;
    }
    whole->kind = kind;
    whole->culprit = name;
    whole->added += part->added;
    whole->removed += part->removed;
    whole->changed += part->changed;
    whole->recomputed += part->recomputed;
    whole->beside += part->beside;
    whole->is_made &= part->is_made;
    whole->is_in_a |= part->is_in_a;
    whole->is_in_b |= part->is_in_b;
    ids_entry_put_into(entries, &entries->at[at], &entries->at[part_at]);
}

int ids_group_shapes(struct ids_entries *entries) {
    struct ids_keymap wholes = {0};
    char text[IDS_SHAPE_CHANGE_TEXT];
    int failed = 0;
    if (!entries->structure->like_count) return 0;
    ids_shape_change_text(&entries->structure->like, text);
    const char *name = ids_report_text(entries->texts, "%s", text);
    for (size_t i = 0; i < entries->count && !failed; i++) {
        if (!is_asked(&entries->at[i])) continue;
        uint64_t *number = ids_keymap_at(&wholes, ids_entry_key(entries->at[i].cause.account, NULL, NULL));
        failed = !number;
        if (failed) break;
        begin(&entries->at[i].cause);
        if (*number)
            put_into(entries, *number - 1, i, IDS_CAUSE_SHAPES, name);
        else
            *number = i + 1;
    }
    ids_keymap_done(&wholes);
    return failed;
}

/* ---- scopes ---- */

static int is_path_end(char c) {
    return !c || c == '/';
}

/* The path that both have in common. */
static const char *around_both(struct ids_report *texts, const char *a, const char *b) {
    size_t length = 0, end = 0;
    for (; a[length] && a[length] == b[length]; length++) {
        if (a[length] == '/') end = length;
    }
    if (is_path_end(a[length]) && is_path_end(b[length])) end = length;
    return ids_report_text(texts, "%.*s", (int)end, a);
}

/* Of a combined collective, which is in several ("jit(f)/(gradients/psum:sync_stats/psum)"), the path that all have in
 * common, else the first. */
static const char *scope_of(struct ids_report *texts, const char *op_name) {
    char scope[IDS_SCOPE_BYTES];
    const char *several = strstr(op_name, "/("), *around = NULL, *first = NULL;
    ids_scope_of(op_name, scope);
    if (!several) return *scope ? ids_report_text(texts, "%s", scope) : NULL;
    for (const char *at = several + 2; *at; at++) {
        int length = (int)strcspn(at, ":)");
        ids_scope_of(ids_report_text(texts, "%.*s/%.*s", (int)(several - op_name), op_name, length, at), scope);
        const char *here = ids_report_text(texts, "%s", scope);
        if (!first) first = here;
        around = around ? around_both(texts, around, here) : here;
        at += length;
        if (*at != ':') break;
    }
    const char *found = around && *around ? around : first;
    return found && *found ? found : NULL;
}

static struct place place_of(struct ids_entries *entries, const struct ids_entry *entry) {
    const char *scope = scope_of(entries->texts, entry->op_name);
    if (scope) return (struct place){.scope = scope, .is_scope = 1};
    size_t length = strcspn(entry->op_name, "/");
    return (struct place){.scope =
                              length ? ids_report_text(entries->texts, "%.*s", (int)length, entry->op_name) : NULL};
}

static uint64_t key_of(const char *account, const char *scope) {
    return ids_entry_key(account, scope, NULL);
}

static struct group *group_at(const struct groups *groups, const char *account, const char *scope) {
    uint64_t number;
    if (!ids_keymap_get(&groups->numbers, key_of(account, scope), &number)) return NULL;
    struct group *group = &groups->at[number - 1];
    return group->is_gone ? NULL : group;
}

/* A new group of that entry alone. */
static struct group *add_group(struct groups *groups, size_t i) {
    struct group *group = IDS_PUSH(groups->at, groups->count, groups->room);
    if (!group) return NULL;
    *group = (struct group){.whole = i};
    begin(&groups->entries->at[i].cause);
    return group;
}

static int gather_scopes(struct groups *groups) {
    struct ids_entries *entries = groups->entries;
    for (size_t i = 0; i < entries->count; i++) {
        const char *scope = groups->places[i].scope;
        if (!scope || !is_asked(&entries->at[i])) continue;
        uint64_t *number = ids_keymap_at(&groups->numbers, key_of(entries->at[i].cause.account, scope));
        if (!number) return -1;
        if (*number && !groups->at[*number - 1].is_dimension) {
            begin(&entries->at[i].cause);
            entries->at[i].cause.is_made = groups->at[*number - 1].is_made;
            put_into(entries, groups->at[*number - 1].whole, i, IDS_CAUSE_SCOPE, scope);
            continue;
        }
        struct group *group = add_group(groups, i);
        if (!group) return -1;
        *number = groups->count;
        group->scope = scope;
        group->is_scope = groups->places[i].is_scope;
        group->is_made = !group->is_scope && !strchr(entries->at[i].op_name, '/');
        cause_of(groups, group)->is_made = group->is_made;
    }
    return 0;
}

static void join(struct groups *groups, struct group *whole, struct group *part, const char *name) {
    put_into(groups->entries, whole->whole, part->whole, IDS_CAUSE_SCOPE, name);
    part->is_gone = 1;
}

/* Cuts the last part of a path off. 0: it had one alone. */
static int cut(char scope[IDS_SCOPE_BYTES]) {
    char *end = strrchr(scope, '/');
    if (end) *end = '\0';
    return end != NULL;
}

static void copy_scope(const char *scope, char ret_copy[IDS_SCOPE_BYTES]) {
    size_t length = strlen(scope);
    if (length >= IDS_SCOPE_BYTES) length = IDS_SCOPE_BYTES - 1;
    memcpy(ret_copy, scope, length);
    ret_copy[length] = '\0';
}

static int is_of_scope(const struct group *group) {
    return group->is_scope && !group->is_gone;
}

/* "layers" and "layers/mlp" are one. */
static void join_nested(struct groups *groups) {
    for (size_t i = 0; i < groups->count; i++) {
        struct group *inner = &groups->at[i], *outer = NULL;
        char scope[IDS_SCOPE_BYTES];
        if (!is_of_scope(inner)) continue;
        copy_scope(inner->scope, scope);
        while (cut(scope)) {
            struct group *around = group_at(groups, cause_of(groups, inner)->account, scope);
            if (around && is_of_scope(around)) outer = around;
        }
        if (outer) join(groups, outer, inner, outer->scope);
    }
}

static int is_one_sided(const struct groups *groups, const struct group *group, int side) {
    const struct ids_cause *cause = cause_of(groups, group);
    if (!is_of_scope(group) || cause->changed) return 0;
    return side ? cause->added && !cause->removed : cause->removed && !cause->added;
}

/* Of each scope around groups of new ops alone the first of these, as its index + 1. */
static int find_fresh(const struct groups *groups, struct ids_keymap *ret_fresh) {
    for (size_t i = 0; i < groups->count; i++) {
        char scope[IDS_SCOPE_BYTES];
        if (!is_one_sided(groups, &groups->at[i], 1)) continue;
        copy_scope(groups->at[i].scope, scope);
        while (cut(scope)) {
            if (ids_keymap_add(ret_fresh, key_of(cause_of(groups, &groups->at[i])->account, scope), i + 1) < 0)
                return -1;
        }
    }
    return 0;
}

/* What went from "attention/softmax" and what came in "attention/flash" are one: "attention". */
static int join_replaced(struct groups *groups) {
    struct ids_keymap fresh_in = {0};
    int failed = find_fresh(groups, &fresh_in);
    for (size_t i = 0; i < groups->count && !failed; i++) {
        struct group *gone = &groups->at[i];
        char scope[IDS_SCOPE_BYTES];
        uint64_t number;
        if (!is_one_sided(groups, gone, 0)) continue;
        copy_scope(gone->scope, scope);
        if (!cut(scope) || !ids_keymap_get(&fresh_in, key_of(cause_of(groups, gone)->account, scope), &number))
            continue;
        struct group *fresh = &groups->at[number - 1];
        if (fresh->is_gone) continue;
        fresh->scope = ids_report_text(groups->entries->texts, "%s", scope);
        join(groups, fresh, gone, fresh->scope);
    }
    ids_keymap_done(&fresh_in);
    return failed;
}

/* ---- dimensions ---- */

/* The scopes that a group is of, in its accounts' words: "layer1, optimizer" or "12 scopes". */
struct named_scopes {
    const char *first, *second;
    size_t count;
    const char *around;  /* the scope around all: "layer_1" of "layer_1/mlp" and "layer_1/norm"; "": there is none */
    const char *program; /* that others are in; NULL: none */
};

static int take_scope(struct groups *groups, struct named_scopes *scopes, size_t i) {
    const char *scope = groups->places[i].scope, *account = groups->entries->at[i].cause.account;
    uint64_t *number = scope ? ids_keymap_at(&groups->numbers, key_of(account, scope)) : NULL;
    if (!scope) return 0;
    if (!number) return -1;
    if (*number == groups->count) return 0;
    *number = groups->count;
    *(scopes->count++ ? &scopes->second : &scopes->first) = scope;
    if (!groups->places[i].is_scope)
        scopes->program = scope;
    else
        scopes->around = scopes->around ? around_both(groups->entries->texts, scopes->around, scope) : scope;
    return 0;
}

static const char *dimension_name(struct groups *groups, const struct named_scopes *scopes,
                                  const struct ids_dimension_change *dimension) {
    struct ids_report *texts = groups->entries->texts;
    const char *change =
        ids_report_text(texts, "%lld \xe2\x86\x92 %lld", (long long)dimension->from, (long long)dimension->to);
    if (!scopes->count) return change;
    if (scopes->count == 1) return ids_report_text(texts, "%s: %s", scopes->first, change);
    if (scopes->count == 2) return ids_report_text(texts, "%s, %s: %s", scopes->first, scopes->second, change);
    if (scopes->around && *scopes->around)
        return ids_report_text(texts, "%s%s%s: %s", scopes->around, scopes->program ? ", " : "",
                               scopes->program ? scopes->program : "", change);
    return ids_report_text(texts, "%s and %zu more scopes: %s", scopes->first, scopes->count - 1, change);
}

static int count_balances(struct groups *groups) {
    for (size_t i = 0; i < groups->entries->count; i++) {
        const struct ids_cause *cause = &groups->entries->at[i].cause;
        if (!groups->places[i].scope || !is_asked(&groups->entries->at[i]) || cause->match) continue;
        uint64_t *balance = ids_keymap_at(&groups->balances, key_of(cause->account, groups->places[i].scope));
        if (!balance) return -1;
        *balance += (uint64_t)cause->is_in_b - (uint64_t)cause->is_in_a;
    }
    return 0;
}

/* Of a scope that has the dimension: what computes something else with the same shape (it reads the other one), and
 * what was replaced one by one. What came beside them is another thing. */
static int is_drawn_in(const struct groups *groups, size_t i) {
    struct ids_shape_change unused;
    const struct ids_match *match = groups->entries->at[i].cause.match;
    uint64_t key, number, balance = 0;
    if (!groups->places[i].scope) return 0;
    key = key_of(groups->entries->at[i].cause.account, groups->places[i].scope);
    if (!ids_keymap_get(&groups->numbers, key, &number) || number != groups->count) return 0;
    if (match) return !ids_shape_change(match->a->shape, match->b->shape, &unused);
    return ids_keymap_get(&groups->balances, key, &balance) && !balance;
}

static int is_of_account(const struct ids_entry *entry, const char *account) {
    return is_asked(entry) && !strcmp(entry->cause.account, account);
}

static int put_dimension(struct groups *groups, const struct ids_dimension_change *dimension, const char *account) {
    struct ids_entries *entries = groups->entries;
    struct named_scopes scopes = {0};
    struct group *group = NULL;
    for (size_t i = 0; i < entries->count; i++) {
        if (!is_of_account(&entries->at[i], account) || !ids_match_has_dimension(entries->at[i].cause.match, dimension))
            continue;
        if (!group) {
            group = add_group(groups, i);
            if (!group) return -1;
            group->is_dimension = 1;
            cause_of(groups, group)->kind = IDS_CAUSE_DIMENSION;
        } else {
            begin(&entries->at[i].cause);
            put_into(entries, group->whole, i, IDS_CAUSE_DIMENSION, NULL);
        }
        if (take_scope(groups, &scopes, i)) return -1;
    }
    if (!group) return 0;
    for (size_t i = 0; i < entries->count; i++) {
        if (i == group->whole || !is_of_account(&entries->at[i], account) || !is_drawn_in(groups, i)) continue;
        begin(&entries->at[i].cause);
        put_into(entries, group->whole, i, IDS_CAUSE_DIMENSION, NULL);
    }
    cause_of(groups, group)->culprit = dimension_name(groups, &scopes, dimension);
    return 0;
}

static int gather_dimensions(struct groups *groups) {
    static const enum ids_account accounts[] = {IDS_WORK_COMPUTE, IDS_COMM_TRANSFER};
    const struct ids_structure *structure = groups->entries->structure;
    for (size_t i = 0; i < structure->dimension_count; i++) {
        for (size_t a = 0; a < sizeof accounts / sizeof *accounts; a++) {
            if (put_dimension(groups, &structure->dimensions[i], ids_account_id(accounts[a]))) return -1;
        }
    }
    return 0;
}

/* ---- what runs beside ---- */

/* What a group did otherwise is so much of the time of its scopes, that it may have moved the time of the others. */
#define OF_SCOPE 0.05

/* The group of the scope that an op is in, or of the nearest one around it, as its index + 1; 0: there is none. */
static size_t group_around(struct groups *groups, size_t i) {
    const char *account = groups->entries->at[i].cause.account;
    char scope[IDS_SCOPE_BYTES];
    if (!groups->places[i].scope) return 0;
    copy_scope(groups->places[i].scope, scope);
    do {
        const struct group *group = group_at(groups, account, scope);
        if (group) return (size_t)(group - groups->at) + 1;
    } while (groups->places[i].is_scope && cut(scope));
    return 0;
}

static int is_beside(const struct ids_entry *entry) {
    return is_of_op(entry) && entry->cause.match && !ids_cause_is_structural(&entry->cause) &&
           ids_entry_is_shared(entry);
}

/* What the others in the scopes gave each other, or took: it cancels, or it is less than what is new there. Where the
 * machine's load is another one, that made what they take. */
static int may_take_in(const struct groups *groups, const struct group *group) {
    const struct ids_entry *whole = &groups->entries->at[group->whole];
    double own = fmax(whole->own_ps[0], whole->own_ps[1]), net = fabs(group->net_ps);
    if (group->is_gone || groups->entries->load != 1 || own < OF_SCOPE * (own + group->own_ps)) return 0;
    return net < group->gross_ps / 2 || net <= own;
}

/* With the others a change is no larger than without them, or it is sure. */
static int is_plausible(const struct groups *groups, size_t number, struct ids_entry *together) {
    const struct ids_entries *entries = groups->entries;
    const struct group *group = &groups->at[number - 1];
    double own = cause_of(groups, group)->change_ps, change = own + group->net_ps;
    if (fabs(change) <= fabs(own)) return 1;
    ids_entry_empty(entries, together);
    together->cause.kind = IDS_CAUSE_SCOPE;
    ids_entry_add_times(entries, together, &entries->at[group->whole]);
    for (size_t i = 0; i < entries->count; i++) {
        if (groups->places[i].group == number) ids_entry_add_times(entries, together, &entries->at[i]);
    }
    together->cause.change_ps = change;
    ids_entry_find_interval(entries, together);
    return !together->cause.interval.known || ids_interval_excludes_zero(&together->cause.interval);
}

static void take_in(struct groups *groups, struct group *group, struct ids_entry *entry) {
    struct ids_cause *whole = cause_of(groups, group);
    if (whole->kind == IDS_CAUSE_OP) {
        whole->kind = IDS_CAUSE_SCOPE;
        whole->culprit = group->scope;
    }
    whole->beside++;
    ids_entry_put_into(groups->entries, &groups->entries->at[group->whole], entry);
}

static int join_beside(struct groups *groups) {
    struct ids_entries *entries = groups->entries;
    size_t scratch = entries->count;
    if (!ids_entries_add(entries) || ids_entries_find_machine_spread(entries)) return -1;
    entries->at[scratch].is_gone = 1;
    entries->at[scratch].cause.account = ids_account_id(IDS_WORK_COMPUTE);
    for (size_t i = 0; i < scratch; i++) {
        const struct ids_entry *entry = &entries->at[i];
        size_t number = is_beside(entry) ? group_around(groups, i) : 0;
        groups->places[i].group = number;
        if (!number) continue;
        struct group *group = &groups->at[number - 1];
        group->net_ps += entry->cause.change_ps;
        group->gross_ps += fabs(entry->cause.change_ps);
        group->own_ps += fmax(entry->own_ps[0], entry->own_ps[1]);
    }
    for (size_t i = 0; i < groups->count; i++)
        groups->at[i].takes_in =
            may_take_in(groups, &groups->at[i]) && is_plausible(groups, i + 1, &entries->at[scratch]);
    for (size_t i = 0; i < scratch; i++) {
        struct group *group = groups->places[i].group ? &groups->at[groups->places[i].group - 1] : NULL;
        if (group && group->takes_in) take_in(groups, group, &entries->at[i]);
    }
    return 0;
}

/* ---- siblings ---- */

/* By number: layer2 before layer12. */
static int comes_before(const char *a, const char *b) {
    size_t left = strlen(a), right = strlen(b);
    return left != right ? left < right : strcmp(a, b) < 0;
}

/* Of a group whose scope has a number: the scope without its numbers, and whether ops came or went. How many differs
 * from layer to layer, because the first and the last are fused otherwise; but a whole layer that is new is not the
 * same as an op that is new in another one. */
static uint64_t likeness(const struct groups *groups, const struct group *group) {
    const struct ids_cause *cause = cause_of(groups, group);
    char name[IDS_SCOPE_BYTES];
    size_t length = 0;
    for (const char *at = group->scope; *at && length < sizeof name - 1;) {
        size_t digits = strspn(at, "0123456789");
        name[length++] = digits ? '#' : *at;
        at += digits ? digits : 1;
    }
    name[length] = '\0';
    int is_one_sided = cause->added + cause->changed == 0 || cause->removed + cause->changed == 0;
    uint64_t counts = is_one_sided ? ids_key_of(cause->added, cause->removed) : 0;
    return ids_key_of(ids_key_of(key_of(cause->account, name), counts),
                      ids_key_of(cause->added > 0, cause->removed > 0));
}

static void name_siblings(struct groups *groups) {
    for (size_t i = 0; i < groups->count; i++) {
        const struct group *group = &groups->at[i];
        if (group->is_gone || group->siblings < 2) continue;
        cause_of(groups, group)->culprit =
            group->siblings == 2 ? ids_report_text(groups->entries->texts, "%s and %s", group->first, group->last)
                                 : ids_report_text(groups->entries->texts, "%s to %s (%zu scopes)", group->first,
                                                   group->last, group->siblings);
    }
}

/* The same in each of several layers is one thing. What each did is asked before any is put to another. */
static int fold_siblings(struct groups *groups) {
    struct ids_keymap firsts = {0};
    int failed = 0;
    uint64_t *keys = calloc(groups->count + 1, sizeof *keys);
    if (!keys) return -1;
    for (size_t i = 0; i < groups->count; i++) {
        const struct group *group = &groups->at[i];
        if (is_of_scope(group) && strpbrk(group->scope, "0123456789")) keys[i] = likeness(groups, group);
    }
    for (size_t i = 0; i < groups->count && !failed; i++) {
        struct group *group = &groups->at[i];
        uint64_t *number = keys[i] ? ids_keymap_at(&firsts, keys[i]) : NULL;
        failed = keys[i] && !number;
        if (!number) continue;
        struct group *whole = *number ? &groups->at[*number - 1] : group;
        if (!*number || comes_before(group->scope, whole->first)) whole->first = group->scope;
        if (!*number || comes_before(whole->last, group->scope)) whole->last = group->scope;
        whole->siblings++;
        if (*number) join(groups, whole, group, NULL);
        if (!*number) *number = i + 1;
    }
    name_siblings(groups);
    free(keys);
    ids_keymap_done(&firsts);
    return failed;
}

/* ---- what the compiler made ---- */

static int has_come_or_gone(const struct groups *groups, const struct group *group) {
    return cause_of(groups, group)->added + cause_of(groups, group)->removed > 0;
}

/* Which groups of a program are asked whether they are the only one: all, those where ops came or went, those of scopes
 * whose types are said to be others. */
enum asked { ALL, COME_OR_GONE, OF_OTHER_TYPES };

static void find_other_types(struct groups *groups) {
    const struct ids_structure *structure = groups->entries->structure;
    for (size_t i = 0; i < structure->count; i++) {
        const struct ids_structure_row *row = &structure->at[i];
        if (strcmp(row->what, "element_type") != 0 || !row->where) continue;
        for (size_t g = 0; g < groups->count; g++) {
            struct group *group = &groups->at[g];
            if (group->is_scope && !strcmp(row->where, group->scope)) group->has_other_types = 1;
        }
    }
}

/* The one other group of the same program; NULL: there are several. */
static struct group *only_other(struct groups *groups, const struct group *made, enum asked asked) {
    struct group *only = NULL;
    for (size_t i = 0; i < groups->count; i++) {
        struct group *other = &groups->at[i];
        if (other->is_gone || other->is_made) continue;
        if (asked == COME_OR_GONE && !has_come_or_gone(groups, other)) continue;
        if (asked == OF_OTHER_TYPES && !other->has_other_types) continue;
        if (strcmp(cause_of(groups, made)->account, cause_of(groups, other)->account) != 0) continue;
        if (strcmp(module_of(groups, made), module_of(groups, other)) != 0) continue;
        if (only) return NULL;
        only = other;
    }
    return only;
}

/* Copies, conversions and the like, which the compiler made for the one thing that the program does otherwise. Where
 * ops only read other operands or layouts, that is a consequence too. */
static void join_made(struct groups *groups) {
    static const enum asked questions[] = {ALL, COME_OR_GONE, OF_OTHER_TYPES};
    find_other_types(groups);
    for (size_t i = 0; i < groups->count; i++) {
        struct group *made = &groups->at[i], *only = NULL;
        if (!made->is_made || made->is_gone) continue;
        for (size_t q = 0; q < sizeof questions / sizeof *questions && !only; q++)
            only = only_other(groups, made, questions[q]);
        if (!only) continue;
        struct ids_cause *cause = cause_of(groups, only);
        int is_one = cause->kind == IDS_CAUSE_OP;
        put_into(groups->entries, only->whole, made->whole, is_one ? IDS_CAUSE_SCOPE : cause->kind,
                 is_one ? only->scope : cause->culprit);
        made->is_gone = 1;
    }
}

static uint64_t program_key(const struct groups *groups, const struct group *group) {
    return ids_entry_key(cause_of(groups, group)->account, module_of(groups, group), NULL);
}

static int is_other_operands(const struct groups *groups, const struct group *group) {
    const struct ids_cause *cause = cause_of(groups, group);
    if (group->is_gone || group->is_dimension || has_come_or_gone(groups, group) || is_reshaped(cause)) return 0;
    return cause->match && ids_is_as_often(cause->match->a->rate, cause->match->b->rate);
}

/* Where ops of the program came or went, those that only compute with other operands are a consequence. */
static int find_consequences(struct groups *groups) {
    struct ids_keymap programs = {0}; /* in which ops came or went */
    int failed = 0;
    for (size_t i = 0; i < groups->count && !failed; i++) {
        const struct group *group = &groups->at[i];
        if (!group->is_gone && has_come_or_gone(groups, group))
            failed = ids_keymap_add(&programs, program_key(groups, group), 1) < 0;
    }
    for (size_t i = 0; i < groups->count && !failed; i++) {
        uint64_t unused;
        if (is_other_operands(groups, &groups->at[i]))
            cause_of(groups, &groups->at[i])->is_consequence =
                ids_keymap_get(&programs, program_key(groups, &groups->at[i]), &unused);
    }
    ids_keymap_done(&programs);
    return failed;
}

int ids_group_structure(struct ids_entries *entries) {
    struct groups groups = {.entries = entries, .places = calloc(entries->count + 2, sizeof *groups.places)};
    int failed = !groups.places;
    for (size_t i = 0; i < entries->count && !failed; i++) {
        if (is_of_op(&entries->at[i])) groups.places[i] = place_of(entries, &entries->at[i]);
    }
    if (!failed) failed = count_balances(&groups) || gather_dimensions(&groups) || gather_scopes(&groups);
    if (!failed) {
        join_nested(&groups);
        failed = join_replaced(&groups);
    }
    if (!failed) failed = join_beside(&groups) || fold_siblings(&groups);
    if (!failed) {
        join_made(&groups);
        failed = find_consequences(&groups);
    }
    free(groups.places);
    free(groups.at);
    ids_keymap_done(&groups.numbers);
    ids_keymap_done(&groups.balances);
    return failed;
}
