#include "cmd/capture_plugins.h"

#include "lib/capture/collectors.h"
#include "lib/cli/say.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Puts the library into a variable that names a plugin, and what was there into one of ours. */
static int replace(struct ids_variables *environment, const char *name, const char *kept, const char *library,
                   struct ids_error *err) {
    const char *before = ids_variables_get(environment, name);
    int code =
        before && *before && strcmp(before, library) != 0 ? ids_variables_set(environment, kept, before, err) : 0;
    return code ? code : ids_variables_set(environment, name, library, err);
}

static int names_file(const struct ids_variables *environment, const char *name) {
    const char *path = ids_variables_get(environment, name);
    struct stat status;
    return path && *path && !stat(path, &status) && S_ISREG(status.st_mode) && !access(path, R_OK);
}

int ids_capture_plugins(struct ids_variables *environment, const char *home, enum ids_capture_platform platform,
                        int audit, int quiet, struct ids_error *err) {
    char library[PATH_MAX + 32], why[PATH_MAX] = "IDSPROF_PJRT=0 keeps libidsprof_pjrt.so out";
    const char *wanted = ids_variables_get(environment, "IDSPROF_PJRT");
    snprintf(library, sizeof library, "%s/libidsprof_pjrt.so", home);
    if ((wanted && !strcmp(wanted, "0")) || ids_collector_check(home, IDS_FILE_PJRT, why, sizeof why)) {
        if (audit && !quiet) ids_say("capture", "--audit cannot find PJRT plugins: %s", why);
        return 0;
    }
    /* Only in the place of a library that is named: where none is, the program's Python knows best which it would load,
     * and the hook stands before that one. */
    int may_be_tpu = platform == IDS_PLATFORM_TPU || platform == IDS_PLATFORM_AUTO;
    int code = 0;
    if (may_be_tpu && (names_file(environment, "TPU_LIBRARY_PATH") || names_file(environment, "IDSPROF_TPU_LIBRARY"))) {
        code = replace(environment, "TPU_LIBRARY_PATH", "IDSPROF_TPU_LIBRARY", library, err);
    } else if (names_file(environment, "PJRT_LIBRARY_PATH")) {
        /* Not both: the library could not tell for which of them it is asked. */
        code = replace(environment, "PJRT_LIBRARY_PATH", "IDSPROF_PJRT_LIBRARY", library, err);
    }
    if (!code && audit) code = ids_variables_prepend(environment, "LD_AUDIT", library, ':', err);
    return code;
}
