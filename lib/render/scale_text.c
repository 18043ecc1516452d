#include "lib/render/scale_text.h"

#include "lib/base/counted.h"
#include "lib/compare/verdict_words.h"
#include "lib/report/painter.h"
#include "lib/wire/shell_quote.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REASONS_SHOWN = 3, COMMAND_BYTES = 4352 };

static const char *value_text(struct ids_painter *painter, enum ids_unit unit, double value) {
    return isnan(value) ? "-" : ids_painter_value(painter, ids_figure_value(unit, 1, value));
}

static const char *devices_text(struct ids_painter *painter, double devices) {
    struct ids_phrase phrase = ids_phrase_begin();
    ids_phrase_add(&phrase, "%s", IDS_COUNTED(devices, "device"));
    return ids_phrase_end(painter, &phrase);
}

static int has_names(const struct ids_scale *scale) {
    return scale->method_count > 1 || *scale->methods[0].name;
}

/* ---- the grid: a figure's rows are the methods, its columns the numbers of devices ---- */

static const char *step_text(struct ids_painter *painter, const struct ids_scale_cell *cell) {
    return value_text(painter, IDS_UNIT_TIME, cell->step_ps);
}

/* A row of its own, or four numbers of devices would not fit beside each other on most terminals. */
static const char *interval_text(struct ids_painter *painter, const struct ids_scale_cell *cell) {
    struct ids_phrase phrase = ids_phrase_begin();
    if (!cell->interval.known || cell->step_ps <= 0) return "-";
    ids_phrase_add(&phrase, "%.1f %%", 100 * (cell->interval.mean.high - cell->step_ps) / cell->step_ps);
    return ids_phrase_end(painter, &phrase);
}

static const char *number_text(struct ids_painter *painter, double value) {
    struct ids_phrase phrase = ids_phrase_begin();
    ids_phrase_add(&phrase, "%.2f", value);
    return ids_phrase_end(painter, &phrase);
}

static const char *against_text(struct ids_painter *painter, const struct ids_scale_cell *cell) {
    return cell->against < 0 ? "1" : number_text(painter, cell->method_speedup);
}
static const char *speedup_text(struct ids_painter *painter, const struct ids_scale_cell *cell) {
    return number_text(painter, cell->speedup);
}
static const char *efficiency_text(struct ids_painter *painter, const struct ids_scale_cell *cell) {
    return value_text(painter, IDS_UNIT_RATIO, cell->efficiency);
}
static const char *exposed_text(struct ids_painter *painter, const struct ids_scale_cell *cell) {
    return value_text(painter, IDS_UNIT_TIME, cell->exposed_ps);
}
static const char *bytes_text(struct ids_painter *painter, const struct ids_scale_cell *cell) {
    return value_text(painter, IDS_UNIT_BYTES, cell->bytes);
}
static const char *overlap_text(struct ids_painter *painter, const struct ids_scale_cell *cell) {
    return value_text(painter, IDS_UNIT_RATIO, cell->overlap);
}
static const char *balance_text(struct ids_painter *painter, const struct ids_scale_cell *cell) {
    return value_text(painter, IDS_UNIT_RATIO, cell->balance);
}
static const char *runs_text(struct ids_painter *painter, const struct ids_scale_cell *cell) {
    return value_text(painter, IDS_UNIT_COUNT, (double)cell->side->run_count);
}

enum figure { STEP, INTERVAL, AGAINST, SPEEDUP, EFFICIENCY, EXPOSED, VOLUME, OVERLAP, BALANCE, RUNS, FIGURES };
static const struct {
    const char *title;
    const char *(*text)(struct ids_painter *painter, const struct ids_scale_cell *cell);
} figures[FIGURES] = {
    [STEP] = {"step", step_text},
    [INTERVAL] = {"  ± (99 %)", interval_text},
    [AGAINST] = {"times as fast", against_text},
    [SPEEDUP] = {"speed-up", speedup_text},
    [EFFICIENCY] = {"efficiency", efficiency_text},
    [EXPOSED] = {"exposed comm", exposed_text},
    [VOLUME] = {"comm volume", bytes_text},
    [OVERLAP] = {"overlapped", overlap_text},
    [BALANCE] = {"load balance", balance_text},
    [RUNS] = {"recordings", runs_text},
};

