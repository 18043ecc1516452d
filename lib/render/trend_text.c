#include "lib/render/trend_text.h"

#include "lib/base/counted.h"
#include "lib/compare/verdict_words.h"

#include <string.h>

enum { FIGURES_SHOWN = 6 };

static const char *keep(struct ids_painter *painter, const char *text) {
    const char *copy = ids_arena_copy(&painter->arena, text, strlen(text));
    if (!copy) painter->out_of_memory = 1;
    return copy ? copy : "";
}

static void write_runs(struct ids_painter *painter, const struct ids_trend *trend) {
    size_t figures = trend->figure_count < FIGURES_SHOWN ? trend->figure_count : FIGURES_SHOWN;
    struct ids_grid grid = {.column_count = figures + 2, .row_count = trend->side->run_count};
    grid.columns = ids_arena_alloc(&painter->arena, grid.column_count * sizeof *grid.columns);
    const char **cell = grid.cells =
        ids_arena_alloc(&painter->arena, (grid.column_count * grid.row_count + 1) * sizeof *grid.cells);
    if (!grid.columns || !grid.cells) {
        painter->out_of_memory = 1;
        return;
    }
    grid.columns[0] = (struct ids_grid_column){.title = trend->x_is_step ? "step" : "run", .right = 1};
    for (size_t f = 0; f < figures; f++)
        grid.columns[f + 1] = (struct ids_grid_column){.title = trend->values[0][f].title, .right = 1};
    grid.columns[figures + 1] = (struct ids_grid_column){.title = "run", .stretch = 1};
    for (size_t i = 0; i < grid.row_count; i++) {
        *cell++ = ids_painter_value(painter, ids_int_value(IDS_UNIT_COUNT, (int64_t)trend->x[i]));
        for (size_t f = 0; f < figures; f++) {
            const struct ids_difference *value = &trend->values[i][f];
            *cell++ =
                value->has_a ? ids_painter_value(painter, ids_figure_value(value->unit, value->has_a, value->a)) : "-";
        }
        *cell++ = ids_text_clean(&painter->arena, trend->side->runs[i].name);
    }
    fputc('\n', painter->out);
    ids_painter_grid(painter, &grid);
}

/* "+1.2 ms per 1,000 steps" */
static const char *slope_text(struct ids_painter *painter, const struct ids_trend *trend, enum ids_unit unit,
                              double slope) {
    char buffer[IDS_SIGNED_ROOM];
    return keep(painter, ids_signed(buffer, unit, slope * (trend->x_is_step ? 1000 : 1)));
}

static void write_lines(struct ids_painter *painter, const struct ids_trend *trend) {
    enum { COLUMNS = 6 };
    struct ids_grid_column columns[COLUMNS] = {{.title = "", .stretch = 1},
                                               {.title = "first", .right = 1},
                                               {.title = "last", .right = 1},
                                               {.title = trend->x_is_step ? "per 1,000 steps" : "per run", .right = 1},
                                               {.title = "99 %"},
                                               {.title = ""}};
    struct ids_grid grid = {.columns = columns, .column_count = COLUMNS, .row_count = trend->line_count};
    const char **cell = grid.cells =
        ids_arena_alloc(&painter->arena, (COLUMNS * grid.row_count + 1) * sizeof *grid.cells);
    if (!cell) {
        painter->out_of_memory = 1;
        return;
    }
    for (size_t i = 0; i < grid.row_count; i++) {
        const struct ids_trend_line *line = &trend->lines[i];
        struct ids_phrase phrase = ids_phrase_begin();
        if (line->slope.known)
            ids_phrase_add(&phrase, "%s to %s", slope_text(painter, trend, line->unit, line->slope.low),
                           slope_text(painter, trend, line->unit, line->slope.high));
        *cell++ = ids_text_clean(&painter->arena, line->title);
        *cell++ = ids_painter_value(painter, ids_figure_value(line->unit, 1, line->first));
        *cell++ = ids_painter_value(painter, ids_figure_value(line->unit, 1, line->last));
        *cell++ = slope_text(painter, trend, line->unit, line->slope.slope);
        *cell++ = ids_phrase_end(painter, &phrase);
        *cell++ = line->verdict != IDS_TREND_UNKNOWN ? ids_trend_verdict_name(line->verdict)
                  : line->slope.known                ? "unsure"
                                                     : "too few runs to tell";
    }
    ids_painter_heading(painter, "trend");
    ids_painter_grid(painter, &grid);
}

int ids_render_trend(const struct ids_trend *trend, const struct ids_render *render, FILE *out, struct ids_error *err) {
    struct ids_painter painter;
    ids_painter_init(&painter, &trend->report, render, out);
    fprintf(out, "%s in the order of %s \xc2\xb7 per %s\n", IDS_COUNTED(trend->side->run_count, "run"),
            trend->x_is_step ? "their steps" : "their times", trend->side->per_step ? "step" : "window");
    for (size_t i = 0; i < trend->remarks.count; i++) {
        fprintf(out, "  %-7s  ", ids_remark_severity_name(trend->remarks.at[i].severity));
        ids_text_wrap(out, ids_text_clean(&painter.arena, trend->remarks.at[i].text), 11, 11,
                      ids_painter_width(&painter));
    }
    write_runs(&painter, trend);
    write_lines(&painter, trend);
    return ids_painter_done(&painter, err);
}
