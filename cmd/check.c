#include "cmd/check_junit.h"
#include "cmd/command.h"
#include "cmd/engine.h"
#include "lib/analysis/analyzer.h"
#include "lib/base/counted.h"
#include "lib/base/quantity.h"
#include "lib/cli/nearest.h"
#include "lib/cli/output.h"
#include "lib/cli/reading.h"
#include "lib/cli/say.h"
#include "lib/cli/terminal.h"
#include "lib/compare/comparability.h"
#include "lib/report/gone_ids.h"
#include "lib/report/grid.h"
#include "lib/report/painter.h"
#include "lib/run/open_sides.h"
#include "lib/run/sections.h"
#include "lib/store/baseline.h"
#include "lib/wire/shell_quote.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { COMMAND_BYTES = 4352 };

struct check_options {
    const char *budget, *baseline, *tolerance, *junit;
    struct ids_opt_texts max, min;
    int64_t over, after, width;
    int json, force, no_cache, full, quiet, colour;
};

static const struct check_options defaults = {.colour = IDS_COLOUR_AUTO};

#define AT(field) offsetof(struct check_options, field)
static const struct ids_opt opts[] = {
    {IDS_OPT_TEXT, 'b', "budget", "FILE", "limits, one a line: steps.mean < 150 ms over 100 steps after 10", AT(budget),
     NULL},
    {IDS_OPT_TEXTS, 0, "max", "LIMIT", "ID=VALUE: the figure may be no larger; may be given again", AT(max), NULL},
    {IDS_OPT_TEXTS, 0, "min", "LIMIT", "ID=VALUE: the figure may be no smaller; may be given again", AT(min), NULL},
    {IDS_OPT_TEXT, 0, "baseline", "WHAT", "check against a saved baseline or a run", AT(baseline), NULL},
    {IDS_OPT_TEXT, 't', "tolerance", "SHARE", "allowed regression against the baseline (5%)", AT(tolerance), NULL},
    {IDS_OPT_COUNT, 0, "over", "N", "with --max and --min: figures of steps cover N steps", AT(over), NULL},
    {IDS_OPT_COUNT, 0, "after", "N", "with the same: leave out N steps of warm-up", AT(after), NULL},
    {IDS_OPT_TEXT, 0, "junit", "FILE", "write JUnit XML; - for standard output", AT(junit), NULL},
    {IDS_OPT_FLAG, 'j', "json", NULL, "print JSON", AT(json), NULL},
    {IDS_OPT_FLAG, 'q', "quiet", NULL, "print only broken limits", AT(quiet), NULL},
    {IDS_OPT_FLAG, 0, "force", NULL, "compare even if the baseline is not comparable", AT(force), NULL},
    {IDS_OPT_FLAG, 0, "no-cache", NULL, "read the profiles again, and cache nothing", AT(no_cache), NULL},
    {IDS_OPT_FLAG, 'f', "full", NULL, "do not shorten names or leave out columns", AT(full), NULL},
    {IDS_OPT_COUNT, 0, "width", "N", "columns of a line, at least 40 (else the terminal's, or 120)", AT(width), NULL},
    {IDS_OPT_CHOICE, 0, "color", "WHEN", "auto, always or never", AT(colour), ids_colour_choice},
    IDS_READING_OPTIONS,
};

/* ---- limits ---- */

static const struct ids_metric_def *find_metric(const char *id, struct ids_error *err) {
    const struct ids_analyzer *unused;
    const struct ids_metric_def *metric = ids_metric_def_find(id, &unused);
    const char *replacement = ids_gone_id_replacement(id);
    char near[256];
    if (metric) return metric;
    if (replacement) {
        ids_fail(err, IDS_USAGE, "the metric '%s' is gone; replaced by %s", id, replacement);
        return NULL;
    }
    int found = ids_nearest(id, ids_metric_choice, "", near, sizeof near);
    ids_fail(err, IDS_USAGE, "no metric '%s'%s", id, found ? near : "; 'idsprof help metrics' lists them");
    return NULL;
}

