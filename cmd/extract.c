#include "cmd/command.h"
#include "cmd/engine.h"
#include "cmd/extract_files.h"
#include "cmd/extract_list.h"
#include "cmd/output.h"
#include "cmd/progress.h"
#include "cmd/reading.h"
#include "cmd/say.h"
#include "lib/base/counted.h"
#include "lib/export/export.h"
#include "lib/export/filter.h"
#include "lib/export/gzip.h"
#include "lib/export/ordered.h"
#include "lib/io/source.h"
#include "lib/report/report.h"
#include "lib/run/extract_accounts.h"
#include "lib/run/extract_window.h"
#include "lib/run/file_name.h"
#include "lib/run/find_runs.h"
#include "lib/run/open_run.h"
#include "lib/run/read_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum format { RAW, CHROME, PERFETTO, XPLANE, CSV, HLO };

struct extract_options {
    const char *folder, *run, *steps;
    int list, json, force, format, accounts;
    int64_t from_ps, to_ps, min_duration_ps;
    struct ids_opt_texts devices, tracks, names;
};

static const struct extract_options defaults = {.folder = ".", .from_ps = -1, .to_ps = -1, .min_duration_ps = 0};

/* In the order of enum format. */
static const char *format_choice(int i) {
    static const char *const names[] = {"raw", "chrome", "perfetto", "xplane", "csv", "hlo", NULL};
    return names[i];
}

#define AT(field) offsetof(struct extract_options, field)
static const struct ids_opt opts[] = {
    {IDS_OPT_FLAG, 'l', "list", NULL, "print what can be taken out: files, devices, tracks, programs", AT(list), NULL},
    {IDS_OPT_FLAG, 'j', "json", NULL, "with --list: print JSON", AT(json), NULL},
    {IDS_OPT_TEXT, 'r', "run", "NAME", "choose a run of a log folder; else the newest", AT(run), NULL},
    {IDS_OPT_TEXT, 'o', "output", "DIR", "write into this folder (.); - for standard output", AT(folder), NULL},
    {IDS_OPT_CHOICE, 'f', "format", "FORMAT", "raw (the files as they are), chrome, perfetto, xplane, csv, hlo",
     AT(format), format_choice},
    {IDS_OPT_FLAG, 0, "accounts", NULL, "chrome, perfetto: beside each device a track of what its time went to",
     AT(accounts), NULL},
    {IDS_OPT_TIME, 0, "from", "TIME", "leave out what ends before, since the first activity: 10us, 1.5ms, 2s",
     AT(from_ps), NULL},
    {IDS_OPT_TIME, 0, "to", "TIME", "leave out what begins after", AT(to_ps), NULL},
    {IDS_OPT_TEXT, 0, "steps", "STEPS", "only the time of these steps: 7, or 3-5", AT(steps), NULL},
    {IDS_OPT_TEXTS, 'd', "device", "GLOB", "only devices of this name or number; may be given again", AT(devices),
     NULL},
    {IDS_OPT_TEXTS, 't', "track", "GLOB", "only tracks of this name; may be given again", AT(tracks), NULL},
    {IDS_OPT_TEXTS, 'n', "name", "GLOB", "only events of this name; may be given again", AT(names), NULL},
    {IDS_OPT_TIME, 0, "min-duration", "TIME", "leave out shorter slices", AT(min_duration_ps), NULL},
    {IDS_OPT_FLAG, 0, "force", NULL, "write over files that are there already", AT(force), NULL},
    IDS_READING_OPTIONS,
};

struct extraction {
    struct ids_engine engine;
    const struct extract_options *options;
    const struct ids_run_files *run;
    struct ids_extract_window window;
    struct ids_extract_accounts accounts;
    struct ids_output_set outputs;
    uint64_t files, bytes, events;
    int incomplete;
    const char *lack_of_accounts; /* what say() adds about them */
    int reader_left; /* standard output has nobody at its end any more */
    struct ids_export_loss losses[IDS_EXPORT_LOSSES];
};

