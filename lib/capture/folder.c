#include "lib/capture/folder.h"

#include "lib/base/vec.h"
#include "lib/capture/sidecar_head.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SAME_SECOND_MAX = 1000, STAMP_LENGTH = 15, OPEN_FOLDERS = 16, VANISHED_MAX = 10000 };

/* ---- making one ---- */

/* Keeps errno, because the caller tries again and needs the reason. */
static int fail_folder(const char *path, struct ids_error *err) {
    int cause = errno;
    int code =
        ids_fail(err, IDS_IO, "cannot make the folder '%s': %s; choose another one with -o DIR", path, strerror(cause));
    errno = cause;
    return code;
}

/* `path` and what is missing above it; *made is the first that was missing, or stays. */
static int make_all(const char *path, char **made, struct ids_error *err) {
    char *part = strdup(path);
    if (!part) return ids_no_memory(err);
    int code = 0;
    for (char *at = part + 1; !code; at++) {
        char c = *at;
        if (c != '/' && c != '\0') continue;
        *at = '\0';
        if (!mkdir(part, 0777)) {
            if (!*made) *made = realpath(part, NULL);
        } else if (errno != EEXIST) {
            code = fail_folder(part, err);
        }
        *at = c;
        if (!c) break;
    }
    struct stat status;
    if (!code && stat(path, &status)) code = fail_folder(path, err);
    if (!code && !S_ISDIR(status.st_mode)) {
        code = ids_fail(err, IDS_USAGE, "'%s' is a file, and a folder is needed; choose another one with -o DIR", path);
    }
    int cause = errno;
    free(part);
    errno = cause;
    return code;
}

static void set_run_name(struct ids_capture_folder *folder, time_t now) {
    struct tm local;
    localtime_r(&now, &local);
    if (!strftime(folder->run, sizeof folder->run, "%Y_%m_%d_%H_%M_%S", &local)) folder->run[0] = '\0';
}

/* .idsprof in it: whether that can be made tells whether the folder can be written to. */
static int make_inside(struct ids_capture_folder *folder, struct ids_error *err) {
    char *inside = NULL;
    if (asprintf(&inside, "%s/.idsprof", folder->path) < 0) return ids_no_memory(err);
    int code = mkdir(inside, 0777) ? fail_folder(inside, err) : 0, cause = errno;
    free(inside);
    errno = cause;
    return code;
}

int ids_capture_folder_make_part(const char *path, time_t now, struct ids_capture_folder *ret_folder,
                                 struct ids_error *err) {
    *ret_folder = (struct ids_capture_folder){.path = strdup(path)};
    if (!ret_folder->path) return ids_no_memory(err);
    set_run_name(ret_folder, now);
    int code = mkdir(path, 0777) ? fail_folder(path, err) : make_inside(ret_folder, err);
    int cause = errno;
    if (code) ids_capture_folder_done(ret_folder);
    errno = cause;
    return code;
}

/* The folders above `path` and then it. Another capture, which caught nothing, may take any of them away between two of
 * these calls: what has just vanished is made again. */
static int make_with_parents(const char *dir, const char *path, time_t now, struct ids_capture_folder *ret_folder,
                             char **made, struct ids_error *err) {
    int code = 0;
    for (int trial = 0; trial < VANISHED_MAX; trial++) {
        errno = 0;
        code = make_all(dir, made, err);
        if (!code) code = ids_capture_folder_make_part(path, now, ret_folder, err);
        if (!code || errno != ENOENT) break;
    }
    return code;
}

/* DIR by its whole name: what is missing above it is made here only to learn that. */
static int make_dir(const char *dir, char absolute[PATH_MAX], char **made, struct ids_error *err) {
    for (int trial = 0; trial < VANISHED_MAX; trial++) {
        errno = 0;
        int code = make_all(dir, made, err);
        if (!code && realpath(dir, absolute)) return 0;
        if (errno != ENOENT) return code ? code : fail_folder(dir, err);
    }
    errno = ENOENT;
    return fail_folder(dir, err);
}

