#include "cmd/command.h"
#include "cmd/engine.h"
#include "cmd/page_file.h"
#include "cmd/page_sides.h"
#include "cmd/slice_options.h"
#include "lib/base/quantity.h"
#include "lib/cli/reading.h"
#include "lib/cli/say.h"
#include "lib/cli/terminal.h"
#include "lib/compare/fail_on.h"
#include "lib/render/diff_markdown.h"
#include "lib/render/trend_text.h"
#include "lib/run/open_baseline.h"
#include "lib/run/open_trend.h"

#include <stdlib.h>
#include <string.h>

enum { TOP_OF_TEXT = 10, TOP_UNSET = -1, MESSAGE_BYTES = 512 };

struct diff_options {
    int64_t top, width, newest;
    int json, csv, markdown, full, force, trend, no_cache, colour, sort;
    const char *threshold, *noise, *against, *fail_on, *scope, *module, *html;
    struct ids_slice_options slice;
};

static const struct diff_options defaults = {.top = TOP_UNSET, .colour = IDS_COLOUR_AUTO};

/* In the order of enum ids_diff_sort. */
static const char *sort_choice(int i) {
    static const char *const names[] = {"change", "ratio", "before", "after", "name", NULL};
    return names[i];
}

#define AT(field) offsetof(struct diff_options, field)
static const struct ids_opt opts[] = {
    {IDS_OPT_COUNT, 'n', "top", "N", "rows of each table; 0 for all (text: 10, --json and --csv: all)", AT(top), NULL},
    {IDS_OPT_CHOICE, 's', "sort", "COLUMN", "ops and kernels by change, ratio, before, after or name", AT(sort),
     sort_choice},
    {IDS_OPT_TEXT, 't', "threshold", "SHARE", "ignore changes smaller than this (1%)", AT(threshold), NULL},
    {IDS_OPT_TEXT, 0, "noise", "SHARE", "run-to-run noise; allows a verdict from one run per side", AT(noise), NULL},
    {IDS_OPT_TEXT, 0, "against", "NAME", "compare with a saved baseline, which is before", AT(against), NULL},
    {IDS_OPT_TEXT, 0, "fail-on", "SHARE", "exit 1 only if the step or a certain cause is worse by this", AT(fail_on),
     NULL},
    {IDS_OPT_TEXT, 0, "steps", "STEPS", "only these steps of both sides: 7, or 3..5", AT(slice.steps), NULL},
    {IDS_OPT_COUNT, 0, "after", "N", "leave out N steps of warm-up of both sides", AT(slice.after), NULL},
    {IDS_OPT_TEXT, 0, "device", "DEVICE", "only this device, or those of a glob, as GPU:0", AT(slice.device), NULL},
    {IDS_OPT_TEXT, 0, "scope", "SCOPE", "only the ops of this scope, as layer1; may be a glob", AT(scope), NULL},
    {IDS_OPT_TEXT, 0, "module", "PROGRAM", "only the ops of this program; may be a glob", AT(module), NULL},
    {IDS_OPT_FLAG, 0, "force", NULL, "compare even if the runs are not comparable; overwrite the file of --html",
     AT(force), NULL},
    {IDS_OPT_FLAG, 0, "trend", NULL, "show what grows over all runs, in the order of their steps", AT(trend), NULL},
    {IDS_OPT_COUNT, 0, "newest", "N", "take only the N newest runs of a folder or pattern", AT(newest), NULL},
    {IDS_OPT_FLAG, 'j', "json", NULL, "print JSON", AT(json), NULL},
    {IDS_OPT_FLAG, 'c', "csv", NULL, "print CSV: every table", AT(csv), NULL},
    {IDS_OPT_FLAG, 0, "markdown", NULL, "print Markdown, for a pull request or a job's summary", AT(markdown), NULL},
    {IDS_OPT_TEXT, 0, "html", "FILE", "write one page for a browser, of two sides; - for standard output", AT(html),
     NULL},
    {IDS_OPT_FLAG, 0, "no-cache", NULL, "read the profiles again, and cache nothing", AT(no_cache), NULL},
    {IDS_OPT_FLAG, 'f', "full", NULL, "do not shorten names or leave out columns", AT(full), NULL},
    {IDS_OPT_COUNT, 0, "width", "N", "columns of a line, at least 40 (else the terminal's, or 120)", AT(width), NULL},
    {IDS_OPT_CHOICE, 0, "color", "WHEN", "auto, always or never", AT(colour), ids_colour_choice},
    IDS_READING_OPTIONS,
};

