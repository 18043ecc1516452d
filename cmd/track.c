#include "lib/store/track.h"
#include "cmd/command.h"
#include "cmd/engine.h"
#include "cmd/track_runs.h"
#include "lib/base/counted.h"
#include "lib/base/quantity.h"
#include "lib/cli/reading.h"
#include "lib/cli/say.h"
#include "lib/cli/terminal.h"
#include "lib/compare/levels.h"
#include "lib/render/course_text.h"
#include "lib/render/levels_text.h"
#include "lib/report/layout.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { TOP = 10 };

struct track_options {
    struct ids_opt_texts label, where;
    const char *labels, *date, *figure, *threshold;
    int64_t top, width;
    int json, csv, no_cache, full, colour;
};

static const struct track_options defaults = {.colour = IDS_COLOUR_AUTO, .top = TOP};

#define AT(field) offsetof(struct track_options, field)
static const struct ids_opt opts[] = {
    {IDS_OPT_TEXTS, 'l', "label", "KEY=VALUE", "add: what to know of the runs, as commit=1a2b3c; may be given again",
     AT(label), NULL},
    {IDS_OPT_TEXT, 0, "labels", "FILE", "add: a file of such lines", AT(labels), NULL},
    {IDS_OPT_TEXT, 0, "date", "DATE", "add: when the run was recorded, where it does not say", AT(date), NULL},
    {IDS_OPT_TEXTS, 'w', "where", "KEY=VALUE", "only runs with this label, or one like a glob; may be given again",
     AT(where), NULL},
    {IDS_OPT_TEXT, 0, "figure", "GLOB", "only figures of this name: steps.mean, 'model/layer_*'", AT(figure), NULL},
    {IDS_OPT_TEXT, 't', "threshold", "SHARE", "a smaller change of a figure is none (1%)", AT(threshold), NULL},
    {IDS_OPT_COUNT, 'n', "top", "N", "the last N changes, or rows of a difference (10; 0: all)", AT(top), NULL},
    {IDS_OPT_FLAG, 'j', "json", NULL, "print JSON", AT(json), NULL},
    {IDS_OPT_FLAG, 'c', "csv", NULL, "print CSV: every table", AT(csv), NULL},
    {IDS_OPT_FLAG, 0, "no-cache", NULL, "add: read the profiles again, and cache nothing", AT(no_cache), NULL},
    {IDS_OPT_FLAG, 'f', "full", NULL, "do not shorten names or leave out columns", AT(full), NULL},
    {IDS_OPT_COUNT, 0, "width", "N", "columns of a line, at least 40 (else the terminal's, or 120)", AT(width), NULL},
    {IDS_OPT_CHOICE, 0, "color", "WHEN", "auto, always or never", AT(colour), ids_colour_choice},
    IDS_READING_OPTIONS,
};

/* ---- add ---- */

struct adding {
    const struct ids_open_side *runs;
    struct ids_track_labels labels;
    struct ids_track_added added;
    size_t all;
};

static int add_to(struct ids_series *series, void *user, struct ids_error *err) {
    struct adding *adding = user;
    int code = ids_track_add_runs(series, adding->runs, &adding->labels, &adding->added, err);
    adding->all = series->run_count;
    return code;
}

/* What is missing of a run is missing of its figures. */
static void say_incomplete(struct ids_arena *arena, const struct ids_open_side *runs) {
    for (size_t i = 0; i < runs->count; i++) {
        const struct ids_value *name = ids_report_find_property(runs->pointers[i], "name");
        if (!runs->reports[i].complete)
            ids_say("track", "'%s' is incomplete, and 'show' leaves it out: %s",
                    name && !name->missing ? ids_text_clean(arena, name->text) : "",
                    ids_text_clean(arena, ids_report_why_incomplete(runs->pointers[i])));
    }
}

/* Which of them were there already, and with which date. */
static void say_replaced(const struct ids_track_added *added) {
    char was[IDS_DAY_ROOM], is[IDS_DAY_ROOM];
    if (added->replaced) printf(" (%zu of them in place of what was there", added->replaced);
    if (added->redated == 1)
        printf("; %s is now of %s, not of %s", added->replaced > 1 ? "one" : "it", ids_day_of(added->is, is),
               ids_day_of(added->was, was));
    else if (added->redated)
        printf("; %zu of these have another date now", added->redated);
    if (added->replaced) printf(")");
}

