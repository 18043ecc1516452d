#include "cmd/command.h"
#include "cmd/engine.h"
#include "cmd/extract_list.h"
#include "cmd/extraction.h"
#include "lib/base/counted.h"
#include "lib/cli/progress.h"
#include "lib/cli/reading.h"
#include "lib/cli/say.h"
#include "lib/report/report.h"
#include "lib/run/find_runs.h"
#include "lib/run/format_names.h"
#include "lib/run/history.h"
#include "lib/run/redact_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAMES_BYTES = 256 };

static const struct ids_extract_options defaults = {.folder = ".", .from_ps = -1, .to_ps = -1, .min_duration_ps = 0};

int ids_extract_hlo(void) {
    return ids_export_format_count + 1;
}

static const char *format_choice(int i) {
    if (i == IDS_EXTRACT_RAW) return "raw";
    if (i <= ids_export_format_count) return ids_export_formats[i - 1]->name;
    return i == ids_extract_hlo() ? "hlo" : NULL;
}

#define AT(field) offsetof(struct ids_extract_options, field)
static const struct ids_opt opts[] = {
    {IDS_OPT_FLAG, 'l', "list", NULL, "print what can be extracted: files, devices, tracks, programs", AT(list), NULL},
    {IDS_OPT_FLAG, 'j', "json", NULL, "with --list: print JSON", AT(json), NULL},
    {IDS_OPT_TEXT, 'r', "run", "NAME", "choose a run of a log folder; else the newest", AT(run), NULL},
    {IDS_OPT_TEXT, 'o', "output", "DIR", "write into this folder (.); - for standard output", AT(folder), NULL},
    {IDS_OPT_CHOICE, 'f', "format", "FORMAT",
     "raw (the files as they are), chrome, perfetto, xplane, csv, folded"
     ", hlo",
     AT(format), format_choice},
    {IDS_OPT_FLAG, 0, "accounts", NULL, "chrome, perfetto: add a track to each device, with where its time went",
     AT(accounts), NULL},
    {IDS_OPT_TIME, 0, "from", "TIME", "leave out events that end before, since the first activity: 10us, 1.5ms, 2s",
     AT(from_ps), NULL},
    {IDS_OPT_TIME, 0, "to", "TIME", "leave out events that begin after", AT(to_ps), NULL},
    {IDS_OPT_TEXT, 0, "steps", "STEPS", "only the time of these steps: 7, or 3-5", AT(steps), NULL},
    {IDS_OPT_TEXTS, 'd', "device", "GLOB", "only devices of this name or number; may be given again", AT(devices),
     NULL},
    {IDS_OPT_TEXTS, 't', "track", "GLOB", "only tracks of this name; may be given again", AT(tracks), NULL},
    {IDS_OPT_TEXTS, 'n', "name", "GLOB", "only events of this name; may be given again", AT(names), NULL},
    {IDS_OPT_TIME, 0, "min-duration", "TIME", "leave out shorter slices", AT(min_duration_ps), NULL},
    IDS_REDACT_OPTIONS(struct ids_extract_options, redact),
    {IDS_OPT_FLAG, 0, "force", NULL, "overwrite existing files", AT(force), NULL},
    {IDS_OPT_FLAG, 'q', "quiet", NULL, "do not say what was written", AT(quiet), NULL},
    IDS_READING_OPTIONS,
};

/* ---- for all ways of extracting ---- */

const struct ids_export_format *ids_extract_export(const struct ids_extract_options *options) {
    return options->format > IDS_EXTRACT_RAW && options->format <= ids_export_format_count
               ? ids_export_formats[options->format - 1]
               : NULL;
}

int ids_extract_to_stdout(const struct ids_extraction *extraction) {
    return !strcmp(extraction->options->folder, "-");
}

int ids_extract_has_filter(const struct ids_extract_options *options) {
    return options->from_ps >= 0 || options->to_ps >= 0 || options->steps || options->devices.count ||
           options->tracks.count || options->names.count || options->min_duration_ps;
}

int ids_extract_stem(struct ids_extraction *extraction, size_t file, char *buffer, size_t room, struct ids_error *err) {
    if (extraction->redacts) return ids_redacted_stem(&extraction->redactor, extraction->run, file, buffer, room, err);
    ids_profile_stem(extraction->run->files[file].path, buffer, room);
    return 0;
}

int ids_extract_end_output(struct ids_extraction *extraction, struct ids_output *output, int code,
                           struct ids_error *err) {
    code = ids_output_close(output, code, err);
    extraction->reader_left |= output->reader_left;
    if (!code) {
        extraction->files++;
        extraction->bytes += output->bytes;
    }
    ids_output_done(output);
    return code;
}

