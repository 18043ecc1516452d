#include "lib/render/course_text.h"

#include "lib/base/counted.h"
#include "lib/compare/course_groups.h"
#include "lib/compare/course_names.h"
#include "lib/compare/verdict_words.h"
#include "lib/wire/shell_quote.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum {
    LINE_CELLS = 30,
    HEIGHTS = 8,
    INDENT = 6,
    SHOWN_PARTS = 3,
    SHOWN_CAUSES = 8,
    PERCENT_ROOM = 64,
    PATH_ROOM = 8192
};

const char *ids_day_of(int64_t unix_s, char day[IDS_DAY_ROOM]) {
    time_t seconds = (time_t)unix_s;
    struct tm utc;
    if (!gmtime_r(&seconds, &utc) || !strftime(day, IDS_DAY_ROOM, "%Y-%m-%d", &utc)) snprintf(day, IDS_DAY_ROOM, "-");
    return day;
}

const char *ids_course_name(const struct ids_series_run *run, char text[IDS_COURSE_NAME]) {
    char day[IDS_DAY_ROOM];
    ids_day_of(run->unix_s, day);
    int says_it = !strncmp(run->name, day, strlen(day));
    snprintf(text, IDS_COURSE_NAME, "%s%s%.280s", says_it ? "" : day, says_it ? "" : ", ", run->name);
    return text;
}

/* ---- what figures are called ---- */

/* "step time" of steps.mean; scopes, ops and what ran on the host by their names. */
static const char *title_of(struct ids_painter *painter, const struct ids_course *course, size_t figure) {
    const struct ids_series_figure *of = &course->series->figures[figure];
    if (of->kind == IDS_FIGURE_METRIC) {
        if (!strcmp(of->name, "steps.mean")) return "step time";
        if (!strcmp(of->name, "run.window")) return "window";
    }
    return ids_text_clean(&painter->arena, of->name);
}

static const char *value_text(struct ids_painter *painter, enum ids_unit unit, double value) {
    return ids_painter_value(painter, ids_figure_value(unit, 1, value));
}

/* "+3.0 %"; of a share points, which `ids_signed` says. */
static const char *percent(double before, double after, enum ids_unit unit, char text[PERCENT_ROOM]) {
    if (unit == IDS_UNIT_RATIO)
        ids_signed(text, unit, after - before);
    else if (before == 0)
        snprintf(text, PERCENT_ROOM, "new");
    else if (after == 0)
        snprintf(text, PERCENT_ROOM, "gone");
    else
        snprintf(text, PERCENT_ROOM, "%+.1f %%", (after / before - 1) * 100);
    return text;
}

/* ---- the figures ---- */

/* The runs' values from the least to the most, each cell the mean of its runs. */
static const char *draw(struct ids_painter *painter, const struct ids_series *series, size_t figure) {
    static const char *const heights[HEIGHTS] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    size_t cells = series->run_count < LINE_CELLS ? series->run_count : LINE_CELLS;
    double at[LINE_CELLS], least = INFINITY, most = -INFINITY;
    struct ids_phrase phrase = ids_phrase_begin();
    for (size_t c = 0; c < cells; c++) {
        double sum = 0, count = 0;
        for (size_t i = c * series->run_count / cells; i < (c + 1) * series->run_count / cells; i++) {
            double value = ids_series_value(series, i, figure);
            if (!isnan(value)) sum += value;
            count += !isnan(value);
        }
        at[c] = count > 0 ? sum / count : NAN;
        if (at[c] < least) least = at[c];
        if (at[c] > most) most = at[c];
    }
    for (size_t c = 0; c < cells; c++) {
        int height = most > least ? (int)((at[c] - least) / (most - least) * (HEIGHTS - 1) + 0.5) : 0;
        ids_phrase_add(&phrase, "%s", isnan(at[c]) ? " " : heights[height]);
    }
    return ids_phrase_end(painter, &phrase);
}

struct ends {
    double first, last, least, most;
    size_t runs;
};

static struct ends ends_of(const struct ids_series *series, size_t figure) {
    struct ends ends = {.least = INFINITY, .most = -INFINITY};
    for (size_t i = 0; i < series->run_count; i++) {
        double value = ids_series_value(series, i, figure);
        if (isnan(value)) continue;
        if (!ends.runs++) ends.first = value;
        ends.last = value;
        ends.least = fmin(ends.least, value);
        ends.most = fmax(ends.most, value);
    }
    return ends;
}

