#include "lib/render/check_text.h"

#include "lib/render/check_words.h"
#include "lib/report/markdown.h"
#include "lib/report/painter.h"
#include "lib/wire/shell_quote.h"

#include <string.h>

enum { COMMAND_BYTES = 4352, COLUMNS = 7 };

/* ---- what helps next ---- */

static const struct ids_check_row *first_open(const struct ids_check *check) {
    for (size_t i = 0; i < check->count; i++) {
        if (ids_check_is_open(&check->at[i])) return &check->at[i];
    }
    return NULL;
}

static int any_against_baseline(const struct ids_check *check) {
    for (size_t i = 0; i < check->count; i++) {
        if (ids_check_is_open(&check->at[i]) && check->at[i].has_before) return 1;
    }
    return 0;
}

/* One command a line, between what stands before and behind it. */
static void write_next(const struct ids_check *check, const struct ids_check_render *how, const char *before,
                       FILE *out) {
    char path[COMMAND_BYTES], other[COMMAND_BYTES];
    const struct ids_check_row *row = first_open(check);
    if (!row) return;
    ids_shell_quote(how->path, path, sizeof path);
    if (how->baseline && any_against_baseline(check)) {
        ids_shell_quote(how->baseline, other, sizeof other);
        if (how->is_saved)
            fprintf(out, "%sidsprof diff --against %s %s\n", before, other, path);
        else
            fprintf(out, "%sidsprof diff %s %s\n", before, other, path);
    }
    ids_shell_quote(how->is_one_run || !row->path ? how->path : row->path, path, sizeof path);
    fprintf(out, "%sidsprof report %s %s\n", before, path, row->limit->subject.next);
}

/* ---- on a terminal ---- */

/* Why a limit failed or cannot be told, and what was accepted, are said below the table: they are never shortened. */
static int has_line(const struct ids_check_row *row) {
    return ids_check_is_open(row) || row->accepted;
}

static const char **fill_row(struct ids_painter *painter, const struct ids_check_row *row, int with_baseline,
                             const char **cell) {
    struct ids_arena *arena = &painter->arena;
    *cell++ = ids_check_word(row->verdict);
    *cell++ = ids_text_clean(arena, row->limit->subject.metric->id);
    *cell++ = ids_check_value_text(arena, row);
    *cell++ = ids_check_bound_text(arena, row);
    if (with_baseline) *cell++ = ids_check_baseline_text(arena, row);
    *cell++ = ids_text_clean(arena, row->run);
    *cell++ =
        ids_text_clean(arena, has_line(row) ? ids_check_steps_text(arena, row) : ids_check_remark_text(arena, row));
    return cell;
}

static int any_before(const struct ids_check *check) {
    for (size_t i = 0; i < check->count; i++) {
        if (check->at[i].has_before) return 1;
    }
    return 0;
}

static void write_rows(struct ids_painter *painter, const struct ids_check *check, int all) {
    static const struct ids_grid_column baseline = {.title = "baseline"}, run = {.title = "run", .stretch = 1},
                                        note = {.title = "", .stretch = 1};
    struct ids_grid_column columns[COLUMNS] = {{.title = ""},
                                               {.title = "figure", .is_name = 1, .stretch = 1},
                                               {.title = "value", .right = 1},
                                               {.title = "limit"}};
    struct ids_grid grid = {.columns = columns, .column_count = 4};
    int with_baseline = any_before(check);
    if (with_baseline) columns[grid.column_count++] = baseline;
    columns[grid.column_count++] = run;
    columns[grid.column_count++] = note;
    grid.cells = ids_arena_alloc(&painter->arena, (COLUMNS * check->count + 1) * sizeof *grid.cells);
    if (!grid.cells) {
        painter->out_of_memory = 1;
        return;
    }
    const char **cell = grid.cells;
    for (size_t i = 0; i < check->count; i++) {
        if (!all && !ids_check_is_open(&check->at[i])) continue;
        cell = fill_row(painter, &check->at[i], with_baseline, cell);
        grid.row_count++;
    }
    if (!grid.row_count) return;
    ids_painter_grid(painter, &grid);
}

static int has_same_reason(struct ids_painter *painter, const struct ids_check_row *a, const struct ids_check_row *b) {
    struct ids_arena *arena = &painter->arena;
    return has_line(a) && has_line(b) && !strcmp(ids_check_note_text(arena, a), ids_check_note_text(arena, b));
}

