#include "lib/render/diff_text.h"

#include "lib/base/counted.h"
#include "lib/compare/held_changes.h"
#include "lib/compare/prediction.h"
#include "lib/compare/verdict_words.h"
#include "lib/render/diff_tables.h"
#include "lib/render/diff_waterfall.h"
#include "lib/wire/shell_quote.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ARROW " \xe2\x86\x92 "
#define DOT " \xc2\xb7 "

enum { COMMAND_BYTES = 4352, CHANGES_SHOWN = 8 };

/* ---- the first line ---- */

static void say_side(struct ids_phrase *phrase, const struct ids_side *side) {
    size_t steps = 0;
    for (size_t i = 0; i < side->run_count; i++) steps += side->runs[i].steps ? side->runs[i].steps->row_count : 0;
    ids_phrase_add(phrase, "%s", IDS_COUNTED(side->run_count, "run"));
    if (!side->per_step) return;
    ids_phrase_add(phrase, side->run_count > 1 ? ", %s in all" : " of %s", IDS_COUNTED(steps, "step"));
}

static const char *basis(const struct ids_diff *diff) {
    if (diff->a->by_run) return "99 % intervals from run to run";
    if (diff->options.noise > 0) return "99 % intervals from step to step, and the stated noise";
    if (!diff->a->per_step) return "nothing repeats, so no difference has an interval";
    return "99 % intervals from step to step, of these recordings alone";
}

static void write_remarks(struct ids_painter *painter, const struct ids_remarks *remarks) {
    if (remarks->count) fputc('\n', painter->out);
    for (size_t i = 0; i < remarks->count; i++) {
        const struct ids_remark *finding = &remarks->at[i];
        fprintf(painter->out, "  %s%-7s%s  ", finding->severity == IDS_REMARK_UNLIKE ? painter->bold : "",
                ids_remark_severity_name(finding->severity),
                finding->severity == IDS_REMARK_UNLIKE ? painter->plain : "");
        ids_text_wrap(painter->out, ids_text_clean(&painter->arena, finding->text), 11, 11, ids_painter_width(painter));
    }
}

int ids_render_diff_head(const struct ids_diff *diff, const struct ids_diff_render *how, FILE *out,
                         struct ids_error *err) {
    struct ids_painter painter;
    ids_painter_init(&painter, &diff->report, &how->render, out);
    struct ids_phrase phrase = ids_phrase_begin();
    ids_phrase_add(&phrase, "%s" ARROW "%s" DOT "%s" DOT "per %s" DOT, diff->a->label, diff->b->label,
                   diff->remarks.unlike ? "NOT COMPARABLE" : "comparable", diff->a->per_step ? "step" : "window");
    if (diff->other_devices) ids_phrase_add(&phrase, "%s" DOT, diff->other_devices);
    if (diff->slice) ids_phrase_add(&phrase, "only %s" DOT, diff->slice);
    say_side(&phrase, diff->a);
    ids_phrase_add(&phrase, " against ");
    say_side(&phrase, diff->b);
    ids_phrase_add(&phrase, DOT "%s", basis(diff));
    ids_text_wrap(out, ids_phrase_end(&painter, &phrase), 0, 2, ids_painter_width(&painter));
    write_remarks(&painter, &diff->remarks);
    return ids_painter_done(&painter, err);
}

/* ---- grids ---- */

/* "+13.1 %", "8.0x"; nothing where a share of the old value says nothing. */
static const char *relative(struct ids_painter *painter, const struct ids_difference *row) {
    if (!row->has_a || !row->has_b || row->a <= 0 || row->unit == IDS_UNIT_RATIO || row->a == row->b) return "";
    struct ids_phrase phrase = ids_phrase_begin();
    double ratio = row->b / row->a;
    if (ratio >= 3)
        ids_phrase_add(&phrase, "%.1fx", ratio);
    else
        ids_phrase_add(&phrase, "%+.1f %%", (ratio - 1) * 100);
    return ids_phrase_end(painter, &phrase);
}

static void write_grid(struct ids_painter *painter, struct ids_grid *grid) {
    ids_painter_grid(painter, grid);
}

static const char **cells_of(struct ids_painter *painter, size_t count) {
    const char **cells = ids_arena_alloc(&painter->arena, (count + 1) * sizeof *cells);
    if (!cells) painter->out_of_memory = 1;
    return cells;
}

