/* capture_attach.h - `idsprof capture --attach`: programs that run already. */
#ifndef IDS_CMD_CAPTURE_ATTACH_H
#define IDS_CMD_CAPTURE_ATTACH_H

#include "cmd/capture_options.h"

/* Gives the exit status, or a negative code. The folder of what was caught is the caller's to free, NULL: nothing. */
int ids_capture_attach(const struct ids_capture_options *options, const struct ids_capture_settings *settings,
                       char **ret_folder, struct ids_error *err);

#endif