static int make_options(const struct diff_options *options, int operand_count, struct ids_compare_options *ret_options,
                        struct ids_error *err) {
    *ret_options = (struct ids_compare_options){.threshold = 0.01};
    int code = options->threshold ? ids_parse_share(options->threshold, &ret_options->threshold, err) : 0;
    if (code) return ids_error_at(err, "--threshold");
    code = options->noise ? ids_parse_share(options->noise, &ret_options->noise, err) : 0;
    if (code) return ids_error_at(err, "--noise");
    if (options->json + options->csv + options->markdown > 1)
        return ids_fail(err, IDS_USAGE, "--json, --csv and --markdown exclude each other");
    if (options->html && (options->json || options->csv || options->markdown || options->trend))
        return ids_fail(err, IDS_USAGE, "--html excludes --json, --csv, --markdown and --trend");
    if (options->html && operand_count + (options->against != NULL) > 2)
        return ids_fail(err, IDS_USAGE, "--html takes two sides");
    if (options->trend && (options->against || options->markdown || options->fail_on))
        return ids_fail(err, IDS_USAGE, "--trend excludes --against, --markdown and --fail-on");
    if (options->against && (options->slice.steps || options->slice.after || options->slice.device))
        return ids_fail(err, IDS_USAGE,
                        "a baseline is of whole runs: --against excludes --steps, --after and --device");
    if (options->trend && (options->scope || options->module))
        return ids_fail(err, IDS_USAGE, "--trend excludes --scope and --module");
    ret_options->scope = options->scope;
    ret_options->program = options->module;
    if (operand_count < 2 && !options->trend && !options->against)
        return ids_fail(err, IDS_USAGE, "give two runs, or several; --trend takes one folder or pattern too");
    return 0;
}

static struct ids_diff_render print_of(const struct diff_options *options, const char *path_b) {
    int for_people = !options->json && !options->csv && !options->html;
    return (struct ids_diff_render){
        .render = {.top = options->top != TOP_UNSET ? options->top
                          : for_people              ? TOP_OF_TEXT
                                                    : 0,
                   .full = options->full,
                   .width = ids_terminal_width(options->width),
                   .colour = ids_terminal_colour((enum ids_colour)options->colour)},
        .sort = (enum ids_diff_sort)options->sort,
        .path_b = path_b,
    };
}

/* All that a comparison says, for programs and as a page. */
static int print_tables(const struct diff_options *options, const struct ids_report *report,
                        const struct ids_table_def *const *tables, int table_count, const struct ids_diff_render *print,
                        const struct ids_page_sides *sides, struct ids_error *err) {
    static const char *const all[] = {"comparison"};
    struct ids_section section = {.name = all[0], .title = all[0], .tables = tables, .table_count = table_count};
    struct ids_render render = print->render;
    render.sections = &section;
    render.section_count = 1;
    render.only = all;
    render.only_count = 1;
    if (options->html) {
        const struct ids_page page = {.kind = "diff",
                                      .report = report,
                                      .render = &render,
                                      .blocks = sides ? sides->blocks : NULL,
                                      .block_count = sides ? IDS_PAGE_SIDES : 0};
        return ids_page_to_file(&page, options->html, options->force, IDS_PAGE_SAID, err);
    }
    return options->json ? ids_render_json(report, &render, stdout, err) : ids_render_csv(report, &render, stdout, err);
}

static int refuse(const struct ids_diff *diff, struct ids_error *err) {
    char message[MESSAGE_BYTES] = "";
    for (size_t i = 0; i < diff->remarks.count; i++) {
        if (diff->remarks.at[i].severity != IDS_REMARK_UNLIKE) break;
        size_t used = strlen(message);
        snprintf(message + used, sizeof message - used, "%s%s", used ? "; " : "", diff->remarks.at[i].text);
    }
    return ids_fail(err, IDS_UNSUPPORTED, "'%s' and '%s' cannot be compared: %s (use --force to compare them anyway)",
                    diff->a->label, diff->b->label, message);
}

