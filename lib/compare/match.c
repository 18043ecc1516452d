#include "lib/compare/match.h"

#include "lib/base/intern.h"
#include "lib/base/keymap.h"
#include "lib/base/vec.h"
#include "lib/compare/program_names.h"
#include "lib/compare/shrinkage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *ids_match_by_name(enum ids_match_by by) {
    static const char *const names[] = {"", "fingerprint", "shape", "place", "name"};
    return names[by];
}

const char *ids_match_class_name(enum ids_match_class class) {
    static const char *const names[] = {"same", "slower", "faster", "added", "removed", "unsure"};
    return names[class];
}

/* What two items must have in common. */
enum { MODULE = 1, FINGERPRINT = 2, BASE = 4, SHAPE = 8, PLACE = 16, NAME = 32, CATEGORY = 64, LINE = 128 };

/* Items that a pass leaves aside. */
enum { WITH_FINGERPRINT = 1, WITH_PLACE = 2, SHARED_MODULE = 4 };

struct pass {
    enum ids_match_by by;
    unsigned common;
    unsigned aside; /* WITH_...: only where both sides know it of their items; SHARED_MODULE: of modules that both sides
                     * have */
};

static const struct pass passes[] = {
    {IDS_BY_FINGERPRINT, MODULE | FINGERPRINT | PLACE | LINE | NAME, 0},
    {IDS_BY_FINGERPRINT, MODULE | FINGERPRINT | BASE | PLACE | LINE, 0},
    {IDS_BY_FINGERPRINT, MODULE | FINGERPRINT | PLACE | NAME, 0},
    {IDS_BY_FINGERPRINT, MODULE | FINGERPRINT | BASE | PLACE, 0},
    {IDS_BY_FINGERPRINT, MODULE | FINGERPRINT | BASE | NAME, 0},
    {IDS_BY_FINGERPRINT, MODULE | FINGERPRINT | BASE, 0},
    {IDS_BY_FINGERPRINT, MODULE | FINGERPRINT, 0},
    {IDS_BY_FINGERPRINT, FINGERPRINT | PLACE, SHARED_MODULE},
    {IDS_BY_FINGERPRINT, FINGERPRINT | NAME, SHARED_MODULE},
    {IDS_BY_FINGERPRINT, FINGERPRINT | BASE, SHARED_MODULE},
    {IDS_BY_SHAPE, MODULE | BASE | SHAPE | PLACE | LINE | NAME | CATEGORY, 0},
    {IDS_BY_SHAPE, MODULE | BASE | SHAPE | PLACE | LINE | CATEGORY, 0},
    {IDS_BY_SHAPE, MODULE | BASE | SHAPE | PLACE | NAME | CATEGORY, 0},
    {IDS_BY_SHAPE, MODULE | BASE | SHAPE | PLACE | CATEGORY, 0},
    {IDS_BY_SHAPE, MODULE | BASE | SHAPE | NAME | CATEGORY, WITH_FINGERPRINT},
    {IDS_BY_SHAPE, MODULE | BASE | SHAPE | CATEGORY, WITH_FINGERPRINT},
    {IDS_BY_PLACE, MODULE | PLACE | LINE | CATEGORY | NAME, 0},
    {IDS_BY_PLACE, MODULE | PLACE | LINE | CATEGORY, 0},
    {IDS_BY_PLACE, MODULE | PLACE | CATEGORY | NAME, 0},
    {IDS_BY_PLACE, MODULE | PLACE | CATEGORY, 0},
    {IDS_BY_NAME, MODULE | NAME, WITH_PLACE | WITH_FINGERPRINT},
};

/* The first pass that goes by more than fingerprints. Before it, they have told which programs were renamed. */
enum { FIRST_BY_SHAPE = 10 };

struct matching {
    const struct ids_items *items[2];
    uint8_t *matched[2];
    int know[2][2]; /* [side][0]: fingerprints, [1]: places in the program */
    struct ids_keymap modules[2];
    struct ids_matches *matches;
};

static uint64_t hash(uint64_t key, const char *text) {
    return ids_key_of(key, ids_hash_bytes(text, strlen(text)));
}

/* The kernel library's names have no number; the base is their whole name then. */
static uint64_t base_hash(uint64_t key, const struct ids_item *item) {
    return hash(key, item->base);
}

