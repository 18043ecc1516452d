#include "cmd/command.h"
#include "cmd/engine.h"
#include "cmd/page_file.h"
#include "cmd/slice_options.h"
#include "lib/analysis/analyzer.h"
#include "lib/base/quantity.h"
#include "lib/cli/nearest.h"
#include "lib/cli/output.h"
#include "lib/cli/reading.h"
#include "lib/cli/say.h"
#include "lib/cli/terminal.h"
#include "lib/compare/comparability.h"
#include "lib/render/check_junit.h"
#include "lib/render/check_text.h"
#include "lib/report/gone_ids.h"
#include "lib/run/open_baseline.h"
#include "lib/run/sections.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct check_options {
    const char *budget, *baseline, *tolerance, *noise, *junit, *accept, *reason, *html;
    struct ids_opt_texts max, min;
    int64_t over, after, width;
    int json, markdown, force, no_cache, full, quiet, colour, allow_inconclusive;
    struct ids_slice_options slice; /* its `after` is not: limits have their own */
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
    {IDS_OPT_TEXT, 0, "noise", "SHARE", "run-to-run noise; allows a verdict from one recording", AT(noise), NULL},
    {IDS_OPT_FLAG, 0, "allow-inconclusive", NULL, "exit 0 where recordings cannot tell", AT(allow_inconclusive), NULL},
    {IDS_OPT_TEXT, 0, "accept", "ID", "accept the change of this figure, and hold it to the new level", AT(accept),
     NULL},
    {IDS_OPT_TEXT, 0, "reason", "TEXT", "with --accept: why", AT(reason), NULL},
    {IDS_OPT_COUNT, 0, "over", "N", "with --max and --min: figures of steps cover N steps", AT(over), NULL},
    {IDS_OPT_COUNT, 0, "after", "N", "with the same: leave out N steps of warm-up", AT(after), NULL},
    {IDS_OPT_TEXT, 0, "steps", "STEPS", "only these steps of the runs: 7, or 3..5", AT(slice.steps), NULL},
    {IDS_OPT_TEXT, 0, "device", "DEVICE", "only this device, or those of a glob, as GPU:0", AT(slice.device), NULL},
    {IDS_OPT_TEXT, 0, "junit", "FILE", "write JUnit XML; - for standard output", AT(junit), NULL},
    {IDS_OPT_TEXT, 0, "html", "FILE", "write a page for a browser too; - for standard output", AT(html), NULL},
    {IDS_OPT_FLAG, 'j', "json", NULL, "print JSON", AT(json), NULL},
    {IDS_OPT_FLAG, 0, "markdown", NULL, "print Markdown, for a pull request or a job's summary", AT(markdown), NULL},
    {IDS_OPT_FLAG, 'q', "quiet", NULL, "print only limits that fail or cannot be told", AT(quiet), NULL},
    {IDS_OPT_FLAG, 0, "force", NULL, "compare even if the baseline is not comparable; overwrite the file of --html",
     AT(force), NULL},
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
        if (strncmp(budget->at[i].subject.metric->id, "steps.", 6) != 0) continue;
        if (options->over) budget->at[i].over = options->over;
        if (options->after) budget->at[i].after = options->after;
    }
    if (!code && !budget->count && !options->baseline)
        code = ids_fail(err, IDS_USAGE, "no limits: give --budget FILE, --max ID=VALUE, --min ID=VALUE or --baseline");
    return code;
}

/* ---- the baseline ---- */

struct basis {
    struct ids_baseline saved;
    struct ids_open_side opened;
    struct ids_acceptance *accepted; /* since the baseline was saved, and room for one more */
    size_t accepted_count;
    int is_saved;
};

static void basis_done(struct basis *basis) {
    ids_open_side_done(&basis->opened);
    if (basis->is_saved) ids_baseline_done(&basis->saved);
    free(basis->accepted);
}

/* Saving a baseline again ends what was accepted before. */
static int take_accepted(struct basis *basis, struct ids_error *err) {
    basis->accepted = calloc(basis->saved.event_count + 1, sizeof *basis->accepted);
    if (!basis->accepted) return ids_no_memory(err);
    for (size_t i = 0; i < basis->saved.event_count; i++) {
        const struct ids_baseline_event *event = &basis->saved.events[i];
        double value = ids_value_number(event->value), before = ids_value_number(event->before);
        if (!event->reason) basis->accepted_count = 0;
        if (!event->reason || isnan(value) || event->runs < 1) continue;
        basis->accepted[basis->accepted_count++] = (struct ids_acceptance){.id = event->id,
                                                                           .reason = event->reason,
                                                                           .unix_s = event->unix_s,
                                                                           .value = value,
                                                                           .before = isnan(before) ? 0 : before,
                                                                           .runs = (size_t)event->runs};
    }
    return 0;
}

