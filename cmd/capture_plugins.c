#include "cmd/capture_plugins.h"

#include "lib/capture/collectors.h"
#include "lib/cli/say.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The devices of a TPU host: its driver's, or the chips given out through VFIO. */
static int has_tpu(void) {
    return !access("/dev/accel0", F_OK) || !access("/dev/vfio/0", F_OK);
}

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
    return path && *path && !access(path, R_OK);
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
    int may_be_tpu = platform == IDS_PLATFORM_TPU || platform == IDS_PLATFORM_AUTO;
    int by_tpu =
        may_be_tpu && (platform == IDS_PLATFORM_TPU || has_tpu() || names_file(environment, "TPU_LIBRARY_PATH"));
    int code = 0;
    if (by_tpu) {
        code = replace(environment, "TPU_LIBRARY_PATH", "IDSPROF_TPU_LIBRARY", library, err);
    } else if (names_file(environment, "PJRT_LIBRARY_PATH")) {
        /* Not both: the library could not tell for which of them it is asked. */
        code = replace(environment, "PJRT_LIBRARY_PATH", "IDSPROF_PJRT_LIBRARY", library, err);
    }
    if (!code && audit) code = ids_variables_prepend(environment, "LD_AUDIT", library, ':', err);
    return code;
}
