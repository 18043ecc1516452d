#include "lib/render/report_chart.h"

#include "lib/base/counted.h"
#include "lib/model/account_look.h"
#include "lib/report/painter.h"

#include <math.h>
#include <string.h>

enum {
    INDENT = 2,
    WIDEST = 240, /* a strip has so many cells */
    WIDEST_LABEL = 20,
    NARROWEST_BAR = 6,
    WIDEST_BAR = 40,
    LABEL = 14, /* of a row of a histogram */
    BEHIND = 30,
    NARROW = 60,     /* a line has no room for what could be left out */
    LEAST_TICK = 16, /* columns between times below strips */
    LEAST_HISTOGRAM = 8,
    BINS = 8,
    LEVELS = 8,
};

/* ---- ink ---- */

#define FULL "\xe2\x96\x88"
static const char *const levels[LEVELS] = {"\xe2\x96\x81", "\xe2\x96\x82", "\xe2\x96\x83", "\xe2\x96\x84",
                                           "\xe2\x96\x85", "\xe2\x96\x86", "\xe2\x96\x87", FULL};

/* How an account is drawn: what runs as blocks, what does not as its letter, so that it can be told without colours. */
struct ink {
    const char *block, *colour;
};

static struct ink ink_of(enum ids_account account) {
    static const char *const blocks[IDS_ACCOUNT_COUNT + 1] = {
        [IDS_WORK_COMPUTE] = FULL,           [IDS_COMM_TRANSFER] = "\xe2\x96\x93", [IDS_COMM_WAIT] = "\xe2\x96\x92",
        [IDS_STALL_DEVICE] = "\xe2\x96\x91", [IDS_COPY_H2D] = "\xe2\x96\x9e",      [IDS_COPY_D2H] = "\xe2\x96\x9a",
        [IDS_COPY_D2D] = "\xe2\x96\x84",     [IDS_COPY_P2P] = "\xe2\x96\x84",      [IDS_COPY_SET] = "\xe2\x96\x84",
        [IDS_COPY_OTHER] = "\xe2\x96\x84",
    };
    return (struct ink){blocks[account], ids_account_look(account)->escape};
}

struct chart {
    struct ids_painter painter;
    int width; /* of what is drawn, behind the indent */
    int used[IDS_ACCOUNT_COUNT];
};

/* So many cells of an account; `before` is what the cell before is of, whose colour goes on. */
static void put_cells(struct chart *chart, enum ids_account account, int count, enum ids_account *before) {
    struct ink ink = ink_of(account);
    FILE *out = chart->painter.out;
    int coloured = chart->painter.render->colour;
    if (coloured && *before != account) fputs(account == IDS_NO_ACCOUNT ? "\033[0m" : ink.colour, out);
    *before = account;
    if (count && account < IDS_NO_ACCOUNT) chart->used[account] = 1;
    for (; count > 0; count--) {
        if (ink.block)
            fputs(ink.block, out);
        else
            fputc(ids_account_letter(account), out);
    }
}

static void end_cells(struct chart *chart, enum ids_account before) {
    if (chart->painter.render->colour && before != IDS_NO_ACCOUNT) fputs("\033[0m", chart->painter.out);
}

static const char *value_text(struct chart *chart, enum ids_unit unit, double value) {
    int is_whole = unit == IDS_UNIT_TIME || unit == IDS_UNIT_COUNT;
    return ids_painter_value(&chart->painter,
                             is_whole ? ids_int_value(unit, llround(value)) : ids_real_value(unit, value));
}

/* ---- cells of tables ---- */

static const struct ids_value *cell_of(const struct ids_table *table, size_t row, const char *id) {
    int column = ids_table_column(table, id);
    return column < 0 ? NULL : ids_table_cell(table, row, column);
}

static double number_of(const struct ids_table *table, size_t row, const char *id) {
    const struct ids_value *cell = cell_of(table, row, id);
    return cell && !cell->missing ? ids_value_number(*cell) : NAN;
}

