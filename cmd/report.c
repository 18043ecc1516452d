#include "cmd/command.h"
#include "cmd/engine.h"
#include "cmd/grade_options.h"
#include "cmd/page_file.h"
#include "cmd/peak_options.h"
#include "cmd/redact_options.h"
#include "cmd/report_command.h"
#include "cmd/report_watch.h"
#include "cmd/slice_options.h"
#include "lib/analysis/picture.h"
#include "lib/capture/sidecar_head.h"
#include "lib/cli/reading.h"
#include "lib/cli/terminal.h"
#include "lib/render/report_chart.h"
#include "lib/report/html/timeline.h"
#include "lib/report/tree.h"
#include "lib/run/explanation.h"
#include "lib/run/find_runs.h"
#include "lib/run/history.h"
#include "lib/run/history_folder.h"
#include "lib/run/open_run.h"
#include "lib/run/partials.h"
#include "lib/run/redact_run.h"
#include "lib/run/sections.h"
#include "lib/store/events_cache.h"

#include <stdlib.h>
#include <string.h>

enum { TOP_OF_TEXT = 10, TOP_OF_SCREEN = 24, TOP_UNSET = -1, COMMAND_BYTES = 4352 };

struct report_options {
    int64_t top, width;
    struct ids_opt_texts sections, grades;
    int json, csv, full, strict, no_cache, colour, chart, markdown;
    int window;
    int64_t from_ps, to_ps, small_kernel_ps;
    const char *explain, *run, *sort, *zoom, *html;
    int force, watch;
    int by, compat;
    int64_t depth;
    const char *device_kind, *peak_flops, *peak_bandwidth, *flops_per_step, *tokens_per_step;
    struct ids_redact_options redact;
};

static const struct report_options defaults = {.top = TOP_UNSET,
                                               .colour = IDS_COLOUR_AUTO,
                                               .window = -1,
                                               .by = -1,
                                               .compat = -1,
                                               .from_ps = -1,
                                               .to_ps = -1,
                                               .small_kernel_ps = -1};

/* In the order of enum ids_window_mode. */
static const char *window_choice(int i) {
    static const char *const names[] = {"run", "device", "steps", NULL};
    return names[i];
}

/* What times are listed by, the table of it, and its section. */
static const struct {
    const char *name, *table, *section;
} cuts[] = {{"step", "accounts_by_step", "ledger"}, {"device", "accounts_by_device", "ledger"},
            {"culprit", "ledger", "ledger"},        {"scope", "layers", "layers"},
            {"op", "computations", "ops"},          {"kernel", "kernels", "kernels"},
            {"source", "time_by_source", "layers"}, {"module", "time_by_module", "layers"},
            {"category", "op_categories", "ops"},   {"family", "time_by_family", "layers"}};

static const char *by_choice(int i) {
    return i < (int)(sizeof cuts / sizeof *cuts) ? cuts[i].name : NULL;
}

static const char *compat_choice(int i) {
    return ids_compat_name((enum ids_compat_peer)(i + 1));
}

