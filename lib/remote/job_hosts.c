#include "lib/remote/job_hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_MAX = 1 << 20 };

/* ---- a text of hosts ---- */

static int add_lines(const char *text, const char *port, struct ids_hosts *hosts, struct ids_error *err) {
    int code = 0;
    for (const char *at = text; !code && *at;) {
        size_t line = strcspn(at, "\n"), space = strspn(at, " \t\r");
        size_t word = strcspn(at + space, " \t\r\n");
        if (word && at[space] != '#') code = ids_hosts_add(hosts, at + space, word, port, err);
        at += line + (at[line] == '\n');
    }
    return code;
}

static int read_all(int file, char **ret_text, struct ids_error *err) {
    char *text = malloc(OUTPUT_MAX + 1);
    size_t length = 0;
    if (!text) return ids_no_memory(err);
    for (ssize_t got; length < OUTPUT_MAX; length += (size_t)got) {
        got = read(file, text + length, OUTPUT_MAX - length);
        if (got < 0 && errno == EINTR)
            got = 0;
        else if (got <= 0)
            break;
    }
    text[length] = '\0';
    *ret_text = text;
    return 0;
}

int ids_job_hosts_file(const char *path, const char *port, struct ids_hosts *hosts, struct ids_error *err) {
    char *text = NULL;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return ids_fail_system(err, "cannot read the hosts in '%s'", path);
    int code = read_all(file, &text, err);
    close(file);
    if (!code) code = add_lines(text, port, hosts, err);
    if (!code && !hosts->count) code = ids_fail(err, IDS_USAGE, "'%s' names no host", path);
    if (code == IDS_USAGE && hosts->count) ids_error_at(err, "'%s'", path);
    free(text);
    return code;
}

/* ---- what a program prints ---- */

static int run_tool(char *const argv[], char **ret_text, struct ids_error *err) {
    posix_spawn_file_actions_t actions;
    int ends[2], status = 0, code;
    pid_t pid;
    if (pipe2(ends, O_CLOEXEC)) return ids_fail_system(err, "cannot run '%s'", argv[0]);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    int failed = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (failed) {
        close(ends[0]);
        errno = failed;
        return ids_fail(err, IDS_NOT_FOUND, "cannot run '%s': %s; --hosts FILE needs no Slurm", argv[0],
                        strerror(failed));
    }
    code = read_all(ends[0], ret_text, err);
    close(ends[0]);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    if (!code && (!WIFEXITED(status) || WEXITSTATUS(status)))
        code = ids_fail(err, IDS_IO, "'%s' failed; what it said is above", argv[0]);
    if (code) {
        free(*ret_text);
        *ret_text = NULL;
    }
    return code;
}

int ids_job_hosts_slurm(const char *job, const char *port, struct ids_hosts *hosts, struct ids_error *err) {
    char squeue[] = "squeue", of[] = "-j", plain[] = "-h", format[] = "-o", nodes[] = "%N", scontrol[] = "scontrol",
         show[] = "show", hostnames[] = "hostnames";
    char *number = strdup(job), *list = NULL, *names = NULL;
    if (!number) return ids_no_memory(err);
    char *const asking[] = {squeue, of, number, plain, format, nodes, NULL};
    int code = strspn(job, "0123456789_+") == strlen(job) && *job
                   ? run_tool(asking, &list, err)
                   : ids_fail(err, IDS_USAGE, "--slurm: '%s' is no job number", job);
    if (!code) list[strcspn(list, "\n")] = '\0';
    if (!code && !*list) code = ids_fail(err, IDS_NOT_FOUND, "job %s has no hosts: it does not run", job);
    char *const expanding[] = {scontrol, show, hostnames, list, NULL};
    if (!code) code = run_tool(expanding, &names, err);
    if (!code) code = add_lines(names, port, hosts, err);
    free(number);
    free(list);
    free(names);
    return code;
}
