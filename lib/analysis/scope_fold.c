/* scope_fold.c - which siblings of a tree of scopes are repeats of each other. */
#include "lib/analysis/scope_tree.h"
#include "lib/base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 4, FEW = 3, NO_RUN = 255 };

/* A child of one of the scopes that are one layer. */
struct kid {
    uint64_t pattern, number;
    uint32_t node, owner; /* owner: place of its parent among them */
    uint32_t slot;        /* what it is in its parent: the same in all of them */
    uint8_t run, joined;
};

/* Kids that are one layer. */
struct part {
    const struct kid *first;
    size_t count;
    uint32_t place, of; /* the n-th of several that no name tells apart; 0 */
    int64_t all_ps;
};

struct folding {
    struct ids_scope_tree *tree;
    struct ids_layer *layers;
    size_t count, room;
};

static uint64_t pattern_at(struct ids_text name, size_t at, size_t length) {
    uint64_t before = ids_hash_bytes(name.at, at),
             behind = ids_hash_bytes(name.at + at + length, name.length - at - length);
    return ids_key_of(ids_key_of(before, at), ids_key_of(behind, 1));
}

static uint64_t number_at(struct ids_text name, size_t at, size_t length) {
    uint64_t number = 0;
    for (size_t i = 0; i < length && i < 18; i++) number = number * 10 + (uint64_t)(name.at[at + i] - '0');
    return number;
}

/* Of the numbers in a name the one counts that most others differ in. */
static int find_patterns(const struct ids_scope_tree *tree, struct kid *kids, size_t count) {
    struct ids_keymap found = {0};
    size_t at, length;
    int joined, failed = 0;
    for (size_t i = 0; i < count && !failed; i++) {
        struct ids_text name = tree->nodes[kids[i].node].name;
        for (int run = 0; run < RUNS && ids_scope_number(name, run, &at, &length, &joined) && !failed; run++) {
            uint64_t *kin = ids_keymap_at(&found, pattern_at(name, at, length));
            failed = !kin;
            if (kin) ++*kin;
        }
    }
    for (size_t i = 0; i < count && !failed; i++) {
        struct ids_text name = tree->nodes[kids[i].node].name;
        uint64_t most = 0, kin;
        kids[i].pattern = ids_key_of(ids_hash_bytes(name.at, name.length), 0);
        kids[i].run = NO_RUN;
        for (int run = 0; run < RUNS && ids_scope_number(name, run, &at, &length, &joined); run++) {
            uint64_t pattern = pattern_at(name, at, length);
            if (!ids_keymap_get(&found, pattern, &kin) || kin < most) continue;
            most = kin;
            kids[i].pattern = pattern;
            kids[i].number = number_at(name, at, length);
            kids[i].run = (uint8_t)run;
            kids[i].joined = (uint8_t)joined;
        }
    }
    ids_keymap_done(&found);
    return failed ? -1 : 0;
}

#define ORDER(a, b)                                \
    do {                                           \
        if ((a) != (b)) return (a) < (b) ? -1 : 1; \
    } while (0)

static int by_owner(const void *a, const void *b) {
    const struct kid *left = a, *right = b;
    ORDER(left->pattern, right->pattern);
    ORDER(left->owner, right->owner);
    ORDER(left->number, right->number);
    ORDER(left->node, right->node);
    return 0;
}

static int by_number(const void *a, const void *b) {
    const struct kid *left = a, *right = b;
    ORDER(left->number, right->number);
    ORDER(left->owner, right->owner);
    ORDER(left->node, right->node);
    return 0;
}

static int by_slot(const void *a, const void *b) {
    const struct kid *left = a, *right = b;
    ORDER(left->slot, right->slot);
    return by_number(a, b);
}

/* Children's names without any number: layers are built alike when they share most of these. */
static uint64_t outline(struct ids_text name) {
    uint64_t key = 1;
    for (size_t i = 0; i < name.length; i++) {
        if (name.at[i] < '0' || name.at[i] > '9') key = (key ^ (unsigned char)name.at[i]) * 0x100000001b3u;
    }
    return key | 1;
}

/* Whether the scopes hold mostly the same: the same children, or, where there are none, the same kind of op. */
static int are_alike(const struct ids_scope_tree *tree, const struct kid *kids, size_t count, int *ret_alike) {
    struct ids_keymap outlines = {0}, kinds = {0};
    size_t pairs = 0, most = 0;
    int failed = 0;
    for (size_t i = 0; i < count && !failed; i++) {
        const struct ids_scope_node *node = &tree->nodes[kids[i].node];
        for (uint32_t child = node->first_child; child && !failed; child = tree->nodes[child].next) {
            uint64_t *last = ids_keymap_at(&outlines, outline(tree->nodes[child].name));
            failed = !last;
            if (!failed && *last != i + 1) pairs++;
            if (!failed) *last = i + 1;
        }
        uint64_t *same = failed ? NULL : ids_keymap_at(&kinds, node->kind | 1);
        failed = !same;
        if (same && ++*same > most) most = *same;
    }
    *ret_alike = outlines.count ? 2 * pairs > count * outlines.count : 2 * most > count;
    ids_keymap_done(&outlines);
    ids_keymap_done(&kinds);
    return failed ? -1 : 0;
}