static int is_first(const struct ids_scale *scale, const struct ids_scale_cell *cell) {
    return cell - scale->cells == scale->methods[cell->method].first;
}

/* What a figure is about must be there: another method, another number of devices, communication. */
static int is_about(const struct ids_scale *scale, const struct ids_scale_cell *cell, enum figure figure) {
    switch (figure) {
    case AGAINST:
        return cell->against >= 0;
    case SPEEDUP:
    case EFFICIENCY:
        return !is_first(scale, cell);
    case EXPOSED:
    case VOLUME:
    case OVERLAP:
        return cell->exposed_ps > 0 || !isnan(cell->overlap);
    case BALANCE:
        return !isnan(cell->balance);
    case RUNS:
        return cell->side->run_count > 1;
    default:
        return 1;
    }
}

static int is_shown(const struct ids_scale *scale, enum figure figure) {
    for (size_t i = 0; i < scale->method_count * scale->device_count; i++) {
        if (scale->cells[i].side && is_about(scale, &scale->cells[i], figure)) return 1;
    }
    return 0;
}

static const char *cell_text(struct ids_painter *painter, const struct ids_scale_cell *cell, enum figure figure) {
    const char *state = ids_scale_cell_state(cell);
    if (state) return figure == STEP ? state : "-";
    return figures[figure].text(painter, cell);
}

static const char **fill_figure(struct ids_painter *painter, const struct ids_scale *scale, enum figure figure,
                                const char **cell) {
    for (size_t m = 0; m < scale->method_count; m++) {
        *cell++ = m ? "" : figures[figure].title;
        *cell++ = ids_text_clean(&painter->arena, scale->methods[m].name);
        for (size_t d = 0; d < scale->device_count; d++)
            *cell++ = cell_text(painter, &scale->cells[m * scale->device_count + d], figure);
    }
    return cell;
}

static int open_grid(struct ids_painter *painter, struct ids_grid *grid) {
    grid->columns = ids_arena_alloc(&painter->arena, grid->column_count * sizeof *grid->columns);
    grid->cells = ids_arena_alloc(&painter->arena, (grid->column_count * grid->row_count + 1) * sizeof *grid->cells);
    if (grid->columns && grid->cells) return 0;
    painter->out_of_memory = 1;
    return -1;
}

static void write_fitted(struct ids_painter *painter, struct ids_grid *grid) {
    ids_painter_grid(painter, grid);
    for (size_t i = 0; i < grid->column_count; i++) {
        if (grid->columns[i].left_out != IDS_GRID_TOO_WIDE) continue;
        fputs("  too wide for all columns (--full shows them)\n", painter->out);
        return;
    }
}

static void write_grid(struct ids_painter *painter, const struct ids_scale *scale) {
    struct ids_grid grid = {.column_count = 2 + scale->device_count};
    for (int figure = 0; figure < FIGURES; figure++)
        grid.row_count += is_shown(scale, (enum figure)figure) ? scale->method_count : 0;
    if (open_grid(painter, &grid)) return;
    grid.columns[0] = (struct ids_grid_column){.title = "", .is_name = 1};
    grid.columns[1] = (struct ids_grid_column){.title = has_names(scale) ? "method" : "", .stretch = 1};
    for (size_t d = 0; d < scale->device_count; d++)
        grid.columns[2 + d] = (struct ids_grid_column){.title = devices_text(painter, scale->devices[d]), .right = 1};
    const char **cell = grid.cells;
    for (int figure = 0; figure < FIGURES; figure++) {
        if (is_shown(scale, (enum figure)figure)) cell = fill_figure(painter, scale, (enum figure)figure, cell);
    }
    fputc('\n', painter->out);
    write_fitted(painter, &grid);
}

