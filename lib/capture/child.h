/* child.h - starts the profiled program on the same terminal, waits for it, and passes signals on to it.
 *
 * It stays in our process group, so that the terminal's keys (interrupt, quit, stop) reach it as they would without us.
 * Signals from another process are passed on to it. Signals that the terminal sent to the whole group are not, because
 * the program got them already.
 */
#ifndef IDS_LIB_CAPTURE_CHILD_H
#define IDS_LIB_CAPTURE_CHILD_H

#include "lib/base/error.h"

#include <stdint.h>

struct ids_child_end {
    int pid;
    int code;   /* of exit, or -1 */
    int signal; /* that ended it, or 0 */
    int dumped_core;
    int64_t wall_ns;
};

/* Runs argv[0], found as a shell finds it, with this environment until it ends. IDS_NOT_FOUND when there is no such
 * program, IDS_UNSUPPORTED when it is there and cannot be run: for these a shell has the exit codes 127 and 126. */
int ids_child_run(char *const argv[], char *const environment[], struct ids_child_end *ret_end, struct ids_error *err);

/* What a shell gives as the exit code: 128 + n for a signal. */
int ids_child_status(const struct ids_child_end *end);

#endif
