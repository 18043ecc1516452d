#include "lib/compare/places.h"

#include "lib/base/intern.h"
#include "lib/base/keymap.h"
#include "lib/base/vec.h"
#include "lib/hlo/scope.h"

#include <stdlib.h>
#include <string.h>

/* More pairs of one family than this are not tried: names decide; and of a family with more than that no layers that
 * changed places are looked for. */
enum { PAIRS_MOST = 1 << 18, CROSSING_MOST = 1 << 12 };
/* What a pair of places is worth: so much for each op in common; a common name of scopes decides between pairs that are
 * worth the same. A place without a counterpart costs a quarter of its ops. An op that the other side has nowhere
 * counts twice against a pair, up to as much: it stands in a layer that was put in, while the first and the last layer
 * have ops like others, fused otherwise. */
enum { OF_OP = 1024, OF_GAP = OF_OP / 4, OF_NOVEL = 2 * OF_OP };

/* An op at a place: in a numbered scope, or on a line. */
struct use {
    uint64_t family, op;
    const char *name;
    uint32_t length, side;
};

/* A place of a family: "layer_2", or line "17". */
struct member {
    const struct use *uses; /* by op */
    size_t count;
    uint64_t all; /* of all ops */
    int novel;    /* ops that the other side has nowhere in the family */
};

struct finding {
    struct ids_items *items[2];
    struct ids_report *texts;
    struct ids_scopes *scopes[2]; /* of each item */
    uint64_t *prefixes[2];        /* of each item: the scopes so far, in side b's words */
    struct use *uses;
    size_t use_count;
    int of_name;             /* 1 of scopes; 0 of lines, whose number says little */
    struct ids_keymap names; /* of a family and a name of side a: that in side b, its place in `found` + 1 */
    const char **found;
    size_t found_count, found_room;
};

static uint64_t hash_of(const char *text, size_t length) {
    return ids_hash_bytes(text, length);
}

static uint64_t key_of_name(uint64_t family, const char *name, size_t length) {
    return ids_key_of(family, hash_of(name, length));
}

/* By number: layer2 before layer12. */
static int by_name(const struct use *a, const struct use *b) {
    if (a->length != b->length) return a->length < b->length ? -1 : 1;
    return memcmp(a->name, b->name, a->length);
}

static int by_place(const void *a, const void *b) {
    const struct use *left = a, *right = b;
    if (left->family != right->family) return left->family < right->family ? -1 : 1;
    if (left->side != right->side) return left->side < right->side ? -1 : 1;
    int order = by_name(left, right);
    return order ? order : (left->op > right->op) - (left->op < right->op);
}

/* What an op computes, wherever it stands. */
static uint64_t op_of(const struct ids_item *item) {
    const char *what = *item->fingerprint ? item->fingerprint : item->shape;
    return ids_key_of(hash_of(item->base, strlen(item->base)), hash_of(what, strlen(what)));
}

/* ---- one family ---- */

static int same_name(const struct member *a, const struct member *b) {
    return !by_name(a->uses, b->uses);
}

static int in_common(const struct member *a, const struct member *b) {
    int common = 0;
    for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
        uint64_t left = a->uses[i].op, right = b->uses[j].op;
        common += left == right;
        i += left <= right;
        j += right <= left;
    }
    return common;
}

static const char *text_of(struct finding *finding, const struct member *member) {
    return ids_report_text(finding->texts, "%.*s", (int)member->uses->length, member->uses->name);
}

static int note(struct finding *finding, const struct member *a, const char *name) {
    const char **place = IDS_PUSH(finding->found, finding->found_count, finding->found_room);
    if (!place) return -1;
    *place = name;
    uint64_t key = key_of_name(a->uses->family, a->uses->name, a->uses->length);
    return ids_keymap_add(&finding->names, key, finding->found_count) < 0 ? -1 : 0;
}

static int note_pair(struct finding *finding, const struct member *a, const struct member *b) {
    return same_name(a, b) ? 0 : note(finding, a, text_of(finding, b));
}

