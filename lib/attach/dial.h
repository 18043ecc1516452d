/* dial.h - a connection to a host that is being made: its addresses are looked up and tried one after the other,
 * without waiting. */
#ifndef IDS_LIB_ATTACH_DIAL_H
#define IDS_LIB_ATTACH_DIAL_H

#include "lib/attach/hosts.h"

#include <stdint.h>

struct ids_dial {
    struct ids_lookup *lookup; /* NULL: the addresses are known */
    struct addrinfo *addresses, *address;
    int64_t attempt_ns;  /* when the connection to `address` was begun */
    int socket;          /* -1: none */
    int last_errno;      /* why the last address did not work */
    const char *unknown; /* why there is no address; NULL: there is one */
};

enum ids_dial_state { IDS_DIAL_FAILED = -1, IDS_DIAL_DONE, IDS_DIAL_GOES_ON };

int ids_dial_begin(struct ids_dial *dial, const struct ids_host *host, struct ids_error *err);
/* Does what can be done without waiting; `events` are those of the socket, from poll. */
enum ids_dial_state ids_dial_step(struct ids_dial *dial, short events, int64_t now_ns);
/* Ends what goes on, and closes the socket. */
void ids_dial_end(struct ids_dial *dial);
/* Why it failed, and what to do; texts that live. */
const char *ids_dial_why(const struct ids_dial *dial, const char **ret_remedy);

#endif
