/* Our own libraries that programs load: if one is missing, its recordings are lost silently. */
#include "lib/capture/checkup_parts.h"

#include "lib/capture/collectors.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void check_file(const char *home, enum ids_collector_file file, const char *id, const char *title,
                       const char *what, struct ids_checkup *checkup) {
    char why[PATH_MAX];
    if (ids_collector_check(home, file, why, sizeof why)) {
        ids_check_add(checkup, id, title, IDS_CHECK_PROBLEM, ids_check_text(checkup, "%s (in '%s')", why, home),
                      IDS_COLLECTOR_REMEDY);
    } else {
        ids_check_add(checkup, id, title, IDS_CHECK_OK, what, NULL);
    }
}

void ids_check_collectors(const struct ids_checkup_options *options, struct ids_checkup *checkup) {
    const char *wanted = getenv("IDSPROF_PJRT");
    char why[PATH_MAX];
    if (!options->home) {
        ids_check_add(checkup, "capture.agent", "collectors", IDS_CHECK_PROBLEM,
                      ids_check_text(checkup, "%s", options->why_no_home), IDS_COLLECTOR_REMEDY);
        return;
    }
    if (ids_collector_check(options->home, IDS_FILE_HOOK, why, sizeof why)) {
        ids_check_add(checkup, "capture.hook", "jax programs", IDS_CHECK_PROBLEM,
                      ids_check_text(checkup, "%s (in '%s')", why, options->home), IDS_COLLECTOR_REMEDY);
    }
    if (wanted && !strcmp(wanted, "0")) {
        ids_check_add(checkup, "capture.pjrt", "PJRT plugins", IDS_CHECK_NOTE,
                      "IDSPROF_PJRT=0 keeps libidsprof_pjrt.so out", "unset IDSPROF_PJRT");
    } else {
        check_file(options->home, IDS_FILE_PJRT, "capture.pjrt", "PJRT plugins", "loaded through libidsprof_pjrt.so",
                   checkup);
    }
    check_file(options->home, IDS_FILE_CUDA, "capture.cuda", "CUDA without jax", "recorded by libidsprof_cuda.so",
               checkup);
}