static int note_gone(struct finding *finding, const struct member *a, const struct member *b, size_t b_count) {
    for (size_t i = 0; i < b_count; i++) {
        if (same_name(a, &b[i]))
            return note(finding, a, ids_report_text(finding->texts, "old %s", text_of(finding, a)));
    }
    return 0;
}

/* Members that are put beside each other in order, the same ones at both ends left out. */
struct middle {
    const struct member *a, *b, *all_b;
    size_t a_count, b_count, all_b_count;
    int64_t of_name; /* what a common name is worth */
    int64_t gap;
    int64_t *pairs, *best; /* the worth of each pair; the most from there to the end */
    size_t *to, *from;     /* of each of side a its counterpart + 1, and the other way; 0: none */
};

static int64_t best_at(const struct middle *middle, size_t i, size_t j) {
    return middle->best[i * (middle->b_count + 1) + j];
}

static int64_t worth(const struct middle *middle, const struct member *a, const struct member *b) {
    int64_t novel = OF_NOVEL * ((int64_t)a->novel + b->novel);
    if (novel > middle->gap) novel = middle->gap;
    return (int64_t)OF_OP * in_common(a, b) + middle->of_name * same_name(a, b) - novel;
}

/* What it is worth to go by names alone. */
static int64_t worth_of_names(const struct middle *middle) {
    int64_t sum = 0;
    size_t i = 0, j = 0;
    while (i < middle->a_count || j < middle->b_count) {
        int order = i == middle->a_count   ? 1
                    : j == middle->b_count ? -1
                                           : by_name(middle->a[i].uses, middle->b[j].uses);
        sum += order ? -middle->gap : worth(middle, &middle->a[i], &middle->b[j]);
        i += order <= 0;
        j += order >= 0;
    }
    return sum;
}

static void fill(struct middle *middle) {
    for (size_t i = middle->a_count + 1; i--;) {
        for (size_t j = middle->b_count + 1; j--;) {
            int64_t most = -middle->gap * (int64_t)(middle->a_count - i + middle->b_count - j);
            if (i < middle->a_count && j < middle->b_count) {
                int64_t *pair = &middle->pairs[i * middle->b_count + j];
                *pair = worth(middle, &middle->a[i], &middle->b[j]);
                int64_t both = *pair + best_at(middle, i + 1, j + 1);
                int64_t left = best_at(middle, i + 1, j) - middle->gap;
                int64_t right = best_at(middle, i, j + 1) - middle->gap;
                most = both >= left && both >= right ? both : left > right ? left : right;
            }
            middle->best[i * (middle->b_count + 1) + j] = most;
        }
    }
}

/* Of ways that are worth the same, the one whose layers begin with what they have in common with others: a product, and
 * then another activation. */
static void follow(struct middle *middle) {
    for (size_t i = 0, j = 0; i < middle->a_count;) {
        int64_t here = best_at(middle, i, j);
        if (j < middle->b_count && here == best_at(middle, i, j + 1) - middle->gap) {
            j++;
        } else if (here == best_at(middle, i + 1, j) - middle->gap) {
            i++;
        } else {
            middle->to[i] = j + 1;
            middle->from[j] = i + 1;
            i++, j++;
        }
    }
}

/* Members that are left, in another order than the others: those two that have most of their ops in common. */
static int find_crossing(const struct middle *middle, size_t *ret_i, size_t *ret_j) {
    int most = 0;
    for (size_t i = 0; i < middle->a_count; i++) {
        for (size_t j = 0; j < middle->b_count && !middle->to[i]; j++) {
            int common = middle->from[j] ? 0 : in_common(&middle->a[i], &middle->b[j]);
            size_t larger = middle->a[i].count > middle->b[j].count ? middle->a[i].count : middle->b[j].count;
            if (common <= most || 2 * (size_t)common <= larger) continue;
            most = common;
            *ret_i = i;
            *ret_j = j;
        }
    }
    return most > 0;
}

/* Layers that changed places stand in no order that both sides have. Returns what that is worth. */
static int64_t cross(struct middle *middle) {
    int64_t sum = 0;
    for (size_t i, j; find_crossing(middle, &i, &j);) {
        middle->to[i] = j + 1;
        middle->from[j] = i + 1;
        sum += middle->pairs[i * middle->b_count + j] + 2 * middle->gap;
    }
    return sum;
}

