#include "cmd/command.h"
#include "lib/base/own_program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Pages that are about no command. */
static const struct topic {
    const char *name;
    char section;
} topics[] = {{"metrics", '7'}, {"schema", '5'}, {"collectors", '7'}};

static const char *subject_choice(int i) {
    int commands = 0;
    while (ids_command_choice(commands)) commands++;
    if (i < commands) return ids_command_choice(i);
    return i - commands < (int)(sizeof topics / sizeof *topics) ? topics[i - commands].name : NULL;
}

static const struct topic *find_topic(const char *name) {
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++) {
        if (!strcmp(topics[i].name, name)) return &topics[i];
    }
    return NULL;
}

/* The page of this very program, which MANPATH need not know: PREFIX/bin/idsprof has it in PREFIX/share/man, and
 * build/release/idsprof of a checkout in man/. 0 when there is none. */
static int find_page(const char *page, char section, char *path, size_t size) {
    enum { LEVELS = 4 };
    char folder[PATH_MAX];
    if (!realpath(ids_own_program(), folder)) return 0;
    for (int up = 0; up < LEVELS; up++) {
        char *slash = strrchr(folder, '/');
        if (!slash) return 0;
        *slash = '\0';
        int used = snprintf(path, size, "%s/share/man/man%c/%s.%c", folder, section, page, section);
        if (used > 0 && (size_t)used < size && access(path, R_OK) == 0) return 1;
        used = snprintf(path, size, "%s/man/%s.%c", folder, page, section);
        if (used > 0 && (size_t)used < size && access(path, R_OK) == 0) return 1;
    }
    return 0;
}

/* What man writes, on our standard output: 1 when all of it got there. */
static int copy_output(int from) {
    char bytes[4096];
    ssize_t length;
    while ((length = read(from, bytes, sizeof bytes)) != 0) {
        if (length < 0 && errno == EINTR) continue;
        if (length < 0 || fwrite(bytes, 1, (size_t)length, stdout) != (size_t)length) return 0;
    }
    return 1;
}

/* Where nobody turns pages, man's text passes through us: man does not notice a full disk. */
static int through_pipe(posix_spawn_file_actions_t *actions, int ends[2]) {
    if (pipe2(ends, O_CLOEXEC)) return -1;
    return posix_spawn_file_actions_adddup2(actions, ends[1], STDOUT_FILENO);
}

/* 1 when man showed the page. What man says about a page that it does not have is not for the user: there is other
 * help. */
static int show_page(const char *page, char section) {
    char path[PATH_MAX + 64];
    char *arguments[] = {(char *)"man", find_page(page, section, path, sizeof path) ? path : (char *)page, NULL};
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions)) return 0;
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int ends[2] = {-1, -1};
    int failed = isatty(STDOUT_FILENO) ? 0 : through_pipe(&actions, ends);
    fflush(stdout);
    pid_t child;
    int status = -1;
    failed = failed || posix_spawnp(&child, "man", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (ends[1] >= 0) close(ends[1]);
    int written = failed || ends[0] < 0 || copy_output(ends[0]);
    if (ends[0] >= 0) close(ends[0]); /* before the wait: a man whose text nobody takes ends by it */
    if (failed) return 0;
    while (waitpid(child, &status, 0) < 0) {
    }
    return !written || (WIFEXITED(status) && WEXITSTATUS(status) == 0); /* main says what could not be written */
}

static int help_run(const void *values, char *const *operands, int operand_count, struct ids_error *err) {
    (void)values;
    if (!operand_count) {
        if (!show_page("idsprof", '1')) ids_program_usage(stdout);
        return IDS_EXIT_DONE;
    }
    int index;
    int code = ids_parse_choice(operands[0], subject_choice, &index, err);
    if (code) return code;
    const char *subject = subject_choice(index);
    const struct topic *topic = find_topic(subject);
    char page[64];
    snprintf(page, sizeof page, "idsprof-%s", subject);
    if (show_page(page, topic ? topic->section : '1')) return IDS_EXIT_DONE;
    if (topic)
        return ids_fail(err, IDS_UNSUPPORTED, "man could not show the page %s(%c); is man-db installed?", page,
                        topic->section);
    ids_command_usage(ids_command_find(subject), stdout);
    return IDS_EXIT_DONE;
}

const struct ids_command ids_help_command = {
    .operands = "[COMMAND | TOPIC]",
    .most = 1,
    .operand_choice = subject_choice,
    .run = help_run,
};