/* `kids` are in the order of slots. Few of very unlike times are better seen apart. */
static int few_are_even(const struct ids_scope_tree *tree, const struct kid *kids, size_t count, uint32_t slots) {
    double sum_ps[FEW] = {0}, members[FEW] = {0}, least = INFINITY, most = 0;
    if (slots > FEW) return 1;
    for (size_t i = 0; i < count; i++) {
        sum_ps[kids[i].slot] += (double)tree->nodes[kids[i].node].all.self_ps;
        members[kids[i].slot]++;
    }
    for (uint32_t s = 0; s < slots; s++) {
        double mean_ps = sum_ps[s] / members[s];
        least = mean_ps < least ? mean_ps : least;
        most = mean_ps > most ? mean_ps : most;
    }
    return most <= FEW * least;
}

/* Gives each kid of a pattern its slot: by its number where parents call theirs alike, else by its place in the parent.
 * *ret_by_place says which. Returns how many slots there are. */
static uint32_t set_slots(struct kid *kids, size_t count, int *ret_by_place, int *ret_gaps) {
    uint32_t most = 0, place = 0, numbers = 0;
    for (size_t i = 0; i < count; i++) {
        place = i && kids[i].owner == kids[i - 1].owner ? place + 1 : 0;
        kids[i].slot = place;
        if (place + 1 > most) most = place + 1;
    }
    *ret_by_place = *ret_gaps = 0;
    if (most == 1) return 1;
    qsort(kids, count, sizeof *kids, by_number);
    for (size_t i = 0; i < count; i++) numbers += !i || kids[i].number != kids[i - 1].number;
    if (numbers > 2 * most) {
        *ret_by_place = 1;
        qsort(kids, count, sizeof *kids, by_slot);
        return most;
    }
    numbers = 0;
    for (size_t i = 0; i < count; i++) {
        if (i && kids[i].number != kids[i - 1].number) {
            numbers++;
            *ret_gaps |= kids[i].number != kids[i - 1].number + 1;
        }
        kids[i].slot = numbers;
    }
    return numbers + 1;
}

static void put_part(const struct ids_scope_tree *tree, struct part *part, const struct kid *first, size_t count) {
    *part = (struct part){.first = first, .count = count};
    for (size_t i = 0; i < count; i++) part->all_ps += tree->nodes[first[i].node].all.self_ps;
}

/* The parts of the kids of one pattern. 0, or -1 when memory ran out. */
static int divide(const struct ids_scope_tree *tree, struct kid *kids, size_t count, struct part *parts,
                  size_t *part_count) {
    int by_place, gaps, alike = 1;
    uint32_t slots = set_slots(kids, count, &by_place, &gaps);
    if (slots > 1 && are_alike(tree, kids, count, &alike)) return -1;
    if (slots > 1 && kids[0].joined && gaps) alike = 0; /* fp8 and fp16 */
    if (slots == 1 || (alike && few_are_even(tree, kids, count, slots))) {
        put_part(tree, &parts[(*part_count)++], kids, count);
        return 0;
    }
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i; end < count && kids[end].slot == kids[i].slot; end++) continue;
        struct part *part = &parts[(*part_count)++];
        put_part(tree, part, &kids[i], end - i);
        part->place = by_place ? kids[i].slot + 1 : 0;
        part->of = slots;
    }
    return 0;
}

static int most_time_first(const void *a, const void *b) {
    const struct part *left = a, *right = b;
    ORDER(right->all_ps, left->all_ps);
    ORDER(left->first->node, right->first->node);
    return 0;
}

static const char *name_of(struct ids_scope_tree *tree, const struct part *part) {
    struct ids_text name = tree->nodes[part->first->node].name;
    size_t at, length;
    int joined, same = 1;
    for (size_t i = 1; i < part->count && same; i++) {
        struct ids_text other = tree->nodes[part->first[i].node].name;
        same = other.length == name.length && !memcmp(other.at, name.at, name.length);
    }
    if (same || !ids_scope_number(name, part->first->run, &at, &length, &joined)) return name.at;
    const char *rest = name.at + at + length;
    if (!part->place) return ids_arena_print(&tree->arena, "%.*s*%s", (int)at, name.at, rest);
    return ids_arena_print(&tree->arena, "%.*s*%s [%u of %u]", (int)at, name.at, rest, part->place, part->of);
}

static int by_time(const void *a, const void *b) {
    const int64_t *left = a, *right = b;
    ORDER(*left, *right);
    return 0;
}