static int is_aside(const struct matching *matching, const struct pass *pass, int side, const struct ids_item *item) {
    const int(*know)[2] = matching->know;
    uint64_t unused;
    if (pass->aside & WITH_FINGERPRINT && *item->fingerprint && know[0][0] && know[1][0]) return 1;
    if (pass->aside & WITH_PLACE && *item->op_name && know[0][1] && know[1][1]) return 1;
    if (!(pass->aside & SHARED_MODULE)) return 0;
    return *item->module && ids_keymap_get(&matching->modules[!side], hash(1, item->module), &unused);
}

/* Without the jitted function in front, which is the program's name: "layer1/dot_general" of
 * "jit(train_step)/layer1/dot_general". */
static const char *place_of(const char *op_name) {
    size_t length = strcspn(op_name, "/");
    int is_function = !strncmp(op_name, "jit(", 4) || !strncmp(op_name, "pjit(", 5) || !strncmp(op_name, "pmap(", 5);
    return is_function && op_name[length] ? op_name + length + 1 : op_name;
}

/* 0: the item lacks what the pass goes by, or is left aside. */
static uint64_t key_of(const struct matching *matching, const struct pass *pass, int side,
                       const struct ids_item *item) {
    uint64_t key = 1;
    if ((pass->common & FINGERPRINT && !*item->fingerprint) || (pass->common & SHAPE && !*item->shape) ||
        (pass->common & PLACE && !*item->op_name) || (pass->common & LINE && !item->line))
        return 0;
    if (is_aside(matching, pass, side, item)) return 0;
    if (pass->common & MODULE)
        key = hash(key, side ? item->module : ids_matches_program_in_b(matching->matches, item->module));
    if (pass->common & FINGERPRINT) key = hash(key, item->fingerprint);
    if (pass->common & BASE) key = base_hash(key, item);
    if (pass->common & SHAPE) key = hash(key, item->shape);
    if (pass->common & PLACE) key = hash(key, place_of(item->path));
    if (pass->common & LINE) key = ids_key_of(key, item->line);
    if (pass->common & NAME) key = hash(key, item->name);
    if (pass->common & CATEGORY) key = hash(key, item->category);
    return key;
}

struct candidate {
    uint64_t key;
    uint32_t side, index;
};

static int by_key(const void *a, const void *b) {
    const struct candidate *left = a, *right = b;
    if (left->key != right->key) return left->key < right->key ? -1 : 1;
    if (left->side != right->side) return left->side < right->side ? -1 : 1;
    return (left->index > right->index) - (left->index < right->index);
}

static int add(struct matching *matching, const struct ids_item *a, const struct ids_item *b, enum ids_match_by by) {
    struct ids_match *match = IDS_PUSH(matching->matches->at, matching->matches->count, matching->matches->room);
    if (!match) return -1;
    *match = (struct ids_match){.a = a, .b = b, .by = by};
    match->change_ps = (b ? b->time_ps : 0) - (a ? a->time_ps : 0);
    return 0;
}

/* Those of one key: the first of one side with the first of the other, and so on. */
static int pair(struct matching *matching, const struct pass *pass, const struct candidate *at, size_t count) {
    size_t left = 0, right = 0;
    while (right < count && !at[right].side) right++;
    for (size_t border = right; left < border && right < count; left++, right++) {
        const struct ids_item *a = &matching->items[0]->at[at[left].index];
        const struct ids_item *b = &matching->items[1]->at[at[right].index];
        if (add(matching, a, b, pass->by)) return -1;
        matching->matched[0][at[left].index] = matching->matched[1][at[right].index] = 1;
    }
    return 0;
}

static int run_pass(struct matching *matching, const struct pass *pass, struct candidate *candidates) {
    size_t count = 0;
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < matching->items[side]->count; i++) {
            uint64_t key = matching->matched[side][i] ? 0 : key_of(matching, pass, side, &matching->items[side]->at[i]);
            if (key) candidates[count++] = (struct candidate){key, (uint32_t)side, (uint32_t)i};
        }
    }
    if (count) qsort(candidates, count, sizeof *candidates, by_key);
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from; to < count && candidates[to].key == candidates[from].key;) to++;
        if (pair(matching, pass, candidates + from, to - from)) return -1;
    }
    return 0;
}