static const char *keep(struct ids_painter *painter, const char *text) {
    const char *copy = ids_arena_copy(&painter->arena, text, strlen(text));
    if (!copy) painter->out_of_memory = 1;
    return copy ? copy : "";
}

static const char *signed_text(struct ids_painter *painter, enum ids_unit unit, double value) {
    char buffer[IDS_SIGNED_ROOM];
    return keep(painter, ids_signed(buffer, unit, value));
}

enum { HEADLINE_COLUMNS = 5, NARROWEST_VERDICT = 24 };

static int widest(const char *const *cells, size_t rows, int column, const char *title) {
    int width = ids_text_columns(title);
    for (size_t row = 0; row < rows; row++) {
        int columns = ids_text_columns(cells[row * HEADLINE_COLUMNS + (size_t)column]);
        if (columns > width) width = columns;
    }
    return width;
}

/* The figures in columns, and behind them, or where there is no room below them, the words, which are never left
 * out. */
static void write_headline(struct ids_painter *painter, const struct ids_difference *headline, size_t rows) {
    static const char *const titles[HEADLINE_COLUMNS] = {"", "before", "after", "difference", ""};
    const char **cells = cells_of(painter, HEADLINE_COLUMNS * rows), **cell = cells;
    int widths[HEADLINE_COLUMNS], at = 2;
    if (!cells) return;
    for (size_t i = 0; i < rows; i++) {
        const struct ids_difference *row = &headline[i];
        int both = row->has_a && row->has_b;
        *cell++ = row->title;
        *cell++ = ids_painter_value(painter, ids_figure_value(row->unit, row->has_a, row->a));
        *cell++ = ids_painter_value(painter, ids_figure_value(row->unit, row->has_b, row->b));
        *cell++ = both && row->a != row->b ? signed_text(painter, row->unit, row->b - row->a) : "";
        *cell++ = relative(painter, row);
    }
    for (int c = 0; c < HEADLINE_COLUMNS; c++) {
        widths[c] = widest(cells, rows, c, titles[c]);
        at += widths[c] + 2;
    }
    int width = ids_painter_width(painter), below = width - at < NARROWEST_VERDICT;
    const char *above = NULL; /* one reason often leaves several figures without data */
    fprintf(painter->out, "\n%s", painter->bold);
    for (int c = 0; c + 1 < HEADLINE_COLUMNS; c++) fprintf(painter->out, "  %*s", widths[c], titles[c]);
    fprintf(painter->out, "%s\n", painter->plain);
    for (size_t i = 0; i < rows; i++) {
        const char *words = ids_verdict_words(painter, &headline[i]), *own = words;
        if (above && headline[i].verdict == IDS_VERDICT_NO_DATA && !strcmp(words, above)) words = "as above";
        above = own;
        int owed = 2;
        for (int c = 0; c < HEADLINE_COLUMNS; c++) {
            const char *text = cells[i * HEADLINE_COLUMNS + (size_t)c];
            int pad = widths[c] - ids_text_columns(text);
            if (c) owed += pad;
            if (*text) {
                ids_spaces(painter->out, owed);
                fputs(text, painter->out);
                owed = 0;
            }
            owed += c ? 2 : pad + 2;
        }
        if (below && ids_text_columns(words) > width - at) {
            fputs("\n      ", painter->out);
            ids_text_wrap(painter->out, words, 6, 6, width);
        } else {
            ids_spaces(painter->out, owed);
            ids_text_wrap(painter->out, words, at, at, width);
        }
    }
}

/* Neither side has it, or neither has any of it: that says nothing of a difference. */
static int says_nothing(const struct ids_difference *row) {
    return (!row->has_a && !row->has_b) || (row->has_a && row->has_b && row->a == 0 && row->b == 0);
}

/* The step time (the window) is the first figure, and stands above what it is made of; the others follow it. */
static void write_figures(struct ids_painter *painter, const struct ids_diff *diff) {
    struct ids_difference shown[IDS_HEADLINES];
    size_t count = 0;
    for (size_t i = 1; i < diff->headline_count; i++) {
        if (!says_nothing(&diff->headline[i]) || painter->render->full) shown[count++] = diff->headline[i];
    }
    if (!count) return;
    ids_painter_heading(painter, "other figures");
    write_headline(painter, shown, count);
}

