#include "lib/model/hardware.h"

#include <math.h>

static int says(struct ids_text text, const char *word) {
    return ids_text_contains(text, word);
}

/* gfx906, gfx908 and gfx90a all report 9.0; only the last is in the table. */
static int is_gfx90a(struct ids_text model) {
    return says(model, "MI210") || says(model, "MI250") || says(model, "gfx90a");
}

/* Old files of NVIDIA's devices name neither vendor nor model. Of the capabilities below 9.0 AMD has none that still
 * runs, and 9.4 and 9.5 are AMD's alone; others may be of either. */
void ids_hardware_find(const struct ids_trace *trace, struct ids_device *device) {
    struct ids_text vendor = ids_strings_text(&trace->strings, device->vendor),
                    model = ids_strings_text(&trace->strings, device->model);
    int major = device->capability_major, minor = device->capability_minor;
    int is_amd = says(vendor, "AMD") || says(model, "AMD") || says(model, "gfx") || (major == 9 && minor >= 4);
    device->multiprocessor = NULL;
    if (device->kind != IDS_DEVICE_GPU) return;
    if (is_amd) {
        if (major != 9 || minor || is_gfx90a(model)) device->multiprocessor = ids_amd_multiprocessor(major, minor);
    } else if (vendor.length || model.length || major < 9) {
        device->multiprocessor = ids_nvidia_multiprocessor(major, minor);
    }
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
    double whole = ceil(shape->waves);
    return shape->waves > 1 ? (whole - shape->waves) / whole : 0;
}