#define AT(field) offsetof(struct report_options, field)
static const struct ids_opt opts[] = {
    {IDS_OPT_COUNT, 'n', "top", "N", "rows of each table; 0 for all (text: 10, --json and --csv: all)", AT(top), NULL},
    {IDS_OPT_TEXTS, 's', "section", "NAME", "print one section in full; may be given again", AT(sections),
     ids_section_choice},
    {IDS_OPT_TEXT, 'e', "explain", "ID", "explain a metric, table or account, and how it was found here", AT(explain),
     ids_explain_choice},
    {IDS_OPT_CHOICE, 'b', "by", "WHICH",
     "list the time by step, device, culprit, scope, op, kernel, source, module, category or family", AT(by),
     by_choice},
    {IDS_OPT_CHOICE, 0, "compat", "PEER", "figures as xprof, nsys or hta has them, beside ours, and why they differ",
     AT(compat), compat_choice},
    {IDS_OPT_COUNT, 'd', "depth", "N", "levels of scopes to show (all)", AT(depth), NULL},
    {IDS_OPT_TEXT, 0, "sort", "COLUMN", "sort the tables of --section or --by by this column", AT(sort), NULL},
    {IDS_OPT_FLAG, 0, "chart", NULL, "draw where a step goes, what devices did over time, and step times", AT(chart),
     NULL},
    {IDS_OPT_TEXT, 0, "zoom", "STEPS", "draw these steps only: 7, or 3-5", AT(zoom), NULL},
    {IDS_OPT_FLAG, 'j', "json", NULL, "print JSON", AT(json), NULL},
    {IDS_OPT_FLAG, 'c', "csv", NULL, "print CSV: the metrics, or the tables of --section", AT(csv), NULL},
    {IDS_OPT_FLAG, 0, "markdown", NULL, "print Markdown, for a pull request or an issue", AT(markdown), NULL},
    {IDS_OPT_TEXT, 0, "html", "FILE", "write one page for a browser; - for standard output", AT(html), NULL},
    {IDS_OPT_FLAG, 0, "force", NULL, "overwrite the file of --html", AT(force), NULL},
    {IDS_OPT_FLAG, 0, "watch", NULL, "follow a folder: print the report again when a new window is whole", AT(watch),
     NULL},
    {IDS_OPT_TEXT, 'r', "run", "NAME", "choose a run of a log folder; else the newest, or the slowest kept", AT(run),
     NULL},
    {IDS_OPT_CHOICE, 'w', "window", "WHICH", "what percentages are relative to: run, device, steps", AT(window),
     window_choice},
    {IDS_OPT_TIME, 0, "from", "TIME", "leave out everything before, since the first activity: 10us, 1.5ms, 2s",
     AT(from_ps), NULL},
    {IDS_OPT_TIME, 0, "to", "TIME", "leave out everything after", AT(to_ps), NULL},
    {IDS_OPT_TIME, 0, "small-kernel", "TIME", "kernels shorter than this are small (0.1ms)", AT(small_kernel_ps), NULL},
    {IDS_OPT_TEXT, 0, "device-kind", "NAME", "peaks are those of this device: 'TPU v6e', H100; list shows all",
     AT(device_kind), NULL},
    {IDS_OPT_TEXT, 0, "peak-flops", "RATE", "what a device can compute at most (900 TFLOP/s); else what is known of it",
     AT(peak_flops), NULL},
    {IDS_OPT_TEXT, 0, "peak-bandwidth", "RATE", "what its memory can move at most (3000 GB/s)", AT(peak_bandwidth),
     NULL},
    {IDS_OPT_TEXT, 0, "flops-per-step", "N", "operations of the model in a step, all devices together: 1.5P",
     AT(flops_per_step), NULL},
    {IDS_OPT_TEXT, 0, "tokens-per-step", "N", "tokens of a step, all devices together: 8192, 64k", AT(tokens_per_step),
     NULL},
    {IDS_OPT_TEXTS, 'g', "grade", "LIMITS", "ID=WARN,BAD: good up to WARN, bad beyond BAD; may be given again",
     AT(grades), NULL},
    IDS_REDACT_OPTIONS(struct report_options, redact),
    {IDS_OPT_FLAG, 0, "strict", NULL, "an incomplete profile is an error (exit 2)", AT(strict), NULL},
    {IDS_OPT_FLAG, 0, "no-cache", NULL, "read the profile again, and cache nothing", AT(no_cache), NULL},
    {IDS_OPT_FLAG, 'f', "full", NULL, "do not shorten names or leave out columns", AT(full), NULL},
    {IDS_OPT_COUNT, 0, "width", "N", "columns of a line, at least 40 (else the terminal's, or 120)", AT(width), NULL},
    {IDS_OPT_CHOICE, 0, "color", "WHEN", "auto, always or never", AT(colour), ids_colour_choice},
    IDS_READING_OPTIONS,
};

