#include "lib/io/rename.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/types.h>

#ifdef __APPLE__

static int rename_to_free(const char *from, const char *path) {
    return renamex_np(from, path, RENAME_EXCL);
}

#else

#include <sys/syscall.h>
#include <unistd.h>

enum { NO_REPLACE = 1 }; /* RENAME_NOREPLACE of <linux/fs.h> */

/* renameat2() itself is newer than the C libraries of clusters; the call is not. */
static int rename_to_free(const char *from, const char *path) {
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, path, NO_REPLACE);
}

#endif

int ids_rename(const char *from, const char *path, int replace) {
    if (replace) return rename(from, path);
    int failed = rename_to_free(from, path);
    int unknown = failed && (errno == EINVAL || errno == ENOSYS || errno == ENOTSUP);
    return unknown ? rename(from, path) : failed;
}