/* Of a time, in picoseconds; 0 where there is none. */
static int64_t time_of(const struct ids_table *table, size_t row, const char *id) {
    const struct ids_value *cell = cell_of(table, row, id);
    return cell && !cell->missing && cell->unit == IDS_UNIT_TIME ? cell->i : 0;
}

static const char *text_of(const struct ids_table *table, size_t row, const char *id) {
    const struct ids_value *cell = cell_of(table, row, id);
    return cell && !cell->missing && cell->unit == IDS_UNIT_NONE ? cell->text : "";
}

static const struct ids_table *table_of(const struct chart *chart, const char *id) {
    const struct ids_table *table = ids_report_find_table(chart->painter.report, id);
    return table && table->row_count ? table : NULL;
}

/* ---- a step ---- */

/* The accounts' shares as one bar. Each part ends where the sum of all so far does, so that the bar is as long as it
 * should be. */
static void draw_step(struct chart *chart) {
    const struct ids_table *accounts = table_of(chart, "accounts");
    const struct ids_metric *mean = ids_report_find(chart->painter.report, "steps.mean", NULL);
    int has_steps = mean && !mean->value.missing, at = 0;
    double share = 0;
    ids_painter_heading(&chart->painter, has_steps ? "where a step goes" : "where the window goes");
    ids_spaces(chart->painter.out, INDENT);
    enum ids_account before = IDS_NO_ACCOUNT;
    for (size_t row = 0; row < accounts->row_count; row++) {
        share += fmax(0, number_of(accounts, row, "share"));
        int to = (int)lround(fmin(1, share) * chart->width);
        put_cells(chart, ids_account_of_id(text_of(accounts, row, "account")), to - at, &before);
        at = to;
    }
    end_cells(chart, before);
    fputc('\n', chart->painter.out);
}

/* What the glyphs that were drawn mean, most time first, with each one's share. */
static void draw_legend(struct chart *chart) {
    const struct ids_table *accounts = table_of(chart, "accounts");
    FILE *out = chart->painter.out;
    int column = 0, listed[IDS_ACCOUNT_COUNT + 1] = {0};
    size_t rows = accounts->row_count;
    fputc('\n', out);
    for (size_t i = 0; i < rows + IDS_ACCOUNT_COUNT; i++) {
        enum ids_account account =
            i < rows ? ids_account_of_id(text_of(accounts, i, "account")) : (enum ids_account)(i - rows);
        if (account >= IDS_NO_ACCOUNT || !chart->used[account] || listed[account]++) continue;
        struct ids_phrase phrase = ids_phrase_begin();
        ids_phrase_add(&phrase, " %s", ids_account_id(account));
        if (i < rows)
            ids_phrase_add(&phrase, " %s", value_text(chart, IDS_UNIT_RATIO, number_of(accounts, i, "share")));
        const char *text = ids_phrase_end(&chart->painter, &phrase);
        int columns = ids_text_columns(text) + 1;
        if (column && column + 3 + columns > chart->width) {
            fputc('\n', out);
            column = 0;
        }
        ids_spaces(out, column ? 3 : INDENT);
        column += columns + (column ? 3 : 0);
        enum ids_account before = IDS_NO_ACCOUNT;
        put_cells(chart, account, 1, &before);
        end_cells(chart, before);
        fputs(text, out);
    }
    if (column) fputc('\n', out);
}

/* ---- the steps ---- */

/* The largest of the values from `from` on, up to `to`. */
static double most_between(const struct ids_table *table, size_t from, size_t to, size_t *ret_row) {
    double most = -INFINITY;
    for (size_t row = from; row < to; row++) {
        double value = (double)time_of(table, row, "duration");
        if (value <= most) continue;
        most = value;
        *ret_row = row;
    }
    return most;
}

static double least_of(const struct ids_table *steps) {
    double least = INFINITY;
    for (size_t row = 0; row < steps->row_count; row++) least = fmin(least, (double)time_of(steps, row, "duration"));
    return least;
}

/* Step times from left to right, several of them a column where there are many: the longest of these is drawn. Noise
 * of a few percent should not look like mountains, so that the scale is at least a fifth of the longest. */