static int make_params(const struct report_options *options, struct ids_params *ret_params, struct ids_error *err) {
    char words[IDS_SLICE_WORDS];
    const struct ids_slice_options slice = {.steps = options->zoom};
    int code = ids_slice_params(&slice, ret_params, words, err);
    if (code) return code;
    if (options->window >= 0) ret_params->window = (enum ids_window_mode)options->window;
    if (options->from_ps >= 0) ret_params->from_ps = options->from_ps;
    if (options->to_ps >= 0) ret_params->to_ps = options->to_ps;
    if (options->small_kernel_ps >= 0) ret_params->small_kernel_ps = options->small_kernel_ps;
    const struct ids_peak_options peaks = {options->device_kind, options->peak_flops, options->peak_bandwidth,
                                           options->flops_per_step, options->tokens_per_step};
    code = ids_peak_options(&peaks, ret_params, err);
    if (code) return code;
    if (options->compat >= 0) ret_params->compat = (enum ids_compat_peer)(options->compat + 1);
    if (options->compat >= 0 && (options->by >= 0 || options->explain))
        return ids_fail(err, IDS_USAGE, "--compat excludes --by and --explain");
    if (ret_params->from_ps >= ret_params->to_ps) return ids_fail(err, IDS_USAGE, "--from is not before --to");
    if ((options->chart || options->zoom) && (options->json || options->csv || options->markdown || options->explain ||
                                              options->sections.count || options->by >= 0))
        return ids_fail(err, IDS_USAGE,
                        "--chart and --zoom exclude --json, --csv, --markdown, --explain, --section and --by");
    if (options->json + options->csv + options->markdown > 1)
        return ids_fail(err, IDS_USAGE, "--json, --csv and --markdown exclude each other");
    if (options->html && (options->json || options->csv || options->markdown || options->chart || options->zoom ||
                          options->explain || options->sections.count || options->by >= 0 || options->top >= 0))
        return ids_fail(err, IDS_USAGE,
                        "--html writes the whole report: it excludes --json, --csv, --markdown, --chart, --zoom, "
                        "--explain, --section, --by and --top");
    if (options->watch && (options->html || options->explain || options->run || options->strict))
        return ids_fail(err, IDS_USAGE,
                        "--watch prints each new run: it excludes --html, --explain, --run and --strict");
    if (ids_redact_wanted(&options->redact) && (options->explain || options->watch))
        return ids_fail(err, IDS_USAGE, "--redact excludes --explain and --watch");
    if (options->force && !options->html) return ids_fail(err, IDS_USAGE, "--force works only with --html");
    if (options->explain && options->markdown) return ids_fail(err, IDS_USAGE, "--explain cannot print Markdown");
    if (options->by >= 0 && options->explain) return ids_fail(err, IDS_USAGE, "--by and --explain exclude each other");
    if (options->by >= 0 && options->sections.count &&
        (options->sections.count > 1 || strcmp(options->sections.at[0], cuts[options->by].section) != 0))
        return ids_fail(err, IDS_USAGE, "--by %s works only with --section %s", cuts[options->by].name,
                        cuts[options->by].section);
    if (options->sort && options->by < 0 && !options->sections.count)
        return ids_fail(err, IDS_USAGE, "--sort works only with --section or --by");
    if (options->explain && options->csv) return ids_fail(err, IDS_USAGE, "--explain cannot print CSV; use --json");
    return 0;
}

static void make_command(const struct report_options *options, const char *name, const char *path, char *buffer,
                         size_t size) {
    const struct ids_given_option given[] = {
        {"run", options->run, -1},
        {"window", options->window < 0 ? NULL : window_choice(options->window), -1},
        {"from", NULL, options->from_ps},
        {"to", NULL, options->to_ps},
        {"small-kernel", NULL, options->small_kernel_ps},
        {"device-kind", options->device_kind, -1},
        {"peak-flops", options->peak_flops, -1},
        {"peak-bandwidth", options->peak_bandwidth, -1},
        {"flops-per-step", options->flops_per_step, -1},
        {"tokens-per-step", options->tokens_per_step, -1},
    };
    size_t count = strcmp(name, "report") != 0 ? 1 : sizeof given / sizeof *given; /* others only read the run */
    ids_command_again(name, path, given, count, buffer, size);
}

struct operands {
    char *const *at;
    size_t count;
};

/* The report, and where the rows are that it can be held against. */
struct opened {
    struct ids_engine engine;
    struct ids_report report;
    struct ids_redactor redactor;
    struct ids_opened_events events; /* path NULL: nowhere yet */
    struct ids_picture picture;      /* of --html */
    int is_stored;                   /* the run is one of a database, which has no picture */
};

