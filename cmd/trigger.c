#include "cmd/command.h"
#include "cmd/trigger_hosts.h"
#include "lib/capture/target_wait.h"
#include "lib/capture/targets.h"
#include "lib/cli/say.h"
#include "lib/cli/terminal.h"
#include "lib/report/layout.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_INDENT = 12 };

struct trigger_options {
    int stop, list;
    struct ids_trigger_hosts hosts;
};

#define AT(field) offsetof(struct trigger_options, field)
static const struct ids_opt opts[] = {
    {IDS_OPT_FLAG, 's', "stop", NULL, "end the open window", AT(stop), NULL},
    {IDS_OPT_FLAG, 'l', "list", NULL, "list the programs that can be triggered, and do nothing", AT(list), NULL},
    {IDS_OPT_TEXT, 0, "hosts", "FILE", "on all hosts of this file at one moment: HOST or HOST:PORT a line",
     AT(hosts.file), NULL},
    {IDS_OPT_TEXT, 0, "slurm", "JOB", "on all hosts of this job of Slurm", AT(hosts.slurm), NULL},
    {IDS_OPT_COUNT, 0, "port", "N", "the port of hosts that name none (9013)", AT(hosts.port), NULL},
    {IDS_OPT_TEXT, 0, "token", "FILE", "the token of capture --listen (~/.config/idsprof/token)", AT(hosts.token),
     NULL},
};
static const struct trigger_options defaults = {.hosts.port = -1};

/* ---- which processes are meant ---- */

/* A process, its launcher, or the folder of a capture (its own, or one that holds it). */
static int is_meant(const struct ids_target *target, const char *word, const char *folder) {
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)target->pid);
    if (!strcmp(word, number)) return 1;
    snprintf(number, sizeof number, "%lld", (long long)target->launcher);
    if (!strcmp(word, number)) return 1;
    size_t length = folder ? strlen(folder) : 0;
    return length && !strncmp(target->session, folder, length) &&
           (!target->session[length] || target->session[length] == '/');
}

/* Keeps those that are meant, all of them without a word. */
static void keep_meant(struct ids_targets *targets, const char *word) {
    char folder[PATH_MAX];
    const char *real = word && realpath(word, folder) ? folder : NULL;
    size_t kept = 0;
    for (size_t i = 0; i < targets->count; i++) {
        if (!word || is_meant(&targets->at[i], word, real)) targets->at[kept++] = targets->at[i];
    }
    targets->count = kept;
}

static int are_one_capture(const struct ids_targets *targets) {
    for (size_t i = 1; i < targets->count; i++) {
        if (strcmp(targets->at[i].session, targets->at[0].session) != 0) return 0;
    }
    return 1;
}

/* The command, its program without the folders above it. */
static const char *without_folder(const char *command) {
    const char *base = command;
    for (const char *at = command; *at && *at != ' '; at++) {
        if (*at == '/' && at[1] && at[1] != ' ') base = at + 1;
    }
    return base;
}

static void print_list(const struct ids_targets *targets, FILE *out) {
    struct ids_arena arena = {0};
    int columns = ids_terminal_width(0) - LIST_INDENT;
    for (size_t i = 0; i < targets->count; i++) {
        const struct ids_target *target = &targets->at[i];
        fprintf(out, "  %8lld  %s", (long long)target->pid, ids_text_clean(&arena, target->state));
        if (target->step >= 0) fprintf(out, ", step %lld", (long long)target->step);
        fprintf(out, "\n%*s%s\n", LIST_INDENT, "",
                ids_text_shorten(&arena, ids_text_clean(&arena, without_folder(target->command)), columns));
        fprintf(out, "%*s%s\n", LIST_INDENT, "", ids_text_clean(&arena, target->session));
    }
    ids_arena_done(&arena);
}

/* ---- doing it ---- */

static int trigger(struct ids_targets *targets, struct ids_target *target, int stop, struct ids_error *err) {
    int code = ids_target_ask(targets, target, stop ? "stop" : "start", err);
    if (code) return code;
    long long pid = target->pid;
    if (target->refused) {
        struct ids_arena arena = {0};
        printf("%lld: %s\n", pid, ids_text_clean(&arena, target->why));
        ids_arena_done(&arena);
        return IDS_EXIT_NO;
    }
    long long window = target->window;
    int failed = ids_target_wait(targets, target, window, stop);
    if (failed && !stop) {
        printf("%lld: window %lld was not opened; capture says why when the program ends\n", pid, window);
    } else if (failed) {
        printf("%lld: window %lld is still being closed\n", pid, window);
    } else {
        printf("%lld: window %lld is %s\n", pid, window, stop ? "closed" : "open");
    }
    return failed ? IDS_EXIT_NO : IDS_EXIT_DONE;
}

static int say_nobody(const char *word) {
    if (word) {
        ids_say("trigger",
                "no program that idsprof capture started runs as '%s'; idsprof trigger --list shows the others", word);
    } else {
        ids_say("trigger", "no program runs under idsprof capture and has imported jax");
    }
    return IDS_EXIT_NO;
}

static int act(const struct trigger_options *options, const char *word, struct ids_targets *targets,
               struct ids_error *err) {
    if (!targets->count) return say_nobody(word);
    if (options->list) {
        print_list(targets, stdout);
        return IDS_EXIT_DONE;
    }
    if (!are_one_capture(targets)) {
        ids_say("trigger", "several captures run; say which by a process or a folder:");
        print_list(targets, stderr);
        return IDS_EXIT_ERROR;
    }
    int status = IDS_EXIT_DONE;
    for (size_t i = 0; i < targets->count; i++) {
        int code = trigger(targets, &targets->at[i], options->stop, err);
        if (code < 0) return code;
        status |= code;
    }
    return status;
}

static int trigger_run(const void *values, char *const *operands, int operand_count, struct ids_error *err) {
    const struct trigger_options *options = values;
    const char *word = operand_count ? operands[0] : NULL;
    struct ids_targets targets;
    if (options->stop && options->list) return ids_fail(err, IDS_USAGE, "--stop and --list exclude each other");
    if (options->hosts.file || options->hosts.slurm) {
        if (word || options->list)
            return ids_fail(err, IDS_USAGE, "--hosts and --slurm name the hosts; %s goes with neither",
                            options->list ? "--list" : "an operand");
        return ids_trigger_hosts(&options->hosts, options->stop, err);
    }
    if (options->hosts.token || options->hosts.port >= 0)
        return ids_fail(err, IDS_USAGE, "--token and --port are for --hosts FILE and --slurm JOB");
    int code = ids_targets_find(&targets, err);
    if (code) return code;
    keep_meant(&targets, word);
    code = act(options, word, &targets, err);
    ids_targets_done(&targets);
    return code;
}

const struct ids_command ids_trigger_command = {
    .operands = "[PID|RUN]",
    .most = 1,
    IDS_OPTIONS(opts),
    .defaults = &defaults,
    .values_bytes = sizeof(struct trigger_options),
    .run = trigger_run,
};