/* ---- what changed ---- */

/* What accounts and ops took more or less is in the waterfall, and what came and went in the structure; this is what
 * else is known of why. */
static int is_told(const struct ids_change *change) {
    return !strncmp(change->id, "steps.", 6) || !strncmp(change->id, "idle.", 5) || !strcmp(change->id, "op") ||
           !strcmp(change->id, "scope");
}

static void write_changes(struct ids_painter *painter, const struct ids_diff *diff, const struct ids_diff_render *how) {
    char path[COMMAND_BYTES];
    const char *last = NULL;
    size_t shown = 0, left = 0;
    ids_shell_quote(how->path_b, path, sizeof path);
    for (size_t i = 0; i < diff->changes.count; i++) {
        const struct ids_change *change = &diff->changes.at[i];
        if (is_told(change)) continue;
        if (shown == CHANGES_SHOWN) {
            left++;
            continue;
        }
        if (!shown) ids_painter_heading(painter, "what changed");
        struct ids_phrase phrase = ids_phrase_begin();
        int at = fprintf(painter->out, "  %zu  ", ++shown);
        if (change->known)
            ids_phrase_add(&phrase, "%s%s: ", signed_text(painter, IDS_UNIT_TIME, change->change_ps),
                           diff->a->per_step ? " a step" : "");
        ids_phrase_add(&phrase, "%s", change->text);
        ids_text_wrap(painter->out, ids_phrase_end(painter, &phrase), at, at, ids_painter_width(painter));
        if (last && !strcmp(last, change->explain)) continue; /* the same command as above */
        last = change->explain;
        ids_spaces(painter->out, at);
        fprintf(painter->out, "idsprof report %s --%s %s\n", ids_text_clean(&painter->arena, path),
                strchr(change->explain, '.') ? "explain" : "section", change->explain);
    }
    if (left) fprintf(painter->out, "  and %zu more in --json\n", left);
}

/* ---- what it comes to ---- */

static void write_sum(struct ids_painter *painter, const struct ids_diff *diff) {
    const struct {
        int64_t ps;
        const char *what;
    } terms[] = {
        {diff->ops_ps, diff->has_ops ? "by ops" : "by kernels"},
        {diff->without_ps, diff->has_ops ? "by activity without an op" : "by copies and the rest"},
        {diff->overlap_ps, "by what overlaps or lies outside of steps"},
        {diff->idle_ps, "by idle time"},
    };
    struct ids_phrase phrase = ids_phrase_begin();
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        if (terms[i].ps)
            ids_phrase_add(&phrase, "%s%s %s", phrase.out ? ", " : "",
                           signed_text(painter, IDS_UNIT_TIME, (double)terms[i].ps), terms[i].what);
    }
    int64_t whole = diff->parts.whole_b_ps - diff->parts.whole_a_ps;
    if (phrase.out) ids_phrase_add(&phrase, ": together %s", signed_text(painter, IDS_UNIT_TIME, (double)whole));
    const char *text = ids_phrase_end(painter, &phrase);
    if (!*text) return;
    fputs("  ", painter->out);
    ids_text_wrap(painter->out, text, 2, 2, ids_painter_width(painter));
}

/* What can be told at the spread from recording to recording, and how many would tell what was asked for. */
static void write_needed(struct ids_painter *painter, const struct ids_diff *diff) {
    const struct ids_difference *step = &diff->headline[0];
    const struct ids_bounds *bounds = &step->interval.typical;
    size_t recordings =
        diff->a->recording_count < diff->b->recording_count ? diff->a->recording_count : diff->b->recording_count;
    double wanted = fmax(fabs(bounds->at), diff->options.threshold * step->a);
    if (step->verdict != IDS_VERDICT_UNSURE || !step->interval.known) return;
    double per = 1 / (double)diff->a->recording_count + 1 / (double)diff->b->recording_count;
    struct ids_spread spread = {bounds->error / sqrt(per), bounds->df};
    size_t needed = ids_recordings_needed(spread, wanted, IDS_CONFIDENCE);
    struct ids_phrase phrase = ids_phrase_begin();
    ids_phrase_add(&phrase, "%zu recordings a side tell a difference above %s", recordings,
                   signed_text(painter, step->unit, (bounds->high - bounds->low) / 2));
    if (needed > recordings)
        ids_phrase_add(&phrase, "; one of %s takes about %zu a side", signed_text(painter, step->unit, wanted), needed);
    if (!needed)
        ids_phrase_add(&phrase, "; one of %s takes more than 100 a side", signed_text(painter, step->unit, wanted));
    fputs("\n  ", painter->out);
    ids_text_wrap(painter->out, ids_phrase_end(painter, &phrase), 2, 2, ids_painter_width(painter));
}