static void draw_steps(struct chart *chart) {
    const struct ids_table *steps = table_of(chart, "steps");
    size_t slowest = 0;
    if (!steps || steps->row_count < 2) return;
    FILE *out = chart->painter.out;
    double most = most_between(steps, 0, steps->row_count, &slowest), least = least_of(steps);
    double from = fmin(least, most * 0.8), scale = most - from;
    size_t each = (steps->row_count + (size_t)chart->width - 1) / (size_t)chart->width;
    ids_painter_heading(&chart->painter, "step times");
    ids_spaces(out, INDENT);
    for (size_t row = 0; row < steps->row_count; row += each) {
        size_t end = row + each < steps->row_count ? row + each : steps->row_count, ignored;
        double value = most_between(steps, row, end, &ignored);
        int level = scale > 0 ? (int)lround((value - from) / scale * (LEVELS - 1)) : 0;
        fputs(levels[level < 0 ? 0 : level], out);
    }
    char text[256], which[64];
    int used = snprintf(text, sizeof text, "%s", IDS_COUNTED(steps->row_count, "step"));
    if (each > 1) used += snprintf(text + used, sizeof text - (size_t)used, ", the longest of %zu a column", each);
    used += snprintf(text + used, sizeof text - (size_t)used, ", %s to ", value_text(chart, IDS_UNIT_TIME, least));
    used += snprintf(text + used, sizeof text - (size_t)used, "%s", value_text(chart, IDS_UNIT_TIME, most));
    int more = snprintf(which, sizeof which, "(step %.0f)", number_of(steps, slowest, "step"));
    fprintf(out, "\n  %s%s%s\n", text, used + 1 + more > chart->width ? "\n  " : " ", which);
}

static void draw_bar(struct chart *chart, double value, double most, const char *behind) {
    int widest = chart->width - LABEL - BEHIND;
    widest = widest < NARROWEST_BAR ? NARROWEST_BAR : widest > WIDEST_BAR ? WIDEST_BAR : widest;
    int columns = most > 0 ? (int)ceil(value / most * widest) : 0;
    for (int i = 0; i < columns; i++) fputs(FULL, chart->painter.out);
    fprintf(chart->painter.out, "%s%s\n", columns ? " " : "", behind);
}

/* A row of a histogram: what it is of, right-aligned, a bar, and the figure. */
static void draw_row(struct chart *chart, const char *label, double value, double most, const char *behind) {
    ids_spaces(chart->painter.out, INDENT + LABEL - ids_text_columns(label));
    fprintf(chart->painter.out, "%s  ", label);
    draw_bar(chart, value, most, behind);
}

static void draw_step_histogram(struct chart *chart) {
    const struct ids_table *steps = table_of(chart, "steps");
    size_t counts[BINS] = {0}, most_steps = 0, ignored = 0;
    if (!steps || steps->row_count < LEAST_HISTOGRAM) return;
    double least = least_of(steps), most = most_between(steps, 0, steps->row_count, &ignored);
    if (!(most > least)) return;
    for (size_t row = 0; row < steps->row_count; row++) {
        int bin = (int)(((double)time_of(steps, row, "duration") - least) / (most - least) * BINS);
        size_t *count = &counts[bin < BINS ? bin : BINS - 1];
        if (++*count > most_steps) most_steps = *count;
    }
    ids_painter_heading(&chart->painter, "steps by time");
    for (int bin = 0; bin < BINS; bin++) {
        struct ids_phrase label = ids_phrase_begin();
        ids_phrase_add(&label, "to %s", value_text(chart, IDS_UNIT_TIME, least + (most - least) * (bin + 1) / BINS));
        draw_row(chart, ids_phrase_end(&chart->painter, &label), (double)counts[bin], (double)most_steps,
                 counts[bin] ? value_text(chart, IDS_UNIT_COUNT, (double)counts[bin]) : "");
    }
}

/* ---- gaps ---- */