/* ---- recordings that could not be used ---- */

static void write_unusable(struct ids_painter *painter, const struct ids_scale *scale) {
    int before = 0;
    for (size_t i = 0; i < scale->input_count; i++) {
        const struct ids_scale_input *input = &scale->inputs[i];
        for (size_t k = 0; k < input->trace_count; k++) {
            struct ids_phrase phrase = ids_phrase_begin();
            if (!input->traces[k].why) continue;
            if (!before++) fputc('\n', painter->out);
            if (input->devices > 0)
                ids_phrase_add(&phrase, "%s%son %s: ", input->method, *input->method ? " " : "",
                               IDS_COUNTED(input->devices, "device"));
            ids_phrase_add(&phrase, "%s: %s", input->traces[k].path, input->traces[k].why);
            ids_painter_item(painter, "", 2, ids_phrase_end(painter, &phrase));
        }
    }
}

/* ---- why methods differ ---- */

/* "3.107 ms more work.compute (mostly dot.3)" */
static void add_reason(struct ids_phrase *phrase, const struct ids_part *part, int is_first) {
    char text[IDS_VALUE_ROOM];
    int64_t change = part->b_ps - part->a_ps;
    ids_value_format(ids_int_value(IDS_UNIT_TIME, llabs(change)), text, sizeof text);
    ids_phrase_add(phrase, "%s%s %s %s", is_first ? "" : ", ", text, change < 0 ? "less" : "more", part->title);
    if (part->culprit.name) ids_phrase_add(phrase, " (mostly %.60s)", part->culprit.name);
}

/* A tenth of the largest is worth a word. */
static void add_reasons(struct ids_phrase *phrase, const struct ids_parts *parts) {
    int64_t largest = parts->count ? llabs(parts->at[0].b_ps - parts->at[0].a_ps) : 0;
    for (size_t i = 0; i < parts->count && i < REASONS_SHOWN; i++) {
        int64_t change = llabs(parts->at[i].b_ps - parts->at[i].a_ps);
        if (change && change * 10 >= largest) add_reason(phrase, &parts->at[i], !i);
    }
}

static void write_reason(struct ids_painter *painter, const struct ids_scale *scale,
                         const struct ids_scale_reason *reason) {
    struct ids_phrase phrase = ids_phrase_begin();
    char change[IDS_SIGNED_ROOM];
    double ratio = reason->cell->method_speedup;
    ids_phrase_add(&phrase, "%s on %s: ", scale->methods[reason->cell->method].name,
                   devices_text(painter, reason->cell->devices));
    ids_signed(change, IDS_UNIT_TIME, reason->step.b - reason->step.a);
    if (reason->step.verdict == IDS_VERDICT_SAME) {
        ids_phrase_add(&phrase, "as fast as %s", scale->methods[reason->against->method].name);
    } else {
        ids_phrase_add(&phrase, "%s a step against %s, %.2f times as %s%s: ", change,
                       scale->methods[reason->against->method].name, ratio < 1 ? 1 / ratio : ratio,
                       ratio < 1 ? "long" : "fast",
                       reason->step.verdict > IDS_VERDICT_SINGLE_STEPS ? "" : " (may be chance)");
        add_reasons(&phrase, &reason->parts);
    }
    ids_painter_item(painter, "", 2, ids_phrase_end(painter, &phrase));
}

static void write_reasons(struct ids_painter *painter, const struct ids_scale *scale) {
    if (scale->reason_count) ids_painter_heading(painter, "why methods differ");
    for (size_t i = 0; i < scale->reason_count; i++) write_reason(painter, scale, &scale->reasons[i]);
}

/* ---- where the rest went, of one method ---- */

