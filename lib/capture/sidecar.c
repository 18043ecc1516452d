#include "lib/capture/sidecar.h"

#include "collectors/common/secrets.h"
#include "lib/capture/outcome.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- pieces ---- */

/* RFC 3339, UTC. */
static void put_time(struct ids_json *json, const char *key, time_t when) {
    char text[32];
    struct tm utc;
    ids_json_key(json, key);
    gmtime_r(&when, &utc);
    if (when && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc)) {
        ids_json_text(json, text);
    } else {
        ids_json_null(json);
    }
}

static void put_text(struct ids_json *json, const char *key, const char *text) {
    ids_json_key(json, key);
    ids_json_text(json, text);
}

/* -1 is null: not known. */
static void put_number(struct ids_json *json, const char *key, int64_t number) {
    ids_json_key(json, key);
    if (number < 0) {
        ids_json_null(json);
    } else {
        ids_json_int(json, number);
    }
}

static void put_masked(struct ids_json *json, struct ids_secrets *secrets, const char *text) {
    size_t size = 2 * strlen(text) + 8;
    char *masked = malloc(size);
    if (masked) ids_secrets_mask(secrets, text, masked, size);
    ids_json_text(json, masked ? masked : "***");
    free(masked);
}

static void put_command(struct ids_json *json, const char *key, char *const *command) {
    struct ids_secrets secrets = {0};
    ids_json_key(json, key);
    ids_json_array(json, IDS_JSON_INLINE);
    for (; command && *command; command++) put_masked(json, &secrets, *command);
    ids_json_end(json);
}

static void put_plan(struct ids_json *json, const struct ids_plan *plan) {
    ids_json_key(json, "plan");
    ids_json_object(json, IDS_JSON_BROKEN);
    put_number(json, "start_step", plan->start_step);
    put_number(json, "steps", plan->steps);
    put_number(json, "every", plan->every);
    put_number(json, "every_ns", plan->every_ns);
    put_number(json, "when_ratio", plan->when_ratio);
    put_number(json, "when_ns", plan->when_ns);
    put_number(json, "keep_slowest", plan->keep_slowest);
    put_number(json, "max_cost", plan->max_cost);
    put_number(json, "max", plan->max);
    put_number(json, "delay_ns", plan->delay_ns);
    put_number(json, "duration_ns", plan->duration_ns);
    put_number(json, "trigger", plan->trigger);
    put_number(json, "warmup", plan->warmup);
    put_number(json, "max_size", plan->max_size);
    put_number(json, "max_window_bytes", ids_window_bytes(plan));
    put_number(json, "stop_timeout_ns", plan->stop_timeout_ns);
    put_number(json, "host_level", plan->host_level);
    put_number(json, "device_level", plan->device_level);
    put_number(json, "python_level", plan->python_level);
    put_number(json, "stacks", plan->stacks);
    put_number(json, "memory", plan->memory);
    put_text(json, "range", plan->range[0] ? plan->range : NULL);
    put_text(json, "wrap", plan->wrap[0] ? plan->wrap : NULL);
    put_text(json, "ranks", plan->ranks[0] ? plan->ranks : NULL);
    put_text(json, "step_executable", plan->step_executable[0] ? plan->step_executable : NULL);
    ids_json_end(json);
}

static void put_end(struct ids_json *json, const struct ids_child_end *end) {
    ids_json_key(json, "exit");
    if (!end) {
        ids_json_null(json);
        return;
    }
    ids_json_object(json, IDS_JSON_INLINE);
    put_number(json, "pid", end->pid);
    put_number(json, "code", end->code);
    put_number(json, "signal", end->signal ? end->signal : -1);
    put_number(json, "wall_ns", end->wall_ns);
    ids_json_end(json);
}

/* ---- processes ---- */

/* What was sampled, and at what price, or why nothing was; null where there was no Python. */
static void put_stacks(struct ids_json *json, const struct ids_seen_window *window) {
    ids_json_key(json, "stacks");
    if (window->no_stacks) {
        ids_json_object(json, IDS_JSON_INLINE);
        put_text(json, "why", window->no_stacks);
        ids_json_end(json);
        return;
    }
    if (window->samples < 0) {
        ids_json_null(json);
        return;
    }
    ids_json_object(json, IDS_JSON_INLINE);
    put_number(json, "rate", window->rate);
    put_number(json, "samples", window->samples);
    put_number(json, "threads", window->threads);
    put_number(json, "late", window->late);
    put_number(json, "dropped", window->left_out);
    put_number(json, "still", window->still);
    put_number(json, "cpu_ns", window->sampling_ns);
    ids_json_end(json);
}

