/* cupti_abi.h - the part of CUPTI's binary interface that the collector uses, in declarations of our own, so that the
 * library is built on machines without the CUDA toolkit and loads whatever libcupti the program has (CUDA 12 and 13).
 *
 * Records only grow at their end and their kind stays: only the fields below are read, and the next record is found by
 * cuptiActivityGetNextRecord alone, never by a size of ours. tests/cuda/abi.c compares every offset and number here
 * with the toolkit's headers where these are installed. Times are nanoseconds, ids are CUPTI's.
 */
#ifndef IDS_COLLECTORS_CUDA_CUPTI_ABI_H
#define IDS_COLLECTORS_CUDA_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

#define IDS_CUPTI_RECORD __attribute__((packed, aligned(8)))

/* Of CUptiResult. */
enum {
    IDS_CUPTI_SUCCESS = 0,
    IDS_CUPTI_MAX_LIMIT_REACHED = 12, /* no further record in the buffer */
    IDS_CUPTI_NOT_INITIALIZED = 15,
    IDS_CUPTI_INSUFFICIENT_PRIVILEGES = 35,
    IDS_CUPTI_MULTIPLE_SUBSCRIBERS = 39,
    IDS_CUPTI_UNKNOWN = 999, /* what every call answers where there is no driver */
};

/* Of CUpti_ActivityKind. KERNEL (3) makes the program's kernels run one after the other: never enabled. */
enum {
    IDS_CUPTI_MEMCPY = 1,
    IDS_CUPTI_MEMSET = 2,
    IDS_CUPTI_DRIVER = 4,
    IDS_CUPTI_RUNTIME = 5,
    IDS_CUPTI_DEVICE = 8,
    IDS_CUPTI_CONTEXT = 9,
    IDS_CUPTI_CONCURRENT_KERNEL = 10,
    IDS_CUPTI_NAME = 11,
    IDS_CUPTI_MARKER = 12,
    IDS_CUPTI_MARKER_DATA = 13,
    IDS_CUPTI_OVERHEAD = 17,
    IDS_CUPTI_MEMCPY2 = 22, /* from device to device */
    IDS_CUPTI_STREAM = 37,
    IDS_CUPTI_SYNCHRONIZATION = 38,
    IDS_CUPTI_MEMORY2 = 49,
    IDS_CUPTI_GRAPH_TRACE = 51,
};

enum { IDS_CUPTI_FLUSH_FORCED = 1 };
enum { IDS_CUPTI_COPY_ASYNC = 1 }; /* of copies and sets */
enum { IDS_CUPTI_MARKER_INSTANT = 1, IDS_CUPTI_MARKER_START = 2, IDS_CUPTI_MARKER_END = 4 };
enum { IDS_CUPTI_OBJECT_PROCESS = 1, IDS_CUPTI_OBJECT_THREAD = 2, IDS_CUPTI_OBJECT_DEVICE = 3 };
enum { IDS_CUPTI_DOMAIN_DRIVER = 1, IDS_CUPTI_DOMAIN_RUNTIME = 2 };
enum {
    IDS_CUPTI_COPY_HTOD = 1,
    IDS_CUPTI_COPY_DTOH = 2,
    IDS_CUPTI_COPY_HTOA = 3,
    IDS_CUPTI_COPY_ATOH = 4,
    IDS_CUPTI_COPY_DTOD = 8,
    IDS_CUPTI_COPY_PTOP = 10,
};
enum { IDS_CUPTI_MEMORY_ALLOCATED = 1, IDS_CUPTI_MEMORY_RELEASED = 2 };

struct ids_cupti_record {
    uint32_t kind;
} IDS_CUPTI_RECORD;

/* CONCURRENT_KERNEL: CUpti_ActivityKernel9 (CUDA 12) to 13. */
struct ids_cupti_kernel {
    uint32_t kind;
    uint8_t cache_config, shared_config;
    uint16_t registers;
    uint32_t partitioned_requested, partitioned_executed;
    uint64_t start, end, completed;
    uint32_t device, context, stream;
    int32_t grid[3], block[3];
    int32_t static_shared, dynamic_shared;
    uint32_t local_per_thread, local_total;
    uint32_t correlation;
    int64_t grid_id;
    const char *name;
    void *reserved;
    uint64_t queued, submitted;
    uint8_t launch_type, carveout_requested, carveout, padding;
    uint32_t shared_executed;
    uint64_t graph_node;
    uint32_t shared_limit;
    uint32_t graph;
} IDS_CUPTI_RECORD;

