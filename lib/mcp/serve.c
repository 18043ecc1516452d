/* A server on a stream: a thread reads messages into a queue, the caller answers them. */
#include "lib/events/query.h"
#include "lib/mcp/server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Requests that wait: so many, and while there is one, no more bytes of them than that. A tree takes up to 32 times the
 * bytes of its text. */
enum { WAITING_MOST = 64, WAITING_BYTES = IDS_MCP_LINE_MOST, READ_BYTES = 65536 };

struct waiting {
    struct ids_mcp_message message;
    size_t bytes;
    struct waiting *next;
};

struct session {
    struct ids_mcp_server server;
    int input, stop[2]; /* a pipe: the reader ends when its other end is closed */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct waiting *first, *last;
    size_t count, bytes;
    int has_ended;           /* no message comes any more */
    int out_of_memory;       /* the reader's */
    const cJSON *working;    /* the id of the request at work, or NULL */
    int cancelled;           /* that one */
    struct ids_query *query; /* its SQL, or NULL */
};

/* ---- the reader's side ---- */

static void cancel(struct session *session, const cJSON *id) {
    pthread_mutex_lock(&session->lock);
    if (ids_mcp_same_id(session->working, id)) {
        session->cancelled = 1;
        if (session->query) ids_query_interrupt(session->query);
    }
    for (struct waiting **at = &session->first, *before = NULL; *at;) {
        struct waiting *one = *at;
        if (!ids_mcp_same_id(one->message.id, id)) {
            before = one;
            at = &one->next;
            continue;
        }
        *at = one->next;
        if (session->last == one) session->last = before;
        session->count--;
        session->bytes -= one->bytes;
        ids_mcp_message_done(&one->message);
        free(one);
    }
    pthread_mutex_unlock(&session->lock);
}

static int put_last(struct session *session, struct ids_mcp_message *message, size_t bytes) {
    struct waiting *one = calloc(1, sizeof *one);
    if (!one) {
        ids_mcp_message_done(message);
        return -1;
    }
    *one = (struct waiting){.message = *message, .bytes = bytes};
    pthread_mutex_lock(&session->lock);
    while (session->count && (session->count == WAITING_MOST || session->bytes + bytes > WAITING_BYTES) &&
           !session->has_ended)
        pthread_cond_wait(&session->changed, &session->lock);
    if (session->last)
        session->last->next = one;
    else
        session->first = one;
    session->last = one;
    session->count++;
    session->bytes += bytes;
    pthread_cond_broadcast(&session->changed);
    pthread_mutex_unlock(&session->lock);
    return 0;
}

/* What need not wait for the tool at work is done here. */
static int take_line(struct session *session, const char *line, size_t length) {
    struct ids_mcp_message message;
    size_t blank = strspn(line, " \t\r"); /* the buffer ends with a zero byte */
    if (blank >= length) return 0;
    ids_mcp_message_read(line, length, &message);
    int is_cancel = message.method && !message.id && !strcmp(message.method, "notifications/cancelled");
    int is_ping = message.method && message.id && !strcmp(message.method, "ping");
    if (!is_cancel && !is_ping) return put_last(session, &message, length);
    if (is_cancel) cancel(session, cJSON_GetObjectItemCaseSensitive(message.params, "requestId"));
    if (is_ping) ids_mcp_send_result(&session->server.out, &message, cJSON_CreateObject());
    ids_mcp_message_done(&message);
    return 0;
}

/* A line that is too long is taken by its length alone, and its bytes are let go. */
struct lines {
    char *at;
    size_t length, room;
    size_t dropped; /* bytes of the line that is too long */
};

static int end_line(struct session *session, struct lines *lines) {
    int failed = 0;
    if (lines->dropped) {
        failed = take_line(session, "x", IDS_MCP_LINE_MOST + 1);
    } else if (lines->at) {
        lines->at[lines->length] = '\0';
        failed = take_line(session, lines->at, lines->length);
    }
    lines->length = lines->dropped = 0;
    return failed;
}

static int add_bytes(struct lines *lines, const char *bytes, size_t length) {
    if (lines->dropped || lines->length + length > IDS_MCP_LINE_MOST) {
        lines->dropped += length;
        return 0;
    }
    if (lines->length + length + 1 > lines->room) {
        size_t room = 2 * (lines->length + length + 1);
        char *more = realloc(lines->at, room);
        if (!more) return -1;
        lines->at = more;
        lines->room = room;
    }
    memcpy(lines->at + lines->length, bytes, length);
    lines->length += length;
    return 0;
}

static int take_bytes(struct session *session, struct lines *lines, const char *bytes, size_t length) {
    while (length) {
        const char *newline = memchr(bytes, '\n', length);
        size_t part = newline ? (size_t)(newline - bytes) : length;
        if (part && add_bytes(lines, bytes, part)) return -1;
        if (!newline) return 0;
        if (end_line(session, lines)) return -1;
        bytes += part + 1;
        length -= part + 1;
    }
    return 0;
}