int ids_capture_folder_make(const char *dir, const char *name, time_t now, struct ids_capture_folder *ret_folder,
                            struct ids_error *err) {
    char stamp[STAMP_LENGTH + 1] = "", absolute[PATH_MAX], *made = NULL;
    struct tm local;
    *ret_folder = (struct ids_capture_folder){0};
    int code = make_dir(dir, absolute, &made, err);
    localtime_r(&now, &local);
    strftime(stamp, sizeof stamp, "%Y%m%d_%H%M%S", &local);
    for (int n = 1; !code; n++) {
        char suffix[16] = "", *path = NULL;
        struct stat status;
        if (n > SAME_SECOND_MAX) {
            code = ids_fail(err, IDS_LIMIT, "'%s' has %d captures of this second", dir, SAME_SECOND_MAX);
            break;
        }
        if (n > 1) snprintf(suffix, sizeof suffix, "_%d", n);
        if (asprintf(&path, "%s/%s_%s%s", strcmp(absolute, "/") ? absolute : "", name, stamp, suffix) < 0) {
            code = ids_no_memory(err);
            break;
        }
        int is_taken = !lstat(path, &status);
        if (!is_taken) code = make_with_parents(absolute, path, now, ret_folder, &made, err);
        int lost_race = code && errno == EEXIST;
        free(path);
        if (lost_race) code = 0;
        if (is_taken || lost_race) continue;
        break;
    }
    if (code) {
        free(made);
    } else {
        ret_folder->made = made;
    }
    return code;
}

void ids_capture_folder_done(struct ids_capture_folder *folder) {
    free(folder->path);
    free(folder->made);
    *folder = (struct ids_capture_folder){0};
}

/* ---- taking it away again ---- */

/* Whether the environment of a process names the session. Those of other users cannot be read, and are none of ours. */
static int has_session(const char *process, const char *variable) {
    char path[64], *environment = NULL;
    size_t room = 0, length = strlen(variable) + 1;
    int found = 0;
    ssize_t got;
    snprintf(path, sizeof path, "/proc/%.20s/environ", process);
    FILE *file = fopen(path, "re");
    while (file && !found && (got = getdelim(&environment, &room, '\0', file)) > 0)
        found = (size_t)got == length && !memcmp(environment, variable, length);
    if (file) fclose(file);
    free(environment);
    return found;
}

pid_t ids_capture_folder_in_use(const struct ids_capture_folder *folder) {
    char *variable = NULL;
    pid_t found = 0;
    if (asprintf(&variable, "IDSPROF_SESSION=%s", folder->path) < 0) return getpid(); /* assume it is in use */
    DIR *processes = opendir("/proc");
    for (struct dirent *entry; processes && !found && (entry = readdir(processes));) {
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            if (has_session(entry->d_name, variable)) found = (pid_t)strtol(entry->d_name, NULL, 10);
    }
    if (processes) closedir(processes);
    free(variable);
    return found;
}

static int is_begun(const char *name) {
    size_t length = strlen(name);
    return !strncmp(name, "hlo.", 4) || (length > 5 && !strcmp(name + length - 5, ".part"));
}

/* What the collectors wrote into .idsprof: all of it, or what was never ended. */
static void clear_inside(const struct ids_capture_folder *folder, int all) {
    char *inside = NULL;
    if (asprintf(&inside, "%s/.idsprof", folder->path) < 0) return;
    DIR *stream = opendir(inside);
    for (struct dirent *entry; stream && (entry = readdir(stream));) {
        if (all || is_begun(entry->d_name)) unlinkat(dirfd(stream), entry->d_name, 0);
    }
    if (stream) closedir(stream);
    if (all) rmdir(inside);
    free(inside);
}

void ids_capture_folder_tidy(const struct ids_capture_folder *folder) {
    if (!ids_capture_folder_in_use(folder)) clear_inside(folder, 0);
}

static void remove_named(const struct ids_capture_folder *folder, const char *name) {
    char *path = NULL;
    if (asprintf(&path, "%s/%s", folder->path, name) < 0) return;
    if (unlink(path)) rmdir(path);
    free(path);
}

/* DIR and its parents, up to the topmost created one. */
static void remove_made(const struct ids_capture_folder *folder) {
    size_t least = folder->made ? strlen(folder->made) : 0;
    char *path = folder->made ? strdup(folder->path) : NULL;
    for (char *slash; path && (slash = strrchr(path, '/')) && (size_t)(slash - path) >= least;) {
        *slash = '\0';
        if (rmdir(path)) break;
    }
    free(path);
}

void ids_capture_folder_remove(const struct ids_capture_folder *folder) {
    char run[64];
    clear_inside(folder, 1);
    snprintf(run, sizeof run, "plugins/profile/%s", folder->run);
    static const char fresh[] = "." IDS_SIDECAR ".new";
    const char *const names[] = {IDS_SIDECAR, fresh, run, "plugins/profile", "plugins"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) remove_named(folder, names[i]);
    if (!rmdir(folder->path)) remove_made(folder);
}