static int add(const struct track_options *options, char *const *operands, int count, struct ids_error *err) {
    const struct ids_open_options open = {.go_on = 1};
    struct ids_open_side runs;
    struct adding adding = {.runs = &runs,
                            .labels = {.given = &options->label, .file = options->labels, .date = options->date}};
    if (count < 2) return ids_fail(err, IDS_USAGE, "expected: idsprof track add FILE RUN...");
    int code = ids_track_check_labels(&adding.labels, err);
    if (code) return code;
    struct ids_engine engine = ids_command_engine("track", options->no_cache);
    code = ids_open_side(&engine, operands + 1, count - 1, &open, &runs, err);
    ids_engine_done(&engine);
    if (code) return code;
    code = ids_track_update(operands[0], add_to, &adding, err);
    if (!code) {
        struct ids_arena arena = {0};
        const char *path = ids_text_clean(&arena, operands[0]);
        printf("%s: added %s", path, IDS_COUNTED(runs.count, "run"));
        say_replaced(&adding.added);
        printf(", %s in all; to see their course: idsprof track show %s\n", IDS_COUNTED(adding.all, "run"), path);
        say_incomplete(&arena, &runs);
        ids_arena_done(&arena);
    }
    if (!code && runs.left_out)
        code = ids_fail(err, IDS_CORRUPT, "%s could not be read; what else was given is added",
                        IDS_COUNTED(runs.left_out, "run"));
    ids_open_side_done(&runs);
    return code;
}

/* ---- rm ---- */

struct removing {
    char *const *texts;
    int count;
    size_t removed;
};

static int remove_from(struct ids_series *series, void *user, struct ids_error *err) {
    struct removing *removing = user;
    for (int i = 0; i < removing->count; i++) {
        size_t *at, count;
        int code = ids_track_pick(series, removing->texts[i], &at, &count, err);
        if (code) return code;
        for (size_t k = count; k-- > 0;) ids_series_remove_run(series, at[k]);
        removing->removed += count;
        free(at);
    }
    return 0;
}

static int rm(char *const *operands, int count, struct ids_error *err) {
    if (count < 2) return ids_fail(err, IDS_USAGE, "expected: idsprof track rm FILE WHICH...");
    struct removing removing = {operands + 1, count - 1, 0};
    struct ids_series unused;
    int code = ids_track_load(operands[0], &unused, err); /* it is not made to remove from it */
    ids_series_done(&unused);
    if (!code) code = ids_track_update(operands[0], remove_from, &removing, err);
    if (!code) printf("removed %s\n", IDS_COUNTED(removing.removed, "run"));
    return code;
}

/* ---- show and diff ---- */

static struct ids_render render_of(const struct track_options *options) {
    return (struct ids_render){.top = options->top,
                               .full = options->full,
                               .width = ids_terminal_width(options->width),
                               .colour = ids_terminal_colour((enum ids_colour)options->colour)};
}

/* All that is known, for programs. */
static int print_tables(const struct track_options *options, const struct ids_report *report,
                        const struct ids_table_def *const *tables, int table_count, struct ids_error *err) {
    static const char *const all[] = {"track"};
    struct ids_section section = {.name = all[0], .title = all[0], .tables = tables, .table_count = table_count};
    struct ids_render render = {.sections = &section, .section_count = 1, .only = all, .only_count = 1};
    return options->json ? ids_render_json(report, &render, stdout, err) : ids_render_csv(report, &render, stdout, err);
}

static int course_options(const struct track_options *options, struct ids_course_options *ret, struct ids_error *err) {
    *ret = (struct ids_course_options){.threshold = 0.01, .least = 0.001, .figure = options->figure};
    int code = options->threshold ? ids_parse_share(options->threshold, &ret->threshold, err) : 0;
    return code ? ids_error_at(err, "--threshold") : 0;
}

/* A name that is written wrongly finds nothing, which is not the same as no change. */
static int check_figure(const char *glob, const struct ids_series *series, struct ids_error *err) {
    for (size_t i = 0; i < series->figure_count && glob; i++) {
        const char *name = series->figures[i].name;
        if (!strcmp(glob, name) || !fnmatch(glob, name, 0)) return 0;
    }
    if (!glob) return 0;
    ids_fail(err, IDS_USAGE, "--figure: no figure is called '%s'", glob);
    return ids_hint(err, "the file's table 'figure' has all names");
}

static int load(const struct track_options *options, const char *path, struct ids_series *series,
                struct ids_track_notes *notes, struct ids_error *err) {
    int code = ids_track_load(path, series, err);
    if (!code) code = ids_track_keep(series, &options->where, err);
    if (!code) code = check_figure(options->figure, series, err);
    if (!code) ids_track_keep_comparable(series, notes);
    return code;
}

/* Where the text of `show` does not. */
static void say_left_out(const struct ids_track_notes *notes) {
    struct ids_arena arena = {0};
    for (size_t i = 0; i < notes->count; i++) {
        const struct ids_course_note *note = &notes->at[i];
        ids_say("track", "%s%s%s", ids_text_clean(&arena, note->text), *note->where ? "; to choose them: --where " : "",
                ids_text_clean(&arena, note->where));
    }
    ids_arena_done(&arena);
}

