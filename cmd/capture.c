#include "cmd/capture_after.h"
#include "cmd/capture_attach.h"
#include "cmd/capture_cuda.h"
#include "cmd/capture_options.h"
#include "cmd/capture_plugins.h"
#include "cmd/capture_print.h"
#include "cmd/command.h"
#include "collectors/common/process.h"
#include "lib/base/counted.h"
#include "lib/base/memory.h"
#include "lib/capture/child.h"
#include "lib/capture/devices.h"
#include "lib/capture/folder.h"
#include "lib/capture/home.h"
#include "lib/capture/sidecar.h"
#include "lib/capture/targets.h"
#include "lib/cli/say.h"
#include "lib/remote/listener.h"
#include "lib/run/history.h"
#include "lib/wire/shell_quote.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NOT_FOUND_STATUS = 127, NOT_RUNNABLE_STATUS = 126, PLACEHOLDER_BYTES = 9 };

struct capture {
    struct ids_capture_settings settings;
    struct ids_capture_home home;
    char *const *command;
};

/* ---- the program's environment ---- */

static int set_devices(struct ids_variables *environment, enum ids_capture_platform platform, int64_t devices,
                       struct ids_error *err) {
    char list[8 * 1024] = "", flag[96], bounds[16];
    size_t used = 0;
    for (int64_t i = 0; i < devices && used + 8 < sizeof list; i++) {
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%lld", i ? "," : "", (long long)i);
    }
    int code = 0;
    if (platform == IDS_PLATFORM_CPU || platform == IDS_PLATFORM_AUTO) {
        const char *before = ids_variables_get(environment, "XLA_FLAGS");
        char *flags = NULL;
        snprintf(flag, sizeof flag, "--xla_force_host_platform_device_count=%lld", (long long)devices);
        if (asprintf(&flags, "%s%s%s", before ? before : "", before && *before ? " " : "", flag) < 0)
            return ids_no_memory(err);
        code = ids_variables_set(environment, "XLA_FLAGS", flags, err); /* the last of two flags holds */
        free(flags);
    }
    if (!code && (platform == IDS_PLATFORM_GPU || platform == IDS_PLATFORM_AUTO)) {
        code = ids_variables_set(environment, "CUDA_VISIBLE_DEVICES", list, err);
    }
    if (!code && (platform == IDS_PLATFORM_TPU || platform == IDS_PLATFORM_AUTO)) {
        code = ids_variables_set(environment, "TPU_VISIBLE_CHIPS", list, err);
        if (!code) code = ids_variables_set(environment, "TPU_PROCESS_BOUNDS", "1,1,1", err);
        snprintf(bounds, sizeof bounds, "%d,%d,1", devices >= 4 ? 2 : 1, devices >= 8 ? 4 : devices >= 2 ? 2 : 1);
        if (!code) code = ids_variables_set(environment, "TPU_CHIPS_PER_PROCESS_BOUNDS", bounds, err);
    }
    snprintf(flag, sizeof flag, "%lld", (long long)devices);
    return code ? code : ids_variables_set(environment, "IDSPROF_DEVICES", flag, err);
}

static int make_environment(const struct capture *capture, const struct ids_capture_folder *folder,
                            const struct ids_plan *plan, int64_t devices, struct ids_variables *ret_environment,
                            struct ids_error *err) {
    char text[IDS_PLAN_BYTES];
    int code = ids_variables_copy(ret_environment, capture->settings.environment.at, err);
    if (code) return code;
    if (ids_plan_format(plan, text, sizeof text) < 0)
        code = ids_fail(err, IDS_LIMIT, "the plan has more than %d bytes", IDS_PLAN_BYTES);
    if (!code) code = ids_variables_set(ret_environment, "IDSPROF_SESSION", folder->path, err);
    if (!code) code = ids_variables_set(ret_environment, "IDSPROF_PLAN", text, err);
    if (!code) code = ids_variables_set(ret_environment, "IDSPROF_HOME", capture->home.path, err);
    if (!code) code = ids_variables_prepend(ret_environment, "PYTHONPATH", capture->home.hook, ':', err);
    if (!code) code = ids_capture_cuda(ret_environment, capture->home.path, capture->settings.quiet, err);
    if (!code)
        code = ids_capture_plugins(ret_environment, capture->home.path, capture->settings.platform,
                                   capture->settings.audit, capture->settings.quiet, err);
    if (!code && devices) code = set_devices(ret_environment, capture->settings.platform, devices, err);
    return code;
}

