#include "cmd/page_file.h"

#include "lib/cli/output.h"
#include "lib/cli/progress.h"
#include "lib/report/layout.h"

#include <stdlib.h>
#include <string.h>

static void say_done(const struct ids_output *output) {
    char size[IDS_VALUE_ROOM];
    struct ids_arena arena = {0};
    ids_value_format(ids_int_value(IDS_UNIT_BYTES, (int64_t)output->bytes), size, sizeof size);
    printf("%s: a page of %s; open it in a browser\n", ids_text_clean(&arena, output->path), size);
    ids_arena_done(&arena);
}

int ids_page_file_check(const char *path, int force, struct ids_error *err) {
    char *folder = NULL;
    const char *name = NULL;
    int code = ids_output_split("--html", path, &folder, &name, err);
    if (!code) code = ids_output_check(folder, name, force, err);
    free(folder);
    return code;
}

int ids_page_to_file(const struct ids_page *page, const char *path, int force, enum ids_page_saying saying,
                     struct ids_error *err) {
    char *folder = NULL;
    const char *name = NULL;
    struct ids_output output;
    int code = ids_output_split("--html", path, &folder, &name, err);
    if (!code) code = ids_output_open(folder, name, force, &output, err);
    if (code) {
        free(folder);
        return code;
    }
    FILE *stream = ids_output_stream(&output);
    code = stream ? ids_page_write(page, stream, err) : 0;
    int end = ids_output_stream_end(stream, &output, err);
    code = ids_output_close(&output, code ? code : end, err);
    ids_progress_end();
    if (output.reader_left) code = 0; /* who reads a part of it has seen enough */
    if (!code && saying == IDS_PAGE_SAID && strcmp(folder, "-") != 0) say_done(&output);
    free(folder);
    ids_output_done(&output);
    return code;
}
