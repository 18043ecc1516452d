#include "lib/compare/recomputed.h"

#include "lib/base/intern.h"
#include "lib/base/keymap.h"
#include "lib/hlo/scope.h"

#include <string.h>

/* Of all those ops, so many are most of them. */
#define MOST 0.75

struct layer {
    char name[IDS_SCOPE_BYTES];
    int64_t more; /* ops of the program that side b computes again, less those that side a does */
};

int ids_item_is_recomputed(const struct ids_item *item) {
    return !strcmp(item->pass ? item->pass : ids_pass_of(item->op_name), "recomputed");
}

/* "block_1/mlp" of "block_1/mlp/gelu" inside of "block_1". 0: it is not inside, or goes no deeper. */
static size_t next_length(const char *scope, const char *around) {
    size_t length = strlen(around);
    if (!*scope || strncmp(scope, around, length) != 0) return 0;
    if (length && scope[length] != '/') return 0;
    length += length > 0;
    return length + strcspn(scope + length, "/");
}

/* What the loop below is at. */
struct reading {
    const struct ids_matches *ops;
    const char *program;
    size_t at; /* of the matches' sides: 2 * match + side */
};

static const struct ids_item *next(struct reading *reading, int *ret_side) {
    while (reading->at < 2 * reading->ops->count) {
        const struct ids_match *match = &reading->ops->at[reading->at / 2];
        int side = reading->at++ & 1;
        const struct ids_item *item = side ? match->b : match->a;
        if (!item || !ids_item_is_recomputed(item)) continue;
        const char *module = side ? item->module : ids_matches_program_in_b(reading->ops, item->module);
        if (strcmp(module, reading->program) != 0) continue;
        *ret_side = side;
        return item;
    }
    return NULL;
}

/* The scope of an op one deeper than `around`. 0: it has none. */
static uint64_t key_of_inner(const struct ids_item *item, const char *around, char scope[IDS_SCOPE_BYTES]) {
    ids_scope_of(item->path, scope);
    size_t length = next_length(scope, around);
    scope[length] = '\0';
    return length ? ids_key_of(1, ids_hash_bytes(scope, length)) : 0;
}

/* Goes on to the scope one deeper in which most of them are. 0: there is none; -1: memory ran out. */
static int find_inner(const struct ids_matches *ops, const char *program, struct layer *around) {
    struct ids_keymap counts = {0};
    char scope[IDS_SCOPE_BYTES];
    const struct ids_item *item;
    int side, found = 0;
    int64_t all = 0;
    for (struct reading reading = {ops, program, 0}; (item = next(&reading, &side)) && found >= 0;) {
        uint64_t key = key_of_inner(item, around->name, scope), *count = key ? ids_keymap_at(&counts, key) : NULL;
        if (key && !count) found = -1;
        if (count) *count += side ? 1 : UINT64_MAX;
        all += side ? 1 : -1;
    }
    if (!*around->name) around->more = all;
    for (struct reading reading = {ops, program, 0}; (item = next(&reading, &side)) && !found && around->more;) {
        uint64_t count;
        if (!ids_keymap_get(&counts, key_of_inner(item, around->name, scope), &count)) continue;
        found = (double)(int64_t)count / (double)around->more >= MOST;
    }
    if (found > 0) memcpy(around->name, scope, sizeof scope);
    ids_keymap_done(&counts);
    return found;
}

int ids_recomputed_layer(const struct ids_matches *ops, const char *program, struct ids_report *texts,
                         const char **ret_layer) {
    struct layer layer = {.name = ""};
    int code = 1;
    while (code > 0) code = find_inner(ops, program, &layer);
    *ret_layer = *layer.name ? ids_report_text(texts, "%s", layer.name) : NULL;
    return code;
}
