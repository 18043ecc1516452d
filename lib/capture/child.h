/* child.h - starts the profiled program on the same terminal, waits for it, and passes signals on to it.
 *
 * It stays in our process group, so the terminal's keys (interrupt, quit, stop) reach it as they would without us.
 * Signals from another process are passed on to it; one that stops stops both, and one that continues does. Signals
 * to the whole group are not, because the program got them already (group_witness.h).
 */
#ifndef IDS_LIB_CAPTURE_CHILD_H
#define IDS_LIB_CAPTURE_CHILD_H

#include "lib/base/error.h"

#include <stdint.h>

struct ids_child_end {
    int pid;
    int code;   /* exit code, or -1 */
    int signal; /* the signal that ended it, or 0 */
    int dumped_core;
    int64_t wall_ns;
};

/* Runs argv[0] (searched for in PATH) with this environment and waits for its end. IDS_NOT_FOUND: no such program;
 * IDS_UNSUPPORTED: it exists but cannot be run. A shell's exit codes for these are 127 and 126. */
int ids_child_run(char *const argv[], char *const environment[], struct ids_child_end *ret_end, struct ids_error *err);

/* The exit code that a shell would return: 128 + n for signal n. */
int ids_child_status(const struct ids_child_end *end);

#endif
