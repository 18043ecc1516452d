#include "lib/compare/scope_of_most.h"

#include "lib/base/intern.h"
#include "lib/base/keymap.h"
#include "lib/hlo/scope.h"

#include <string.h>

/* Of all of them, so many are most. */
#define MOST 0.75

/* "block_1/mlp" of "block_1/mlp/gelu" inside of "block_1". 0: it is not inside, or goes no deeper. */
static size_t next_length(const char *scope, const char *around) {
    size_t length = strlen(around);
    if (!*scope || strncmp(scope, around, length) != 0) return 0;
    if (length && scope[length] != '/') return 0;
    length += length > 0;
    return length + strcspn(scope + length, "/");
}

/* The scope of an op one deeper than `around`. 0: it has none. */
static uint64_t key_of_inner(const char *path, const char *around, char scope[IDS_SCOPE_BYTES]) {
    ids_scope_of(path, scope);
    size_t length = next_length(scope, around);
    scope[length] = '\0';
    return length ? ids_key_of(1, ids_hash_bytes(scope, length)) : 0;
}

/* Goes on to the scope one deeper in which most of them are. 0: there is none; -1: memory ran out. */
static int find_inner(const struct ids_placed_op *ops, size_t op_count, char around[IDS_SCOPE_BYTES]) {
    struct ids_keymap counts = {0};
    char scope[IDS_SCOPE_BYTES];
    int64_t all = 0;
    int found = 0;
    for (size_t i = 0; i < op_count && !found; i++) {
        uint64_t key = key_of_inner(ops[i].path, around, scope), *count = key ? ids_keymap_at(&counts, key) : NULL;
        if (key && !count) found = -1;
        if (count) *count += (uint64_t)(int64_t)ops[i].more;
        all += ops[i].more;
    }
    for (size_t i = 0; i < op_count && !found && all; i++) {
        uint64_t count;
        if (!ids_keymap_get(&counts, key_of_inner(ops[i].path, around, scope), &count)) continue;
        found = (double)(int64_t)count / (double)all >= MOST;
    }
    if (found > 0) memcpy(around, scope, sizeof scope);
    ids_keymap_done(&counts);
    return found;
}

int ids_scope_of_most(const struct ids_placed_op *ops, size_t count, struct ids_report *texts, const char **ret_scope) {
    char scope[IDS_SCOPE_BYTES] = "";
    int code = 1;
    while (code > 0) code = find_inner(ops, count, scope);
    *ret_scope = *scope ? ids_report_text(texts, "%s", scope) : NULL;
    return code;
}
