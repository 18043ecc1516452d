#include "collectors/cuda/calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

/* Cuts `suffix`, which digits may follow, from the end. */
static void cut(char *text, const char *suffix, int digits) {
    size_t length = strlen(text), suffix_length = strlen(suffix), end = length;
    while (digits && end && text[end - 1] >= '0' && text[end - 1] <= '9') end--;
    if ((digits && end == length) || end <= suffix_length ||
        strncmp(text + end - suffix_length, suffix, suffix_length) != 0)
        return;
    text[end - suffix_length] = 0;
}

void ids_cuda_call_name(const struct ids_cupti *cupti, uint8_t domain, uint32_t function, char *text, size_t size) {
    const char *name = NULL;
    if (!cupti->function_name || cupti->function_name(domain, function, &name) || !name || !*name) {
        snprintf(text, size, "CUDA %s call %u", domain == IDS_CUPTI_DOMAIN_RUNTIME ? "runtime" : "driver", function);
        return;
    }
    snprintf(text, size, "%s", name);
    cut(text, "_v", 1);
    cut(text, "_ptsz", 0);
    cut(text, "_ptds", 0);
    cut(text, "_v", 1);
}

/* ---- links ---- */

static int by_correlation(const void *a, const void *b) {
    const struct ids_cuda_link *left = a, *right = b;
    if (left->correlation != right->correlation) return left->correlation < right->correlation ? -1 : 1;
    return left->event < right->event ? -1 : left->event > right->event;
}

static int by_time(const void *a, const void *b) {
    const struct ids_cuda_range_end *left = a, *right = b;
    if (left->id != right->id) return left->id < right->id ? -1 : 1;
    return left->time < right->time ? -1 : left->time > right->time;
}

static size_t first(const struct ids_cuda_link *links, size_t count, uint32_t correlation) {
    size_t from = 0, to = count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (links[middle].correlation < correlation)
            from = middle + 1;
        else
            to = middle;
    }
    return from < count && links[from].correlation == correlation ? from : count;
}

int ids_cuda_links_make(struct ids_cuda_links *links, const struct ids_cuda_records *records) {
    size_t events = ids_cuda_records_counts(records).events;
    *links = (struct ids_cuda_links){.at = malloc((events + 1) * sizeof *links->at)};
    size_t ends = 0;
    for (size_t i = 0; links->at && i < events; i++)
        ends += ids_cuda_records_event(records, i)->kind == IDS_CUDA_RANGE_END;
    if (links->at) links->ends = malloc((ends + 1) * sizeof *links->ends);
    if (!links->ends) return -1;
    for (size_t i = 0; i < events; i++) {
        const struct ids_cuda_event *event = ids_cuda_records_event(records, i);
        if (event->kind == IDS_CUDA_RANGE_END)
            links->ends[links->end_count++] = (struct ids_cuda_range_end){(uint32_t)event->value, event->start};
        else if (event->correlation)
            links->at[links->count++] = (struct ids_cuda_link){event->correlation, (uint32_t)i};
    }
    qsort(links->at, links->count, sizeof *links->at, by_correlation);
    qsort(links->ends, links->end_count, sizeof *links->ends, by_time);
    return 0;
}

void ids_cuda_links_free(struct ids_cuda_links *links) {
    free(links->at);
    free(links->ends);
    *links = (struct ids_cuda_links){0};
}

size_t ids_cuda_links_of(const struct ids_cuda_links *links, uint32_t correlation) {
    return correlation ? first(links->at, links->count, correlation) : links->count;
}

int ids_cuda_links_called(const struct ids_cuda_links *links, const struct ids_cuda_records *records,
                          uint32_t correlation, uint64_t end) {
    for (size_t i = ids_cuda_links_of(links, correlation); i < links->count && links->at[i].correlation == correlation;
         i++) {
        const struct ids_cuda_event *event = ids_cuda_records_event(records, links->at[i].event);
        if (event->kind == IDS_CUDA_CALL && event->start <= end) return 1;
    }
    return 0;
}

uint64_t ids_cuda_links_range_end(const struct ids_cuda_links *links, const struct ids_cuda_event *begin) {
    const struct ids_cuda_range_end wanted = {(uint32_t)begin->value, begin->start};
    size_t from = 0, to = links->end_count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (by_time(&links->ends[middle], &wanted) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from < links->end_count && links->ends[from].id == wanted.id ? links->ends[from].time : 0;
}

/* ---- launches ---- */

static int starts(const char *text, const char *prefix) {
    return !strncmp(text, prefix, strlen(prefix));
}

/* Whether such a call puts work on a device. Copies that may run on the host alone are left out. */
static int launches(const char *name) {
    return starts(name, "cudaLaunch") || starts(name, "cuLaunch") || starts(name, "cudaGraphLaunch") ||
           starts(name, "cuGraphLaunch") || starts(name, "cudaMemcpyAsync") || starts(name, "cuMemcpyHtoDAsync") ||
           starts(name, "cuMemcpyDtoHAsync") || starts(name, "cudaMemsetAsync") || starts(name, "cuMemsetD");
}

/* A stretch of a stream capture, whatever its thread: from cudaStreamBeginCapture to cudaStreamEndCapture. */
struct captures {
    uint64_t begins[64], ends[64];
    size_t begin_count, end_count;
};

static int inside(const struct captures *captures, uint64_t time) {
    size_t begun = 0, ended = 0;
    for (size_t i = 0; i < captures->begin_count; i++) begun += captures->begins[i] <= time;
    for (size_t i = 0; i < captures->end_count; i++) ended += captures->ends[i] <= time;
    return begun > ended;
}

static void find_captures(const struct ids_cupti *cupti, const struct ids_cuda_records *records,
                          struct captures *captures) {
    size_t events = ids_cuda_records_counts(records).events;
    char name[128];
    for (size_t i = 0; i < events; i++) {
        const struct ids_cuda_event *event = ids_cuda_records_event(records, i);
        if (event->kind != IDS_CUDA_CALL) continue;
        ids_cuda_call_name(cupti, event->how, event->name, name, sizeof name);
        if (!strcmp(name, "cudaStreamBeginCapture") && captures->begin_count < 64)
            captures->begins[captures->begin_count++] = event->start;
        if (!strcmp(name, "cudaStreamEndCapture") && captures->end_count < 64)
            captures->ends[captures->end_count++] = event->start;
    }
}

int64_t ids_cuda_missing(const struct ids_cupti *cupti, const struct ids_cuda_records *records, uint64_t end) {
    struct ids_cuda_links links;
    struct captures captures = {.begin_count = 0};
    size_t events = ids_cuda_records_counts(records).events;
    int64_t missing = 0;
    char name[128];
    if (ids_cuda_links_make(&links, records)) {
        ids_cuda_links_free(&links);
        return -1;
    }
    find_captures(cupti, records, &captures);
    for (size_t i = 0; i < events; i++) {
        const struct ids_cuda_event *call = ids_cuda_records_event(records, i);
        if (call->kind != IDS_CUDA_CALL || call->detail || call->start > end) continue;
        ids_cuda_call_name(cupti, call->how, call->name, name, sizeof name);
        if (!launches(name) || inside(&captures, call->start)) continue;
        int there = 0;
        for (size_t l = ids_cuda_links_of(&links, call->correlation);
             l < links.count && links.at[l].correlation == call->correlation && !there; l++)
            there = IDS_CUDA_ON_DEVICE(ids_cuda_records_event(records, links.at[l].event)->kind);
        missing += !there;
    }
    ids_cuda_links_free(&links);
    return missing;
}