static int to_stdout(const struct extraction *extraction) {
    return !strcmp(extraction->options->folder, "-");
}

/* ---- what is asked for ---- */

static int has_filter(const struct extract_options *options) {
    return options->from_ps >= 0 || options->to_ps >= 0 || options->steps || options->devices.count ||
           options->tracks.count || options->names.count || options->min_duration_ps;
}

static int check_options(const struct extract_options *options, struct ids_error *err) {
    int64_t first, last;
    if (options->from_ps >= 0 && options->to_ps >= 0 && options->from_ps >= options->to_ps)
        return ids_fail(err, IDS_USAGE, "--from is not before --to");
    if (options->steps && ids_parse_steps(options->steps, &first, &last, err)) return err->code;
    if (options->json && !options->list) return ids_fail(err, IDS_USAGE, "--json is for --list");
    if (!*options->folder) return ids_fail(err, IDS_USAGE, "--output: an empty name");
    if (options->accounts && options->list)
        return ids_fail(err, IDS_USAGE, "--list shows what a run holds; --accounts adds a track to what is written");
    if (options->accounts && options->format != CHROME && options->format != PERFETTO)
        return ids_fail(err, IDS_USAGE, "--accounts adds a track for viewers; choose --format chrome or perfetto");
    if (!has_filter(options)) return 0;
    if (options->list) return ids_fail(err, IDS_USAGE, "--list shows all of a run; it cannot be filtered");
    if (options->format == RAW) {
        return ids_fail(err, IDS_USAGE,
                        "files are copied whole; to take out a part choose a --format: chrome, "
                        "perfetto, xplane or csv");
    }
    if (options->format == HLO && (options->from_ps >= 0 || options->to_ps >= 0 || options->steps ||
                                   options->devices.count || options->tracks.count || options->min_duration_ps))
        return ids_fail(err, IDS_USAGE, "programs can be chosen by --name alone");
    return 0;
}

static int fill_filter(const struct extraction *extraction, size_t file, struct ids_filter_params *ret_params) {
    const struct extract_options *options = extraction->options;
    ids_filter_params_default(ret_params);
    ids_extract_window_in(&extraction->window, file, &ret_params->from_ps, &ret_params->to_ps);
    ret_params->min_duration_ps = options->min_duration_ps;
    ret_params->devices = (struct ids_globs){options->devices.at, options->devices.count};
    ret_params->tracks = (struct ids_globs){options->tracks.at, options->tracks.count};
    ret_params->names = (struct ids_globs){options->names.at, options->names.count};
    return !ids_filter_params_are_default(ret_params);
}

/* ---- raw ---- */

static int copy_bytes(const struct ids_source *source, struct ids_out *out, struct ids_error *err) {
    enum { COPY_BYTES = 256 << 10 };
    char *bytes = malloc(COPY_BYTES);
    if (!bytes) return ids_no_memory(err);
    int code = 0;
    uint64_t at = 0;
    for (size_t length = 1; !code && length; at += length) {
        code = ids_source_copy(source, at, bytes, COPY_BYTES, &length, err);
        if (!code && length) code = out->write(out, bytes, length, err);
    }
    free(bytes);
    return code;
}

/* Notes a finished output. */
static int end_output(struct extraction *extraction, struct ids_output *output, int code, struct ids_error *err) {
    code = ids_output_close(output, code, err);
    extraction->reader_left |= output->reader_left;
    if (!code) {
        extraction->files++;
        extraction->bytes += output->bytes;
    }
    ids_output_done(output);
    return code;
}

static int copy_file(struct extraction *extraction, const struct ids_run_file *file, struct ids_error *err) {
    struct ids_output output;
    struct ids_source *source = NULL;
    int is_stdin = !strcmp(file->path, "-");
    ids_progress("copying %.80s", ids_file_name(file->path));
    int code = ids_run_file_open(file, &source, err);
    if (code) return code;
    code = ids_output_set_open(&extraction->outputs, is_stdin ? "profile" : ids_file_name(file->path), &output, err);
    if (!code) code = end_output(extraction, &output, copy_bytes(source, &output.out, err), err);
    if (ids_source_cut(source)) extraction->incomplete = 1;
    ids_source_close(source);
    return code;
}