/* "steps.mean, idle.share: so few recordings ...". */
static const char *reason_text(struct ids_painter *painter, const struct ids_check *check, size_t at) {
    struct ids_phrase phrase = ids_phrase_begin();
    const char *last = NULL;
    for (size_t i = at; i < check->count; i++) {
        const char *id = check->at[i].limit->subject.metric->id;
        if (!has_same_reason(painter, &check->at[at], &check->at[i]) || (last && !strcmp(last, id))) continue;
        ids_phrase_add(&phrase, "%s%s", last ? ", " : "", id);
        last = id;
    }
    ids_phrase_add(&phrase, ": %s", ids_check_note_text(&painter->arena, &check->at[at]));
    return ids_phrase_end(painter, &phrase);
}

/* Each reason once. */
static void write_reasons(struct ids_painter *painter, const struct ids_check *check) {
    size_t shown = 0;
    for (size_t i = 0; i < check->count; i++) {
        const struct ids_check_row *row = &check->at[i];
        size_t first = 0;
        if (!has_line(row) || !*ids_check_note_text(&painter->arena, row)) continue;
        while (first < i && !has_same_reason(painter, &check->at[first], row)) first++;
        if (first < i) continue;
        if (!shown++) fputc('\n', painter->out);
        fputs("  ", painter->out);
        ids_text_wrap(painter->out, reason_text(painter, check, i), 2, 4, ids_painter_width(painter));
    }
}

int ids_render_check_text(const struct ids_check *check, const struct ids_check_render *how, FILE *out,
                          struct ids_error *err) {
    struct ids_painter painter;
    int is_open = first_open(check) != NULL;
    if (!check->at) return 0; /* no limit, no row */
    ids_painter_init(&painter, &check->report, &how->render, out);
    write_rows(&painter, check, !how->is_quiet);
    if (is_open || !how->is_quiet) write_reasons(&painter, check);
    if (is_open || !how->is_quiet)
        fprintf(out, "%s  %s\n", is_open ? "\n" : "", ids_check_summary_text(&painter.arena, check));
    write_next(check, how, "  ", out);
    return ids_painter_done(&painter, err);
}

/* ---- Markdown ---- */

static void markdown_row(struct ids_painter *painter, const struct ids_check_row *row, int with_baseline) {
    static const char *const marks[] = {"\xe2\x9c\x85 pass", "\xe2\x9d\x8c **fail**", "\xe2\x9d\x94 **inconclusive**",
                                        "skipped"};
    struct ids_arena *arena = &painter->arena;
    FILE *out = painter->out;
    fprintf(out, "| %s | ", marks[row->verdict]);
    ids_markdown_code(out, arena, row->limit->subject.metric->id);
    fprintf(out, " | %s | ", ids_check_value_text(arena, row));
    ids_markdown_text(out, arena, ids_check_bound_text(arena, row));
    if (with_baseline) fprintf(out, " | %s", ids_check_baseline_text(arena, row));
    fputs(" | ", out);
    ids_markdown_code(out, arena, row->run);
    fputs(" | ", out);
    ids_markdown_text(out, arena, ids_check_remark_text(arena, row));
    fputs(" |\n", out);
}

int ids_render_check_markdown(const struct ids_check *check, const struct ids_check_render *how, FILE *out,
                              struct ids_error *err) {
    static const char *const titles[] = {"", "figure", "value", "limit", "baseline", "run", "note"};
    static const char *const fewer[] = {"", "figure", "value", "limit", "run", "note"};
    static const int are_numbers[] = {0, 0, 1, 0, 0, 0, 0};
    struct ids_painter painter;
    int with_baseline = any_before(check);
    if (!check->at) return 0;
    ids_painter_init(&painter, &check->report, &how->render, out);
    fprintf(out, "### idsprof check: %s\n\n%s\n", ids_check_verdict_name(check->verdict),
            strchr(ids_check_summary_text(&painter.arena, check), ':') + 2);
    fputc('\n', out);
    ids_markdown_head(out, with_baseline ? titles : fewer, are_numbers, with_baseline ? COLUMNS : COLUMNS - 1);
    for (size_t i = 0; i < check->count; i++) {
        if (!how->is_quiet || ids_check_is_open(&check->at[i])) markdown_row(&painter, &check->at[i], with_baseline);
    }
    if (first_open(check)) {
        fputc('\n', out);
        write_next(check, how, "    ", out); /* a block by its indent: no name can end it */
    }
    return ids_painter_done(&painter, err);
}