static void put_window(struct ids_json *json, const struct ids_seen_window *window) {
    static const char *const fates[] = {"open", "written", "lost"};
    ids_json_object(json, IDS_JSON_INLINE);
    put_number(json, "window", window->number);
    put_text(json, "state", fates[window->fate]);
    put_text(json, "collector", window->collector);
    put_text(json, "opened_by", window->opened_by);
    put_text(json, "closed_by", window->closed_by);
    put_text(json, "path", window->path);
    put_text(json, "why", window->why);
    put_number(json, "bytes", window->bytes);
    put_number(json, "events", window->events);
    put_number(json, "drops", window->drops);
    put_number(json, "first_step", window->first_step);
    put_number(json, "last_step", window->last_step);
    put_number(json, "steps", window->steps);
    put_number(json, "begin_ns", window->begin_ns);
    put_number(json, "end_ns", window->end_ns);
    put_number(json, "start_ns", window->start_ns);
    put_number(json, "stop_ns", window->stop_ns);
    put_number(json, "publish_ns", window->publish_ns);
    put_stacks(json, window);
    if (window->reason) {
        put_text(json, "reason", window->reason);
        put_number(json, "slow_step", window->slow_step);
        put_number(json, "slow_ns", window->slow_ns);
        put_number(json, "slow_late_ns", window->slow_late_ns);
        put_number(json, "median_ns", window->median_ns);
    }
    ids_json_end(json);
}

/* An object of each, with the names that key and value have there. */
static void put_texts(struct ids_json *json, const char *list, const struct ids_seen_text *texts, size_t count,
                      const char *key, const char *value) {
    ids_json_key(json, list);
    ids_json_array(json, IDS_JSON_BROKEN);
    for (size_t i = 0; i < count; i++) {
        ids_json_object(json, IDS_JSON_INLINE);
        if (key) put_text(json, key, texts[i].key);
        if (value) put_text(json, value, texts[i].value);
        ids_json_end(json);
    }
    ids_json_end(json);
}

static void put_facts(struct ids_json *json, const struct ids_seen_process *process) {
    ids_json_key(json, "facts");
    ids_json_object(json, IDS_JSON_BROKEN);
    for (size_t i = 0; i < process->fact_count; i++) {
        if (process->facts[i].key) put_text(json, process->facts[i].key, process->facts[i].value);
    }
    ids_json_end(json);
}

/* How many windows were tried, and which steps were slow, where windows are judged. */
static void put_judged(struct ids_json *json, const struct ids_seen_process *process) {
    if (process->tried < 0) return;
    ids_json_key(json, "judged");
    ids_json_object(json, IDS_JSON_INLINE);
    put_number(json, "tried", process->tried);
    put_number(json, "kept", process->kept);
    put_number(json, "steps", process->judged_steps);
    put_number(json, "slow", process->slow);
    put_number(json, "slow_missed", process->slow_missed);
    put_number(json, "missed_step", process->missed_ns > 0 ? process->missed_step : -1);
    put_number(json, "missed_ns", process->missed_ns > 0 ? process->missed_ns : -1);
    put_number(json, "median_ns", process->judged_median_ns);
    put_number(json, "cost_ns", process->judged_cost_ns);
    ids_json_end(json);
}

static void put_process(struct ids_json *json, const struct ids_seen_process *process) {
    ids_json_object(json, IDS_JSON_BROKEN);
    put_number(json, "pid", process->pid);
    put_number(json, "ppid", process->ppid);
    put_text(json, "host", process->host);
    put_number(json, "rank", process->rank);
    put_text(json, "exe", process->exe);
    ids_json_key(json, "argv");
    ids_json_array(json, IDS_JSON_INLINE);
    for (size_t i = 0; i < process->argv_count; i++) ids_json_text(json, process->argv[i]);
    ids_json_end(json);
    put_text(json, "agent", process->agent);
    put_text(json, "socket", process->socket);
    put_judged(json, process);
    ids_json_key(json, "collectors");
    ids_json_array(json, IDS_JSON_INLINE);
    for (size_t i = 0; i < process->collector_count; i++) ids_json_text(json, process->collectors[i].key);
    ids_json_end(json);
    put_facts(json, process);
    put_text(json, "steps_by", process->steps_source);
    put_text(json, "steps_of", process->steps_name);
    put_number(json, "last_step", process->number >= 0 ? process->number : process->reached);
    ids_json_key(json, "ended_in_order");
    ids_json_bool(json, process->is_closed);
    ids_json_key(json, "windows");
    ids_json_array(json, IDS_JSON_BROKEN);
    for (size_t i = 0; i < process->window_count; i++) put_window(json, &process->windows[i]);
    ids_json_end(json);
    put_texts(json, "skipped", process->skipped, process->skipped_count, "collector", "why");
    put_texts(json, "notes", process->notes, process->note_count, NULL, "note");
    ids_json_end(json);
}

static void put_seen(struct ids_json *json, const struct ids_seen *seen) {
    if (!seen) return;
    put_number(json, "pythons", seen->pythons);
    ids_json_key(json, "processes");
    ids_json_array(json, IDS_JSON_BROKEN);
    for (size_t i = 0; i < seen->count; i++) put_process(json, &seen->processes[i]);
    ids_json_end(json);
}

