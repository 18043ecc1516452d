#include "lib/attach/peer_failure.h"

#include "lib/attach/grpc_status.h"
#include "lib/attach/peer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { HTTP_OK = 200, TLS_ALERT = 0x15, TLS_HANDSHAKE = 0x16, TLS_VERSION = 3 };

static const char start_server[] = "is jax.profiler.start_server(port) called there, before now and with this port?";

static void say(struct ids_peer *peer, const char *remedy, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void say(struct ids_peer *peer, const char *remedy, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(peer->why, sizeof peer->why, format, arguments);
    va_end(arguments);
    peer->remedy = remedy;
}

/* ", after 12345 bytes, which are kept: PATH", where some came. */
static const char *what_came(const struct ids_peer *peer, char *room, size_t size) {
    room[0] = '\0';
    if (peer->answer.bytes)
        snprintf(room, size, ", after %llu of %llu bytes, kept as %s", (unsigned long long)peer->answer.bytes,
                 (unsigned long long)peer->answer.expected, peer->partial);
    return room;
}

/* ---- it does not speak our language ---- */

static int begins(const struct ids_http2_state *state, const char *with) {
    size_t length = strlen(with);
    return state->head_length >= length && !memcmp(state->head, with, length);
}

static void say_other_protocol(struct ids_peer *peer, const struct ids_http2_state *state) {
    char head[IDS_HTTP2_HEAD_BYTES + 1] = "";
    if (state->head_length > 1 && (state->head[0] == TLS_ALERT || state->head[0] == TLS_HANDSHAKE) &&
        state->head[1] == TLS_VERSION) {
        say(peer, "give the port of the profiler server itself: that speaks HTTP/2 without TLS", "it speaks TLS");
        return;
    }
    for (size_t i = 0; i < state->head_length && state->head[i] >= ' ' && state->head[i] < 0x7f; i++)
        head[i] = (char)state->head[i];
    if (begins(state, "HTTP/1.")) {
        say(peer,
            "a web server is no profiler server (TensorBoard's port is not the program's): give the port of "
            "jax.profiler.start_server",
            "it speaks HTTP/1, not gRPC ('%s')", head);
    } else if (strlen(head) > 3) {
        say(peer, start_server, "it does not speak HTTP/2 (it begins with '%s')", head);
    } else {
        say(peer, start_server, "it does not speak HTTP/2");
    }
}

/* ---- it did not let us in ---- */

static void say_unconnected(struct ids_peer *peer) {
    const char *remedy, *why = ids_dial_why(&peer->dial, &remedy);
    int is_refused = !peer->dial.unknown && peer->dial.last_errno == ECONNREFUSED;
    say(peer, is_refused ? start_server : remedy, "%s%s",
        peer->dial.unknown ? "its name has no address: "
        : is_refused       ? ""
                           : "cannot connect: ",
        why);
}

static void say_gone(struct ids_peer *peer, const struct ids_http2_state *state) {
    char came[256];
    what_came(peer, came, sizeof came);
    if (!state->is_greeted && state->head_length) {
        say_other_protocol(peer, state);
    } else if (!state->is_greeted) {
        say(peer, start_server, "it closed the connection without a word");
    } else if (state->is_going_away && peer->state != IDS_PEER_ASKED) {
        say(peer, "try again", "its server is shutting down");
    } else {
        say(peer, "did the program end, or was it killed? what the other hosts sent is whole",
            "the connection %s while it recorded or sent%s", peer->last_errno ? "broke" : "was closed", came);
    }
}

/* ---- it said no, or something odd ---- */

static void say_status(struct ids_peer *peer, const struct ids_http2_state *state) {
    int status = state->grpc_status;
    const char *remedy = ids_grpc_remedy(status, state->grpc_message);
    say(peer, remedy, "it answers %s%s%s%s", ids_grpc_name(status), state->grpc_message[0] ? ": " : "",
        state->grpc_message, strcmp(ids_grpc_name(status), "UNIMPLEMENTED") == 0 ? " (" IDS_PROFILE_METHOD ")" : "");
}

static void say_nothing_came(struct ids_peer *peer) {
    if (peer->answer.is_empty) {
        say(peer, "was the program at work? --host-tracer 2 and a longer --duration see more", "it recorded nothing");
    } else {
        say(peer,
            "copy it from there to the same path here, or attach from a file system that both share; the profiler "
            "server of a newer jax sends it",
            "its server is an older one, which writes the profile on its own disk: %s", peer->final);
    }
}

void ids_peer_failure(struct ids_peer *peer) {
    char came[256];
    if (!peer->http2) {
        say_unconnected(peer);
        return;
    }
    const struct ids_http2_state *state = ids_http2_state(peer->http2);
    if (peer->file_errno) {
        say(peer, "make room, or choose another folder with -o DIR", "cannot write '%s': %s", peer->partial,
            strerror(peer->file_errno));
    } else if (peer->answer.wrong) {
        int too_much = peer->answer.limit && strstr(peer->answer.wrong, "--max-size") != NULL;
        say(peer, too_much ? "a larger --max-size, or a shorter --duration" : start_server, "%s: %s",
            too_much ? "its profile is too large" : "its answer cannot be read", peer->answer.wrong);
    } else if (state->wrong && !state->is_greeted) {
        say_other_protocol(peer, state);
    } else if (state->wrong) {
        say(peer, start_server, "it sent %s%s", state->wrong, what_came(peer, came, sizeof came));
    } else if (state->grpc_status > 0) {
        say_status(peer, state);
    } else if (state->is_answered && state->http_status && state->http_status != HTTP_OK) {
        say(peer, start_server, "it answers with HTTP status %d, and not as gRPC does", state->http_status);
    } else if (state->is_answered && !state->grpc_status && !state->reset && ids_answer_is_whole(&peer->answer)) {
        say_nothing_came(peer);
    } else if (state->is_answered) {
        say(peer, NULL, "its answer ends early%s%s", state->reset ? ", with an error of HTTP/2" : "",
            what_came(peer, came, sizeof came));
    } else {
        say_gone(peer, state);
    }
}

void ids_peer_failure_late(struct ids_peer *peer, const char *why) {
    char came[256];
    switch (peer->state) {
    case IDS_PEER_CONNECT:
        if (peer->dial.lookup) {
            say(peer, "use its address, such as 10.0.0.7:9012", "its name was not found within %s", why);
            break;
        }
        say(peer, "is the host up, and its port open for this one?", "no connection within %s", why);
        break;
    case IDS_PEER_GREET:
        if (ids_http2_state(peer->http2)->head_length) {
            say_other_protocol(peer, ids_http2_state(peer->http2));
            break;
        }
        say(peer, "is the process stopped, or is another program's port meant?",
            "it took the connection and said nothing within %s", why);
        break;
    case IDS_PEER_READY:
        say(peer, NULL, "it was not asked: ended by %s", why);
        break;
    default:
        say(peer, "is the process stopped? a profile that is large needs more time: --stop-timeout",
            "no whole answer within %s%s", why, what_came(peer, came, sizeof came));
        break;
    }
}
