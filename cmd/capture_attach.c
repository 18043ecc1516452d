#include "cmd/capture_attach.h"

#include "cmd/command.h"
#include "lib/attach/attach.h"
#include "lib/attach/attach_record.h"
#include "lib/attach/process_ports.h"
#include "lib/attach/remote_exec.h"
#include "lib/base/counted.h"
#include "lib/base/quantity.h"
#include "lib/capture/folder.h"
#include "lib/capture/targets.h"
#include "lib/cli/say.h"
#include "lib/report/report.h"
#include "lib/wire/shell_quote.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4 * PATH_MAX, PS_PER_NS = 1000, MISSED_MAX = 20 };
static const char no_hook[] = "--attach has no hook in the program (idsprof capture -- PROGRAM samples them; with "
                              "--attach, --python-tracer 1 records calls of Python)";
static const int64_t default_duration_ns = 2000000000, least_duration_ns = 1000000;

/* ---- Ctrl-C ---- */

static volatile sig_atomic_t stopping;

static void count_stop(int number) {
    (void)number;
    if (stopping < 2) stopping = stopping + 1;
}

static void catch_stops(void) {
    static const int stops[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = count_stop}, before;
    stopping = 0;
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        sigaction(stops[i], NULL, &before);
        if (before.sa_handler != SIG_IGN) sigaction(stops[i], &action, NULL);
    }
}

/* ---- what does not go together ---- */

/* The options of a program that capture starts mean nothing to one that runs. */
static int check_options(const struct ids_capture_options *options, struct ids_error *err) {
    const struct {
        const char *name;
        int given;
    } others[] = {
        {"start-step", options->start_step >= 0},
        {"steps", options->steps >= 0},
        {"every", options->every != NULL},
        {"max", options->max >= 0},
        {"delay", options->delay_ps >= 0},
        {"trigger", options->trigger},
        {"listen", options->listen != NULL},
        {"range", options->range != NULL},
        {"warmup", options->warmup >= 0},
        {"wrap", options->wrap.count > 0},
        {"step-executable", options->step_executable != NULL},
        {"ranks", options->ranks != NULL},
        {"sweep", options->sweep != NULL},
        {"gpu", options->gpu},
        {"tpu", options->tpu},
        {"cpu", options->cpu},
        {"or-cpu", options->or_cpu},
        {"profile-option", options->profile_options.count > 0},
        {"audit", options->audit},
        {"memory", options->memory},
        {"max-window-bytes", options->max_window_bytes != NULL},
        {"cuda-graph-trace", options->cuda_graph != NULL},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i].given)
            return ids_fail(err, IDS_USAGE,
                            "--attach asks a program that runs already for a window of --duration; --%s is for a "
                            "program that capture starts",
                            others[i].name);
    }
    if (options->duration_ps >= 0 && options->duration_ps / PS_PER_NS < least_duration_ns)
        return ids_fail(err, IDS_USAGE, "--duration: a profiler server records at least 1 ms");
    return 0;
}

/* ---- what is printed ---- */

static const char *bytes_text(uint64_t bytes, char *room, size_t size) {
    return ids_value_format(ids_int_value(IDS_UNIT_BYTES, (int64_t)bytes), room, size);
}

static const char *time_text(int64_t ns, char *room, size_t size) {
    return ids_value_format(ids_int_value(IDS_UNIT_TIME, ns * PS_PER_NS), room, size);
}

/* A profiler server samples no stacks, and idsprof has no hook in the program that could. */
static void print_missed(const struct ids_attach *attach, const struct ids_attach_plan *plan) {
    size_t said = 0, failed = ids_attach_count(attach, IDS_PEER_FAILED);
    int is_without_stacks = plan->no_stacks && failed < attach->count;
    if (!failed && !is_without_stacks) ids_say_wrapped("missed", "nothing");
    for (size_t i = 0; i < attach->count && said < MISSED_MAX; i++) {
        const struct ids_peer *peer = &attach->peers[i];
        if (peer->fate != IDS_PEER_FAILED) continue;
        ids_say_wrapped("missed", "%s: %s%s%s", peer->host->name, peer->why, peer->remedy ? "; " : "",
                        peer->remedy ? peer->remedy : "");
        said++;
    }
    if (failed > said)
        ids_say_wrapped("missed", "%s; idsprof-run.json names them",
                        IDS_COUNTED((int64_t)(failed - said), "more host"));
    if (is_without_stacks) ids_say_wrapped("missed", "stacks, not sampled: %s", plan->no_stacks);
}

