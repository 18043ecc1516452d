#include "analyzers/computations.h"

#include "analyzers/cost_cells.h"
#include "analyzers/op_rows.h"
#include "lib/base/intern.h"
#include "lib/base/keymap.h"
#include "lib/base/saturate.h"
#include "lib/base/vec.h"
#include "lib/report/alike_names.h"

#include <stdlib.h>
#include <string.h>

static const struct ids_column_def columns[] = {
    {"self", "self", IDS_UNIT_TIME, 0},
    {"device_time", "of the device", IDS_UNIT_TIME, IDS_COLUMN_SPARE},
    {"share", "share", IDS_UNIT_RATIO, 0},
    {"count", "count", IDS_UNIT_COUNT, 0},
    {"mean", "mean", IDS_UNIT_TIME, 0},
    {"ops", "alike", IDS_UNIT_COUNT, IDS_COLUMN_SPARE},
    {"name", "op", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"category", "category", IDS_UNIT_NONE, 0},
    {"module", "module", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"place", "in the program", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"source", "source", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_DETAIL | IDS_COLUMN_TELLS},
    {"largest", "largest", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_DETAIL},
    {"largest_self", "largest", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"class", "class", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
    {"family", "family", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
    {"flops", "flops", IDS_UNIT_COUNT, IDS_COLUMN_DETAIL},
    {"bytes", "bytes accessed", IDS_UNIT_BYTES, IDS_COLUMN_DETAIL},
    {"fingerprint", "fingerprint", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
    {"lost_in_steps", "lost in steps", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    IDS_COST_COLUMNS(IDS_COLUMN_DETAIL),
};
const struct ids_table_def ids_computations = {
    "computations",
    "ops",
    columns,
    IDS_COUNT_OF(columns),
    "The ops by what they compute, most self time first: ops of one program with the same fingerprint are one row, and "
    "so are ops of a framework that bear one name at places that differ in numbers only (layer_3, layer_4) and "
    "were called with the same shapes, where the file has them. count is executions, as in the table ops. "
    "`device_time`: "
    "see the table ops. `ops` is how many they are, none where it is one; `mean` is by execution, `largest` the one "
    "with most self time. Its flops "
    "and bytes are per execution, rates and what bounds it as in the table ops; lost_in_steps is of what it lost to "
    "the roofline the share that steps have of its time. A * stands for the numbers in which "
    "names and places differ.",
    IDS_TABLE_TOP,
};

struct computation {
    const struct ids_op_row *first; /* the largest: rows come so */
    int64_t self_ps, device_ps, total_ps, count;
    struct ids_op_cost cost;
    double lost_in_steps; /* seconds */
    struct ids_alike_names names;
};

struct computations {
    struct ids_keymap numbers;
    struct computation *at;
    size_t count, room;
};

static uint64_t hash(const char *text) {
    return ids_hash_bytes(text, strlen(text));
}

static uint64_t key_of(const struct ids_op_row *op) {
    uint64_t program = *op->module ? hash(op->module) : ids_hash_without_numbers(op->place);
    if (*op->fingerprint) return ids_key_of(program, hash(op->fingerprint));
    uint64_t name = ids_key_of(hash(op->module), hash(op->name));
    return ids_key_of(name, *op->module ? 0 : program);
}

static int add(struct computations *all, const struct ids_op_row *op) {
    uint64_t *place = ids_keymap_at(&all->numbers, key_of(op));
    if (!place) return -1;
    if (!*place) {
        struct computation *fresh = IDS_PUSH(all->at, all->count, all->room);
        if (!fresh) return -1;
        *place = all->count;
        *fresh = (struct computation){.first = op};
    }
    struct computation *same = &all->at[*place - 1];
    ids_sum(&same->self_ps, op->self_ps);
    if (op->device_ps > 0) ids_sum(&same->device_ps, op->device_ps);
    ids_sum(&same->total_ps, op->total_ps);
    ids_sum(&same->count, op->count);
    ids_op_cost_add(&same->cost, &op->cost);
    if (op->self_ps > 0) same->lost_in_steps += op->cost.lost_time * (double)op->in_steps_ps / (double)op->self_ps;
    ids_alike_add(&same->names, op->name, op->place);
    return 0;
}

static int most_first(const void *a, const void *b) {
    const struct computation *left = a, *right = b;
    if (left->self_ps != right->self_ps) return left->self_ps < right->self_ps ? 1 : -1;
    return (left->first > right->first) - (left->first < right->first);
}

static struct ids_value text_or_none(const char *text) {
    return ids_text_value(*text ? text : NULL);
}

static struct ids_value known(enum ids_unit unit, int64_t value) {
    return value < 0 ? ids_no_value(unit) : ids_int_value(unit, value);
}

static int list(struct ids_report *report, const struct computation *same, int64_t all_ps) {
    const struct ids_op_row *op = same->first;
    const char *name = ids_alike_name(report, &same->names), *place = ids_alike_place(report, &same->names);
    if (!place) return -1;
    struct ids_value cost_cells[IDS_COST_CELLS];
    ids_cost_cells(&same->cost, op->communicates, cost_cells);
    const struct ids_value row[] = {
        ids_int_value(IDS_UNIT_TIME, same->self_ps),
        same->device_ps ? ids_int_value(IDS_UNIT_TIME, same->device_ps) : ids_no_value(IDS_UNIT_TIME),
        ids_share_of(same->self_ps, all_ps),
        ids_int_value(IDS_UNIT_COUNT, same->count),
        ids_int_value(IDS_UNIT_TIME, same->count ? same->total_ps / same->count : 0),
        same->names.count > 1 ? ids_int_value(IDS_UNIT_COUNT, (int64_t)same->names.count)
                              : ids_no_value(IDS_UNIT_COUNT),
        ids_text_value(name),
        text_or_none(op->category),
        text_or_none(op->module),
        text_or_none(place),
        text_or_none(op->source),
        ids_text_value(op->name),
        ids_int_value(IDS_UNIT_TIME, op->self_ps),
        text_or_none(op->class),
        text_or_none(op->family),
        known(IDS_UNIT_COUNT, op->flops),
        known(IDS_UNIT_BYTES, op->bytes),
        text_or_none(op->fingerprint),
        ids_cost_time(same->cost.has_roof, same->lost_in_steps),
        IDS_COST_VALUES(cost_cells),
    };
    IDS_ROW(report, ids_report_table(report, &ids_computations), columns, row);
    return 0;
}

int ids_computations_list(struct ids_report *report) {
    struct computations all = {0};
    struct ids_op_rows rows;
    int failed = ids_op_rows_read(report, &rows);
    ids_report_table(report, &ids_computations);
    for (size_t i = 0; i < rows.count && !failed; i++) failed = add(&all, &rows.at[i]);
    if (all.count) qsort(all.at, all.count, sizeof *all.at, most_first);
    for (size_t i = 0; i < all.count && !failed; i++) failed = list(report, &all.at[i], rows.all_ps);
    ids_keymap_done(&all.numbers);
    free(all.at);
    ids_op_rows_done(&rows);
    return failed ? -1 : 0;
}
