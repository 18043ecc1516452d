#include "cmd/command.h"
#include "cmd/page_file.h"
#include "lib/base/memory.h"
#include "lib/cli/ascii.h"
#include "lib/cli/nearest.h"
#include "lib/cli/output.h"
#include "lib/cli/reading.h"
#include "lib/cli/say.h"
#include "lib/wire/shell_quote.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* So large that a report is written in one go, and the reason of a failing write is still in errno when it is asked
 * for. */
enum { OUTPUT_BYTES = 256 * 1024, PATH_BYTES = 4096 };

static void print_error(const char *command, const struct ids_error *err) {
    fflush(stdout);
    char whole[IDS_ERROR_WHOLE];
    ids_say(command, "%s", ids_error_whole(err, whole));
}

/* A reader that went away (`| head`) is no error: the status stays what it was. All else that was not written is
 * one. */
static int close_output(const char *command, int status) {
    errno = 0;
    int failed = fflush(stdout) != 0;
    int why = errno;
    if (!failed && !ferror(stdout)) return status;
    struct pollfd output = {.fd = STDOUT_FILENO};
    if (why == EPIPE || (poll(&output, 1, 0) > 0 && output.revents & POLLERR)) return status;
    ids_say(command, "cannot write the output: %s", why ? strerror(why) : "a write failed");
    return IDS_EXIT_ERROR;
}

static int check_operands(const struct ids_command_entry *entry, int count, char **operands, struct ids_error *err) {
    const struct ids_command *command = entry->command;
    if (count && count < command->least) {
        char noun[32] = "";
        for (size_t i = 0; i + 1 < sizeof noun && isupper((unsigned char)command->operands[i]); i++)
            noun[i] = (char)tolower((unsigned char)command->operands[i]);
        if (!*noun) snprintf(noun, sizeof noun, "operand"); /* they begin with the name of an action */
        return ids_fail(err, IDS_USAGE, "at least %d %ss are needed, and %d was given; usage: idsprof %s%s %s",
                        command->least, noun, count, entry->name, command->opt_count ? " [options]" : "",
                        command->operands);
    }
    if (!count && command->least) {
        return ids_fail(err, IDS_USAGE, "%s is missing; usage: idsprof %s%s %s", command->operands, entry->name,
                        command->opt_count ? " [options]" : "", command->operands);
    }
    if (command->most >= 0 && count > command->most) {
        return ids_fail(err, IDS_USAGE, "unexpected argument '%s'", operands[command->most]);
    }
    return 0;
}

/* What programs read is UTF-8 by its own definition, whatever the locale. */
static int is_for_programs(const struct ids_command *command, const char *values) {
    for (int i = 0; i < command->opt_count; i++) {
        const struct ids_opt *opt = &command->opts[i];
        const char *place = values + opt->offset;
        int is_form = !strcmp(opt->long_name, "json") || !strcmp(opt->long_name, "csv");
        if (opt->type == IDS_OPT_FLAG && is_form && *(const int *)place) return 1;
        if (opt->type == IDS_OPT_CHOICE && !strcmp(opt->long_name, "format") && *(const int *)place) return 1;
        const char *junit =
            opt->type == IDS_OPT_TEXT && !strcmp(opt->long_name, "junit") ? *(const char *const *)place : NULL;
        if (junit && !strcmp(junit, "-")) return 1;
    }
    return 0;
}

/* ---- libraries that end the program ---- */

static const char *running; /* the command at work */

/* libarchive calls exit(1) where it is refused memory for a text. There is no way back into the command from here. */
static void end_for_library(void) {
    const char *command = running;
    if (!command) return;
    running = NULL;
    ids_output_abandon();
    ids_say(command, "out of memory inside a library");
    _exit(IDS_EXIT_ERROR);
}

/* ---- */

/* What was printed may lack something that nobody could say. Gives the status, or the code. */
static int end_without_memory(const struct ids_command_entry *entry, int status, struct ids_error *err) {
    int code = ids_no_memory(err);
    if (!entry->command->passes_status) return code;
    print_error(entry->name, err);
    return status;
}

/* argv[0] is the command's name. */
static int run_command(const struct ids_command_entry *entry, int argc, char **argv) {
    const struct ids_command *command = entry->command;
    struct ids_error err = IDS_ERROR_INIT;
    void *values = calloc(1, command->values_bytes + 1);
    if (!values) {
        ids_no_memory(&err);
        print_error(entry->name, &err);
        return IDS_EXIT_ERROR;
    }
    ids_page_typed(argc, argv);
    if (command->defaults) memcpy(values, command->defaults, command->values_bytes);
    int status = (command->leading ? ids_opt_parse_leading : ids_opt_parse)(command->opts, command->opt_count, argc,
                                                                            argv, values, &err);
    if (ids_ascii_wanted()) ids_ascii_output(!is_for_programs(command, values));
    if (status == IDS_OPT_HELP) {
        ids_command_usage(entry, stdout);
    } else if (status > 0) {
        int first = status;
        status = check_operands(entry, argc - first, argv + first, &err);
        ids_reading_apply();
        running = entry->name;
        if (!status) status = command->run(values, argv + first, argc - first, &err);
        running = NULL;
    }
    free(values);
    if (status >= 0 && ids_memory_ran_out()) status = end_without_memory(entry, status, &err);
    if (status < 0) {
        print_error(entry->name, &err);
        if (status == IDS_USAGE) ids_say_below(0, "see 'idsprof %s -h'", entry->name);
        status = IDS_EXIT_ERROR;
    }
    return close_output(entry->name, status);
}

static int unknown_command(const char *word) {
    char near[256];
    if (access(word, F_OK) == 0) {
        char path[PATH_BYTES];
        ids_shell_quote(word, path, sizeof path);
        ids_say(NULL, "unknown command '%s'; to report on that run: idsprof report %s", word, path);
    } else {
        ids_nearest(word, ids_command_choice, "", near, sizeof near);
        ids_say(NULL, "unknown command '%s'%s", word, near);
    }
    ids_say_below(0, "see 'idsprof -h'");
    return IDS_EXIT_ERROR;
}

int main(int argc, char **argv) {
    static char output[OUTPUT_BYTES], messages[BUFSIZ];
    setvbuf(stdout, output, _IOFBF, sizeof output);
    setvbuf(stderr, messages, _IOLBF, sizeof messages); /* lines whole: other processes may write there too */
    signal(SIGPIPE, SIG_IGN);
    atexit(end_for_library);
    signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is a full disk, for the cache no reason to die */
    if (argc < 2) {
        ids_program_usage(stderr);
        return IDS_EXIT_ERROR;
    }
    const char *word = argv[1];
    if (!strcmp(word, "-h") || !strcmp(word, "--help")) {
        ids_program_usage(stdout);
        return close_output("help", IDS_EXIT_DONE);
    }
    if (!strcmp(word, "-V") || !strcmp(word, "--version") || !strcmp(word, "version")) {
        fputs("idsprof " IDS_VERSION "\n", stdout);
        return close_output("version", IDS_EXIT_DONE);
    }
    const struct ids_command_entry *entry = ids_command_find(word);
    if (!entry) return unknown_command(word);
    if (!entry->command->lacking) return run_command(entry, argc - 1, argv + 1);
    ids_say(entry->name, "%s", entry->command->lacking);
    return IDS_EXIT_ERROR;
}
