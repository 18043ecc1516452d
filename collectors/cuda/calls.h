/* calls.h - CUDA's calls: their names, and what belongs to each of them by its correlation. */
#ifndef IDS_COLLECTORS_CUDA_CALLS_H
#define IDS_COLLECTORS_CUDA_CALLS_H

#include "collectors/cuda/cupti.h"
#include "collectors/cuda/records.h"

/* "cudaLaunchKernel", without the version and the flavour that CUPTI's name of it has (cudaLaunchKernel_ptsz_v7000). */
void ids_cuda_call_name(const struct ids_cupti *cupti, uint8_t domain, uint32_t function, char *text, size_t size);

struct ids_cuda_link {
    uint32_t correlation, event;
};

struct ids_cuda_range_end {
    uint32_t id; /* the low half of the range's */
    uint64_t time;
};

/* Events by correlation, and ends of ranges by id and time. */
struct ids_cuda_links {
    struct ids_cuda_link *at; /* in order; calls, device activity, memory, waits */
    size_t count;
    struct ids_cuda_range_end *ends;
    size_t end_count;
};

/* 0, or -1: no memory. */
int ids_cuda_links_make(struct ids_cuda_links *links, const struct ids_cuda_records *records);
void ids_cuda_links_free(struct ids_cuda_links *links);
/* The first link of the correlation; links->count: none. */
size_t ids_cuda_links_of(const struct ids_cuda_links *links, uint32_t correlation);
/* Whether a call of that correlation began until `end`. */
int ids_cuda_links_called(const struct ids_cuda_links *links, const struct ids_cuda_records *records,
                          uint32_t correlation, uint64_t end);
/* When the range ended, 0: it did not. */
uint64_t ids_cuda_links_range_end(const struct ids_cuda_links *links, const struct ids_cuda_event *begin);

/* How many launches that began until `end` have no device activity yet. Failed ones do not count, nor those of a stream
 * capture, which only builds a graph. -1: no memory. */
int64_t ids_cuda_missing(const struct ids_cupti *cupti, const struct ids_cuda_records *records, uint64_t end);

#endif
