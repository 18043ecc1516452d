#include "lib/compare/held_changes.h"

#include "lib/base/intern.h"
#include "lib/base/keymap.h"
#include "lib/base/saturate.h"

#include <stdlib.h>
#include <string.h>

static const struct ids_column_def columns[] = {
    {"change", "change", IDS_UNIT_BYTES, 0},
    {"a", "before", IDS_UNIT_BYTES, 0},
    {"b", "after", IDS_UNIT_BYTES, 0},
    {"count_a", "count before", IDS_UNIT_COUNT, 0},
    {"count_b", "count after", IDS_UNIT_COUNT, 0},
    {"device", "device", IDS_UNIT_NONE, IDS_COLUMN_SPARE},
    {"kind", "kind", IDS_UNIT_NONE, IDS_COLUMN_SPARE},
    {"made_in", "made in", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_NAME},
    {"source", "source", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_SPARE},
    {"call", "by", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_SPARE},
};
const struct ids_table_def ids_held_changes_table = {
    "held_changes",
    "what lives",
    columns,
    sizeof columns / sizeof *columns,
    "What lives on devices by the line of the program that made it, where the device memory profiles of both sides "
    "differ; the largest change first.",
    0,
};

/* A row of one side or of both. */
struct pair {
    const struct ids_table *table; /* that names it */
    size_t row;
    int is_after; /* it is the table of the second side */
    int64_t a, b, count_a, count_b;
};

static const struct ids_table *held_of(const struct ids_side *side) {
    for (size_t i = side->run_count; i-- > 0;) {
        const struct ids_table *table = ids_report_find_table(side->runs[i].report, "held");
        if (table && table->row_count) return table;
    }
    return NULL;
}

int ids_is_held_alone(const struct ids_side_run *run) {
    const struct ids_table *held = ids_report_find_table(run->report, "held");
    const struct ids_metric *window = ids_report_find(run->report, "run.window", NULL);
    return held && held->row_count && (!window || window->value.missing || !window->value.i);
}

static int64_t number_at(const struct ids_table *table, size_t row, const char *column) {
    int place = ids_table_column(table, column);
    const struct ids_value *cell = place < 0 ? NULL : ids_table_cell(table, row, place);
    return cell && !cell->missing ? cell->i : 0;
}

static uint64_t key_of(const struct ids_table *table, size_t row) {
    static const char *const names[] = {"device", "kind", "made_in", "source", "call"};
    uint64_t key = 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = ids_table_text(table, row, names[i]);
        key = ids_key_of(key, ids_hash_bytes(text, strlen(text)));
    }
    return key;
}

static int add(const struct ids_table *table, int is_after, struct ids_keymap *places, struct pair *pairs,
               size_t *count) {
    for (size_t row = 0; table && row < table->row_count; row++) {
        uint64_t *place = ids_keymap_at(places, key_of(table, row));
        if (!place) return -1;
        if (!*place) {
            pairs[*count] = (struct pair){.table = table, .row = row, .is_after = is_after};
            *place = ++*count;
        }
        struct pair *pair = &pairs[*place - 1];
        ids_sum(is_after ? &pair->b : &pair->a, number_at(table, row, "bytes"));
        ids_sum(is_after ? &pair->count_b : &pair->count_a, number_at(table, row, "count"));
    }
    return 0;
}

static int64_t size_of(const struct pair *pair) {
    int64_t change = ids_sat_sub(pair->b, pair->a);
    return change < 0 ? ids_sat_sub(0, change) : change;
}

static int largest_first(const void *a, const void *b) {
    int64_t left = size_of(a), right = size_of(b);
    if (left != right) return left < right ? 1 : -1;
    const struct pair *one = a, *other = b;
    if (one->is_after != other->is_after) return one->is_after - other->is_after;
    return (one->row > other->row) - (one->row < other->row);
}

static void list(const struct pair *pair, struct ids_report *report, struct ids_table *table) {
    static const char *const names[] = {"device", "kind", "made_in", "source", "call"};
    const char *texts[5];
    for (size_t i = 0; i < 5; i++) {
        const char *text = ids_table_text(pair->table, pair->row, names[i]);
        texts[i] = *text ? text : NULL;
    }
    struct ids_value row[] = {
        ids_int_value(IDS_UNIT_BYTES, ids_sat_sub(pair->b, pair->a)),
        ids_int_value(IDS_UNIT_BYTES, pair->a),
        ids_int_value(IDS_UNIT_BYTES, pair->b),
        ids_int_value(IDS_UNIT_COUNT, pair->count_a),
        ids_int_value(IDS_UNIT_COUNT, pair->count_b),
        ids_text_value(texts[0]),
        ids_text_value(texts[1]),
        ids_text_value(texts[2] ? texts[2] : "not recorded"),
        ids_text_value(texts[3]),
        ids_text_value(texts[4]),
    };
    IDS_ROW(report, table, columns, row);
}

int ids_list_held_changes(const struct ids_side *a, const struct ids_side *b, struct ids_report *report,
                          struct ids_error *err) {
    const struct ids_table *before = held_of(a), *after = held_of(b);
    struct ids_keymap places = {0};
    size_t count = 0;
    if (!before || !after) return 0;
    struct pair *pairs = calloc(before->row_count + after->row_count, sizeof *pairs);
    struct ids_table *table = ids_report_table(report, &ids_held_changes_table);
    int failed = !pairs || add(before, 0, &places, pairs, &count) || add(after, 1, &places, pairs, &count);
    if (!failed) qsort(pairs, count, sizeof *pairs, largest_first);
    for (size_t i = 0; i < count && !failed; i++) {
        if (pairs[i].a != pairs[i].b || pairs[i].count_a != pairs[i].count_b) list(&pairs[i], report, table);
    }
    ids_keymap_done(&places);
    free(pairs);
    return failed ? ids_no_memory(err) : 0;
}
