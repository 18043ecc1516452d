#include "collectors/common/control.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static int fail(char *why, size_t why_size, const char *what, const char *path) {
    snprintf(why, why_size, "%s '%s': %s", what, path, strerror(errno));
    return -1;
}

/* By the system call, because glibc 2.33 gave lstat a new version and the older name has left the headers. */
static int read_status(const char *path, struct stat *ret_status) {
#ifdef SYS_newfstatat
    return (int)syscall(SYS_newfstatat, AT_FDCWD, path, ret_status, AT_SYMLINK_NOFOLLOW);
#else
    return lstat(path, ret_status);
#endif
}

int ids_control_folder(char *path, size_t size, char *why, size_t why_size) {
    const char *base = getenv("XDG_RUNTIME_DIR");
    unsigned user = (unsigned)geteuid();
    /* A socket's path has 108 bytes: a base that leaves no room for the rest is none. */
    if (!base || base[0] != '/' || strlen(base) > 64 || access(base, W_OK | X_OK)) base = "/tmp";
    int length = snprintf(path, size, "%s/idsprof-%u", base, user);
    if (length < 0 || (size_t)length >= size) {
        snprintf(why, why_size, "no room for the path of a socket");
        return -1;
    }
    struct stat status;
    if (mkdir(path, 0700) && errno != EEXIST) return fail(why, why_size, "cannot make the folder", path);
    if (read_status(path, &status)) return fail(why, why_size, "cannot look at", path);
    if (!S_ISDIR(status.st_mode) || status.st_uid != user || (status.st_mode & 077)) {
        snprintf(why, why_size, "'%s' is not a folder that belongs to this user alone", path);
        return -1;
    }
    return 0;
}

static int set_address(struct sockaddr_un *address, const char *path) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    size_t length = strlen(path);
    if (length >= sizeof address->sun_path) return -1;
    memcpy(address->sun_path, path, length);
    return 0;
}

int ids_control_listen(char *ret_path, size_t size, char *why, size_t why_size) {
    char folder[IDS_CONTROL_PATH];
    struct sockaddr_un address;
    if (ids_control_folder(folder, sizeof folder, why, why_size)) return -1;
    int length = snprintf(ret_path, size, "%s/%d.sock", folder, (int)getpid());
    if (length < 0 || (size_t)length >= size || set_address(&address, ret_path)) {
        snprintf(why, why_size, "no room for the path of a socket");
        return -1;
    }
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0) return fail(why, why_size, "cannot make the socket", ret_path);
    unlink(ret_path); /* of a process of this number that was killed */
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 4)) {
        fail(why, why_size, "cannot listen at", ret_path);
        close(listener);
        return -1;
    }
    return listener;
}

static int is_allowed(int connection) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size)) return 0;
    return peer.uid == geteuid() || peer.uid == 0;
}

/* Reads up to the newline; 0, or -1 when it does not come in time. */
static int read_line(int connection, char *line, size_t size) {
    size_t length = 0;
    while (length + 1 < size) {
        struct pollfd wait = {.fd = connection, .events = POLLIN};
        int ready = poll(&wait, 1, IDS_CONTROL_TIMEOUT_MS);
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) return -1;
        ssize_t got = recv(connection, line + length, size - 1 - length, MSG_DONTWAIT);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got <= 0) return -1;
        length += (size_t)got;
        char *newline = memchr(line, '\n', length);
        if (!newline) continue;
        *newline = '\0';
        return 0;
    }
    return -1;
}

int ids_control_accept(int listener, char *request, size_t size) {
    struct sockaddr_un peer;
    socklen_t peer_size = sizeof peer;
    int connection = accept4(listener, (struct sockaddr *)&peer, &peer_size, SOCK_CLOEXEC);
    if (connection < 0) return -1;
    if (is_allowed(connection) && !read_line(connection, request, size)) return connection;
    close(connection);
    return -1;
}

static int send_all(int connection, const char *text, size_t length) {
    while (length) {
        ssize_t sent = send(connection, text, length, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return -1;
        text += sent;
        length -= (size_t)sent;
    }
    return 0;
}

void ids_control_answer(int connection, const char *text, size_t length) {
    send_all(connection, text, length);
    close(connection);
}

int ids_control_ask(const char *path, const char *request, char *answer, size_t size, char *why, size_t why_size) {
    struct sockaddr_un address;
    if (set_address(&address, path)) {
        snprintf(why, why_size, "'%s' is too long for a socket", path);
        return -1;
    }
    int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection < 0) return fail(why, why_size, "cannot make a socket for", path);
    int code = 0;
    if (connect(connection, (struct sockaddr *)&address, sizeof address)) {
        code = errno == ECONNREFUSED || errno == ENOENT ? -2 : -1;
        fail(why, why_size, "cannot reach", path);
    } else if (!is_allowed(connection)) {
        snprintf(why, why_size, "'%s' belongs to another user", path);
        code = -1;
    } else if (send_all(connection, request, strlen(request)) || send_all(connection, "\n", 1) ||
               read_line(connection, answer, size)) {
        snprintf(why, why_size, "no answer from '%s' within %d s", path, IDS_CONTROL_TIMEOUT_MS / 1000);
        code = -1;
    }
    close(connection);
    return code;
}

/* ---- what a start asks for ---- */

static int is_plain(char c) {
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || (c && strchr("._-", c));
}

int ids_control_name_valid(const char *name) {
    size_t length = 0;
    while (is_plain(name[length])) length++;
    return length && !name[length] && length < IDS_WISH_NAME;
}

static int64_t number_of(const char *text) {
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    return errno || end == text || number < 0 ? -1 : number;
}

int ids_control_read_wish(const char *request, struct ids_control_wish *ret_wish) {
    *ret_wish = (struct ids_control_wish){.steps = -1, .duration_ns = -1};
    if (strncmp(request, "start", 5) != 0 || (request[5] && request[5] != ' ')) return -1;
    for (const char *at = request + 5; *at; at += strcspn(at, ";")) {
        at += strspn(at, " ;");
        if (!strncmp(at, "steps=", 6)) ret_wish->steps = number_of(at + 6);
        if (!strncmp(at, "duration_ns=", 12)) ret_wish->duration_ns = number_of(at + 12);
        if (!strncmp(at, "block=1", 7)) ret_wish->is_block = 1;
        if (strncmp(at, "name=", 5) != 0) continue;
        for (size_t i = 0; i + 1 < sizeof ret_wish->name && is_plain(at[5 + i]); i++) ret_wish->name[i] = at[5 + i];
    }
    return 0;
}

void ids_control_write_wish(const struct ids_control_wish *wish, char request[IDS_WISH_TEXT]) {
    char steps[40] = "", duration[48] = "";
    if (wish->steps >= 0) snprintf(steps, sizeof steps, "steps=%lld;", (long long)wish->steps);
    if (wish->duration_ns >= 0) snprintf(duration, sizeof duration, "duration_ns=%lld;", (long long)wish->duration_ns);
    int is_more = steps[0] || duration[0] || wish->name[0];
    snprintf(request, IDS_WISH_TEXT, "start%s%s%s%s%s", is_more ? " " : "", steps, duration,
             wish->name[0] ? "name=" : "", wish->name);
}
