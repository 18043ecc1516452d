#include "lib/remote/listener.h"

#include "collectors/common/control.h"
#include "lib/attach/hosts.h"
#include "lib/capture/target_wait.h"

#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    CONNECTIONS_MAX = 16,
    LINE_LIMIT_MS = 10000,
    DRAIN_LIMIT_MS = 1000,
    POLL_MS = 50,
    BACKLOG = 16,
    ANSWER_BYTES = 1024
};
static const int64_t longest_delay_ns = 60000000000;

struct ids_listener {
    int socket;
    pthread_t thread;
    char token[IDS_TOKEN_BYTES];
    pid_t launcher; /* whose processes are meant */
    atomic_int stopping, connections;
};

struct connection {
    struct ids_listener *listener;
    int socket;
};

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void pause_ns(int64_t ns) {
    struct timespec pause = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    nanosleep(&pause, NULL);
}

/* ---- lines ---- */

/* Up to the newline, which goes: 0, or -1 where it does not come in time or is too long. */
static int read_line(const struct connection *connection, char line[IDS_LISTENER_LINE]) {
    int64_t limit = now_ns() + (int64_t)LINE_LIMIT_MS * 1000000;
    for (size_t length = 0; length + 1 < IDS_LISTENER_LINE;) {
        struct pollfd wait = {.fd = connection->socket, .events = POLLIN};
        int ready = poll(&wait, 1, POLL_MS);
        if (now_ns() > limit || connection->listener->stopping) return -1;
        if (ready <= 0) continue;
        ssize_t got = recv(connection->socket, line + length, 1, 0);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got <= 0) return -1;
        if (line[length] == '\n') {
            line[length] = '\0';
            return 0;
        }
        length++;
    }
    return -1;
}

