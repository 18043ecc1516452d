/* variables.h - the environment of a capture: the PROFILE_* variables, a file of variables, and what the program
 * gets. */
#ifndef IDS_LIB_CAPTURE_VARIABLES_H
#define IDS_LIB_CAPTURE_VARIABLES_H

#include "lib/base/error.h"

#include <stddef.h>
#include <stdint.h>

/* A list of "NAME=value", ended by NULL, which grows. */
struct ids_variables {
    char **at;
    size_t count, room;
};

/* A copy of `from` (NULL: empty). */
int ids_variables_copy(struct ids_variables *ret_variables, char *const *from, struct ids_error *err);
void ids_variables_done(struct ids_variables *variables);
/* NULL when it is not set. */
const char *ids_variables_get(const struct ids_variables *variables, const char *name);
int ids_variables_set(struct ids_variables *variables, const char *name, const char *value, struct ids_error *err);
/* Puts `value` and `separator` in front of what is there. */
int ids_variables_prepend(struct ids_variables *variables, const char *name, const char *value, char separator,
                          struct ids_error *err);

/* Reads a file of lines NAME=value; empty lines and those that begin with # say nothing, "export " may stand in front,
 * quotes around a whole value are taken off. A variable that is set already keeps its value. */
int ids_variables_read(struct ids_variables *variables, const char *path, struct ids_error *err);

/* What PROFILE_ENABLED, PROFILE_MODE, PROFILE_START_STEP, PROFILE_INTERVAL, PROFILE_DURATION and PROFILE_DIR say; -1 or
 * NULL: nothing. */
struct ids_profile_variables {
    int enabled;
    int trigger;                            /* 1: PROFILE_MODE asks for windows on a trigger */
    int64_t start_step, interval, duration; /* interval and duration in steps */
    const char *dir;                        /* borrowed from the variables */
};
int ids_profile_variables(const struct ids_variables *variables, struct ids_profile_variables *ret,
                          struct ids_error *err);

#endif
