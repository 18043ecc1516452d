#include "collectors/cuda/occupancy.h"

static int is_known(const struct ids_cuda_multiprocessor *sm) {
    const struct ids_multiprocessor *of = &sm->of;
    return sm->major >= 7 && sm->count > 0 && of->warp > 0 && of->threads_per_block > 0 && of->threads > 0 &&
           of->blocks > 0 && of->registers_per_block > 0 && of->registers > 0 && of->shared_per_block > 0 &&
           of->shared > 0;
}

struct ids_occupancy ids_occupancy(const struct ids_cuda_multiprocessor *sm, int registers, int64_t static_shared,
                                   int64_t dynamic_shared, int64_t threads_per_block) {
    struct ids_occupancy result = {0};
    if (!is_known(sm) || static_shared < 0 || dynamic_shared < 0 || dynamic_shared > sm->of.shared) return result;
    struct ids_multiprocessor of = sm->of;
    of.blocks_of_warps = of.blocks;
    of.register_unit = 256;
    of.partitions = 4;
    of.shared_unit = sm->major >= 8 ? 128 : 256;
    if (dynamic_shared > of.shared_per_block) of.shared_per_block = sm->optin; /* the program asked for it */
    struct ids_launch launch = {registers > 0 ? registers : 0, static_shared + dynamic_shared, threads_per_block};
    result.percent = 100.0 * (double)(ids_occupancy_fit(&of, &launch).blocks * threads_per_block) / of.threads;
    int64_t best = 0;
    for (launch.threads = of.threads_per_block; launch.threads > 0 && best < of.threads; launch.threads -= of.warp) {
        int64_t fit = ids_occupancy_fit(&of, &launch).blocks;
        if (launch.threads * fit <= best) continue;
        best = launch.threads * fit;
        result.block = (int)launch.threads;
        result.grid = (int)(fit * sm->count);
    }
    return result;
}