static int print_two(const struct diff_options *options, struct ids_diff *diff, const char *path_b,
                     const struct ids_page_sides *sides, struct ids_error *err) {
    struct ids_diff_render print = print_of(options, path_b);
    int refused = diff->remarks.unlike && !options->force;
    for (size_t i = 0; i < diff->report.table_count; i++) {
        const char *id = diff->report.tables[i].id;
        if (!strcmp(id, "computations") || !strcmp(id, "ops") || !strcmp(id, "kernels"))
            ids_diff_sort_table(&diff->report.tables[i], (enum ids_diff_sort)options->sort);
    }
    int code;
    if (options->markdown) {
        code = ids_render_diff_markdown(diff, &print, !refused, stdout, err);
    } else if (options->json || options->csv || options->html) {
        /* Of what cannot be compared programs get the findings, which come first, and no figure. */
        code = print_tables(options, &diff->report, ids_diff_tables, refused ? 1 : ids_diff_table_count, &print,
                            refused ? NULL : sides, err);
    } else {
        code = ids_render_diff_head(diff, &print, stdout, err);
        if (!code && !refused) code = ids_render_diff_body(diff, &print, stdout, err);
    }
    return !code && refused ? refuse(diff, err) : code;
}

static int print_many(const struct diff_options *options, struct ids_diff *diffs, size_t count,
                      const struct ids_open_side *sides, struct ids_error *err) {
    struct ids_diff_render print = print_of(options, ids_open_side_run_path(&sides[1]));
    int code = 0;
    for (size_t i = 0; i < count && !options->force; i++) {
        if (diffs[i].remarks.unlike) return refuse(&diffs[i], err);
    }
    if (options->markdown) {
        for (size_t i = 0; i < count && !code; i++) {
            if (i) fputc('\n', stdout);
            code = ids_render_diff_markdown(&diffs[i], &print, 1, stdout, err);
        }
        return code;
    }
    if (!options->json && !options->csv) {
        for (size_t i = 0; i < count && !code; i++) code = ids_render_diff_head(&diffs[i], &print, stdout, err);
        return code ? code : ids_render_diffs(diffs, count, &print, stdout, err);
    }
    for (size_t i = 0; i < count && !code; i++) {
        if (options->json) fputs(i ? ",\n" : "[\n", stdout);
        if (options->csv && i) fputc('\n', stdout);
        code = print_tables(options, &diffs[i].report, ids_diff_tables, ids_diff_table_count, &print, NULL, err);
    }
    if (options->json) fputs("]\n", stdout);
    return code;
}

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static int all_differ(const struct ids_open_side *sides, size_t count) {
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (!strcmp(sides[i].side.label, sides[j].side.label)) return 0;
        }
    }
    return 1;
}

/* Names that say the same of two sides say nothing: then the ends of their paths do, or all of them. */
static void tell_apart(struct ids_open_side *sides, size_t count) {
    if (all_differ(sides, count)) return;
    for (size_t s = 0; s < count; s++) sides[s].side.label = last_part(sides[s].path);
    if (all_differ(sides, count)) return;
    for (size_t s = 0; s < count; s++) sides[s].side.label = sides[s].path;
}

/* Whether the exit code shall be 1; --fail-on takes the place of the verdict, and says why. */
static int is_worse(const struct diff_options *options, struct ids_diff *diff, int *ret_worse, struct ids_error *err) {
    double share;
    *ret_worse = ids_diff_verdict(diff) == IDS_VERDICT_REGRESSION;
    if (!options->fail_on) return 0;
    int code = ids_parse_share(options->fail_on, &share, err);
    if (code) return ids_error_at(err, "--fail-on");
    const char *why = diff->remarks.unlike && !options->force ? NULL : ids_diff_fails_on(diff, share);
    if (why) ids_say("diff", "fails on %s: %s", options->fail_on, why);
    *ret_worse = why != NULL;
    return 0;
}

