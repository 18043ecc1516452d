#include "lib/report/painter.h"

#include "lib/base/counted.h"
#include "lib/report/alike.h"
#include "lib/report/grid.h"
#include "lib/report/markdown.h"
#include "lib/report/template_names.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NO_WIDTH = 1 << 20, MANY_DEVICES = 4, WIDEST_TEXT = 24, NARROWEST_TITLE = 8, NARROWEST_NOTES = 24 };

void ids_painter_init(struct ids_painter *painter, const struct ids_report *report, const struct ids_render *render,
                      FILE *out) {
    *painter = (struct ids_painter){.report = report, .render = render, .out = out, .bold = "", .plain = ""};
    if (render->colour && !render->markdown) {
        painter->bold = "\033[1m";
        painter->plain = "\033[0m";
    }
}

int ids_painter_done(struct ids_painter *painter, struct ids_error *err) {
    ids_arena_done(&painter->arena);
    return painter->out_of_memory ? ids_no_memory(err) : 0;
}

int ids_painter_width(const struct ids_painter *painter) {
    return painter->render->width > 0 && !painter->render->markdown ? painter->render->width : NO_WIDTH;
}

struct ids_phrase ids_phrase_begin(void) {
    struct ids_phrase phrase = {0};
    return phrase;
}

void ids_phrase_add(struct ids_phrase *phrase, const char *format, ...) {
    if (!phrase->out) phrase->out = open_memstream(&phrase->text, &phrase->length);
    if (!phrase->out) {
        phrase->out_of_memory = 1;
        return;
    }
    va_list args;
    va_start(args, format);
    vfprintf(phrase->out, format, args);
    va_end(args);
}

const char *ids_phrase_end(struct ids_painter *painter, struct ids_phrase *phrase) {
    painter->out_of_memory |= phrase->out_of_memory;
    if (!phrase->out) return "";
    const char *kept = NULL;
    if (!fclose(phrase->out) && phrase->text) kept = ids_arena_copy(&painter->arena, phrase->text, phrase->length);
    free(phrase->text);
    *phrase = (struct ids_phrase){0};
    if (!kept) painter->out_of_memory = 1;
    return kept ? ids_text_clean(&painter->arena, kept) : "";
}

const char *ids_painter_value(struct ids_painter *painter, struct ids_value value) {
    if (value.unit == IDS_UNIT_NONE && !value.missing) return ids_text_clean(&painter->arena, value.text);
    char buffer[IDS_VALUE_ROOM];
    ids_value_format(value, buffer, sizeof buffer);
    const char *copy = ids_arena_copy(&painter->arena, buffer, strlen(buffer));
    if (!copy) painter->out_of_memory = 1;
    return copy ? copy : "";
}

/* ---- devices ---- */

const char *ids_device_label(const char *device) {
    const char *slash = strrchr(device, '/');
    const char *label = slash ? slash + 1 : device;
    return !strncmp(label, "device:", 7) ? label + 7 : !strncmp(label, "host:", 5) ? label + 5 : label;
}

/* Whether two devices of the metric would be called the same: those of several hosts. */
static int labels_repeat(const struct ids_report *report, const char *metric, const char *device) {
    for (size_t i = 0; i < report->metric_count; i++) {
        const struct ids_metric *other = &report->metrics[i];
        if (!other->device || strcmp(other->id, metric) != 0 || !strcmp(other->device, device)) continue;
        if (!strcmp(ids_device_label(other->device), ids_device_label(device))) return 1;
    }
    return 0;
}

static void add_device(struct ids_phrase *phrase, struct ids_painter *painter, const struct ids_metric *metric) {
    const char *label = ids_device_label(metric->device);
    if (labels_repeat(painter->report, metric->id, metric->device)) {
        int host = (int)strcspn(metric->device, ":");
        ids_phrase_add(phrase, "%.*s ", host, metric->device);
    }
    ids_phrase_add(phrase, "%s %s", label, ids_painter_value(painter, metric->value));
}

