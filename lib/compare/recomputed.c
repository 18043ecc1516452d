#include "lib/compare/recomputed.h"

#include "lib/compare/scope_of_most.h"
#include "lib/hlo/scope.h"

#include <stdlib.h>
#include <string.h>

int ids_item_is_recomputed(const struct ids_item *item) {
    return !strcmp(item->pass ? item->pass : ids_pass_of(item->op_name), "recomputed");
}

int ids_recomputed_layer(const struct ids_matches *ops, const char *program, struct ids_report *texts,
                         const char **ret_layer) {
    struct ids_placed_op *placed = calloc(2 * ops->count + 1, sizeof *placed);
    size_t count = 0;
    if (!placed) return -1;
    for (size_t i = 0; i < ops->count; i++) {
        const struct ids_item *items[] = {ops->at[i].a, ops->at[i].b};
        for (int side = 0; side < 2; side++) {
            const struct ids_item *item = items[side];
            if (!item || !ids_item_is_recomputed(item)) continue;
            const char *module = side ? item->module : ids_matches_program_in_b(ops, item->module);
            if (!strcmp(module, program)) placed[count++] = (struct ids_placed_op){item->path, side ? 1 : -1};
        }
    }
    int failed = ids_scope_of_most(placed, count, texts, ret_layer);
    free(placed);
    return failed;
}