static int compare(const struct diff_options *options, const struct ids_compare_options *compare_options,
                   const struct ids_open_sides *sides, const struct ids_page_sides *timelines, struct ids_error *err) {
    struct ids_side *settled[IDS_OPEN_SIDES_MOST] = {0};
    struct ids_diff *diffs = calloc(sides->count, sizeof *diffs);
    size_t made = 0;
    int code = diffs ? 0 : ids_no_memory(err), worse = 0;
    tell_apart(sides->at, sides->count);
    for (size_t i = 0; i < sides->count; i++) settled[i] = &sides->at[i].side;
    ids_sides_settle(settled, sides->count, IDS_RECORDING_PROCESS);
    for (; !code && made + 1 < sides->count; made += !code)
        code = ids_diff_make(settled[0], settled[made + 1], compare_options, &diffs[made], err);
    for (size_t i = 0; i < made && !code; i++) {
        int is_this_worse = 0;
        code = is_worse(options, &diffs[i], &is_this_worse, err);
        worse |= is_this_worse;
    }
    if (!code)
        code = made == 1 ? print_two(options, diffs, ids_open_side_run_path(&sides->at[1]), timelines, err)
                         : print_many(options, diffs, made, sides->at, err);
    for (size_t i = 0; i < made; i++) ids_diff_done(&diffs[i]);
    free(diffs);
    return code ? code : worse ? IDS_EXIT_NO : IDS_EXIT_DONE;
}

static int show_trend(const struct diff_options *options, struct ids_open_side *runs, struct ids_error *err) {
    struct ids_diff_render print = print_of(options, runs->path);
    struct ids_trend trend;
    int code = ids_open_trend(runs, options->force, &trend, err);
    if (code) return code;
    code = options->json || options->csv
               ? print_tables(options, &trend.report, ids_trend_tables, ids_trend_table_count, &print, NULL, err)
               : ids_render_trend(&trend, &print.render, stdout, err);
    ids_trend_done(&trend);
    return code;
}

/* Of the page: the runs again, for what reports do not keep. A baseline is before the run. */
static int read_timelines(struct ids_engine *engine, const struct diff_options *options, char *const *operands,
                          const struct ids_params *params, struct ids_page_sides **ret_sides, struct ids_error *err) {
    const char *const paths[IDS_PAGE_SIDES] = {options->against ? NULL : operands[0], operands[!options->against]};
    *ret_sides = calloc(1, sizeof **ret_sides);
    return *ret_sides ? ids_page_sides_read(engine, paths, params, *ret_sides, err) : ids_no_memory(err);
}

static int diff_run(const void *values, char *const *operands, int operand_count, struct ids_error *err) {
    const struct diff_options *options = values;
    struct ids_params params;
    char part[IDS_SLICE_WORDS];
    const struct ids_open_options open = {.newest = options->newest, .by_step = options->trend, .params = &params};
    struct ids_engine engine = ids_command_engine("diff", options->no_cache);
    struct ids_compare_options compare_options;
    int code = ids_slice_params(&options->slice, &params, part, err);
    if (!code) code = make_options(options, operand_count, &compare_options, err);
    if (code) return code;
    if (*part) compare_options.part = part;
    if (options->trend) {
        struct ids_open_side runs;
        code = ids_open_side(&engine, operands, operand_count, &open, &runs, err);
        ids_engine_done(&engine);
        if (code) return code;
        code = show_trend(options, &runs, err);
        ids_open_side_done(&runs);
    } else {
        struct ids_open_sides sides;
        struct ids_baseline baseline = {0};
        struct ids_page_sides *timelines = NULL;
        code = ids_open_sides(&engine, operands, operand_count, &open, &sides, err);
        int is_open = !code;
        if (!code && options->html) code = read_timelines(&engine, options, operands, &params, &timelines, err);
        ids_engine_done(&engine);
        if (!is_open) return code;
        if (!code && options->against) code = ids_open_sides_against(options->against, &baseline, &sides, err);
        if (!code) code = compare(options, &compare_options, &sides, timelines, err);
        if (timelines) ids_page_sides_done(timelines);
        free(timelines);
        ids_open_sides_done(&sides);
        ids_baseline_done(&baseline);
    }
    return code;
}

const struct ids_command ids_diff_command = {
    .operands = "RUN...",
    .least = 1,
    .most = -1,
    IDS_OPTIONS(opts),
    .defaults = &defaults,
    .values_bytes = sizeof defaults,
    .run = diff_run,
};