/* ---- renamed programs ---- */

const char *ids_matches_program_in_b(const struct ids_matches *matches, const char *module) {
    for (size_t i = 0; i < matches->renamed_count; i++) {
        if (!strcmp(matches->renamed[i].a, module)) return matches->renamed[i].b;
    }
    return module;
}

static int is_called_so(const struct matching *matching, int side, const char *module) {
    uint64_t unused;
    return ids_keymap_get(&matching->modules[side], hash(1, module), &unused);
}

static int has_new_name(const struct ids_matches *matches, const char *module) {
    for (size_t i = 0; i < matches->renamed_count; i++) {
        if (!strcmp(matches->renamed[i].b, module)) return 1;
    }
    return 0;
}

static int most_time_first(const void *a, const void *b) {
    const struct ids_match *left = a, *right = b;
    return (left->a->time_ps < right->a->time_ps) - (left->a->time_ps > right->a->time_ps);
}

/* Whether an op of either program is found in a third one: then a program was divided, or parts were put together. */
static int is_divided(const struct ids_matches *matches, const char *a, const char *b) {
    for (size_t i = 0; i < matches->count; i++) {
        if (!strcmp(matches->at[i].a->module, a) != !strcmp(matches->at[i].b->module, b)) return 1;
    }
    return 0;
}

/* Of a program's ops, those that the other one has: by what they compute, else by name without number and shape. */
struct work {
    size_t ops, common;
    double ps, common_ps;
};

static uint64_t likeness(const struct ids_item *item) {
    return *item->shape ? hash(hash(base_hash(1, item), item->shape), item->category) : 0;
}

static int is_of(const struct ids_item *item, const char *module) {
    return !strcmp(item->module, module);
}

/* How many of each likeness the program has that no pass has found yet. */
static int count_alike(const struct matching *matching, int side, const char *module, struct ids_keymap *ret_counts) {
    const struct ids_items *items = matching->items[side];
    for (size_t i = 0; i < items->count; i++) {
        uint64_t key = is_of(&items->at[i], module) && !matching->matched[side][i] ? likeness(&items->at[i]) : 0;
        uint64_t *count = key ? ids_keymap_at(ret_counts, key) : NULL;
        if (key && !count) return -1;
        if (count) ++*count;
    }
    return 0;
}

static int measure(const struct matching *matching, int side, const char *module, const char *other,
                   struct work *ret_work) {
    const struct ids_items *items = matching->items[side];
    struct ids_keymap counts = {0};
    int failed = count_alike(matching, !side, other, &counts);
    *ret_work = (struct work){0};
    for (size_t i = 0; i < items->count && !failed; i++) {
        const struct ids_item *item = &items->at[i];
        if (!is_of(item, module)) continue;
        uint64_t key = matching->matched[side][i] ? 0 : likeness(item), number;
        int is_alike = key && ids_keymap_get(&counts, key, &number) && number > 0;
        if (is_alike) --*ids_keymap_at(&counts, key);
        int is_common = matching->matched[side][i] || is_alike;
        ret_work->ops++;
        ret_work->ps += item->time_ps;
        ret_work->common += (size_t)is_common;
        ret_work->common_ps += is_common ? item->time_ps : 0;
    }
    ids_keymap_done(&counts);
    return failed;
}

/* Whether one side's program calls the function of the other: "jit(normalize)/jit(_var)/reduce_sum". */
static int is_called_in(const struct matching *matching, int side, const char *module, const char *function) {
    const struct ids_items *items = matching->items[side];
    size_t length, wanted = strlen(function);
    for (size_t i = 0; i < items->count; i++) {
        if (!is_of(&items->at[i], module)) continue;
        for (const char *call = ids_path_next_call(ids_path_in_program(items->at[i].op_name), &length); call;
             call = ids_path_next_call(call + length, &length)) {
            if (length == wanted && !memcmp(call, function, length)) return 1;
        }
    }
    return 0;
}

/* Half of the ops of either are those of the other, and half of their time. One that calls the other must do nothing
 * else: a function that is no longer under jit leaves programs of what it called. */
#define OF_WORK 0.5

