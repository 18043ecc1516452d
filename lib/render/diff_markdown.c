#include "lib/render/diff_markdown.h"

#include "lib/compare/verdict_words.h"
#include "lib/render/diff_notes.h"
#include "lib/report/markdown.h"
#include "lib/wire/shell_quote.h"

#include <math.h>
#include <string.h>

#define ARROW " \xe2\x86\x92 "

enum { COMMAND_BYTES = 4352 };

static void write_title(struct ids_painter *painter, const struct ids_diff *diff) {
    FILE *out = painter->out;
    fputs("### idsprof diff: ", out);
    ids_markdown_text(out, &painter->arena, diff->a->label);
    fputs(ARROW, out);
    ids_markdown_text(out, &painter->arena, diff->b->label);
    fputs("\n\n", out);
    for (size_t i = 0; i < diff->remarks.count; i++) {
        const struct ids_remark *remark = &diff->remarks.at[i];
        fprintf(out, "- %s: ", ids_remark_severity_name(remark->severity));
        ids_markdown_text(out, &painter->arena, remark->text);
        fputc('\n', out);
    }
    if (diff->remarks.count) fputc('\n', out);
}

static void write_headline(struct ids_painter *painter, const struct ids_diff *diff) {
    static const char *const titles[] = {"figure", "before", "after", "difference", ""};
    static const int are_numbers[] = {0, 1, 1, 1, 0};
    FILE *out = painter->out;
    ids_markdown_head(out, titles, are_numbers, sizeof titles / sizeof *titles);
    for (size_t i = 0; i < diff->headline_count; i++) {
        const struct ids_difference *row = &diff->headline[i];
        char change[IDS_SIGNED_ROOM] = "";
        if (!row->has_a && !row->has_b) continue;
        if (row->has_a && row->has_b && row->a != row->b) ids_signed(change, row->unit, row->b - row->a);
        fprintf(out, "| %s | %s | %s | %s | ", row->title,
                ids_painter_value(painter, ids_figure_value(row->unit, row->has_a, row->a)),
                ids_painter_value(painter, ids_figure_value(row->unit, row->has_b, row->b)), change);
        ids_markdown_text(out, &painter->arena, ids_verdict_words(painter, row));
        fputs(" |\n", out);
    }
}

static double cell_number(const struct ids_table *table, size_t row, const char *id) {
    int column = ids_table_column(table, id);
    return column < 0 ? NAN : ids_value_number(*ids_table_cell(table, row, column));
}

static void write_cause(struct ids_painter *painter, const struct ids_diff *diff, const struct ids_table *table,
                        size_t row, int with_share) {
    FILE *out = painter->out;
    char text[IDS_SIGNED_ROOM];
    double share = cell_number(table, row, "share");
    fprintf(out, "| %s | ", ids_signed(text, IDS_UNIT_TIME, cell_number(table, row, "change")));
    if (with_share && !isnan(share)) fprintf(out, "%.0f %%", round(share * 100) + 0.0);
    fputs(" | ", out);
    ids_markdown_code(out, &painter->arena, ids_table_text(table, row, "account"));
    fputs(" | ", out);
    ids_markdown_code(out, &painter->arena, ids_table_text(table, row, "cause"));
    fputs(" | ", out);
    int is_cause = row < diff->waterfall.count; /* the last row may be what is unexplained */
    fprintf(out, "%s |\n", is_cause ? ids_diff_interval(painter, &diff->waterfall.at[row].interval) : "");
}

static void write_notes(struct ids_painter *painter, const struct ids_diff *diff, size_t shown) {
    size_t count;
    const char *const *notes = ids_diff_notes(painter, diff, shown, &count);
    for (size_t i = 0; i < count; i++) {
        fputc('\n', painter->out);
        ids_markdown_text(painter->out, &painter->arena, notes[i]);
        fputc('\n', painter->out);
    }
}

static void write_causes(struct ids_painter *painter, const struct ids_diff *diff, int64_t top) {
    static const int are_numbers[] = {1, 1, 0, 0, 0};
    const struct ids_table *table = ids_report_find_table(&diff->report, "waterfall");
    const char *const titles[] = {diff->a->per_step ? "a step" : "the window", "share", "account", "cause",
                                  diff->a->by_run ? "from run to run" : "from step to step"};
    int with_shares = ids_diff_has_shares(diff);
    size_t shown = 0, count = table ? table->row_count : 0;
    if (!count) return;
    fputs("\nWhere the change comes from:\n\n", painter->out);
    ids_markdown_head(painter->out, titles, are_numbers, sizeof titles / sizeof *titles);
    while (shown < count && (!top || shown < (size_t)top)) write_cause(painter, diff, table, shown++, with_shares);
    if (shown < count) fprintf(painter->out, "\n%zu smaller causes are left out.\n", count - shown);
    write_notes(painter, diff, shown < diff->waterfall.count ? shown : diff->waterfall.count);
}

int ids_render_diff_markdown(const struct ids_diff *diff, const struct ids_diff_render *how, int with_figures,
                             FILE *out, struct ids_error *err) {
    struct ids_painter painter;
    char path[COMMAND_BYTES];
    ids_painter_init(&painter, &diff->report, &how->render, out);
    write_title(&painter, diff);
    if (with_figures) {
        write_headline(&painter, diff);
        if (diff->waterfall.before_ps != diff->waterfall.after_ps) write_causes(&painter, diff, how->render.top);
    }
    if (with_figures && diff->waterfall.count) {
        ids_shell_quote(how->path_b, path, sizeof path);
        fprintf(out, "\n    idsprof report %s --explain %s\n", ids_text_clean(&painter.arena, path),
                diff->waterfall.at[0].account);
    }
    return ids_painter_done(&painter, err);
}
