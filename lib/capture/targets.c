#include "lib/capture/targets.h"

#include "collectors/common/control.h"
#include "lib/base/vec.h"
#include "lib/capture/line.h"
#include "lib/capture/seen.h"
#include "lib/capture/session_of.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *known(const char *text) {
    return text ? text : "";
}

int ids_target_ask(struct ids_targets *targets, struct ids_target *target, const char *request, struct ids_error *err) {
    char answer[IDS_CONTROL_LINE], why[256];
    struct ids_line line;
    int failed = ids_control_ask(target->socket, request, answer, sizeof answer, why, sizeof why);
    if (failed) return ids_fail(err, failed == -2 ? IDS_NOT_FOUND : IDS_IO, "%s", why);
    if (ids_line_parse(answer, strlen(answer), &line)) {
        return ids_fail(err, IDS_CORRUPT, "'%s' gave an answer that is not understood", target->socket);
    }
    target->pid = ids_line_number(&line, "pid");
    target->launcher = ids_line_number(&line, "launcher");
    target->rank = ids_line_number(&line, "rank");
    target->window = ids_line_number(&line, "window");
    target->opened = ids_line_number(&line, "opened");
    target->step = ids_line_number(&line, "step");
    target->session = known(ids_line_text(&targets->arena, &line, "session"));
    target->state = known(ids_line_text(&targets->arena, &line, "state"));
    target->command = known(ids_line_text(&targets->arena, &line, "command"));
    target->why = known(ids_line_text(&targets->arena, &line, "why"));
    target->refused = ids_line_number(&line, "ok") == 0;
    return 0;
}

static int is_socket(const char *name) {
    size_t digits = strspn(name, "0123456789");
    return digits && !strcmp(name + digits, ".sock");
}

/* One that does not answer is passed over: it may be ending just now. */
static int add(struct ids_targets *targets, const char *path, int is_ours, struct ids_error *err) {
    struct ids_error ignored = IDS_ERROR_INIT;
    for (size_t i = 0; i < targets->count; i++) {
        if (!strcmp(targets->at[i].socket, path)) return 0;
    }
    struct ids_target target = {.socket = ids_arena_copy(&targets->arena, path, strlen(path))};
    if (!target.socket) return ids_no_memory(err);
    int code = ids_target_ask(targets, &target, "who", &ignored);
    if (code == IDS_NOT_FOUND && is_ours) unlink(path);
    if (code == IDS_IO) targets->silent = strtoll(strrchr(path, '/') + 1, NULL, 10);
    if (code || targets->count == IDS_TARGETS_MAX) return 0;
    struct ids_target *place = IDS_PUSH(targets->at, targets->count, targets->room);
    if (!place) return ids_no_memory(err);
    *place = target;
    return 0;
}

/* A folder of sockets that belongs to this user alone; one that is not there has none. */
static int add_folder(struct ids_targets *targets, const char *path, struct ids_error *err) {
    struct stat status;
    if (lstat(path, &status) || !S_ISDIR(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077))
        return 0;
    DIR *folder = opendir(path);
    int code = 0;
    for (struct dirent *entry; folder && !code && (entry = readdir(folder));) {
        char socket[IDS_CONTROL_PATH];
        int length = snprintf(socket, sizeof socket, "%s/%s", path, entry->d_name);
        if (is_socket(entry->d_name) && length > 0 && (size_t)length < sizeof socket)
            code = add(targets, socket, 1, err);
    }
    if (folder) closedir(folder);
    return code;
}

/* Where XDG_RUNTIME_DIR is another one here than in the program, its hello file knows. */
static int add_session(struct ids_targets *targets, const char *session, struct ids_error *err) {
    struct ids_seen seen;
    struct ids_error ignored = IDS_ERROR_INIT;
    int code = 0;
    if (ids_seen_read(session, &seen, &ignored)) return 0;
    for (size_t i = 0; i < seen.count && !code; i++) {
        const struct ids_seen_process *process = &seen.processes[i];
        if (process->socket && process->socket[0] == '/' && !process->is_closed)
            code = add(targets, process->socket, 0, err);
    }
    ids_seen_done(&seen);
    return code;
}

void ids_targets_forget(const struct ids_seen *seen) {
    char answer[IDS_CONTROL_LINE], why[256];
    for (size_t i = 0; i < seen->count; i++) {
        const struct ids_seen_process *process = &seen->processes[i];
        const char *slash = process->socket ? strrchr(process->socket, '/') : NULL;
        struct stat status;
        if (!slash || process->is_closed || !is_socket(slash + 1) || strtoll(slash + 1, NULL, 10) != process->pid)
            continue;
        if (lstat(process->socket, &status) || !S_ISSOCK(status.st_mode)) continue;
        if (ids_control_ask(process->socket, "who", answer, sizeof answer, why, sizeof why) == -2)
            unlink(process->socket);
    }
}

static int by_place(const void *a, const void *b) {
    const struct ids_target *left = a, *right = b;
    int order = strcmp(left->session, right->session);
    if (order) return order;
    if (left->rank != right->rank) return left->rank < right->rank ? -1 : 1;
    return (left->pid > right->pid) - (left->pid < right->pid);
}

/* Programs with and without XDG_RUNTIME_DIR, as they are on one machine. Where it is a folder of its own, it alone is
 * meant. */
static int add_usual(struct ids_targets *targets, struct ids_error *err) {
    char path[IDS_CONTROL_PATH], usual[2][IDS_CONTROL_PATH], why[256];
    unsigned user = (unsigned)geteuid();
    snprintf(usual[0], sizeof usual[0], "/run/user/%u/idsprof-%u", user, user);
    snprintf(usual[1], sizeof usual[1], "/tmp/idsprof-%u", user);
    if (ids_control_folder(path, sizeof path, why, sizeof why)) return ids_fail(err, IDS_IO, "%s", why);
    if (strcmp(path, usual[0]) != 0 && strcmp(path, usual[1]) != 0) return add_folder(targets, path, err);
    int code = add_folder(targets, usual[0], err);
    return code ? code : add_folder(targets, usual[1], err);
}

int ids_targets_find(const char *word, struct ids_targets *ret_targets, struct ids_error *err) {
    char session[PATH_MAX];
    *ret_targets = (struct ids_targets){0};
    int code = add_usual(ret_targets, err);
    if (!code && word) code = add_session(ret_targets, word, err);
    if (!code && word && !ids_session_of(word, session, sizeof session)) code = add_session(ret_targets, session, err);
    if (ret_targets->count) qsort(ret_targets->at, ret_targets->count, sizeof *ret_targets->at, by_place);
    if (code) ids_targets_done(ret_targets);
    return code;
}

void ids_targets_done(struct ids_targets *targets) {
    free(targets->at);
    ids_arena_done(&targets->arena);
    *targets = (struct ids_targets){0};
}