/* A saved baseline of that name, else a run. */
static int open_basis(const struct check_options *options, const struct ids_open_options *open, struct basis *basis,
                      struct ids_error *err) {
    char *const path = (char *)options->baseline; /* only read */
    int code = IDS_NOT_FOUND;
    if (ids_baseline_is_name(options->baseline))
        code = ids_open_baseline(options->baseline, &basis->saved, &basis->opened, err);
    basis->is_saved = !code;
    if (!code && (options->slice.steps || options->slice.device))
        return ids_fail(err, IDS_USAGE,
                        "a saved baseline is of whole runs: give a run with --baseline, or no --steps "
                        "and --device");
    if (!code) return take_accepted(basis, err);
    if (code != IDS_NOT_FOUND) return code;
    if (options->accept)
        return ids_fail(err, IDS_USAGE, "--accept is kept in a saved baseline, and '%s' is none", options->baseline);
    struct ids_engine engine = ids_command_engine("check", options->no_cache);
    code = ids_open_side(&engine, &path, 1, open, &basis->opened, err);
    ids_engine_done(&engine);
    return code ? ids_error_at(err, "--baseline: no saved baseline has this name, and as a run") : 0;
}

static int look_at_basis(const struct check_options *options, const struct ids_side *side, const struct ids_side *basis,
                         struct ids_error *err) {
    const struct ids_side *const sides[] = {basis, side};
    struct ids_remarks remarks = {0};
    struct ids_report texts;
    ids_report_init(&texts);
    int code = ids_remarks_make(sides, 2, IDS_ALIKE_DEVICES, &texts, &remarks, err);
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

/* ---- accepting ---- */

static struct ids_value figure_value(enum ids_unit unit, double value) {
    int is_real = ids_unit_is_real(unit) || value != round(value);
    if (is_real && unit == IDS_UNIT_COUNT) unit = IDS_UNIT_NUMBER;
    return is_real && unit != IDS_UNIT_TIME && unit != IDS_UNIT_BYTES ? ids_real_value(unit, value)
                                                                      : ids_int_value(unit, (int64_t)llround(value));
}

static int is_worse(const struct ids_check_row *row) {
    int is_higher_better = row->limit->subject.metric->better == IDS_BETTER_HIGHER;
    return is_higher_better ? row->value < row->before : row->value > row->before;
}

/* The change that --accept names, out of a check without it. */
static int find_change(const struct check_options *options, const struct ids_check *check,
                       const struct ids_check_row **ret_row, struct ids_error *err) {
    int is_there = 0;
    for (size_t i = 0; i < check->count; i++) {
        const struct ids_check_row *row = &check->at[i];
        if (strcmp(row->limit->subject.metric->id, options->accept) != 0) continue;
        is_there |= row->has_before;
        if (!row->has_before || !ids_check_is_open(row) || !is_worse(row)) continue;
        *ret_row = row;
        return 0;
    }
    return ids_fail(err, IDS_USAGE,
                    is_there ? "--accept: '%s' is no worse than the baseline: there is nothing to accept"
                             : "--accept: no limit compares '%s' with the baseline",
                    options->accept);
}

/* Keeps the new level of a figure in the baseline. */
static int accept(const struct check_options *options, struct basis *basis, const struct ids_check *check,
                  struct ids_error *err) {
    const struct ids_check_row *row = NULL;
    int code = find_change(options, check, &row, err);
    if (code) return code;
    enum ids_unit unit = row->limit->subject.metric->unit;
    const struct ids_baseline_event event = {.unix_s = (int64_t)time(NULL),
                                             .runs = (int64_t)row->recordings,
                                             .id = options->accept,
                                             .value = figure_value(unit, row->value),
                                             .before = figure_value(unit, row->before),
                                             .reason = options->reason};
    basis->accepted[basis->accepted_count] = (struct ids_acceptance){.id = options->accept,
                                                                     .reason = options->reason,
                                                                     .unix_s = event.unix_s,
                                                                     .value = row->value,
                                                                     .before = row->before,
                                                                     .runs = row->recordings};
    return ids_baseline_accept(&basis->saved, &event, err);
}

/* ---- output ---- */

/* As JSON, or with the name of a file as a page into it. */
static int write_tables(const struct ids_check *check, const char *html, int force, struct ids_error *err) {
    static const char *const all[] = {"check"};
    struct ids_section section = {
        .name = all[0], .title = all[0], .tables = ids_check_tables, .table_count = ids_check_table_count};
    struct ids_render render = {.sections = &section, .section_count = 1, .only = all, .only_count = 1};
    const struct ids_page page = {.kind = "check", .report = &check->report, .render = &render};
    return html ? ids_page_to_file(&page, html, force, IDS_PAGE_SILENT, err)
                : ids_render_json(&check->report, &render, stdout, err);
}

static int write_junit(const struct check_options *options, const struct ids_check *check, const struct timespec *began,
                       struct ids_error *err) {
    const char *path = options->junit;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    double seconds = (double)(now.tv_sec - began->tv_sec) + (double)(now.tv_nsec - began->tv_nsec) * 1e-9;
    const struct ids_junit_options junit = {.seconds = fmax(seconds, 0),
                                            .unix_s = (int64_t)began->tv_sec,
                                            .allows_inconclusive = options->allow_inconclusive};
    if (!strcmp(path, "-")) {
        ids_render_check_junit(check, &junit, stdout);
        return 0;
    }
    FILE *file = fopen(path, "we");
    if (!file) return ids_fail_system(err, "cannot write '%s'", path);
    ids_render_check_junit(check, &junit, file);
    int failed = ferror(file);
    if (fclose(file) || failed) return ids_fail_system(err, "cannot write '%s'", path);
    return 0;
}

static int write_all(const struct check_options *options, const struct ids_check *check, const struct basis *basis,
                     const char *path, int is_one_run, const struct timespec *began, struct ids_error *err) {
    const struct ids_check_render print = {.render = {.full = options->full,
                                                      .width = ids_terminal_width(options->width),
                                                      .colour = ids_terminal_colour((enum ids_colour)options->colour)},
                                           .is_quiet = options->quiet,
                                           .path = path,
                                           .is_one_run = is_one_run,
                                           .baseline = options->baseline,
                                           .is_saved = basis->is_saved};
    int code = options->junit ? write_junit(options, check, began, err) : 0;
    if (code || (options->junit && !strcmp(options->junit, "-"))) return code;
    if (options->html) code = write_tables(check, options->html, options->force, err);
    if (code || (options->html && !strcmp(options->html, "-"))) return code;
    if (options->json) return write_tables(check, NULL, 0, err);
    return options->markdown ? ids_render_check_markdown(check, &print, stdout, err)
                             : ids_render_check_text(check, &print, stdout, err);
}

/* ---- */

static int make_check(const struct check_options *options, const struct ids_side *side, struct basis *basis,
                      const struct ids_budget *budget, struct ids_check *ret_check, struct ids_error *err) {
    const struct ids_side *against = options->baseline ? &basis->opened.side : NULL;
    struct ids_check_options how = {.accepted = basis->accepted, .accepted_count = basis->accepted_count};
    int code = options->noise ? ids_parse_share(options->noise, &how.noise, err) : 0;
    if (code) return ids_error_at(err, "--noise");
    code = ids_check_make(side, against, budget, &how, ret_check, err);
    if (code || !options->accept) return code;
    code = accept(options, basis, ret_check, err);
    ids_check_done(ret_check);
    how.accepting = &basis->accepted[basis->accepted_count];
    return code ? code : ids_check_make(side, against, budget, &how, ret_check, err);
}

static int check_side(const struct check_options *options, const struct ids_open_options *open, struct ids_side *side,
                      struct ids_budget *budget, const char *path, const struct timespec *began,
                      struct ids_error *err) {
    struct basis basis = {0};
    struct ids_check check = {0};
    int code = options->baseline ? open_basis(options, open, &basis, err) : 0;
    struct ids_side *const settled[] = {side, &basis.opened.side};
    if (!code) ids_sides_settle(settled, options->baseline ? 2 : 1, IDS_RECORDING_PROCESS);
    if (!code && options->baseline) code = look_at_basis(options, side, &basis.opened.side, err);
    if (!code && options->baseline) code = watch(options, &basis.opened.side, budget, err);
    if (!code) code = make_check(options, side, &basis, budget, &check, err);
    if (!code) {
        enum ids_check_verdict verdict = check.verdict;
        code = write_all(options, &check, &basis, path, side->run_count == 1, began, err);
        ids_check_done(&check);
        if (!code && (verdict == IDS_CHECK_FAIL || (verdict == IDS_CHECK_INCONCLUSIVE && !options->allow_inconclusive)))
            code = IDS_EXIT_NO;
    }
    basis_done(&basis);
    return code;
}

static int look_at_options(const struct check_options *options, struct ids_error *err) {
    int to_stdout = options->json + options->markdown + (options->junit && !strcmp(options->junit, "-")) +
                    (options->html && !strcmp(options->html, "-"));
    if (to_stdout > 1)
        return ids_fail(err, IDS_USAGE,
                        "only one of --json, --markdown, --html - and --junit - can go to standard output");
    if (!options->accept != !options->reason || (options->reason && !*options->reason))
        return ids_fail(err, IDS_USAGE, "--accept ID and --reason TEXT belong together");
    if (options->accept && !options->baseline)
        return ids_fail(err, IDS_USAGE, "--accept is kept in a saved baseline: give it with --baseline NAME");
    return options->html ? ids_page_file_check(options->html, options->force, err) : 0;
}

static int check_run(const void *values, char *const *operands, int operand_count, struct ids_error *err) {
    const struct check_options *options = values;
    struct ids_params params;
    char part[IDS_SLICE_WORDS];
    const struct ids_open_options open = {.params = &params};
    struct timespec began;
    clock_gettime(CLOCK_REALTIME, &began);
    struct ids_engine engine = ids_command_engine("check", options->no_cache);
    struct ids_budget budget = {0};
    struct ids_open_side runs = {0};
    int code = look_at_options(options, err);
    if (!code) code = ids_slice_params(&options->slice, &params, part, err);
    if (!code) code = make_budget(options, &budget, err);
    if (!code) code = ids_open_side(&engine, operands, operand_count, &open, &runs, err);
    ids_engine_done(&engine);
    if (!code) code = check_side(options, &open, &runs.side, &budget, operands[0], &began, err);
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