static int read_budget(const char *path, struct ids_budget *budget, struct ids_error *err) {
    int is_stdin = !strcmp(path, "-");
    FILE *file = is_stdin ? stdin : fopen(path, "re");
    if (!file) return ids_fail_system(err, "cannot open the budget '%s'", path);
    char *text = malloc(IDS_BUDGET_BYTES + 1);
    size_t length = text ? fread(text, 1, IDS_BUDGET_BYTES + 1, file) : 0;
    int code = !text ? ids_no_memory(err) : 0;
    if (!code && ferror(file)) code = ids_fail_system(err, "cannot read");
    if (!code && length > IDS_BUDGET_BYTES) code = ids_fail(err, IDS_LIMIT, "a budget above 1 MiB");
    if (!code) code = ids_budget_read(budget, text, length, find_metric, err);
    if (!is_stdin) fclose(file);
    free(text);
    return code ? ids_error_at(err, "'%s'", path) : 0;
}

/* What a change is looked for first, where only a baseline is given. */
static const char *const watched[] = {"steps.mean", "device.utilization", "idle.share", "collectives.exposed_share",
                                      "compile.in_steps"};

static int make_budget(const struct check_options *options, struct ids_budget *budget, struct ids_error *err) {
    int code = 0;
    if (options->budget) code = read_budget(options->budget, budget, err);
    size_t first = budget->count;
    for (size_t i = 0; i < options->max.count && !code; i++)
        code = ids_budget_add(budget, options->max.at[i], IDS_LIMIT_AT_MOST, find_metric, err);
    for (size_t i = 0; i < options->min.count && !code; i++)
        code = ids_budget_add(budget, options->min.at[i], IDS_LIMIT_AT_LEAST, find_metric, err);
    for (size_t i = first; i < budget->count; i++) {
        if (strncmp(budget->at[i].metric->id, "steps.", 6) != 0) continue;
        budget->at[i].over = options->over;
        budget->at[i].after = options->after;
    }
    if (!code && !budget->count && !options->baseline)
        code = ids_fail(err, IDS_USAGE, "no limits: give --budget FILE, --max ID=VALUE, --min ID=VALUE or --baseline");
    return code;
}

/* ---- the baseline ---- */

struct basis {
    struct ids_baseline saved;
    struct ids_open_side run;
    const struct ids_report **pointers;
    struct ids_side side; /* of the saved one */
    struct ids_side *used;
};

static void basis_done(struct basis *basis) {
    ids_side_done(&basis->side);
    ids_baseline_done(&basis->saved);
    ids_open_side_done(&basis->run);
    free(basis->pointers);
}

static int basis_of_saved(struct basis *basis, struct ids_error *err) {
    basis->pointers = calloc(basis->saved.count, sizeof *basis->pointers);
    if (!basis->pointers) return ids_no_memory(err);
    for (size_t i = 0; i < basis->saved.count; i++) basis->pointers[i] = &basis->saved.reports[i];
    basis->used = &basis->side;
    return ids_side_init(&basis->side, basis->saved.name, basis->pointers, basis->saved.count, err);
}

/* A saved baseline of that name, else a run. */
static int open_basis(const struct check_options *options, struct basis *basis, struct ids_error *err) {
    const struct ids_open_options open = {0};
    struct ids_engine engine = ids_command_engine("check", options->no_cache);
    char *const path = (char *)options->baseline; /* only read */
    int code = IDS_NOT_FOUND;
    if (ids_baseline_is_name(options->baseline))
        code = ids_baseline_load(options->baseline, ids_table_def_find, &basis->saved, err);
    if (!code) return basis_of_saved(basis, err);
    if (code != IDS_NOT_FOUND) return code;
    code = ids_open_side(&engine, &path, 1, &open, &basis->run, err);
    ids_engine_done(&engine);
    basis->used = &basis->run.side;
    return code ? ids_error_at(err, "--baseline: no saved baseline has this name, and as a run") : 0;
}

static int look_at_basis(const struct check_options *options, const struct ids_side *side, const struct ids_side *basis,
                         struct ids_error *err) {
    const struct ids_side *const sides[] = {basis, side};
    struct ids_remarks remarks = {0};
    struct ids_report texts;
    ids_report_init(&texts);
    int code = ids_remarks_make(sides, 2, 1, &texts, &remarks, err);
    if (!code && remarks.unlike && !options->force)
        code = ids_fail(err, IDS_UNSUPPORTED, "the baseline cannot be compared: %s (use --force to compare anyway)",
                        remarks.at[0].text);
    for (size_t i = 0; i < remarks.count && !code; i++) {
        if (remarks.at[i].severity == IDS_REMARK_WARNING) ids_say("check", "warning: %s", remarks.at[i].text);
    }
    ids_remarks_done(&remarks);
    ids_report_done(&texts);
    return code;
}

