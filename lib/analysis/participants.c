#include "lib/analysis/participants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int ids_device_counts(const struct ids_trace *trace, const struct ids_device *device) {
    if (!device->activity.count || device->kind != IDS_DEVICE_CPU) return device->activity.count > 0;
    return !trace->accelerated;
}

/* The number behind "rank" in a host's name, as Kineto's files and launchers have it; else its place among the
 * hosts. */
static long long rank_of_host(const struct ids_trace *trace, uint32_t host) {
    const char *name = ids_trace_text(trace, trace->hosts[host].name), *rank = strcasestr(name, "rank");
    if (rank) {
        rank += strlen("rank");
        rank += strspn(rank, "-_ .=");
        if (*rank >= '0' && *rank <= '9') return strtoll(rank, NULL, 10);
    }
    return host;
}

const char *ids_rank_name(const struct ids_trace *trace, const struct ids_device *device, struct ids_arena *arena) {
    char name[128];
    size_t beside = 0;
    for (size_t d = 0; d < trace->device_count; d++)
        beside += trace->devices[d].host == device->host && ids_device_counts(trace, &trace->devices[d]);
    int length = trace->host_count < 2 ? snprintf(name, sizeof name, "%.100s", device->label)
                 : beside < 2
                     ? snprintf(name, sizeof name, "rank %lld", rank_of_host(trace, device->host))
                     : snprintf(name, sizeof name, "rank %lld %.80s", rank_of_host(trace, device->host), device->label);
    return ids_arena_copy(arena, name, (size_t)length);
}

struct ids_ranks ids_ranks_of(const struct ids_trace *trace) {
    struct ids_ranks ranks = {0};
    for (size_t h = 0; h < trace->host_count; h++) {
        ranks.read += trace->hosts[h].ranks > 0;
        if (trace->hosts[h].ranks > ranks.all) ranks.all = trace->hosts[h].ranks;
    }
    return ranks;
}
