#include "lib/attach/remote_exec.h"

#include "lib/attach/process_ports.h"
#include "lib/capture/child.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SCRIPT_BYTES = 512, TRIES = 100, TRY_NS = 50000000, NO_REMOTE_EXEC = 71, REFUSED = 72 };

static const char needs[] =
    "process %" PRId64 " has no profiler server: call jax.profiler.start_server(9012) in it, or start it "
    "under idsprof capture; in a Python of 3.14 or newer neither is needed";

/* A port that nobody has now. */
static unsigned free_port(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int failed = file < 0 || bind(file, (struct sockaddr *)&address, size) ||
                 getsockname(file, (struct sockaddr *)&address, &size);
    if (file >= 0) close(file);
    return failed ? 0 : ntohs(address.sin_port);
}

static int is_python(int64_t pid, char path[PATH_MAX]) {
    char link[64];
    snprintf(link, sizeof link, "/proc/%" PRId64 "/exe", pid);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length < 0) return 0;
    path[length] = '\0';
    const char *base = strrchr(path, '/');
    return base && !strncmp(base + 1, "python", 6);
}

/* The script in a file that the process can read. */
static int write_script(int64_t pid, const char *text, char path[PATH_MAX], struct ids_error *err) {
    const char *base = getenv("TMPDIR");
    int length =
        snprintf(path, PATH_MAX, "%s/idsprof-attach-%" PRId64 "-XXXXXX", base && base[0] == '/' ? base : "/tmp", pid);
    if (length < 0 || length >= PATH_MAX) return ids_fail(err, IDS_LIMIT, "TMPDIR is too long");
    int file = mkostemp(path, O_CLOEXEC);
    int failed = file < 0 || fchmod(file, 0644) || write(file, text, strlen(text)) != (ssize_t)strlen(text);
    if (file >= 0 && close(file)) failed = 1;
    return failed ? ids_fail_system(err, "cannot write the script '%s'", path) : 0;
}

/* Its own interpreter asks it, because the two must be of one version. */
static int remote_exec(int64_t pid, const char *script, struct ids_error *err) {
    static const char asking[] = "import sys\n"
                                 "if not hasattr(sys, 'remote_exec'): sys.exit(71)\n"
                                 "try: sys.remote_exec(int(sys.argv[1]), sys.argv[2])\n"
                                 "except PermissionError: sys.exit(72)\n";
    char python[PATH_MAX], number[24], *code_text = strdup(asking), *file = strdup(script), flag[] = "-c";
    struct ids_child_end end = {0};
    if (!code_text || !file || !is_python(pid, python)) {
        free(code_text);
        free(file);
        return ids_fail(err, IDS_UNSUPPORTED, needs, pid);
    }
    snprintf(number, sizeof number, "%" PRId64, pid);
    char *const argv[] = {python, flag, code_text, number, file, NULL};
    int code = ids_child_run(argv, environ, &end, err);
    if (!code && end.code == NO_REMOTE_EXEC) code = ids_fail(err, IDS_UNSUPPORTED, needs, pid);
    if (!code && end.code == REFUSED)
        code = ids_fail(err, IDS_IO,
                        "process %" PRId64 " may not be reached: as for a debugger, run as its user with "
                        "kernel.yama.ptrace_scope 0, or as root",
                        pid);
    if (!code && ids_child_status(&end))
        code = ids_fail(err, IDS_IO, "the Python of process %" PRId64 " could not have it run a script", pid);
    free(code_text);
    free(file);
    return code;
}

/* A process that comes to the script too late must not do it: nobody waits any more. */
static void format_script(char *text, const char *what) {
    snprintf(text, SCRIPT_BYTES,
             "import sys, time\n"
             "if time.time() < %lld and 'jax' in sys.modules: sys.modules['jax'].profiler.%s\n",
             (long long)time(NULL) + TRIES * (TRY_NS / 1000000) / 1000, what);
}

static int listens_at(int64_t pid, unsigned port) {
    char ending[16];
    struct ids_hosts hosts = {0};
    struct ids_error ignored = IDS_ERROR_INIT;
    int found = 0;
    snprintf(ending, sizeof ending, "%u", port);
    if (!ids_process_ports(pid, &hosts, &ignored)) {
        for (size_t i = 0; i < hosts.count; i++) found |= !strcmp(hosts.at[i].port, ending);
    }
    ids_hosts_done(&hosts);
    return found;
}

/* Has it run the script, and waits until the port is open, or closed. */
static int run_script(int64_t pid, const char *what, unsigned port, int open, struct ids_error *err) {
    char path[PATH_MAX], text[SCRIPT_BYTES];
    format_script(text, what);
    int code = write_script(pid, text, path, err), done = 0;
    if (code) return code;
    code = remote_exec(pid, path, err);
    for (int i = 0; !code && i < TRIES && !(done = listens_at(pid, port) == open); i++)
        nanosleep(&(struct timespec){.tv_nsec = TRY_NS}, NULL);
    if (code || done) unlink(path); /* else it may still be opened, and does nothing then */
    if (code || done) return code;
    return ids_fail(err, IDS_NOT_FOUND,
                    "process %" PRId64
                    " did not come to it within 5 s: has it imported jax, and does its main thread run "
                    "Python?",
                    pid);
}

int ids_remote_exec_server(int64_t pid, struct ids_hosts *hosts, struct ids_error *err) {
    char what[64], name[32];
    unsigned port = free_port();
    if (!port) return ids_fail_system(err, "no free port");
    snprintf(what, sizeof what, "start_server(%u)", port);
    int code = run_script(pid, what, port, 1, err);
    int length = snprintf(name, sizeof name, "127.0.0.1:%u", port);
    return code ? code : ids_hosts_add(hosts, name, (size_t)length, NULL, err);
}

void ids_remote_exec_end(int64_t pid, const struct ids_host *server) {
    struct ids_error ignored = IDS_ERROR_INIT;
    run_script(pid, "stop_server()", (unsigned)strtoul(server->port, NULL, 10), 0, &ignored);
}
