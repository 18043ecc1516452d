#include "lib/report/tree.h"

#include <stdlib.h>
#include <string.h>

struct row {
    size_t at, end; /* where it stands; where the rows inside it end */
    const struct ids_value *key;
    int kept;
};

static int64_t depth_of(const struct ids_table *table, size_t row) {
    int column = table->def->flags & IDS_TABLE_TREE ? ids_table_column(table, "depth") : -1;
    return column < 0 ? 0 : ids_table_cell(table, row, column)->i;
}

static int by_key(const void *a, const void *b) {
    const struct row *left = a, *right = b;
    if (left->key->missing != right->key->missing) return left->key->missing - right->key->missing;
    if (!left->key->missing && left->key->unit == IDS_UNIT_NONE) {
        int order = strcmp(left->key->text, right->key->text);
        if (order) return order;
    } else if (!left->key->missing) {
        double l = ids_value_number(*left->key), r = ids_value_number(*right->key);
        if (l != r) return l < r ? 1 : -1;
    }
    return (left->at > right->at) - (left->at < right->at);
}

struct sorting {
    const struct ids_table *table;
    struct row *rows;
    size_t *order, count; /* the rows in their new order */
};

/* Each row takes along what is in it. */
static void sort_inside(struct sorting *sorting, size_t from, size_t to) {
    size_t count = 0;
    struct row *siblings = &sorting->rows[from]; /* those of this level move to the front: the others are found again */
    struct row *own = malloc((to - from + 1) * sizeof *own);
    if (!own) {
        for (size_t i = from; i < to; i++) sorting->order[sorting->count++] = siblings[i - from].at;
        return;
    }
    for (size_t i = from; i < to; i = sorting->rows[i].end) own[count++] = sorting->rows[i];
    qsort(own, count, sizeof *own, by_key);
    for (size_t i = 0; i < count; i++) {
        sorting->order[sorting->count++] = own[i].at;
        if (own[i].end > own[i].at + 1) sort_inside(sorting, own[i].at + 1, own[i].end);
    }
    free(own);
}

static void find_ends(const struct ids_table *table, struct row *rows) {
    for (size_t i = table->row_count; i--;) {
        rows[i] = (struct row){.at = i, .end = i + 1};
        while (rows[i].end < table->row_count && depth_of(table, rows[i].end) > depth_of(table, i))
            rows[i].end = rows[rows[i].end].end;
    }
}

static int reorder(struct ids_table *table, const size_t *order, size_t count) {
    size_t columns = (size_t)table->def->column_count;
    if (!table->row_count) return 0;
    struct ids_value *cells = malloc((count * columns + 1) * sizeof *cells);
    if (!cells) return -1;
    for (size_t i = 0; i < count; i++)
        memcpy(cells + i * columns, table->cells + order[i] * columns, columns * sizeof *cells);
    memcpy(table->cells, cells, count * columns * sizeof *cells);
    free(cells);
    table->row_count = count;
    return 0;
}

int ids_table_sort(struct ids_table *table, int column) {
    struct sorting sorting = {.table = table};
    sorting.rows = malloc((table->row_count + 1) * sizeof *sorting.rows);
    sorting.order = malloc((table->row_count + 1) * sizeof *sorting.order);
    int failed = !sorting.rows || !sorting.order;
    if (!failed) {
        find_ends(table, sorting.rows);
        for (size_t i = 0; i < table->row_count; i++) sorting.rows[i].key = ids_table_cell(table, i, column);
        sort_inside(&sorting, 0, table->row_count);
        failed = reorder(table, sorting.order, sorting.count);
    }
    free(sorting.rows);
    free(sorting.order);
    return failed ? -1 : 0;
}

/* ---- trees ---- */

struct cutting {
    struct ids_report *report;
    struct ids_table *table;
    struct row *rows;
    int depth, total, self, name, siblings;
};

static struct ids_value *cell(const struct cutting *cutting, size_t row, int column) {
    return &cutting->table->cells[row * (size_t)cutting->table->def->column_count + (size_t)column];
}

/* A scope whose time is all in the one inside it says no more than that one; a call is always said. */
static int is_only_around(const struct cutting *cutting, size_t row) {
    size_t inner = row + 1;
    if (cutting->siblings < 0) return 0;
    if (inner >= cutting->rows[row].end || cutting->rows[inner].end != cutting->rows[row].end) return 0;
    if (cell(cutting, row, cutting->self)->i) return 0;
    const struct ids_value *outside = cell(cutting, row, cutting->siblings),
                           *inside = cell(cutting, inner, cutting->siblings);
    return outside->missing || (!inside->missing && outside->i == inside->i);
}

static void join_chains(struct cutting *cutting) {
    for (size_t row = cutting->table->row_count; row--;) {
        if (!is_only_around(cutting, row)) continue;
        size_t inner = row + 1;
        struct ids_value *name = cell(cutting, inner, cutting->name);
        name->text = ids_report_text(cutting->report, "%s/%s", cell(cutting, row, cutting->name)->text, name->text);
        for (size_t i = inner; i < cutting->rows[row].end; i++) cell(cutting, i, cutting->depth)->i--;
        cutting->rows[row].kept = 0;
    }
}

static int most_time_first(const void *a, const void *b) {
    const struct row *left = a, *right = b;
    if (left->key->i != right->key->i) return left->key->i < right->key->i ? 1 : -1;
    return (left->at > right->at) - (left->at < right->at);
}

/* Those with most time: what a row is in has at least as much, and stands in front. */
static int keep_top(struct cutting *cutting, int64_t top) {
    size_t count = 0;
    struct row *kept = malloc((cutting->table->row_count + 1) * sizeof *kept);
    if (!kept) return -1;
    for (size_t i = 0; i < cutting->table->row_count; i++) {
        if (!cutting->rows[i].kept) continue;
        kept[count] = cutting->rows[i];
        kept[count++].key = cell(cutting, i, cutting->total);
    }
    if (count) qsort(kept, count, sizeof *kept, most_time_first);
    for (size_t i = (size_t)top; i < count; i++) {
        cutting->rows[kept[i].at].kept = 0;
        cutting->table->rows_left_out++;
    }
    free(kept);
    return 0;
}

int ids_table_cut_tree(struct ids_report *report, struct ids_table *table, int64_t depth, int64_t top, int join) {
    struct cutting cutting = {report,
                              table,
                              malloc((table->row_count + 1) * sizeof *cutting.rows),
                              ids_table_column(table, "depth"),
                              ids_table_column(table, "total"),
                              ids_table_column(table, "self"),
                              ids_table_column(table, "scope"),
                              ids_table_column(table, "siblings")};
    size_t *order = malloc((table->row_count + 1) * sizeof *order), count = 0;
    int failed = !cutting.rows || !order;
    if (!failed) {
        find_ends(table, cutting.rows);
        for (size_t i = 0; i < table->row_count; i++) cutting.rows[i].kept = 1;
        if (join) join_chains(&cutting);
        for (size_t i = 0; i < table->row_count; i++) {
            if (depth && cutting.rows[i].kept && cell(&cutting, i, cutting.depth)->i >= depth) cutting.rows[i].kept = 0;
        }
        failed = top && keep_top(&cutting, top);
        for (size_t i = 0; i < table->row_count; i++) {
            if (cutting.rows[i].kept) order[count++] = i;
        }
        failed = failed || reorder(table, order, count);
    }
    free(cutting.rows);
    free(order);
    return failed ? -1 : 0;
}