/* What would tell more than these recordings do. */
static void write_next(struct ids_painter *painter, const struct ids_diff *diff) {
    enum ids_verdict verdict = ids_diff_verdict(diff);
    if (diff->a->by_run) {
        write_needed(painter, diff);
        return;
    }
    if (diff->options.noise > 0 || !diff->a->per_step) return;
    if (verdict != IDS_VERDICT_UNSURE && verdict != IDS_VERDICT_DIFFERS) return;
    fputs("\n  ", painter->out);
    ids_text_wrap(painter->out,
                  verdict == IDS_VERDICT_UNSURE
                      ? "to tell more: more steps, or three recordings a side: idsprof diff 'before_*' 'after_*'"
                      : "to call it a regression or an improvement: three recordings a side, idsprof diff 'before_*' "
                        "'after_*', or the noise between recordings, --noise 2%",
                  2, 2, ids_painter_width(painter));
}

int ids_render_diff_body(const struct ids_diff *diff, const struct ids_diff_render *how, FILE *out,
                         struct ids_error *err) {
    struct ids_painter painter;
    ids_painter_init(&painter, &diff->report, &how->render, out);
    const struct ids_table *held = ids_report_find_table(&diff->report, "held_changes");
    if (held && ids_is_held_alone(&diff->a->runs[0])) {
        ids_painter_table(&painter, held, how->render.top, 1);
        return ids_painter_done(&painter, err);
    }
    write_headline(&painter, diff->headline, diff->headline_count ? 1 : 0);
    if (ids_diff_verdict(diff) == IDS_VERDICT_SAME && !diff->changes.count)
        fprintf(out, "\n  no difference%s\n",
                diff->parts.whole_a_ps == diff->parts.whole_b_ps ? "" : " beyond the threshold and the spread");
    if (diff->parts.whole_a_ps != diff->parts.whole_b_ps || diff->changes.count)
        ids_render_diff_waterfall(&painter, diff, how->path_b);
    ids_render_diff_structure(&painter, diff);
    write_changes(&painter, diff, how);
    write_figures(&painter, diff);
    if (diff->has_ops) ids_render_diff_matches(&painter, diff, "computations");
    if (diff->has_ops) write_sum(&painter, diff);
    if (diff->has_kernels) ids_render_diff_matches(&painter, diff, "kernels");
    if (!diff->has_ops && diff->has_kernels) write_sum(&painter, diff);
    ids_render_diff_sums(&painter, diff, "families");
    ids_render_diff_sums(&painter, diff, "scopes");
    if (diff->modules.count > 1) ids_render_diff_sums(&painter, diff, "modules");
    ids_render_diff_sums(&painter, diff, "collectives");
    if (held) ids_painter_table(&painter, held, how->render.top, 0);
    write_next(&painter, diff);
    return ids_painter_done(&painter, err);
}

/* ---- several against the first ---- */

