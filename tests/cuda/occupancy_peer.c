/* lib/occupancy/occupancy.c against the toolkit's own calculator, cuda_occupancy.h: 1,000 random launches on every
 * NVIDIA device of device_limits.def, with what limits each; and collectors/cuda/occupancy.c over a grid of kernels,
 * with the block size it suggests. Built and run by test_occupancy.sh. What a block may have without opting in is 48
 * KiB. */
#include "collectors/cuda/occupancy.h"

#include <cuda_occupancy.h>
#include <limits.h>
#include <stdio.h>

struct device {
    int major, minor, threads, blocks, registers, shared, of_block;
};

static const struct device devices[] = {
#define IDS_NVIDIA(major, minor, threads, blocks, registers, partitions, shared, of_block) \
    {major, minor, threads, blocks, registers, (shared) << 10, (of_block) << 10},
#include "lib/occupancy/device_limits.def"
};
enum { DEVICES = sizeof devices / sizeof *devices, RANDOM = 1000 };

static int failures;

static cudaOccDeviceProp properties(const struct device *device) {
    return (cudaOccDeviceProp){.computeMajor = device->major,
                               .computeMinor = device->minor,
                               .maxThreadsPerBlock = 1024,
                               .maxThreadsPerMultiprocessor = device->threads,
                               .regsPerBlock = 65536,
                               .regsPerMultiprocessor = device->registers,
                               .warpSize = 32,
                               .sharedMemPerBlock = 48 << 10,
                               .sharedMemPerMultiprocessor = (size_t)device->shared,
                               .numSms = 100,
                               .sharedMemPerBlockOptin = (size_t)device->of_block,
                               .reservedSharedMemPerBlock = device->major < 8 ? 0 : 1024};
}

static cudaOccFuncAttributes function_of(int registers, int static_shared, int dynamic_shared) {
    cudaOccFuncAttributes function = {.maxThreadsPerBlock = INT_MAX,
                                      .numRegs = registers,
                                      .sharedSizeBytes = (size_t)static_shared,
                                      .partitionedGCConfig = PARTITIONED_GC_OFF};
    if (dynamic_shared > 0) { /* as the program must have asked for it */
        function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
        function.maxDynamicSharedSizeBytes = (size_t)dynamic_shared;
    }
    return function;
}

/* Whether what we call the limit is one that the toolkit names. */
static int is_limit(enum ids_occupancy_limit limit, unsigned factors) {
    switch (limit) {
    case IDS_LIMIT_NONE:
    case IDS_LIMIT_BLOCK:
        return (factors & OCC_LIMIT_WARPS) != 0;
    case IDS_LIMIT_BLOCKS:
        return (factors & OCC_LIMIT_BLOCKS) != 0;
    case IDS_LIMIT_REGISTERS:
        return (factors & OCC_LIMIT_REGISTERS) != 0;
    case IDS_LIMIT_SHARED:
        return (factors & OCC_LIMIT_SHARED_MEMORY) != 0;
    default:
        return 0;
    }
}

static unsigned next(unsigned limit) {
    static uint64_t state = 20261123;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state >> 33) % limit;
}

/* 1 where the toolkit and we agree on the blocks and on the limit, 0 where the toolkit refuses the launch. */
static int compare_random(const struct device *device) {
    int registers = (int)next(256), threads = (int)next(4) ? 32 * ((int)next(32) + 1) : (int)next(1024) + 1;
    int shared = next(3) ? (int)next((unsigned)device->of_block + 1) : (int)next(4096);
    cudaOccDeviceProp theirs = properties(device);
    cudaOccFuncAttributes function = function_of(registers, 0, shared);
    cudaOccDeviceState state = {.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT};
    cudaOccResult result = {0};
    if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &theirs, &function, &state, threads, (size_t)shared) !=
        CUDA_OCC_SUCCESS)
        return 0;
    struct ids_launch launch = {registers, shared, threads};
    struct ids_fit mine = ids_occupancy_fit(ids_nvidia_multiprocessor(device->major, device->minor), &launch);
    /* On 6.0 the toolkit refuses what would not run on 6.1, "for forward compatibility". */
    if (device->major == 6 && !device->minor && !result.activeBlocksPerMultiprocessor)
        mine = ids_occupancy_fit(ids_nvidia_multiprocessor(6, 1), &launch);
    if (mine.blocks == result.activeBlocksPerMultiprocessor && is_limit(mine.limit, result.limitingFactors)) return 1;
    failures++;
    printf("%d.%d: %d registers, %d bytes, %d threads: %d blocks, limit %s; the toolkit says %d, factors %x\n",
           device->major, device->minor, registers, shared, threads, (int)mine.blocks,
           ids_occupancy_limit_name(mine.limit), result.activeBlocksPerMultiprocessor, result.limitingFactors);
    return 1;
}

