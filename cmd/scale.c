#include "lib/compare/scale.h"
#include "cmd/command.h"
#include "cmd/diff_print.h"
#include "cmd/engine.h"
#include "lib/cli/output.h"
#include "lib/cli/reading.h"
#include "lib/cli/terminal.h"
#include "lib/compare/verdict_words.h"
#include "lib/report/grid.h"
#include "lib/run/scale_methods.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct scale_options {
    int strong, weak, json, csv, force, no_cache, full, colour;
    int64_t width;
    const char *devices, *output;
};

static const struct scale_options defaults = {.colour = IDS_COLOUR_AUTO};

#define AT(field) offsetof(struct scale_options, field)
static const struct ids_opt opts[] = {
    {IDS_OPT_FLAG, 0, "strong", NULL,
     "strong scaling: the same work on more devices (default: by shapes, or by compute)", AT(strong), NULL},
    {IDS_OPT_FLAG, 0, "weak", NULL, "weak scaling: work grows with the devices", AT(weak), NULL},
    {IDS_OPT_TEXT, 'd', "devices", "LIST", "the numbers of devices, as 1,2,4,8; else as named or recorded", AT(devices),
     NULL},
    {IDS_OPT_TEXT, 'o', "output", "FILE", "write the results as JSON too, with the paths of the traces", AT(output),
     NULL},
    {IDS_OPT_FLAG, 0, "force", NULL, "compare even if the runs are not comparable", AT(force), NULL},
    {IDS_OPT_FLAG, 'j', "json", NULL, "print JSON", AT(json), NULL},
    {IDS_OPT_FLAG, 'c', "csv", NULL, "print CSV: every table", AT(csv), NULL},
    {IDS_OPT_FLAG, 0, "no-cache", NULL, "read the profiles again, and cache nothing", AT(no_cache), NULL},
    {IDS_OPT_FLAG, 'f', "full", NULL, "do not shorten names or leave out columns", AT(full), NULL},
    {IDS_OPT_COUNT, 0, "width", "N", "columns of a line, at least 40 (else the terminal's, or 120)", AT(width), NULL},
    {IDS_OPT_CHOICE, 0, "color", "WHEN", "auto, always or never", AT(colour), ids_colour_choice},
    IDS_READING_OPTIONS,
};

/* ---- text ---- */

static const char *text_of(struct ids_painter *painter, enum ids_unit unit, double value) {
    return ids_painter_value(painter, ids_figure_value(unit, 1, value));
}

static const char *number_of(struct ids_painter *painter, double value) {
    struct ids_phrase phrase = ids_phrase_begin();
    ids_phrase_add(&phrase, "%.2f", value);
    return ids_phrase_end(painter, &phrase);
}

static const char **room_for(struct ids_painter *painter, struct ids_grid *grid) {
    grid->cells = ids_arena_alloc(&painter->arena, (grid->column_count * grid->row_count + 1) * sizeof *grid->cells);
    if (!grid->cells) painter->out_of_memory = 1;
    return grid->cells;
}

static void write_grid(struct ids_painter *painter, struct ids_grid *grid) {
    ids_grid_fit(grid, painter->render->full ? 0 : ids_painter_width(painter));
    ids_grid_write(grid, &painter->arena, painter->bold, painter->plain, painter->out);
}

static void write_points(struct ids_painter *painter, const struct ids_scale *scale) {
    struct ids_grid_column columns[] = {{.title = "devices", .right = 1},    {.title = "step", .right = 1},
                                        {.title = "ideal", .right = 1},      {.title = "speed-up", .right = 1},
                                        {.title = "efficiency", .right = 1}, {.title = "loss", .right = 1},
                                        {.title = "run", .stretch = 1}};
    struct ids_grid grid = {
        .columns = columns, .column_count = sizeof columns / sizeof *columns, .row_count = scale->count};
    const char **cell = room_for(painter, &grid);
    if (!cell) return;
    for (size_t i = 0; i < scale->count; i++) {
        const struct ids_scale_point *point = &scale->at[i];
        char loss[IDS_SIGNED_ROOM];
        struct ids_phrase phrase = ids_phrase_begin();
        ids_phrase_add(&phrase, "%s", i ? ids_signed(loss, IDS_UNIT_TIME, point->loss_ps) : "");
        *cell++ = text_of(painter, IDS_UNIT_COUNT, point->devices);
        *cell++ = text_of(painter, IDS_UNIT_TIME, point->step_ps);
        *cell++ = text_of(painter, IDS_UNIT_TIME, point->ideal_ps);
        *cell++ = number_of(painter, point->speedup);
        *cell++ = text_of(painter, IDS_UNIT_RATIO, point->efficiency);
        *cell++ = ids_phrase_end(painter, &phrase);
        *cell++ = ids_text_clean(&painter->arena, point->side->label);
    }
    fputc('\n', painter->out);
    write_grid(painter, &grid);
}