/* The command with {devices} replaced; the list and the changed texts are the caller's to free. */
static char **make_command(char *const *command, int64_t devices) {
    size_t count = 0;
    while (command[count]) count++;
    char **copy = calloc(count + 1, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++) {
        const char *place = devices ? strstr(command[i], "{devices}") : NULL;
        int failed = place ? asprintf(&copy[i], "%.*s%lld%s", (int)(place - command[i]), command[i], (long long)devices,
                                      place + PLACEHOLDER_BYTES) < 0
                           : !(copy[i] = strdup(command[i]));
        if (!failed) continue;
        for (size_t made = 0; made < i; made++) free(copy[made]);
        free(copy);
        return NULL;
    }
    return copy;
}

static void free_command(char **command) {
    for (size_t i = 0; command && command[i]; i++) free(command[i]);
    free(command);
}

/* ---- one run of the program ---- */

static void warn(const struct ids_error *err) {
    char whole[IDS_ERROR_WHOLE];
    ids_say("capture", "%s", ids_error_whole(err, whole));
}

static int caught_something(const char *folder) {
    char *path = NULL;
    if (asprintf(&path, "%s/plugins/profile", folder) < 0) {
        ids_memory_refused();
        return 0;
    }
    int found = !access(path, F_OK);
    free(path);
    return found;
}

/* Whether anything may still come of a process on another host. */
static int may_catch_more(const struct ids_seen *seen) {
    char host[IDS_HOST_BYTES];
    ids_process_host(host);
    for (size_t i = 0; i < seen->count; i++) {
        const struct ids_seen_process *process = &seen->processes[i];
        if (!process->is_closed && process->host && strcmp(process->host, host) != 0) return 1;
    }
    return 0;
}

static int ended_suddenly(const struct ids_seen *seen) {
    for (size_t i = 0; i < seen->count; i++) {
        if (!seen->processes[i].is_closed) return 1;
    }
    return 0;
}

/* A process that was killed before its window was closed, or opened, leaves no profile, but perhaps its steps until
 * then; and where windows are judged and none was worth keeping, the steps are what there is to see. */
static int left_history(const struct ids_outcome *outcome, const struct ids_capture_record *record,
                        const char *folder) {
    struct ids_report report;
    if (outcome->files || !(ended_suddenly(record->seen) || ids_plan_judges(record->plan))) return 0;
    ids_report_init(&report);
    int left = ids_history_of_folder(folder, &report);
    ids_report_done(&report);
    return left;
}

static void say_history(const char *folder, const struct ids_seen *seen) {
    char quoted[PATH_MAX];
    ids_shell_quote(ids_capture_shown_path(folder), quoted, sizeof quoted);
    ids_say_wrapped("history", "idsprof report %s draws the steps%s", quoted,
                    ended_suddenly(seen) ? " until then" : "");
}

/* What ended a program in a shell: the shell's own exit code says it (sh -c 'python train.py; exit $?'). */
static int signal_of_code(const struct ids_child_end *end, const struct ids_seen *seen) {
    enum { CODES = 128, SIGNALS = 65 };
    if (end->signal || !ended_suddenly(seen)) return 0;
    return end->code > CODES && end->code < CODES + SIGNALS ? end->code - CODES : 0;
}

/* Unless what was missed says it: a shell says so of its own programs, and we are its program. */
static void say_signal(const struct ids_child_end *end, const struct ids_outcome *outcome,
                       const struct ids_seen *seen) {
    int of_code = end ? signal_of_code(end, seen) : 0;
    if (!end || (!end->signal && !of_code) || (outcome->missed && strstr(outcome->missed, "signal "))) return;
    if (of_code)
        ids_say_wrapped("ended", "with exit code %d: signal %d (%s) ended a program in it", end->code, of_code,
                        strsignal(of_code));
    else
        ids_say_wrapped("ended", "by signal %d (%s)%s", end->signal, strsignal(end->signal),
                        end->dumped_core ? ", with a core dump" : "");
}

