#include "lib/attach/dial.h"

#include "lib/attach/resolver.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* One address that does not answer must not use up the time of the next. */
static const int64_t attempt_limit_ns = 1500000000;

int ids_dial_begin(struct ids_dial *dial, const struct ids_host *host, struct ids_error *err) {
    *dial = (struct ids_dial){.socket = -1};
    return ids_lookup_begin(host, &dial->lookup, err);
}

static int begin_attempt(struct ids_dial *dial, int64_t now_ns) {
    const struct addrinfo *address = dial->address;
    int on = 1;
    dial->attempt_ns = now_ns;
    dial->socket = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (dial->socket < 0) return -1;
    setsockopt(dial->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (!connect(dial->socket, address->ai_addr, address->ai_addrlen) || errno == EINPROGRESS) return 0;
    int cause = errno;
    close(dial->socket);
    dial->socket = -1;
    errno = cause;
    return -1;
}

/* `address` and those behind it, until a connection is being made. */
static enum ids_dial_state try_addresses(struct ids_dial *dial, int64_t now_ns) {
    for (; dial->address; dial->address = dial->address->ai_next) {
        if (!begin_attempt(dial, now_ns)) return IDS_DIAL_GOES_ON;
        dial->last_errno = errno;
    }
    return IDS_DIAL_FAILED;
}

static enum ids_dial_state step_lookup(struct ids_dial *dial, int64_t now_ns) {
    int state = ids_lookup_poll(dial->lookup, &dial->addresses, &dial->unknown);
    if (state > 0) return IDS_DIAL_GOES_ON;
    if (state < 0) return IDS_DIAL_FAILED;
    ids_lookup_end(dial->lookup);
    dial->lookup = NULL;
    dial->address = dial->addresses;
    return try_addresses(dial, now_ns);
}

enum ids_dial_state ids_dial_step(struct ids_dial *dial, short events, int64_t now_ns) {
    int failed = 0;
    socklen_t size = sizeof failed;
    if (dial->lookup) return step_lookup(dial, now_ns);
    if (!dial->address) return IDS_DIAL_FAILED;
    if (!events) {
        if (now_ns - dial->attempt_ns < attempt_limit_ns || !dial->address->ai_next) return IDS_DIAL_GOES_ON;
        failed = ETIMEDOUT;
    } else if (getsockopt(dial->socket, SOL_SOCKET, SO_ERROR, &failed, &size)) {
        failed = errno;
    }
    if (!failed) return IDS_DIAL_DONE;
    dial->last_errno = failed;
    close(dial->socket);
    dial->socket = -1;
    dial->address = dial->address->ai_next;
    return try_addresses(dial, now_ns);
}

void ids_dial_end(struct ids_dial *dial) {
    if (dial->socket >= 0) close(dial->socket);
    if (dial->addresses) freeaddrinfo(dial->addresses);
    ids_lookup_end(dial->lookup);
    *dial = (struct ids_dial){.socket = -1, .last_errno = dial->last_errno, .unknown = dial->unknown};
}

const char *ids_dial_why(const struct ids_dial *dial, const char **ret_remedy) {
    *ret_remedy = NULL;
    if (dial->unknown) {
        *ret_remedy = "is the name right? an address works too, such as 10.0.0.7:9012";
        return dial->unknown;
    }
    switch (dial->last_errno) {
    case ECONNREFUSED:
        return "connection refused: nothing listens at that port";
    case ENETUNREACH:
    case EHOSTUNREACH:
        *ret_remedy = "is the name right, and the host up?";
        break;
    case ETIMEDOUT:
        *ret_remedy = "is the host up, and its port open for this one?";
        break;
    default:
        break;
    }
    return strerror(dial->last_errno);
}