/* By the time that gaps of a length have together: of the many short ones none is worth a look. */
static void draw_gaps(struct chart *chart) {
    const struct ids_table *gaps = table_of(chart, "gap_histogram");
    double most = 0;
    for (size_t row = 0; gaps && row < gaps->row_count; row++) most = fmax(most, (double)time_of(gaps, row, "total"));
    if (!(most > 0)) return;
    ids_painter_heading(&chart->painter, "idle time by length of the gap");
    for (size_t row = 0; row < gaps->row_count; row++) {
        const struct ids_value *below = cell_of(gaps, row, "below");
        double total = (double)time_of(gaps, row, "total"), count = number_of(gaps, row, "gaps");
        struct ids_phrase label = ids_phrase_begin(), behind = ids_phrase_begin();
        if (!below || below->missing)
            ids_phrase_add(&label, "longer");
        else
            ids_phrase_add(&label, "below %s", value_text(chart, IDS_UNIT_TIME, (double)below->i));
        if (count > 0) {
            ids_phrase_add(&behind, "%s", value_text(chart, IDS_UNIT_TIME, total));
            if (chart->width >= NARROW) ids_phrase_add(&behind, " in %s", IDS_COUNTED((size_t)count, "gap"));
        }
        const char *text = ids_phrase_end(&chart->painter, &label);
        draw_row(chart, text, total, most, ids_phrase_end(&chart->painter, &behind));
    }
}

/* ---- what devices did over time ---- */

/* The account of several cells of a strip: what most of them have. */
static enum ids_account account_of_cells(const char *letters, int from, int to) {
    int counts[IDS_ACCOUNT_COUNT + 1] = {0}, most = IDS_NO_ACCOUNT;
    for (int cell = from; cell < to; cell++) {
        enum ids_account account = ids_account_of_letter(letters[cell]);
        counts[account]++;
        if (counts[account] > counts[most]) most = (int)account;
    }
    return (enum ids_account)most;
}

static void draw_strip(struct chart *chart, const char *letters, int columns) {
    enum ids_account before = IDS_NO_ACCOUNT;
    int cells = (int)strlen(letters);
    for (int column = 0; column < columns; column++) {
        int from = column * cells / columns, to = (column + 1) * cells / columns;
        put_cells(chart, account_of_cells(letters, from, to), 1, &before);
    }
    end_cells(chart, before);
    fputc('\n', chart->painter.out);
}

static const char steps_word[] = "  steps";

/* The number of each step where it begins, if there is room for all. */
static void draw_step_numbers(struct chart *chart, int64_t start_ps, int64_t length_ps, int label, int columns) {
    const struct ids_table *steps = table_of(chart, "steps");
    FILE *out = chart->painter.out;
    int at = 0, next = 0;
    for (size_t row = 0; steps && row < steps->row_count; row++) {
        int64_t begin_ps = time_of(steps, row, "start") - start_ps;
        if (begin_ps + time_of(steps, row, "duration") <= 0 || begin_ps >= length_ps) continue;
        if (begin_ps < 0) begin_ps = 0;
        int column = (int)((double)begin_ps / (double)length_ps * columns);
        const char *number = value_text(chart, IDS_UNIT_COUNT, number_of(steps, row, "step"));
        int room = ids_text_columns(number) + 1;
        if (column < next || column + room > columns) continue; /* those between are not numbered */
        if (!at) {
            int has_word = label >= (int)sizeof steps_word;
            fputs(has_word ? steps_word : "", out);
            ids_spaces(out, has_word ? label - (int)(sizeof steps_word - 1) : label);
        }
        ids_spaces(out, column - at);
        fprintf(out, "|%s", number);
        at = column + room;
        next = at + 1;
    }
    if (at) fputc('\n', out);
}

static void draw_times(struct chart *chart, int64_t start_ps, int64_t length_ps, int label, int columns) {
    FILE *out = chart->painter.out;
    int ticks = columns / LEAST_TICK > 0 ? columns / LEAST_TICK : 1, at = 0;
    if (ticks > 4) ticks = 4;
    ids_spaces(out, label);
    for (int tick = 0; tick < ticks; tick++) {
        int column = columns * tick / ticks;
        const char *text = value_text(chart, IDS_UNIT_TIME, (double)start_ps + (double)length_ps * tick / ticks);
        ids_spaces(out, column - at);
        fprintf(out, "|%s", text);
        at = column + 1 + ids_text_columns(text);
    }
    fputc('\n', out);
}