static const char **fill_loss(struct ids_painter *painter, const struct ids_scale *scale, int account,
                              const char **cell) {
    int all = account == IDS_ACCOUNT_COUNT;
    const char *culprit = NULL;
    *cell++ = all ? "loss" : ids_account_id((enum ids_account)account);
    for (size_t d = 0; d < scale->device_count; d++) {
        const struct ids_scale_cell *at = &scale->cells[d];
        if (!at->side || is_first(scale, at)) continue;
        double lost = all ? at->loss_ps : at->lost_ps[account];
        char text[IDS_SIGNED_ROOM];
        struct ids_phrase time = ids_phrase_begin(), share = ids_phrase_begin();
        ids_phrase_add(&time, "%s", ids_signed(text, IDS_UNIT_TIME, lost));
        if (at->loss_ps > 0) ids_phrase_add(&share, "%lld %%", llround(100 * lost / at->loss_ps));
        *cell++ = ids_phrase_end(painter, &time);
        *cell++ = ids_phrase_end(painter, &share);
        culprit = all ? NULL : at->culprits[account].name;
    }
    *cell++ = culprit ? ids_text_clean(&painter->arena, culprit) : "";
    return cell;
}

/* A row an account, a column a number of devices; of the last one who it is. */
static void write_losses(struct ids_painter *painter, const struct ids_scale *scale) {
    struct ids_grid grid = {.column_count = 2, .row_count = 1};
    size_t column = 1;
    for (size_t d = 0; d < scale->device_count; d++)
        grid.column_count += scale->cells[d].side && !is_first(scale, &scale->cells[d]) ? 2 : 0;
    for (int account = 0; account < IDS_ACCOUNT_COUNT; account++)
        grid.row_count += (size_t)ids_scale_has(scale, account);
    if (grid.column_count == 2 || open_grid(painter, &grid)) return;
    grid.columns[0] = (struct ids_grid_column){.title = "a step", .is_name = 1};
    for (size_t d = 0; d < scale->device_count; d++) {
        if (!scale->cells[d].side || is_first(scale, &scale->cells[d])) continue;
        grid.columns[column++] =
            (struct ids_grid_column){.title = devices_text(painter, scale->devices[d]), .right = 1};
        grid.columns[column++] = (struct ids_grid_column){.title = "", .right = 1};
    }
    grid.columns[column] = (struct ids_grid_column){.title = "mostly", .stretch = 1};
    const char **cell = grid.cells;
    for (int row = 0; row <= IDS_ACCOUNT_COUNT; row++) {
        if (row == IDS_ACCOUNT_COUNT || ids_scale_has(scale, row)) cell = fill_loss(painter, scale, row, cell);
    }
    ids_painter_heading(painter, "where the rest went");
    write_fitted(painter, &grid);
}

/* ---- traces ---- */

static void write_traces(struct ids_painter *painter, const struct ids_scale *scale) {
    struct ids_grid grid = {.column_count = 4};
    for (size_t i = 0; i < scale->input_count; i++) {
        for (size_t k = 0; k < scale->inputs[i].trace_count; k++) grid.row_count += !scale->inputs[i].traces[k].why;
    }
    if (open_grid(painter, &grid)) return;
    grid.columns[0] = (struct ids_grid_column){.title = "devices", .right = 1};
    grid.columns[1] = (struct ids_grid_column){.title = has_names(scale) ? "method" : "", .stretch = 1};
    grid.columns[2] = (struct ids_grid_column){.title = "step", .right = 1};
    grid.columns[3] = (struct ids_grid_column){.title = "trace", .stretch = 1, .is_name = 1};
    const char **cell = grid.cells;
    for (size_t i = 0; i < scale->input_count; i++) {
        const struct ids_scale_input *input = &scale->inputs[i];
        for (size_t k = 0; k < input->trace_count; k++) {
            if (input->traces[k].why) continue;
            const struct ids_metric *mean = ids_report_find(input->traces[k].report, "steps.mean", NULL);
            *cell++ = value_text(painter, IDS_UNIT_COUNT, input->devices);
            *cell++ = ids_text_clean(&painter->arena, input->method);
            *cell++ = mean ? ids_painter_value(painter, mean->value) : "-";
            *cell++ = ids_text_clean(&painter->arena, input->traces[k].path);
        }
    }
    ids_painter_heading(painter, "traces");
    write_fitted(painter, &grid);
}