static void put_outcome(struct ids_json *json, const struct ids_outcome *outcome) {
    if (!outcome) return;
    ids_json_key(json, "caught");
    ids_json_object(json, IDS_JSON_INLINE);
    put_number(json, "runs", outcome->runs);
    put_number(json, "files", outcome->files);
    put_number(json, "bytes", outcome->bytes);
    put_number(json, "events", outcome->events);
    put_number(json, "drops", outcome->drops);
    ids_json_end(json);
    ids_json_key(json, "missed");
    if (!outcome->missed) {
        ids_json_null(json);
        return;
    }
    ids_json_object(json, IDS_JSON_INLINE);
    put_text(json, "id", outcome->reason);
    put_text(json, "why", outcome->missed);
    put_text(json, "do", outcome->remedy);
    ids_json_end(json);
}

/* ---- the file ---- */

static void begin(struct ids_json *json, int ended) {
    ids_json_object(json, IDS_JSON_BROKEN);
    put_text(json, "idsprof", IDS_VERSION);
    put_text(json, "state", ended ? "ended" : "running");
}

static int open_file(const char *folder, FILE **ret_file, char **ret_temporary, struct ids_error *err) {
    if (asprintf(ret_temporary, "%s/." IDS_SIDECAR ".new", folder) < 0) return ids_no_memory(err);
    unlink(*ret_temporary); /* of a program that was killed: its mode would stay */
    int file = open(*ret_temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    *ret_file = file < 0 ? NULL : fdopen(file, "w");
    if (*ret_file) return 0;
    int code = ids_fail_system(err, "cannot write '%s'", *ret_temporary);
    if (file >= 0) {
        close(file);
        unlink(*ret_temporary);
    }
    free(*ret_temporary);
    return code;
}

static int close_file(const char *folder, FILE *file, char *temporary, struct ids_error *err) {
    char *path = NULL;
    int code = 0, failed = fflush(file) || ferror(file);
    int why = errno;
    failed |= fclose(file) != 0;
    if (asprintf(&path, "%s/" IDS_SIDECAR, folder) < 0) path = NULL;
    if (failed || !path || rename(temporary, path)) {
        errno = failed ? why : path ? errno : ENOMEM;
        code = ids_fail_system(err, "cannot write '%s/" IDS_SIDECAR "'", folder);
        unlink(temporary);
    }
    free(path);
    free(temporary);
    return code;
}

int ids_sidecar_write(const struct ids_capture_record *record, struct ids_error *err) {
    FILE *file;
    char *temporary, host[256] = "", *here = getcwd(NULL, 0);
    int code = !here && errno == ENOMEM ? ids_no_memory(err) : 0;
    if (!code) code = open_file(record->folder, &file, &temporary, err);
    if (!code) {
        struct ids_json json = ids_json_to(file);
        begin(&json, record->end != NULL);
        put_command(&json, "command", record->command);
        put_text(&json, "folder", here);
        gethostname(host, sizeof host - 1);
        put_text(&json, "host", host);
        put_number(&json, "launcher", (int64_t)getpid());
        put_time(&json, "started", record->started);
        put_time(&json, "ended", record->ended);
        put_text(&json, "run", record->run);
        put_number(&json, "devices", record->devices ? record->devices : -1);
        put_end(&json, record->end);
        put_plan(&json, record->plan);
        put_outcome(&json, record->outcome);
        put_seen(&json, record->seen);
        ids_json_end(&json);
        code = close_file(record->folder, file, temporary, err);
    }
    free(here);
    return code;
}

int ids_sidecar_write_sweep(const char *folder, char *const *command, time_t started, const int64_t *devices,
                            char *const *parts, size_t count, int ended, struct ids_error *err) {
    FILE *file;
    char *temporary;
    int code = open_file(folder, &file, &temporary, err);
    if (code) return code;
    struct ids_json json = ids_json_to(file);
    begin(&json, ended);
    put_command(&json, "command", command);
    put_number(&json, "launcher", (int64_t)getpid());
    put_time(&json, "started", started);
    ids_json_key(&json, "sweep");
    ids_json_array(&json, IDS_JSON_BROKEN);
    for (size_t i = 0; i < count; i++) {
        ids_json_object(&json, IDS_JSON_INLINE);
        put_number(&json, "devices", devices[i]);
        put_text(&json, "folder", parts[i]);
        ids_json_end(&json);
    }
    ids_json_end(&json);
    ids_json_end(&json);
    return close_file(folder, file, temporary, err);
}

int ids_sidecar_write_ended(const char *folder, void (*put)(struct ids_json *json, const void *what), const void *what,
                            struct ids_error *err) {
    FILE *file;
    char *temporary;
    int code = open_file(folder, &file, &temporary, err);
    if (code) return code;
    struct ids_json json = ids_json_to(file);
    begin(&json, 1);
    put(&json, what);
    ids_json_end(&json);
    return close_file(folder, file, temporary, err);
}
