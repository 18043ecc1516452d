/* `extract --format hlo`: the programs of a run, a file each. */
#include "cmd/extraction.h"
#include "lib/io/source.h"
#include "lib/redact/redacting.h"
#include "lib/run/format_names.h"
#include "lib/run/read_run.h"

#include <stdio.h>
#include <string.h>

struct program_outputs {
    struct ids_program_files files; /* first */
    struct ids_extraction *extraction;
    char stem[IDS_STEM_BYTES]; /* of the profile that is read */
    /* Standard output takes one program: it waits until it is known that there is no other. */
    struct ids_buffer held;
    size_t held_count;
};

static int write_program(struct ids_extraction *extraction, const char *name, const void *bytes, size_t length,
                         struct ids_error *err) {
    struct ids_output output;
    int code = ids_output_set_open(&extraction->outputs, name, &output, err);
    return code ? code
                : ids_extract_end_output(extraction, &output, output.out.write(&output.out, bytes, length, err), err);
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

/* Hosts of one run compile the same programs: one file is enough for them. Others of that name get the profile's
 * before it. */
static int take_program(struct ids_program_files *files, const char *name, const void *bytes, size_t length,
                        struct ids_error *err) {
    struct program_outputs *outputs = (struct program_outputs *)files;
    struct ids_extraction *extraction = outputs->extraction;
    if (ids_extract_to_stdout(extraction)) return hold(outputs, bytes, length, err);
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

static int read_programs(struct ids_extraction *extraction, const struct ids_run_file *file, struct ids_sink *sink,
                         struct ids_error *err) {
    struct ids_redacting *redacting = NULL;
    const char *title;
    int code = extraction->redacts ? ids_redacting_new(sink, &extraction->redactor, &redacting, err) : 0;
    if (redacting) sink = ids_redacting_sink(redacting);
    if (!code) code = ids_read_run_file(file, sink, &title, err);
    if (!code && !sink->complete) extraction->incomplete = 1;
    ids_redacting_free(redacting);
    return code;
}

int ids_extract_programs(struct ids_extraction *extraction, struct ids_error *err) {
    const struct ids_extract_options *options = extraction->options;
    struct program_outputs outputs = {.files = {take_program}, .extraction = extraction};
    int code = 0;
    for (size_t i = 0; i < extraction->run->file_count && !code; i++) {
        const struct ids_run_file *file = &extraction->run->files[i];
        struct ids_export *export;
        code = ids_extract_stem(extraction, i, outputs.stem, sizeof outputs.stem, err);
        if (!code) code = ids_programs_new(&outputs.files, options->names.at, options->names.count, &export, err);
        if (code) break;
        code = read_programs(extraction, file, &export->sink, err);
        ids_export_free(export);
    }
    if (!code) code = write_held(&outputs, err);
    ids_buffer_done(&outputs.held);
    return code;
}
