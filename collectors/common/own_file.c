#include "collectors/common/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* By the system call, as in control.c; that of fcntl, because glibc 2.28 gave it another name. */
static int status_of(int file, uint64_t *ret_device, uint64_t *ret_inode) {
    struct stat status;
    if (file < 0 || syscall(SYS_fstat, file, &status)) return -1;
    *ret_device = (uint64_t)status.st_dev;
    *ret_inode = (uint64_t)status.st_ino;
    return 0;
}

/* Where few programs open, or close what they do not know, and still below what a limit of 1024 allows. */
static int lowest_of_ours(void) {
    enum { HIGH = 900, LEFT = 8 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= HIGH + HIGH / LEFT) return HIGH;
    return (int)(limit.rlim_cur - limit.rlim_cur / LEFT);
}

int ids_own_file_moved_up(int file) {
    if (file < 0) return file;
    int moved = (int)syscall(SYS_fcntl, file, F_DUPFD_CLOEXEC, lowest_of_ours());
    if (moved < 0 && file > 2) return file; /* none is free up there */
    if (moved < 0) moved = (int)syscall(SYS_fcntl, file, F_DUPFD_CLOEXEC, 3);
    close(file);
    return moved;
}

struct ids_own_file ids_own_file_of(int file) {
    struct ids_own_file own = {.file = ids_own_file_moved_up(file)};
    if (status_of(own.file, &own.device, &own.inode)) own.file = -1;
    return own;
}

int ids_own_file_is_there(const struct ids_own_file *own) {
    int before = errno;
    uint64_t device = 0, inode = 0;
    int is_there = !status_of(own->file, &device, &inode) && device == own->device && inode == own->inode;
    errno = before;
    return is_there;
}

void ids_own_file_close(struct ids_own_file *own) {
    if (ids_own_file_is_there(own)) close(own->file);
    own->file = -1;
}

int ids_bell_make(struct ids_bell *bell) {
    int ends[2] = {-1, -1};
    int failed = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends);
    bell->heard = ids_own_file_of(ends[0]);
    bell->rung = ids_own_file_of(ends[1]);
    if (!failed && ids_bell_is_there(bell)) return 0;
    int error = errno;
    ids_bell_close(bell);
    errno = error;
    return -1;
}

int ids_bell_is_there(const struct ids_bell *bell) {
    return ids_own_file_is_there(&bell->heard) && ids_own_file_is_there(&bell->rung);
}

void ids_bell_ring(const struct ids_bell *bell) {
    if (ids_own_file_is_there(&bell->rung) && send(bell->rung.file, "", 1, MSG_NOSIGNAL) < 0)
        return; /* it is rung already, or nobody hears it any more */
}

void ids_bell_hush(const struct ids_bell *bell) {
    char rings[64];
    if (ids_own_file_is_there(&bell->heard) && read(bell->heard.file, rings, sizeof rings) < 0)
        return; /* it was not rung */
}

void ids_bell_close(struct ids_bell *bell) {
    ids_own_file_close(&bell->heard);
    ids_own_file_close(&bell->rung);
}
