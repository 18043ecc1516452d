#include "cmd/command.h"
#include "cmd/engine.h"
#include "lib/analysis/analyzer.h"
#include "lib/base/counted.h"
#include "lib/base/vec.h"
#include "lib/cli/output.h"
#include "lib/cli/progress.h"
#include "lib/cli/reading.h"
#include "lib/events/run_db.h"
#include "lib/report/layout.h"
#include "lib/run/find_runs.h"
#include "lib/run/import_run.h"
#include "lib/wire/shell_quote.h"

#include <stdlib.h>
#include <string.h>

enum { COMMAND_BYTES = 4200 };

struct import_options {
    const char *output, *run;
    int force, quiet;
};

#define AT(field) offsetof(struct import_options, field)
static const struct ids_opt opts[] = {
    {IDS_OPT_TEXT, 'o', "output", "FILE", "the database to write", AT(output), NULL},
    {IDS_OPT_TEXT, 'r', "run", "NAME", "only this run of a log folder; else all of them", AT(run), NULL},
    {IDS_OPT_FLAG, 0, "force", NULL, "overwrite an existing file", AT(force), NULL},
    {IDS_OPT_FLAG, 'q', "quiet", NULL, "print nothing when it is done", AT(quiet), NULL},
    IDS_READING_OPTIONS,
};

/* What the file holds. */
struct imported {
    size_t runs;
    int64_t events;
};

/* A run that cannot be read leaves rows behind, so nothing is written then. */
static int import_one(const struct ids_engine *engine, struct ids_run_db *db, const struct ids_run_list *list,
                      const struct ids_run_files *run, struct ids_error *err) {
    int code = ids_need_profile(run, err);
    if (!code) code = ids_import_run(engine, db, run, "", err);
    if (code && list->run_count > 1 && !err->hint[0])
        ids_hint(err, "all runs of a folder are imported; --run NAME takes one, and 'idsprof list' shows them");
    return code;
}

static int import_path(const struct import_options *options, const struct ids_engine *engine, struct ids_run_db *db,
                       const char *path, struct imported *imported, struct ids_error *err) {
    struct ids_run_list list;
    const struct ids_run_files *chosen = NULL;
    int code = ids_find_runs(engine, path, &list, err);
    if (code) return code;
    ids_note_unreadable(engine, &list);
    if (options->run) code = ids_choose_run(&list, options->run, &chosen, err);
    for (size_t i = 0; i < list.run_count && !code; i++) {
        if (chosen && chosen != &list.runs[i]) continue;
        code = import_one(engine, db, &list, &list.runs[i], err);
        imported->runs++;
    }
    ids_run_list_done(&list);
    return code;
}

static int fill(const struct import_options *options, const char *path, char *const *operands, int operand_count,
                const char *name, struct imported *ret_imported, struct ids_error *err) {
    const struct ids_engine engine = ids_command_engine("import", 0);
    struct ids_run_db *db = NULL;
    int code = ids_import_begin(path, &db, err);
    for (int i = 0; i < operand_count && !code; i++)
        code = import_path(options, &engine, db, operands[i], ret_imported, err);
    if (!code) ids_progress("writing");
    if (!code) code = ids_run_db_finish(db, err);
    if (!code) code = ids_run_db_sync(db, err);
    if (!code) ret_imported->events = ids_run_db_events(db);
    /* What cannot be read is named in front of its message; without a name it is what is written. */
    if (code == IDS_IO && !strchr(err->text, '\'')) ids_error_at(err, "'%s'", name);
    ids_run_db_free(db);
    return code;
}

static void say_done(const struct ids_output *output, const struct imported *imported) {
    char path[COMMAND_BYTES];
    struct ids_arena arena = {0};
    ids_shell_quote(output->path, path, sizeof path);
    printf("%s: %s%s%s; to see what is in it: idsprof query %s --schema\n", ids_text_clean(&arena, output->path),
           imported->runs > 1 ? IDS_COUNTED(imported->runs, "run") : "", imported->runs > 1 ? ", " : "",
           IDS_COUNTED(imported->events, "event"), path);
    ids_arena_done(&arena);
}

static int import_run(const void *values, char *const *operands, int operand_count, struct ids_error *err) {
    const struct import_options *options = values;
    char *folder = NULL;
    const char *name;
    struct ids_output output;
    struct imported imported = {0};
    if (!options->output) return ids_fail(err, IDS_USAGE, "say with -o FILE where to write the database");
    if (!strcmp(options->output, "-"))
        return ids_fail(err, IDS_USAGE, "a database cannot be written to standard output; choose a file with -o");
    int code = ids_output_split("--output", options->output, &folder, &name, err);
    if (!code) ids_output_sweep(folder);
    if (!code) code = ids_output_open(folder, name, options->force, &output, err);
    free(folder);
    if (code) return code;
    code = ids_output_close(&output,
                            fill(options, output.temporary, operands, operand_count, output.path, &imported, err), err);
    ids_progress_end();
    if (!code && !options->quiet) say_done(&output, &imported);
    ids_output_done(&output);
    return code;
}

const struct ids_command ids_import_command = {
    .operands = "RUN...",
    .least = 1,
    .most = -1,
    IDS_OPTIONS(opts),
    .values_bytes = sizeof(struct import_options),
    .run = import_run,
};