void ids_phrase_devices(struct ids_phrase *phrase, struct ids_painter *painter, const char *metric) {
    const struct ids_report *report = painter->report;
    const struct ids_metric *least = NULL, *most = NULL;
    size_t count = 0;
    for (size_t i = 0; i < report->metric_count; i++) {
        const struct ids_metric *at = &report->metrics[i];
        if (!at->device || strcmp(at->id, metric) != 0) continue;
        count++;
        if (at->value.missing || at->value.unit == IDS_UNIT_NONE) continue;
        if (!least || ids_value_number(at->value) < ids_value_number(least->value)) least = at;
        if (!most || ids_value_number(at->value) > ids_value_number(most->value)) most = at;
    }
    if (count > MANY_DEVICES && least && ids_value_number(least->value) >= ids_value_number(most->value)) {
        ids_phrase_add(phrase, "%s alike", IDS_COUNTED(count, "device"));
        return;
    }
    if (count > MANY_DEVICES && least) {
        ids_phrase_add(phrase, "%s, least ", IDS_COUNTED(count, "device"));
        add_device(phrase, painter, least);
        ids_phrase_add(phrase, ", most ");
        add_device(phrase, painter, most);
        return;
    }
    size_t written = 0;
    for (size_t i = 0; i < report->metric_count && count > 1; i++) {
        const struct ids_metric *at = &report->metrics[i];
        if (!at->device || strcmp(at->id, metric) != 0) continue;
        if (written++) ids_phrase_add(phrase, ", ");
        add_device(phrase, painter, at);
    }
}

/* ---- lines ---- */

/* "Where the time goes" */
static void write_title(struct ids_painter *painter, const char *title) {
    const char rest = title[0] ? title[1] : '\0';
    if (rest && !isupper((unsigned char)rest)) { /* else it begins with an abbreviation */
        fputc(toupper((unsigned char)title[0]), painter->out);
        title++;
    }
    ids_markdown_text(painter->out, &painter->arena, title);
}

void ids_painter_heading(struct ids_painter *painter, const char *title) {
    if (painter->render->markdown) {
        fputs("\n#### ", painter->out);
        write_title(painter, title);
        fputs("\n\n", painter->out);
        return;
    }
    fprintf(painter->out, "\n  %s%s%s\n", painter->bold, ids_text_upper(&painter->arena, title), painter->plain);
}

void ids_painter_fold(struct ids_painter *painter, const char *title) {
    if (!painter->render->markdown) return;
    fputs("\n<details><summary>", painter->out);
    write_title(painter, title);
    fputs("</summary>\n", painter->out);
}

void ids_painter_unfold(struct ids_painter *painter) {
    if (painter->render->markdown) fputs("\n</details>\n", painter->out);
}

void ids_painter_item(struct ids_painter *painter, const char *label, int indent, const char *text) {
    FILE *out = painter->out;
    if (!painter->render->markdown) {
        fprintf(out, "  %s", label);
        ids_spaces(out, indent - 2 - ids_text_columns(label));
        ids_text_wrap(out, text, indent, *label ? indent : indent + 2, ids_painter_width(painter));
        return;
    }
    if (*label && strspn(label, "0123456789") == strlen(label))
        fprintf(out, "%s. ", label);
    else
        fprintf(out, *label ? "- **%s** " : "- %s", label);
    ids_markdown_text(out, &painter->arena, text);
    fputc('\n', out);
}

void ids_painter_more(struct ids_painter *painter, int indent, const char *text) {
    FILE *out = painter->out;
    if (!painter->render->markdown) {
        ids_spaces(out, indent);
        ids_text_wrap(out, text, indent, indent, ids_painter_width(painter));
        return;
    }
    fputs(indent > 2 ? "   <br>" : "\n", out);
    ids_markdown_text(out, &painter->arena, text);
    fputc('\n', out);
}

void ids_painter_command(struct ids_painter *painter, int indent, const char *command) {
    const char *text = ids_text_clean(&painter->arena, command);
    FILE *out = painter->out;
    if (!painter->render->markdown) {
        ids_spaces(out, indent);
        fprintf(out, "%s\n", text);
    } else if (indent > 2) {
        fputs("   <br>", out);
        ids_markdown_code(out, &painter->arena, text);
        fputc('\n', out);
    } else {
        fprintf(out, "\n```sh\n%s\n```\n", text); /* of one line that begins with a word: no name can end it */
    }
}

void ids_painter_grid(struct ids_painter *painter, struct ids_grid *grid) {
    if (painter->render->markdown) {
        ids_grid_write_markdown(grid, &painter->arena, painter->out);
        return;
    }
    ids_grid_fit(grid, painter->render->full ? 0 : ids_painter_width(painter));
    ids_grid_write(grid, &painter->arena, painter->bold, painter->plain, painter->out);
}

static const char *grade_colour(const struct ids_painter *painter, enum ids_grade grade) {
    static const char *const colours[] = {"", "\033[32m", "\033[33m", "\033[31m"};
    return painter->render->colour ? colours[grade] : "";
}

