/* occupancy.h - how many blocks of a kernel a multiprocessor (AMD: compute unit) holds at once, and what keeps it from
 * holding more. Pure arithmetic, as the CUDA C++ programming guide and the AMDGPU backend of LLVM have it: threads,
 * blocks, registers and shared memory (AMD: LDS), each given in units. tests/cuda holds it against the toolkit's own
 * calculator, cuda_occupancy.h.
 */
#ifndef IDS_LIB_OCCUPANCY_OCCUPANCY_H
#define IDS_LIB_OCCUPANCY_OCCUPANCY_H

#include <stdint.h>

/* One multiprocessor: what it has, and what one block may take of it. */
struct ids_multiprocessor {
    int warp;                           /* threads of a warp (AMD: wavefront) */
    int threads, threads_per_block;     /* at once */
    int blocks, blocks_of_warps;        /* at once; of more than one warp each (AMD: they take barriers) */
    int registers, registers_per_block; /* of 32 bits */
    int register_unit, partitions;      /* a warp gets registers in units, from one of so many partitions */
    int shared, shared_per_block;       /* bytes */
    int shared_unit, shared_reserved;   /* bytes; reserved: of each block, by the driver */
};

enum ids_occupancy_limit {
    IDS_LIMIT_UNKNOWN,
    IDS_LIMIT_NONE,      /* as many threads as the multiprocessor holds */
    IDS_LIMIT_BLOCK,     /* blocks whose warps do not fill it: a block of 768 threads where 1,024 fit */
    IDS_LIMIT_BLOCKS,    /* it holds no more blocks, and they are small */
    IDS_LIMIT_REGISTERS, /* of a thread */
    IDS_LIMIT_SHARED,    /* shared memory of a block */
    IDS_LIMIT_GRID,      /* fewer blocks than multiprocessors, where the occupancy is not known (the caller knows) */
    IDS_LIMIT_COUNT,
};

struct ids_launch {
    int64_t registers; /* of a thread; 0: none */
    int64_t shared;    /* bytes of a block */
    int64_t threads;   /* of a block */
};

struct ids_fit {
    int64_t blocks; /* of a multiprocessor at once; 0: such a kernel does not start there */
    double share;   /* of the threads that the multiprocessor can hold */
    enum ids_occupancy_limit limit;
};

struct ids_fit ids_occupancy_fit(const struct ids_multiprocessor *of, const struct ids_launch *launch);

/* What the vendors publish of a kind of device; NULL where it is not known. */
const struct ids_multiprocessor *ids_nvidia_multiprocessor(int major, int minor); /* compute capability */
const struct ids_multiprocessor *ids_amd_multiprocessor(int major, int minor);    /* gfx942: 9, 4; gfx90a: 9, 0 */

const char *ids_occupancy_limit_name(enum ids_occupancy_limit limit); /* "registers"; NULL where unknown */

#endif
