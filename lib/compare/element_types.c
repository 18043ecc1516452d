#include "lib/compare/element_types.h"

#include "lib/base/intern.h"
#include "lib/base/keymap.h"
#include "lib/base/vec.h"
#include "lib/hlo/scope.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { TYPES = 32, NAME_BYTES = 16 };

struct layer {
    const char *name, *module;
    int is_scope;
    int has_other_ops;    /* ops came or went */
    uint32_t types[2];    /* of either side, as bits */
    size_t counts[TYPES]; /* ops with it, of both sides */
};

struct finding {
    char names[TYPES][NAME_BYTES];
    size_t type_count;
    struct layer *layers;
    size_t count, room;
    struct ids_keymap numbers; /* of a layer's name in a program: index + 1 */
    struct ids_report *texts;
};

/* Numbers that a model computes with: not s32[] of an index, and not pred[] of a mask. */
static int is_of_numbers(const char *type, size_t length) {
    static const char *const small[] = {"s8", "u8", "s4", "u4"};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        if (length == 2 && !memcmp(type, small[i], 2)) return 1;
    }
    return *type == 'f' || *type == 'c' || (length > 2 && !memcmp(type, "bf", 2));
}

/* Its number; -1: it is not asked for. */
static int number_of(struct finding *finding, const char *type, size_t length) {
    if (!length || length >= NAME_BYTES || !is_of_numbers(type, length)) return -1;
    for (size_t i = 0; i < finding->type_count; i++) {
        if (!strncmp(finding->names[i], type, length) && !finding->names[i][length]) return (int)i;
    }
    if (finding->type_count == TYPES) return -1;
    memcpy(finding->names[finding->type_count], type, length);
    return (int)finding->type_count++;
}

/* "(f32[8,2], bf16[4])" has two. */
static uint32_t types_of(struct finding *finding, const char *shape) {
    uint32_t types = 0;
    for (const char *open = strchr(shape, '['); open; open = strchr(open + 1, '[')) {
        const char *type = open;
        while (type > shape && isalnum((unsigned char)type[-1])) type--;
        int number = number_of(finding, type, (size_t)(open - type));
        if (number >= 0) types |= UINT32_C(1) << number;
    }
    return types;
}

static struct layer *layer_of(struct finding *finding, const struct ids_item *item) {
    char scope[IDS_SCOPE_BYTES];
    ids_scope_of(item->path, scope);
    const char *name = *scope ? scope : item->module;
    uint64_t key = ids_key_of(ids_hash_bytes(item->module, strlen(item->module)), ids_hash_bytes(name, strlen(name)));
    uint64_t *number = ids_keymap_at(&finding->numbers, key);
    if (!number) return NULL;
    if (*number) return &finding->layers[*number - 1];
    struct layer *layer = IDS_PUSH(finding->layers, finding->count, finding->room);
    if (!layer) return NULL;
    *number = finding->count;
    *layer = (struct layer){
        .name = ids_report_text(finding->texts, "%s", name), .module = item->module, .is_scope = *scope != '\0'};
    return layer;
}

/* A renamed program is one: of a pair both are where the one of side b is. */
static int take(struct finding *finding, const struct ids_match *match) {
    const struct ids_item *place = match->b ? match->b : match->a;
    struct layer *layer = place ? layer_of(finding, place) : NULL;
    if (!layer) return place ? -1 : 0;
    const struct ids_item *items[] = {match->a, match->b};
    for (int side = 0; side < 2; side++) {
        if (!items[side]) continue;
        uint32_t types = types_of(finding, items[side]->shape);
        layer->types[side] |= types;
        for (size_t i = 0; i < TYPES; i++) layer->counts[i] += types >> i & 1;
    }
    if (!match->a || !match->b) layer->has_other_ops = 1;
    return 0;
}

static int has_other_types(const struct layer *layer) {
    return layer->types[0] && layer->types[1] && layer->types[0] != layer->types[1];
}

/* The one scope of a program in which ops came or went, or whose types are others; NULL: there is none, or several. */
static const struct layer *only_scope(const struct finding *finding, const char *module, int by_types) {
    const struct layer *only = NULL;
    for (size_t i = 0; i < finding->count; i++) {
        const struct layer *layer = &finding->layers[i];
        if (!layer->is_scope || strcmp(layer->module, module) != 0) continue;
        if (by_types ? !has_other_types(layer) : !layer->has_other_ops) continue;
        if (only) return NULL;
        only = layer;
    }
    return only;
}

/* A layer's on a side, those of both sides first. */
static const char *list_of(const struct finding *finding, const struct layer *layer, int side) {
    uint32_t both = layer->types[0] & layer->types[1], order[] = {both, layer->types[side] & ~both};
    const char *list = "";
    for (size_t part = 0; part < 2; part++) {
        for (size_t i = 0; i < finding->type_count; i++) {
            if (order[part] >> i & 1)
                list = ids_report_text(finding->texts, "%s%s%s", list, *list ? ", " : "", finding->names[i]);
        }
    }
    return list;
}

static struct ids_types_change change_of(const struct finding *finding, const struct layer *layer) {
    const struct layer *only = layer->is_scope ? NULL : only_scope(finding, layer->module, 0);
    if (!only && !layer->is_scope) only = only_scope(finding, layer->module, 1);
    uint32_t other = layer->types[0] ^ layer->types[1];
    struct ids_types_change change = {.where = only ? only->name : layer->name,
                                      .before = list_of(finding, layer, 0),
                                      .after = list_of(finding, layer, 1)};
    for (size_t i = 0; i < TYPES; i++) {
        if (other >> i & 1) change.count += layer->counts[i];
    }
    return change;
}

/* Of the layer itself, and of what the compiler made for it. */
static struct ids_types_change *same_change(struct ids_types_change *changes, size_t count,
                                            const struct ids_types_change *change) {
    for (size_t i = 0; i < count; i++) {
        if (!strcmp(changes[i].where, change->where) && !strcmp(changes[i].before, change->before) &&
            !strcmp(changes[i].after, change->after))
            return &changes[i];
    }
    return NULL;
}

int ids_types_changes(const struct ids_matches *ops, struct ids_report *texts, struct ids_types_change **ret_changes,
                      size_t *ret_count) {
    struct finding finding = {.texts = texts};
    struct ids_types_change *changes = NULL;
    size_t room = 0;
    int failed = 0;
    *ret_count = 0;
    for (size_t i = 0; i < ops->count && !failed; i++) failed = take(&finding, &ops->at[i]);
    for (size_t i = 0; i < finding.count && !failed; i++) {
        const struct layer *layer = &finding.layers[i];
        if (!has_other_types(layer)) continue;
        struct ids_types_change own = change_of(&finding, layer), *same = same_change(changes, *ret_count, &own);
        if (same) {
            same->count += own.count;
            continue;
        }
        struct ids_types_change *change = IDS_PUSH(changes, *ret_count, room);
        failed = !change;
        if (change) *change = own;
    }
    free(finding.layers);
    ids_keymap_done(&finding.numbers);
    *ret_changes = changes;
    return failed ? -1 : 0;
}
