#include "lib/cli/output.h"

#include "lib/base/intern.h"
#include "lib/base/memory.h"
#include "lib/base/vec.h"
#include "lib/io/rename.h"
#include "lib/io/unfinished.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- an interrupted program removes what it had begun ---- */

/* A node is never freed: a signal may come to another thread while this one forgets it. */
struct unfinished {
    struct unfinished *next;
    char path[];
};
static struct unfinished *volatile unfinished;
static char made_folder[4096];

void ids_output_abandon(void) {
    for (const struct unfinished *file = unfinished; file; file = file->next) {
        if (*file->path) unlink(file->path);
    }
    if (*made_folder) rmdir(made_folder);
}

static void remove_unfinished(int number) {
    ids_output_abandon();
    signal(number, SIG_DFL);
    raise(number);
}

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
enum { ENDING = sizeof ending / sizeof *ending };

static void catch_signals(void) {
    for (int i = 0; i < ENDING; i++) {
        struct sigaction before;
        if (sigaction(ending[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            signal(ending[i], remove_unfinished);
    }
}

void ids_output_hold(sigset_t *ret_before) {
    sigset_t held;
    sigemptyset(&held);
    for (int i = 0; i < ENDING; i++) sigaddset(&held, ending[i]);
    pthread_sigmask(SIG_BLOCK, &held, ret_before);
}

void ids_output_let(const sigset_t *before) {
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

void ids_output_watch(const char *path) {
    if (!*path) {
        for (struct unfinished *file = unfinished; file; file = file->next) *file->path = '\0';
        return;
    }
    size_t bytes = strlen(path) + 1;
    struct unfinished *file = malloc(sizeof *file + bytes);
    if (!file) ids_memory_refused();
    if (!file) return; /* an interruption leaves it, which is all that is lost */
    memcpy(file->path, path, bytes);
    file->next = unfinished;
    unfinished = file;
    catch_signals();
}

/* ---- */

static int is_stdout(const char *folder) {
    return !strcmp(folder, "-");
}

static int make_folder(struct ids_output_set *set, struct ids_error *err) {
    struct stat status;
    set->made_folder = !mkdir(set->folder, 0777);
    if (set->made_folder) {
        snprintf(made_folder, sizeof made_folder, "%s", set->folder);
        catch_signals();
        return 0;
    }
    if (errno == ENOENT)
        return ids_fail(err, IDS_NOT_FOUND, "cannot make the folder '%s': the one that it shall lie in is not there",
                        set->folder);
    if (errno != EEXIST) return ids_fail_system(err, "cannot make the folder '%s'", set->folder);
    if (stat(set->folder, &status)) return ids_fail_system(err, "cannot open '%s'", set->folder);
    if (!S_ISDIR(status.st_mode)) return ids_fail(err, IDS_USAGE, "'%s' is not a folder", set->folder);
    ids_output_sweep(set->folder);
    return 0;
}

void ids_output_sweep(const char *folder) {
    ids_unfinished_sweep(folder, ids_unfinished_output);
}

int ids_output_check(const char *folder, const char *name, int force, struct ids_error *err) {
    char path[4096];
    struct stat status;
    if (is_stdout(folder)) return 0;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path) return 0; /* opening says so */
    if (lstat(path, &status)) return 0;
    if (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode)) /* a new file would take the place of /dev/null */
        return ids_fail(err, IDS_USAGE, "'%s' exists and is not a regular file; choose another name", path);
    if (force) return 0;
    return ids_fail(err, IDS_USAGE, "'%s' exists; use --force to overwrite", path);
}

static int output_write(struct ids_out *out, const void *bytes, size_t length, struct ids_error *err) {
    struct ids_output *output = (struct ids_output *)out;
    const char *at = bytes;
    while (length) {
        ssize_t n = write(output->fd, at, length);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            output->reader_left = errno == EPIPE;
            return ids_fail_system(err, "cannot write '%s'", output->path);
        }
        at += n;
        length -= (size_t)n;
        output->bytes += (uint64_t)n;
    }
    return 0;
}

static int open_temporary(struct ids_output *output, const char *stem, struct ids_error *err) {
    sigset_t before;
    ids_output_hold(&before);
    output->fd = ids_unfinished_open(stem, &output->temporary, err);
    int code = output->fd < 0 && output->fd != IDS_NOMEM ? ids_fail_system(err, "cannot write '%s'", output->path) : 0;
    if (output->fd >= 0) ids_output_watch(output->temporary);
    ids_output_let(&before);
    if (output->fd < 0) return code ? code : output->fd;
    output->lock = fcntl(output->fd, F_DUPFD_CLOEXEC, 0);
    return 0;
}

int ids_output_split(const char *option, const char *path, char **ret_folder, const char **ret_name,
                     struct ids_error *err) {
    const char *slash = strrchr(path, '/');
    *ret_name = slash ? slash + 1 : path;
    if (!**ret_name) return ids_fail(err, IDS_USAGE, "%s: '%s' names no file", option, path);
    if (slash)
        *ret_folder = strndup(path, slash == path ? 1 : (size_t)(slash - path));
    else
        *ret_folder = strdup(is_stdout(path) ? path : ".");
    return *ret_folder ? 0 : ids_no_memory(err);
}

int ids_output_open(const char *folder, const char *name, int force, struct ids_output *ret_output,
                    struct ids_error *err) {
    *ret_output = (struct ids_output){.out = {output_write}, .fd = -1, .lock = -1, .force = force};
    if (is_stdout(folder)) {
        ret_output->fd = STDOUT_FILENO;
        ret_output->path = strdup("standard output");
        return ret_output->path ? 0 : ids_no_memory(err);
    }
    int code = ids_output_check(folder, name, force, err);
    if (code) return code;
    const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
    if (asprintf(&ret_output->path, "%s%s%s", folder, slash, name) < 0) ret_output->path = NULL;
    char *stem = NULL;
    if (asprintf(&stem, "%s%s.idsprof.", folder, slash) < 0) stem = NULL;
    code = ret_output->path && stem ? open_temporary(ret_output, stem, err) : ids_no_memory(err);
    free(stem);
    if (code) ids_output_done(ret_output);
    return code;
}

/* Without `force` a file that appeared meanwhile is kept too. */
static int give_name(const char *temporary, const char *path, int force, struct ids_error *err) {
    if (!ids_rename(temporary, path, force)) return 0;
    if (errno == EEXIST) return ids_fail(err, IDS_USAGE, "'%s' exists", path);
    return ids_fail_system(err, "cannot write '%s'", path);
}

/* The file is whole, and waits for the others of its set. */
static int put_aside(struct ids_output *output, struct ids_error *err) {
    struct ids_output_set *set = output->set;
    if (ids_keymap_add(&set->by_path, ids_hash_bytes(output->path, strlen(output->path)) | 1, set->count) < 0)
        return ids_no_memory(err);
    struct ids_output_entry *entry = IDS_PUSH(set->at, set->count, set->room);
    if (!entry) return ids_no_memory(err);
    *entry = (struct ids_output_entry){strdup(output->path), output->temporary};
    if (entry->path) return 0;
    set->count--;
    return ids_no_memory(err);
}

int ids_output_close(struct ids_output *output, int code, struct ids_error *err) {
    if (!output->temporary) return code;
    int fd = output->fd;
    output->fd = -1;
    if (fd >= 0 && close(fd) && !code) code = ids_fail_system(err, "cannot write '%s'", output->path);
    if (!code && ids_memory_ran_out()) code = ids_no_memory(err); /* it may lack something */
    if (!code)
        code = output->set ? put_aside(output, err) : give_name(output->temporary, output->path, output->force, err);
    if (code) unlink(output->temporary);
    if (output->lock >= 0) close(output->lock);
    if (!output->set) ids_output_watch("");
    if (code || !output->set) free(output->temporary);
    output->temporary = NULL;
    return code;
}

void ids_output_done(struct ids_output *output) {
    free(output->path);
    free(output->temporary);
    output->path = output->temporary = NULL;
}

/* ---- files that belong together ---- */

int ids_output_set_begin(const char *folder, int force, struct ids_output_set *ret_set, struct ids_error *err) {
    *ret_set = (struct ids_output_set){.folder = folder, .force = force};
    return is_stdout(folder) ? 0 : make_folder(ret_set, err);
}

/* Where a file of the set will lie. NULL when memory ran out. */
static char *path_in(const struct ids_output_set *set, const char *name) {
    char *path;
    const char *slash = set->folder[strlen(set->folder) - 1] == '/' ? "" : "/";
    return asprintf(&path, "%s%s%s", set->folder, slash, name) < 0 ? NULL : path;
}

const char *ids_output_set_find(const struct ids_output_set *set, const char *name) {
    char *path = is_stdout(set->folder) ? NULL : path_in(set, name);
    uint64_t place;
    const char *found = NULL;
    if (path && ids_keymap_get(&set->by_path, ids_hash_bytes(path, strlen(path)) | 1, &place) &&
        !strcmp(set->at[place].path, path))
        found = set->at[place].temporary;
    free(path);
    return found;
}

int ids_output_set_open(struct ids_output_set *set, const char *name, struct ids_output *ret_output,
                        struct ids_error *err) {
    if (ids_output_set_find(set, name))
        return ids_fail(err, IDS_USAGE, "two files of this run would be called '%s'", name);
    int code = ids_output_open(set->folder, name, set->force, ret_output, err);
    if (!code && !is_stdout(set->folder)) ret_output->set = set;
    return code;
}

/* Gives all files their names, or takes back those that it gave. */
static int give_names(const struct ids_output_set *set, struct ids_error *err) {
    for (size_t i = 0; i < set->count; i++) {
        int code = give_name(set->at[i].temporary, set->at[i].path, set->force, err);
        if (!code) continue;
        /* Under --force a name may have been that of an older file, which is gone: then the new one is better than
         * none. */
        for (size_t done = 0; done < i && !set->force; done++) unlink(set->at[done].path);
        for (size_t left = i; left < set->count; left++) unlink(set->at[left].temporary);
        return code;
    }
    return 0;
}

int ids_output_set_end(struct ids_output_set *set, int code, struct ids_error *err) {
    if (!code && ids_memory_ran_out()) code = ids_no_memory(err); /* a file of it may be missing */
    if (!code) {
        code = give_names(set, err);
    } else {
        for (size_t i = 0; i < set->count; i++) unlink(set->at[i].temporary);
    }
    ids_output_watch("");
    *made_folder = '\0';
    if (set->made_folder && (code || !set->count))
        rmdir(set->folder); /* stays where somebody put a file in meanwhile */
    for (size_t i = 0; i < set->count; i++) {
        free(set->at[i].path);
        free(set->at[i].temporary);
    }
    free(set->at);
    ids_keymap_done(&set->by_path);
    *set = (struct ids_output_set){0};
    return code;
}

/* ---- streams ---- */

static ssize_t write_stream(void *own, const char *bytes, size_t length) {
    struct ids_output *output = own;
    if (!output->failed) output->failed = output->out.write(&output->out, bytes, length, &output->failure);
    return output->failed ? 0 : (ssize_t)length;
}

FILE *ids_output_stream(struct ids_output *output) {
    static const cookie_io_functions_t calls = {.write = write_stream};
    FILE *stream = fopencookie(output, "w", calls);
    if (stream) setvbuf(stream, NULL, _IOFBF, 1 << 16);
    return stream;
}

int ids_output_stream_end(FILE *stream, struct ids_output *output, struct ids_error *err) {
    if (!stream) return ids_no_memory(err);
    fclose(stream);
    if (output->failed) *err = output->failure;
    return output->failed;
}