static int check_single(const struct extraction *extraction, size_t count, struct ids_error *err) {
    if (!to_stdout(extraction) || count == 1) return 0;
    return ids_fail(err, IDS_USAGE, "'%s' gives %zu files, and standard output takes one; choose a folder with -o",
                    extraction->run->path, count);
}

static int copy_files(struct extraction *extraction, struct ids_error *err) {
    const struct extract_options *options = extraction->options;
    struct ids_members members;
    int code = ids_members_of(extraction->run, &members, err);
    if (code) return code;
    code = check_single(extraction, members.count, err);
    /* Before the first is written: all or none, as far as one can know. */
    for (size_t i = 0; i < members.count && !code; i++)
        code = ids_output_check(options->folder, ids_file_name(members.at[i].path), options->force, err);
    for (size_t i = 0; i < members.count && !code; i++) code = copy_file(extraction, &members.at[i], err);
    ids_members_done(&members);
    return code;
}

/* ---- conversions ---- */

static void name_output(const struct extraction *extraction, size_t file, char *buffer, size_t room) {
    static const char *const suffixes[] = {
        [CHROME] = ".trace.json.gz", [PERFETTO] = ".pftrace", [XPLANE] = ".xplane.pb", [CSV] = ".events.csv"};
    char stem[IDS_STEM_BYTES];
    ids_profile_stem(extraction->run->files[file].path, stem, sizeof stem);
    snprintf(buffer, room, "%s%s", stem, suffixes[extraction->options->format]);
}

static int make_export(const struct extraction *extraction, size_t file, struct ids_out *out, char *stem,
                       struct ids_export **ret_export, struct ids_error *err) {
    switch (extraction->options->format) {
    case CHROME:
        return ids_chrome_new(out, ret_export, err);
    case PERFETTO:
        return ids_perfetto_new(out, ret_export, err);
    case XPLANE:
        return ids_xspace_new(out, has_filter(extraction->options), ret_export, err);
    default:
        ids_profile_stem(extraction->run->files[file].path, stem, IDS_STEM_BYTES);
        return ids_csv_new(out, stem, ret_export, err);
    }
}

/* Reads a file through the filter, and the order where the format wants one, into the export. */
static int feed(struct extraction *extraction, size_t file, struct ids_export *export, struct ids_error *err) {
    const struct ids_run_file *source = &extraction->run->files[file];
    int format = extraction->options->format;
    struct ids_filter_params params;
    struct ids_ordered *ordered = NULL;
    struct ids_filter *filter = NULL;
    struct ids_accounts *accounts = NULL;
    struct ids_sink *sink = &export->sink;
    const char *title;
    int code = format == CHROME || format == PERFETTO ? ids_ordered_new(sink, &ordered, err) : 0;
    if (!code && ordered) sink = ids_ordered_sink(ordered);
    if (!code && fill_filter(extraction, file, &params)) {
        code = ids_filter_new(sink, &params, &filter, err);
        if (!code) sink = ids_filter_sink(filter);
    }
    if (!code && extraction->options->accounts) {
        struct ids_accounts_params what;
        ids_extract_accounts_in(&extraction->accounts, file, &what);
        code = ids_accounts_new(sink, &what, &accounts, err);
        if (!code) sink = ids_accounts_sink(accounts);
    }
    if (!code) code = ids_read_run_file(source, sink, &title, err);
    if (!code && accounts) code = ids_accounts_finish(accounts, err);
    if (!code && ordered) code = ids_ordered_finish(ordered, err);
    if (!code) code = export->finish(export, err);
    if (!code && !sink->complete) extraction->incomplete = 1;
    ids_accounts_free(accounts);
    ids_filter_free(filter);
    ids_ordered_free(ordered);
    return code;
}

