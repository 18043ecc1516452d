/* hosts.h - the servers that a capture attaches to: "node1:9012,node2:9012,[::1]:9012". */
#ifndef IDS_LIB_ATTACH_HOSTS_H
#define IDS_LIB_ATTACH_HOSTS_H

#include "lib/base/arena.h"
#include "lib/base/error.h"

enum { IDS_HOSTS_MAX = 4096, IDS_PORT_BYTES = 8 };

struct ids_host {
    const char *name;          /* as it was given */
    const char *address;       /* a name or a numeric address, without brackets */
    char port[IDS_PORT_BYTES]; /* digits */
    const char *stem;          /* of its file: <host>_<port> */
};

struct ids_hosts {
    struct ids_arena arena;
    struct ids_host *at;
    size_t count, room;
};

/* Adds one; a host without a port gets `port`, or is refused where that is NULL. */
int ids_hosts_add(struct ids_hosts *hosts, const char *text, size_t length, const char *port, struct ids_error *err);
/* Adds all of a list that commas divide. */
int ids_hosts_parse(struct ids_hosts *hosts, const char *list, struct ids_error *err);
void ids_hosts_done(struct ids_hosts *hosts);

#endif
