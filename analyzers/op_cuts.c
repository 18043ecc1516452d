#include "analyzers/op_cuts.h"

#include "lib/base/intern.h"
#include "lib/base/keymap.h"
#include "lib/base/saturate.h"
#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

/* The last column is what it is cut by. */
#define CUT(name, title)                                                                                              \
    {"self", "self", IDS_UNIT_TIME, 0}, {"share", "share", IDS_UNIT_RATIO, 0}, {"count", "count", IDS_UNIT_COUNT, 0}, \
        {"ops", "ops", IDS_UNIT_COUNT, 0}, {"flops", "flops", IDS_UNIT_NUMBER, IDS_COLUMN_SPARE},                     \
        {"bytes", "bytes accessed", IDS_UNIT_BYTES, IDS_COLUMN_SPARE}, {                                              \
        name, title, IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_NAME                                                 \
    }
static const struct ids_column_def module_columns[] = {CUT("module", "module")};
static const struct ids_column_def source_columns[] = {CUT("source", "source")};
static const struct ids_column_def family_columns[] = {CUT("family", "family")};

#define SUMS_TO " The rows sum to all device time. flops and bytes are of all executions, where the file has them."
const struct ids_table_def ids_time_by_module = {
    "time_by_module",
    "time by program",
    module_columns,
    IDS_COUNT_OF(module_columns),
    "Self time of the ops by the compiled program that they are in, over all devices; none: of no known "
    "program." SUMS_TO,
    IDS_TABLE_HIDDEN,
};
const struct ids_table_def ids_time_by_source = {
    "time_by_source",
    "time by line of source",
    source_columns,
    IDS_COUNT_OF(source_columns),
    "Self time of the ops by the file and line of the program that they come from, over all devices; none: the file "
    "does not say." SUMS_TO,
    IDS_TABLE_HIDDEN,
};
const struct ids_table_def ids_time_by_family = {
    "time_by_family",
    "time by family",
    family_columns,
    IDS_COUNT_OF(family_columns),
    "Self time of the ops by what their names tell of what they compute, over all devices; none: activity without an "
    "op." SUMS_TO,
    IDS_TABLE_HIDDEN,
};

struct cut {
    const char *name;
    int64_t self_ps, count, ops;
    double flops, bytes;
    int has_flops, has_bytes;
};

struct cuts {
    struct ids_keymap numbers;
    struct cut *at;
    size_t count, room;
};

static struct cut *cut_of(struct cuts *cuts, const char *name) {
    uint64_t *place = ids_keymap_at(&cuts->numbers, ids_key_of(ids_hash_bytes(name, strlen(name)), 1));
    if (!place) return NULL;
    if (!*place) {
        struct cut *fresh = IDS_PUSH(cuts->at, cuts->count, cuts->room);
        if (!fresh) return NULL;
        *place = cuts->count;
        *fresh = (struct cut){.name = name};
    }
    return &cuts->at[*place - 1];
}

static int add(struct cuts *cuts, const char *name, const struct ids_op_row *op) {
    struct cut *cut = cut_of(cuts, name);
    if (!cut) return -1;
    ids_sum(&cut->self_ps, op->self_ps);
    ids_sum(&cut->count, op->count);
    cut->ops++;
    double flops, bytes;
    cut->has_flops |= ids_op_row_of_runs(op, op->flops, &flops);
    cut->has_bytes |= ids_op_row_of_runs(op, op->bytes, &bytes);
    cut->flops += flops;
    cut->bytes += bytes;
    return 0;
}

static int most_first(const void *a, const void *b) {
    const struct cut *left = a, *right = b;
    if (left->self_ps != right->self_ps) return left->self_ps < right->self_ps ? 1 : -1;
    return strcmp(left->name, right->name);
}

/* `unnamed`: what is said of ops without a name of this kind. */
static void list(struct ids_report *report, const struct ids_table_def *def, const struct cut *cut, int64_t all_ps,
                 const char *unnamed) {
    const struct ids_value row[] = {
        ids_int_value(IDS_UNIT_TIME, cut->self_ps),
        ids_share_of(cut->self_ps, all_ps),
        ids_int_value(IDS_UNIT_COUNT, cut->count),
        ids_int_value(IDS_UNIT_COUNT, cut->ops),
        cut->has_flops ? ids_real_value(IDS_UNIT_NUMBER, cut->flops) : ids_no_value(IDS_UNIT_NUMBER),
        cut->has_bytes ? ids_int_value(IDS_UNIT_BYTES, cut->bytes < 9e18 ? (int64_t)cut->bytes : INT64_MAX)
                       : ids_no_value(IDS_UNIT_BYTES),
        ids_text_value(*cut->name ? cut->name : unnamed),
    };
    IDS_ROW(report, ids_report_table(report, def), module_columns, row);
}

static const char *module_of(const struct ids_op_row *op) {
    return op->module;
}
static const char *source_of(const struct ids_op_row *op) {
    return op->source;
}
static const char *family_of(const struct ids_op_row *op) {
    return op->family;
}

static int put(struct ids_report *report, const struct ids_op_rows *rows, const struct ids_table_def *def,
               const char *(*name_of)(const struct ids_op_row *), const char *why_none) {
    struct cuts cuts = {0};
    int failed = 0;
    ids_report_table(report, def);
    for (size_t i = 0; i < rows->count && !failed; i++) failed = add(&cuts, name_of(&rows->at[i]), &rows->at[i]);
    struct cut *other = !failed && rows->other_count ? cut_of(&cuts, "") : NULL;
    failed |= rows->other_count && !other;
    if (other) {
        ids_sum(&other->self_ps, rows->other_ps);
        ids_sum(&other->count, rows->other_count);
    }
    if (cuts.at) qsort(cuts.at, cuts.count, sizeof *cuts.at, most_first);
    for (size_t i = 0; i < cuts.count && !failed; i++)
        list(report, def, &cuts.at[i], rows->all_ps, cuts.count == 1 ? why_none : NULL);
    ids_keymap_done(&cuts.numbers);
    free(cuts.at);
    return failed ? -1 : 0;
}

int ids_op_cuts(struct ids_report *report, const struct ids_op_rows *rows) {
    static const char no_program[] = "no op of this recording names a compiled program (XLA's ops do)",
                      no_source[] = "no op of this recording names its line of source (XLA's ops do, and PyTorch's "
                                    "with with_stack=True)";
    int failed = put(report, rows, &ids_time_by_module, module_of, no_program) ||
                 put(report, rows, &ids_time_by_source, source_of, no_source) ||
                 put(report, rows, &ids_time_by_family, family_of, NULL);
    return failed ? -1 : 0;
}
