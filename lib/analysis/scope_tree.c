#include "lib/analysis/scope_tree.h"

#include "lib/base/saturate.h"
#include "lib/base/vec.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Not in the middle of a character of UTF-8. */
static size_t cut_length(const char *at, size_t length) {
    if (length <= IDS_SCOPE_NAME_BYTES) return length;
    length = IDS_SCOPE_NAME_BYTES;
    while (length > IDS_SCOPE_NAME_BYTES - 4 && ((unsigned char)at[length] & 0xc0) == 0x80) length--;
    return length;
}

static int have_root(struct ids_scope_tree *tree) {
    if (tree->count) return 0;
    struct ids_scope_node *root = IDS_PUSH(tree->nodes, tree->count, tree->room);
    if (!root) return -1;
    *root = (struct ids_scope_node){.name = {"", 0}};
    return 0;
}

static int child_of(struct ids_scope_tree *tree, uint32_t parent, struct ids_text name, uint32_t *ret_node) {
    uint64_t hash = ids_hash_bytes(name.at, name.length);
    uint64_t *place = ids_keymap_at(&tree->numbers, ids_key_of(parent, hash));
    if (!place) return -1;
    if (!*place) {
        size_t length = cut_length(name.at, name.length);
        /* What is cut stays apart from other names that begin the same. */
        const char *copy = length == name.length ? ids_arena_copy(&tree->arena, name.at, length)
                                                 : ids_arena_print(&tree->arena, "%.*s~%08x", (int)length, name.at,
                                                                   (unsigned)(hash & 0xffffffff));
        struct ids_scope_node *node = copy ? IDS_PUSH(tree->nodes, tree->count, tree->room) : NULL;
        if (!node) return -1;
        *place = tree->count - 1;
        *node = (struct ids_scope_node){
            .name = {copy, (uint32_t)strlen(copy)}, .parent = parent, .next = tree->nodes[parent].first_child};
        tree->nodes[parent].first_child = (uint32_t)*place;
    }
    *ret_node = (uint32_t)*place;
    return 0;
}

int ids_scope_tree_node(struct ids_scope_tree *tree, const struct ids_text *parts, int count, uint32_t *ret_node) {
    if (have_root(tree)) return -1;
    *ret_node = 0;
    for (int i = 0; i < count; i++) {
        if (child_of(tree, *ret_node, parts[i], ret_node)) return -1;
    }
    return 0;
}

/* Scopes are made after those that they are in. */
uint32_t ids_scope_tree_common(const struct ids_scope_tree *tree, uint32_t a, uint32_t b) {
    while (a != b) {
        if (a > b)
            a = tree->nodes[a].parent;
        else
            b = tree->nodes[b].parent;
    }
    return a;
}

void ids_scope_tree_done(struct ids_scope_tree *tree) {
    ids_arena_done(&tree->arena);
    ids_keymap_done(&tree->numbers);
    free(tree->nodes);
    *tree = (struct ids_scope_tree){0};
}

const char *ids_scope_tree_path(struct ids_scope_tree *tree, uint32_t node) {
    size_t length = 0;
    for (uint32_t at = node; at; at = tree->nodes[at].parent) length += tree->nodes[at].name.length + 1;
    char *path = ids_arena_alloc(&tree->arena, length + 1);
    if (!path) return NULL;
    for (uint32_t at = node; at; at = tree->nodes[at].parent) {
        const struct ids_text name = tree->nodes[at].name;
        if (at != node) path[length - 1] = '/';
        length -= name.length + 1;
        memcpy(path + length, name.at, name.length);
    }
    return path;
}

static int is_digit(char c) {
    return c >= '0' && c <= '9';
}

int ids_scope_number(struct ids_text name, int run, size_t *ret_at, size_t *ret_length, int *ret_joined) {
    for (size_t at = 0; at < name.length;) {
        if (!is_digit(name.at[at])) {
            at++;
            continue;
        }
        size_t end = at;
        while (end < name.length && is_digit(name.at[end])) end++;
        if ((end == name.length || !isalpha((unsigned char)name.at[end])) && !run--) {
            *ret_at = at;
            *ret_length = end - at;
            *ret_joined = at && isalpha((unsigned char)name.at[at - 1]);
            return 1;
        }
        at = end;
    }
    return 0;
}

void ids_layer_sums_add(struct ids_layer_sums *sums, const struct ids_layer_sums *more) {
    ids_sum(&sums->self_ps, more->self_ps);
    ids_sum(&sums->divided_ps, more->divided_ps);
    for (int p = 0; p < IDS_PASS_COUNT; p++) ids_sum(&sums->pass_ps[p], more->pass_ps[p]);
    for (int a = 0; a < IDS_LAYER_ACCOUNTS; a++) ids_sum(&sums->account_ps[a], more->account_ps[a]);
    ids_sum(&sums->count, more->count);
    ids_sum(&sums->ops, more->ops);
    sums->flops += more->flops;
    sums->bytes += more->bytes;
    sums->has_flops |= more->has_flops;
    ids_op_cost_add(&sums->cost, &more->cost);
    sums->has_bytes |= more->has_bytes;
}