static void write_figures(struct ids_painter *painter, const struct ids_course *course) {
    enum { COLUMNS = 6 };
    struct ids_grid_column columns[COLUMNS] = {
        {.title = "figure", .is_name = 1},           {.title = "first", .right = 1}, {.title = "last", .right = 1},
        {.title = "from the first run to the last"}, {.title = "least", .right = 1}, {.title = "most", .right = 1}};
    const struct ids_series *series = course->series;
    struct ids_grid grid = {.columns = columns, .column_count = COLUMNS};
    const char **cell = grid.cells =
        ids_arena_alloc(&painter->arena, (COLUMNS * series->figure_count + 1) * sizeof *grid.cells);
    if (!cell) {
        painter->out_of_memory = 1;
        return;
    }
    for (size_t f = 0; f < series->figure_count; f++) {
        const struct ids_series_figure *figure = &series->figures[f];
        struct ends ends = ends_of(series, f);
        int is_nothing = ends.least == 0 && ends.most == 0;
        if (figure->kind != IDS_FIGURE_METRIC || !ends.runs || is_nothing) continue;
        *cell++ = title_of(painter, course, f);
        *cell++ = value_text(painter, figure->unit, ends.first);
        *cell++ = value_text(painter, figure->unit, ends.last);
        *cell++ = ends.most > ends.least ? draw(painter, series, f) : "the same in all";
        *cell++ = value_text(painter, figure->unit, ends.least);
        *cell++ = value_text(painter, figure->unit, ends.most);
        grid.row_count++;
    }
    if (!grid.row_count) return;
    ids_painter_heading(painter, "figures");
    ids_painter_grid(painter, &grid);
}

/* ---- the changes ---- */

/* Of what times are sums. */
static int has_steps(const struct ids_series *series) {
    return ids_series_find(series, IDS_FIGURE_METRIC, "steps.mean") != SIZE_MAX;
}

/* "layer_3 +3.0 % (2.000 ms → 2.060 ms a step)" */
static void add_row(struct ids_phrase *phrase, struct ids_painter *painter, const struct ids_course *course,
                    size_t figure, double before, double after) {
    const struct ids_series_figure *of = &course->series->figures[figure];
    char text[PERCENT_ROOM];
    ids_phrase_add(phrase, "%s %s (%s \xe2\x86\x92 %s%s)", title_of(painter, course, figure),
                   percent(before, after, of->unit, text), value_text(painter, of->unit, before),
                   value_text(painter, of->unit, after),
                   of->kind == IDS_FIGURE_METRIC ? ""
                   : has_steps(course->series)   ? " a step"
                                                 : " in the window");
}

/* Those of a role but for the one that is said already, the largest first, behind some words. */
static void write_role(struct ids_painter *painter, const struct ids_course *course, const struct ids_course_rows *rows,
                       const struct ids_course_row *said, enum ids_course_role role, size_t shown, const char *before) {
    struct ids_phrase phrase = ids_phrase_begin();
    size_t count = 0;
    if (painter->render->top <= 0) shown = SIZE_MAX;
    for (size_t i = 0; i < rows->count; i++) {
        const struct ids_course_row *row = &rows->at[i];
        if (row->role != role || row == said || count++ >= shown) continue;
        ids_phrase_add(&phrase, count == 1 ? "%s " : "%s", count == 1 ? before : "; ");
        add_row(&phrase, painter, course, row->figure, row->change.before, row->change.after);
    }
    if (count > shown) ids_phrase_add(&phrase, "; %zu more: -n 0", count - shown);
    if (count) ids_painter_more(painter, INDENT, ids_phrase_end(painter, &phrase));
}

/* Where all scopes did alike there is no more to say of them. */
static int says_all(const struct ids_painter *painter, const struct ids_course_rows *rows) {
    return rows->alike && painter->render->top > 0;
}

/* "step time +3.0 % (...): all 12 scopes alike"; where scopes differ, of a change its cause. */
static const struct ids_course_row *add_head(struct ids_phrase *phrase, struct ids_painter *painter,
                                             const struct ids_course *course, const struct ids_course_rows *rows,
                                             int is_change) {
    const struct ids_course_row *whole = !is_change || rows->alike ? ids_course_whole(course, rows) : NULL;
    const struct ids_course_row *said = whole ? whole : rows->at;
    add_row(phrase, painter, course, said->figure, said->change.before, said->change.after);
    const char *name = ids_figure_kind_name(course->series->figures[rows->at->figure].kind);
    if (rows->alike == rows->scopes && rows->alike)
        ids_phrase_add(phrase, ": all %zu %ss alike", rows->alike, name);
    else if (rows->alike)
        ids_phrase_add(phrase, ": %zu of %zu %ss alike", rows->alike, rows->scopes, name);
    return said;
}

