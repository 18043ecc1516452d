#include "lib/io/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/vfs.h>
#endif

enum { PATH_BYTES = 4096 };

static const char *chosen_folder(void) {
    const char *folder = getenv("TMPDIR");
    return folder && *folder ? folder : NULL;
}

/* Its descriptor, or a negative code. */
static int make(const char *folder, char *path, size_t room, struct ids_error *err) {
    if ((size_t)snprintf(path, room, "%s/idsprof.XXXXXX", folder) >= room)
        return ids_fail(err, IDS_LIMIT, "TMPDIR is a path of more than %zu bytes", room);
    const int fd = mkstemp(path);
    if (fd >= 0) return fd;
    return ids_fail_system(err, "cannot make a temporary file in '%s'", folder);
}

static int make_unlinked(const char *folder, struct ids_error *err) {
    /* Where the file system can, a file without a name: then a killed program leaves none. */
    int nameless = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (nameless >= 0) return nameless;
    char path[PATH_BYTES];
    int fd = make(folder, path, sizeof path, err);
    if (fd < 0) return fd;
    unlink(path);
    fcntl(fd, F_SETFD, FD_CLOEXEC); /* capture starts other programs */
    return fd;
}

int ids_temporary_file(struct ids_error *err) {
    const char *folder = chosen_folder();
    return make_unlinked(folder ? folder : "/tmp", err);
}

/* Why the file is of no use as memory; NULL: it is. Where each write goes to another place, a page that is written
 * again may find the disk full, which ends the program. Numbers: linux/magic.h, and ZFS's own. */
static const char *why_unfit(int fd) {
#ifdef __linux__
    static const struct {
        uint32_t magic;
        const char *why;
    } unfit[] = {
        {0x01021994, "lies in memory (tmpfs)"},
        {0x858458f6, "lies in memory (ramfs)"},
        {0x9123683e, "copies what is written (btrfs)"},
        {0x2fc12fc1, "copies what is written (ZFS)"},
    };
    struct statfs system;
    if (fstatfs(fd, &system)) return NULL;
    for (size_t i = 0; i < sizeof unfit / sizeof *unfit; i++)
        if ((uint32_t)system.f_type == unfit[i].magic) return unfit[i].why;
#else
    (void)fd;
#endif
    return NULL;
}

int ids_temporary_on_disk(struct ids_error *err) {
    const char *folders[] = {chosen_folder(), "/tmp", "/var/tmp"};
    int is_chosen = folders[0] != NULL, fd = -1;
    for (int i = !is_chosen; i < (is_chosen ? 1 : 3); i++) {
        fd = make_unlinked(folders[i], err);
        if (fd < 0) continue;
        const char *why = why_unfit(fd);
        if (!why) return fd;
        close(fd);
        fd = ids_fail(err, IDS_UNSUPPORTED, "'%s' %s", folders[i], why);
    }
    return fd;
}

int ids_temporary_named(char **ret_path, struct ids_error *err) {
    char path[PATH_BYTES];
    const char *folder = chosen_folder();
    int fd = make(folder ? folder : "/tmp", path, sizeof path, err);
    if (fd < 0) return fd;
    close(fd);
    *ret_path = strdup(path);
    if (*ret_path) return 0;
    unlink(path);
    return ids_no_memory(err);
}