static int explain(const struct report_options *options, struct opened *opened, const struct ids_render *how,
                   const char *path, struct ids_error *err) {
    struct ids_explanation explanation;
    struct ids_render render = *how;
    char command[COMMAND_BYTES];
    make_command(options, "query", path, command, sizeof command);
    size_t used = strlen(command);
    if (used < sizeof command) snprintf(command + used, sizeof command - used, " --explain %s", options->explain);
    int code = ids_explanation_make(options->explain, &opened->events, command, &explanation, err);
    render.explained = &explanation.about;
    if (!code && options->json)
        code = ids_render_explain_json(&opened->report, &render, options->explain, stdout, err);
    else if (!code)
        code = ids_render_explain(&opened->report, &render, options->explain, stdout, err);
    ids_explanation_done(&explanation);
    return code;
}

static int64_t top_of(const struct report_options *options) {
    if (options->top != TOP_UNSET) return options->top;
    if (options->json || options->csv || options->html) return 0;
    return options->by >= 0 ? TOP_OF_SCREEN : TOP_OF_TEXT;
}

/* Sorts what is printed by the column that was asked for. */
static int sort_tables(struct ids_report *report, const struct ids_render *render, const char *column,
                       struct ids_error *err) {
    const struct ids_table *seen = NULL;
    int sorted = 0;
    for (int s = 0; s < render->section_count; s++) {
        const struct ids_section *section = &render->sections[s];
        for (int i = 0; i < section->table_count && ids_render_wants(render, section->name); i++) {
            struct ids_table *table = (struct ids_table *)ids_report_find_table(report, section->tables[i]->id);
            if (!table || !ids_render_shows(render, section->tables[i], 0)) continue;
            int at = ids_table_column(table, column);
            seen = table;
            if (at < 0) continue;
            sorted = 1;
            if (ids_table_sort(table, at)) return ids_no_memory(err);
        }
    }
    if (sorted || !seen) return 0;
    char names[512] = "";
    for (int i = 0, used = 0; i < seen->def->column_count && used < (int)sizeof names - 32; i++)
        used += snprintf(names + used, sizeof names - (size_t)used, "%s%s", i ? ", " : "", seen->def->columns[i].id);
    return ids_fail(err, IDS_USAGE, "--sort: there is no column '%s' (%s)", column, names);
}

/* A tree is cut where its rows matter least, not at its end. */
static int arrange(const struct report_options *options, struct ids_report *report, const struct ids_render *render,
                   struct ids_error *err) {
    int code = options->sort ? sort_tables(report, render, options->sort, err) : 0;
    for (size_t t = 0; t < report->table_count && !code; t++) {
        struct ids_table *table = &report->tables[t];
        if (!(table->def->flags & IDS_TABLE_TREE)) continue;
        int is_text = !options->json && !options->csv && !options->html;
        if (ids_table_cut_tree(report, table, options->depth, render->top, is_text && !options->full))
            code = ids_no_memory(err);
    }
    return code;
}

static int print_page(const struct report_options *options, struct opened *opened, const struct ids_render *render,
                      const char *path, struct ids_error *err) {
    char extract[COMMAND_BYTES];
    make_command(options, "extract", path, extract, sizeof extract);
    if (opened->engine.redactor) snprintf(extract, sizeof extract, "idsprof extract RUN");
    struct ids_timeline_page timeline = {
        .picture = &opened->picture,
        .missing = opened->is_stored ? "a database holds the report; for a timeline give the profile itself" : NULL,
        .extract = extract};
    const struct ids_page_block block = {"timeline", ids_timeline_write, &timeline};
    const struct ids_page page = {
        .kind = "report", .report = &opened->report, .render = render, .blocks = &block, .block_count = 1};
    return ids_page_to_file(&page, options->html, options->force, IDS_PAGE_SAID, err);
}

