#include "collectors/common/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { FREE_LEAST = 64 << 10, KB = 1000 }; /* of the disk, to try at all: a small profile takes 10 kB */

/* Puts a path together; -1 when it has no room. */
static int put_path(char path[IDS_PUBLISH_PATH], const char *format, ...) __attribute__((format(printf, 2, 3)));
static int put_path(char path[IDS_PUBLISH_PATH], const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it does not see va_start where it looks into callers */
    int length = vsnprintf(path, IDS_PUBLISH_PATH, format, arguments);
    va_end(arguments);
    if (length >= 0 && length < IDS_PUBLISH_PATH) return 0;
    errno = ENAMETOOLONG;
    return -1;
}

static int fail(char *why, size_t why_size, const char *what, const char *path) {
    snprintf(why, why_size, "cannot %s '%s': %s", what, path, strerror(errno));
    return -1;
}

int ids_publish_begin(const struct ids_place *place, char ret_part[IDS_PUBLISH_PATH], char *why, size_t why_size) {
    snprintf(ret_part, IDS_PUBLISH_PATH, "%s/.idsprof/%s.%d.w%lld.part", place->session, place->host, place->pid,
             (long long)place->window);
    struct statvfs disk;
    uint64_t left = statvfs(place->session, &disk) ? UINT64_MAX : (uint64_t)disk.f_bavail * disk.f_frsize;
    if (left < FREE_LEAST) {
        snprintf(why, why_size, "the disk of '%s' is full: %llu kB are free, and a profile takes %d kB or more",
                 place->session, (unsigned long long)left / KB, FREE_LEAST / KB);
        return -1;
    }
    int file = open(ret_part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) return fail(why, why_size, "write", ret_part);
    close(file);
    return 0;
}

/* Everything on the disk, and how much that is. */
static int sync_file(const char *part, int64_t *ret_bytes, char *why, size_t why_size) {
    int file = open(part, O_RDONLY | O_CLOEXEC);
    if (file < 0) return fail(why, why_size, "read", part);
    off_t bytes = lseek(file, 0, SEEK_END);
    int failed = bytes < 0 || fsync(file);
    if (failed) fail(why, why_size, "write", part);
    close(file);
    *ret_bytes = bytes;
    return failed ? -1 : 0;
}

/* Makes the folder and the two above it; 1 when it was there. */
static int make_folder(const char *session, const char *folder, char *why, size_t why_size) {
    char path[IDS_PUBLISH_PATH];
    static const char *const above[] = {"plugins", "plugins/profile"};
    for (int i = 0; i < 2; i++) {
        if (put_path(path, "%s/%s", session, above[i])) return fail(why, why_size, "make the folder", folder);
        if (mkdir(path, 0777) && errno != EEXIST) return fail(why, why_size, "make the folder", path);
    }
    if (!mkdir(folder, 0777)) return 0;
    return errno == EEXIST ? 1 : fail(why, why_size, "make the folder", folder);
}

/* Names that are taken get the process id, and a number from the second time on: a program that starts itself anew
 * (exec) keeps its id. */
enum { ENDING = 32, TURNS_MOST = 10000 };
static const char *own_ending(int pid, const char *before, int turn, char ending[ENDING]) {
    if (!turn) snprintf(ending, ENDING, "%s%d", before, pid);
    if (turn) snprintf(ending, ENDING, "%s%d_%d", before, pid, turn + 1);
    return ending;
}

/* The folder of the window; -1 with the reason. */
static int choose_folder(const struct ids_place *place, char folder[IDS_PUBLISH_PATH], char *why, size_t why_size) {
    char window[96] = "", number[32] = "", ending[ENDING];
    if (place->window > 1) snprintf(number, sizeof number, "_w%lld", (long long)place->window);
    snprintf(window, sizeof window, "%s%s", number, place->suffix ? place->suffix : "");
    int code = put_path(folder, "%s/plugins/profile/%s%s", place->session, place->run, window);
    if (!code) code = make_folder(place->session, folder, why, why_size);
    for (int turn = 0; code == 1 && place->rank < 0 && turn < TURNS_MOST; turn++) {
        code = put_path(folder, "%s/plugins/profile/%s%s%s", place->session, place->run, window,
                        own_ending(place->pid, "_p", turn, ending));
        if (!code) code = make_folder(place->session, folder, why, why_size);
    }
    return code < 0 ? -1 : 0;
}