/* The digits of "162.5 ms" and its unit are aligned apart, so that the points of one unit stand below each other. */
static size_t number_length(const struct ids_figure *figure) {
    return figure->is_text ? 0 : strcspn(figure->value, " ");
}

struct widths {
    int title, number, unit, grade;
};

static int larger(int a, int b) {
    return a > b ? a : b;
}

/* `width` is that of the line: titles give way when it is narrow. */
static struct widths measure(const struct ids_figure *figures, size_t count, int width) {
    struct widths widths = {0};
    int text = 0;
    for (size_t i = 0; i < count; i++) {
        widths.title = larger(widths.title, ids_text_columns(figures[i].title));
        size_t number = number_length(&figures[i]);
        if (number) {
            widths.number = larger(widths.number, (int)number);
            widths.unit = larger(widths.unit, (int)(strlen(figures[i].value) - number));
        } else {
            text = larger(text, ids_text_columns(figures[i].value));
        }
        if (figures[i].grade) widths.grade = 4;
    }
    if (text > WIDEST_TEXT) text = WIDEST_TEXT;
    if (text > widths.number + widths.unit) widths.unit = text - widths.number;
    int room = width - 2 - 3 - widths.number - widths.unit - (widths.grade ? 3 + widths.grade : 0);
    if (widths.title > room) widths.title = larger(room, NARROWEST_TITLE);
    return widths;
}

static void write_figure(struct ids_painter *painter, const struct ids_figure *figure, const char *title,
                         const struct widths *widths) {
    FILE *out = painter->out;
    int columns = ids_text_columns(title);
    int owed = widths->title - columns + 3, at = 2 + columns;
    fprintf(out, "  %s", title);
    int number = (int)number_length(figure);
    if (number) owed += widths->number - number;
    ids_spaces(out, owed);
    const char *value = figure->is_text
                            ? ids_text_shorten(&painter->arena, figure->value, ids_painter_width(painter) - at - owed)
                            : figure->value;
    fputs(value, out);
    columns = ids_text_columns(value);
    at += owed + columns;
    owed = number ? widths->unit - (columns - number) : larger(widths->number + widths->unit - columns, 0);
    if (figure->grade) {
        ids_spaces(out, owed + 3);
        fprintf(out, "%s%s%s", grade_colour(painter, figure->grade), ids_grade_name(figure->grade),
                *grade_colour(painter, figure->grade) ? painter->plain : "");
        columns = (int)strlen(ids_grade_name(figure->grade));
        at += owed + 3 + columns;
        owed = widths->grade - columns;
    } else if (widths->grade) {
        owed += 3 + widths->grade;
    }
    if (!figure->notes || !*figure->notes) {
        fputc('\n', out);
        return;
    }
    int width = ids_painter_width(painter);
    int indent = 2 + widths->title + 3 + widths->number + widths->unit + (widths->grade ? 3 + widths->grade : 0) + 3;
    if (indent > width - NARROWEST_NOTES) indent = 6; /* a narrow terminal: the notes below, a little further in */
    if (at + owed + 3 > width - NARROWEST_NOTES) {
        fputc('\n', out);
        at = 0;
        owed = indent - 3;
    }
    ids_spaces(out, owed + 3);
    ids_text_wrap(out, figure->notes, at + owed + 3, indent, width);
}

static void write_markdown_figures(struct ids_painter *painter, const struct ids_figure *figures, size_t count) {
    static const char *const titles[] = {"figure", "value", "grade", ""};
    static const int are_numbers[] = {0, 1, 0, 0};
    if (!count) return;
    ids_markdown_head(painter->out, titles, are_numbers, sizeof titles / sizeof *titles);
    for (size_t i = 0; i < count; i++) {
        const char *const cells[] = {figures[i].title, figures[i].value,
                                     figures[i].grade ? ids_grade_name(figures[i].grade) : "",
                                     figures[i].notes ? figures[i].notes : ""};
        for (size_t c = 0; c < sizeof cells / sizeof *cells; c++) {
            fputs("| ", painter->out);
            ids_markdown_text(painter->out, &painter->arena, cells[c]);
            fputc(' ', painter->out);
        }
        fputs("|\n", painter->out);
    }
}

