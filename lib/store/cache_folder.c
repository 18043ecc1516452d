#include "lib/store/cache_folder.h"

#include "lib/base/own_program.h"
#include "lib/io/unfinished.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef IDS_VERSION
#define IDS_VERSION "unknown"
#endif

static const uint64_t DEFAULT_LIMIT = UINT64_C(4) << 30;

int ids_cache_folder(char **ret_folder, struct ids_error *err) {
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length;
    if (xdg && xdg[0] == '/') { /* "all paths must be absolute ... consider a relative path invalid and ignore it" */
        length = asprintf(ret_folder, "%s/idsprof", xdg);
    } else if (home && home[0] == '/') {
        length = asprintf(ret_folder, "%s/.cache/idsprof", home);
    } else {
        return ids_fail(err, IDS_NOT_FOUND, "neither XDG_CACHE_HOME nor HOME is an absolute path");
    }
    if (length >= 0) return 0;
    *ret_folder = NULL;
    return ids_no_memory(err);
}

int ids_cache_folder_check(const char *folder, struct ids_error *err) {
    struct stat status;
    if (lstat(folder, &status)) {
        return ids_fail(err, errno == ENOENT ? IDS_NOT_FOUND : IDS_IO, "cache '%s': %s", folder, strerror(errno));
    }
    if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 022)) {
        return ids_fail(err, IDS_IO, "cache '%s': not a folder that only its user can write", folder);
    }
    return 0;
}

int ids_cache_folder_make(char *folder, struct ids_error *err) {
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(folder, 0700); /* what fails here fails for the last one too */
        *slash = '/';
    }
    if (mkdir(folder, 0700) && errno != EEXIST) {
        return ids_fail_system(err, "cache '%s'", folder);
    }
    return ids_cache_folder_check(folder, err);
}

uint64_t ids_cache_limit(void) {
    static const char units[] = "KMG";
    const char *text = getenv("IDSPROF_CACHE_LIMIT");
    if (!text || *text < '0' || *text > '9') return DEFAULT_LIMIT;
    char *end;
    errno = 0;
    uint64_t limit = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (errno || (*end && (!unit || end[1])) || limit > UINT64_MAX >> shift) return DEFAULT_LIMIT;
    return limit << shift;
}

int ids_cache_is_ours(const char *name) {
    return strspn(name, "0123456789abcdef") == 16 && !strncmp(name + 16, ".db", 3) &&
           (!name[IDS_CACHE_NAME_BYTES] || !strncmp(name + IDS_CACHE_NAME_BYTES, ".tmp-", 5));
}

int ids_cache_is_abandoned(int folder, const char *name, const struct stat *status) {
    size_t mark = ids_unfinished_beside(name);
    return mark && S_ISREG(status->st_mode) && ids_unfinished_is_abandoned(folder, name, mark);
}

void ids_cache_program(char *text, size_t size) {
    struct stat status;
    /* The build: a version alone would keep figures of yesterday's build of the same version. */
    if (stat(ids_own_program(), &status)) memset(&status, 0, sizeof status);
    snprintf(text, size, IDS_VERSION " %lld %lld.%09ld", (long long)status.st_size, (long long)status.st_mtim.tv_sec,
             status.st_mtim.tv_nsec);
}