/* ---- its name ---- */

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* What an interpreter or launcher runs: the first argument that is a script, or the module behind -m. NULL when none
 * is seen. */
static const char *script_of(char *const argv[]) {
    for (int i = 1; argv[i]; i++) {
        if (!strcmp(argv[i], "-m") && argv[i + 1]) {
            const char *dot = strrchr(argv[i + 1], '.');
            return dot && dot[1] ? dot + 1 : argv[i + 1];
        }
        size_t length = strlen(argv[i]);
        if (length > 3 && !strcmp(argv[i] + length - 3, ".py")) return base_name(argv[i]);
    }
    return NULL;
}

void ids_capture_name(char *const argv[], char *name, size_t size) {
    const char *from = script_of(argv);
    if (!from) from = base_name(argv[0]);
    size_t used = 0;
    for (; *from && used + 1 < size; from++) {
        int plain = (*from >= '0' && *from <= '9') || ((*from | 32) >= 'a' && (*from | 32) <= 'z') || *from == '-' ||
                    *from == '.';
        name[used++] = plain ? *from : '_';
    }
    name[used] = '\0';
    if (used > 3 && !strcmp(name + used - 3, ".py")) name[used - 3] = '\0';
    if (!name[0] || name[0] == '.') snprintf(name, size, "run");
}

/* ---- pruning ---- */

/* Passes `count` digits; NULL when there are fewer. */
static const char *pass_digits(const char *at, int count) {
    for (int i = 0; i < count; i++, at++) {
        if (*at < '0' || *at > '9') return NULL;
    }
    return at;
}

static int is_capture_of(const char *entry, const char *name) {
    size_t length = strlen(name);
    if (strncmp(entry, name, length) != 0 || entry[length] != '_') return 0;
    const char *at = pass_digits(entry + length + 1, 8);
    if (!at || *at != '_') return 0;
    at = pass_digits(at + 1, 6);
    if (!at) return 0;
    return !*at || (*at == '_' && at[1] && !at[1 + strspn(at + 1, "0123456789")]);
}

struct old_capture {
    char *path;
    const char *stamp; /* in path: <YYYYMMDD_HHMMSS>[_n] */
};

static int by_age(const void *a, const void *b) {
    const struct old_capture *left = a, *right = b;
    int order = strncmp(left->stamp, right->stamp, STAMP_LENGTH);
    if (order) return order;
    size_t lengths[] = {strlen(left->stamp), strlen(right->stamp)}; /* _9 before _10 */
    return lengths[0] != lengths[1] ? (lengths[0] > lengths[1]) - (lengths[0] < lengths[1])
                                    : strcmp(left->stamp, right->stamp);
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

static int find_captures(const char *dir, const char *name, struct old_capture **captures, size_t *count,
                         struct ids_error *err) {
    size_t room = 0;
    DIR *folder = opendir(dir);
    if (!folder) return ids_fail_system(err, "cannot read '%s'", dir);
    int code = 0;
    for (struct dirent *entry; !code && (entry = readdir(folder));) {
        char *path = NULL;
        if (!is_capture_of(entry->d_name, name)) continue;
        if (asprintf(&path, "%s/%s", dir, entry->d_name) < 0) {
            code = ids_no_memory(err);
        } else if (!ids_sidecar_is_ended(path)) {
            free(path);
        } else {
            struct old_capture *found = IDS_PUSH(*captures, *count, room);
            if (found) {
                *found = (struct old_capture){path, path + strlen(dir) + 1 + strlen(name) + 1};
            } else {
                free(path);
                code = ids_no_memory(err);
            }
        }
    }
    closedir(folder);
    return code;
}

int ids_capture_folder_prune(const char *dir, const char *name, int64_t keep, int64_t *ret_removed,
                             struct ids_error *err) {
    struct old_capture *captures = NULL;
    size_t count = 0;
    *ret_removed = 0;
    int code = find_captures(dir, name, &captures, &count, err);
    if (!code && count) qsort(captures, count, sizeof *captures, by_age);
    for (size_t i = 0; !code && i < count && (int64_t)(count - i) > keep; i++) {
        if (nftw(captures[i].path, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT)) {
            code = ids_fail_system(err, "cannot remove '%s'", captures[i].path);
        } else {
            ++*ret_removed;
        }
    }
    for (size_t i = 0; i < count; i++) free(captures[i].path);
    free(captures);
    return code;
}
