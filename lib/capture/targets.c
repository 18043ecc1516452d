#include "lib/capture/targets.h"

#include "collectors/common/control.h"
#include "lib/base/vec.h"
#include "lib/capture/line.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
static int add(struct ids_targets *targets, const char *folder, const char *name, struct ids_error *err) {
    char path[IDS_CONTROL_PATH];
    struct ids_error ignored = IDS_ERROR_INIT;
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= sizeof path) return 0;
    struct ids_target target = {.socket = ids_arena_copy(&targets->arena, path, (size_t)length)};
    if (!target.socket) return ids_no_memory(err);
    int code = ids_target_ask(targets, &target, "who", &ignored);
    if (code == IDS_NOT_FOUND) unlink(path);
    if (code) return 0;
    struct ids_target *place = IDS_PUSH(targets->at, targets->count, targets->room);
    if (!place) return ids_no_memory(err);
    *place = target;
    return 0;
}

static int by_place(const void *a, const void *b) {
    const struct ids_target *left = a, *right = b;
    int order = strcmp(left->session, right->session);
    if (order) return order;
    if (left->rank != right->rank) return left->rank < right->rank ? -1 : 1;
    return (left->pid > right->pid) - (left->pid < right->pid);
}

int ids_targets_find(struct ids_targets *ret_targets, struct ids_error *err) {
    char path[IDS_CONTROL_PATH], why[256];
    *ret_targets = (struct ids_targets){0};
    if (ids_control_folder(path, sizeof path, why, sizeof why)) return ids_fail(err, IDS_IO, "%s", why);
    DIR *folder = opendir(path);
    if (!folder) return ids_fail_system(err, "cannot read '%s'", path);
    int code = 0;
    for (struct dirent *entry; !code && ret_targets->count < IDS_TARGETS_MAX && (entry = readdir(folder));) {
        if (is_socket(entry->d_name)) code = add(ret_targets, path, entry->d_name, err);
    }
    closedir(folder);
    if (ret_targets->count) qsort(ret_targets->at, ret_targets->count, sizeof *ret_targets->at, by_place);
    if (code) ids_targets_done(ret_targets);
    return code;
}

void ids_targets_done(struct ids_targets *targets) {
    free(targets->at);
    ids_arena_done(&targets->arena);
    *targets = (struct ids_targets){0};
}