int ids_extract_check_single(const struct ids_extraction *extraction, size_t count, struct ids_error *err) {
    if (!ids_extract_to_stdout(extraction) || count == 1) return 0;
    return ids_fail(err, IDS_USAGE, "'%s' gives %zu files, and standard output takes one; choose a folder with -o",
                    extraction->run->path, count);
}

/* ---- what is asked for ---- */

/* "chrome, perfetto or csv": all exports, or those for viewers. */
static const char *format_names(char *buffer, size_t room, int for_viewers) {
    int wanted = 0, written = 0;
    size_t used = 0;
    for (int i = 0; i < ids_export_format_count; i++) wanted += !for_viewers || ids_export_formats[i]->is_for_viewers;
    for (int i = 0; i < ids_export_format_count && used < room; i++) {
        if (for_viewers && !ids_export_formats[i]->is_for_viewers) continue;
        const char *before = !written ? "" : written + 1 < wanted ? ", " : " or ";
        used += (size_t)snprintf(buffer + used, room - used, "%s%s", before, ids_export_formats[i]->name);
        written++;
    }
    return buffer;
}

static int check_options(const struct ids_extract_options *options, struct ids_error *err) {
    char names[NAMES_BYTES];
    int64_t first, last;
    if (options->from_ps >= 0 && options->to_ps >= 0 && options->from_ps >= options->to_ps)
        return ids_fail(err, IDS_USAGE, "--from is not before --to");
    if (options->steps && ids_parse_steps(options->steps, &first, &last, err)) return err->code;
    if (options->json && !options->list) return ids_fail(err, IDS_USAGE, "--json is for --list");
    if (!*options->folder) return ids_fail(err, IDS_USAGE, "--output: an empty name");
    if (options->accounts && options->list)
        return ids_fail(err, IDS_USAGE, "--list writes nothing, so --accounts has no file to add a track to");
    const struct ids_export_format *export = ids_extract_export(options);
    if (options->accounts && (!export || !export->is_for_viewers))
        return ids_fail(err, IDS_USAGE, "--accounts adds a track for viewers; choose --format %s",
                        format_names(names, sizeof names, 1));
    if (ids_redact_wanted(&options->redact) && options->list)
        return ids_fail(err, IDS_USAGE, "--list writes nothing that others get; leave out --redact");
    if (ids_redact_wanted(&options->redact) && options->format == IDS_EXTRACT_RAW)
        return ids_fail(err, IDS_USAGE, "files are copied as they are; with --redact choose a --format: %s",
                        format_names(names, sizeof names, 0));
    if (!ids_extract_has_filter(options)) return 0;
    if (options->list) return ids_fail(err, IDS_USAGE, "--list shows all of a run; it cannot be filtered");
    if (options->format == IDS_EXTRACT_RAW)
        return ids_fail(err, IDS_USAGE, "files are copied whole; for a part choose a --format: %s",
                        format_names(names, sizeof names, 0));
    if (options->format == ids_extract_hlo() &&
        (options->from_ps >= 0 || options->to_ps >= 0 || options->steps || options->devices.count ||
         options->tracks.count || options->min_duration_ps))
        return ids_fail(err, IDS_USAGE, "programs can be chosen only by --name");
    return 0;
}

/* ---- what was done ---- */

/* "; CSV has no place for 2 flows, 1 program". */
static void list_losses(const struct ids_extraction *extraction, char *text, size_t room) {
    const struct ids_export_format *export = ids_extract_export(extraction->options);
    size_t used = 0;
    *text = '\0';
    for (size_t i = 0; i < IDS_EXPORT_LOSSES && used < room; i++) {
        const struct ids_export_loss *loss = &extraction->losses[i];
        if (!loss->count) continue;
        if (!used)
            used = (size_t)snprintf(text, room, "; %s has no place for ", export ? export->title : "a HloProto");
        else
            used += (size_t)snprintf(text + used, room - used, ", ");
        if (used >= room) break;
        used += (size_t)snprintf(text + used, room - used, "%llu %s", (unsigned long long)loss->count,
                                 loss->count == 1 ? loss->one : loss->many);
    }
    for (size_t i = 0; i < IDS_EXPORT_LOSSES && used < room; i++) {
        const struct ids_export_loss *loss = &extraction->losses[i];
        if (loss->count && loss->consequence)
            used += (size_t)snprintf(text + used, room - used, "; %s", loss->consequence);
    }
}