static void write_roles(struct ids_painter *painter, const struct ids_course *course,
                        const struct ids_course_rows *rows, const struct ids_course_row *said) {
    const char *also = said->role == IDS_COURSE_CAUSE ? "also" : "because of";
    if (rows->alike && !has_steps(course->series))
        ids_painter_more(painter, INDENT, "these windows have no steps: a longer or shorter capture looks the same");
    if (says_all(painter, rows)) return;
    write_role(painter, course, rows, said, IDS_COURSE_CAUSE, SHOWN_CAUSES, also);
    write_role(painter, course, rows, said, IDS_COURSE_PART, SHOWN_PARTS, "in it:");
    write_role(painter, course, rows, said, IDS_COURSE_EFFECT, SHOWN_PARTS, "with it:");
}

/* "commit 1a2b3c → 4d5e6f": what is labelled otherwise is what may have been changed. */
static void write_labels(struct ids_painter *painter, const struct ids_series_run *before,
                         const struct ids_series_run *after) {
    struct ids_phrase phrase = ids_phrase_begin();
    size_t count = 0;
    for (size_t i = 0; i < after->label_count; i++) {
        const char *old = ids_series_label(before, after->labels[i].key);
        if (old && !strcmp(old, after->labels[i].value)) continue;
        ids_phrase_add(&phrase, "%s%s: %s \xe2\x86\x92 %s", count++ ? ", " : "labels: ", after->labels[i].key,
                       old ? old : "-", after->labels[i].value);
    }
    if (strcmp(before->program, after->program) != 0)
        ids_phrase_add(&phrase, "%sread by %s \xe2\x86\x92 %s", count++ ? ", " : "", before->program, after->program);
    if (count) ids_painter_more(painter, INDENT, ids_phrase_end(painter, &phrase));
}

/* A layer that is called otherwise is one that is gone and one that is new. */
static void write_new_names(struct ids_painter *painter, const struct ids_course *course,
                            const struct ids_course_rows *rows) {
    size_t *fresh = ids_arena_alloc(&painter->arena, rows->count * sizeof *fresh), count = 0;
    size_t shown = painter->render->top > 0 ? SHOWN_PARTS : SIZE_MAX;
    struct ids_phrase phrase = ids_phrase_begin();
    if (!fresh) {
        painter->out_of_memory = 1;
        return;
    }
    ids_course_new_names(course, rows, fresh);
    for (size_t i = 0; i < rows->count; i++) {
        if (fresh[i] == SIZE_MAX || fresh[i] == i || count++ >= shown) continue;
        ids_phrase_add(&phrase, "%s%s \xe2\x86\x92 ", count > 1 ? ", " : "perhaps only renamed, with the same time: ",
                       title_of(painter, course, rows->at[i].figure));
        ids_phrase_add(&phrase, "%s", title_of(painter, course, rows->at[fresh[i]].figure));
    }
    if (count > shown) ids_phrase_add(&phrase, "; %zu more: -n 0", count - shown);
    if (count) ids_painter_more(painter, INDENT, ids_phrase_end(painter, &phrase));
}

static void write_group(struct ids_painter *painter, const struct ids_course *course, size_t g) {
    const struct ids_course_group *group = &course->groups[g];
    const struct ids_series *series = course->series;
    const struct ids_series_run *run = &series->runs[group->run], *before = &series->runs[group->run - 1];
    char called[IDS_COURSE_NAME], number[24];
    struct ids_phrase phrase = ids_phrase_begin();
    snprintf(number, sizeof number, "%zu", g + 1);
    ids_phrase_add(&phrase, "%s: ", ids_course_name(run, called));
    const struct ids_course_row *cause = add_head(&phrase, painter, course, &group->rows, 1);
    if (course->step_ps > 0 && series->figures[cause->figure].kind != IDS_FIGURE_METRIC)
        ids_phrase_add(&phrase, ", %+.1f %% of %s",
                       (cause->change.after - cause->change.before) / course->step_ps * 100,
                       has_steps(series) ? "a step" : "the window");
    if (says_all(painter, &group->rows)) ids_phrase_add(&phrase, "; %zu more: -n 0", group->rows.count - 1);
    ids_painter_item(painter, number, INDENT, ids_phrase_end(painter, &phrase));
    write_new_names(painter, course, &group->rows);
    write_roles(painter, course, &group->rows, cause);
    if (group->first != group->last) {
        phrase = ids_phrase_begin();
        ids_phrase_add(&phrase, "it may have begun anywhere from %s to %s", series->runs[group->first].name,
                       series->runs[group->last].name);
        ids_painter_more(painter, INDENT, ids_phrase_end(painter, &phrase));
    }
    write_labels(painter, before, run);
    char old[PATH_ROOM], fresh[PATH_ROOM];
    if (!*before->path || !*run->path) return;
    if (ids_shell_quote(before->path, old, sizeof old) < 0 || ids_shell_quote(run->path, fresh, sizeof fresh) < 0)
        return;
    phrase = ids_phrase_begin();
    ids_phrase_add(&phrase, "idsprof diff %s %s", old, fresh);
    ids_painter_command(painter, INDENT, ids_phrase_end(painter, &phrase));
}

