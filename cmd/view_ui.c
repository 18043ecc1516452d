/* `view --ui`: other programs' views, with the files that they want. */
#include "cmd/command.h"
#include "cmd/engine.h"
#include "cmd/view.h"
#include "lib/capture/child.h"
#include "lib/cli/say.h"
#include "lib/run/find_runs.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- a folder that goes when it was used ---- */

static int make_temporary(const struct ids_view *view, char folder[PATH_MAX], struct ids_error *err) {
    int length = snprintf(folder, PATH_MAX, "%s/%s.XXXXXX", view->folder, view->key);
    if (length >= PATH_MAX) return ids_fail(err, IDS_LIMIT, "the path of the cache is too long");
    return mkdtemp(folder) ? 0 : ids_fail_system(err, "'%s'", folder);
}

/* Opens the first file, and takes away the names of all, so that nothing stays whatever ends us. How many they are. */
static int take_files(const char *folder, int *ret_fd, char name[256]) {
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, NULL, alphasort), files = 0;
    int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *ret_fd = -1;
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.') {
            if (!files++) {
                *ret_fd = openat(at, entries[i]->d_name, O_RDONLY | O_CLOEXEC);
                snprintf(name, 256, "%s", entries[i]->d_name);
            }
            unlinkat(at, entries[i]->d_name, 0);
        }
        free(entries[i]);
    }
    free(entries);
    if (at >= 0) close(at);
    rmdir(folder);
    return files;
}

/* ---- Perfetto ---- */

/* The page at ui.perfetto.dev may only ask port 9001 of this machine: its own policy names it. */
int ids_view_perfetto(struct ids_view *view, struct ids_error *err) {
    enum { PERFETTO_PORT = 9001 };
    static const char origin[] = "https://ui.perfetto.dev", page[] = "https://ui.perfetto.dev/#!/?url=%s";
    char folder[PATH_MAX], name[256] = "";
    int fd = -1;
    int code = make_temporary(view, folder, err);
    if (code) return code;
    const char *const more[] = {"--format=perfetto", "--output", folder, "--force", "--quiet", NULL};
    code = ids_view_run_self(view, "extract", more, err);
    int files = take_files(folder, &fd, name);
    if (code) {
        if (fd >= 0) close(fd);
        return code;
    }
    if (fd < 0) return ids_fail(err, IDS_IO, "no trace was written into '%s'", folder);
    if (files > 1)
        ids_say("view", "this is %s; the run has %d more hosts: 'idsprof extract -f perfetto' writes them", name,
                files - 1);
    if (!view->port) view->port = PERFETTO_PORT;
    const struct ids_file_server_params params = {
        .fd = fd, .name = "trace.pftrace", .type = "application/octet-stream", .origin = origin, .port = view->port};
    code = ids_view_serve(view, &params, page, err);
    return code < 0 && view->port == PERFETTO_PORT
               ? ids_hint(err, "another program may have the port; ui.perfetto.dev asks no other")
               : code;
}

/* ---- servers of others ---- */

/* A log folder is above plugins/profile; what lies elsewhere is written into one first. */
static int log_folder(const struct ids_view *view, char folder[PATH_MAX], int *ret_made, struct ids_error *err) {
    static const char below[] = "/plugins/profile/";
    struct ids_engine engine = ids_command_engine("view", 1);
    struct ids_run_list list;
    const struct ids_run_files *run = NULL;
    int code = ids_find_runs(&engine, view->path, &list, err);
    if (code) return code;
    code = ids_choose_run(&list, view->options->run, &run, err);
    if (!code) code = ids_need_profile(run, err);
    const char *file = code ? "" : run->files[0].path, *end = strstr(file, below);
    int is_there = !code && end && !run->files[0].archive && strstr(file, ".xplane.pb");
    if (is_there) snprintf(folder, PATH_MAX, "%.*s", (int)(end - file), file);
    ids_run_list_done(&list);
    *ret_made = !is_there;
    if (code || is_there) return code;
    char into[PATH_MAX + 64];
    snprintf(folder, PATH_MAX, "%.4000s/%s.log", view->folder, view->key);
    snprintf(into, sizeof into, "%s/plugins/profile/%s", folder, view->key);
    char *made = strdup(into);
    if (!made) return ids_no_memory(err);
    for (char *slash = strchr(made + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(made, 0700); /* extract says what fails */
        *slash = '/';
    }
    free(made);
    const char *const more[] = {"--format=xplane", "--output", into, "--force", "--quiet", NULL};
    return ids_view_run_self(view, "extract", more, err);
}

static int answers(int port) {
    struct sockaddr_in loopback = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int connected = connection >= 0 && !connect(connection, (const struct sockaddr *)&loopback, sizeof loopback);
    if (connection >= 0) close(connection);
    return connected;
}

static int free_port(void) {
    struct sockaddr_in loopback = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof loopback;
    int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), port = 0;
    if (probe >= 0 && !bind(probe, (const struct sockaddr *)&loopback, sizeof loopback) &&
        !getsockname(probe, (struct sockaddr *)&loopback, &length))
        port = ntohs(loopback.sin_port);
    if (probe >= 0) close(probe);
    return port;
}

/* The server is another program's, and takes seconds to begin. */
static void open_when_ready(const struct ids_view *view, int port) {
    const struct timespec pause = {.tv_nsec = 200000000};
    struct ids_error err = IDS_ERROR_INIT;
    char address[64], whole[IDS_ERROR_WHOLE];
    for (int tries = 0; !answers(port) && tries < 600; tries++) nanosleep(&pause, NULL);
    snprintf(address, sizeof address, "http://127.0.0.1:%d/", port);
    if (view->opener.kind == IDS_OPENER_REMOTE)
        ids_say("view", "on your machine: ssh -N -L %d:127.0.0.1:%d HOST, and open %s", port, port, address);
    else if (ids_view_show(view, address, &err))
        ids_say("view", "%s", ids_error_whole(&err, whole));
}

/* A process of its own waits for the server, since both run a program, whose end this one waits for. */
static int run_server(const struct ids_view *view, char *program, const char *folder, struct ids_error *err) {
    struct ids_child_end end;
    char log_option[PATH_MAX + 16], port_option[32];
    int port = view->port ? view->port : free_port();
    snprintf(log_option, sizeof log_option, "--logdir=%s", folder);
    snprintf(port_option, sizeof port_option, "--port=%d", port);
    char *words[] = {program, log_option, port_option, NULL};
    fflush(stdout);
    pid_t helper = fork();
    if (helper < 0) return ids_fail_system(err, "cannot start a process");
    if (!helper) {
        open_when_ready(view, port);
        _exit(0);
    }
    int code = ids_child_run(words, environ, &end, err);
    kill(helper, SIGTERM);
    waitpid(helper, NULL, 0);
    return code ? ids_error_at(err, "'%s'", program) : ids_child_status(&end);
}

int ids_view_server(struct ids_view *view, const char *program, struct ids_error *err) {
    char path[IDS_OPENER_BYTES], folder[PATH_MAX] = "";
    if (!ids_opener_in_path(program, path))
        return ids_fail(err, IDS_NOT_FOUND, "'%s' is not installed (pip install %s)", program,
                        strcmp(program, "tensorboard") ? program : "tensorboard xprof");
    int is_made = 0, code = log_folder(view, folder, &is_made, err);
    if (!code) ids_say("view", "%s of '%s'; interrupt it to end", program, folder);
    if (!code) code = run_server(view, path, folder, err);
    if (is_made && *folder) ids_view_remove(folder);
    return code;
}
