#include "lib/analysis/participants.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int ids_device_counts(const struct ids_trace *trace, const struct ids_device *device) {
    if (!device->activity.count || device->kind != IDS_DEVICE_CPU) return device->activity.count > 0;
    return !trace->accelerated;
}

/* The number that a name gives its host among the processes of a job: behind "rank" or "process" as a word ("rank 3",
 * "vm_rank-03", "process_index=3"), or behind "_r" at the end, as windows of a rank of its own have it. -1: it gives
 * none, and a number that stands there is a machine's ("t1v-w-10"). */
static int64_t rank_in(const char *name) {
    static const char *const words[] = {"rank", "process", "_r"};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        size_t length = strlen(words[w]);
        int is_short = *words[w] == '_';
        for (const char *at = name; (at = strcasestr(at, words[w])); at++) {
            const char *digits = at + length;
            if (!is_short && at > name && isalpha((unsigned char)at[-1])) continue;
            if (!is_short && !strncasecmp(digits, "_index", 6)) digits += 6;
            if (!is_short) digits += strspn(digits, "-_ .=");
            size_t count = strspn(digits, "0123456789");
            if (count && count < 10 && !(is_short && digits[count])) return strtoll(digits, NULL, 10);
        }
    }
    return -1;
}

/* What two hosts say to be is known of neither. */
static int64_t rank_of_host(const struct ids_trace *trace, uint32_t host) {
    int64_t rank = rank_in(ids_trace_text(trace, trace->hosts[host].name));
    for (uint32_t h = 0; h < trace->host_count && rank >= 0; h++) {
        if (h != host && rank_in(ids_trace_text(trace, trace->hosts[h].name)) == rank) return -1;
    }
    return rank;
}

const char *ids_host_called(const struct ids_trace *trace, uint32_t host, struct ids_arena *arena) {
    const char *name = ids_trace_text(trace, trace->hosts[host].name);
    int64_t rank = rank_of_host(trace, host);
    if (rank >= 0) return ids_arena_print(arena, "rank %" PRId64, rank);
    return ids_arena_print(arena, "%s%s", strncasecmp(name, "host", 4) != 0 ? "host " : "", name);
}

const char *ids_rank_name(const struct ids_trace *trace, const struct ids_device *device, struct ids_arena *arena) {
    size_t beside = 0;
    for (size_t d = 0; d < trace->device_count; d++)
        beside += trace->devices[d].host == device->host && ids_device_counts(trace, &trace->devices[d]);
    if (trace->host_count < 2) return ids_arena_print(arena, "%s", device->label);
    const char *host = ids_host_called(trace, device->host, arena);
    if (!host || beside < 2) return host;
    return ids_arena_print(arena, "%s %s", host, device->label);
}

struct ids_ranks ids_ranks_of(const struct ids_trace *trace) {
    struct ids_ranks ranks = {0};
    for (size_t h = 0; h < trace->host_count; h++) {
        ranks.read += trace->hosts[h].ranks > 0;
        if (trace->hosts[h].ranks > ranks.all) ranks.all = trace->hosts[h].ranks;
    }
    return ranks;
}

const char *ids_diag_in_words(const struct ids_trace *trace, const struct ids_trace_diag *diag,
                              struct ids_report *report) {
    int is_told = trace->host_count < 2 || diag->host >= trace->host_count || diag->text[0] == '\'';
    if (diag->severity != IDS_DAMAGE || is_told) return diag->text;
    const char *text =
        ids_report_text(report, "%s: %s", ids_trace_text(trace, trace->hosts[diag->host].name), diag->text);
    return text ? text : diag->text;
}
