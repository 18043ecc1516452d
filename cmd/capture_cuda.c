#include "cmd/capture_cuda.h"

#include "lib/capture/collectors.h"
#include "lib/cli/say.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static void library_of(const char *home, char *path, size_t size) {
    snprintf(path, size, "%s/libidsprof_cuda.so", home);
}

const char *ids_capture_rival(const struct ids_variables *environment, const char *home) {
    const char *there = ids_variables_get(environment, "CUDA_INJECTION64_PATH");
    char path[PATH_MAX + sizeof "/libidsprof_cuda.so"];
    library_of(home, path, sizeof path);
    return there && *there && strcmp(there, path) != 0 ? there : NULL;
}

int ids_capture_cuda(struct ids_variables *environment, const char *home, int quiet, struct ids_error *err) {
    static const char *const names[] = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"};
    char path[PATH_MAX + sizeof "/libidsprof_cuda.so"], why[PATH_MAX];
    library_of(home, path, sizeof path);
    if (ids_collector_check(home, IDS_FILE_CUDA, why, sizeof why)) return 0; /* the end of the capture says so */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *there = ids_variables_get(environment, names[i]);
        if (!there || !*there || !strcmp(there, path)) {
            int code = ids_variables_set(environment, names[i], path, err);
            if (code) return code;
        } else if (!quiet) {
            ids_say("capture", "%s names another tool, which stays: '%s'; %s", names[i], there,
                    i ? "NVTX ranges are not recorded by us"
                      : "CUDA programs without JAX are not recorded; unset it for that");
        }
    }
    return 0;
}
