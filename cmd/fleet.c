/* fleet.c - `idsprof fleet`: checks the command line, and hands over to the Python module idsprof.fleet
 * (collectors/python/_idsprof/modules/fleet), because engines that spread work over machines, and stores of objects,
 * are Python's. The interpreter is the one beside this program (as a wheel is installed), else the one on PATH. */
#include "cmd/command.h"
#include "lib/base/own_program.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NOT_GIVEN = -1, TOP = 40, RETRIES = 2, NUMBER_ROOM = 24, OPTION_WORDS = 40 };

struct fleet_options {
    const char *scheduler, *cache, *run, *lake;
    int64_t processes, retries, top, width;
    int json, csv, full;
};

static const struct fleet_options defaults = {.processes = NOT_GIVEN, .retries = RETRIES, .top = TOP};

#define AT(field) offsetof(struct fleet_options, field)
static const struct ids_opt opts[] = {
    {IDS_OPT_TEXT, 0, "scheduler", "ADDRESS", "let workers of this scheduler of Dask do the work, as tcp://HOST:8786",
     AT(scheduler), NULL},
    {IDS_OPT_COUNT, 0, "processes", "N", "processes at once on this machine (as many as it has processors)",
     AT(processes), NULL},
    {IDS_OPT_TEXT, 0, "cache", "URL", "where partials and reports are kept (~/.cache/idsprof-fleet)", AT(cache), NULL},
    {IDS_OPT_COUNT, 0, "retries", "N", "further tries of a file after its store or its worker failed (2)", AT(retries),
     NULL},
    {IDS_OPT_TEXT, 'r', "run", "NAME", "report: all that is said of one run", AT(run), NULL},
    {IDS_OPT_TEXT, 0, "lake", "DIR", "query: where rows are kept, a folder that all workers see", AT(lake), NULL},
    {IDS_OPT_COUNT, 'n', "top", "N", "the N worst runs, or rows of a difference (40; 0: all)", AT(top), NULL},
    {IDS_OPT_FLAG, 'j', "json", NULL, "print JSON", AT(json), NULL},
    {IDS_OPT_FLAG, 'c', "csv", NULL, "print CSV", AT(csv), NULL},
    {IDS_OPT_FLAG, 'f', "full", NULL, "do not shorten names or lists", AT(full), NULL},
    {IDS_OPT_COUNT, 0, "width", "N", "columns of a line, at least 40 (else the terminal's, or 120)", AT(width), NULL},
};

/* ---- the words of the module's command line ---- */

struct words {
    const char **at;
    size_t count;
    char numbers[4][NUMBER_ROOM];
    size_t number_count;
};

static void put_text(struct words *words, const char *option, const char *value) {
    if (!value) return;
    words->at[words->count++] = option;
    words->at[words->count++] = value;
}

static void put_number(struct words *words, const char *option, int64_t value) {
    char *text = words->numbers[words->number_count++];
    snprintf(text, NUMBER_ROOM, "%" PRId64, value);
    put_text(words, option, text);
}

static void put_flag(struct words *words, const char *option, int is_set) {
    if (is_set) words->at[words->count++] = option;
}

static void put_options(struct words *words, const struct fleet_options *options) {
    put_text(words, "--scheduler", options->scheduler);
    put_text(words, "--cache", options->cache);
    put_text(words, "--run", options->run);
    put_text(words, "--lake", options->lake);
    if (options->processes != NOT_GIVEN) put_number(words, "--processes", options->processes);
    put_number(words, "--retries", options->retries);
    put_number(words, "--top", options->top);
    if (options->width) put_number(words, "--width", options->width);
    put_flag(words, "--json", options->json);
    put_flag(words, "--csv", options->csv);
    put_flag(words, "--full", options->full);
}

/* ---- where the module and its interpreter are ---- */

/* `name` beside this program; 0 where it is not there. */
static int find_beside(const char *name, int mode, char path[PATH_MAX]) {
    char folder[PATH_MAX];
    if (!realpath(ids_own_program(), folder)) return 0;
    char *slash = strrchr(folder, '/');
    if (slash) *slash = '\0';
    int length = snprintf(path, PATH_MAX, "%s/%s", folder, name);
    return length > 0 && length < PATH_MAX && !access(path, mode);
}

/* The module of this very program comes before one of another version that the interpreter may have. */
static const char *module_folder(char path[PATH_MAX]) {
    static const char *const places[] = {
        "lib/idsprof/python", /* of the build tree */
#ifdef IDS_HOME_FROM_BIN
        IDS_HOME_FROM_BIN "/python",
#endif
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (find_beside(places[i], R_OK, path)) return path;
    }
    return "";
}

static int hand_over(struct words *words, struct ids_error *err) {
    static const char code[] =
        "import os, sys\n"
        "sys.path[0:1] = list(filter(None, [sys.argv.pop(1)]))\n"
        "try:\n"
        "    from idsprof.fleet.command import main\n"
        "except ImportError as error:\n"
        "    os.write(2, (\"idsprof: fleet: the Python module lacks (%s): %s -m pip install 'idsprof[fleet]'\\n\"\n"
        "                 % (error, sys.executable)).encode())\n"
        "    sys.exit(2)\n"
        "except KeyboardInterrupt:\n"
        "    sys.exit(2)\n"
        "sys.exit(main())\n";
    char python[PATH_MAX], module[PATH_MAX];
    words->at[0] = find_beside("python3", X_OK, python) ? python : "python3";
    words->at[1] = "-c";
    words->at[2] = code;
    words->at[3] = module_folder(module);
    fflush(stdout);
    execvp(words->at[0], (char *const *)(uintptr_t)words->at);
    ids_fail_system(err, "cannot run '%s'", words->at[0]);
    return ids_hint(err, "'fleet' is written in Python: pip install 'idsprof[fleet]'");
}

/* ---- */

static const char *verb_choice(int i) {
    static const char *const verbs[] = {"report", "diff", "query"};
    return i < 3 ? verbs[i] : NULL;
}

static int fleet_run(const void *values, char *const *operands, int operand_count, struct ids_error *err) {
    const struct fleet_options *options = values;
    int verb;
    int code = ids_parse_choice(operands[0], verb_choice, &verb, err);
    if (code) return code;
    if (options->json && options->csv) return ids_fail(err, IDS_USAGE, "--json and --csv exclude each other");
    struct words words = {.at = calloc((size_t)operand_count + OPTION_WORDS, sizeof *words.at), .count = 4};
    if (!words.at) return ids_no_memory(err);
    put_options(&words, options);
    words.at[words.count++] = "--";
    for (int i = 0; i < operand_count; i++) words.at[words.count++] = operands[i];
    code = hand_over(&words, err);
    free(words.at);
    return code;
}

const struct ids_command ids_fleet_command = {
    .operands = "report|diff|query URL...",
    .least = 2,
    .most = -1,
    IDS_OPTIONS(opts),
    .defaults = &defaults,
    .values_bytes = sizeof defaults,
    .run = fleet_run,
};
