/* `extract` of the files as they are. */
#include "cmd/extraction.h"
#include "lib/cli/progress.h"
#include "lib/io/source.h"
#include "lib/run/extract_files.h"
#include "lib/run/file_name.h"

#include <stdlib.h>
#include <string.h>

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

static int copy_file(struct ids_extraction *extraction, const struct ids_run_file *file, struct ids_error *err) {
    struct ids_output output;
    struct ids_source *source = NULL;
    int is_stdin = !strcmp(file->path, "-");
    ids_progress("copying %.80s", ids_file_name(file->path));
    int code = ids_run_file_open(file, &source, err);
    if (code) return code;
    code = ids_output_set_open(&extraction->outputs, is_stdin ? "profile" : ids_file_name(file->path), &output, err);
    if (!code) code = ids_extract_end_output(extraction, &output, copy_bytes(source, &output.out, err), err);
    if (ids_source_cut(source)) extraction->incomplete = 1;
    ids_source_close(source);
    return code;
}

int ids_extract_raw(struct ids_extraction *extraction, struct ids_error *err) {
    const struct ids_extract_options *options = extraction->options;
    struct ids_members members;
    int code = ids_members_of(extraction->run, &members, err);
    if (code) return code;
    code = ids_extract_check_single(extraction, members.count, err);
    /* Before the first is written: all or none, as far as one can know. */
    for (size_t i = 0; i < members.count && !code; i++)
        code = ids_output_check(options->folder, ids_file_name(members.at[i].path), options->force, err);
    for (size_t i = 0; i < members.count && !code; i++) code = copy_file(extraction, &members.at[i], err);
    ids_members_done(&members);
    return code;
}
