/* home.h - the folder of the files that are loaded into profiled programs: libidsprof_agent.so, the Python hook. */
#ifndef IDS_LIB_CAPTURE_HOME_H
#define IDS_LIB_CAPTURE_HOME_H

#include "lib/base/error.h"

#include <limits.h>

struct ids_capture_home {
    char path[PATH_MAX];
    char agent[PATH_MAX];
    char hook[PATH_MAX]; /* the folder that goes into PYTHONPATH */
};

/* Searched for relative to this program, installed or in the build tree. IDS_NOT_FOUND says where. */
int ids_capture_home(struct ids_capture_home *ret_home, struct ids_error *err);

#endif
