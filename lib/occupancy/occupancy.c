#include "lib/occupancy/occupancy.h"

#include <stddef.h>

static int64_t at_least(int64_t value, int64_t unit) {
    return (value + unit - 1) / unit * unit;
}

/* Blocks whose registers fit: each warp's come from one partition. */
static int64_t by_registers(const struct ids_multiprocessor *of, int64_t registers, int64_t warps) {
    int64_t of_warp = at_least(registers * of->warp, of->register_unit);
    if (at_least(warps, of->partitions) * of_warp > of->registers_per_block) return 0; /* such a block does not start */
    return of->registers / of->partitions / of_warp * of->partitions / warps;
}

static int64_t by_shared(const struct ids_multiprocessor *of, int64_t shared) {
    if (shared > of->shared_per_block) return 0;
    return of->shared / at_least(shared + of->shared_reserved, of->shared_unit);
}

static void lower(struct ids_fit *fit, int64_t blocks, enum ids_occupancy_limit limit) {
    if (blocks >= fit->blocks) return;
    fit->blocks = blocks;
    fit->limit = limit;
}

struct ids_fit ids_occupancy_fit(const struct ids_multiprocessor *of, const struct ids_launch *launch) {
    struct ids_fit fit = {0, 0, IDS_LIMIT_UNKNOWN};
    if (launch->threads <= 0 || launch->threads > of->threads_per_block || launch->registers < 0 ||
        launch->registers > of->registers_per_block || launch->shared < 0 || launch->shared > of->shared)
        return fit;
    int64_t warps = at_least(launch->threads, of->warp) / of->warp, full = of->threads / of->warp;
    fit.blocks = full / warps;
    fit.limit = full % warps || launch->threads % of->warp ? IDS_LIMIT_BLOCK : IDS_LIMIT_NONE;
    lower(&fit, warps > 1 ? of->blocks_of_warps : of->blocks, IDS_LIMIT_BLOCKS);
    if (launch->registers) lower(&fit, by_registers(of, launch->registers, warps), IDS_LIMIT_REGISTERS);
    if (launch->shared + of->shared_reserved) lower(&fit, by_shared(of, launch->shared), IDS_LIMIT_SHARED);
    fit.share = (double)(fit.blocks * launch->threads) / of->threads;
    return fit;
}

static const struct {
    int major, minor;
    struct ids_multiprocessor sm;
} nvidia[] = {
#define IDS_NVIDIA(major, minor, threads, blocks, registers, partitions, shared, of_block)                    \
    {major,                                                                                                   \
     minor,                                                                                                   \
     {32, threads, 1024, blocks, blocks, registers, 65536, 256, partitions, (shared) << 10, (of_block) << 10, \
      (major) < 8 ? 256 : 128, (major) < 8 ? 0 : 1024}},
#include "lib/occupancy/device_limits.def"
};

static const struct {
    int major, minor;
    struct ids_multiprocessor cu;
} amd[] = {
/* A block of several wavefronts takes one of 16 barriers; 8 registers for each of 64 lanes are given at once. */
#define IDS_AMD(major, minor, waves, registers, lds, unit)                                                     \
    {major,                                                                                                    \
     minor,                                                                                                    \
     {64, (waves)*4 * 64, 1024, (waves)*4, 16, (registers)*4 * 64, (registers)*4 * 64, 8 * 64, 4, (lds) << 10, \
      (lds) << 10, unit, 0}},
#include "lib/occupancy/device_limits.def"
};

const struct ids_multiprocessor *ids_nvidia_multiprocessor(int major, int minor) {
    for (size_t i = 0; i < sizeof nvidia / sizeof *nvidia; i++) {
        if (nvidia[i].major == major && nvidia[i].minor == minor) return &nvidia[i].sm;
    }
    return NULL;
}

const struct ids_multiprocessor *ids_amd_multiprocessor(int major, int minor) {
    for (size_t i = 0; i < sizeof amd / sizeof *amd; i++) {
        if (amd[i].major == major && amd[i].minor == minor) return &amd[i].cu;
    }
    return NULL;
}

const char *ids_occupancy_limit_name(enum ids_occupancy_limit limit) {
    static const char *const names[IDS_LIMIT_COUNT] = {NULL,        "nothing",       "block size", "blocks",
                                                       "registers", "shared memory", "grid"};
    return limit < IDS_LIMIT_COUNT ? names[limit] : NULL;
}
