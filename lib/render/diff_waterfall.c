#include "lib/render/diff_waterfall.h"

#include "lib/render/diff_notes.h"
#include "lib/render/diff_tables.h"
#include "lib/wire/shell_quote.h"

#include <math.h>
#include <string.h>

#define FULL "\xe2\x96\x88"
#define LIGHT "\xe2\x96\x91"

enum { BAR = 24, SHORT_BAR = 16, WIDE = 90, NARROW = 70, COLUMNS = 6, COMMAND_BYTES = 4352 };

/* The times between which bars are drawn. Where the change is small against the step, the axis does not begin at zero,
 * or the causes would be too short to be seen; bars that are cut begin light. */
struct axis {
    double from_ps, to_ps;
    int columns; /* fewer or none where the names beside it need the room */
};

static struct axis axis_of(const struct ids_painter *painter, const struct ids_waterfall *waterfall) {
    int width = ids_painter_width(painter), columns = width < NARROW ? 0 : width < WIDE ? SHORT_BAR : BAR;
    double least = fmin(waterfall->before_ps, waterfall->after_ps);
    double most = fmax(waterfall->before_ps, waterfall->after_ps), at = waterfall->before_ps;
    for (size_t i = 0; i < waterfall->count; i++) {
        at += waterfall->at[i].change_ps;
        least = fmin(least, at);
        most = fmax(most, at);
    }
    double from = least - (most - least) / 4;
    return (struct axis){least > most / 2 && most > least ? from : fmin(0, least), most, columns};
}

static int column_of(const struct axis *axis, double ps) {
    double whole = axis->to_ps - axis->from_ps;
    int column = whole > 0 ? (int)lround((ps - axis->from_ps) / whole * axis->columns) : 0;
    return column < 0 ? 0 : column > axis->columns ? axis->columns : column;
}

/* A bar between two times, at least one column wide. */
static const char *bar(struct ids_painter *painter, const struct axis *axis, double a_ps, double b_ps) {
    int from = column_of(axis, fmin(a_ps, b_ps)), to = column_of(axis, fmax(a_ps, b_ps));
    int is_cut = axis->from_ps > 0 && fmin(a_ps, b_ps) < axis->from_ps;
    if (!axis->columns) return "";
    if (to == from && to == axis->columns) from--;
    if (to == from) to++;
    struct ids_phrase phrase = ids_phrase_begin();
    for (int i = 0; i < to; i++) ids_phrase_add(&phrase, "%s", i < from ? " " : is_cut && i < 2 ? LIGHT : FULL);
    return ids_phrase_end(painter, &phrase);
}

static const char *share_text(struct ids_painter *painter, const struct ids_diff *diff, double part_ps) {
    struct ids_phrase phrase = ids_phrase_begin();
    if (!ids_diff_has_shares(diff)) return "";
    double share = round(part_ps / (diff->waterfall.after_ps - diff->waterfall.before_ps) * 100);
    ids_phrase_add(&phrase, "%.0f %%", share == 0 ? 0 : share);
    return ids_phrase_end(painter, &phrase);
}

/* Cells of the table `waterfall`, whose last row is what is unexplained. */
static const char *cell_text(struct ids_painter *painter, const struct ids_table *table, size_t row, const char *id) {
    const struct ids_value *cell = ids_table_cell(table, row, ids_table_column(table, id));
    return cell->missing || !cell->text ? "" : ids_text_clean(&painter->arena, cell->text);
}

static void end_row(const char ***cell, struct ids_painter *painter, const struct axis *axis, const char *title,
                    double ps) {
    *(*cell)++ = ids_painter_value(painter, ids_int_value(IDS_UNIT_TIME, (int64_t)llround(ps)));
    *(*cell)++ = "";
    *(*cell)++ = bar(painter, axis, fmin(0, axis->from_ps), ps);
    *(*cell)++ = title;
    *(*cell)++ = "";
    *(*cell)++ = "";
}

static void fill(struct ids_painter *painter, const struct ids_diff *diff, const struct ids_table *table, size_t shown,
                 size_t has_rest, const char **cell) {
    const struct ids_waterfall *waterfall = &diff->waterfall;
    const struct axis axis = axis_of(painter, waterfall);
    double at = waterfall->before_ps;
    end_row(&cell, painter, &axis, "before", waterfall->before_ps);
    for (size_t i = 0; i < shown + has_rest; i++) {
        int is_rest = i == shown;
        double change = is_rest ? waterfall->after_ps - at : waterfall->at[i].change_ps;
        *cell++ = ids_diff_signed(painter, change);
        *cell++ = share_text(painter, diff, change);
        *cell++ = bar(painter, &axis, at, at + change);
        *cell++ = is_rest ? shown < waterfall->count ? "others" : "unexplained" : waterfall->at[i].account;
        *cell++ = is_rest ? "" : cell_text(painter, table, i, "cause");
        *cell++ = is_rest ? "" : ids_diff_interval(painter, &waterfall->at[i].interval);
        at += change;
    }
    end_row(&cell, painter, &axis, "after", waterfall->after_ps);
}

/* What explains the largest cause further. */
static void write_next(struct ids_painter *painter, const struct ids_diff *diff, const char *path_b) {
    const struct ids_waterfall *waterfall = &diff->waterfall;
    char path[COMMAND_BYTES];
    if (!waterfall->count) return;
    ids_shell_quote(path_b, path, sizeof path);
    fprintf(painter->out, "  idsprof report %s --explain %s\n", ids_text_clean(&painter->arena, path),
            waterfall->at[0].account);
}

static void write_notes(struct ids_painter *painter, const struct ids_diff *diff, size_t shown) {
    size_t count;
    const char *const *notes = ids_diff_notes(painter, diff, shown, &count);
    for (size_t i = 0; i < count; i++) {
        fputs("  ", painter->out);
        ids_text_wrap(painter->out, notes[i], 2, 2, ids_painter_width(painter));
    }
}

/* What the intervals are of; without any the column is empty. */
static const char *spread_title(const struct ids_diff *diff) {
    for (size_t i = 0; i < diff->waterfall.count; i++) {
        if (diff->waterfall.at[i].interval.known) return diff->a->by_run ? "from run to run" : "from step to step";
    }
    return "";
}

void ids_render_diff_waterfall(struct ids_painter *painter, const struct ids_diff *diff, const char *path_b) {
    const struct ids_waterfall *waterfall = &diff->waterfall;
    const struct ids_table *table = ids_report_find_table(&diff->report, "waterfall");
    size_t top = (size_t)painter->render->top, shown = top && top < waterfall->count ? top : waterfall->count;
    size_t has_rest = shown < waterfall->count || llround(waterfall->unexplained_ps) != 0;
    if (!table) return;
    struct ids_grid_column columns[COLUMNS] = {{.title = diff->a->per_step ? "a step" : "the window", .right = 1},
                                               {.title = "share", .right = 1},
                                               {.title = ""},
                                               {.title = "account", .is_name = 1},
                                               {.title = "cause", .stretch = 1},
                                               {.title = spread_title(diff)}};
    struct ids_grid grid = {.columns = columns, .column_count = COLUMNS, .row_count = shown + has_rest + 2};
    grid.cells = ids_arena_alloc(&painter->arena, grid.row_count * COLUMNS * sizeof *grid.cells);
    if (!grid.cells) {
        painter->out_of_memory = 1;
        return;
    }
    fill(painter, diff, table, shown, has_rest, grid.cells);
    ids_painter_heading(painter, "where the change comes from");
    ids_painter_grid(painter, &grid);
    write_notes(painter, diff, shown);
    write_next(painter, diff, path_b);
}