/* What the loss is made of: a row an account, a column a configuration; of the last one who it is. */
static void write_losses(struct ids_painter *painter, const struct ids_scale *scale) {
    size_t shown = scale->count - 1;
    struct ids_grid grid = {.column_count = 2 + 2 * shown, .row_count = 1};
    for (int account = 0; account < IDS_ACCOUNT_COUNT; account++)
        grid.row_count += (size_t)ids_scale_has(scale, account);
    grid.columns = ids_arena_alloc(&painter->arena, grid.column_count * sizeof *grid.columns);
    const char **cell = room_for(painter, &grid);
    if (!cell || !grid.columns) {
        painter->out_of_memory = 1;
        return;
    }
    grid.columns[0] = (struct ids_grid_column){.title = "a step", .is_name = 1};
    for (size_t p = 1; p <= shown; p++) {
        struct ids_phrase phrase = ids_phrase_begin();
        ids_phrase_add(&phrase, "%.0f devices", scale->at[p].devices);
        grid.columns[2 * p - 1] = (struct ids_grid_column){.title = ids_phrase_end(painter, &phrase), .right = 1};
        grid.columns[2 * p] = (struct ids_grid_column){.title = "", .right = 1};
    }
    grid.columns[2 * shown + 1] = (struct ids_grid_column){.title = "mostly", .stretch = 1};
    for (int row = 0; row <= IDS_ACCOUNT_COUNT; row++) {
        int all = row == IDS_ACCOUNT_COUNT;
        if (!all && !ids_scale_has(scale, row)) continue;
        *cell++ = all ? "loss" : ids_account_id((enum ids_account)row);
        for (size_t p = 1; p <= shown; p++) {
            const struct ids_scale_point *point = &scale->at[p];
            double lost = all ? point->loss_ps : point->lost_ps[row];
            char text[IDS_SIGNED_ROOM];
            struct ids_phrase time = ids_phrase_begin(), share = ids_phrase_begin();
            ids_phrase_add(&time, "%s", ids_signed(text, IDS_UNIT_TIME, lost));
            if (point->loss_ps > 0) ids_phrase_add(&share, "%lld %%", llround(100 * lost / point->loss_ps));
            *cell++ = ids_phrase_end(painter, &time);
            *cell++ = ids_phrase_end(painter, &share);
        }
        const char *culprit = all ? NULL : scale->at[shown].culprits[row].name;
        *cell++ = culprit ? ids_text_clean(&painter->arena, culprit) : "";
    }
    ids_painter_heading(painter, "where the rest went");
    write_grid(painter, &grid);
    if (grid.columns[grid.column_count - 1].left_out)
        fputs("  too wide for all columns (--full shows them)\n", painter->out);
}

static int print(const struct ids_scale *scale, const struct scale_options *options, struct ids_error *err) {
    struct ids_painter painter;
    struct ids_render render = {.full = options->full,
                                .width = ids_terminal_width(options->width),
                                .colour = ids_terminal_colour((enum ids_colour)options->colour)};
    ids_painter_init(&painter, &scale->report, &render, stdout);
    struct ids_phrase phrase = ids_phrase_begin();
    ids_phrase_add(&phrase, "%s scaling", scale->scaling == IDS_SCALING_WEAK ? "weak" : "strong");
    if (scale->guessed_by)
        ids_phrase_add(&phrase, " (%s; --%s says otherwise)", scale->guessed_by,
                       scale->scaling == IDS_SCALING_WEAK ? "strong" : "weak");
    ids_text_wrap(stdout, ids_phrase_end(&painter, &phrase), 0, 2, ids_painter_width(&painter));
    for (size_t i = 0; i < scale->remarks.count; i++) {
        printf("  %-7s  ", ids_remark_severity_name(scale->remarks.at[i].severity));
        ids_text_wrap(stdout, ids_text_clean(&painter.arena, scale->remarks.at[i].text), 11, 11,
                      ids_painter_width(&painter));
    }
    write_points(&painter, scale);
    if (scale->count > 1) write_losses(&painter, scale);
    return ids_painter_done(&painter, err);
}

/* ---- for programs ---- */

