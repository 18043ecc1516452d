#include "lib/run/capture_path.h"

#include <stdlib.h>
#include <string.h>

/* The last one: a folder may be called so and have a capture in it. 0: there is none. */
static size_t folder_of(const char *path) {
    static const char below[] = "/plugins/profile/";
    size_t length = 0;
    for (const char *at = path; (at = strstr(at, below)); at++) length = (size_t)(at - path);
    return length;
}

char *ids_capture_path(const char *path, size_t *ret_folder) {
    char *found = folder_of(path) ? strdup(path) : realpath(path, NULL);
    *ret_folder = found ? folder_of(found) : 0;
    if (*ret_folder) return found;
    free(found);
    return NULL;
}
