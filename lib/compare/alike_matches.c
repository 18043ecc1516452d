#include "lib/compare/alike_matches.h"

#include "lib/base/intern.h"
#include "lib/base/keymap.h"
#include "lib/base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash(uint64_t key, const char *text) {
    return ids_key_of(key, ids_hash_bytes(text, strlen(text)));
}

static uint64_t add_side(uint64_t key, const struct ids_item *item) {
    return item ? hash(hash(key, item->module), item->fingerprint) : ids_key_of(key, 0);
}

static int is_known(const struct ids_item *item) {
    return !item || *item->fingerprint;
}

/* `number` tells apart what nothing is known to be like. */
static uint64_t key_of(const struct ids_match *match, size_t number) {
    if (!is_known(match->a) || !is_known(match->b)) return ids_key_of(number, UINT64_MAX);
    uint64_t key = ids_key_of((uint64_t)match->class, (uint64_t)match->by);
    return add_side(add_side(key, match->a), match->b);
}

static int add(struct ids_alike_list *list, struct ids_keymap *map, const struct ids_match *match, size_t number) {
    const struct ids_item *item = match->b ? match->b : match->a;
    if (!item) return 0; /* a match has a side */
    uint64_t *place = ids_keymap_at(map, key_of(match, number));
    if (!place) return -1;
    if (!*place) {
        struct ids_alike_matches *fresh = IDS_PUSH(list->at, list->count, list->room);
        if (!fresh) return -1;
        *place = list->count;
        *fresh = (struct ids_alike_matches){.largest = match}; /* they come in that order */
    }
    struct ids_alike_matches *alike = &list->at[*place - 1];
    ids_alike_add(&alike->names, item->name, item->op_name);
    alike->a_ps += match->a ? match->a->time_ps : 0;
    alike->b_ps += match->b ? match->b->time_ps : 0;
    alike->change_ps += match->change_ps;
    alike->count_a += match->a ? match->a->count : 0;
    alike->count_b += match->b ? match->b->count : 0;
    return 0;
}

static int largest_first(const void *a, const void *b) {
    const struct ids_alike_matches *left = a, *right = b;
    double l = fabs(left->change_ps), r = fabs(right->change_ps);
    if (l != r) return l < r ? 1 : -1;
    return (left->largest > right->largest) - (left->largest < right->largest);
}

int ids_alike_list_make(const struct ids_matches *matches, struct ids_alike_list *ret_list, struct ids_error *err) {
    struct ids_keymap map = {0};
    int failed = 0;
    *ret_list = (struct ids_alike_list){0};
    for (size_t i = 0; i < matches->count && !failed; i++) failed = add(ret_list, &map, &matches->at[i], i);
    ids_keymap_done(&map);
    if (failed) {
        ids_alike_list_done(ret_list);
        return ids_no_memory(err);
    }
    if (ret_list->count) qsort(ret_list->at, ret_list->count, sizeof *ret_list->at, largest_first);
    return 0;
}

void ids_alike_list_done(struct ids_alike_list *list) {
    free(list->at);
    *list = (struct ids_alike_list){0};
}
