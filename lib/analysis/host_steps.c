#include "lib/analysis/host_steps.h"

#include <stdlib.h>

static void take_step(struct ids_host_steps *host, int64_t number) {
    if (number < host->first) host->first = number;
    if (number > host->last) host->last = number;
}

/* The step that a window opened with is in no list; it comes before the others of its host. */
static void take_left_out(const struct ids_steps *steps, struct ids_host_steps *hosts, size_t count) {
    for (size_t i = 0; i < count && steps->has_left_out; i++) {
        if (hosts[i].first == steps->left_out + 1) hosts[i].first = steps->left_out;
    }
}

static int are_apart(const struct ids_host_steps *hosts, size_t count) {
    int64_t latest_first = INT64_MIN, earliest_last = INT64_MAX;
    for (size_t i = 0; i < count; i++) {
        if (hosts[i].first > latest_first) latest_first = hosts[i].first;
        if (hosts[i].last < earliest_last) earliest_last = hosts[i].last;
    }
    return count > 1 && earliest_last < latest_first;
}

int ids_host_steps(const struct ids_analysis *analysis, struct ids_host_steps **ret_hosts, size_t *ret_count) {
    const struct ids_trace *trace = analysis->trace;
    const struct ids_steps *steps = &analysis->steps;
    size_t found = 0;
    *ret_hosts = NULL;
    *ret_count = 0;
    if (steps->source != IDS_STEPS_ANNOTATION || steps->unnumbered || trace->host_count < 2) return 0;
    struct ids_host_steps *hosts = calloc(trace->host_count, sizeof *hosts);
    if (!hosts) return -1;
    for (size_t h = 0; h < trace->host_count; h++)
        hosts[h] = (struct ids_host_steps){(uint32_t)h, INT64_MAX, INT64_MIN};
    for (size_t d = 0; d < trace->device_count; d++) {
        const struct ids_device_steps *own = &steps->of_device[d];
        for (size_t i = 0; i < own->count; i++) {
            if (own->at[i].step != IDS_NONE)
                take_step(&hosts[trace->devices[d].host], steps->at[own->at[i].step].number);
        }
    }
    for (size_t h = 0; h < trace->host_count; h++) {
        if (hosts[h].first <= hosts[h].last) hosts[found++] = hosts[h];
    }
    take_left_out(steps, hosts, found);
    if (are_apart(hosts, found)) {
        *ret_hosts = hosts;
        *ret_count = found;
    } else {
        free(hosts);
    }
    return 0;
}
