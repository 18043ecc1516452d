/* resolver.h - names to addresses, many at once and without waiting: a dead name server must not hold up the others. */
#ifndef IDS_LIB_ATTACH_RESOLVER_H
#define IDS_LIB_ATTACH_RESOLVER_H

#include "lib/attach/hosts.h"

#include <netdb.h>

struct ids_lookup;

/* Begins to look up the addresses of a host. */
int ids_lookup_begin(const struct ids_host *host, struct ids_lookup **ret_lookup, struct ids_error *err);
/* 1 while it goes on; 0 with the addresses, which are the caller's to free; -1 with why there are none. */
int ids_lookup_poll(struct ids_lookup *lookup, struct addrinfo **ret_addresses, const char **ret_why);
void ids_lookup_end(struct ids_lookup *lookup);

#endif
