#include "lib/compare/culprit.h"

#include "lib/base/intern.h"
#include "lib/base/keymap.h"
#include "lib/base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct culprits {
    struct ids_culprit *at;
    size_t count, room;
    struct ids_keymap numbers; /* name -> index + 1 */
};

static const char *text_at(const struct ids_table *table, size_t row, int column) {
    const struct ids_value *cell = column < 0 ? NULL : ids_table_cell(table, row, column);
    return cell && !cell->missing && cell->unit == IDS_UNIT_NONE ? cell->text : NULL;
}

/* By name alone: the line of a function moves from version to version. */
static struct ids_culprit *culprit_named(struct culprits *culprits, const char *name, const char *where) {
    uint64_t *number = ids_keymap_at(&culprits->numbers, ids_key_of(ids_hash_bytes(name, strlen(name)), 1));
    if (!number) return NULL;
    if (*number) return &culprits->at[*number - 1];
    struct ids_culprit *culprit = IDS_PUSH(culprits->at, culprits->count, culprits->room);
    if (!culprit) return NULL;
    *culprit = (struct ids_culprit){.name = name, .where = where};
    *number = culprits->count;
    return culprit;
}

/* A ledger is of the steps where a run has them, whatever the comparison is per. */
static int is_comparable(const struct ids_side *side, const struct ids_side_run *run) {
    return side->per_step || !run->steps;
}

static int add_run(struct culprits *culprits, const struct ids_side *side, const struct ids_side_run *run,
                   const char *account, double scale, int is_b) {
    const struct ids_table *ledger = ids_report_find_table(run->report, "ledger");
    int accounts = ids_table_column(ledger, "account"), names = ids_table_column(ledger, "culprit");
    int wheres = ids_table_column(ledger, "where"), times = ids_table_column(ledger, "per_step");
    if (accounts < 0 || names < 0 || times < 0 || !is_comparable(side, run)) return 0;
    for (size_t row = 0; row < ledger->row_count; row++) {
        const char *of = text_at(ledger, row, accounts), *name = text_at(ledger, row, names);
        double time_ps = ids_value_number(*ids_table_cell(ledger, row, times));
        if (!of || !name || strcmp(of, account) != 0 || isnan(time_ps)) continue;
        struct ids_culprit *culprit = culprit_named(culprits, name, text_at(ledger, row, wheres));
        if (!culprit) return -1;
        *(is_b ? &culprit->b_ps : &culprit->a_ps) += time_ps * scale / (double)side->run_count;
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
    }
    free(culprits.at);
    ids_keymap_done(&culprits.numbers);
    return failed;
}
