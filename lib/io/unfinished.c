#include "lib/io/unfinished.h"

#include "lib/base/intern.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MARK_DIGITS = 8, TRIES = 1000, DAY_S = 24 * 60 * 60, OLD_RANDOM = 6 };

/* The host in a name: its hash, because host names may hold anything. */
static void host_mark(char mark[MARK_DIGITS + 1]) {
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    snprintf(mark, MARK_DIGITS + 1, "%08x", (unsigned)ids_hash_bytes(host, strlen(host)));
}

/* ---- making one ---- */

/* 1 when the file is locked and still there: between its making and its locking, another program may have taken it for
 * abandoned. Where files cannot be locked, the day of unfinished.h holds. */
static int claim(int file) {
    struct stat status;
    if (flock(file, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) return 0;
    return !fstat(file, &status) && status.st_nlink > 0;
}

int ids_unfinished_open(const char *stem, char **ret_path, struct ids_error *err) {
    char host[MARK_DIGITS + 1];
    host_mark(host);
    for (int attempt = 0; attempt < TRIES; attempt++) {
        char *path;
        if (asprintf(&path, "%s%s-%ld-%d", stem, host, (long)getpid(), attempt) < 0) return ids_no_memory(err);
        int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0 && claim(file)) {
            *ret_path = path;
            return file;
        }
        int why = errno;
        free(path);
        if (file >= 0) close(file);
        if (file < 0 && why != EEXIST) {
            errno = why;
            break;
        }
    }
    int why = errno; /* the caller may say it in other words */
    int code = ids_fail_system(err, "cannot make a file '%s...'", stem);
    errno = why;
    return code;
}

/* ---- names ---- */

static size_t count_of(const char *text, const char *among) {
    return strspn(text, among);
}

static int has_host(const char *mark) {
    return count_of(mark, "0123456789abcdef") == MARK_DIGITS && mark[MARK_DIGITS] == '-';
}

/* <host>-<process>-<number> */
static int is_mark(const char *mark) {
    if (!has_host(mark)) return 0;
    const char *at = mark + MARK_DIGITS + 1;
    size_t process = count_of(at, "0123456789");
    size_t number = process && at[process] == '-' ? count_of(at + process + 1, "0123456789") : 0;
    return number && !at[process + 1 + number];
}

/* Before there were hosts in names: six letters or digits, or <process>-<number>. */
size_t ids_unfinished_output(const char *name) {
    static const char stem[] = ".idsprof.",
                      letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    size_t at = sizeof stem - 1;
    if (strncmp(name, stem, at) != 0) return 0;
    int is_old = count_of(name + at, letters) == OLD_RANDOM && !name[at + OLD_RANDOM];
    return is_old || is_mark(name + at) ? at : 0;
}

static int is_mark_beside(const char *mark) {
    size_t process = count_of(mark, "0123456789");
    size_t number = process && mark[process] == '-' ? count_of(mark + process + 1, "0123456789") : 0;
    int is_old = number && !mark[process + 1 + number];
    return is_old || is_mark(mark);
}

size_t ids_unfinished_beside(const char *name) {
    static const char stem[] = ".db.tmp-";
    const char *found = strstr(name, stem);
    if (!found || found == name) return 0;
    const char *mark = found + sizeof stem - 1;
    return is_mark_beside(mark) ? (size_t)(mark - name) : 0;
}

/* ---- whether its writer lives ---- */

static int is_of_today(const struct stat *status) {
    return time(NULL) - status->st_mtim.tv_sec <= DAY_S;
}

/* A lease is given only for a file that nobody else has open. It is given back at once; a break of it sends a signal
 * that is ignored. */
static int is_open_elsewhere(int file) {
#ifndef F_SETSIG
    (void)file;
    return 1; /* nobody can tell: it is kept */
#else
    if (fcntl(file, F_SETSIG, SIGURG) || fcntl(file, F_SETLEASE, F_WRLCK)) return 1;
    fcntl(file, F_SETLEASE, F_UNLCK);
    return 0;
#endif
}

/* The process behind the host in a mark. One that has its number now, by chance, only keeps the file for a day. */
static int is_running(const char *mark) {
    long process = 0;
    for (const char *at = mark + MARK_DIGITS + 1; *at >= '0' && *at <= '9' && process < INT32_MAX / 10; at++)
        process = process * 10 + (*at - '0');
    return !kill((pid_t)process, 0) || errno == EPERM;
}

/* With the lock in hand, where there are locks. */
static int is_abandoned(int file, const char *mark) {
    struct stat status;
    char host[MARK_DIGITS + 1];
    if (fstat(file, &status) || !S_ISREG(status.st_mode) || !status.st_nlink) return 0;
    int locked = !flock(file, LOCK_EX | LOCK_NB);
    if (!locked && errno == EWOULDBLOCK) return 0;
    if (!is_of_today(&status)) return 1;
    if (!has_host(mark)) return !is_open_elsewhere(file);
    host_mark(host);
    return locked && !strncmp(mark, host, MARK_DIGITS) && !is_running(mark);
}

static int look(int folder, const char *name, size_t mark, int removes) {
    int file = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return 0;
    int abandoned = is_abandoned(file, name + mark);
    if (abandoned && removes) unlinkat(folder, name, 0); /* under the lock, so that nobody begins with it meanwhile */
    close(file);
    return abandoned;
}

int ids_unfinished_is_abandoned(int folder, const char *name, size_t mark) {
    return look(folder, name, mark, 0);
}

void ids_unfinished_sweep(const char *folder, ids_unfinished_name *name_of) {
    DIR *stream = opendir(folder);
    const struct dirent *entry;
    while (stream && (entry = readdir(stream))) {
        size_t mark = name_of(entry->d_name);
        if (mark) look(dirfd(stream), entry->d_name, mark, 1);
    }
    if (stream) closedir(stream);
}

void ids_unfinished_sweep_beside(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    size_t length = strlen(name);
    DIR *stream = folder ? opendir(folder) : NULL;
    const struct dirent *entry;
    while (stream && (entry = readdir(stream))) {
        static const char stem[] = ".tmp-";
        if (strncmp(entry->d_name, name, length) != 0 || strncmp(entry->d_name + length, stem, sizeof stem - 1) != 0)
            continue;
        size_t mark = length + sizeof stem - 1;
        if (is_mark_beside(entry->d_name + mark)) look(dirfd(stream), entry->d_name, mark, 1);
    }
    if (stream) closedir(stream);
    free(folder);
}
