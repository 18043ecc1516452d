#include "lib/mcp/mcp.h"
#include "cmd/command.h"
#include "cmd/engine.h"
#include "lib/cli/output.h"
#include "lib/cli/reading.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct mcp_options {
    struct ids_opt_texts roots;
};

#define AT(field) offsetof(struct mcp_options, field)
static const struct ids_opt opts[] = {
    {IDS_OPT_TEXTS, 'R', "root", "DIR", "open only what lies below this folder (the current one); may be given again",
     AT(roots), NULL},
    IDS_READING_OPTIONS,
};

static int add_root(const char *path, char **ret_real, struct ids_error *err) {
    *ret_real = realpath(path, NULL);
    return *ret_real ? 0 : ids_fail_system(err, "--root '%s'", path);
}

/* Agents start servers anywhere, often in "/": then a folder must be named, since all files lie below that. */
static int find_roots(const struct ids_opt_texts *given, char **roots, size_t *ret_count, struct ids_error *err) {
    int code = 0;
    *ret_count = 0;
    for (size_t i = 0; i < given->count && !code; i++, ++*ret_count) code = add_root(given->at[i], &roots[i], err);
    if (code || given->count) return code;
    code = add_root(".", &roots[0], err);
    if (code) return code;
    *ret_count = 1;
    if (strcmp(roots[0], "/") != 0) return 0;
    return ids_fail(err, IDS_USAGE, "started in '/', below which lies every file; name a folder with --root");
}

/* The engine's own callbacks, as every command has them, but for notes and progress, which go into answers. */
static int serve(char *const *roots, size_t count, struct ids_error *err) {
    const struct ids_engine engine = ids_command_engine("mcp", 0);
    const struct ids_mcp_setup setup = {
        .roots = (const char *const *)roots,
        .root_count = count,
        .filling = engine.calls->filling,
        .sql = engine.calls->sql,
        .sql_timeout_ps = ids_reading.timeout_ps,
        .sql_bytes = ids_reading.max_memory,
    };
    if (chdir(roots[0])) return ids_fail_system(err, "--root '%s'", roots[0]);
    return ids_mcp_serve(&setup, STDIN_FILENO, stdout, err);
}

/* A descriptor that is closed would become the next file that is opened, and messages would go there. */
static int is_open(int descriptor) {
    return fcntl(descriptor, F_GETFD) >= 0;
}

static int mcp_run(const void *values, char *const *operands, int operand_count, struct ids_error *err) {
    (void)operands, (void)operand_count;
    const struct mcp_options *options = values;
    char *roots[IDS_OPT_TEXTS_MAX] = {NULL};
    size_t count = 0;
    if (!is_open(STDOUT_FILENO)) return ids_fail(err, IDS_IO, "standard output is closed: answers would go nowhere");
    if (!is_open(STDIN_FILENO)) return IDS_EXIT_DONE; /* nobody asks */
    int code = find_roots(&options->roots, roots, &count, err);
    if (!code) code = serve(roots, count, err);
    for (size_t i = 0; i < IDS_OPT_TEXTS_MAX; i++) free(roots[i]);
    return code ? code : IDS_EXIT_DONE;
}

const struct ids_command ids_mcp_command = {
    .operands = "",
    IDS_OPTIONS(opts),
    .values_bytes = sizeof(struct mcp_options),
    .run = mcp_run,
};