void ids_painter_figures(struct ids_painter *painter, const struct ids_figure *figures, size_t count) {
    if (painter->render->markdown) {
        write_markdown_figures(painter, figures, count);
        return;
    }
    struct widths widths = measure(figures, count, ids_painter_width(painter));
    const char **titles = ids_arena_alloc(&painter->arena, (count + 1) * sizeof *titles);
    if (!titles) {
        painter->out_of_memory = 1;
        return;
    }
    for (size_t i = 0; i < count; i++) titles[i] = figures[i].title;
    ids_texts_shorten(titles, count, widths.title, &painter->arena);
    for (size_t i = 0; i < count; i++) write_figure(painter, &figures[i], titles[i], &widths);
}

/* ---- tables ---- */

/* What was left out of a tree before it came here: its rows do not stand in the order of their sizes. */
static int64_t cut_before(const struct ids_table *table) {
    return table->def->flags & IDS_TABLE_TREE ? table->rows_left_out : 0;
}

/* The heading of a table stands where the title of its first column would, when that is a column of names. */
static const char *table_title(struct ids_painter *painter, const struct ids_table *table, size_t rows) {
    struct ids_phrase phrase = ids_phrase_begin();
    int repeated = painter->heading && !strcasecmp(painter->heading, table->def->title);
    if (rows < table->row_count + (size_t)cut_before(table))
        ids_phrase_add(&phrase, "TOP %zu%s", rows, repeated ? "" : " ");
    if (!repeated) ids_phrase_add(&phrase, "%s", ids_text_upper(&painter->arena, table->def->title));
    return ids_phrase_end(painter, &phrase);
}

static const char *cell_text(struct ids_painter *painter, struct ids_value value) {
    return value.missing ? "-" : ids_painter_value(painter, value);
}

/* The texts that only JSON and CSV show: rows that look alike differ in one of them. */
static int fill_details(struct ids_painter *painter, const struct ids_table *table, struct ids_grid *grid) {
    const struct ids_table_def *def = table->def;
    size_t columns = (size_t)def->column_count;
    if (def->flags & IDS_TABLE_TREE) return 1; /* the place tells its rows apart */
    grid->details = ids_arena_alloc(&painter->arena, columns * sizeof *grid->details);
    if (!grid->details) return 0;
    for (size_t i = 0; i < columns; i++) {
        const struct ids_column_def *column = &def->columns[i];
        if (!(column->flags & IDS_COLUMN_DETAIL) || column->unit != IDS_UNIT_NONE) continue;
        const char **cells = ids_arena_alloc(&painter->arena, (grid->row_count + 1) * sizeof *cells);
        if (!cells) return 0;
        for (size_t row = 0; row < grid->row_count; row++)
            cells[row] = cell_text(painter, table->cells[row * columns + i]);
        grid->details[grid->detail_count++] = (struct ids_grid_detail){cells, (column->flags & IDS_COLUMN_TELLS) != 0};
    }
    return 1;
}

static int is_shown(const struct ids_table *table, size_t column) {
    size_t columns = (size_t)table->def->column_count;
    int flags = table->def->columns[column].flags;
    if (flags & IDS_COLUMN_DETAIL) return 0;
    if (!(flags & IDS_COLUMN_SPARE)) return 1;
    for (size_t row = 0; row < table->row_count; row++) {
        if (!table->cells[row * columns + column].missing) return 1;
    }
    return 0;
}

/* A row of a tree stands further in than the one that it is in. */
static const char *name_text(struct ids_painter *painter, const struct ids_table *table, size_t row, size_t column) {
    const char *text = cell_text(painter, table->cells[row * (size_t)table->def->column_count + column]);
    int depth = table->def->flags & IDS_TABLE_TREE ? ids_table_column(table, "depth") : -1;
    if (depth < 0 || !(table->def->columns[column].flags & IDS_COLUMN_NAME)) return text;
    const char *inside =
        ids_arena_print(&painter->arena, "%*s%s", 2 * (int)ids_table_cell(table, row, depth)->i, "", text);
    if (!inside) painter->out_of_memory = 1;
    return inside ? inside : text;
}

/* Those of C++ say too much to be read, and cut in the middle they look alike. */
static void shorten_templates(struct ids_painter *painter, struct ids_grid *grid) {
    enum { LONG_NAME = 40 };
    const char **texts = ids_arena_alloc(&painter->arena, (grid->row_count + 1) * sizeof *texts);
    for (size_t i = 0; texts && i < grid->column_count; i++) {
        if (!grid->columns[i].stretch) continue;
        for (size_t row = 0; row < grid->row_count; row++) texts[row] = grid->cells[row * grid->column_count + i];
        ids_template_names_shorten(texts, grid->row_count, LONG_NAME, &painter->arena);
        for (size_t row = 0; row < grid->row_count; row++) grid->cells[row * grid->column_count + i] = texts[row];
    }
}