static int note_all(struct finding *finding, const struct middle *middle) {
    int failed = 0;
    for (size_t i = 0; i < middle->a_count && !failed; i++)
        failed = middle->to[i] ? note_pair(finding, &middle->a[i], &middle->b[middle->to[i] - 1])
                               : note_gone(finding, &middle->a[i], middle->all_b, middle->all_b_count);
    return failed;
}

static int align_middle(struct finding *finding, struct middle *middle) {
    size_t ops = 0, pairs = middle->a_count * middle->b_count;
    if (pairs > PAIRS_MOST) return 0;
    for (size_t i = 0; i < middle->a_count; i++) ops += middle->a[i].count;
    for (size_t j = 0; j < middle->b_count; j++) ops += middle->b[j].count;
    middle->gap = OF_GAP * (int64_t)(ops / (middle->a_count + middle->b_count)) + 1;
    middle->pairs = calloc(pairs + 1, sizeof *middle->pairs);
    middle->best = calloc((middle->a_count + 1) * (middle->b_count + 1), sizeof *middle->best);
    middle->to = calloc(middle->a_count + 1, sizeof *middle->to);
    middle->from = calloc(middle->b_count + 1, sizeof *middle->from);
    int failed = !middle->pairs || !middle->best || !middle->to || !middle->from;
    if (!failed) {
        fill(middle);
        follow(middle);
        /* A line's few ops may be anywhere else by chance. */
        int64_t all = best_at(middle, 0, 0) + (finding->of_name && pairs <= CROSSING_MOST ? cross(middle) : 0);
        /* Other names must say more than the end of a row of layers does, which is fused otherwise. */
        if (all > worth_of_names(middle) + middle->gap) failed = note_all(finding, middle);
    }
    free(middle->pairs);
    free(middle->best);
    free(middle->to);
    free(middle->from);
    return failed;
}

/* Both sides' members, side a's first. */
static int count_novel(struct member *members, size_t count) {
    struct ids_keymap ops = {0};
    int failed = 0;
    for (size_t i = 0; i < count && !failed; i++) {
        for (size_t u = 0; u < members[i].count && !failed; u++)
            failed = ids_keymap_add(&ops, ids_key_of(members[i].uses->side, members[i].uses[u].op), 1) < 0;
    }
    for (size_t i = 0; i < count && !failed; i++) {
        uint64_t unused;
        for (size_t u = 0; u < members[i].count; u++)
            members[i].novel +=
                !ids_keymap_get(&ops, ids_key_of(!members[i].uses->side, members[i].uses[u].op), &unused);
    }
    ids_keymap_done(&ops);
    return failed;
}

static int align(struct finding *finding, const struct member *a, size_t a_count, const struct member *b,
                 size_t b_count) {
    struct middle middle = {.all_b = b, .all_b_count = b_count, .of_name = finding->of_name};
    if (!a_count || !b_count) return 0;
    while (a_count && b_count && a->all == b->all && same_name(a, b)) a++, a_count--, b++, b_count--;
    while (a_count && b_count && a[a_count - 1].all == b[b_count - 1].all &&
           same_name(&a[a_count - 1], &b[b_count - 1]))
        a_count--, b_count--;
    middle.a = a;
    middle.b = b;
    middle.a_count = a_count;
    middle.b_count = b_count;
    return a_count ? align_middle(finding, &middle) : 0;
}

/* ---- all families ---- */

static size_t end_of_member(const struct finding *finding, size_t from) {
    const struct use *first = &finding->uses[from];
    size_t to = from;
    while (to < finding->use_count && finding->uses[to].family == first->family &&
           finding->uses[to].side == first->side && !by_name(first, &finding->uses[to]))
        to++;
    return to;
}