static int is_same_work(const struct matching *matching, const char *a, const char *b, int *ret_is) {
    struct work work[2];
    int is_nested =
        is_called_in(matching, 0, a, ids_program_function(b)) || is_called_in(matching, 1, b, ids_program_function(a));
    if (measure(matching, 0, a, b, &work[0]) || measure(matching, 1, b, a, &work[1])) return -1;
    *ret_is = 1;
    for (int side = 0; side < 2; side++) {
        double least = is_nested ? 1 : OF_WORK;
        if ((double)work[side].common < least * (double)work[side].ops ||
            work[side].common_ps < OF_WORK * work[side].ps)
            *ret_is = 0;
    }
    return 0;
}

/* A program that only one side has, and one that only the other has, are the same where the op of most time that both
 * have is, and every other op that both have; and where they do the same work. */
static int find_renamed(struct matching *matching) {
    struct ids_matches *matches = matching->matches;
    struct ids_keymap asked = {0}; /* pairs of programs: each has many ops */
    int failed = 0;
    if (matches->count) qsort(matches->at, matches->count, sizeof *matches->at, most_time_first);
    for (size_t i = 0; i < matches->count && !failed; i++) {
        const char *a = matches->at[i].a->module, *b = matches->at[i].b->module;
        if (!strcmp(a, b) || is_called_so(matching, 1, a) || is_called_so(matching, 0, b)) continue;
        if (ids_matches_program_in_b(matches, a) != a || has_new_name(matches, b)) continue;
        int is_new = ids_keymap_add(&asked, hash(hash(1, a), b), 1), is_same = is_new > 0 && !is_divided(matches, a, b);
        failed = is_new < 0 || (is_same && is_same_work(matching, a, b, &is_same));
        if (!is_same || failed) continue;
        struct ids_renamed *renamed = IDS_PUSH(matches->renamed, matches->renamed_count, matches->renamed_room);
        failed = !renamed;
        if (renamed) *renamed = (struct ids_renamed){a, b};
    }
    ids_keymap_done(&asked);
    return failed ? -1 : 0;
}

static int prepare(struct matching *matching) {
    for (int side = 0; side < 2; side++) {
        const struct ids_items *items = matching->items[side];
        matching->matched[side] = calloc(items->count + 1, 1);
        if (!matching->matched[side]) return -1;
        for (size_t i = 0; i < items->count; i++) {
            matching->know[side][0] |= *items->at[i].fingerprint != '\0';
            matching->know[side][1] |= *items->at[i].op_name != '\0';
            if (ids_keymap_add(&matching->modules[side], hash(1, items->at[i].module), 1) < 0) return -1;
        }
    }
    return 0;
}

static int match_all(struct matching *matching) {
    struct candidate *candidates =
        calloc(matching->items[0]->count + matching->items[1]->count + 1, sizeof *candidates);
    int failed = !candidates || prepare(matching);
    for (size_t p = 0; p < sizeof passes / sizeof *passes && !failed; p++) {
        if (p == FIRST_BY_SHAPE) failed = find_renamed(matching);
        if (!failed) failed = run_pass(matching, &passes[p], candidates);
    }
    free(candidates);
    for (int side = 0; side < 2 && !failed; side++) {
        for (size_t i = 0; i < matching->items[side]->count && !failed; i++) {
            const struct ids_item *item = &matching->items[side]->at[i];
            if (matching->matched[side][i] || (item->time_ps == 0 && item->count == 0)) continue;
            failed = add(matching, side ? NULL : item, side ? item : NULL, IDS_BY_NOTHING);
        }
    }
    return failed;
}

/* ---- what became of them ---- */

/* Of three recordings a side each op's own variance says little, so that it is drawn towards that of its like. */
static int share_strength(const struct ids_side *a_side, const struct ids_side *b_side, struct ids_matches *matches) {
    struct ids_variation *spreads = calloc(matches->count + 1, sizeof *spreads);
    if (!spreads) return -1;
    for (size_t i = 0; i < matches->count; i++) {
        const struct ids_match *match = &matches->at[i];
        if (match->a && match->b && match->interval.known)
            spreads[i] =
                ids_variation_of(match->a->values, a_side->recording_count, match->b->values, b_side->recording_count);
    }
    int failed = ids_shrink(spreads, matches->count);
    double counts = 1 / (double)a_side->recording_count + 1 / (double)b_side->recording_count;
    for (size_t i = 0; i < matches->count && !failed; i++) {
        struct ids_match *match = &matches->at[i];
        if (match->a && match->b && match->interval.known)
            match->interval =
                ids_interval_by_error(match->change_ps, sqrt(spreads[i].variance * counts), spreads[i].df, 0);
    }
    free(spreads);
    return failed;
}

