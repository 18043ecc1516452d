#include "lib/view/file_server.h"

#include "lib/base/library.h"
#include "lib/base/random.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TOKEN_BYTES = 16, CONNECTIONS_MOST = 16, IDLE_SECONDS = 20, ADDRESS_BYTES = 512, LINGER_NS = 200000000 };

struct ids_file_server {
    struct MHD_Daemon *daemon;
    int fd, port;
    uint64_t size;
    char path[ADDRESS_BYTES / 2]; /* "/<token>/<name>" */
    char address[ADDRESS_BYTES];
    char hosts[2][32];             /* by which we may be called */
    char asked[ADDRESS_BYTES / 2]; /* "/<token>/<question>"; empty: nothing can be asked */
    const char *type, *origin;
    const char *const *keys;
    char *(*answer)(void *own, const char *const *values, size_t *ret_length);
    void *own;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int delivered;
    uint64_t requests; /* that we did not refuse */
};

/* ---- the library ---- */

/* Loaded when a file is served, because it brings GnuTLS, whose start costs every command milliseconds and memory; but
 * linked where it is static and has none. */
#define CALLS(X)               \
    X(start_daemon)            \
    X(stop_daemon)             \
    X(get_daemon_info)         \
    X(lookup_connection_value) \
    X(add_response_header)     \
    X(queue_response) X(destroy_response) X(create_response_from_buffer) X(create_response_from_fd_at_offset64)

static struct {
#define MEMBER(name) __typeof__(MHD_##name) *name;
    CALLS(MEMBER)
} http;

#ifdef IDS_LINKED_MICROHTTPD
static int load_library(struct ids_error *err) {
#define TAKE(name) http.name = MHD_##name;
    CALLS(TAKE)
    (void)err;
    return 0;
}
#else
static int load_library(struct ids_error *err) {
#define NAME_AND_PLACE(name) {"MHD_" #name, &http.name},
    static const struct ids_library_call calls[] = {CALLS(NAME_AND_PLACE)};
    return ids_library_load("libmicrohttpd.so.12", calls, sizeof calls / sizeof *calls, err);
}
#endif

/* ---- a request ---- */

/* The context of a request that gets the file. */
static char file_request;

