/* occupancy.h - the theoretical occupancy of a kernel on a device of this process, and the block size that would give
 * the highest, as XLA writes them. For compute capability 7.0 and later. Pure. tests/cuda holds it against the
 * toolkit's own calculator (cuda_occupancy.h), where that is installed.
 */
#ifndef IDS_COLLECTORS_CUDA_OCCUPANCY_H
#define IDS_COLLECTORS_CUDA_OCCUPANCY_H

#include "lib/occupancy/occupancy.h"

/* As cuDeviceGetAttribute says; 0: not known. Units, partitions and the blocks of several warps are filled in here. */
struct ids_cuda_multiprocessor {
    int major, count; /* compute capability; multiprocessors of the device */
    int optin;        /* shared memory that a block may have when the program asks for it */
    struct ids_multiprocessor of;
};

struct ids_occupancy {
    double percent; /* of the threads that the multiprocessor can hold; 0: not known */
    int block;      /* the block size with the highest occupancy */
    int grid;       /* blocks of that size that fill the device */
};

struct ids_occupancy ids_occupancy(const struct ids_cuda_multiprocessor *sm, int registers, int64_t static_shared,
                                   int64_t dynamic_shared, int64_t threads_per_block);

#endif
