/* peer.h - one server that is asked for a profile: its connection, its file, and how it went. */
#ifndef IDS_LIB_ATTACH_PEER_H
#define IDS_LIB_ATTACH_PEER_H

#include "lib/attach/dial.h"
#include "lib/attach/http2.h"
#include "lib/attach/profile_request.h"

#include <poll.h>

enum { IDS_PEER_WHY = 512 };

enum ids_peer_state {
    IDS_PEER_CONNECT, /* its addresses are looked up, a connection is made */
    IDS_PEER_GREET,   /* it is made, and nothing came yet */
    IDS_PEER_READY,   /* it speaks HTTP/2 */
    IDS_PEER_ASKED,   /* it was asked */
    IDS_PEER_ENDED,
};

enum ids_peer_fate {
    IDS_PEER_NONE,     /* not known yet */
    IDS_PEER_RECORDED, /* its profile came, and is in the run's folder */
    IDS_PEER_STORED,   /* the server itself wrote it there */
    IDS_PEER_FAILED,   /* why */
};

struct ids_peer {
    const struct ids_host *host;
    enum ids_peer_state state;
    enum ids_peer_fate fate;
    char why[IDS_PEER_WHY];
    const char *remedy;    /* NULL: none */
    char *final, *partial; /* where the profile is to be, and where it grows; the latter stays if it is cut off */
    uint64_t bytes;
    int64_t connected_ns, asked_ns, first_ns, ended_ns; /* CLOCK_MONOTONIC, 0: it did not come to that */

    struct ids_dial dial; /* and the socket */
    int last_errno, file; /* -1: none */
    struct ids_http2 *http2;
    struct ids_answer answer;
    const uint8_t *output;
    size_t output_length;
    int file_errno;
};

/* `limit` is the most bytes of a profile, 0: any number. */
int ids_peer_begin(struct ids_peer *peer, const struct ids_host *host, const char *folder, const char *run,
                   uint64_t limit, struct ids_error *err);
void ids_peer_done(struct ids_peer *peer);

/* What its socket waits for; fd -1 where it has none. */
struct pollfd ids_peer_wants(const struct ids_peer *peer);
/* Does what can be done without waiting. `buffer` is for what is received. */
void ids_peer_step(struct ids_peer *peer, short events, int64_t now_ns, uint8_t *buffer, size_t size);
/* One that is ready is asked; one that was asked is told to end its session now. */
void ids_peer_ask(struct ids_peer *peer, const struct ids_profile_request *request, uint64_t timeout_ms,
                  int64_t now_ns);
void ids_peer_terminate(struct ids_peer *peer, const char *session);
/* Ends one that has not ended: what it was at when the time ran out, or when the user had enough. */
void ids_peer_give_up(struct ids_peer *peer, const char *why, int64_t now_ns);

#endif