static void write_changes(struct ids_painter *painter, const struct ids_course *course) {
    struct ids_phrase phrase = ids_phrase_begin();
    size_t top = painter->render->top > 0 ? (size_t)painter->render->top : SIZE_MAX;
    size_t from = course->group_count > top ? course->group_count - top : 0;
    ids_painter_heading(painter, "changes");
    if (course->series->run_count < IDS_COURSE_RUNS) {
        ids_phrase_add(&phrase, "none can be told of %s: it takes %d, three at each level",
                       IDS_COUNTED(course->series->run_count, "run"), IDS_COURSE_RUNS);
    } else if (!course->group_count) {
        ids_phrase_add(&phrase, "none in %s", IDS_COUNTED(course->looked_at, "figure"));
    } else if (from) {
        ids_phrase_add(&phrase, "the last %zu of %zu", course->group_count - from, course->group_count);
    }
    if (phrase.out) ids_painter_item(painter, "", 2, ids_phrase_end(painter, &phrase));
    for (size_t g = from; g < course->group_count; g++) write_group(painter, course, g);
}

/* The step's time first, then what made it longer. */
static void write_rows(struct ids_painter *painter, const struct ids_course *course, const struct ids_course_rows *rows,
                       const char *title, const char *words) {
    if (!rows->count) return;
    struct ids_phrase phrase = ids_phrase_begin();
    ids_painter_heading(painter, title);
    const struct ids_course_row *said = add_head(&phrase, painter, course, rows, 0);
    ids_phrase_add(&phrase, "%s %s", rows->alike ? "," : "", words);
    if (says_all(painter, rows)) ids_phrase_add(&phrase, "; %zu more: -n 0", rows->count - 1);
    ids_painter_item(painter, "-", INDENT, ids_phrase_end(painter, &phrase));
    write_roles(painter, course, rows, said);
}

static void write_drifts(struct ids_painter *painter, const struct ids_course *course) {
    write_rows(painter, course, &course->drifts, "drifts", "little by little, from the first run to the last");
}

static void write_latest(struct ids_painter *painter, const struct ids_course *course) {
    size_t first = course->series->run_count;
    for (size_t i = 0; i < course->latest.count; i++) {
        if (course->latest.at[i].change.at < first) first = course->latest.at[i].change.at;
    }
    write_rows(painter, course, &course->latest, "the last runs",
               course->series->run_count - first > 1
                   ? "in the last two runs: out of line; with three runs it is a change"
                   : "in the last run: out of line; with three runs it is a change");
}

/* The command stands in a line of its own, so that it can be copied. */
static void write_left_out(struct ids_painter *painter, const char *path, const struct ids_course_note *note) {
    char quoted[PATH_ROOM];
    ids_painter_item(painter, "note", 8, ids_text_clean(&painter->arena, note->text));
    if (!*note->where || ids_shell_quote(path, quoted, sizeof quoted) < 0) return;
    struct ids_phrase phrase = ids_phrase_begin();
    ids_phrase_add(&phrase, "idsprof track show %s --where %s", quoted, note->where);
    ids_painter_command(painter, 8, ids_phrase_end(painter, &phrase));
}

int ids_render_course(const struct ids_course *course, const struct ids_render *render, const char *path,
                      const struct ids_course_note *left_out, size_t left_out_count, FILE *out, struct ids_error *err) {
    const struct ids_series *series = course->series;
    struct ids_painter painter;
    char first[IDS_DAY_ROOM], last[IDS_DAY_ROOM];
    ids_painter_init(&painter, &course->report, render, out);
    fprintf(out, "%s", IDS_COUNTED(series->run_count, "run"));
    if (series->run_count)
        fprintf(out, " \xc2\xb7 %s to %s \xc2\xb7 %s", ids_day_of(series->runs[0].unix_s, first),
                ids_day_of(series->runs[series->run_count - 1].unix_s, last),
                ids_text_clean(&painter.arena, series->runs[series->run_count - 1].devices));
    fputc('\n', out);
    for (size_t i = 0; i < left_out_count; i++) write_left_out(&painter, path, &left_out[i]);
    write_figures(&painter, course);
    write_changes(&painter, course);
    write_drifts(&painter, course);
    write_latest(&painter, course);
    return ids_painter_done(&painter, err);
}
