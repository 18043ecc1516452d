/* programs.c - the compiled programs of a run, each a HloProto in a file of its own. */
#include "lib/export/export.h"
#include "lib/export/filter.h"
#include "lib/wire/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEM_BYTES = 200 }; /* a name of a file has at most 255 */

struct programs {
    struct ids_export export; /* first */
    struct ids_program_files *files;
    struct ids_globs wanted;
};

/* "<module>(<program id>).hlo_proto.pb". What no file is called (a '/', what drives a terminal, broken UTF-8)
 * becomes '_'. */
static void file_name(struct ids_text name, uint64_t program_id, char *buffer, size_t room) {
    static const char suffix[] = ".hlo_proto.pb";
    char number[24], stem[STEM_BYTES + 8];
    int number_length = snprintf(number, sizeof number, "(%" PRIu64 ")", program_id);
    size_t length = 0;
    for (size_t at = 0; at < name.length && length < STEM_BYTES;) {
        uint32_t character;
        int valid;
        size_t taken = ids_utf8_next(name.at + at, name.length - at, &character, &valid);
        int bad = !valid || ids_character_harms(character) || character == '/' || (!length && character == '.');
        if (bad) {
            stem[length++] = '_';
        } else {
            memcpy(stem + length, name.at + at, taken);
            length += taken;
        }
        at += taken;
    }
    stem[length] = '\0';
    int has_number = length > (size_t)number_length && !strcmp(stem + length - number_length, number);
    snprintf(buffer, room, "%s%s%s", stem, has_number ? "" : number, suffix);
}

static int take_program(struct ids_sink *sink, const struct ids_program *program, struct ids_error *err) {
    struct programs *programs = (struct programs *)sink;
    struct ids_text name = ids_strings_text(sink->strings, program->name);
    if (programs->wanted.count && !ids_globs_match(&programs->wanted, ids_strings_z(sink->strings, program->name)))
        return 0;
    char path[256];
    file_name(name, program->program_id, path, sizeof path);
    programs->export.events++;
    return programs->files->take(programs->files, path, program->bytes, program->length, err);
}

static int skip_host(struct ids_sink *sink, const struct ids_host_info *host, struct ids_error *err) {
    (void)sink, (void)host, (void)err;
    return 0;
}

static int skip_plane(struct ids_sink *sink, const struct ids_plane_info *plane, uint32_t *ret_plane,
                      struct ids_error *err) {
    (void)sink, (void)plane, (void)err;
    *ret_plane = 0;
    return 0;
}

static int skip_name(struct ids_sink *sink, const struct ids_name_info *name, uint32_t *ret_name,
                     struct ids_error *err) {
    (void)sink, (void)name, (void)err;
    *ret_name = 0;
    return 0;
}

static int skip_track(struct ids_sink *sink, const struct ids_track_info *track, uint32_t *ret_track,
                      struct ids_error *err) {
    (void)sink, (void)track, (void)err;
    *ret_track = 0;
    return 0;
}

static int skip_slice(struct ids_sink *sink, uint32_t track, const struct ids_slice *slice, struct ids_error *err) {
    (void)sink, (void)track, (void)slice, (void)err;
    return 0;
}

static int nothing_left(struct ids_export *export, struct ids_error *err) {
    (void)export, (void)err;
    return 0;
}

int ids_programs_new(struct ids_program_files *files, const char *const *wanted, size_t wanted_count,
                     struct ids_export **ret_export, struct ids_error *err) {
    static const struct ids_sink_ops ops = {.host = skip_host,
                                            .plane = skip_plane,
                                            .name = skip_name,
                                            .track = skip_track,
                                            .slice = skip_slice,
                                            .track_end = ids_export_no_track_end,
                                            .program = take_program,
                                            .diag = ids_export_no_diag};
    struct programs *programs = calloc(1, sizeof *programs);
    if (!programs) return ids_no_memory(err);
    programs->export.finish = nothing_left;
    programs->files = files;
    programs->wanted = (struct ids_globs){wanted, wanted_count};
    int code = ids_export_init(&programs->export, NULL, &ops, err);
    if (code) {
        ids_export_free(&programs->export);
        return code;
    }
    *ret_export = &programs->export;
    return 0;
}