static void add_up(struct extraction *extraction, const struct ids_export *export) {
    extraction->events += export->events;
    for (size_t i = 0; i < IDS_EXPORT_LOSSES; i++) {
        uint64_t before = extraction->losses[i].count;
        extraction->losses[i] = export->losses[i];
        extraction->losses[i].count += before;
    }
}

static int convert_into(struct extraction *extraction, size_t file, struct ids_out *out, struct ids_error *err) {
    char stem[IDS_STEM_BYTES];
    struct ids_export *export = NULL;
    struct ids_gzip *gzip = NULL;
    int code = extraction->options->format == CHROME ? ids_gzip_new(out, &gzip, err) : 0;
    if (!code) code = make_export(extraction, file, gzip ? ids_gzip_out(gzip) : out, stem, &export, err);
    if (!code) code = feed(extraction, file, export, err);
    if (!code && gzip) code = ids_gzip_finish(gzip, err);
    if (!code) add_up(extraction, export);
    ids_export_free(export);
    ids_gzip_free(gzip);
    return code;
}

static int convert_file(struct extraction *extraction, size_t file, struct ids_error *err) {
    char name[1024];
    struct ids_output output;
    name_output(extraction, file, name, sizeof name);
    ids_progress("writing %.80s", name);
    int code = ids_output_set_open(&extraction->outputs, name, &output, err);
    return code ? code : end_output(extraction, &output, convert_into(extraction, file, &output.out, err), err);
}

static int take_accounts(struct extraction *extraction, const struct ids_trace *trace, struct ids_error *err) {
    struct ids_extract_accounts *accounts = &extraction->accounts;
    int code = ids_extract_accounts_of(&extraction->engine, trace, accounts, err);
    if (code) return ids_error_at(err, "'%s'", extraction->run->path);
    if (!accounts->device_count)
        extraction->lack_of_accounts = "; no device did anything, so there are no accounts";
    else if (accounts->is_part)
        extraction->lack_of_accounts = "; accounts are of the first part of the run, for which there is memory";
    return 0;
}

/* What the whole run must be read for first: the window, and the accounts. */
static int look_at_run(struct extraction *extraction, struct ids_error *err) {
    const struct extract_options *options = extraction->options;
    const struct ids_run_files *run = extraction->run;
    int bounded = options->from_ps >= 0 || options->to_ps >= 0 || options->steps;
    struct ids_trace *trace;
    const char *format;
    extraction->window = IDS_EXTRACT_WHOLE;
    if (!bounded && !options->accounts) return 0;
    if (!strcmp(run->path, "-")) {
        return ids_fail(err, IDS_USAGE, "%s the run twice, which standard input does not allow",
                        bounded ? "--from, --to and --steps read" : "--accounts reads");
    }
    int code = ids_open_trace(&extraction->engine, run, INT64_MAX, &trace, &format, err);
    if (code) return code;
    if (bounded)
        code = ids_extract_window_of(trace, options->from_ps, options->to_ps, options->steps, &extraction->window, err);
    if (!code && options->accounts) code = take_accounts(extraction, trace, err);
    ids_trace_free(trace);
    return code;
}

static int convert_files(struct extraction *extraction, struct ids_error *err) {
    const struct extract_options *options = extraction->options;
    const struct ids_run_files *run = extraction->run;
    int code = check_single(extraction, run->file_count, err);
    for (size_t i = 0; i < run->file_count && !code; i++) {
        char name[1024];
        name_output(extraction, i, name, sizeof name);
        code = ids_output_check(options->folder, name, options->force, err);
    }
    if (!code) code = look_at_run(extraction, err);
    for (size_t i = 0; i < run->file_count && !code; i++) code = convert_file(extraction, i, err);
    ids_extract_window_done(&extraction->window);
    ids_extract_accounts_done(&extraction->accounts);
    return code;
}

