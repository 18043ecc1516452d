/* capture_after.h - what `idsprof capture` runs when a capture has ended: a report, and an export of each window. */
#ifndef IDS_CMD_CAPTURE_AFTER_H
#define IDS_CMD_CAPTURE_AFTER_H

#include <stdint.h>

/* The folder as it would be typed from here: relative when it is below. Valid until the next call. */
const char *ids_capture_shown_path(const char *path);

/* The report of what was caught, of a sweep its list. */
void ids_capture_report(const char *folder, int is_sweep);

/* Says where the report counts other steps in a window than the capture did while it recorded, and where it has more
 * devices than the part of a sweep was to have (0: of none). Large captures are not read for that. */
void ids_capture_check_steps(const char *folder, int64_t bytes, int64_t devices);

/* --perfetto: beside each window's profile in the folder a trace for ui.perfetto.dev. */
void ids_capture_perfetto(const char *folder, int quiet);

#endif