static const char *header(struct MHD_Connection *connection, const char *name) {
    return http.lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* Whoever reaches us under another name was led here by a page's own name server. */
static int is_our_host(const struct ids_file_server *server, const char *host) {
    return host && (!strcasecmp(host, server->hosts[0]) || !strcasecmp(host, server->hosts[1]));
}

static int is_our_origin(const struct ids_file_server *server, const char *origin) {
    return !origin || (server->origin && !strcmp(origin, server->origin));
}

static enum MHD_Result respond(const struct ids_file_server *server, struct MHD_Connection *connection, unsigned status,
                               struct MHD_Response *response) {
    if (!response) return MHD_NO;
    http.add_response_header(response, "Cache-Control", "no-store");
    http.add_response_header(response, "X-Content-Type-Options", "nosniff");
    http.add_response_header(response, "Referrer-Policy", "no-referrer");
    if (server->origin) {
        http.add_response_header(response, "Access-Control-Allow-Origin", server->origin);
        http.add_response_header(response, "Vary", "Origin");
    }
    enum MHD_Result result = http.queue_response(connection, status, response);
    http.destroy_response(response);
    return result;
}

static enum MHD_Result refuse(const struct ids_file_server *server, struct MHD_Connection *connection,
                              unsigned status) {
    static char nothing[] = "";
    struct MHD_Response *response = http.create_response_from_buffer(0, nothing, MHD_RESPMEM_PERSISTENT);
    return respond(server, connection, status, response);
}

/* A browser asks first whether a page from the network may read what lies on this machine. */
static enum MHD_Result answer_preflight(const struct ids_file_server *server, struct MHD_Connection *connection) {
    static char nothing[] = "";
    struct MHD_Response *response = http.create_response_from_buffer(0, nothing, MHD_RESPMEM_PERSISTENT);
    if (!response) return MHD_NO;
    http.add_response_header(response, "Access-Control-Allow-Methods", "GET");
    http.add_response_header(response, "Access-Control-Allow-Private-Network", "true");
    return respond(server, connection, MHD_HTTP_NO_CONTENT, response);
}

static enum MHD_Result send_file(const struct ids_file_server *server, struct MHD_Connection *connection) {
    int fd = dup(server->fd); /* the response closes it */
    if (fd < 0) return refuse(server, connection, MHD_HTTP_INTERNAL_SERVER_ERROR);
    struct MHD_Response *response = http.create_response_from_fd_at_offset64(server->size, fd, 0);
    if (!response) {
        close(fd);
        return MHD_NO;
    }
    http.add_response_header(response, "Content-Type", server->type);
    return respond(server, connection, MHD_HTTP_OK, response);
}

static enum MHD_Result answer(struct ids_file_server *server, struct MHD_Connection *connection) {
    const char *values[IDS_QUESTION_KEYS] = {NULL};
    size_t length = 0;
    for (int i = 0; i < IDS_QUESTION_KEYS && server->keys[i]; i++)
        values[i] = http.lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, server->keys[i]);
    char *text = server->answer(server->own, values, &length);
    if (!text) return refuse(server, connection, MHD_HTTP_BAD_REQUEST);
    struct MHD_Response *response = http.create_response_from_buffer(length, text, MHD_RESPMEM_MUST_FREE);
    if (!response) {
        free(text);
        return MHD_NO;
    }
    http.add_response_header(response, "Content-Type", "application/json");
    return respond(server, connection, MHD_HTTP_OK, response);
}

static void note_request(struct ids_file_server *server) {
    pthread_mutex_lock(&server->lock);
    server->requests++;
    pthread_mutex_unlock(&server->lock);
}

static enum MHD_Result handle(void *own, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **request) {
    struct ids_file_server *server = own;
    (void)version, (void)upload;
    if (*upload_size) { /* it is not wanted, and has to be taken before an answer goes out */
        *upload_size = 0;
        return MHD_YES;
    }
    if (!is_our_host(server, header(connection, "Host"))) return refuse(server, connection, MHD_HTTP_FORBIDDEN);
    if (!is_our_origin(server, header(connection, "Origin"))) return refuse(server, connection, MHD_HTTP_FORBIDDEN);
    int is_asked = *server->asked && !strcmp(url, server->asked);
    if (!is_asked && strcmp(url, server->path) != 0) return refuse(server, connection, MHD_HTTP_NOT_FOUND);
    note_request(server);
    if (!strcmp(method, "OPTIONS")) return answer_preflight(server, connection);
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return refuse(server, connection, MHD_HTTP_METHOD_NOT_ALLOWED);
    if (is_asked) return answer(server, connection);
    if (!strcmp(method, "GET")) *request = &file_request;
    return send_file(server, connection);
}

static void note_end(void *own, struct MHD_Connection *connection, void **request,
                     enum MHD_RequestTerminationCode how) {
    struct ids_file_server *server = own;
    (void)connection;
    if (*request != &file_request || how != MHD_REQUEST_TERMINATED_COMPLETED_OK) return;
    pthread_mutex_lock(&server->lock);
    server->delivered = 1;
    pthread_cond_broadcast(&server->changed);
    pthread_mutex_unlock(&server->lock);
}

/* ---- */

static int make_path(struct ids_file_server *server, const char *name, const char *question, struct ids_error *err) {
    unsigned char random[TOKEN_BYTES];
    char token[2 * TOKEN_BYTES + 1];
    int code = ids_random_bytes(random, sizeof random, err);
    if (code) return code;
    for (size_t i = 0; i < sizeof random; i++) snprintf(token + 2 * i, 3, "%02x", random[i]);
    snprintf(server->path, sizeof server->path, "/%s/%s", token, name);
    if (question) snprintf(server->asked, sizeof server->asked, "/%s/%s", token, question);
    return 0;
}

