#include "lib/attach/resolver.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct ids_lookup {
    struct gaicb request;
    struct addrinfo hints;
    char *address, port[IDS_PORT_BYTES];
    struct ids_lookup *next;
};

/* Lookups that the C library has not finished and cannot cancel: it still writes to them. */
static struct ids_lookup *abandoned;

static void free_lookup(struct ids_lookup *lookup) {
    free(lookup->address);
    free(lookup);
}

int ids_lookup_begin(const struct ids_host *host, struct ids_lookup **ret_lookup, struct ids_error *err) {
    struct ids_lookup *lookup = calloc(1, sizeof *lookup);
    if (lookup) lookup->address = strdup(host->address);
    if (!lookup || !lookup->address) {
        free(lookup);
        return ids_no_memory(err);
    }
    memcpy(lookup->port, host->port, sizeof lookup->port);
    lookup->hints = (struct addrinfo){.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    lookup->request.ar_name = lookup->address;
    lookup->request.ar_service = lookup->port;
    lookup->request.ar_request = &lookup->hints;
    struct gaicb *list[] = {&lookup->request};
    int failed = getaddrinfo_a(GAI_NOWAIT, list, 1, NULL);
    if (failed) {
        free_lookup(lookup);
        return failed == EAI_MEMORY
                   ? ids_no_memory(err)
                   : ids_fail(err, IDS_IO, "cannot look up '%s': %s", host->name, gai_strerror(failed));
    }
    *ret_lookup = lookup;
    return 0;
}

int ids_lookup_poll(struct ids_lookup *lookup, struct addrinfo **ret_addresses, const char **ret_why) {
    int state = gai_error(&lookup->request);
    if (state == EAI_INPROGRESS) return 1;
    if (state) {
        *ret_why = gai_strerror(state);
        return -1;
    }
    *ret_addresses = lookup->request.ar_result;
    lookup->request.ar_result = NULL;
    return 0;
}

void ids_lookup_end(struct ids_lookup *lookup) {
    if (!lookup) return;
    if (gai_error(&lookup->request) == EAI_INPROGRESS && gai_cancel(&lookup->request) != EAI_CANCELED) {
        lookup->next = abandoned;
        abandoned = lookup;
        return;
    }
    if (!gai_error(&lookup->request) && lookup->request.ar_result) freeaddrinfo(lookup->request.ar_result);
    free_lookup(lookup);
}
