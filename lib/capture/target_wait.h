/* target_wait.h - waits until a process has opened a requested window, or has closed and written it. */
#ifndef IDS_LIB_CAPTURE_TARGET_WAIT_H
#define IDS_LIB_CAPTURE_TARGET_WAIT_H

#include "lib/capture/targets.h"

/* 0 on success; -1 if the window was not opened within 10 s or is still open after two minutes. */
int ids_target_wait(struct ids_targets *targets, struct ids_target *target, int64_t window, int stop);

#endif