/* link and not rename, which would replace the file of another process that thinks it has the same rank. Where a file
 * system has no links (some network mounts) rename has to do, and the process id makes the name our own. */
static int place_file(const struct ids_place *place, const char *folder, const char *part, char *ret_path) {
    char rank[32] = "", ending[ENDING] = "";
    if (place->rank >= 0) snprintf(rank, sizeof rank, "_rank%lld", (long long)place->rank);
    for (int turn = 0; turn < TURNS_MOST; turn++) {
        if (put_path(ret_path, "%s/%s%s%s.xplane.pb", folder, place->host, rank, ending)) return -1;
        if (!link(part, ret_path)) return unlink(part);
        if (errno != EEXIST && access(ret_path, F_OK)) return rename(part, ret_path);
        own_ending(place->pid, "_", turn, ending);
    }
    errno = EEXIST;
    return -1;
}

/* A path of the file with an ending in place of its own. */
static int put_instead(const char *path, const char *own, const char *ending, char ret_path[IDS_PUBLISH_PATH]) {
    size_t length = strlen(path), end = strlen(own);
    if (length < end || strcmp(path + length - end, own) != 0) return -1;
    return put_path(ret_path, "%.*s%s", (int)(length - end), path, ending);
}

/* What a collector wrote beside the part goes beside the file; without a file, away. */
static const char *const memory_endings[] = {".memory.prof", ".begin.memory.prof"};
static void place_memory(const char *part, const char *path) {
    for (size_t i = 0; i < sizeof memory_endings / sizeof *memory_endings; i++) {
        char from[IDS_PUBLISH_PATH], to[IDS_PUBLISH_PATH];
        if (put_instead(part, ".part", memory_endings[i], from)) continue;
        if (!path || put_instead(path, ".xplane.pb", memory_endings[i], to) || rename(from, to)) unlink(from);
    }
}

int ids_publish_end(const struct ids_place *place, const char *part, char ret_path[IDS_PUBLISH_PATH],
                    int64_t *ret_bytes, char *why, size_t why_size) {
    char folder[IDS_PUBLISH_PATH];
    int code = sync_file(part, ret_bytes, why, why_size);
    if (!code && !*ret_bytes) {
        snprintf(why, why_size, "the collector wrote nothing");
        code = -1;
    }
    if (!code) code = choose_folder(place, folder, why, why_size);
    if (!code && place_file(place, folder, part, ret_path)) code = fail(why, why_size, "write", ret_path);
    if (code) {
        unlink(part);
        place_memory(part, NULL);
        return -1;
    }
    place_memory(part, ret_path);
    size_t above = strlen(place->session) + 1;
    memmove(ret_path, ret_path + above, strlen(ret_path + above) + 1);
    return 0;
}

/* SESSION/path with its last part replaced; -1 when there is no room. */
static int put_beside(const char *session, const char *path, const char *name, char ret_path[IDS_PUBLISH_PATH]) {
    const char *slash = strrchr(path, '/');
    return put_path(ret_path, "%s/%.*s%s", session, slash ? (int)(slash - path + 1) : 0, path, name);
}

void ids_publish_reason(const char *session, const char *path, const char *line, size_t length) {
    char beside[IDS_PUBLISH_PATH];
    if (put_beside(session, path, IDS_PUBLISH_KEPT, beside)) return;
    int file = open(beside, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0) return;
    if (write(file, line, length) != (ssize_t)length) unlink(beside); /* half a line says nothing */
    close(file);
}

void ids_publish_remove(const char *session, const char *path) {
    char beside[IDS_PUBLISH_PATH];
    if (put_path(beside, "%s/%s", session, path)) return;
    unlink(beside);
    for (size_t i = 0; i < sizeof memory_endings / sizeof *memory_endings; i++) {
        char memory[IDS_PUBLISH_PATH];
        if (!put_instead(beside, ".xplane.pb", memory_endings[i], memory)) unlink(memory);
    }
    if (put_beside(session, path, IDS_PUBLISH_KEPT, beside)) return;
    unlink(beside);
    *strrchr(beside, '/') = '\0';
    if (rmdir(beside)) return; /* others have files in it */
}
