#include "cmd/command.h"
#include "cmd/trigger_ask.h"
#include "cmd/trigger_hosts.h"
#include "collectors/common/control.h"
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
    int stop, list, yes;
    int64_t steps, duration_ps; /* -1: as the capture's options say */
    const char *name;
    struct ids_trigger_hosts hosts;
};

#define AT(field) offsetof(struct trigger_options, field)
static const struct ids_opt opts[] = {
    {IDS_OPT_FLAG, 's', "stop", NULL, "end the open window", AT(stop), NULL},
    {IDS_OPT_FLAG, 'l', "list", NULL, "list the programs that can be triggered, and do nothing", AT(list), NULL},
    {IDS_OPT_COUNT, 'k', "steps", "N", "the window ends after N steps, whatever the capture's options say", AT(steps),
     NULL},
    {IDS_OPT_TIME, 0, "duration", "TIME", "the window ends after this time: 2s", AT(duration_ps), NULL},
    {IDS_OPT_TEXT, 'n', "name", "NAME", "put NAME into the name of the window's run", AT(name), NULL},
    {IDS_OPT_FLAG, 'y', "yes", NULL, "do not ask before a program of another terminal is meant", AT(yes), NULL},
    {IDS_OPT_TEXT, 0, "hosts", "FILE", "on all hosts of this file at one moment: HOST or HOST:PORT a line",
     AT(hosts.file), NULL},
    {IDS_OPT_TEXT, 0, "slurm", "JOB", "on all hosts of this job of Slurm", AT(hosts.slurm), NULL},
    {IDS_OPT_COUNT, 0, "port", "N", "the port of hosts that name none (9013)", AT(hosts.port), NULL},
    {IDS_OPT_TEXT, 0, "token", "FILE", "the token of capture --listen (~/.config/idsprof/token)", AT(hosts.token),
     NULL},
};
static const struct trigger_options defaults = {.hosts.port = -1, .steps = -1, .duration_ps = -1};
enum { PS_PER_NS = 1000 };

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

static int trigger(struct ids_targets *targets, struct ids_target *target, const char *request, struct ids_error *err) {
    int code = ids_target_ask(targets, target, request, err), stop = !strcmp(request, "stop");
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

static int say_nobody(const char *word, int64_t silent) {
    if (silent) {
        ids_say("trigger",
                "process %lld runs under idsprof capture and gave no answer in time: it is stopped, or ends just now; "
                "ps -o stat= %lld says T where a signal stopped it (kill -CONT lets it go on)",
                (long long)silent, (long long)silent);
    } else if (word) {
        ids_say("trigger",
                "no program that idsprof capture started runs as '%s'; idsprof trigger --list shows the others", word);
    } else {
        ids_say("trigger",
                "no program runs under idsprof capture and has imported jax; one with another XDG_RUNTIME_DIR is found "
                "by its process or folder: idsprof trigger PID|RUN");
    }
    return IDS_EXIT_NO;
}

static int act(const struct trigger_options *options, const char *word, const char *request,
               struct ids_targets *targets, struct ids_error *err) {
    if (!targets->count) return say_nobody(word, targets->silent);
    if (options->list) {
        print_list(targets, stdout);
        return IDS_EXIT_DONE;
    }
    if (!are_one_capture(targets)) {
        ids_say("trigger", "several captures run; say which by a process or a folder:");
        print_list(targets, stderr);
        return IDS_EXIT_ERROR;
    }
    if (!word && !options->yes && ids_trigger_is_elsewhere(targets)) {
        print_list(targets, stderr);
        if (!ids_trigger_confirm(options->stop)) {
            ids_say("trigger", "nothing was done; --yes does it without asking");
            return IDS_EXIT_NO;
        }
    }
    int status = IDS_EXIT_DONE;
    for (size_t i = 0; i < targets->count; i++) {
        int code = trigger(targets, &targets->at[i], request, err);
        if (code < 0) return code;
        status |= code;
    }
    return status;
}

/* What is asked of each process. */
static int make_request(const struct trigger_options *options, char request[IDS_WISH_TEXT], struct ids_error *err) {
    struct ids_control_wish wish = {.steps = options->steps, .duration_ns = -1};
    int has_wish = options->steps >= 0 || options->duration_ps >= 0 || options->name;
    if (has_wish && (options->stop || options->list))
        return ids_fail(err, IDS_USAGE, "--steps, --duration and --name are for a window that is opened");
    if (!options->steps || !options->duration_ps)
        return ids_fail(err, IDS_USAGE, "a window of %s holds nothing", options->steps ? "0 s" : "0 steps");
    if (options->name && !ids_control_name_valid(options->name))
        return ids_fail(err, IDS_USAGE, "--name: '%s' is not 1 to %d letters, digits, '.', '_' and '-'", options->name,
                        IDS_WISH_NAME - 1);
    if (options->duration_ps > 0)
        wish.duration_ns = options->duration_ps < PS_PER_NS ? 1 : options->duration_ps / PS_PER_NS;
    if (options->name) snprintf(wish.name, sizeof wish.name, "%s", options->name);
    if (options->stop) {
        memcpy(request, "stop", sizeof "stop");
    } else {
        ids_control_write_wish(&wish, request);
    }
    return 0;
}

static int trigger_run(const void *values, char *const *operands, int operand_count, struct ids_error *err) {
    const struct trigger_options *options = values;
    const char *word = operand_count ? operands[0] : NULL;
    struct ids_targets targets;
    char request[IDS_WISH_TEXT];
    if (options->stop && options->list) return ids_fail(err, IDS_USAGE, "--stop and --list exclude each other");
    int code = make_request(options, request, err);
    if (code) return code;
    if (options->hosts.file || options->hosts.slurm) {
        if (word || options->list)
            return ids_fail(err, IDS_USAGE, "--hosts and --slurm name the hosts; %s goes with neither",
                            options->list ? "--list" : "an operand");
        return ids_trigger_hosts(&options->hosts, request, err);
    }
    if (options->hosts.token || options->hosts.port >= 0)
        return ids_fail(err, IDS_USAGE, "--token and --port are for --hosts FILE and --slurm JOB");
    code = ids_targets_find(word, &targets, err);
    if (code) return code;
    keep_meant(&targets, word);
    code = act(options, word, request, &targets, err);
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
