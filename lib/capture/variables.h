/* variables.h - the environment of a capture: PROFILE_* variables, a file of variables, the program's environment. */
#ifndef IDS_LIB_CAPTURE_VARIABLES_H
#define IDS_LIB_CAPTURE_VARIABLES_H

#include "lib/base/error.h"

#include <stddef.h>
#include <stdint.h>

/* A growing list of "NAME=value", terminated by NULL. */
struct ids_variables {
    char **at;
    size_t count, room;
};

/* A copy of `from` (NULL: empty). */
int ids_variables_copy(struct ids_variables *ret_variables, char *const *from, struct ids_error *err);
void ids_variables_done(struct ids_variables *variables);
/* NULL if it is not set. */
const char *ids_variables_get(const struct ids_variables *variables, const char *name);
int ids_variables_set(struct ids_variables *variables, const char *name, const char *value, struct ids_error *err);
/* Prepends `value` and `separator` to the variable. */
int ids_variables_prepend(struct ids_variables *variables, const char *name, const char *value, char separator,
                          struct ids_error *err);

/* Reads a file of lines NAME=value. Empty lines and lines that begin with # are skipped, a leading "export " and quotes
 * around the whole value are removed. A variable that is already set keeps its value. */
int ids_variables_read(struct ids_variables *variables, const char *path, struct ids_error *err);

/* The values of PROFILE_ENABLED, PROFILE_MODE, PROFILE_START_STEP, PROFILE_INTERVAL, PROFILE_DURATION and PROFILE_DIR;
 * -1 or NULL: not set. */
struct ids_profile_variables {
    int enabled;
    int trigger;                            /* 1: PROFILE_MODE requests windows on a trigger */
    int64_t start_step, interval, duration; /* interval and duration in steps */
    const char *dir;                        /* points into the variables */
};
int ids_profile_variables(const struct ids_variables *variables, struct ids_profile_variables *ret,
                          struct ids_error *err);

#endif
