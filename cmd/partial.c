/* `idsprof partial`: what a report needs of each file of a run, so that the files can be read anywhere, and at once. */
#include "lib/model/partial.h"
#include "cmd/command.h"
#include "cmd/engine.h"
#include "lib/base/counted.h"
#include "lib/base/vec.h"
#include "lib/cli/output.h"
#include "lib/cli/progress.h"
#include "lib/cli/reading.h"
#include "lib/cli/say.h"
#include "lib/export/gzip.h"
#include "lib/run/file_name.h"
#include "lib/run/find_runs.h"
#include "lib/run/format_names.h"
#include "lib/run/partial_names.h"
#include "lib/run/partials.h"
#include "lib/run/read_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct partial_options {
    const char *output, *run;
    int force, strict;
};

#define AT(field) offsetof(struct partial_options, field)
static const struct ids_opt opts[] = {
    {IDS_OPT_TEXT, 'o', "output", "PATH", "the partial to write, or with many files a folder, 'DIR/'", AT(output),
     NULL},
    {IDS_OPT_TEXT, 'r', "run", "NAME", "of a log folder this run; else the newest", AT(run), NULL},
    {IDS_OPT_FLAG, 0, "force", NULL, "overwrite existing files", AT(force), NULL},
    {IDS_OPT_FLAG, 0, "strict", NULL, "exit with 2 when a profile is incomplete", AT(strict), NULL},
    IDS_READING_OPTIONS,
};

/* One file, and where its partial goes. */
struct piece {
    const struct ids_run_file *file;
    int is_beside, is_one_of_many;
    char *folder, *name;
};

struct making {
    const struct partial_options *options;
    const struct ids_engine *engine;
    int to_folder;
    struct ids_run_list *lists; /* of each operand */
    size_t list_count;
    struct piece *pieces;
    size_t piece_count, piece_room;
};

static int is_folder(const char *path) {
    struct stat status;
    size_t length = strlen(path);
    return (length && path[length - 1] == '/') || (!stat(path, &status) && S_ISDIR(status.st_mode));
}

static int pack(const struct ids_buffer *bytes, struct ids_out *out, struct ids_error *err) {
    struct ids_gzip *gzip = NULL;
    int code = ids_gzip_new(out, &gzip, err);
    if (code) return code;
    code = ids_gzip_out(gzip)->write(ids_gzip_out(gzip), bytes->at, bytes->length, err);
    if (!code) code = ids_gzip_finish(gzip, err);
    ids_gzip_free(gzip);
    return code;
}

/* ---- what goes where ---- */

static int add_piece(struct making *making, const struct ids_run_file *file, int is_beside, int is_one_of_many,
                     struct ids_error *err) {
    struct piece *piece = IDS_PUSH(making->pieces, making->piece_count, making->piece_room);
    if (!piece) return ids_no_memory(err);
    *piece = (struct piece){.file = file, .is_beside = is_beside, .is_one_of_many = is_one_of_many};
    return 0;
}

static int add_run(struct making *making, const char *path, struct ids_error *err) {
    struct ids_run_list *list = &making->lists[making->list_count];
    const struct ids_run_files *run = NULL;
    int code = ids_find_runs(making->engine, path, list, err);
    if (code) return code;
    making->list_count++;
    ids_note_unreadable(making->engine, list);
    code = ids_choose_run(list, making->options->run, &run, err);
    if (!code) code = ids_need_profile(run, err);
    if (!code && !making->to_folder && run->file_count + run->beside_count > 1) {
        ids_fail(err, IDS_USAGE, "'%s' has %zu files, and each becomes a partial", path,
                 run->file_count + run->beside_count);
        code = ids_hint(err, "give a folder: -o DIR/");
    }
    char unused[IDS_STEM_BYTES];
    for (size_t i = 0; !code && i < run->file_count; i++)
        code = add_piece(making, &run->files[i], ids_beside_stem(run->files[i].path, unused, sizeof unused),
                         run->file_count > 1, err);
    for (size_t i = 0; !code && i < run->beside_count; i++) code = add_piece(making, &run->beside[i], 1, 0, err);
    return code;
}

static int name_pieces(struct making *making, struct ids_error *err) {
    const char **paths = calloc(making->piece_count + 1, sizeof *paths);
    char **names = calloc(making->piece_count + 1, sizeof *names);
    int code = paths && names ? 0 : ids_no_memory(err);
    for (size_t i = 0; !code && i < making->piece_count; i++) paths[i] = making->pieces[i].file->path;
    if (!code) code = ids_partial_names(paths, making->piece_count, names, err);
    for (size_t i = 0; names && i < making->piece_count; i++) {
        making->pieces[i].name = names[i];
        making->pieces[i].folder = strdup(making->options->output);
        if (!code && !making->pieces[i].folder) code = ids_no_memory(err);
    }
    free(paths);
    free(names);
    return code;
}