static int render(const struct ids_scale *scale, int json, FILE *out, struct ids_error *err) {
    static const char *const all[] = {"scale"};
    struct ids_section section = {
        .name = all[0], .title = all[0], .tables = ids_scale_tables, .table_count = ids_scale_table_count};
    struct ids_render how = {.sections = &section, .section_count = 1, .only = all, .only_count = 1};
    return json ? ids_render_json(&scale->report, &how, out, err) : ids_render_csv(&scale->report, &how, out, err);
}

/* Of several methods an array, an element each. */
static int render_all(const struct ids_scale *scales, size_t count, int json, FILE *out, struct ids_error *err) {
    int code = 0, listed = json && count > 1;
    for (size_t i = 0; i < count && !code; i++) {
        if (listed) fputs(i ? ",\n" : "[\n", out);
        code = render(&scales[i], json, out, err);
    }
    if (listed) fputs("]\n", out);
    return code;
}

static int write_results(const char *path, const struct ids_scale *scales, size_t count, struct ids_error *err) {
    FILE *file = fopen(path, "we");
    if (!file) return ids_fail_system(err, "cannot write '%s'", path);
    int code = render_all(scales, count, 1, file, err), failed = ferror(file);
    if ((fclose(file) || failed) && !code) code = ids_fail_system(err, "cannot write '%s'", path);
    return code;
}

/* ---- */

static int make_scale(const struct scale_options *options, const struct ids_scale_method *method,
                      struct ids_scale *ret_scale, struct ids_error *err) {
    enum ids_scaling scaling = options->strong ? IDS_SCALING_STRONG
                               : options->weak ? IDS_SCALING_WEAK
                                               : IDS_SCALING_GUESS;
    int code = ids_scale_make(method->name, (const struct ids_side *const *)method->sides, method->devices,
                              method->count, scaling, ret_scale, err);
    if (code || !ret_scale->remarks.unlike || options->force) return code;
    code = ids_fail(err, IDS_UNSUPPORTED, "these runs cannot be compared: %s (use --force to compare them anyway)",
                    ret_scale->remarks.at[0].text);
    ids_scale_done(ret_scale);
    return code;
}

static int print_all(const struct scale_options *options, const struct ids_scale *scales,
                     const struct ids_scale_methods *methods, struct ids_error *err) {
    struct ids_arena arena = {0};
    int code = 0;
    for (size_t i = 0; i < methods->count && !code; i++) {
        if (methods->count > 1) printf("%s%s: ", i ? "\n" : "", ids_text_clean(&arena, methods->at[i].name));
        code = print(&scales[i], options, err);
    }
    ids_arena_done(&arena);
    return code;
}

static int compare(const struct scale_options *options, const struct ids_scale_methods *methods,
                   struct ids_error *err) {
    struct ids_scale *scales = calloc(methods->count, sizeof *scales);
    size_t made = 0;
    int code = scales ? 0 : ids_no_memory(err);
    for (; !code && made < methods->count; made += !code) {
        code = make_scale(options, &methods->at[made], &scales[made], err);
        if (code && methods->count > 1 && code != IDS_NOMEM) ids_error_at(err, "method %s", methods->at[made].name);
    }
    if (!code && options->output) code = write_results(options->output, scales, made, err);
    if (!code)
        code = options->json || options->csv ? render_all(scales, made, options->json, stdout, err)
                                             : print_all(options, scales, methods, err);
    for (size_t i = 0; i < made; i++) ids_scale_done(&scales[i]);
    free(scales);
    return code;
}

static int scale_run(const void *values, char *const *operands, int operand_count, struct ids_error *err) {
    const struct scale_options *options = values;
    struct ids_engine engine = ids_command_engine("scale", options->no_cache);
    struct ids_scale_methods methods;
    if (options->strong && options->weak) return ids_fail(err, IDS_USAGE, "--strong and --weak exclude each other");
    if (options->json && options->csv) return ids_fail(err, IDS_USAGE, "--json and --csv exclude each other");
    int code = ids_scale_methods_open(&engine, operands, operand_count, options->devices, &methods, err);
    ids_engine_done(&engine);
    if (code) return code;
    code = compare(options, &methods, err);
    ids_scale_methods_done(&methods);
    return code;
}

const struct ids_command ids_scale_command = {
    .operands = "RUN...",
    .least = 1,
    .most = -1,
    IDS_OPTIONS(opts),
    .defaults = &defaults,
    .values_bytes = sizeof defaults,
    .run = scale_run,
};
