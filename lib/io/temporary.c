#include "lib/io/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int ids_temporary_file(struct ids_error *err) {
    const char *folder = getenv("TMPDIR");
    if (!folder || !*folder) folder = "/tmp";
    /* Where the file system can, a file without a name: then a killed program leaves none. */
    int nameless = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (nameless >= 0) return nameless;
    char path[4096];
    if ((size_t)snprintf(path, sizeof path, "%s/idsprof.XXXXXX", folder) >= sizeof path) {
        return ids_fail(err, IDS_LIMIT, "TMPDIR is a path of more than %zu bytes", sizeof path);
    }
    int fd = mkstemp(path);
    if (fd < 0) return ids_fail_system(err, "cannot make a temporary file in '%s'", folder);
    unlink(path);
    fcntl(fd, F_SETFD, FD_CLOEXEC); /* capture starts other programs */
    return fd;
}
