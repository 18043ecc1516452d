#include "cmd/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- an interrupted program removes what it had begun ---- */

static char unfinished[4096]; /* one at a time */

static void remove_unfinished(int number) {
    if (*unfinished) unlink(unfinished);
    signal(number, SIG_DFL);
    raise(number);
}

void ids_output_watch(const char *path) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    snprintf(unfinished, sizeof unfinished, "%s", path);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before;
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            signal(numbers[i], remove_unfinished);
    }
}

/* ---- */

static int is_stdout(const char *folder) {
    return !strcmp(folder, "-");
}

int ids_output_folder(const char *folder, struct ids_error *err) {
    struct stat status;
    if (is_stdout(folder)) return 0;
    if (mkdir(folder, 0777) && errno != EEXIST)
        return ids_fail(err, IDS_IO, "cannot make the folder '%s': %s", folder, strerror(errno));
    if (stat(folder, &status)) return ids_fail(err, IDS_IO, "cannot open '%s': %s", folder, strerror(errno));
    return S_ISDIR(status.st_mode) ? 0 : ids_fail(err, IDS_USAGE, "'%s' is not a folder", folder);
}

int ids_output_check(const char *folder, const char *name, int force, struct ids_error *err) {
    char path[4096];
    struct stat status;
    if (is_stdout(folder) || force) return 0;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path) return 0; /* opening says so */
    if (lstat(path, &status)) return 0;
    return ids_fail(err, IDS_USAGE, "'%s' is there already, and is kept; --force writes over it", path);
}

static int output_write(struct ids_out *out, const void *bytes, size_t length, struct ids_error *err) {
    struct ids_output *output = (struct ids_output *)out;
    const char *at = bytes;
    while (length) {
        ssize_t n = write(output->fd, at, length);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            output->reader_left = errno == EPIPE;
            return ids_fail(err, IDS_IO, "cannot write '%s': %s", output->path, strerror(errno));
        }
        at += n;
        length -= (size_t)n;
        output->bytes += (uint64_t)n;
    }
    return 0;
}

static int open_temporary(struct ids_output *output, struct ids_error *err) {
    output->fd = mkostemp(output->temporary, O_CLOEXEC);
    if (output->fd < 0) return ids_fail(err, IDS_IO, "cannot write '%s': %s", output->path, strerror(errno));
    ids_output_watch(output->temporary);
    mode_t mask = umask(0);
    umask(mask);
    fchmod(output->fd, 0666 & ~mask);
    return 0;
}

int ids_output_open(const char *folder, const char *name, int force, struct ids_output *ret_output,
                    struct ids_error *err) {
    *ret_output = (struct ids_output){.out = {output_write}, .fd = -1, .force = force};
    if (is_stdout(folder)) {
        ret_output->fd = STDOUT_FILENO;
        ret_output->path = strdup("standard output");
        return ret_output->path ? 0 : ids_no_memory(err);
    }
    int code = ids_output_check(folder, name, force, err);
    if (code) return code;
    const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
    if (asprintf(&ret_output->path, "%s%s%s", folder, slash, name) < 0) ret_output->path = NULL;
    if (asprintf(&ret_output->temporary, "%s%s.idsprof.XXXXXX", folder, slash) < 0) ret_output->temporary = NULL;
    code = ret_output->path && ret_output->temporary ? open_temporary(ret_output, err) : ids_no_memory(err);
    if (code) ids_output_done(ret_output);
    return code;
}

/* Without `force` a file that appeared meanwhile is kept too. */
static int give_name(const struct ids_output *output, struct ids_error *err) {
    unsigned flags = output->force ? 0 : RENAME_NOREPLACE;
    int failed = renameat2(AT_FDCWD, output->temporary, AT_FDCWD, output->path, flags);
    if (failed && (errno == EINVAL || errno == ENOSYS)) failed = rename(output->temporary, output->path);
    if (!failed) return 0;
    if (errno == EEXIST) return ids_fail(err, IDS_USAGE, "'%s' is there already, and is kept", output->path);
    return ids_fail(err, IDS_IO, "cannot write '%s': %s", output->path, strerror(errno));
}

int ids_output_close(struct ids_output *output, int code, struct ids_error *err) {
    if (!output->temporary) return code;
    int fd = output->fd;
    output->fd = -1;
    if (fd >= 0 && close(fd) && !code)
        code = ids_fail(err, IDS_IO, "cannot write '%s': %s", output->path, strerror(errno));
    if (!code) code = give_name(output, err);
    if (code) unlink(output->temporary);
    *unfinished = '\0';
    free(output->temporary);
    output->temporary = NULL;
    return code;
}

void ids_output_done(struct ids_output *output) {
    free(output->path);
    free(output->temporary);
    output->path = output->temporary = NULL;
}
