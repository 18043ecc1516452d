#include "lib/capture/target_wait.h"

#include <string.h>
#include <time.h>

enum { OPEN_WAIT_MS = 10000, CLOSE_WAIT_MS = 120000, POLL_MS = 20 };

static int is_state(const struct ids_target *target, const char *state) {
    return !strcmp(target->state, state);
}

int ids_target_wait(struct ids_targets *targets, struct ids_target *target, int64_t window, int stop) {
    struct ids_error ignored = IDS_ERROR_INIT;
    for (int waited = 0; waited < (stop ? CLOSE_WAIT_MS : OPEN_WAIT_MS); waited += POLL_MS) {
        int code = ids_target_ask(targets, target, "who", &ignored);
        if (code) return stop ? 0 : -1; /* it has ended, and closed its window before that */
        if (stop && !is_state(target, "closing")) return 0;
        if (!stop && !is_state(target, "opening")) return target->opened >= window ? 0 : -1;
        struct timespec pause = {.tv_nsec = POLL_MS * 1000000L};
        nanosleep(&pause, NULL);
    }
    return -1;
}
