#include "cmd/page_file.h"

#include "lib/cli/output.h"
#include "lib/cli/progress.h"
#include "lib/report/layout.h"
#include "lib/wire/shell_quote.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void say_done(const struct ids_output *output) {
    char size[IDS_VALUE_ROOM];
    struct ids_arena arena = {0};
    ids_value_format(ids_int_value(IDS_UNIT_BYTES, (int64_t)output->bytes), size, sizeof size);
    printf("%s: a page of %s; open it in a browser\n", ids_text_clean(&arena, output->path), size);
    ids_arena_done(&arena);
}

/* Empty: it is too long to be shown. */
static char typed[4096];

void ids_page_typed(int argc, char *const *argv) {
    size_t used = (size_t)snprintf(typed, sizeof typed, "idsprof");
    for (int i = 0; i < argc; i++) {
        char word[sizeof typed];
        ids_shell_quote(argv[i], word, sizeof word);
        if (strlen(word) + used + 2 > sizeof typed || strlen(argv[i]) >= sizeof word / 4) {
            *typed = '\0';
            return;
        }
        used += (size_t)snprintf(typed + used, sizeof typed - used, " %s", word);
    }
}

/* --force is for pages: a slip of the hand must not write one over a profile. */
static int is_other_file(const char *path) {
    static const char begin[] = "<!doctype html>";
    char head[sizeof begin - 1];
    struct stat status;
    if (stat(path, &status) || !S_ISREG(status.st_mode) || !status.st_size) return 0;
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(head, 1, sizeof head, file) : 0;
    if (file) fclose(file);
    return file && (length != sizeof head || memcmp(head, begin, sizeof head) != 0);
}

int ids_page_file_check(const char *path, int force, struct ids_error *err) {
    char *folder = NULL;
    const char *name = NULL;
    int code = ids_output_split("--html", path, &folder, &name, err);
    if (!code) code = ids_output_check(folder, name, force, err);
    free(folder);
    if (!code && is_other_file(path))
        code =
            ids_fail(err, IDS_USAGE, "--html: '%s' exists and is no page; remove it first, or give another name", path);
    return code;
}

int ids_page_to_file(const struct ids_page *page, const char *path, int force, enum ids_page_saying saying,
                     struct ids_error *err) {
    char *folder = NULL;
    const char *name = NULL;
    struct ids_output output;
    int code = ids_output_split("--html", path, &folder, &name, err);
    if (!code) code = ids_page_file_check(path, force, err);
    if (!code) code = ids_output_open(folder, name, force, &output, err);
    if (code) {
        free(folder);
        return code;
    }
    FILE *stream = ids_output_stream(&output);
    struct ids_render render = *page->render;
    struct ids_page whole = *page;
    if (!render.command && *typed) render.command = typed;
    whole.render = &render;
    code = stream ? ids_page_write(&whole, stream, err) : 0;
    int end = ids_output_stream_end(stream, &output, err);
    code = ids_output_close(&output, code ? code : end, err);
    ids_progress_end();
    if (output.reader_left) code = 0; /* who reads a part of it has seen enough */
    if (!code && saying == IDS_PAGE_SAID && strcmp(folder, "-") != 0) say_done(&output);
    free(folder);
    ids_output_done(&output);
    return code;
}