static int show(const struct track_options *options, char *const *operands, int count, struct ids_error *err) {
    struct ids_course_options how;
    struct ids_course course;
    struct ids_series series;
    struct ids_track_notes notes;
    if (count != 1) return ids_fail(err, IDS_USAGE, "expected: idsprof track show FILE");
    int code = course_options(options, &how, err);
    if (code) return code;
    code = load(options, operands[0], &series, &notes, err);
    if (!code && (options->json || options->csv)) say_left_out(&notes);
    if (!code) code = ids_course_make(&series, &how, &course, err);
    if (!code) {
        const struct ids_render render = render_of(options);
        code = options->json || options->csv
                   ? print_tables(options, &course.report, ids_course_tables, ids_course_table_count, err)
                   : ids_render_course(&course, &render, operands[0], notes.at, notes.count, stdout, err);
        ids_course_done(&course);
    }
    ids_series_done(&series);
    return code;
}

static int compare(const struct track_options *options, const struct ids_series *series, char *const *operands,
                   struct ids_error *err) {
    struct ids_course_options how;
    struct ids_levels levels;
    size_t *a = NULL, *b = NULL, a_count = 0, b_count = 0;
    int code = course_options(options, &how, err);
    if (!code) code = ids_track_pick(series, operands[0], &a, &a_count, err);
    if (!code) code = ids_track_pick(series, operands[1], &b, &b_count, err);
    if (!code)
        code = ids_levels_make(series, (struct ids_level_runs){a, a_count}, (struct ids_level_runs){b, b_count}, &how,
                               &levels, err);
    if (!code) {
        const struct ids_render render = render_of(options);
        code = options->json || options->csv
                   ? print_tables(options, &levels.report, ids_levels_tables, ids_levels_table_count, err)
                   : ids_render_levels(&levels, operands[0], operands[1], &render, stdout, err);
        ids_levels_done(&levels);
    }
    free(a);
    free(b);
    return code;
}

static int diff(const struct track_options *options, char *const *operands, int count, struct ids_error *err) {
    struct ids_series series;
    struct ids_track_notes notes;
    if (count != 3) return ids_fail(err, IDS_USAGE, "expected: idsprof track diff FILE WHICH WHICH");
    int code = load(options, operands[0], &series, &notes, err);
    if (!code) say_left_out(&notes);
    if (!code) code = compare(options, &series, operands + 1, err);
    ids_series_done(&series);
    return code;
}

/* ---- */

/* An option that an action would pass over says something that is not done. */
static int check_options(const struct track_options *options, const char *action, struct ids_error *err) {
    enum { ADD = 1, SHOW = 2, DIFF = 4, BOTH = SHOW | DIFF };
    const struct {
        const char *name;
        int given, of;
    } all[] = {
        {"--label", options->label.count > 0, ADD},
        {"--labels", options->labels != NULL, ADD},
        {"--date", options->date != NULL, ADD},
        {"--no-cache", options->no_cache, ADD},
        {"--where", options->where.count > 0, BOTH},
        {"--figure", options->figure != NULL, BOTH},
        {"--threshold", options->threshold != NULL, BOTH},
        {"--top", options->top != TOP, BOTH},
        {"--json", options->json, BOTH},
        {"--csv", options->csv, BOTH},
        {"--full", options->full, BOTH},
    };
    int is = !strcmp(action, "add") ? ADD : !strcmp(action, "show") ? SHOW : !strcmp(action, "diff") ? DIFF : 0;
    for (size_t i = 0; i < sizeof all / sizeof *all && (is || !strcmp(action, "rm")); i++) {
        if (all[i].given && !(all[i].of & is))
            return ids_fail(err, IDS_USAGE, "'%s' has no option %s, which is of %s", action, all[i].name,
                            all[i].of == ADD ? "add" : "show and diff");
    }
    return 0;
}

static int track_run(const void *values, char *const *operands, int operand_count, struct ids_error *err) {
    const struct track_options *options = values;
    const char *action = operands[0];
    if (options->json && options->csv) return ids_fail(err, IDS_USAGE, "--json and --csv exclude each other");
    int code = check_options(options, action, err);
    if (code) return code;
    if (!strcmp(action, "add")) return add(options, operands + 1, operand_count - 1, err);
    if (!strcmp(action, "show")) return show(options, operands + 1, operand_count - 1, err);
    if (!strcmp(action, "diff")) return diff(options, operands + 1, operand_count - 1, err);
    if (!strcmp(action, "rm")) return rm(operands + 1, operand_count - 1, err);
    return ids_fail(err, IDS_USAGE, "'%s': expected add, show, diff or rm", action);
}

const struct ids_command ids_track_command = {
    .operands = "add|show|diff|rm FILE [RUN...]",
    .least = 1,
    .most = -1,
    IDS_OPTIONS(opts),
    .defaults = &defaults,
    .values_bytes = sizeof defaults,
    .run = track_run,
};
