#include "lib/compare/renumbered.h"

#include "lib/base/intern.h"
#include "lib/base/keymap.h"
#include "lib/base/vec.h"
#include "lib/hlo/scope.h"

#include <stdlib.h>
#include <string.h>

enum { LISTED_MOST = 6 }; /* layers that changed places */

static uint64_t hash(uint64_t key, const char *text) {
    return ids_key_of(key, ids_hash_bytes(text, strlen(text)));
}

/* Up to the end of the part in which two paths differ first: "blocks/layer_2" of "blocks/layer_2/mlp". */
static size_t differing_length(const char *path, const char *other) {
    size_t length = 0;
    while (path[length] && path[length] == other[length]) length++;
    while (path[length] && path[length] != '/') length++;
    return length;
}

/* A numbered scope that side b calls otherwise. */
struct renumbered {
    uint64_t kind; /* of all that differ in their numbers alone */
    const char *names[2];
};

struct renumberings {
    struct renumbered *at;
    size_t count, room;
    struct ids_keymap told;
};

static uint64_t kind_of(const char *path) {
    uint64_t key = 1;
    for (; *path; path++) {
        if (*path < '0' || *path > '9') key = ids_key_of(key, (uint64_t)*path);
    }
    return key;
}

/* By number: layer2 before layer12. */
static int compare_names(const char *a, const char *b) {
    size_t left = strlen(a), right = strlen(b);
    return left != right ? (left > right) - (left < right) : strcmp(a, b);
}

static int by_kind(const void *a, const void *b) {
    const struct renumbered *left = a, *right = b;
    if (left->kind != right->kind) return left->kind < right->kind ? -1 : 1;
    return compare_names(left->names[0], right->names[0]);
}

/* Ops of a layer that is gone have counterparts in others. */
static int is_gone_scope(const char *path) {
    const char *slash = strrchr(path, '/');
    return !strncmp(slash ? slash + 1 : path, "old ", 4);
}

static int gather(const struct ids_matches *ops, struct ids_report *texts, struct renumberings *all) {
    for (size_t i = 0; i < ops->count; i++) {
        const struct ids_match *match = &ops->at[i];
        char from[IDS_SCOPE_BYTES], to[IDS_SCOPE_BYTES];
        if (!match->a || !match->b || !strcmp(match->a->path, match->a->op_name)) continue;
        ids_scope_of(match->a->op_name, from);
        ids_scope_of(match->a->path, to);
        if (!strcmp(from, to)) continue;
        from[differing_length(from, to)] = '\0';
        to[differing_length(to, from)] = '\0';
        int is_new = is_gone_scope(to) ? 0 : ids_keymap_add(&all->told, hash(1, from), 1);
        if (is_new < 0) return -1;
        if (!is_new) continue;
        struct renumbered *place = IDS_PUSH(all->at, all->count, all->room);
        if (!place) return -1;
        *place =
            (struct renumbered){kind_of(from), {ids_report_text(texts, "%s", from), ids_report_text(texts, "%s", to)}};
    }
    if (all->count) qsort(all->at, all->count, sizeof *all->at, by_kind);
    return 0;
}

static const char *range_of(struct ids_report *texts, const struct renumbered *at, size_t count, int side) {
    return count == 1 ? at->names[side]
                      : ids_report_text(texts, "%s to %s", at->names[side], at[count - 1].names[side]);
}

/* "layer_2, layer_3" */
static const char *list_of(struct ids_report *texts, const struct renumbered *at, size_t count, int side) {
    const char *text = at->names[side];
    for (size_t i = 1; i < count && i < LISTED_MOST; i++)
        text = ids_report_text(texts, "%s, %s", text, at[i].names[side]);
    return count > LISTED_MOST ? ids_report_text(texts, "%s, and %zu more", text, count - LISTED_MOST) : text;
}

static int is_in_order(const struct renumbered *at, size_t count) {
    for (size_t i = 1; i < count; i++) {
        if (compare_names(at[i - 1].names[1], at[i].names[1]) > 0) return 0;
    }
    return 1;
}

int ids_renumbered_find(const struct ids_matches *ops, struct ids_report *texts, struct ids_renumbered **ret_found,
                        size_t *ret_count) {
    struct renumberings all = {0};
    struct ids_renumbered *found = NULL;
    size_t count = 0, room = 0;
    int failed = gather(ops, texts, &all);
    for (size_t from = 0, to; from < all.count && !failed; from = to) {
        const struct renumbered *at = &all.at[from];
        for (to = from + 1; to < all.count && all.at[to].kind == at->kind;) to++;
        size_t of = to - from;
        int in_order = is_in_order(at, of);
        const char *(*words)(struct ids_report *, const struct renumbered *, size_t, int) =
            in_order ? range_of : list_of;
        struct ids_renumbered *place = IDS_PUSH(found, count, room);
        failed = !place;
        if (place) *place = (struct ids_renumbered){words(texts, at, of, 0), words(texts, at, of, 1), of, in_order};
    }
    free(all.at);
    ids_keymap_done(&all.told);
    *ret_found = found;
    *ret_count = count;
    return failed;
}
