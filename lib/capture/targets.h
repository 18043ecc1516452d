/* targets.h - the profiled processes of this user that run now, found by their control sockets. */
#ifndef IDS_LIB_CAPTURE_TARGETS_H
#define IDS_LIB_CAPTURE_TARGETS_H

#include "lib/base/arena.h"
#include "lib/base/error.h"

#include <stdint.h>

enum { IDS_TARGETS_MAX = 4096 };

struct ids_target {
    int64_t pid, launcher, rank, step; /* -1: none, or not known */
    int64_t window, opened;            /* the last that was asked for, the last that did open; 0: none */
    const char *socket, *session, *state, *command, *why;
    int refused; /* what was asked of it was not possible: why */
};

struct ids_targets {
    struct ids_arena arena;
    struct ids_target *at; /* by session, rank and process id */
    size_t count, room;
};

/* Everyone who answers. A socket that nobody listens at any more is removed. */
int ids_targets_find(struct ids_targets *ret_targets, struct ids_error *err);
void ids_targets_done(struct ids_targets *targets);
/* Asks one of them "who", "start" or "stop" and brings it up to date. IDS_NOT_FOUND when it has ended. */
int ids_target_ask(struct ids_targets *targets, struct ids_target *target, const char *request, struct ids_error *err);

#endif
