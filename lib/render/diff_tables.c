#include "lib/render/diff_tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SUMS_SHOWN = 3 };

static int sort_column, sort_by_text;

static int by_column(const void *a, const void *b) {
    const struct ids_value *left = (const struct ids_value *)a + sort_column;
    const struct ids_value *right = (const struct ids_value *)b + sort_column;
    if (left->missing != right->missing) return left->missing ? 1 : -1;
    if (sort_by_text) return strcmp(left->text, right->text);
    double l = ids_value_number(*left), r = ids_value_number(*right);
    return (l < r) - (l > r);
}

void ids_diff_sort_table(struct ids_table *table, enum ids_diff_sort sort) {
    static const char *const columns[] = {NULL, "ratio", "a", "b", "name"};
    if (sort == IDS_DIFF_BY_CHANGE || !table || !table->row_count) return;
    sort_column = ids_table_column(table, columns[sort]);
    sort_by_text = sort == IDS_DIFF_BY_NAME;
    qsort(table->cells, table->row_count, (size_t)table->def->column_count * sizeof *table->cells, by_column);
}

static int is_any_called(const struct ids_table *table, int class) {
    for (size_t row = 0; row < table->row_count; row++) {
        const char *word = ids_table_cell(table, row, class)->text;
        if (!strcmp(word, "slower") || !strcmp(word, "faster")) return 1;
    }
    return 0;
}

/* How many ops the row is of. */
static size_t ops_of(const struct ids_table *table, size_t row) {
    int column = ids_table_column(table, "ops");
    const struct ids_value *cell = column < 0 ? NULL : ids_table_cell(table, row, column);
    return cell && !cell->missing ? (size_t)cell->i : 1;
}

/* The rows whose cell is not "same", or all where everything is asked for. */
void ids_render_diff_matches(struct ids_painter *painter, const struct ids_diff *diff, const char *id) {
    const struct ids_table *table = ids_report_find_table(&diff->report, id);
    int class = ids_table_column(table, "class");
    if (class < 0 || !table->row_count) return;
    size_t columns = (size_t)table->def->column_count, same = 0, unsure = 0;
    struct ids_table shown = {.id = table->id, .def = table->def};
    shown.cells = ids_arena_alloc(&painter->arena, table->row_count * columns * sizeof *shown.cells);
    if (!shown.cells) {
        painter->out_of_memory = 1;
        return;
    }
    for (size_t row = 0; row < table->row_count; row++) {
        const char *word = ids_table_cell(table, row, class)->text;
        int is_same = !strcmp(word, "same"), is_unsure = !strcmp(word, "unsure");
        same += is_same ? ops_of(table, row) : 0;
        unsure += is_unsure ? ops_of(table, row) : 0;
        if ((is_same || is_unsure) && painter->render->top) continue;
        memcpy(&shown.cells[shown.row_count++ * columns], ids_table_cell(table, row, 0), columns * sizeof *shown.cells);
    }
    ids_painter_table(painter, &shown, painter->render->top, 0);
    if (!diff->a->by_run && !(diff->options.noise > 0) && is_any_called(&shown, class))
        fputs("  slower and faster in these recordings: the next ones may differ as much\n", painter->out);
    if (!painter->render->top || same + unsure == 0) return;
    fprintf(painter->out, "%s  of the %s ", shown.row_count ? "" : "\n", strcmp(id, "kernels") ? "ops" : id);
    if (same) fprintf(painter->out, "%zu %s the same", same, same == 1 ? "is" : "are");
    if (unsure) fprintf(painter->out, "%s%zu cannot be told from the spread", same ? ", " : "", unsure);
    fputc('\n', painter->out);
}

/* Sums that moved the whole by more than the threshold. */
void ids_render_diff_sums(struct ids_painter *painter, const struct ids_diff *diff, const char *id) {
    const struct ids_table *table = ids_report_find_table(&diff->report, id);
    double whole = fmax((double)diff->parts.whole_a_ps, (double)diff->parts.whole_b_ps);
    int change = ids_table_column(table, "change"), added = ids_table_column(table, "added");
    int removed = ids_table_column(table, "removed");
    if (!table || change < 0) return;
    struct ids_table shown = *table;
    shown.row_count = 0;
    while (shown.row_count < table->row_count) { /* in the order of the change */
        size_t row = shown.row_count;
        double ps = fabs(ids_value_number(*ids_table_cell(table, row, change)));
        int moved = ids_table_cell(table, row, added)->i || ids_table_cell(table, row, removed)->i;
        if (ps == 0 || (ps < 0.002 * whole && !moved && painter->render->top)) break;
        shown.row_count++;
    }
    int64_t top = painter->render->top;
    ids_painter_table(painter, &shown, top > SUMS_SHOWN ? SUMS_SHOWN : top, 0);
}

/* The most telling rows: of the programs and their ops, where they differ at all. */
void ids_render_diff_structure(struct ids_painter *painter, const struct ids_diff *diff) {
    const struct ids_table *table = ids_report_find_table(&diff->report, "structure");
    if (table && table->row_count) ids_painter_table(painter, table, painter->render->top, 0);
}