static const char *label_of(struct chart *chart, const struct ids_table *strips, size_t row, int with_host) {
    const char *device = text_of(strips, row, "device");
    const char *label = with_host ? device : ids_device_label(device);
    label = ids_text_clean(&chart->painter.arena, label);
    return ids_text_shorten(&chart->painter.arena, label, WIDEST_LABEL);
}

/* Devices of several hosts are called alike without their hosts. */
static int labels_repeat(const struct ids_table *strips) {
    for (size_t a = 0; a < strips->row_count; a++) {
        for (size_t b = a + 1; b < strips->row_count && b < a + 512; b++) {
            if (!strcmp(ids_device_label(text_of(strips, a, "device")), ids_device_label(text_of(strips, b, "device"))))
                return 1;
        }
    }
    return 0;
}

static void draw_strips(struct chart *chart) {
    const struct ids_table *strips = table_of(chart, "strips");
    FILE *out = chart->painter.out;
    int64_t top = chart->painter.render->top;
    int room = 0;
    if (!strips) return;
    size_t shown = top && (size_t)top < strips->row_count ? (size_t)top : strips->row_count;
    int with_host = labels_repeat(strips);
    for (size_t row = 0; row < shown; row++) {
        int columns = ids_text_columns(label_of(chart, strips, row, with_host));
        if (columns > room) room = columns;
    }
    int64_t start_ps = time_of(strips, 0, "start"), length_ps = time_of(strips, 0, "duration");
    int columns = chart->width - room - 2 < WIDEST ? chart->width - room - 2 : WIDEST;
    if (columns < 1 || length_ps <= 0) return;
    ids_painter_heading(&chart->painter, "over time");
    draw_step_numbers(chart, start_ps, length_ps, INDENT + room + 2, columns);
    for (size_t row = 0; row < shown; row++) {
        const char *label = label_of(chart, strips, row, with_host);
        ids_spaces(out, INDENT);
        fputs(label, out);
        ids_spaces(out, room - ids_text_columns(label) + 2);
        draw_strip(chart, text_of(strips, row, "letters"), columns);
    }
    draw_times(chart, start_ps, length_ps, INDENT + room + 2, columns);
    if (shown < strips->row_count)
        fprintf(out, "  %s more with --top 0\n",
                value_text(chart, IDS_UNIT_COUNT, (double)(strips->row_count - shown)));
    fprintf(out, "  a column is %s\n", value_text(chart, IDS_UNIT_TIME, (double)length_ps / columns));
}

/* The step to look at: the slowest, with its neighbours. */
static void say_next(struct chart *chart) {
    const struct ids_table *steps = table_of(chart, "steps");
    const char *command = chart->painter.render->command;
    size_t slowest = 0;
    if (!steps || !command || steps->row_count < 3) return;
    most_between(steps, 0, steps->row_count, &slowest);
    size_t from = slowest ? slowest - 1 : 0, to = slowest + 1 < steps->row_count ? slowest + 1 : slowest;
    fprintf(chart->painter.out, "\n  %s --zoom %.0f-%.0f\n", ids_text_clean(&chart->painter.arena, command),
            number_of(steps, from, "step"), number_of(steps, to, "step"));
}

int ids_render_chart(const struct ids_report *report, const struct ids_render *render, FILE *out,
                     struct ids_error *err) {
    struct chart chart = {.painter = {0}};
    ids_painter_init(&chart.painter, report, render, out);
    int width = ids_painter_width(&chart.painter) - INDENT;
    chart.width = width < WIDEST + WIDEST_LABEL ? width : WIDEST + WIDEST_LABEL;
    ids_painter_run(&chart.painter);
    if (!table_of(&chart, "accounts")) {
        fputs("\n  nothing to draw: no event of a device\n", out);
        return ids_painter_done(&chart.painter, err);
    }
    draw_step(&chart);
    draw_strips(&chart);
    draw_legend(&chart);
    draw_steps(&chart);
    draw_step_histogram(&chart);
    draw_gaps(&chart);
    say_next(&chart);
    return ids_painter_done(&chart.painter, err);
}
