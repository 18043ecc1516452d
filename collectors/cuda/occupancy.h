/* occupancy.h - how many of a kernel's blocks a multiprocessor holds at once: the theoretical occupancy, as the CUDA
 * C++ programming guide defines it by threads, registers and shared memory. For compute capability 7.0 and later, where
 * registers are given to warps in units of 256 and each quarter of a multiprocessor has its own. Pure. tests/cuda holds
 * it against the toolkit's own calculator (cuda_occupancy.h), where that is installed.
 */
#ifndef IDS_COLLECTORS_CUDA_OCCUPANCY_H
#define IDS_COLLECTORS_CUDA_OCCUPANCY_H

#include <stdint.h>

/* What limits a multiprocessor; all of them from cuDeviceGetAttribute, 0: not known. */
struct ids_multiprocessor {
    int major, count; /* compute capability; multiprocessors of the device */
    int warp, threads_per_block, threads, blocks;
    int registers_per_block, registers;
    int shared_per_block, shared_per_block_optin, shared,
        shared_reserved; /* bytes; reserved: of each block, by the driver */
};

struct ids_occupancy {
    double percent; /* of the threads that the multiprocessor can hold; 0: not known */
    int block;      /* the block size with the highest occupancy */
    int grid;       /* blocks of that size that fill the device */
};

struct ids_occupancy ids_occupancy(const struct ids_multiprocessor *sm, int registers, int64_t static_shared,
                                   int64_t dynamic_shared, int64_t threads_per_block);

#endif