/* Whether the slowest of them is apart from the others. 0, or -1 when memory ran out. */
static int find_outlier(const struct ids_scope_tree *tree, const struct part *part, struct ids_layer *layer) {
    if (part->count < 3) return 0;
    size_t others = part->count - 1;
    int64_t *times = malloc(part->count * sizeof *times);
    if (!times) return -1;
    for (size_t i = 0; i < part->count; i++) times[i] = tree->nodes[part->first[i].node].all.self_ps;
    qsort(times, part->count, sizeof *times, by_time);
    layer->is_outlier = layer->slowest_ps / 2 > times[(others - 1) / 2] / 2 + times[others / 2] / 2;
    free(times);
    return 0;
}

static int put_layer(struct folding *folding, const struct part *part, const char *path, int depth,
                     const char **ret_path) {
    struct ids_scope_tree *tree = folding->tree;
    struct ids_layer layer = {.depth = depth, .name = name_of(tree, part), .siblings = (uint32_t)part->count};
    double sum = 0, squares = 0, n = (double)part->count;
    for (size_t i = 0; i < part->count; i++) {
        const struct ids_scope_node *node = &tree->nodes[part->first[i].node];
        ids_layer_sums_add(&layer.own, &node->own);
        ids_layer_sums_add(&layer.all, &node->all);
        if (!i || node->most_ps > layer.most_ps) {
            layer.most_ps = node->most_ps;
            layer.alike = node->alike;
        }
        sum += (double)node->all.self_ps;
        squares += (double)node->all.self_ps * (double)node->all.self_ps;
        if (layer.slowest && node->all.self_ps <= layer.slowest_ps) continue;
        layer.slowest = part->first[i].node;
        layer.slowest_ps = node->all.self_ps;
        layer.source = node->source;
    }
    double variance = part->count > 1 ? (squares - sum * sum / n) / (n - 1) : NAN;
    layer.sd_ps = isnan(variance) ? NAN : variance > 0 ? sqrt(variance) : 0;
    if (!layer.name || find_outlier(tree, part, &layer)) return -1;
    layer.path = *path ? ids_arena_print(&tree->arena, "%s/%s", path, layer.name) : layer.name;
    struct ids_layer *added = layer.path ? IDS_PUSH(folding->layers, folding->count, folding->room) : NULL;
    if (!added) return -1;
    *added = layer;
    *ret_path = layer.path;
    return 0;
}

/* All children of the scopes that are one layer; NULL when memory ran out. */
static struct kid *kids_of(const struct ids_scope_tree *tree, const struct kid *owners, size_t owner_count,
                           size_t *ret_count) {
    size_t count = 0;
    for (size_t i = 0; i < owner_count; i++)
        for (uint32_t child = tree->nodes[owners[i].node].first_child; child; child = tree->nodes[child].next) count++;
    struct kid *kids = calloc(count + 1, sizeof *kids);
    *ret_count = 0;
    for (size_t i = 0; kids && i < owner_count; i++)
        for (uint32_t child = tree->nodes[owners[i].node].first_child; child; child = tree->nodes[child].next)
            kids[(*ret_count)++] = (struct kid){.node = child, .owner = (uint32_t)i};
    return kids;
}

/* As deep as the tree: IDS_SCOPE_DEPTH and a little. */
static int fold_children(struct folding *folding, const struct kid *owners, size_t owner_count, const char *path,
                         int depth) {
    size_t count, part_count = 0;
    struct kid *kids = kids_of(folding->tree, owners, owner_count, &count);
    struct part *parts = calloc(count + 1, sizeof *parts);
    int failed = !kids || !parts || find_patterns(folding->tree, kids, count);
    if (!failed && count) qsort(kids, count, sizeof *kids, by_owner);
    for (size_t i = 0, end; i < count && !failed; i = end) {
        for (end = i; end < count && kids[end].pattern == kids[i].pattern; end++) continue;
        failed = divide(folding->tree, &kids[i], end - i, parts, &part_count);
    }
    if (part_count) qsort(parts, part_count, sizeof *parts, most_time_first);
    for (size_t p = 0; p < part_count && !failed; p++) {
        const char *inside;
        failed = put_layer(folding, &parts[p], path, depth, &inside) ||
                 fold_children(folding, parts[p].first, parts[p].count, inside, depth + 1);
    }
    free(parts);
    free(kids);
    return failed ? -1 : 0;
}

int ids_scope_tree_fold(struct ids_scope_tree *tree, struct ids_layer **ret_layers, size_t *ret_count,
                        struct ids_error *err) {
    struct folding folding = {.tree = tree};
    const struct kid root = {0};
    for (size_t n = 0; n < tree->count; n++) tree->nodes[n].all = tree->nodes[n].own;
    for (size_t n = tree->count; n-- > 1;) {
        struct ids_scope_node *node = &tree->nodes[n], *parent = &tree->nodes[node->parent];
        ids_layer_sums_add(&parent->all, &node->all);
        if (node->most_ps <= parent->most_ps) continue;
        parent->most_ps = node->most_ps;
        parent->alike = node->alike;
    }
    int failed = tree->count && fold_children(&folding, &root, 1, "", 0);
    if (failed) {
        free(folding.layers);
        return ids_no_memory(err);
    }
    *ret_layers = folding.layers;
    *ret_count = folding.count;
    return 0;
}
