/* capture_profiler.h - whether jax's profiler takes what --profile-option says. */
#ifndef IDS_CMD_CAPTURE_PROFILER_H
#define IDS_CMD_CAPTURE_PROFILER_H

#include "lib/base/error.h"

/* Refuses a known option with a value of another type, and a name that is near a known one. Other names are let
 * through, because a newer jax may have more: the hook asks the jax of the program. IDS_USAGE with *err set. */
int ids_capture_check_profiler(const char *key_value, struct ids_error *err);

#endif