static int listen_on(struct ids_file_server *server, int port, struct ids_error *err) {
    struct sockaddr_in loopback = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    errno = 0;
    server->daemon = http.start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO, (uint16_t)port, NULL, NULL,
                                       handle, server, MHD_OPTION_SOCK_ADDR, &loopback, MHD_OPTION_NOTIFY_COMPLETED,
                                       note_end, server, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MOST,
                                       MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS, MHD_OPTION_END);
    const union MHD_DaemonInfo *info =
        server->daemon ? http.get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;
    if (!info) return ids_fail_system(err, "cannot serve on port %d of 127.0.0.1", port);
    server->port = info->port;
    return 0;
}

static int start(struct ids_file_server *server, const struct ids_file_server_params *params, struct ids_error *err) {
    struct stat status;
    if (fstat(params->fd, &status)) return ids_fail_system(err, "'%s'", params->name);
    server->size = (uint64_t)status.st_size;
    int code = load_library(err);
    if (!code) code = make_path(server, params->name, params->question, err);
    if (!code) code = listen_on(server, params->port, err);
    if (code) return code;
    snprintf(server->hosts[0], sizeof server->hosts[0], "127.0.0.1:%d", server->port);
    snprintf(server->hosts[1], sizeof server->hosts[1], "localhost:%d", server->port);
    snprintf(server->address, sizeof server->address, "http://%s%s", server->hosts[0], server->path);
    return 0;
}

int ids_file_server_start(const struct ids_file_server_params *params, struct ids_file_server **ret_server,
                          struct ids_error *err) {
    struct ids_file_server *server = calloc(1, sizeof *server);
    if (!server) {
        close(params->fd);
        return ids_no_memory(err);
    }
    server->fd = params->fd;
    server->type = params->type;
    server->origin = params->origin;
    server->keys = params->keys;
    server->answer = params->answer;
    server->own = params->own;
    pthread_mutex_init(&server->lock, NULL);
    pthread_cond_init(&server->changed, NULL);
    int code = start(server, params, err);
    if (code)
        ids_file_server_stop(server);
    else
        *ret_server = server;
    return code;
}

const char *ids_file_server_address(const struct ids_file_server *server) {
    return server->address;
}

int ids_file_server_port(const struct ids_file_server *server) {
    return server->port;
}

int ids_file_server_wait(struct ids_file_server *server, int64_t timeout_ns) {
    const struct timespec linger = {.tv_nsec = LINGER_NS};
    struct timespec until;
    int failed = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += timeout_ns / 1000000000;
    until.tv_nsec += timeout_ns % 1000000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&server->lock);
    while (!server->delivered && !failed) failed = pthread_cond_timedwait(&server->changed, &server->lock, &until);
    int delivered = server->delivered;
    pthread_mutex_unlock(&server->lock);
    if (delivered) nanosleep(&linger, NULL); /* what is in the socket's buffer goes out */
    return delivered;
}

void ids_file_server_wait_idle(struct ids_file_server *server, int64_t idle_ns) {
    const struct timespec idle = {idle_ns / 1000000000, idle_ns % 1000000000};
    for (uint64_t before = UINT64_MAX, now = 0; now != before;) {
        pthread_mutex_lock(&server->lock);
        before = server->requests;
        pthread_mutex_unlock(&server->lock);
        nanosleep(&idle, NULL);
        pthread_mutex_lock(&server->lock);
        now = server->requests;
        pthread_mutex_unlock(&server->lock);
    }
}

void ids_file_server_stop(struct ids_file_server *server) {
    if (!server) return;
    if (server->daemon) http.stop_daemon(server->daemon);
    close(server->fd);
    pthread_mutex_destroy(&server->lock);
    pthread_cond_destroy(&server->changed);
    free(server);
}