/* MEMCPY: CUpti_ActivityMemcpy5 to 7. */
struct ids_cupti_copy {
    uint32_t kind;
    uint8_t copy_kind, from, to, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation, runtime_correlation;
    uint32_t padding;
    void *reserved;
    uint64_t graph_node;
    uint32_t graph;
} IDS_CUPTI_RECORD;

/* MEMCPY2: CUpti_ActivityMemcpyPtoP4. */
struct ids_cupti_peer_copy {
    uint32_t kind;
    uint8_t copy_kind, from, to, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream;
    uint32_t from_device, from_context, to_device, to_context;
    uint32_t correlation;
    void *reserved;
    uint64_t graph_node;
    uint32_t graph;
} IDS_CUPTI_RECORD;

/* MEMSET: CUpti_ActivityMemset4 and 5. */
struct ids_cupti_set {
    uint32_t kind;
    uint32_t value;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation;
    uint16_t flags, memory_kind;
    uint32_t padding;
    void *reserved;
    uint64_t graph_node;
    uint32_t graph;
} IDS_CUPTI_RECORD;

/* MEMORY2: CUpti_ActivityMemory3 and 4. */
struct ids_cupti_memory {
    uint32_t kind;
    uint32_t operation, memory_kind, correlation;
    uint64_t address, bytes, timestamp, pc;
    uint32_t process, device, context, stream;
    const char *name;
} IDS_CUPTI_RECORD;

/* RUNTIME and DRIVER: CUpti_ActivityAPI. */
struct ids_cupti_call {
    uint32_t kind;
    uint32_t function; /* cbid */
    uint64_t start, end;
    uint32_t process, thread, correlation, result;
} IDS_CUPTI_RECORD;

/* SYNCHRONIZATION: CUpti_ActivitySynchronization and 2. */
struct ids_cupti_sync {
    uint32_t kind;
    uint32_t type;
    uint64_t start, end;
    uint32_t correlation, context, stream, event;
} IDS_CUPTI_RECORD;

/* GRAPH_TRACE: CUpti_ActivityGraphTrace and 2. */
struct ids_cupti_graph {
    uint32_t kind;
    uint32_t correlation;
    uint64_t start, end;
    uint32_t device, graph, context, stream;
} IDS_CUPTI_RECORD;

/* CUpti_ActivityObjectKindId. */
union ids_cupti_object {
    struct {
        uint32_t process, thread;
    } of_thread;
    struct {
        uint32_t device, context, stream;
    } of_device;
};

/* MARKER: CUpti_ActivityMarker2. */
struct ids_cupti_marker {
    uint32_t kind;
    uint32_t flags;
    uint64_t timestamp;
    uint32_t id;
    uint32_t object_kind;
    union ids_cupti_object object;
    uint32_t padding;
    const char *name, *domain;
} IDS_CUPTI_RECORD;

/* NAME: CUpti_ActivityName. */
struct ids_cupti_name {
    uint32_t kind;
    uint32_t object_kind;
    union ids_cupti_object object;
    uint32_t padding;
    const char *name;
} IDS_CUPTI_RECORD;

/* OVERHEAD: CUpti_ActivityOverhead to 3. */
struct ids_cupti_overhead {
    uint32_t kind;
    uint32_t overhead_kind, object_kind;
    union ids_cupti_object object;
    uint64_t start, end;
} IDS_CUPTI_RECORD;

/* CUpti_SubscriberParams. CUDA 13.0 knows the first four fields; which ones are there, `size` says. */
struct ids_cupti_subscriber {
    size_t size;
    const char *name;
    char *old_name;
    size_t old_name_size;
    uint8_t several; /* since 13.5: other subscribers may be beside us */
    uint8_t padding[7];
};
enum { IDS_CUPTI_OLD_NAME = 64 };

typedef int ids_cupti_result;
typedef struct CUpti_Subscriber_st *ids_cupti_handle;
typedef void ids_cupti_callback(void *user, uint32_t domain, uint32_t function, const void *data);
typedef void ids_cupti_request(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void ids_cupti_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);
typedef void ids_cupti_request_v2(uint8_t **buffer, size_t *size, size_t *max_records, void *info);
typedef void ids_cupti_complete_v2(uint8_t *buffer, size_t size, size_t valid, void *info);

#endif
