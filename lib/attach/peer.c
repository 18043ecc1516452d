#include "lib/attach/peer.h"

#include "lib/attach/peer_failure.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- its file ---- */

/* Bytes of the XSpace. Not 0: the disk refused. */
static int write_file(void *self, const uint8_t *bytes, size_t length) {
    struct ids_peer *peer = self;
    if (peer->file < 0) {
        peer->file = open(peer->partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (peer->file < 0) peer->file_errno = errno;
    }
    while (peer->file >= 0 && length) {
        ssize_t written = write(peer->file, bytes, length);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            peer->file_errno = written < 0 ? errno : ENOSPC;
            return -1;
        }
        bytes += written;
        length -= (size_t)written;
    }
    return peer->file < 0 ? -1 : 0;
}

/* ---- ending ---- */

static void end(struct ids_peer *peer, enum ids_peer_fate fate, int64_t now_ns) {
    peer->state = IDS_PEER_ENDED;
    peer->fate = fate;
    peer->ended_ns = now_ns;
    peer->bytes = peer->answer.bytes;
    if (peer->dial.socket >= 0) close(peer->dial.socket); /* the address stays, for the record */
    if (peer->file >= 0) close(peer->file);
    peer->dial.socket = peer->file = -1;
    ids_http2_free(peer->http2);
    peer->http2 = NULL;
    peer->output_length = 0;
}

static void fail(struct ids_peer *peer, int64_t now_ns) {
    ids_peer_failure(peer);
    end(peer, IDS_PEER_FAILED, now_ns);
}

void ids_peer_give_up(struct ids_peer *peer, const char *why, int64_t now_ns) {
    if (peer->state == IDS_PEER_ENDED) return;
    ids_peer_failure_late(peer, why);
    end(peer, IDS_PEER_FAILED, now_ns);
}

/* The answer is whole and the server says that all went well. */
static void end_well(struct ids_peer *peer, int64_t now_ns) {
    struct stat status;
    int stored = !peer->answer.bytes && !stat(peer->final, &status);
    if (peer->answer.bytes) {
        int failed = close(peer->file), cause = errno;
        peer->file = -1;
        if (!failed && rename(peer->partial, peer->final)) failed = cause = errno;
        if (failed) peer->file_errno = cause;
    }
    if (peer->file_errno || (!peer->answer.bytes && !stored)) {
        fail(peer, now_ns);
        return;
    }
    end(peer, stored ? IDS_PEER_STORED : IDS_PEER_RECORDED, now_ns);
    if (stored) peer->bytes = (uint64_t)status.st_size;
}

/* ---- connecting ---- */

static void step_connect(struct ids_peer *peer, short events, int64_t now_ns) {
    struct ids_error err = IDS_ERROR_INIT;
    enum ids_dial_state state = ids_dial_step(&peer->dial, events, now_ns);
    if (state == IDS_DIAL_GOES_ON) return;
    if (state == IDS_DIAL_FAILED) {
        fail(peer, now_ns);
        return;
    }
    peer->connected_ns = now_ns;
    peer->state = IDS_PEER_GREET;
    if (ids_http2_new(&peer->http2, &peer->answer, &err)) {
        snprintf(peer->why, sizeof peer->why, "%s", err.text);
        end(peer, IDS_PEER_FAILED, now_ns);
    }
}

/* ---- talking ---- */

/* 0, or -1: the connection is gone. */
static int flush(struct ids_peer *peer) {
    for (;;) {
        if (!peer->output_length) peer->output_length = ids_http2_output(peer->http2, &peer->output);
        if (!peer->output_length) return ids_http2_state(peer->http2)->wrong ? -1 : 0;
        ssize_t sent = send(peer->dial.socket, peer->output, peer->output_length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return 0;
        if (sent < 0) {
            peer->last_errno = errno;
            return -1;
        }
        peer->output += sent;
        peer->output_length -= (size_t)sent;
    }
}

/* Reads what is there, a bounded part of it, so that every server gets its turn. 0, or -1: no more comes. */
static int receive(struct ids_peer *peer, uint8_t *buffer, size_t size, int64_t now_ns) {
    ssize_t got = recv(peer->dial.socket, buffer, size, 0);
    if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) return 0;
    if (got <= 0) {
        peer->last_errno = got < 0 ? errno : 0;
        return -1;
    }
    if (ids_http2_feed(peer->http2, buffer, (size_t)got)) return -1;
    if (!peer->first_ns && peer->answer.state != IDS_ANSWER_PREFIX) peer->first_ns = now_ns;
    return 0;
}