static int compare_grid(const struct device *device, int registers, int static_shared, int dynamic_shared,
                        int threads) {
    cudaOccDeviceProp theirs = properties(device);
    struct ids_cuda_multiprocessor ours = {device->major,
                                           100,
                                           device->of_block,
                                           {.warp = 32,
                                            .threads = device->threads,
                                            .threads_per_block = 1024,
                                            .blocks = device->blocks,
                                            .registers = 65536,
                                            .registers_per_block = 65536,
                                            .shared = device->shared,
                                            .shared_per_block = 48 << 10,
                                            .shared_reserved = device->major < 8 ? 0 : 1024}};
    cudaOccFuncAttributes function =
        function_of(registers, static_shared, dynamic_shared > 48 << 10 ? dynamic_shared : 0);
    if (dynamic_shared > 48 << 10) function.maxDynamicSharedSizeBytes = theirs.sharedMemPerBlockOptin;
    cudaOccDeviceState state = {.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT};
    cudaOccResult result = {0};
    int grid = 0, block = 0;
    if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &theirs, &function, &state, threads, (size_t)dynamic_shared) !=
            CUDA_OCC_SUCCESS ||
        cudaOccMaxPotentialOccupancyBlockSize(&grid, &block, &theirs, &function, &state, NULL,
                                              (size_t)dynamic_shared) != CUDA_OCC_SUCCESS)
        return -1;
    double percent = 100.0 * result.activeBlocksPerMultiprocessor * threads / device->threads;
    struct ids_occupancy mine = ids_occupancy(&ours, registers, static_shared, dynamic_shared, threads);
    if (mine.percent == percent && mine.grid == grid && mine.block == block) return 0;
    printf("%d.%d: %d registers, %d + %d bytes, %d threads: %g %%, %d blocks of %d; the toolkit says %g %%, %d blocks "
           "of %d\n",
           device->major, device->minor, registers, static_shared, dynamic_shared, threads, mine.percent, mine.grid,
           mine.block, percent, grid, block);
    failures++;
    return 1;
}

/* How many of them the toolkit answered. */
static int over_the_grid(const struct device *device) {
    int answered = 0;
    for (int registers = 0; registers <= 255; registers += registers < 40 ? 1 : 5) {
        for (int fixed = 0; fixed <= 48 << 10; fixed = fixed ? fixed * 3 + 17 : 1) {
            for (int dynamic = 0; dynamic <= 200 << 10; dynamic = dynamic ? dynamic * 2 + 129 : 1000) {
                for (int threads = 1; threads <= 1024; threads = threads < 32 ? threads * 4 : threads + 97) {
                    answered += compare_grid(device, registers, fixed, dynamic, threads) >= 0;
                    if (failures > 20) return answered;
                }
            }
        }
    }
    return answered;
}

int main(void) {
    int answered = 0, whole = 0;
    for (int d = 0; d < DEVICES; d++) {
        int here = 0;
        for (int tries = 0; here < RANDOM && tries < 20 * RANDOM; tries++) here += compare_random(&devices[d]);
        whole += here == RANDOM;
        if (devices[d].major >= 7) answered += over_the_grid(&devices[d]);
    }
    printf("%d random launches on each of %d devices, %d on the grid, %d unlike\n", RANDOM, whole, answered, failures);
    return failures || whole != DEVICES || answered < 100000;
}
