#include "lib/render/levels_text.h"

#include "lib/base/counted.h"
#include "lib/compare/verdict_words.h"

static const char *change_text(struct ids_painter *painter, const struct ids_difference *difference) {
    char buffer[IDS_SIGNED_ROOM];
    struct ids_phrase phrase = ids_phrase_begin();
    ids_phrase_add(&phrase, "%s", ids_signed(buffer, difference->unit, difference->b - difference->a));
    return ids_phrase_end(painter, &phrase);
}

static const char *verdict_word(enum ids_verdict verdict) {
    return verdict == IDS_VERDICT_REGRESSION    ? "REGRESSION"
           : verdict == IDS_VERDICT_IMPROVEMENT ? "improvement"
           : verdict == IDS_VERDICT_DIFFERS     ? "differs"
           : verdict == IDS_VERDICT_SAME        ? "same"
           : verdict == IDS_VERDICT_COUNTED     ? ""
                                                : "unsure";
}

static const char *interval_text(struct ids_painter *painter, const struct ids_difference *difference) {
    char low[IDS_SIGNED_ROOM], high[IDS_SIGNED_ROOM];
    struct ids_phrase phrase = ids_phrase_begin();
    if (difference->interval.known && difference->verdict != IDS_VERDICT_SAME)
        ids_phrase_add(&phrase, "%s to %s", ids_signed(low, difference->unit, difference->interval.typical.low),
                       ids_signed(high, difference->unit, difference->interval.typical.high));
    return ids_phrase_end(painter, &phrase);
}

static void write_rows(struct ids_painter *painter, const struct ids_levels *levels, int metrics, int64_t top) {
    enum { COLUMNS = 6 };
    struct ids_grid_column columns[COLUMNS] = {{.title = "figure", .is_name = 1, .stretch = 1},
                                               {.title = "A", .right = 1},
                                               {.title = "B", .right = 1},
                                               {.title = "change", .right = 1},
                                               {.title = ""},
                                               {.title = "99 %"}};
    struct ids_grid grid = {.columns = columns, .column_count = COLUMNS};
    const char **cell = grid.cells = ids_arena_alloc(&painter->arena, (COLUMNS * levels->count + 1) * sizeof *cell);
    size_t more = 0;
    if (!cell) {
        painter->out_of_memory = 1;
        return;
    }
    for (size_t i = 0; i < levels->count; i++) {
        const struct ids_difference *difference = &levels->at[i].difference;
        int is_nothing = difference->a == 0 && difference->b == 0;
        if (levels->at[i].is_metric != metrics || is_nothing) continue;
        if (top && grid.row_count == (size_t)top && ++more) continue;
        *cell++ = ids_text_clean(&painter->arena, difference->title);
        *cell++ = ids_painter_value(painter, ids_figure_value(difference->unit, 1, difference->a));
        *cell++ = ids_painter_value(painter, ids_figure_value(difference->unit, 1, difference->b));
        *cell++ = change_text(painter, difference);
        *cell++ = verdict_word(difference->verdict);
        *cell++ = interval_text(painter, difference);
        grid.row_count++;
    }
    if (!grid.row_count) return;
    ids_painter_heading(painter, metrics ? "figures" : "times that differ");
    ids_painter_grid(painter, &grid);
    struct ids_phrase phrase = ids_phrase_begin();
    ids_phrase_add(&phrase, "%s with --top 0", IDS_COUNTED(more, "more row"));
    const char *rest = ids_phrase_end(painter, &phrase);
    if (more) ids_painter_item(painter, "", 2, rest);
}

int ids_render_levels(const struct ids_levels *levels, const char *a, const char *b, const struct ids_render *render,
                      FILE *out, struct ids_error *err) {
    struct ids_painter painter;
    ids_painter_init(&painter, &levels->report, render, out);
    fprintf(out, "A %s (%s)", ids_text_clean(&painter.arena, a), IDS_COUNTED(levels->a.count, "run"));
    fprintf(out, " \xc2\xb7 B %s (%s)\n", ids_text_clean(&painter.arena, b), IDS_COUNTED(levels->b.count, "run"));
    if (levels->a.count < IDS_SAMPLE_LEAST || levels->b.count < IDS_SAMPLE_LEAST)
        ids_painter_item(&painter, "note", 8,
                         "fewer than three runs on a side do not tell how much runs differ by chance");
    write_rows(&painter, levels, 1, 0);
    write_rows(&painter, levels, 0, render->top);
    return ids_painter_done(&painter, err);
}