static int align_all(struct finding *finding) {
    struct member *members = calloc(finding->use_count + 1, sizeof *members);
    int failed = !members;
    if (finding->use_count) qsort(finding->uses, finding->use_count, sizeof *finding->uses, by_place);
    for (size_t from = 0; from < finding->use_count && !failed;) {
        uint64_t family = finding->uses[from].family;
        size_t count[2] = {0};
        while (from < finding->use_count && finding->uses[from].family == family) {
            size_t to = end_of_member(finding, from);
            struct member *member = &members[count[0] + count[1]];
            *member = (struct member){&finding->uses[from], to - from, 0, 0};
            for (; from < to; from++) member->all = ids_key_of(member->all, finding->uses[from].op);
            count[member->uses->side]++;
        }
        struct member *b = &members[count[0]];
        failed = count_novel(members, count[0] + count[1]) || align(finding, members, count[0], b, count[1]);
    }
    free(members);
    return failed;
}

static const char *found_name(const struct finding *finding, uint64_t family, const char *name, size_t length) {
    uint64_t number;
    if (!finding->found || !ids_keymap_get(&finding->names, key_of_name(family, name, length), &number)) return NULL;
    return finding->found[number - 1];
}

static void add_use(struct finding *finding, int side, const struct ids_item *item, uint64_t family, const char *name,
                    size_t length) {
    finding->uses[finding->use_count++] = (struct use){family, op_of(item), name, (uint32_t)length, (uint32_t)side};
}

/* ---- lines ---- */

/* The line's number in "dir/train.py:17", and the family of its file, which may lie in another folder. NULL: none. */
static const char *line_of(const struct ids_item *item, uint64_t *ret_family) {
    const char *colon = strrchr(item->source, ':'), *file = strrchr(item->source, '/');
    if (!colon || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")]) return NULL;
    file = file ? file + 1 : item->source;
    *ret_family = ids_key_of(2, hash_of(file, (size_t)(colon - file)));
    return colon + 1;
}

static int find_lines(struct finding *finding) {
    uint64_t family;
    finding->use_count = 0;
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < finding->items[side]->count; i++) {
            const struct ids_item *item = &finding->items[side]->at[i];
            const char *line = line_of(item, &family);
            if (line) add_use(finding, side, item, family, line, strlen(line));
        }
    }
    if (align_all(finding)) return -1;
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < finding->items[side]->count; i++) {
            struct ids_item *item = &finding->items[side]->at[i];
            const char *line = line_of(item, &family);
            const char *found = line && !side ? found_name(finding, family, line, strlen(line)) : NULL;
            if (found) line = found;
            item->line = line ? key_of_name(family, line, strlen(line)) : 0;
        }
    }
    return 0;
}

/* ---- scopes ---- */

/* "layer_12" and "layer_3" are of one family. 0: it has no number. */
static uint64_t family_of(uint64_t prefix, const struct ids_scope_part *part) {
    uint64_t key = ids_key_of(1, prefix);
    int has_number = 0;
    for (size_t i = 0; i < part->length; i++) {
        int is_digit = part->at[i] >= '0' && part->at[i] <= '9';
        if (is_digit && i && part->at[i - 1] >= '0' && part->at[i - 1] <= '9') continue;
        has_number |= is_digit;
        key = ids_key_of(key, is_digit ? '#' : (uint64_t)part->at[i]);
    }
    return has_number ? key : 0;
}

/* One level of scopes, those around it known. 0: none is as deep; -1: memory ran out. */
static int find_level(struct finding *finding, int depth) {
    int is_deep = 0;
    finding->use_count = 0;
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < finding->items[side]->count; i++) {
            const struct ids_scopes *scopes = &finding->scopes[side][i];
            if (depth >= scopes->count) continue;
            is_deep = 1;
            const struct ids_scope_part *part = &scopes->parts[depth];
            uint64_t family = family_of(finding->prefixes[side][i], part);
            if (family && !(depth == 0 && scopes->has_function))
                add_use(finding, side, &finding->items[side]->at[i], family, part->at, part->length);
        }
    }
    return is_deep ? align_all(finding) ? -1 : 1 : 0;
}

