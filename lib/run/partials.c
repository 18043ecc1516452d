#include "lib/run/partials.h"

#include "lib/io/memory_limit.h"
#include "lib/model/builder.h"
#include "lib/model/format.h"
#include "lib/model/partial.h"
#include "lib/report/report.h"
#include "lib/run/file_name.h"
#include "lib/run/find_runs.h"
#include "lib/run/format_names.h"
#include "lib/run/open_run.h"
#include "lib/run/partial_order.h"
#include "lib/run/read_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- of a file ---- */

static int read_file(struct ids_builder *builder, const struct ids_run_file *file, struct ids_partial_of *of,
                     struct ids_error *err) {
    struct ids_sink *sink = ids_builder_sink(builder);
    const char *title = "";
    const struct ids_run_files run = {.files = (struct ids_run_file *)file, .file_count = 1};
    ids_builder_bound(builder, ids_trace_bytes_most(&run), INT64_MAX);
    if (of->is_beside) sink->file_name = ids_intern_z(sink->strings, of->stem);
    if (sink->file_name == IDS_NO_TEXT) return ids_no_memory(err);
    int code = ids_read_run_file(file, sink, &title, err);
    if (code) return code;
    if (sink->read_as) return ids_fail(err, IDS_USAGE, "'%s': it is a partial already", file->path);
    of->format = ids_format_name_of(title);
    return 0;
}

/* As ids_read_run has it: what was read of it before stands. */
static int say_unreadable(struct ids_builder *builder, struct ids_error *err) {
    struct ids_sink *sink = ids_builder_sink(builder);
    const struct ids_error of_file = *err;
    const struct ids_diag diag = {IDS_DAMAGE, "run.unreadable", of_file.text, -1, 1};
    *err = (struct ids_error)IDS_ERROR_INIT;
    sink->complete = 0;
    return sink->ops->diag(sink, &diag, err);
}

int ids_partial_of_file(const struct ids_engine *engine, const struct ids_run_file *file, int is_beside,
                        int is_one_of_many, struct ids_buffer *to, char *ret_why, size_t room, struct ids_error *err) {
    struct ids_builder *builder = NULL;
    char stem[IDS_STEM_BYTES];
    if (!is_beside || !ids_beside_stem(file->path, stem, sizeof stem)) ids_profile_stem(file->path, stem, sizeof stem);
    struct ids_partial_of of = {
        .path = file->path, .stem = stem, .format = "", .bytes = file->size, .is_beside = is_beside};
    ids_engine_progress(engine, "reading %.80s", ids_file_name(file->path));
    *ret_why = '\0';
    int code = ids_builder_new(&builder, err);
    if (!code) code = read_file(builder, file, &of, err);
    if (is_one_of_many && ids_is_of_one_file(code)) {
        snprintf(ret_why, room, "%s", err->text);
        code = say_unreadable(builder, err);
    }
    if (!code && (code = ids_partial_write(builder, &of, to, err))) ids_error_at(err, "'%s'", file->path);
    if (!code && !*ret_why && !ids_builder_sink(builder)->complete)
        snprintf(ret_why, room, "'%s': the profile is incomplete", file->path);
    ids_builder_free(builder);
    ids_engine_progress_end(engine);
    return code;
}

/* ---- as a run ---- */

static int is_pipe(const struct ids_run_list *found) {
    const struct ids_run_file *file = found->run_count == 1 && found->runs->file_count == 1 ? found->runs->files : NULL;
    return file && !found->runs->number && !file->archive && !file->device && !file->inode;
}

static int add_partial(const struct ids_engine *engine, const char *path, struct ids_run_list *list,
                       struct ids_error *err) {
    struct ids_run_list found;
    struct ids_partial_head head;
    struct ids_run_files *run = &list->runs[0];
    int code = ids_find_runs(engine, path, &found, err);
    if (code) return code;
    if (is_pipe(&found)) {
        ids_fail(err, IDS_USAGE, "'%s': a pipe, which can be read once only; of several partials each must be a file",
                 path);
        ids_run_list_done(&found);
        return err->code;
    }
    if (found.run_count == 1 && !found.runs->number && found.runs->file_count == 1 &&
        ids_partial_head_of(found.runs->files, &head)) {
        run->files[run->file_count++] = found.runs->files[0];
        found.runs->file_count = 0;
    } else {
        ids_fail(err, IDS_USAGE, "'%s': not a partial; several operands are the partials of one run", path);
        code = ids_hint(err, "'idsprof partial FILE -o PARTIAL' makes one of a profile");
    }
    ids_run_list_done(&found);
    return code;
}

int ids_find_partials(const struct ids_engine *engine, char *const *paths, size_t count, struct ids_run_list *ret_list,
                      struct ids_error *err) {
    struct ids_run_list list = {.runs = calloc(1, sizeof *list.runs)};
    char name[64];
    snprintf(name, sizeof name, "%zu partials", count);
    if (!list.runs) return ids_no_memory(err);
    list.run_count = 1;
    struct ids_run_files *run = list.runs;
    *run = (struct ids_run_files){
        .path = strdup(paths[0]), .name = strdup(name), .files = calloc(count, sizeof *run->files)};
    int code = run->path && run->name && run->files ? 0 : ids_no_memory(err);
    for (size_t i = 0; i < count && !code; i++) code = add_partial(engine, paths[i], &list, err);
    if (!code) code = ids_partials_put_in_order(engine, run, err);
    if (code)
        ids_run_list_done(&list);
    else
        *ret_list = list;
    return code;
}