static void step_talk(struct ids_peer *peer, short events, uint8_t *buffer, size_t size, int64_t now_ns) {
    const struct ids_http2_state *state = ids_http2_state(peer->http2);
    int gone = events & (POLLIN | POLLHUP | POLLERR) ? receive(peer, buffer, size, now_ns) : 0;
    if (!gone) gone = flush(peer);
    if (state->is_answered && !state->reset && !state->grpc_status && ids_answer_is_whole(&peer->answer)) {
        end_well(peer, now_ns);
    } else if (gone || state->is_answered || (state->is_going_away && peer->state != IDS_PEER_ASKED)) {
        fail(peer, now_ns);
    } else if (peer->state == IDS_PEER_GREET && state->is_greeted) {
        peer->state = IDS_PEER_READY;
    }
}

void ids_peer_step(struct ids_peer *peer, short events, int64_t now_ns, uint8_t *buffer, size_t size) {
    if (peer->state == IDS_PEER_CONNECT) step_connect(peer, events, now_ns);
    if (peer->state >= IDS_PEER_GREET && peer->state < IDS_PEER_ENDED) step_talk(peer, events, buffer, size, now_ns);
}

struct pollfd ids_peer_wants(const struct ids_peer *peer) {
    struct pollfd wants = {.fd = peer->dial.socket, .events = POLLIN};
    if (peer->state == IDS_PEER_CONNECT || peer->output_length) wants.events |= POLLOUT;
    return wants;
}

/* ---- asking ---- */

static void call(struct ids_peer *peer, const char *path, uint64_t timeout_ms, struct ids_buffer *message,
                 int64_t now_ns) {
    struct ids_error err = IDS_ERROR_INIT;
    int code = message->failed ? ids_no_memory(&err)
                               : ids_http2_call(peer->http2, peer->host->name, path, timeout_ms, message->at,
                                                message->length, &err);
    ids_buffer_done(message);
    if (code) {
        snprintf(peer->why, sizeof peer->why, "%s", err.text);
        end(peer, IDS_PEER_FAILED, now_ns);
    } else if (flush(peer)) {
        fail(peer, now_ns);
    }
}

void ids_peer_ask(struct ids_peer *peer, const struct ids_profile_request *request, uint64_t timeout_ms,
                  int64_t now_ns) {
    struct ids_buffer message = {0};
    struct ids_profile_request own = *request;
    if (peer->state != IDS_PEER_READY) return;
    own.host = peer->host->stem;
    ids_profile_request_put(&message, &own);
    peer->state = IDS_PEER_ASKED;
    peer->asked_ns = now_ns;
    call(peer, IDS_PROFILE_METHOD, timeout_ms, &message, now_ns);
}

void ids_peer_terminate(struct ids_peer *peer, const char *session) {
    struct ids_buffer message = {0};
    if (peer->state != IDS_PEER_ASKED) return;
    ids_terminate_request_put(&message, session);
    call(peer, IDS_TERMINATE_METHOD, 1000, &message, peer->asked_ns);
}

/* ---- a life ---- */

int ids_peer_begin(struct ids_peer *peer, const struct ids_host *host, const char *folder, const char *run,
                   uint64_t limit, struct ids_error *err) {
    *peer = (struct ids_peer){.host = host, .dial = {.socket = -1}, .file = -1};
    peer->answer = (struct ids_answer){.write = write_file, .self = peer, .limit = limit};
    if (asprintf(&peer->final, "%s/plugins/profile/%s/%s.xplane.pb", folder, run, host->stem) < 0) {
        peer->final = NULL;
        return ids_no_memory(err);
    }
    if (asprintf(&peer->partial, "%s/.idsprof/%s.xplane.pb", folder, host->stem) < 0) {
        peer->partial = NULL;
        return ids_no_memory(err);
    }
    return ids_dial_begin(&peer->dial, host, err);
}

void ids_peer_done(struct ids_peer *peer) {
    ids_dial_end(&peer->dial);
    if (peer->file >= 0) close(peer->file);
    ids_http2_free(peer->http2);
    free(peer->final);
    free(peer->partial);
}