/* Reads what the processes said, writes it into the sidecar, and says it. */
static void conclude(const struct capture *capture, const struct ids_capture_folder *folder,
                     struct ids_capture_record *record) {
    struct ids_seen seen = {0};
    struct ids_arena arena = {0};
    struct ids_outcome outcome = {0};
    struct ids_error err = IDS_ERROR_INIT;
    if (!ids_seen_read(record->folder, &seen, &err)) record->seen = &seen;
    record->ended = time(NULL);
    record->lingers = ids_capture_folder_in_use(folder);
    ids_outcome_find(record, &arena, &outcome);
    record->outcome = &outcome;
    if (record->seen && ids_sidecar_write(record, &err)) warn(&err);
    int has_history = record->seen && left_history(&outcome, record, folder->path);
    int is_kept = capture->settings.keep_empty || outcome.files || has_history || caught_something(folder->path) ||
                  record->lingers || may_catch_more(&seen);
    if (!capture->settings.quiet) say_signal(record->end, &outcome, &seen);
    ids_capture_print(&outcome, is_kept ? ids_capture_shown_path(record->folder) : NULL, capture->settings.quiet);
    if (has_history && !capture->settings.quiet) say_history(record->folder, &seen);
    if (is_kept) {
        ids_capture_folder_tidy(folder);
        if (!capture->settings.quiet)
            ids_capture_check_steps(folder->path, outcome.files ? outcome.bytes : 0, record->devices);
        if (capture->settings.perfetto) ids_capture_perfetto(folder->path, capture->settings.quiet);
    } else {
        ids_capture_folder_remove(folder);
    }
    record->outcome = NULL;
    record->seen = NULL;
    ids_targets_forget(&seen);
    ids_arena_done(&arena);
    ids_seen_done(&seen);
}

static int status_of_failure(int code) {
    return code == IDS_NOT_FOUND ? NOT_FOUND_STATUS : code == IDS_UNSUPPORTED ? NOT_RUNNABLE_STATUS : IDS_EXIT_ERROR;
}

/* Gives the program's exit status. A failure before it started is in `err`, with its status too. */
static int run_program(const struct capture *capture, const struct ids_capture_folder *folder, int64_t devices,
                       int *ret_status, struct ids_error *err) {
    struct ids_variables environment = {0};
    struct ids_child_end end;
    struct ids_plan plan = capture->settings.plan;
    char **command = make_command(capture->command, devices);
    snprintf(plan.run, sizeof plan.run, "%s", folder->run);
    plan.launcher = getpid();
    struct ids_capture_record record = {.folder = folder->path,
                                        .home = capture->home.path,
                                        .run = folder->run,
                                        .command = command,
                                        .plan = &plan,
                                        .started = time(NULL),
                                        .devices = devices,
                                        .device = capture->settings.platform == IDS_PLATFORM_GPU   ? "GPU"
                                                  : capture->settings.platform == IDS_PLATFORM_TPU ? "TPU"
                                                                                                   : NULL};
    int code = command ? make_environment(capture, folder, &plan, devices, &environment, err) : ids_no_memory(err);
    if (!code) code = ids_sidecar_write(&record, err);
    if (!code) {
        code = ids_child_run(command, environment.at, &end, err);
        *ret_status = status_of_failure(code);
    } else {
        *ret_status = IDS_EXIT_ERROR;
    }
    if (!code) {
        record.rival = ids_capture_rival(&environment, capture->home.path);
        *ret_status = ids_child_status(&end);
        record.end = &end;
        conclude(capture, folder, &record);
    } else {
        ids_capture_folder_remove(folder);
    }
    ids_variables_done(&environment);
    free_command(command);
    return code;
}

/* ---- around it ---- */

