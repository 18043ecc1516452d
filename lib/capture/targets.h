/* targets.h - the running profiled processes of this user, found through their control sockets. */
#ifndef IDS_LIB_CAPTURE_TARGETS_H
#define IDS_LIB_CAPTURE_TARGETS_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/capture/seen.h"

#include <stdint.h>

enum { IDS_TARGETS_MAX = 4096 };

struct ids_target {
    int64_t pid, launcher, rank, step; /* -1: none or unknown */
    int64_t window, opened;            /* the last requested and the last opened window; 0: none */
    const char *socket, *session, *state, *command, *why;
    int refused; /* the request was refused; why */
};

struct ids_targets {
    struct ids_arena arena;
    struct ids_target *at; /* by session, rank and process id */
    size_t count, room;
    int64_t silent; /* the last one that has its socket and gave no answer in time; 0: none */
};

/* Everyone who answers: at sockets in the folders where they mostly are, and where the capture that `word` names says
 * that its are: the folder of the capture, or the number of a process in it (NULL: none). Sockets in those folders at
 * which nobody listens any more are removed. */
int ids_targets_find(const char *word, struct ids_targets *ret_targets, struct ids_error *err);
void ids_targets_done(struct ids_targets *targets);
/* Removes the sockets of a capture's processes at which nobody listens any more: of those that were killed, or left
 * without their ends being told (os._exit). */
void ids_targets_forget(const struct ids_seen *seen);
/* Sends "who", "start" or "stop" to one process and updates it. IDS_NOT_FOUND: the process ended. */
int ids_target_ask(struct ids_targets *targets, struct ids_target *target, const char *request, struct ids_error *err);

#endif
