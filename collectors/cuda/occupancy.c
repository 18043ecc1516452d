#include "collectors/cuda/occupancy.h"

enum { REGISTER_UNIT = 256, QUARTERS = 4 };

static int64_t at_least(int64_t value, int64_t unit) {
    return (value + unit - 1) / unit * unit;
}

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t by_registers(const struct ids_multiprocessor *sm, int registers, int64_t warps, int64_t most) {
    if (registers <= 0) return most;
    int64_t of_warp = at_least((int64_t)registers * sm->warp, REGISTER_UNIT);
    if (at_least(warps, QUARTERS) * of_warp > sm->registers_per_block) return 0; /* such a block does not start */
    return sm->registers / QUARTERS / of_warp * QUARTERS / warps;
}

static int64_t by_shared(const struct ids_multiprocessor *sm, int64_t static_shared, int64_t dynamic_shared,
                         int64_t most) {
    int64_t used = at_least(static_shared + dynamic_shared + sm->shared_reserved, sm->major >= 8 ? 128 : 256);
    int64_t largest = dynamic_shared > sm->shared_per_block ? sm->shared_per_block_optin : sm->shared_per_block;
    if (static_shared + dynamic_shared > largest) return 0;
    return used ? sm->shared / used : most;
}

/* Blocks at once on a multiprocessor. */
static int64_t blocks(const struct ids_multiprocessor *sm, int registers, int64_t static_shared, int64_t dynamic_shared,
                      int64_t threads) {
    if (threads <= 0 || threads > sm->threads_per_block) return 0;
    int64_t warps = at_least(threads, sm->warp) / sm->warp;
    int64_t most = smaller(sm->blocks, sm->threads / sm->warp / warps);
    most = smaller(most, by_registers(sm, registers, warps, most));
    return smaller(most, by_shared(sm, static_shared, dynamic_shared, most));
}

struct ids_occupancy ids_occupancy(const struct ids_multiprocessor *sm, int registers, int64_t static_shared,
                                   int64_t dynamic_shared, int64_t threads_per_block) {
    struct ids_occupancy result = {0};
    if (sm->major < 7 || sm->count <= 0 || sm->warp <= 0 || sm->threads_per_block <= 0 || sm->threads <= 0 ||
        sm->blocks <= 0 || sm->registers_per_block <= 0 || sm->registers <= 0 || sm->shared_per_block <= 0 ||
        sm->shared <= 0 || static_shared < 0 || dynamic_shared < 0)
        return result;
    result.percent =
        100.0 * (double)(blocks(sm, registers, static_shared, dynamic_shared, threads_per_block) * threads_per_block) /
        sm->threads;
    int64_t best = 0;
    for (int64_t threads = sm->threads_per_block; threads > 0 && best < sm->threads; threads -= sm->warp) {
        int64_t fit = blocks(sm, registers, static_shared, dynamic_shared, threads);
        if (threads * fit <= best) continue;
        best = threads * fit;
        result.block = (int)threads;
        result.grid = (int)(fit * sm->count);
    }
    return result;
}