/* ---- programs ---- */

struct program_outputs {
    struct ids_program_files files; /* first */
    struct extraction *extraction;
    char stem[IDS_STEM_BYTES]; /* of the profile that is read */
    /* Standard output takes one program: it waits until it is known that there is no other. */
    struct ids_buffer held;
    size_t held_count;
};

static int write_program(struct extraction *extraction, const char *name, const void *bytes, size_t length,
                         struct ids_error *err) {
    struct ids_output output;
    int code = ids_output_set_open(&extraction->outputs, name, &output, err);
    return code ? code : end_output(extraction, &output, output.out.write(&output.out, bytes, length, err), err);
}

static int hold(struct program_outputs *outputs, const void *bytes, size_t length, struct ids_error *err) {
    if (outputs->held_count && outputs->held.length == length && !memcmp(outputs->held.at, bytes, length)) return 0;
    if (++outputs->held_count == 1) ids_buffer_put(&outputs->held, bytes, length);
    return outputs->held.failed ? ids_no_memory(err) : 0;
}

/* Whether the file at `path` holds exactly these bytes. */
static int holds(const char *path, const uint8_t *bytes, size_t length) {
    struct ids_source *source = NULL;
    struct ids_error ignored = IDS_ERROR_INIT;
    if (ids_source_open(path, &source, &ignored)) return 0;
    int same = ids_source_size(source) == length;
    for (size_t at = 0; at < length && same;) {
        const uint8_t *part;
        size_t room;
        same = !ids_source_window(source, at, 1, &part, &room, &ignored) && room;
        if (room > length - at) room = length - at;
        same = same && !memcmp(part, bytes + at, room);
        at += room;
    }
    ids_source_close(source);
    return same;
}

/* Hosts of one run compile the same programs: one file is enough for them. Others of that name get the profile's before it. */
static int take_program(struct ids_program_files *files, const char *name, const void *bytes, size_t length,
                        struct ids_error *err) {
    struct program_outputs *outputs = (struct program_outputs *)files;
    struct extraction *extraction = outputs->extraction;
    if (to_stdout(extraction)) return hold(outputs, bytes, length, err);
    enum { FILE_NAME_MOST = 255 };
    char other[FILE_NAME_MOST + 1];
    const char *wanted = name, *there;
    for (int i = 1; (there = ids_output_set_find(&extraction->outputs, wanted)); i++, wanted = other) {
        char number[16];
        if (holds(there, bytes, length)) return 0;
        int digits = i > 1 ? snprintf(number, sizeof number, "~%d", i) : 0;
        number[digits] = '\0';
        int taken = digits + 1 + (int)strlen(name);
        snprintf(other, sizeof other, "%.*s%s.%s", taken < FILE_NAME_MOST ? FILE_NAME_MOST - taken : 0, outputs->stem,
                 number, name);
    }
    return write_program(extraction, wanted, bytes, length, err);
}

static int write_held(struct program_outputs *outputs, struct ids_error *err) {
    if (!outputs->held_count) return 0;
    if (outputs->held_count > 1) {
        return ids_fail(err, IDS_USAGE, "there are %zu programs, and standard output takes one; choose with --name",
                        outputs->held_count);
    }
    return write_program(outputs->extraction, "", outputs->held.at, outputs->held.length, err);
}

static int write_programs(struct extraction *extraction, struct ids_error *err) {
    const struct extract_options *options = extraction->options;
    struct program_outputs outputs = {.files = {take_program}, .extraction = extraction};
    int code = 0;
    for (size_t i = 0; i < extraction->run->file_count && !code; i++) {
        const struct ids_run_file *file = &extraction->run->files[i];
        struct ids_export *export;
        const char *title;
        ids_profile_stem(file->path, outputs.stem, sizeof outputs.stem);
        code = ids_programs_new(&outputs.files, options->names.at, options->names.count, &export, err);
        if (code) break;
        code = ids_read_run_file(file, &export->sink, &title, err);
        if (!code && !export->sink.complete) extraction->incomplete = 1;
        ids_export_free(export);
    }
    if (!code) code = write_held(&outputs, err);
    ids_buffer_done(&outputs.held);
    return code;
}

