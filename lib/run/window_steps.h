/* window_steps.h - what each step took that a report measures, by the report itself: a history keeps the last ten
 * thousand steps, and the window may lie before these. */
#ifndef IDS_LIB_RUN_WINDOW_STEPS_H
#define IDS_LIB_RUN_WINDOW_STEPS_H

#include "lib/report/report.h"

#include <stddef.h>
#include <stdint.h>

/* The next one in nanoseconds, without that which is in no mean, nor the first ten, which compile; -1: there is
 * none. *at is 0 at first. */
int64_t ids_window_step(const struct ids_report *report, size_t *at);

#endif