/* Where no limit speaks of the baseline, those figures may not be worse that a change is looked for first, if the
 * baseline has them. */
static int watch(const struct check_options *options, const struct ids_side *basis, struct ids_budget *budget,
                 struct ids_error *err) {
    double tolerance = 0.05, value;
    int code = options->tolerance ? ids_parse_share(options->tolerance, &tolerance, err) : 0;
    if (code) return ids_error_at(err, "--tolerance");
    for (size_t i = 0; i < budget->count; i++) {
        if (budget->at[i].kind == IDS_LIMIT_BASELINE) return 0;
    }
    for (size_t i = 0; i < sizeof watched / sizeof *watched && !code; i++) {
        if (ids_side_metric(basis, watched[i], &value))
            code = ids_budget_add_baseline(budget, watched[i], tolerance, find_metric, err);
    }
    return code || budget->count ? code : ids_fail(err, IDS_USAGE, "the baseline has none of the figures to check");
}

/* ---- output ---- */

static const char *bound_text(struct ids_painter *painter, const struct ids_check_row *row) {
    static const char *const signs[] = {"<", "<=", ">", ">=", "=", "<="};
    char value[IDS_CHECK_VALUE_ROOM];
    struct ids_phrase phrase = ids_phrase_begin();
    const struct ids_limit *limit = row->limit;
    int higher = limit->kind == IDS_LIMIT_BASELINE && limit->metric->better == IDS_BETTER_HIGHER;
    if (limit->kind == IDS_LIMIT_BASELINE && row->verdict == IDS_CHECK_NO_DATA) return "baseline";
    ids_phrase_add(&phrase, "%s %s", higher ? ">=" : signs[limit->kind], ids_check_value(value, row, row->bound));
    return ids_phrase_end(painter, &phrase);
}

static void write_rows(struct ids_painter *painter, const struct ids_check *check, int all) {
    enum { COLUMNS = 6 };
    static const char *const words[] = {"held", "BROKEN", "NO DATA"};
    struct ids_grid_column columns[COLUMNS] = {{.title = ""},
                                               {.title = "figure"},
                                               {.title = "value", .right = 1},
                                               {.title = "limit"},
                                               {.title = "run", .stretch = 1},
                                               {.title = "", .stretch = 1}};
    struct ids_grid grid = {.columns = columns, .column_count = COLUMNS};
    grid.cells = ids_arena_alloc(&painter->arena, (COLUMNS * check->count + 1) * sizeof *grid.cells);
    if (!grid.cells) {
        painter->out_of_memory = 1;
        return;
    }
    const char **cell = grid.cells;
    for (size_t i = 0; i < check->count; i++) {
        const struct ids_check_row *row = &check->at[i];
        char value[IDS_CHECK_VALUE_ROOM];
        if (!all && row->verdict == IDS_CHECK_HELD) continue;
        grid.row_count++;
        struct ids_phrase shown = ids_phrase_begin();
        ids_phrase_add(&shown, "%s", row->has_value ? ids_check_value(value, row, row->value) : "-");
        struct ids_phrase notes = ids_phrase_begin();
        ids_phrase_add(&notes, "%s", row->note ? row->note : "");
        if (!row->note && row->limit->over) ids_phrase_add(&notes, "over %s ", IDS_COUNTED(row->limit->over, "step"));
        if (!row->note && row->limit->after) ids_phrase_add(&notes, "after %lld", (long long)row->limit->after);
        *cell++ = words[row->verdict];
        *cell++ = row->limit->metric->id;
        *cell++ = ids_phrase_end(painter, &shown);
        *cell++ = bound_text(painter, row);
        *cell++ = ids_text_clean(&painter->arena, row->run);
        *cell++ = ids_phrase_end(painter, &notes);
    }
    if (!grid.row_count) return;
    ids_grid_fit(&grid, painter->render->full ? 0 : ids_painter_width(painter));
    ids_grid_write(&grid, &painter->arena, painter->bold, painter->plain, painter->out);
}

