/* collectors/cuda/occupancy.c against the toolkit's own calculator, cuda_occupancy.h, over a grid of kernels on six
 * kinds of device. Built and run by test_occupancy.sh. The devices' figures are those of the CUDA C++ programming
 * guide, "Technical specifications per compute capability"; what a block may have without opting in is 48 KiB. */
#include "collectors/cuda/occupancy.h"

#include <cuda_occupancy.h>
#include <limits.h>
#include <stdio.h>

struct device {
    int major, minor, threads, blocks, shared_kib, optin_kib, reserved;
};

static const struct device devices[] = {
    {7, 0, 2048, 32, 96, 96, 0},     {7, 5, 1024, 16, 64, 64, 0},     {8, 0, 2048, 32, 164, 163, 1024},
    {8, 6, 1536, 16, 100, 99, 1024}, {8, 9, 1536, 24, 100, 99, 1024}, {9, 0, 2048, 32, 228, 227, 1024},
};

static int compare(const struct device *device, int registers, int static_shared, int dynamic_shared, int threads) {
    cudaOccDeviceProp theirs = {.computeMajor = device->major,
                                .computeMinor = device->minor,
                                .maxThreadsPerBlock = 1024,
                                .maxThreadsPerMultiprocessor = device->threads,
                                .regsPerBlock = 65536,
                                .regsPerMultiprocessor = 65536,
                                .warpSize = 32,
                                .sharedMemPerBlock = 48 << 10,
                                .sharedMemPerMultiprocessor = (size_t)device->shared_kib << 10,
                                .numSms = 100,
                                .sharedMemPerBlockOptin = (size_t)device->optin_kib << 10,
                                .reservedSharedMemPerBlock = (size_t)device->reserved};
    struct ids_multiprocessor ours = {device->major,
                                      100,
                                      32,
                                      1024,
                                      device->threads,
                                      device->blocks,
                                      65536,
                                      65536,
                                      48 << 10,
                                      device->optin_kib << 10,
                                      device->shared_kib << 10,
                                      device->reserved};
    cudaOccFuncAttributes function = {.maxThreadsPerBlock = INT_MAX,
                                      .numRegs = registers,
                                      .sharedSizeBytes = (size_t)static_shared,
                                      .partitionedGCConfig = PARTITIONED_GC_OFF};
    if (dynamic_shared > 48 << 10) { /* as the program must have asked for it */
        function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
        function.maxDynamicSharedSizeBytes = theirs.sharedMemPerBlockOptin;
    }
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
    return 1;
}

int main(void) {
    int same = 0, different = 0, refused = 0;
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
        for (int registers = 0; registers <= 255; registers += registers < 40 ? 1 : 5) {
            for (int fixed = 0; fixed <= 48 << 10; fixed = fixed ? fixed * 3 + 17 : 1) {
                for (int dynamic = 0; dynamic <= 200 << 10; dynamic = dynamic ? dynamic * 2 + 129 : 1000) {
                    for (int threads = 1; threads <= 1024; threads = threads < 32 ? threads * 4 : threads + 97) {
                        int answer = compare(&devices[d], registers, fixed, dynamic, threads);
                        if (answer < 0)
                            refused++;
                        else if (answer)
                            different++;
                        else
                            same++;
                        if (different > 20) return 1;
                    }
                }
            }
        }
    }
    printf("%d kernels the same, %d refused by the toolkit\n", same, refused);
    return different || same < 100000;
}
