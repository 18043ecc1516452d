/* capture_print.h - the lines that end a capture, on standard error: what was caught, what not and why, and the next
 * command. */
#ifndef IDS_CMD_CAPTURE_PRINT_H
#define IDS_CMD_CAPTURE_PRINT_H

#include "lib/capture/outcome.h"

/* `shown` is the folder as the user would type it; NULL: it was removed, because nothing was caught. `quiet`: only
 * what is missing. */
void ids_capture_print(const struct ids_outcome *outcome, const char *shown, int quiet);

#endif