/* What is said fits into the socket's buffer; a peer that does not read it is left. */
static void say(const struct connection *connection, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(const struct connection *connection, const char *format, ...) {
    char text[ANSWER_BYTES];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text - 1, format, arguments);
    va_end(arguments);
    if (length < 0) return;
    if ((size_t)length > sizeof text - 2) length = sizeof text - 2;
    for (int i = 0; i < length; i++) {
        if (text[i] == '\n') text[i] = ' ';
    }
    text[length] = '\n';
    if (send(connection->socket, text, (size_t)length + 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) return;
}

/* ---- a window ---- */

static int find_own(const struct ids_listener *listener, struct ids_targets *targets, struct ids_error *err) {
    int code = ids_targets_find(NULL, targets, err);
    if (code) return code;
    size_t kept = 0;
    for (size_t i = 0; i < targets->count; i++) {
        if (targets->at[i].launcher == listener->launcher) targets->at[kept++] = targets->at[i];
    }
    targets->count = kept;
    return 0;
}

static void do_window(const struct connection *connection, struct ids_targets *targets, const char *request) {
    int stop = !strcmp(request, "stop");
    struct ids_error err = IDS_ERROR_INIT;
    for (size_t i = 0; i < targets->count; i++) {
        struct ids_target *target = &targets->at[i];
        if (ids_target_ask(targets, target, request, &err)) {
            say(connection, "%" PRId64 " no %s", target->pid, err.text);
            target->refused = -1;
        } else if (target->refused) {
            say(connection, "%" PRId64 " no %s", target->pid, target->why);
        }
    }
    for (size_t i = 0; i < targets->count; i++) {
        struct ids_target *target = &targets->at[i];
        if (target->refused) continue;
        int64_t window = target->window;
        if (!ids_target_wait(targets, target, window, stop)) {
            say(connection, "%" PRId64 " yes %" PRId64, target->pid, window);
        } else {
            say(connection, "%" PRId64 " no window %" PRId64 " %s", target->pid, window,
                stop ? "is still being closed" : "was not opened; capture says why when the program ends");
        }
    }
}

static void serve_window(const struct connection *connection, struct ids_targets *targets, const char *request) {
    char word[8] = "", wish[IDS_WISH_TEXT - 8] = "", more = 0, whole[IDS_WISH_TEXT];
    struct ids_control_wish asked;
    int64_t delay_ns = 0;
    int words = sscanf(request, "%7s %" SCNd64 " %119s %c", word, &delay_ns, wish, &more);
    int stop = !strcmp(word, "stop");
    if (words < 2 || words > (stop ? 2 : 3) || (!stop && strcmp(word, "start") != 0) || delay_ns < 0 ||
        delay_ns > longest_delay_ns) {
        say(connection, "no a request that is not understood");
        return;
    }
    int64_t moment = now_ns() + delay_ns;
    for (int64_t left; !connection->listener->stopping && (left = moment - now_ns()) > 0;)
        pause_ns(left < POLL_MS * 1000000L ? left : POLL_MS * 1000000L);
    snprintf(whole, sizeof whole, "%s%s%s", word, *wish ? " " : "", wish);
    if (!ids_control_read_wish(whole, &asked)) ids_control_write_wish(&asked, whole); /* nothing but what is known */
    do_window(connection, targets, whole);
    say(connection, "end");
}

static void serve(const struct connection *connection) {
    static const char hello[] = "idsprof 1 ";
    char line[IDS_LISTENER_LINE];
    struct ids_targets targets = {0};
    struct ids_error err = IDS_ERROR_INIT;
    if (read_line(connection, line)) return;
    if (strncmp(line, hello, sizeof hello - 1) != 0) {
        say(connection, "no this is idsprof capture --listen, and no '%.16s'", line);
    } else if (!ids_token_is(connection->listener->token, line + sizeof hello - 1)) {
        say(connection, "no the token is another one");
    } else if (find_own(connection->listener, &targets, &err)) {
        say(connection, "no %s", err.text);
    } else {
        say(connection, "ok %zu", targets.count);
        if (!read_line(connection, line)) serve_window(connection, &targets, line);
        ids_targets_done(&targets);
    }
}

/* ---- threads ---- */

/* What was sent too much is read: closed over it, a connection is reset, and the other side loses our answer. */
static void close_softly(const struct connection *connection) {
    char rest[4096];
    int64_t limit = now_ns() + (int64_t)DRAIN_LIMIT_MS * 1000000;
    shutdown(connection->socket, SHUT_WR);
    while (!connection->listener->stopping && now_ns() < limit) {
        struct pollfd wait = {.fd = connection->socket, .events = POLLIN};
        if (poll(&wait, 1, POLL_MS) > 0 && recv(connection->socket, rest, sizeof rest, 0) <= 0) break;
    }
    close(connection->socket);
}

static void *run_connection(void *self) {
    struct connection *connection = self;
    struct ids_listener *listener = connection->listener;
    serve(connection);
    close_softly(connection);
    free(connection);
    listener->connections--;
    return NULL;
}

static void begin_connection(struct ids_listener *listener, int socket) {
    pthread_t thread;
    struct connection *connection = listener->connections < CONNECTIONS_MAX ? malloc(sizeof *connection) : NULL;
    if (!connection) {
        close(socket);
        return;
    }
    *connection = (struct connection){listener, socket};
    listener->connections++;
    if (!pthread_create(&thread, NULL, run_connection, connection)) {
        pthread_detach(thread);
        return;
    }
    listener->connections--;
    free(connection);
    close(socket);
}

static void *run_listener(void *self) {
    struct ids_listener *listener = self;
    while (!listener->stopping) {
        struct pollfd wait = {.fd = listener->socket, .events = POLLIN};
        if (poll(&wait, 1, POLL_MS) <= 0) continue;
        struct sockaddr_storage peer;
        socklen_t size = sizeof peer;
        int socket = accept4(listener->socket, (struct sockaddr *)&peer, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (socket >= 0) begin_connection(listener, socket);
    }
    return NULL;
}

/* ---- its life ---- */

static int listen_at(const struct addrinfo *address, struct ids_listener *listener) {
    int on = 1;
    listener->socket = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener->socket < 0) return -1;
    setsockopt(listener->socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (!bind(listener->socket, address->ai_addr, address->ai_addrlen) && !listen(listener->socket, BACKLOG)) return 0;
    int cause = errno;
    close(listener->socket);
    errno = cause;
    return -1;
}

static int open_place(const char *place, struct ids_listener *listener, struct ids_error *err) {
    struct ids_hosts hosts = {0};
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | AI_PASSIVE}, *addresses = NULL;
    int is_port = place[strspn(place, "0123456789")] == '\0';
    int code = is_port ? ids_hosts_add(&hosts, "127.0.0.1", 9, place, err)
                       : ids_hosts_add(&hosts, place, strlen(place), NULL, err);
    if (!code) {
        int failed = getaddrinfo(hosts.at[0].address, hosts.at[0].port, &hints, &addresses);
        if (failed) code = ids_fail(err, IDS_USAGE, "'%s' is no address of this host: %s", place, gai_strerror(failed));
    }
    if (!code && listen_at(addresses, listener))
        code =
            errno == EADDRINUSE
                ? ids_fail(err, IDS_IO,
                           "cannot listen at '%s': Address already in use; each capture needs a port of its own", place)
                : ids_fail_system(err, "cannot listen at '%s'", place);
    if (addresses) freeaddrinfo(addresses);
    ids_hosts_done(&hosts);
    return code;
}

int ids_listener_begin(const char *place, const char *token_file, struct ids_listener **ret_listener,
                       struct ids_error *err) {
    struct ids_listener *listener = calloc(1, sizeof *listener);
    if (!listener) return ids_no_memory(err);
    listener->launcher = getpid();
    int code = ids_token_read(token_file, 1, listener->token, err);
    if (!code) code = open_place(place, listener, err);
    if (code) {
        free(listener);
        return code;
    }
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* signals are the launcher's, which passes them on */
    int failed = pthread_create(&listener->thread, NULL, run_listener, listener);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) {
        close(listener->socket);
        free(listener);
        return ids_fail(err, IDS_IO, "cannot start a thread that listens: %s", strerror(failed));
    }
    *ret_listener = listener;
    return 0;
}

void ids_listener_end(struct ids_listener *listener) {
    if (!listener) return;
    listener->stopping = 1;
    pthread_join(listener->thread, NULL);
    while (listener->connections)
        pause_ns(1000000); /* each looks at `stopping`, or waits for a process that has ended */
    close(listener->socket);
    free(listener);
}