static int name_one(struct making *making, struct ids_error *err) {
    const char *name;
    struct piece *piece = making->pieces;
    if (!piece) return ids_fail(err, IDS_NOT_FOUND, "no file to make a partial of");
    int code = ids_output_split("--output", making->options->output, &piece->folder, &name, err);
    if (code) return code;
    piece->name = strdup(name);
    return piece->name ? 0 : ids_no_memory(err);
}

/* A profile is never overwritten, be it one of these or another, whatever links lead to it. */
static int spare_profiles(const struct making *making, const char *path, struct ids_error *err) {
    struct stat status;
    if (stat(path, &status)) return 0;
    for (size_t i = 0; i < making->piece_count; i++) {
        const struct ids_run_file *file = making->pieces[i].file;
        if (file->inode == status.st_ino && file->device == status.st_dev)
            return ids_fail(err, IDS_USAGE, "'%s' is what is read; give the partial another name", path);
    }
    if (ids_holds_profile(path))
        return ids_fail(err, IDS_USAGE, "'%s' is a profile, and no partial takes its place; choose another name", path);
    return 0;
}

static int check_piece(const struct making *making, const struct piece *piece, struct ids_error *err) {
    char *path = NULL;
    if (!strcmp(piece->folder, "-")) return 0;
    if (asprintf(&path, "%s/%s", piece->folder, piece->name) < 0) return ids_no_memory(err);
    int code = spare_profiles(making, path, err);
    if (!code) code = ids_output_check(piece->folder, piece->name, making->options->force, err);
    free(path);
    return code;
}

/* Before anything is read or written. */
static int plan(struct making *making, char *const *operands, int count, struct ids_error *err) {
    making->lists = calloc((size_t)count, sizeof *making->lists);
    int code = making->lists ? 0 : ids_no_memory(err);
    for (int i = 0; i < count && !code; i++) code = add_run(making, operands[i], err);
    if (!code) code = making->to_folder ? name_pieces(making, err) : name_one(making, err);
    for (size_t i = 0; i < making->piece_count && !code; i++) code = check_piece(making, &making->pieces[i], err);
    return code;
}

/* ---- */

static int write_partial(const struct making *making, const struct piece *piece, const struct ids_buffer *bytes,
                         struct ids_error *err) {
    struct ids_output output;
    if (!making->to_folder) ids_output_sweep(piece->folder);
    int code = ids_output_open(piece->folder, piece->name, making->options->force, &output, err);
    if (code) return code;
    code = ids_output_close(&output, pack(bytes, &output.out, err), err);
    ids_output_done(&output);
    return code;
}

static int make_one(const struct making *making, const struct piece *piece, struct ids_error *err) {
    struct ids_buffer bytes = {0};
    char why[sizeof err->text];
    int code = ids_partial_of_file(making->engine, piece->file, piece->is_beside, piece->is_one_of_many, &bytes, why,
                                   sizeof why, err);
    if (!code && *why) {
        if (making->options->strict)
            code = ids_fail(err, IDS_TRUNCATED, "%s, and --strict was given", why);
        else
            ids_engine_note(making->engine, "%s; its partial says so", why);
    }
    if (!code) code = write_partial(making, piece, &bytes, err);
    ids_buffer_done(&bytes);
    return code;
}

static void making_done(struct making *making) {
    for (size_t i = 0; i < making->piece_count; i++) {
        free(making->pieces[i].folder);
        free(making->pieces[i].name);
    }
    for (size_t i = 0; i < making->list_count; i++) ids_run_list_done(&making->lists[i]);
    free(making->pieces);
    free(making->lists);
}

static int partial_run(const void *values, char *const *operands, int operand_count, struct ids_error *err) {
    const struct partial_options *options = values;
    const struct ids_engine engine = ids_command_engine("partial", 1);
    struct making making = {.options = options, .engine = &engine};
    if (!options->output) return ids_fail(err, IDS_USAGE, "say with -o PATH where to write the partial");
    making.to_folder = is_folder(options->output);
    if (!making.to_folder && operand_count > 1)
        return ids_fail(err, IDS_USAGE, "each file becomes a partial; give a folder for them: -o DIR/");
    int code = plan(&making, operands, operand_count, err);
    if (!code && making.to_folder && mkdir(options->output, 0777) && errno != EEXIST)
        code = ids_fail_system(err, "cannot make '%s'", options->output);
    for (size_t i = 0; i < making.piece_count && !code; i++) code = make_one(&making, &making.pieces[i], err);
    making_done(&making);
    ids_progress_end();
    return code;
}

const struct ids_command ids_partial_command = {
    .operands = "FILE...",
    .least = 1,
    .most = -1,
    IDS_OPTIONS(opts),
    .values_bytes = sizeof(struct partial_options),
    .run = partial_run,
};