/* ---- what was done ---- */

/* "; CSV has no place for 2 flows, 1 program". */
static void list_losses(const struct extraction *extraction, char *text, size_t room) {
    static const char *const titles[] = {"a copy", "Chrome's JSON", "Perfetto's format", "XSpace", "CSV", "a HloProto"};
    int format = extraction->options->format;
    size_t used = 0;
    *text = '\0';
    for (size_t i = 0; i < IDS_EXPORT_LOSSES && used < room; i++) {
        const struct ids_export_loss *loss = &extraction->losses[i];
        if (!loss->count) continue;
        if (!used)
            used = (size_t)snprintf(text, room, "; %s has no place for ", titles[format > HLO ? RAW : format]);
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

static void say(const struct extraction *extraction) {
    const struct extract_options *options = extraction->options;
    char bytes[IDS_VALUE_ROOM], events[IDS_COUNTED_ROOM + 2] = "", losses[1024];
    ids_value_format(ids_int_value(IDS_UNIT_BYTES, (int64_t)extraction->bytes), bytes, sizeof bytes);
    if (options->format != RAW && options->format != HLO) snprintf(events, sizeof events, ", %s", IDS_COUNTED(extraction->events, "event"));
    list_losses(extraction, losses, sizeof losses);
    ids_say("extract", "wrote %s into %s, %s%s%s%s%s", IDS_COUNTED(extraction->files, "file"),
            to_stdout(extraction) ? "standard output" : options->folder, bytes,
            events, extraction->incomplete ? "; the profile is incomplete, and this is what it holds" : "",
            extraction->lack_of_accounts ? extraction->lack_of_accounts : "", losses);
}

static int extract(struct extraction *extraction, struct ids_error *err) {
    const struct extract_options *options = extraction->options;
    if (options->list) return ids_extract_list(extraction->run, options->json, err);
    if (to_stdout(extraction) && options->format != CSV && isatty(STDOUT_FILENO) && !options->force)
        return ids_fail(err, IDS_USAGE, "standard output is a terminal, and this is no text; --force writes it there");
    int code = ids_output_set_begin(options->folder, options->force, &extraction->outputs, err);
    if (code) return code;
    if (options->format == RAW) {
        code = copy_files(extraction, err);
    } else if (options->format == HLO) {
        code = write_programs(extraction, err);
    } else {
        code = convert_files(extraction, err);
    }
    code = ids_output_set_end(&extraction->outputs, code, err);
    ids_progress_end();
    if (extraction->reader_left) return IDS_EXIT_DONE;
    if (code) return code;
    if (options->format == HLO && !extraction->files) {
        ids_say("extract", "'%s' holds no HLO%s", extraction->run->path, options->names.count ? " of that name" : "");
        return IDS_EXIT_NO;
    }
    say(extraction);
    return IDS_EXIT_DONE;
}

static int run(const void *values, char *const *operands, int operand_count, struct ids_error *err) {
    (void)operand_count;
    struct extraction extraction = {.options = values, .engine = ids_command_engine("extract", 1)};
    struct ids_run_list list;
    int code = check_options(extraction.options, err);
    if (!code) code = ids_find_runs(&extraction.engine, operands[0], &list, err);
    if (code) return code;
    ids_note_unreadable(&extraction.engine, &list);
    code = ids_choose_run(&list, extraction.options->run, &extraction.run, err);
    if (!code) code = extract(&extraction, err);
    ids_run_list_done(&list);
    return code;
}

const struct ids_command ids_command_extract = {
    .operands = "RUN",
    .least = 1,
    .most = 1,
    IDS_OPTIONS(opts),
    .defaults = &defaults,
    .values_bytes = sizeof defaults,
    .run = run,
};
