#include "lib/capture/home.h"

#include "lib/capture/collectors.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The folder that this program lies in. */
static int own_folder(char folder[PATH_MAX], struct ids_error *err) {
    ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    if (length < 1) return ids_fail_system(err, "cannot read /proc/self/exe");
    folder[length] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash) *slash = '\0';
    return 0;
}

static int fits(int length) {
    return length > 0 && length < PATH_MAX;
}

int ids_capture_home(struct ids_capture_home *ret_home, struct ids_error *err) {
    static const char *const places[] = {"lib/idsprof", IDS_HOME_FROM_BIN}; /* the build tree's; the installed one */
    char folder[PATH_MAX], joined[PATH_MAX];
    int code = own_folder(folder, err);
    if (code) return code;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (!fits(snprintf(joined, sizeof joined, "%s/%s", folder, places[i])) || !realpath(joined, ret_home->path))
            continue;
        if (!fits(snprintf(ret_home->agent, sizeof ret_home->agent, "%s/libidsprof_agent.so", ret_home->path)))
            continue;
        if (!fits(snprintf(ret_home->hook, sizeof ret_home->hook, "%s/python", ret_home->path))) continue;
        if (!access(ret_home->agent, R_OK)) return 0;
    }
    return ids_fail(err, IDS_NOT_FOUND,
                    "libidsprof_agent.so is neither in '%s/%s' nor in '%s/%s'; " IDS_COLLECTOR_REMEDY, folder,
                    places[0], folder, places[1]);
}
