/* capture_plugins.h - what in the program's environment brings collector A in front of PJRT plugins that the Python
 * hook does not see. */
#ifndef IDS_CMD_CAPTURE_PLUGINS_H
#define IDS_CMD_CAPTURE_PLUGINS_H

#include "cmd/capture_options.h"

/* TPU_LIBRARY_PATH and PJRT_LIBRARY_PATH name libidsprof_pjrt.so of the folder `home` where they name a
 * file: where they do not, the program finds its plugin in a way that its own Python knows best. What they named,
 * IDSPROF_TPU_LIBRARY and IDSPROF_PJRT_LIBRARY say to the library. With `audit` LD_AUDIT names it too. IDSPROF_PJRT=0
 * in the environment, or no such library: nothing of it, and with `audit` stderr says so unless `quiet`. */
int ids_capture_plugins(struct ids_variables *environment, const char *home, enum ids_capture_platform platform,
                        int audit, int quiet, struct ids_error *err);

#endif