static void write_end(const struct ids_check *check, const char *path) {
    char quoted[COMMAND_BYTES];
    printf("%s%zu of %s held", check->broken + check->no_data ? "\n  " : "  ",
           check->count - check->broken - check->no_data, IDS_COUNTED(check->count, "limit"));
    if (check->broken) printf(", %zu broken", check->broken);
    if (check->no_data) printf(", %zu without data", check->no_data);
    putchar('\n');
    for (size_t i = 0; i < check->count; i++) {
        if (check->at[i].verdict == IDS_CHECK_HELD) continue;
        ids_shell_quote(path, quoted, sizeof quoted);
        printf("  idsprof report %s --explain %s\n", quoted, check->at[i].limit->metric->id);
        break;
    }
}

static int write_text(const struct check_options *options, const struct ids_check *check, const char *path,
                      struct ids_error *err) {
    struct ids_painter painter;
    struct ids_render render = {.full = options->full,
                                .width = ids_terminal_width(options->width),
                                .colour = ids_terminal_colour((enum ids_colour)options->colour)};
    ids_painter_init(&painter, &check->report, &render, stdout);
    write_rows(&painter, check, !options->quiet);
    if (!options->quiet || check->broken || check->no_data) write_end(check, path);
    return ids_painter_done(&painter, err);
}

static int write_json(const struct ids_check *check, struct ids_error *err) {
    static const char *const all[] = {"check"};
    struct ids_section section = {
        .name = all[0], .title = all[0], .tables = ids_check_tables, .table_count = ids_check_table_count};
    struct ids_render render = {.sections = &section, .section_count = 1, .only = all, .only_count = 1};
    return ids_render_json(&check->report, &render, stdout, err);
}

static int write_junit(const char *path, const struct ids_check *check, struct ids_error *err) {
    if (!strcmp(path, "-")) {
        ids_check_junit(check, stdout);
        return 0;
    }
    FILE *file = fopen(path, "we");
    if (!file) return ids_fail_system(err, "cannot write '%s'", path);
    ids_check_junit(check, file);
    int failed = ferror(file);
    if (fclose(file) || failed) return ids_fail_system(err, "cannot write '%s'", path);
    return 0;
}

/* ---- */

/* Limits hold for each run, those against a baseline for the mean of all. */
static int check_side(const struct check_options *options, struct ids_side *side, struct ids_budget *budget,
                      const char *path, struct ids_error *err) {
    struct basis basis = {0};
    struct ids_check check;
    int code = options->baseline ? open_basis(options, &basis, err) : 0;
    struct ids_side *const settled[] = {side, basis.used};
    if (!code) ids_sides_settle(settled, basis.used ? 2 : 1);
    if (!code && basis.used) code = look_at_basis(options, side, basis.used, err);
    if (!code && basis.used) code = watch(options, basis.used, budget, err);
    if (!code) code = ids_check_make(side, basis.used, budget, &check, err);
    if (!code) {
        int broken = check.broken || check.no_data;
        int to_stdout = options->junit && !strcmp(options->junit, "-");
        if (options->junit) code = write_junit(options->junit, &check, err);
        if (!code && options->json) code = write_json(&check, err);
        if (!code && !options->json && !to_stdout) code = write_text(options, &check, path, err);
        ids_check_done(&check);
        if (!code) code = broken ? IDS_EXIT_NO : IDS_EXIT_DONE;
    }
    basis_done(&basis);
    return code;
}

static int check_run(const void *values, char *const *operands, int operand_count, struct ids_error *err) {
    const struct check_options *options = values;
    const struct ids_open_options open = {0};
    struct ids_engine engine = ids_command_engine("check", options->no_cache);
    struct ids_budget budget = {0};
    struct ids_open_side runs = {0};
    if (options->json && options->junit && !strcmp(options->junit, "-"))
        return ids_fail(err, IDS_USAGE, "--json and --junit - both go to standard output");
    int code = make_budget(options, &budget, err);
    if (!code) code = ids_open_side(&engine, operands, operand_count, &open, &runs, err);
    ids_engine_done(&engine);
    if (!code) code = check_side(options, &runs.side, &budget, operands[0], err);
    ids_open_side_done(&runs);
    ids_budget_done(&budget);
    return code;
}

const struct ids_command ids_check_command = {
    .operands = "RUN...",
    .least = 1,
    .most = -1,
    IDS_OPTIONS(opts),
    .defaults = &defaults,
    .values_bytes = sizeof defaults,
    .run = check_run,
};
