#include "lib/model/hardware.h"

#include <math.h>

static int says(struct ids_text text, const char *word) {
    return ids_text_contains(text, word);
}

/* gfx906, gfx908 and gfx90a all report 9.0; only the last is in the table. */
static int is_gfx90a(struct ids_text model) {
    return says(model, "MI210") || says(model, "MI250") || says(model, "gfx90a");
}

static const struct ids_multiprocessor *multiprocessor_of(const struct ids_device *device, int is_amd, int is_named,
                                                          struct ids_text model) {
    int major = device->capability_major, minor = device->capability_minor;
    if (is_amd) return major != 9 || minor || is_gfx90a(model) ? ids_amd_multiprocessor(major, minor) : NULL;
    return is_named || major < 9 ? ids_nvidia_multiprocessor(major, minor) : NULL;
}

/* By what it holds: where that lies differs between processes. */
static uint64_t kind_of(const struct ids_multiprocessor *of) {
    return of ? ids_hash_bytes(of, sizeof *of) : 0;
}

/* Old files of NVIDIA's devices name neither vendor nor model. Of the capabilities below 9.0 AMD has none that still
 * runs, and 9.4 and 9.5 are AMD's alone; others may be of either. */
void ids_hardware_find(const struct ids_trace *trace, struct ids_device *device) {
    struct ids_text vendor = ids_strings_text(&trace->strings, device->vendor),
                    model = ids_strings_text(&trace->strings, device->model);
    int major = device->capability_major, minor = device->capability_minor;
    int is_amd = says(vendor, "AMD") || says(model, "AMD") || says(model, "gfx") || (major == 9 && minor >= 4);
    device->multiprocessor = NULL;
    if (device->kind == IDS_DEVICE_GPU)
        device->multiprocessor = multiprocessor_of(device, is_amd, vendor.length || model.length, model);
    device->shape_kind = ids_key_of(kind_of(device->multiprocessor), (uint64_t)device->cores);
}

/* Of three numbers; -1 where one is unknown or the product is no count. */
static int64_t product(const int64_t values[3]) {
    __int128 all = 1;
    for (int i = 0; i < 3; i++) {
        if (values[i] <= 0) return -1;
        all *= values[i];
    }
    return all <= INT64_MAX ? (int64_t)all : -1;
}

static int64_t shared_of(const struct ids_shape *shape) {
    return (shape->static_shared_bytes > 0 ? shape->static_shared_bytes : 0) +
           (shape->dynamic_shared_bytes > 0 ? shape->dynamic_shared_bytes : 0);
}

void ids_hardware_fill(const struct ids_device *device, struct ids_shape *shape) {
    enum { SHARED_LIMIT = 1 << 30 };
    shape->waves = -1;
    shape->limit = IDS_LIMIT_UNKNOWN;
    int64_t blocks = product(shape->grid), threads = product(shape->block);
    if (!device || device->cores <= 0) return;
    /* Whatever a block needs: some multiprocessors have none. */
    if (blocks > 0 && blocks < device->cores) shape->limit = IDS_LIMIT_GRID;
    if (!device->multiprocessor || shape->registers <= 0 || threads <= 0 || shape->static_shared_bytes > SHARED_LIMIT ||
        shape->dynamic_shared_bytes > SHARED_LIMIT)
        return;
    struct ids_launch launch = {shape->registers, shared_of(shape), threads};
    struct ids_fit fit = ids_occupancy_fit(device->multiprocessor, &launch);
    if (fit.blocks <= 0) return; /* it ran, so what the file says of it, or the table, is wrong */
    shape->blocks_at_once = (int32_t)fit.blocks;
    if (shape->occupancy <= 0) shape->occupancy = fit.share;
    if (blocks > 0) shape->waves = (double)blocks / (double)(fit.blocks * device->cores);
    shape->limit = (uint8_t)fit.limit; /* of the occupancy, which does not go by the grid */
}

double ids_tail_share(const struct ids_shape *shape) {
    double whole = ceil(shape->waves), blocks = shape->waves * shape->blocks_at_once; /* of a multiprocessor */
    if (shape->waves > 1) return (whole - shape->waves) / whole;
    return blocks < 1 ? 1 - blocks : 0;
}
