#include "lib/attach/hosts.h"

#include "lib/base/vec.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 256, PORT_MAX = 65535 };

/* What a file's name may have on any file system, and XProf shows as the host. */
static const char *make_stem(struct ids_arena *arena, const char *address, const char *port) {
    char stem[NAME_BYTES + IDS_PORT_BYTES];
    snprintf(stem, sizeof stem, "%s_%s", address, port);
    for (char *at = stem; *at; at++) {
        if (!isalnum((unsigned char)*at) && *at != '.' && *at != '-' && *at != '_') *at = '_';
    }
    if (stem[0] == '.' || stem[0] == '-') stem[0] = '_';
    return ids_arena_copy(arena, stem, strlen(stem));
}

static int set_port(struct ids_host *host, const char *text, size_t length, struct ids_error *err) {
    long port =
        length && length < IDS_PORT_BYTES - 1 && strspn(text, "0123456789") >= length ? strtol(text, NULL, 10) : 0;
    if (port < 1 || port > PORT_MAX)
        return ids_fail(err, IDS_USAGE, "'%s': '%.*s' is not a port (1 to %d)", host->name, (int)length, text,
                        PORT_MAX);
    snprintf(host->port, sizeof host->port, "%ld", port);
    return 0;
}

/* Divides "name:port", "[address]:port" and "name"; an address of IPv6 needs its brackets before a port. */
static int divide(struct ids_hosts *hosts, struct ids_host *host, const char *port, struct ids_error *err) {
    const char *name = host->name, *end = name + strlen(name), *colon = strrchr(name, ':');
    const char *first = name, *last = colon ? colon : end;
    if (*name == '[') {
        const char *bracket = strchr(name, ']');
        if (!bracket || (bracket[1] && bracket[1] != ':'))
            return ids_fail(err, IDS_USAGE, "'%s' is not [ADDRESS]:PORT", name);
        first = name + 1;
        last = bracket;
        colon = bracket[1] ? bracket + 1 : NULL;
    } else if (colon && strchr(name, ':') != colon) {
        return ids_fail(err, IDS_USAGE, "'%s': put an IPv6 address in brackets, such as [::1]:9012", name);
    }
    if (last == first) return ids_fail(err, IDS_USAGE, "'%s' names no host", name);
    if (last - first >= NAME_BYTES - 1)
        return ids_fail(err, IDS_USAGE, "a name of %zu characters is no host", strlen(name));
    if (!colon && !port)
        return ids_fail(err, IDS_USAGE, "'%s' has no port: give HOST:PORT, with the port of jax.profiler.start_server",
                        name);
    int code = colon ? set_port(host, colon + 1, strlen(colon + 1), err) : set_port(host, port, strlen(port), err);
    if (code) return code;
    host->address = ids_arena_copy(&hosts->arena, first, (size_t)(last - first));
    if (host->address) host->stem = make_stem(&hosts->arena, host->address, host->port);
    return host->stem ? 0 : ids_no_memory(err);
}

int ids_hosts_add(struct ids_hosts *hosts, const char *text, size_t length, const char *port, struct ids_error *err) {
    struct ids_host host = {.name = ids_arena_copy(&hosts->arena, text, length)};
    if (!host.name) return ids_no_memory(err);
    int code = divide(hosts, &host, port, err);
    if (code) return code;
    for (size_t i = 0; i < hosts->count; i++) {
        if (!strcmp(hosts->at[i].stem, host.stem)) return ids_fail(err, IDS_USAGE, "'%s' is given twice", host.name);
    }
    if (hosts->count == IDS_HOSTS_MAX) return ids_fail(err, IDS_LIMIT, "more than %d hosts", IDS_HOSTS_MAX);
    struct ids_host *place = IDS_PUSH(hosts->at, hosts->count, hosts->room);
    if (!place) return ids_no_memory(err);
    *place = host;
    return 0;
}

int ids_hosts_parse(struct ids_hosts *hosts, const char *list, struct ids_error *err) {
    int code = 0;
    for (const char *at = list; !code && *at;) {
        size_t length = strcspn(at, ", ");
        if (length) code = ids_hosts_add(hosts, at, length, NULL, err);
        at += length + (at[length] != '\0');
    }
    if (!code && !hosts->count) code = ids_fail(err, IDS_USAGE, "'%s' names no host", list);
    return code;
}

void ids_hosts_done(struct ids_hosts *hosts) {
    free(hosts->at);
    ids_arena_done(&hosts->arena);
    *hosts = (struct ids_hosts){0};
}