/* "2.000 s of 20.00 s", where the user ended it. */
static const char *length_text(const struct ids_attach *attach, const struct ids_attach_plan *plan, char *text,
                               size_t size) {
    char whole[IDS_VALUE_ROOM], part[IDS_VALUE_ROOM];
    int is_known = attach->stopped_after_ns >= 0 && attach->stopped_after_ns < plan->duration_ns;
    time_text(plan->duration_ns, whole, sizeof whole);
    if (!attach->was_stopped)
        snprintf(text, size, "%s", whole);
    else if (is_known)
        snprintf(text, size, "%s of %s", time_text(attach->stopped_after_ns, part, sizeof part), whole);
    else
        snprintf(text, size, "less than %s", whole);
    return text;
}

static void print_caught(const struct ids_attach *attach, const struct ids_attach_plan *plan) {
    size_t caught = attach->count - ids_attach_count(attach, IDS_PEER_FAILED);
    char bytes[IDS_VALUE_ROOM], window[2 * IDS_VALUE_ROOM], within[IDS_VALUE_ROOM], hosts[64];
    uint64_t sum = 0;
    for (size_t i = 0; i < attach->count; i++)
        sum += attach->peers[i].fate == IDS_PEER_FAILED ? 0 : attach->peers[i].bytes;
    if (!caught) {
        ids_say_wrapped("caught", "nothing");
        return;
    }
    if (caught < attach->count) {
        snprintf(hosts, sizeof hosts, "%zu of %zu hosts", caught, attach->count);
    } else {
        snprintf(hosts, sizeof hosts, "%zu host%s", caught, caught == 1 ? "" : "s");
    }
    ids_say_wrapped("caught", "%s on %s, asked within %s: %s", length_text(attach, plan, window, sizeof window), hosts,
                    time_text(attach->asked_within_ns, within, sizeof within), bytes_text(sum, bytes, sizeof bytes));
}

/* ---- a process of this machine ---- */

/* What --attach names: hosts, or the ports of a process, of which one is a profiler server. */
struct named {
    struct ids_hosts hosts;
    int64_t pid;       /* -1: hosts are named */
    int is_made;       /* the server was started for this capture */
    const char *given; /* the option's text */
};

/* One that capture started has a better way. */
static int check_unfollowed(int64_t pid, struct ids_error *err) {
    struct ids_targets targets;
    int is_followed = 0;
    if (ids_targets_find(NULL, &targets, err)) return 0;
    for (size_t i = 0; i < targets.count; i++) is_followed |= targets.at[i].pid == pid || targets.at[i].launcher == pid;
    ids_targets_done(&targets);
    if (!is_followed) return 0;
    return ids_fail(err, IDS_USAGE,
                    "process %lld runs under idsprof capture: idsprof trigger %lld opens a window in it",
                    (long long)pid, (long long)pid);
}

static int find_named(struct named *named, struct ids_error *err) {
    named->pid = -1;
    if (strspn(named->given, "0123456789") < strlen(named->given))
        return ids_hosts_parse(&named->hosts, named->given, err);
    int code = ids_parse_count(named->given, &named->pid, err);
    if (!code) code = check_unfollowed(named->pid, err);
    if (!code) code = ids_process_ports(named->pid, &named->hosts, err);
    if (!code && !named->hosts.count) {
        code = ids_remote_exec_server(named->pid, &named->hosts, err);
        named->is_made = !code;
    }
    return code;
}