/* Goes on to the next level in side b's words. */
static void end_level(struct finding *finding, int depth) {
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < finding->items[side]->count; i++) {
            struct ids_scopes *scopes = &finding->scopes[side][i];
            uint64_t *prefix = &finding->prefixes[side][i];
            if (depth >= scopes->count || (depth == 0 && scopes->has_function)) continue;
            struct ids_scope_part part = scopes->parts[depth];
            const char *found = side ? NULL : found_name(finding, family_of(*prefix, &part), part.at, part.length);
            *prefix = found ? key_of_name(*prefix, found, strlen(found)) : key_of_name(*prefix, part.at, part.length);
            if (found) scopes->parts[depth] = (struct ids_scope_part){found, strlen(found)};
        }
    }
}

static int is_word(char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The part of the own scopes that stands there, with its number in *ret_part. 0: none. */
static size_t part_at(const struct ids_scopes *own, const char *text, const char *at, int *ret_part) {
    if (at > text && is_word(at[-1])) return 0;
    for (int p = 0; p < own->count; p++) {
        size_t length = own->parts[p].length;
        if (strncmp(at, own->parts[p].at, length) != 0 || is_word(at[length])) continue;
        *ret_part = p;
        return length;
    }
    return 0;
}

/* The op's name with all its scopes in side b's words. */
static const char *path_of(struct finding *finding, const char *op_name, const struct ids_scopes *scopes) {
    struct ids_scopes own = {.count = 0};
    char path[4096];
    size_t length = 0;
    int is_other = 0, part;
    ids_scopes_of(op_name, &own);
    for (int p = 0; p < own.count; p++) is_other |= own.parts[p].at != scopes->parts[p].at;
    if (!is_other) return op_name;
    for (const char *at = op_name; *at && length < sizeof path - 1;) {
        size_t taken = part_at(&own, op_name, at, &part);
        const char *from = taken ? scopes->parts[part].at : at;
        size_t count = taken ? scopes->parts[part].length : 1;
        if (count > sizeof path - 1 - length) count = sizeof path - 1 - length;
        memcpy(path + length, from, count);
        length += count;
        at += taken ? taken : 1;
    }
    return ids_report_text(finding->texts, "%.*s", (int)length, path);
}

/* A combined collective, "jit(f)/(layer_1/psum:layer_2/psum)", is of no one layer. */
static int is_of_several(const char *op_name) {
    return strstr(op_name, "/(") != NULL;
}

static int find_scopes(struct finding *finding) {
    finding->of_name = 1;
    for (int side = 0; side < 2; side++) {
        size_t count = finding->items[side]->count;
        finding->scopes[side] = calloc(count + 1, sizeof *finding->scopes[side]);
        finding->prefixes[side] = calloc(count + 1, sizeof *finding->prefixes[side]);
        if (!finding->scopes[side] || !finding->prefixes[side]) return -1;
        for (size_t i = 0; i < count; i++) {
            const char *op_name = finding->items[side]->at[i].op_name;
            if (!is_of_several(op_name)) ids_scopes_of(op_name, &finding->scopes[side][i]);
        }
    }
    for (int depth = 0; depth < IDS_SCOPE_DEPTH; depth++) {
        int code = find_level(finding, depth);
        if (code < 0) return -1;
        if (!code) break;
        end_level(finding, depth);
    }
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < finding->items[side]->count; i++) {
            struct ids_item *item = &finding->items[side]->at[i];
            if (!side && !is_of_several(item->op_name))
                item->path = path_of(finding, item->op_name, &finding->scopes[side][i]);
        }
    }
    return 0;
}

int ids_places_find(struct ids_items *a, struct ids_items *b, struct ids_report *texts) {
    struct finding finding = {.items = {a, b}, .texts = texts};
    finding.uses = calloc(a->count + b->count + 1, sizeof *finding.uses);
    int failed = !finding.uses || find_lines(&finding) || find_scopes(&finding);
    for (int side = 0; side < 2; side++) {
        free(finding.scopes[side]);
        free(finding.prefixes[side]);
    }
    free(finding.uses);
    free(finding.found);
    ids_keymap_done(&finding.names);
    return failed ? -1 : 0;
}