/* "; 2 memory profiles, which lie beside the profile, are not in it": a report of what is written lacks them. */
static void list_beside(const struct ids_extraction *extraction, char *text, size_t room) {
    const struct ids_run_files *run = extraction->run;
    const int has_history = ids_has_history(run);
    *text = '\0';
    if (!ids_extract_export(extraction->options) || !(run->beside_count + (size_t)has_history)) return;
    snprintf(text, room, "; not in it is what lies beside the profile: %s%s%s",
             run->beside_count ? IDS_COUNTED(run->beside_count, "memory profile") : "",
             run->beside_count && has_history ? ", " : "", has_history ? "the history of the capture's steps" : "");
}

static void say(const struct ids_extraction *extraction) {
    const struct ids_extract_options *options = extraction->options;
    if (options->quiet) return;
    char bytes[IDS_VALUE_ROOM], events[IDS_COUNTED_ROOM + 2] = "", losses[1024], beside[256];
    ids_value_format(ids_int_value(IDS_UNIT_BYTES, (int64_t)extraction->bytes), bytes, sizeof bytes);
    if (ids_extract_export(options)) snprintf(events, sizeof events, ", %s", IDS_COUNTED(extraction->events, "event"));
    list_losses(extraction, losses, sizeof losses);
    list_beside(extraction, beside, sizeof beside);
    ids_say("extract", "wrote %s into %s, %s%s%s%s%s%s", IDS_COUNTED(extraction->files, "file"),
            ids_extract_to_stdout(extraction) ? "standard output" : options->folder, bytes, events,
            extraction->incomplete ? "; the profile is incomplete, and this is what it holds" : "",
            extraction->lack_of_accounts ? extraction->lack_of_accounts : "", losses, beside);
}

/* The run is read once more before, to learn which names it has. */
static int begin_redaction(struct ids_extraction *extraction, struct ids_error *err) {
    if (!ids_redact_wanted(&extraction->options->redact)) return 0;
    int code = ids_redact_begin(&extraction->options->redact, &extraction->redactor, err);
    extraction->redacts = 1;
    return code ? code : ids_redactor_read(&extraction->engine, extraction->run, &extraction->redactor, err);
}

static int extract(struct ids_extraction *extraction, struct ids_error *err) {
    const struct ids_extract_options *options = extraction->options;
    if (options->list) return ids_extract_list(extraction->run, options->json, err);
    if (ids_extract_to_stdout(extraction) && !(ids_extract_export(options) && ids_extract_export(options)->is_text) &&
        isatty(STDOUT_FILENO) && !options->force)
        return ids_fail(err, IDS_USAGE,
                        "standard output is a terminal, and this format is not text; use --force to write it there");
    int code = ids_output_set_begin(options->folder, options->force, &extraction->outputs, err);
    if (code) return code;
    if (options->format == IDS_EXTRACT_RAW) {
        code = ids_extract_raw(extraction, err);
    } else if (options->format == ids_extract_hlo()) {
        code = ids_extract_programs(extraction, err);
    } else {
        code = ids_extract_convert(extraction, err);
    }
    const int is_empty = !code && ids_extract_export(options) && ids_extract_has_filter(options) && !extraction->events;
    code = ids_output_set_end(&extraction->outputs, is_empty ? IDS_NOT_FOUND : code, err);
    ids_progress_end();
    if (extraction->reader_left) return IDS_EXIT_DONE;
    if (is_empty) return ids_extract_nothing(extraction, err);
    if (code) return code;
    if (options->format == ids_extract_hlo() && !extraction->files) {
        ids_say("extract", "'%s' holds no HLO%s", extraction->run->path, options->names.count ? " of that name" : "");
        return IDS_EXIT_NO;
    }
    say(extraction);
    return IDS_EXIT_DONE;
}

static int extract_run(const void *values, char *const *operands, int operand_count, struct ids_error *err) {
    (void)operand_count;
    struct ids_extraction extraction = {.options = values, .engine = ids_command_engine("extract", 1)};
    struct ids_run_list list;
    int code = check_options(extraction.options, err);
    if (!code) code = ids_find_runs(&extraction.engine, operands[0], &list, err);
    if (code) return code;
    ids_note_unreadable(&extraction.engine, &list);
    code = ids_choose_run(&list, extraction.options->run, &extraction.run, err);
    if (!code) code = ids_need_profile(extraction.run, err);
    if (!code) code = begin_redaction(&extraction, err);
    if (!code) code = extract(&extraction, err);
    ids_redactor_done(&extraction.redactor);
    ids_run_list_done(&list);
    return code;
}

const struct ids_command ids_extract_command = {
    .operands = "RUN",
    .least = 1,
    .most = 1,
    IDS_OPTIONS(opts),
    .defaults = &defaults,
    .values_bytes = sizeof defaults,
    .run = extract_run,
};
