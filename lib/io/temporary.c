#include "lib/io/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

static const char *folder_of(void) {
    const char *folder = getenv("TMPDIR");
    return folder && *folder ? folder : "/tmp";
}

/* Its descriptor, or a negative code. */
static int make(char *path, size_t room, struct ids_error *err) {
    const char *folder = folder_of();
    if ((size_t)snprintf(path, room, "%s/idsprof.XXXXXX", folder) >= room)
        return ids_fail(err, IDS_LIMIT, "TMPDIR is a path of more than %zu bytes", room);
    const int fd = mkstemp(path);
    if (fd >= 0) return fd;
    return ids_fail_system(err, "cannot make a temporary file in '%s'", folder);
}

int ids_temporary_file(struct ids_error *err) {
    /* Where the file system can, a file without a name: then a killed program leaves none. */
    int nameless = open(folder_of(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (nameless >= 0) return nameless;
    char path[PATH_BYTES];
    int fd = make(path, sizeof path, err);
    if (fd < 0) return fd;
    unlink(path);
    fcntl(fd, F_SETFD, FD_CLOEXEC); /* capture starts other programs */
    return fd;
}

int ids_temporary_named(char **ret_path, struct ids_error *err) {
    char path[PATH_BYTES];
    int fd = make(path, sizeof path, err);
    if (fd < 0) return fd;
    close(fd);
    *ret_path = strdup(path);
    if (*ret_path) return 0;
    unlink(path);
    return ids_no_memory(err);
}