/* Bytes of the input; 0: it ended, or the session did. */
static ssize_t wait_and_read(const struct session *session, char *buffer) {
    for (;;) {
        struct pollfd ready[] = {{.fd = session->input, .events = POLLIN}, {.fd = session->stop[0], .events = POLLIN}};
        if (poll(ready, 2, -1) < 0 && errno != EINTR) return 0;
        if (ready[1].revents) return 0;
        if (!ready[0].revents) continue;
        ssize_t got = read(session->input, buffer, READ_BYTES);
        if (got >= 0 || (errno != EINTR && errno != EAGAIN)) return got > 0 ? got : 0;
    }
}

static void *read_all(void *context) {
    struct session *session = context;
    struct lines lines = {0};
    char *buffer = malloc(READ_BYTES);
    int failed = !buffer;
    ssize_t got = 0;
    while (!failed && (got = wait_and_read(session, buffer)) > 0)
        failed = take_bytes(session, &lines, buffer, (size_t)got);
    if (!failed && (lines.length || lines.dropped)) failed = end_line(session, &lines); /* without a newline */
    pthread_mutex_lock(&session->lock);
    session->has_ended = 1;
    session->out_of_memory = failed;
    pthread_cond_broadcast(&session->changed);
    pthread_mutex_unlock(&session->lock);
    free(buffer);
    free(lines.at);
    return NULL;
}

/* ---- the caller's side ---- */

static void watch(void *own, struct ids_query *query) {
    struct session *session = own;
    pthread_mutex_lock(&session->lock);
    session->query = query;
    if (query && session->cancelled) ids_query_interrupt(query);
    pthread_mutex_unlock(&session->lock);
}

static int is_cancelled(void *own) {
    struct session *session = own;
    pthread_mutex_lock(&session->lock);
    int cancelled = session->cancelled;
    pthread_mutex_unlock(&session->lock);
    return cancelled;
}

/* The next request, or NULL when there is none any more. */
static struct waiting *take_first(struct session *session) {
    pthread_mutex_lock(&session->lock);
    while (!session->first && !session->has_ended) pthread_cond_wait(&session->changed, &session->lock);
    struct waiting *one = session->first;
    if (one) {
        session->first = one->next;
        if (!session->first) session->last = NULL;
        session->count--;
        session->bytes -= one->bytes;
        session->working = one->message.id;
        session->cancelled = 0;
        pthread_cond_broadcast(&session->changed);
    }
    pthread_mutex_unlock(&session->lock);
    return one;
}

static void drop(struct session *session, struct waiting *one) {
    pthread_mutex_lock(&session->lock);
    session->working = NULL;
    pthread_mutex_unlock(&session->lock);
    ids_mcp_message_done(&one->message);
    free(one);
}

static int answer_all(struct session *session, struct ids_error *err) {
    int code = 0;
    struct waiting *one;
    while (!code && !ids_mcp_out_failed(&session->server.out) && (one = take_first(session))) {
        code = ids_mcp_server_answer(&session->server, &one->message, err);
        drop(session, one);
    }
    return code;
}

/* Signals are for the thread that called. */
static int start_reader(struct session *session, pthread_t *ret_thread, struct ids_error *err) {
    sigset_t every, before;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    int failed = pthread_create(ret_thread, NULL, read_all, session);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!failed) return 0;
    return ids_fail(err, IDS_NOMEM, "out of memory for a thread that reads requests: %s", strerror(failed));
}

static void end_reader(struct session *session, pthread_t thread) {
    pthread_mutex_lock(&session->lock);
    session->has_ended = 1; /* it waits no longer for room */
    pthread_cond_broadcast(&session->changed);
    pthread_mutex_unlock(&session->lock);
    close(session->stop[1]);
    pthread_join(thread, NULL);
}

int ids_mcp_serve(const struct ids_mcp_setup *setup, int input, FILE *out, struct ids_error *err) {
    struct session session = {.input = input};
    pthread_t thread;
    if (pipe2(session.stop, O_CLOEXEC)) return ids_fail_system(err, "cannot make a pipe");
    ids_mcp_server_init(&session.server, setup, out);
    session.server.watch = watch;
    session.server.is_cancelled = is_cancelled;
    session.server.own = &session;
    pthread_mutex_init(&session.lock, NULL);
    pthread_cond_init(&session.changed, NULL);
    int code = start_reader(&session, &thread, err);
    if (!code) {
        code = answer_all(&session, err);
        end_reader(&session, thread);
        if (!code && session.out_of_memory) code = ids_no_memory(err);
    } else {
        close(session.stop[1]);
    }
    for (struct waiting *one; (one = session.first);) {
        session.first = one->next;
        drop(&session, one);
    }
    close(session.stop[0]);
    pthread_cond_destroy(&session.changed);
    pthread_mutex_destroy(&session.lock);
    ids_mcp_server_done(&session.server);
    return code;
}
