#include "lib/compare/culprit.h"

#include "lib/base/intern.h"
#include "lib/base/keymap.h"
#include "lib/base/vec.h"
#include "lib/compare/ledger_rows.h"

#include <stdlib.h>
#include <string.h>

struct culprits {
    struct ids_culprit *at;
    size_t count, room;
    struct ids_keymap numbers; /* name -> index + 1 */
};

/* By name alone: the line of a function moves from version to version. */
static struct ids_culprit *culprit_named(struct culprits *culprits, const char *name) {
    uint64_t *number = ids_keymap_at(&culprits->numbers, ids_key_of(ids_hash_bytes(name, strlen(name)), 1));
    if (!number) return NULL;
    if (*number) return &culprits->at[*number - 1];
    struct ids_culprit *culprit = IDS_PUSH(culprits->at, culprits->count, culprits->room);
    if (!culprit) return NULL;
    *culprit = (struct ids_culprit){.name = name};
    *number = culprits->count;
    return culprit;
}

static int add_run(struct culprits *culprits, const struct ids_side *side, const struct ids_side_run *run,
                   const char *account, double scale, int is_b) {
    struct ids_ledger_row row;
    if (!ids_ledger_is_comparable(side, run)) return 0;
    for (struct ids_ledger_reading at = ids_ledger_begin(run); ids_ledger_next(&at, &row);) {
        if (!row.culprit || strcmp(row.account, account) != 0) continue;
        struct ids_culprit *culprit = culprit_named(culprits, row.culprit);
        if (!culprit) return -1;
        if (!culprit->places[is_b]) culprit->places[is_b] = row.where;
        *(is_b ? &culprit->b_ps : &culprit->a_ps) += row.per_step_ps * scale * run->weight;
    }
    return 0;
}

int ids_culprit_find(const struct ids_side *a, double scale_a, const struct ids_side *b, const char *account, int sign,
                     struct ids_culprit *ret_culprit) {
    struct culprits culprits = {0};
    int failed = 0;
    *ret_culprit = (struct ids_culprit){0};
    for (size_t i = 0; i < b->run_count && !failed; i++) failed = add_run(&culprits, b, &b->runs[i], account, 1, 1);
    for (size_t i = 0; i < a->run_count && !failed; i++)
        failed = add_run(&culprits, a, &a->runs[i], account, scale_a, 0);
    double most = 0;
    for (size_t i = 0; i < culprits.count && !failed; i++) {
        double change = sign * (culprits.at[i].b_ps - culprits.at[i].a_ps);
        if (change <= most) continue;
        most = change;
        *ret_culprit = culprits.at[i];
        int is_b = ret_culprit->places[1] && !(ret_culprit->places[0] && ret_culprit->a_ps > ret_culprit->b_ps);
        ret_culprit->where = ret_culprit->places[is_b];
    }
    free(culprits.at);
    ids_keymap_done(&culprits.numbers);
    return failed;
}