static void prune(const struct capture *capture) {
    const struct ids_capture_settings *settings = &capture->settings;
    struct ids_error err = IDS_ERROR_INIT;
    int64_t removed;
    if (settings->keep <= 0) return;
    if (ids_capture_folder_prune(settings->dir, settings->name, settings->keep, &removed, &err)) {
        ids_error_at(&err, "--keep %lld", (long long)settings->keep);
        warn(&err);
    } else if (removed && !settings->quiet) {
        ids_say(NULL, "removed %s of this name (--keep %lld)", IDS_COUNTED(removed, "older capture"),
                (long long)settings->keep);
    }
}

/* Who asks for a device and has none would measure the CPU. A launcher of processes elsewhere is believed. Who takes
 * the CPU, too, gets no other: jax fails where a platform that it is told of cannot be had. */
static int check_device(struct capture *capture, struct ids_error *err) {
    struct ids_capture_settings *settings = &capture->settings;
    const char *plugin = ids_variables_get(&settings->environment, "TPU_LIBRARY_PATH");
    int is_gpu = settings->platform == IDS_PLATFORM_GPU, is_tpu = settings->platform == IDS_PLATFORM_TPU;
    if ((!is_gpu && !is_tpu) || (is_tpu && plugin && *plugin)) return 0;
    if (ids_devices_launch_elsewhere(capture->command[0]) || (is_gpu ? ids_devices_gpus : ids_devices_tpus)(""))
        return 0;
    if (settings->or_cpu) return ids_variables_set(&settings->environment, "JAX_PLATFORMS", "cpu", err);
    return ids_fail(err, IDS_NOT_FOUND, "--%s: there is no %s here (%s); --or-cpu runs the program on the CPU",
                    is_gpu ? "gpu" : "tpu", is_gpu ? "GPU" : "TPU",
                    is_gpu ? "no /dev/nvidia*, /dev/dxg, /dev/kfd" : "neither /dev/accel* nor /dev/vfio/*");
}

static int run_once(const struct capture *capture, int *ret_status, struct ids_error *err) {
    struct ids_capture_folder folder;
    int code = ids_capture_folder_make(capture->settings.dir, capture->settings.name, time(NULL), &folder, err);
    if (code) return code;
    code = run_program(capture, &folder, 0, ret_status, err);
    if (!code && caught_something(folder.path)) {
        prune(capture);
        if (capture->settings.report) ids_capture_report(folder.path, 0);
    }
    ids_capture_folder_done(&folder);
    return code;
}

/* The folder of a sweep holds captures, and is none. */
static void remove_inside(const char *root) {
    char *path = NULL;
    if (asprintf(&path, "%s/.idsprof", root) < 0) {
        ids_memory_refused();
        return;
    }
    rmdir(path);
    free(path);
}

/* One number of devices of a sweep; its folder is the caller's to end. */
static int run_part(const struct capture *capture, const char *root, int64_t devices,
                    struct ids_capture_folder *ret_folder, int *ret_status, struct ids_error *err) {
    char *path = NULL;
    if (asprintf(&path, "%s/%lld_devices", root, (long long)devices) < 0) return ids_no_memory(err);
    int code = ids_capture_folder_make_part(path, time(NULL), ret_folder, err);
    free(path);
    if (code) return code;
    if (!capture->settings.quiet) {
        ids_say(NULL, "sweep   %s", IDS_COUNTED(devices, "device"));
    }
    return run_program(capture, ret_folder, devices, ret_status, err);
}