static int print(const struct report_options *options, struct opened *opened, const char *path, struct ids_error *err) {
    struct ids_report *report = &opened->report;
    char command[COMMAND_BYTES];
    make_command(options, "report", path, command, sizeof command);
    if (opened->engine.redactor) snprintf(command, sizeof command, "idsprof report RUN");
    struct ids_render render = {
        .only = options->sections.at,
        .only_count = options->sections.count,
        .top = top_of(options),
        .full = options->full,
        .width = ids_terminal_width(options->width),
        .colour = ids_terminal_colour((enum ids_colour)options->colour),
        .markdown = options->markdown,
        .command = command,
    };
    if (options->by >= 0) {
        render.only = &cuts[options->by].section;
        render.only_count = 1;
        render.table = cuts[options->by].table;
    }
    static const char *const compat[] = {"compat"};
    if (options->compat >= 0 && !options->sections.count && !options->json) {
        render.only = compat;
        render.only_count = 1;
    }
    render.sections = ids_sections(&render.section_count);
    if (options->explain) return explain(options, opened, &render, path, err);
    if (options->html) return print_page(options, opened, &render, path, err);
    int code = arrange(options, report, &render, err);
    if (code) return code;
    if (options->chart || options->zoom) return ids_render_chart(report, &render, stdout, err);
    if (options->json) return ids_render_json(report, &render, stdout, err);
    if (options->csv) return ids_render_csv(report, &render, stdout, err);
    return ids_render_text(report, &render, stdout, err);
}

/* Nothing of it comes out of the cache, or goes into it. */
static int begin_redaction(const struct report_options *options, struct opened *opened, const struct ids_run_files *run,
                           struct ids_error *err) {
    int code = ids_redact_begin(&options->redact, &opened->redactor, err);
    if (!code) code = ids_redactor_read(&opened->engine, run, &opened->redactor, err);
    opened->engine.redactor = &opened->redactor;
    opened->engine.no_cache = 1;
    return code;
}

/* Several operands are the partials of one run. */
static int find(const struct operands *operands, struct opened *opened, struct ids_error *err) {
    if (operands->count == 1) return ids_find_runs(&opened->engine, operands->at[0], &opened->events.list, err);
    return ids_find_partials(&opened->engine, operands->at, operands->count, &opened->events.list, err);
}

/* What is newer than the run that is reported, and has no profile. */
static void note_newer(const struct opened *opened, const char *path, const struct ids_run_files *run) {
    char command[COMMAND_BYTES], why[256];
    const char *profile = !run->number && run->file_count && !run->files[0].archive ? run->files[0].path : NULL;
    char *capture = profile ? ids_newer_history(path, profile) : NULL;
    if (!capture) return;
    ids_sidecar_missed(capture, why, sizeof why);
    ids_command_again("report", capture, NULL, 0, command, sizeof command);
    ids_engine_note(&opened->engine, "a newer capture has no profile, only the history of steps%s%s: %s draws it",
                    *why ? ", because " : "", why, command);
    free(capture);
}

static int open_report(const struct report_options *options, const struct operands *operands, struct opened *opened,
                       struct ids_error *err) {
    struct ids_params params;
    struct ids_grade_rules grades;
    const struct ids_run_files *run;
    int code = make_params(options, &params, err);
    if (!code && options->html) code = ids_page_file_check(options->html, options->force, err);
    if (!code) ids_grade_rules_default(&params, &grades);
    if (!code) code = ids_grade_options(&options->grades, &grades, err);
    if (!code) code = find(operands, opened, err);
    if (code) return code;
    ids_note_unreadable(&opened->engine, &opened->events.list);
    code = ids_choose_run(&opened->events.list, options->run, &run, err);
    if (!code && !options->run) ids_note_choice(&opened->engine, &opened->events.list);
    if (!code && !options->run && operands->count == 1) note_newer(opened, operands->at[0], run);
    if (options->html) params.picture = &opened->picture;
    if (!code) opened->is_stored = run->number != 0;
    if (!code && ids_redact_wanted(&options->redact)) code = begin_redaction(options, opened, run, err);
    if (!code) code = ids_open_run(&opened->engine, run, &params, &opened->report, err);
    if (!code && opened->engine.redactor) code = ids_redact_report(&opened->redactor, &opened->report, err);
    if (!code)
        ids_grade(&grades, &opened->report); /* a stored report has grades of its own, by the standard thresholds */
    /* The rows of a database, or those that an earlier query left in the cache, are of a report with default
     * options. */
    if (!code && options->explain && ids_params_are_default(&params))
        code = ids_events_at_hand(&opened->engine, run, &opened->events, err);
    if (!code && !opened->events.run)
        opened->events.run = run->number ? run->number : 1; /* as a query of it would have it */
    return code;
}

