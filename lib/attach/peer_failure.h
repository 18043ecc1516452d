/* peer_failure.h - why a server gave no profile, and what to do about it, in words. */
#ifndef IDS_LIB_ATTACH_PEER_FAILURE_H
#define IDS_LIB_ATTACH_PEER_FAILURE_H

struct ids_peer;

/* From what the peer is at and what came last. */
void ids_peer_failure(struct ids_peer *peer);
/* It has not come to its end when `why` ("5 s", "Ctrl-C") ended the waiting. */
void ids_peer_failure_late(struct ids_peer *peer, const char *why);

#endif