/* The first bad status is the sweep's; a program that cannot be started, or that a signal ended, ends the sweep. */
static int run_sweep(const struct capture *capture, int *ret_status, struct ids_error *err) {
    const struct ids_capture_settings *settings = &capture->settings;
    struct ids_capture_folder root, parts[IDS_SWEEP_MAX] = {{0}};
    char *paths[IDS_SWEEP_MAX] = {0};
    time_t started = time(NULL);
    size_t made = 0;
    int caught = 0, kept = 0, status = 0;
    int code = ids_capture_folder_make(settings->dir, settings->name, started, &root, err);
    if (code) return code;
    remove_inside(root.path);
    code = ids_sidecar_write_sweep(root.path, capture->command, started, settings->sweep, paths, 0, 0, err);
    for (; !code && made < settings->sweep_count && status <= 128; made++) {
        code = run_part(capture, root.path, settings->sweep[made], &parts[made], &status, err);
        paths[made] =
            parts[made].path && !access(parts[made].path, F_OK) ? parts[made].path + strlen(root.path) + 1 : NULL;
        caught |= !code && caught_something(parts[made].path);
        if (!*ret_status) *ret_status = status;
    }
    /* The programs have ended, and their status goes before ours. */
    if (!code && ids_sidecar_write_sweep(root.path, capture->command, started, settings->sweep, paths, made, 1, err))
        warn(err);
    for (size_t i = 0; i < made; i++) kept |= paths[i] != NULL;
    if (!kept) ids_capture_folder_remove(&root);
    if (!code && caught) {
        prune(capture);
        if (settings->report) ids_capture_report(root.path, 1);
    }
    for (size_t i = 0; i < made; i++) ids_capture_folder_done(&parts[i]);
    ids_capture_folder_done(&root);
    return code;
}

static int run_without(const struct capture *capture, int *ret_status, struct ids_error *err) {
    struct ids_child_end end;
    int code = ids_child_run(capture->command, capture->settings.environment.at, &end, err);
    *ret_status = code ? status_of_failure(code) : ids_child_status(&end);
    if (!code && !capture->settings.quiet) ids_say(NULL, "PROFILE_ENABLED is off: nothing was recorded");
    return code;
}

/* Programs that run already. */
static int attach(struct capture *capture, const struct ids_capture_options *options, int *ret_status,
                  struct ids_error *err) {
    char *folder = NULL;
    int code = ids_capture_attach(options, &capture->settings, &folder, err);
    if (code >= 0) *ret_status = code;
    if (folder) prune(capture);
    if (folder && capture->settings.perfetto) ids_capture_perfetto(folder, capture->settings.quiet);
    if (folder && capture->settings.report) ids_capture_report(folder, 0);
    free(folder);
    return code < 0 ? code : 0;
}

/* A program, or programs that run already: one of the two. */
static int check_program(const struct ids_capture_options *options, char *const *operands, int count,
                         struct ids_error *err) {
    if (options->attach && count)
        return ids_fail(err, IDS_USAGE, "--attach is for programs that run already; '%s' would be started",
                        operands[0]);
    if (!options->attach && !count)
        return ids_fail(err, IDS_USAGE, "PROGRAM... is missing; usage: idsprof capture [options] PROGRAM...");
    return 0;
}

static int capture_run(const void *values, char *const *operands, int operand_count, struct ids_error *err) {
    const struct ids_capture_options *options = values;
    struct capture capture = {.command = operands};
    struct ids_listener *listener = NULL;
    int status = 0;
    int code = check_program(options, operands, operand_count, err);
    if (!code) code = ids_capture_settle(values, operands, environ, &capture.settings, err);
    if (!code && options->attach) {
        code = attach(&capture, options, &status, err);
    } else if (!code && !capture.settings.enabled) {
        code = run_without(&capture, &status, err);
    } else if (!code) {
        code = check_device(&capture, err);
        if (!code) code = ids_capture_home(&capture.home, err);
        /* Before anything runs: a port that cannot be had is said then. */
        const struct ids_capture_settings *set = &capture.settings;
        if (!code && set->listen && ids_listener_begin(set->listen, set->token, &listener, err))
            code = ids_error_at(err, "--listen %s", set->listen);
        if (!code) code = (capture.settings.sweep_count ? run_sweep : run_once)(&capture, &status, err);
    }
    ids_listener_end(listener);
    ids_capture_settings_done(&capture.settings);
    if (code && status > IDS_EXIT_ERROR) { /* 126 and 127 are what a shell gives, which main() does not know */
        warn(err);
        return status;
    }
    return code ? code : status;
}

const struct ids_command ids_capture_command = {
    .operands = "PROGRAM...",
    .most = -1,
    .opts = ids_capture_opts,
    .opt_count = IDS_CAPTURE_OPTS,
    .defaults = &ids_capture_option_defaults,
    .values_bytes = sizeof(struct ids_capture_options),
    .leading = 1,
    .passes_status = 1,
    .run = capture_run,
};
