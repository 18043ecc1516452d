#include "cmd/command.h"

#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The page that was installed beside this program, which MANPATH need not know: PREFIX/bin/idsprof has it in
 * PREFIX/share/man. 0 when there is none. */
static int find_page(const char *page, char *path, size_t size) {
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 1) return 0;
    program[length] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(program, '/');
        if (!slash) return 0;
        *slash = '\0';
    }
    int used = snprintf(path, size, "%s/share/man/man1/%s.1", program, page);
    return used > 0 && (size_t)used < size && access(path, R_OK) == 0;
}

/* 1 when man showed the page. What man says about a page that it does not have is not for the user: there is other help. */
static int show_page(const char *page) {
    char path[PATH_MAX + 64];
    char *arguments[] = {(char *)"man", find_page(page, path, sizeof path) ? path : (char *)page, NULL};
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions)) return 0;
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    fflush(stdout);
    pid_t child;
    int status = -1;
    int failed = posix_spawnp(&child, "man", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed) return 0;
    while (waitpid(child, &status, 0) < 0) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int run(const void *values, char *const *operands, int operand_count, struct ids_error *err) {
    (void)values;
    if (!operand_count) {
        if (!show_page("idsprof")) ids_program_usage(stdout);
        return IDS_EXIT_DONE;
    }
    int index;
    int code = ids_parse_choice(operands[0], ids_command_choice, &index, err);
    if (code) return code;
    const struct ids_command_entry *entry = ids_command_find(ids_command_choice(index));
    char page[64];
    snprintf(page, sizeof page, "idsprof-%s", entry->name);
    if (!show_page(page)) ids_command_usage(entry, stdout);
    return IDS_EXIT_DONE;
}

const struct ids_command ids_command_help = {
    .operands = "[COMMAND]",
    .most = 1,
    .operand_choice = ids_command_choice,
    .run = run,
};
