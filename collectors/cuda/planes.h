/* planes.h - a window's records as an XSpace: the planes, lines and stats of JAX's own profiles of NVIDIA GPUs.
 *
 *   /device:GPU:N        a line "Stream #S(Compute,MemcpyH2D)" for each stream: kernels with kernel_details and
 *                        occupancy, copies and sets with their details, graphs; correlation_id ties each to the call
 *                        that launched it
 *   /host:CPU            "Host Threads/T": CUDA's calls by their names, and what the thread marked with NVTX around
 *                        them, as "NVTX:name" or "NVTX:domain:name"; "CUPTI overhead"
 *   Task Environment     profile_start_time, from which all other times count, and what the capture was
 */
#ifndef IDS_COLLECTORS_CUDA_PLANES_H
#define IDS_COLLECTORS_CUDA_PLANES_H

#include "collectors/cuda/cupti.h"
#include "collectors/cuda/device.h"
#include "collectors/cuda/records.h"

/* One moment on all clocks, in nanoseconds. */
struct ids_cuda_clocks {
    int64_t realtime, monotonic;
    int64_t cupti; /* 0: it has none */
};

struct ids_cuda_window {
    const struct ids_cupti *cupti; /* for the names of its functions */
    struct ids_cuda_records *records;
    const struct ids_cuda_device *devices;
    int device_count;
    struct ids_cuda_clocks begin, end;
    uint64_t dropped; /* by CUPTI; the records' own are added */
    int graph_nodes;  /* kernels of graphs one by one */
};

struct ids_cuda_written {
    int64_t events, drops;
    int64_t kernels, copies;
};

/* Appends the XSpace to the file at `path`, which exists. What calls after the window's end did is
 * left out. 0, or -1 with the reason. */
int ids_cuda_write(const struct ids_cuda_window *window, const char *path, struct ids_cuda_written *ret_written,
                   char *why, size_t why_size);

#endif