static int find_intervals(const struct ids_side *a_side, const struct ids_side *b_side,
                          const struct ids_compare_options *options, struct ids_matches *matches) {
    for (size_t i = 0; i < matches->count; i++) {
        struct ids_match *match = &matches->at[i];
        if (!match->a || !match->b) continue;
        match->interval = ids_items_interval(a_side, match->a, b_side, match->b, 0);
        if (match->interval.out_of_memory) return -1;
    }
    if (a_side->by_run && share_strength(a_side, b_side, matches)) return -1;
    double *p = calloc(matches->count + 1, sizeof *p);
    size_t count = 0;
    if (!p) return -1;
    for (size_t i = 0; i < matches->count; i++) {
        struct ids_match *match = &matches->at[i];
        if (!match->a || !match->interval.known) continue;
        match->interval.noise = options->noise * match->a->time_ps;
        p[count++] = ids_interval_p(&match->interval);
    }
    double limit = ids_discovery_limit(p, count, 1 - IDS_CONFIDENCE);
    free(p);
    for (size_t i = 0; i < matches->count; i++) {
        struct ids_interval *interval = &matches->at[i].interval;
        if (interval->known) ids_interval_set(interval, 1 - limit, interval->noise);
    }
    return 0;
}

static enum ids_match_class class_of(const struct ids_match *match, const struct ids_compare_options *options) {
    if (!match->a || !match->b) return match->a ? IDS_MATCH_REMOVED : IDS_MATCH_ADDED;
    double least = options->threshold > options->noise ? options->threshold : options->noise;
    double limit = least * match->a->time_ps, change = match->change_ps;
    const struct ids_bounds *bounds = &match->interval.typical;
    if (match->interval.known) {
        if (change == 0 || (bounds->low >= -limit && bounds->high <= limit)) return IDS_MATCH_SAME;
        if (!ids_interval_excludes_zero(&match->interval) || fabs(change) <= limit) return IDS_MATCH_UNSURE;
        change = bounds->low;
    } else if (fabs(change) <= limit) {
        return IDS_MATCH_SAME;
    }
    return change > 0 ? IDS_MATCH_SLOWER : IDS_MATCH_FASTER;
}

static int largest_first(const void *a, const void *b) {
    const struct ids_match *left = a, *right = b;
    double l = fabs(left->change_ps), r = fabs(right->change_ps);
    if (l != r) return l < r ? 1 : -1;
    const struct ids_item *x = left->a ? left->a : left->b, *y = right->a ? right->a : right->b;
    if (x->time_ps != y->time_ps) return x->time_ps < y->time_ps ? 1 : -1;
    int order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->module, y->module);
}

int ids_matches_make(const struct ids_side *a_side, const struct ids_items *a, const struct ids_side *b_side,
                     const struct ids_items *b, const struct ids_compare_options *options,
                     struct ids_matches *ret_matches, struct ids_error *err) {
    struct matching matching = {.items = {a, b}, .matches = ret_matches};
    *ret_matches = (struct ids_matches){0};
    int failed = match_all(&matching);
    for (int side = 0; side < 2; side++) {
        free(matching.matched[side]);
        ids_keymap_done(&matching.modules[side]);
    }
    if (failed || find_intervals(a_side, b_side, options, ret_matches)) {
        ids_matches_done(ret_matches);
        return ids_no_memory(err);
    }
    for (size_t i = 0; i < ret_matches->count; i++) ret_matches->at[i].class = class_of(&ret_matches->at[i], options);
    if (ret_matches->count) qsort(ret_matches->at, ret_matches->count, sizeof *ret_matches->at, largest_first);
    return 0;
}

void ids_matches_done(struct ids_matches *matches) {
    free(matches->at);
    free(matches->renamed);
    *matches = (struct ids_matches){0};
}