static int fill_grid(struct ids_painter *painter, const struct ids_table *table, struct ids_grid *grid) {
    const struct ids_table_def *def = table->def;
    size_t columns = (size_t)def->column_count;
    grid->columns = ids_arena_alloc(&painter->arena, columns * sizeof *grid->columns);
    grid->cells = ids_arena_alloc(&painter->arena, (columns * grid->row_count + 1) * sizeof *grid->cells);
    int *shown = ids_arena_alloc(&painter->arena, columns * sizeof *shown);
    if (!grid->columns || !grid->cells || !shown) return 0;
    const char **cell = grid->cells;
    for (size_t i = 0; i < columns; i++) {
        const struct ids_column_def *column = &def->columns[i];
        shown[i] = is_shown(table, i);
        if (!shown[i]) continue;
        grid->columns[grid->column_count++] =
            (struct ids_grid_column){.title = column->title,
                                     .right = column->unit != IDS_UNIT_NONE,
                                     .stretch = (column->flags & IDS_COLUMN_LONG) != 0,
                                     .is_name = (column->flags & IDS_COLUMN_NAME) != 0,
                                     .is_verdict = (column->flags & IDS_COLUMN_VERDICT) != 0};
    }
    for (size_t row = 0; row < grid->row_count; row++) {
        for (size_t i = 0; i < columns; i++) {
            if (!shown[i]) continue;
            *cell++ = name_text(painter, table, row, i);
        }
    }
    if (!painter->render->full) shorten_templates(painter, grid);
    return fill_details(painter, table, grid);
}

/* The rows above and these are all: what other tables and advice count is their sum. */
static void write_left_out(struct ids_painter *painter, const struct ids_grid *grid, const struct ids_table *table) {
    struct ids_phrase phrase = ids_phrase_begin();
    uint64_t rows = table->row_count - grid->row_count + (uint64_t)cut_before(table);
    if (rows) {
        struct ids_value count = ids_int_value(IDS_UNIT_COUNT, (int64_t)rows);
        ids_phrase_add(&phrase, "%s more with --top 0", ids_painter_value(painter, count));
    }
    int64_t unlisted = table->rows_left_out - cut_before(table);
    if (unlisted > 0) {
        struct ids_value count = ids_int_value(IDS_UNIT_COUNT, unlisted);
        ids_phrase_add(&phrase, "%s%s %s not listed", rows ? ", and " : "", ids_painter_value(painter, count),
                       unlisted == 1 ? "that is" : "that are");
    }
    int columns = 0;
    for (size_t i = 0; i < grid->column_count; i++) {
        if (grid->columns[i].left_out != IDS_GRID_TOO_WIDE) continue;
        ids_phrase_add(&phrase, "%s%s",
                       columns++              ? ", "
                       : rows || unlisted > 0 ? "; too wide: "
                                              : "too wide: ",
                       grid->columns[i].title);
    }
    if (columns) ids_phrase_add(&phrase, " (--full shows all)");
    const char *text = ids_phrase_end(painter, &phrase);
    if (*text) ids_painter_more(painter, IDS_GRID_INDENT, text);
}

void ids_painter_table(struct ids_painter *painter, const struct ids_table *table, int64_t top, int say_empty) {
    struct ids_grid grid = {.row_count = table->row_count};
    if (top > 0 && (uint64_t)top < grid.row_count) grid.row_count = (size_t)top;
    if (!table->row_count) {
        if (!say_empty || (painter->heading && !strcasecmp(painter->heading, table->def->title))) return;
        ids_painter_heading(painter, table->def->title);
        fputs("  none\n", painter->out);
        return;
    }
    if (!fill_grid(painter, table, &grid)) {
        painter->out_of_memory = 1;
        return;
    }
    const char *title = table_title(painter, table, grid.row_count);
    if (painter->render->markdown) {
        if (!painter->heading || strcasecmp(painter->heading, table->def->title) != 0)
            ids_painter_heading(painter, table->def->title);
        else
            fputc('\n', painter->out); /* or the rows would go on those of the table above */
    } else if (!*title) {
        fputc('\n', painter->out);
    } else if (grid.column_count && !grid.columns[0].right) {
        grid.columns[0].title = title;
        fputc('\n', painter->out);
    } else {
        ids_painter_heading(painter, title);
    }
    ids_painter_grid(painter, &grid);
    write_left_out(painter, &grid, table);
}