/* Options that need a profile. */
static int asks_for_figures(const struct report_options *options) {
    return options->json || options->csv || options->html || options->explain || options->chart || options->zoom ||
           options->by >= 0 || options->compat >= 0 || options->sections.count || ids_redact_wanted(&options->redact);
}

static int draw_history(const struct report_options *options, struct opened *opened, const char *path,
                        const char *capture, struct ids_error *err) {
    struct report_options alone = *options;
    struct ids_error ignored = IDS_ERROR_INIT;
    char why[256];
    const char *slash = strrchr(capture, '/');
    ids_report_property(
        &opened->report, "name",
        ids_text_value(ids_report_text(&opened->report, "%s", slash && slash[1] ? slash + 1 : capture)));
    alone.sections = (struct ids_opt_texts){.at = {"history"}, .count = 1};
    if (print(&alone, opened, capture, &ignored)) return ids_error_pass(err, &ignored);
    ids_sidecar_missed(capture, why, sizeof why);
    return ids_fail(err, IDS_NOT_FOUND, "no profile in '%s', only the history of steps%s%s%s", path,
                    strcmp(path, capture) != 0 ? ids_report_text(&opened->report, " in '%s'", capture) : "",
                    *why ? ": " : "", why);
}

/* A process that was killed in its window left no profile, but perhaps the history of its steps: that is printed, and
 * the error says why there is no more. */
static int print_history_alone(const struct report_options *options, struct opened *opened, const char *path,
                               struct ids_error *err) {
    char command[COMMAND_BYTES];
    char *capture = ids_history_folder(path);
    int has_one = capture && ids_history_of_folder(capture, &opened->report);
    if (has_one && !asks_for_figures(options)) {
        draw_history(options, opened, path, capture, err);
    } else if (has_one) {
        ids_command_again("report", capture, NULL, 0, command, sizeof command);
        ids_fail(err, IDS_NOT_FOUND, "no profile in '%s', only the history of steps, which %s draws", path, command);
    }
    free(capture);
    return err->code;
}

static int report_all(const struct report_options *options, const struct operands *operands, struct ids_error *err) {
    const char *path = operands->at[0];
    struct opened opened = {.engine = ids_command_engine("report", options->no_cache)};
    ids_report_init(&opened.report);
    int code = open_report(options, operands, &opened, err);
    if (!code)
        code = print(options, &opened, path, err);
    else if (code == IDS_NOT_FOUND && operands->count == 1)
        code = print_history_alone(options, &opened, path, err);
    if (!code && options->strict && !opened.report.complete) {
        code = ids_fail(err, IDS_TRUNCATED, "'%s': the profile is incomplete, and --strict was given", path);
    }
    ids_report_done(&opened.report);
    ids_picture_done(&opened.picture);
    ids_events_done(&opened.events);
    ids_engine_done(&opened.engine);
    ids_redactor_done(&opened.redactor);
    return code;
}

static int report_once(const void *values, const char *path, struct ids_error *err) {
    char *const one[] = {(char *)path};
    const struct operands operands = {one, 1};
    return report_all(values, &operands, err);
}

static int report_run(const void *values, char *const *operands, int operand_count, struct ids_error *err) {
    const struct report_options *options = values;
    const struct operands all = {operands, (size_t)operand_count};
    struct ids_params params;
    if (!options->watch) return report_all(options, &all, err);
    if (operand_count > 1) return ids_fail(err, IDS_USAGE, "unexpected argument '%s'", operands[1]);
    int code = make_params(options, &params, err); /* before the first window comes */
    return code ? code : ids_report_watch(operands[0], options->no_cache, report_once, options, err);
}

const struct ids_command ids_report_command = {
    .operands = "RUN...",
    .least = 1,
    .most = -1,
    IDS_OPTIONS(opts),
    .defaults = &defaults,
    .values_bytes = sizeof defaults,
    .run = report_run,
};