/* The other ports of a process are nobody's business: only what its server gave counts. */
static void forget_other_ports(struct ids_attach *attach) {
    size_t kept = 0;
    if (ids_attach_count(attach, IDS_PEER_FAILED) == attach->count) return;
    for (size_t i = 0; i < attach->count; i++) {
        if (attach->peers[i].fate == IDS_PEER_FAILED) {
            ids_peer_done(&attach->peers[i]);
        } else {
            attach->peers[kept++] = attach->peers[i];
        }
    }
    attach->count = kept;
}

/* ---- the whole ---- */

static int attach_into(const struct ids_attach_plan *plan, const struct named *named,
                       const struct ids_capture_settings *settings, const char *shown, struct ids_attach *attach,
                       struct ids_error *err) {
    catch_stops();
    int code = ids_attach_run(plan, &named->hosts, attach, err);
    if (named->is_made) ids_remote_exec_end(named->pid, &named->hosts.at[0]);
    if (code) return code;
    if (named->pid >= 0) forget_other_ports(attach);
    size_t failed = ids_attach_count(attach, IDS_PEER_FAILED);
    code = ids_attach_record_write(plan, attach, err);
    if (code) return code;
    if (!settings->quiet) print_caught(attach, plan);
    if (!settings->quiet || failed) print_missed(attach, plan);
    if (!settings->quiet && failed < attach->count) {
        char quoted[PATH_BYTES];
        ids_say_wrapped("folder", "%s", shown);
        ids_shell_quote(shown, quoted, sizeof quoted);
        ids_say_wrapped("next", "idsprof report %s", quoted);
    }
    return failed || attach->was_stopped ? IDS_EXIT_NO : IDS_EXIT_DONE;
}

/* The folder as it would be typed from here: relative when it is below. */
static const char *shown_path(const char *path) {
    static char here[PATH_MAX];
    size_t length = getcwd(here, sizeof here) ? strlen(here) : 0;
    return length > 1 && !strncmp(path, here, length) && path[length] == '/' ? path + length + 1 : path;
}

/* Whether the capture holds anything: a profile, or a part of one. */
static int is_worth_keeping(const struct ids_attach *attach) {
    for (size_t i = 0; i < attach->count; i++) {
        if (attach->peers[i].fate != IDS_PEER_FAILED || attach->peers[i].answer.bytes) return 1;
    }
    return 0;
}

int ids_capture_attach(const struct ids_capture_options *options, const struct ids_capture_settings *settings,
                       char **ret_folder, struct ids_error *err) {
    struct named named = {.given = options->attach};
    struct ids_capture_folder folder = {0};
    struct ids_attach attach = {0};
    int code = check_options(options, err);
    if (!code) code = find_named(&named, err);
    if (!code) code = ids_capture_folder_make(settings->dir, settings->name, time(NULL), &folder, err);
    if (!code) {
        struct ids_attach_plan plan = {
            .folder = folder.path,
            .run = folder.run,
            .duration_ns = options->duration_ps >= 0 ? options->duration_ps / PS_PER_NS : default_duration_ns,
            .grace_ns = settings->plan.stop_timeout_ns,
            .host_level = settings->plan.host_level,
            .device_level = settings->plan.device_level,
            .python_level = settings->plan.python_level,
            .no_stacks = settings->plan.stacks && settings->plan.python_level != 1 ? no_hook : NULL,
            .max_size = (uint64_t)(settings->plan.max_size > 0 ? settings->plan.max_size : 0),
            .stopping = &stopping};
        code = attach_into(&plan, &named, settings, shown_path(folder.path), &attach, err);
        if (ids_attach_count(&attach, IDS_PEER_FAILED) < attach.count) *ret_folder = strdup(folder.path);
        if (!settings->keep_empty && !is_worth_keeping(&attach)) ids_capture_folder_remove(&folder);
    }
    ids_attach_done(&attach);
    ids_capture_folder_done(&folder);
    ids_hosts_done(&named.hosts);
    return code;
}