/* ---- all of it ---- */

static void add_scaling(struct ids_phrase *phrase, const struct ids_scale_method *method) {
    int is_weak = method->scaling == IDS_SCALING_WEAK;
    ids_phrase_add(phrase, "%s scaling", is_weak ? "weak" : "strong");
    if (method->guessed_by)
        ids_phrase_add(phrase, " (%s; --%s says otherwise)", method->guessed_by, is_weak ? "strong" : "weak");
}

static void write_head(struct ids_painter *painter, const struct ids_scale *scale) {
    struct ids_phrase phrase = ids_phrase_begin();
    int differ = 0, row_of_one = 1;
    for (size_t m = 0; m < scale->method_count; m++) differ |= scale->methods[m].scaling != scale->methods[0].scaling;
    row_of_one = !is_shown(scale, EFFICIENCY);
    if (scale->method_count > 1) ids_phrase_add(&phrase, "%s on ", IDS_COUNTED(scale->method_count, "method"));
    for (size_t d = 0; d < scale->device_count && scale->method_count > 1; d++)
        ids_phrase_add(&phrase, "%s%.0f", d ? ", " : "", scale->devices[d]);
    if (scale->method_count > 1)
        ids_phrase_add(&phrase, " device%s%s", scale->device_count == 1 && scale->devices[0] == 1 ? "" : "s",
                       row_of_one ? "" : ": ");
    for (size_t m = 0; m < scale->method_count && differ; m++) {
        ids_phrase_add(&phrase, "%s%s ", m ? "; " : "", scale->methods[m].name);
        add_scaling(&phrase, &scale->methods[m]);
    }
    if (!differ && !row_of_one) add_scaling(&phrase, &scale->methods[0]);
    if (painter->render->markdown) {
        fputs("### idsprof scale\n", painter->out);
        ids_painter_more(painter, 2, ids_phrase_end(painter, &phrase));
        if (scale->remarks.count) fputc('\n', painter->out);
    } else {
        ids_text_wrap(painter->out, ids_phrase_end(painter, &phrase), 0, 2, ids_painter_width(painter));
    }
    for (size_t i = 0; i < scale->remarks.count; i++)
        ids_painter_item(painter, ids_remark_severity_name(scale->remarks.at[i].severity), 11,
                         ids_text_clean(&painter->arena, scale->remarks.at[i].text));
}

/* Of several methods the losses of one are the next question. */
static void write_next(struct ids_painter *painter, const struct ids_scale *scale, const char *path) {
    char quoted[COMMAND_BYTES], name[COMMAND_BYTES];
    if (scale->method_count < 2 || !path || !is_shown(scale, EFFICIENCY)) return;
    ids_shell_quote(path, quoted, sizeof quoted);
    ids_shell_quote(scale->methods[scale->method_count - 1].name, name, sizeof name);
    struct ids_phrase phrase = ids_phrase_begin();
    ids_phrase_add(&phrase, "idsprof scale %s --methods %s", quoted, name);
    ids_painter_command(painter, 2, ids_phrase_end(painter, &phrase));
}

int ids_render_scale(const struct ids_scale *scale, const struct ids_render *render, const char *path, FILE *out,
                     struct ids_error *err) {
    struct ids_painter painter;
    ids_painter_init(&painter, &scale->report, render, out);
    write_head(&painter, scale);
    write_grid(&painter, scale);
    write_unusable(&painter, scale);
    write_reasons(&painter, scale);
    write_next(&painter, scale, path);
    if (scale->method_count == 1) write_losses(&painter, scale);
    write_traces(&painter, scale);
    return ids_painter_done(&painter, err);
}
