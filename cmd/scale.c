#include "lib/compare/scale.h"
#include "cmd/command.h"
#include "cmd/engine.h"
#include "cmd/page_file.h"
#include "lib/cli/output.h"
#include "lib/cli/reading.h"
#include "lib/cli/terminal.h"
#include "lib/render/scale_text.h"
#include "lib/run/method_cells.h"

#include <errno.h>

struct scale_options {
    int strong, weak, json, csv, markdown, force, no_cache, full, colour;
    int64_t width;
    const char *devices, *methods, *output, *html;
};

static const struct scale_options defaults = {.colour = IDS_COLOUR_AUTO};

#define AT(field) offsetof(struct scale_options, field)
static const struct ids_opt opts[] = {
    {IDS_OPT_TEXT, 'm', "methods", "LIST", "only these methods, as lcam,tad; the first is what others are held against",
     AT(methods), NULL},
    {IDS_OPT_FLAG, 0, "strong", NULL,
     "strong scaling: the same work on more devices (default: by shapes, or by compute)", AT(strong), NULL},
    {IDS_OPT_FLAG, 0, "weak", NULL, "weak scaling: work grows with the devices", AT(weak), NULL},
    {IDS_OPT_TEXT, 'd', "devices", "LIST", "the numbers of devices, as 1,2,4,8; else as recorded", AT(devices), NULL},
    {IDS_OPT_TEXT, 'o', "output", "FILE", "write the results as JSON too, with the paths of the traces", AT(output),
     NULL},
    {IDS_OPT_TEXT, 0, "html", "FILE", "write one page for a browser; - for standard output", AT(html), NULL},
    {IDS_OPT_FLAG, 0, "force", NULL, "compare even if the runs are not comparable; overwrite the file of --html",
     AT(force), NULL},
    {IDS_OPT_FLAG, 'j', "json", NULL, "print JSON", AT(json), NULL},
    {IDS_OPT_FLAG, 'c', "csv", NULL, "print CSV: every table", AT(csv), NULL},
    {IDS_OPT_FLAG, 0, "markdown", NULL, "print Markdown, for a pull request or an issue", AT(markdown), NULL},
    {IDS_OPT_FLAG, 0, "no-cache", NULL, "read the profiles again, and cache nothing", AT(no_cache), NULL},
    {IDS_OPT_FLAG, 'f', "full", NULL, "do not shorten names or leave out columns", AT(full), NULL},
    {IDS_OPT_COUNT, 0, "width", "N", "columns of a line, at least 40 (else the terminal's, or 120)", AT(width), NULL},
    {IDS_OPT_CHOICE, 0, "color", "WHEN", "auto, always or never", AT(colour), ids_colour_choice},
    IDS_READING_OPTIONS,
};

/* ---- for programs ---- */

enum form { FORM_JSON, FORM_CSV, FORM_PAGE };

static int render(const struct ids_scale *scale, enum form form, const struct scale_options *options, FILE *out,
                  struct ids_error *err) {
    static const char *const all[] = {"scale"};
    struct ids_section section = {
        .name = all[0], .title = all[0], .tables = ids_scale_tables, .table_count = ids_scale_table_count};
    struct ids_render how = {.sections = &section, .section_count = 1, .only = all, .only_count = 1};
    const struct ids_page page = {.kind = "scale", .report = &scale->report, .render = &how};
    if (form == FORM_PAGE) return ids_page_to_file(&page, options->html, options->force, IDS_PAGE_SAID, err);
    return form == FORM_JSON ? ids_render_json(&scale->report, &how, out, err)
                             : ids_render_csv(&scale->report, &how, out, err);
}

static int write_results(const struct scale_options *options, const struct ids_scale *scale, struct ids_error *err) {
    const char *path = options->output;
    FILE *file = fopen(path, "we");
    if (!file) return ids_fail_system(err, "cannot write '%s'", path);
    int code = render(scale, FORM_JSON, options, file, err), failed = ferror(file);
    if ((fclose(file) || failed) && !code) code = ids_fail_system(err, "cannot write '%s'", path);
    return code;
}

/* ---- */

static int print(const struct scale_options *options, const struct ids_scale *scale, const char *path,
                 struct ids_error *err) {
    struct ids_render how = {.full = options->full,
                             .markdown = options->markdown,
                             .width = ids_terminal_width(options->width),
                             .colour = ids_terminal_colour((enum ids_colour)options->colour)};
    if (options->json || options->csv || options->html)
        return render(scale, options->html ? FORM_PAGE : options->json ? FORM_JSON : FORM_CSV, options, stdout, err);
    return ids_render_scale(scale, &how, path, stdout, err);
}

static int compare(const struct scale_options *options, const struct ids_method_cells *cells, const char *path,
                   struct ids_error *err) {
    enum ids_scaling scaling = options->strong ? IDS_SCALING_STRONG
                               : options->weak ? IDS_SCALING_WEAK
                                               : IDS_SCALING_GUESS;
    struct ids_scale scale;
    int code = ids_scale_make(cells->at, cells->count, cells->notes, cells->note_count, scaling, &scale, err);
    if (code) return code;
    if (scale.remarks.unlike && !options->force)
        code = ids_fail(err, IDS_UNSUPPORTED, "these runs cannot be compared: %s (use --force to compare them anyway)",
                        scale.remarks.at[0].text);
    if (!code && options->output) code = write_results(options, &scale, err);
    if (!code) code = print(options, &scale, path, err);
    ids_scale_done(&scale);
    return code;
}

static int scale_run(const void *values, char *const *operands, int operand_count, struct ids_error *err) {
    const struct scale_options *options = values;
    struct ids_engine engine = ids_command_engine("scale", options->no_cache);
    struct ids_method_cells cells;
    if (options->strong && options->weak) return ids_fail(err, IDS_USAGE, "--strong and --weak exclude each other");
    if (options->json + options->csv + options->markdown > 1)
        return ids_fail(err, IDS_USAGE, "--json, --csv and --markdown exclude each other");
    if (options->html && (options->json || options->csv || options->markdown))
        return ids_fail(err, IDS_USAGE, "--html excludes --json, --csv and --markdown");
    int code = options->html ? ids_page_file_check(options->html, options->force, err) : 0;
    if (code) return code;
    code = ids_method_cells_open(&engine, operands, operand_count, options->devices, options->methods, &cells, err);
    ids_engine_done(&engine);
    if (code) return code;
    code = compare(options, &cells, operand_count == 1 ? operands[0] : NULL, err);
    ids_method_cells_done(&cells);
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
