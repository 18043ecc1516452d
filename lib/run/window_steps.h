/* window_steps.h - which steps a report measures and what each took, by the report itself: a history keeps the last ten
 * thousand steps, and the window may lie before these. */
#ifndef IDS_LIB_RUN_WINDOW_STEPS_H
#define IDS_LIB_RUN_WINDOW_STEPS_H

#include "lib/report/report.h"

#include <stddef.h>
#include <stdint.h>

/* A number of the report's steps, as "steps.first"; -1: it has none. */
int64_t ids_window_number(const struct ids_report *report, const char *id);
/* The next one in nanoseconds, without that which is in no mean, nor the first ten, which compile; -1: there is
 * none. *at is 0 at first. */
int64_t ids_window_step(const struct ids_report *report, size_t *at);

#endif