static void write_many(struct ids_painter *painter, const struct ids_diff *diffs, size_t count) {
    size_t columns = 2 + 2 * count;
    struct ids_grid grid = {.column_count = columns, .row_count = diffs[0].headline_count};
    grid.columns = ids_arena_alloc(&painter->arena, columns * sizeof *grid.columns);
    const char **cell = grid.cells = cells_of(painter, columns * grid.row_count);
    if (!grid.columns || !cell) {
        painter->out_of_memory = 1;
        return;
    }
    grid.columns[0] = (struct ids_grid_column){.title = ""};
    grid.columns[1] = (struct ids_grid_column){.title = ids_text_clean(&painter->arena, diffs[0].a->label), .right = 1};
    for (size_t i = 0; i < count; i++) {
        const char *label = ids_text_clean(&painter->arena, diffs[i].b->label);
        grid.columns[2 + 2 * i] = (struct ids_grid_column){.title = label, .right = 1};
        grid.columns[3 + 2 * i] = (struct ids_grid_column){.title = ""};
    }
    for (size_t row = 0; row < grid.row_count; row++) {
        const struct ids_difference *first = &diffs[0].headline[row];
        *cell++ = first->title;
        *cell++ = ids_painter_value(painter, ids_figure_value(first->unit, first->has_a, first->a));
        for (size_t i = 0; i < count; i++) {
            const struct ids_difference *other = &diffs[i].headline[row];
            static const char *const marks[] = {"", "", "~", "~", "", "", "", ""}; /* not sure of it */
            struct ids_phrase phrase = ids_phrase_begin();
            const char *share = relative(painter, other);
            if (other->verdict == IDS_VERDICT_SAME)
                ids_phrase_add(&phrase, "same");
            else if (*share)
                ids_phrase_add(&phrase, "%s%s", marks[other->verdict], share);
            else if (other->has_a && other->has_b)
                ids_phrase_add(&phrase, "%s%s", marks[other->verdict],
                               signed_text(painter, other->unit, other->b - other->a));
            *cell++ = ids_painter_value(painter, ids_figure_value(other->unit, other->has_b, other->b));
            *cell++ = ids_phrase_end(painter, &phrase);
        }
    }
    fputc('\n', painter->out);
    write_grid(painter, &grid);
    fputs("  ~ unsure, or through single steps\n", painter->out);
    if (grid.columns[columns - 1].left_out) fputs("  too wide for all columns (--full shows them)\n", painter->out);
}

enum { REASONS_SHOWN = 3 };

static void write_reason(struct ids_painter *painter, const char *mark, int known, double ps, const char *account,
                         const char *text) {
    struct ids_phrase phrase = ids_phrase_begin();
    if (known) ids_phrase_add(&phrase, "%s%s: ", mark, signed_text(painter, IDS_UNIT_TIME, ps));
    ids_phrase_add(&phrase, "%s%s%s", account, *account ? ": " : "", ids_text_clean(&painter->arena, text));
    fputs("  ", painter->out);
    ids_text_wrap(painter->out, ids_phrase_end(painter, &phrase), 2, 4, ids_painter_width(painter));
}

/* The first causes, in the order and with the marks of the waterfall, then what else is known of why. */
static void write_reasons(struct ids_painter *painter, const struct ids_diff *diff) {
    const struct ids_waterfall *waterfall = &diff->waterfall;
    const struct ids_table *table = ids_report_find_table(&diff->report, "waterfall");
    size_t causes = 0, changes = 0;
    if (!waterfall->count && !diff->changes.count) return;
    struct ids_phrase phrase = ids_phrase_begin();
    ids_phrase_add(&phrase, "%s" ARROW "%s", diff->a->label, diff->b->label);
    ids_painter_heading(painter, ids_phrase_end(painter, &phrase));
    for (size_t i = 0; i < waterfall->count && causes < REASONS_SHOWN; i++) {
        const struct ids_cause *cause = &waterfall->at[i];
        int is_unsure = cause->interval.known && !ids_interval_excludes_zero(&cause->interval);
        if (cause->kind == IDS_CAUSE_OTHERS) continue;
        write_reason(painter, is_unsure ? "~" : "", 1, cause->change_ps, cause->account,
                     ids_table_text_at(table, i, ids_table_column(table, "cause")));
        causes++;
    }
    for (size_t i = 0; i < diff->changes.count && changes < REASONS_SHOWN; i++) {
        const struct ids_change *change = &diff->changes.at[i];
        if (causes && (is_told(change) || !strcmp(change->id, "module"))) continue; /* programs are causes */
        write_reason(painter, "", change->known, change->change_ps, "", change->text);
        changes++;
    }
}

int ids_render_diffs(const struct ids_diff *diffs, size_t count, const struct ids_diff_render *how, FILE *out,
                     struct ids_error *err) {
    struct ids_painter painter;
    ids_painter_init(&painter, &diffs[0].report, &how->render, out);
    write_many(&painter, diffs, count);
    for (size_t i = 0; i < count; i++) write_reasons(&painter, &diffs[i]);
    return ids_painter_done(&painter, err);
}
