#include "lib/attach/resolver.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { STACK_BYTES = 256 << 10 };

/* A thread asks, for getaddrinfo() can take half a minute and cannot be cancelled; getaddrinfo_a() is in no C library
 * but glibc. Who is last to leave, the thread or the caller, frees it. */
struct ids_lookup {
    char *address, port[IDS_PORT_BYTES];
    struct addrinfo *addresses;
    int failed;      /* what getaddrinfo() said */
    atomic_int done; /* addresses and failed may be read */
    atomic_int owners;
};

static void leave(struct ids_lookup *lookup) {
    if (atomic_fetch_sub(&lookup->owners, 1) > 1) return;
    if (lookup->addresses) freeaddrinfo(lookup->addresses);
    free(lookup->address);
    free(lookup);
}

static int ask(struct ids_lookup *lookup, int flags) {
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | flags};
    return getaddrinfo(lookup->address, lookup->port, &hints, &lookup->addresses);
}

static void *ask_in_thread(void *context) {
    struct ids_lookup *lookup = context;
    lookup->failed = ask(lookup, 0);
    if (lookup->failed) lookup->addresses = NULL;
    atomic_store(&lookup->done, 1);
    leave(lookup);
    return NULL;
}

static int start_thread(struct ids_lookup *lookup) {
    pthread_attr_t attributes;
    pthread_t thread;
    int failed = pthread_attr_init(&attributes);
    if (failed) return failed;
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    atomic_store(&lookup->owners, 2);
    failed = pthread_create(&thread, &attributes, ask_in_thread, lookup);
    if (failed) atomic_store(&lookup->owners, 1);
    pthread_attr_destroy(&attributes);
    return failed;
}

int ids_lookup_begin(const struct ids_host *host, struct ids_lookup **ret_lookup, struct ids_error *err) {
    struct ids_lookup *lookup = calloc(1, sizeof *lookup);
    if (lookup) lookup->address = strdup(host->address);
    if (!lookup || !lookup->address) {
        free(lookup);
        return ids_no_memory(err);
    }
    memcpy(lookup->port, host->port, sizeof lookup->port);
    atomic_init(&lookup->owners, 1);
    atomic_init(&lookup->done, !ask(lookup, AI_NUMERICHOST)); /* an address needs no name server, and no thread */
    int failed = atomic_load(&lookup->done) ? 0 : start_thread(lookup);
    if (failed) {
        leave(lookup);
        return ids_fail(err, IDS_IO, "cannot look up '%s': no thread: %s", host->name, strerror(failed));
    }
    *ret_lookup = lookup;
    return 0;
}

int ids_lookup_poll(struct ids_lookup *lookup, struct addrinfo **ret_addresses, const char **ret_why) {
    if (!atomic_load(&lookup->done)) return 1;
    if (lookup->failed) {
        *ret_why = gai_strerror(lookup->failed);
        return -1;
    }
    *ret_addresses = lookup->addresses;
    lookup->addresses = NULL;
    return 0;
}

void ids_lookup_end(struct ids_lookup *lookup) {
    if (lookup) leave(lookup);
}
