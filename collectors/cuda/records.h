/* records.h - the events of a window: CUPTI's records, copied from its buffers into a third of their size.
 *
 * Filled while the window is open by the thread that drains the buffers, read at its end. Do not call it in callbacks:
 * it allocates. Records without memory or room are dropped and counted, which is never an error. Texts are copied,
 * because the program may unload the module that holds a kernel's name. Times are CUPTI's nanoseconds as they came.
 */
#ifndef IDS_COLLECTORS_CUDA_RECORDS_H
#define IDS_COLLECTORS_CUDA_RECORDS_H

#include "collectors/cuda/cupti_abi.h"

enum {
    IDS_CUDA_EVENTS_MAX = 1 << 23, /* of a window: 670 MB; what is more is dropped */
    IDS_CUDA_TEXTS_MAX = 1 << 16,  /* different names, and different shapes of launches */
    IDS_CUDA_TEXT_BYTES = 1 << 25, /* of all names */
    IDS_CUDA_TEXT_LENGTH = 4000,   /* of one; what is longer is cut */
};

enum ids_cuda_kind {
    IDS_CUDA_KERNEL,
    IDS_CUDA_COPY,
    IDS_CUDA_SET,
    IDS_CUDA_GRAPH, /* all of a graph's launch as one */
    IDS_CUDA_CALL,
    IDS_CUDA_SYNC,
    IDS_CUDA_MEMORY,
    IDS_CUDA_RANGE_BEGIN,
    IDS_CUDA_RANGE_END,
    IDS_CUDA_MARK,
    IDS_CUDA_OVERHEAD,
};
/* Kinds up to that happen on a device. */
#define IDS_CUDA_ON_DEVICE(kind) ((kind) <= IDS_CUDA_GRAPH)

struct ids_cuda_event {
    uint64_t start, end;
    uint64_t value;  /* bytes; a range's id */
    uint64_t node;   /* of a graph, 0: none */
    uint32_t name;   /* a text; CALL: the function's number; OVERHEAD, SYNC: its type */
    uint32_t detail; /* KERNEL: a shape; RANGE_BEGIN, MARK: the domain, a text; CALL: its result */
    uint32_t correlation, device, context, stream, thread, graph;
    uint32_t to_device; /* COPY */
    uint8_t kind,
        how; /* how: COPY: ids_cupti_copy's kind; CALL: the domain; MEMORY: the operation; OVERHEAD: the object */
    uint8_t from, to; /* COPY, SET, MEMORY: kinds of memory */
    uint8_t async;
};

struct ids_cuda_shape {
    uint32_t registers;
    int32_t static_shared, dynamic_shared;
    int32_t grid[3], block[3];
};

struct ids_cuda_records;

struct ids_cuda_counts {
    size_t events, shapes, texts;
    uint64_t dropped;    /* for want of memory or room */
    uint64_t incomplete; /* device activity that had not ended when its buffer came: it has no times */
    uint64_t unknown;    /* records of kinds that nobody asked for, or cut ones */
};

/* NULL: no memory. */
struct ids_cuda_records *ids_cuda_records_new(void);
void ids_cuda_records_free(struct ids_cuda_records *records);

/* Takes one record; `available`: bytes from it to the end of what is valid in its buffer. */
void ids_cuda_records_add(struct ids_cuda_records *records, const struct ids_cupti_record *record, size_t available);

struct ids_cuda_counts ids_cuda_records_counts(const struct ids_cuda_records *records);
struct ids_cuda_event *ids_cuda_records_event(const struct ids_cuda_records *records, size_t index);
/* "" for 0, which stands for no text. */
const char *ids_cuda_records_text(const struct ids_cuda_records *records, uint32_t text);
/* NULL for 0, which stands for a shape that there was no room for. */
const struct ids_cuda_shape *ids_cuda_records_shape(const struct ids_cuda_records *records, uint32_t shape);

#endif
