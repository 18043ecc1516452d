#include "lib/analysis/matrix_unit.h"

#include "lib/hlo/element.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The number behind "v" of "TPU v6 Lite", "TPU v5e", "TPU7x"; 0 unknown. */
static long generation_of(const char *model) {
    const char *at = strcasestr(model, "TPU");
    if (!at) return 0;
    at += strcspn(at, "0123456789");
    return *at ? strtol(at, NULL, 10) : 0;
}

struct ids_matrix_unit ids_matrix_unit_of(const struct ids_trace *trace, const struct ids_device *device,
                                          uint32_t element) {
    int bits = element ? ids_hlo_element_bits(element) : 0;
    if (device->kind == IDS_DEVICE_TPU) {
        int64_t width = generation_of(ids_trace_text(trace, device->model)) >= 6 ? 256 : 128;
        return (struct ids_matrix_unit){8, width, width};
    }
    if (device->kind != IDS_DEVICE_GPU || bits <= 0 || bits > 128) return (struct ids_matrix_unit){0, 0, 0};
    return (struct ids_matrix_unit){128 / bits, 128 / bits, 128 / bits};
}

static double full(int64_t size, int64_t width) {
    return (double)size / (ceil((double)size / (double)width) * (double)width);
}

double ids_padding_of(const struct ids_product_size *product, const struct ids_matrix_unit *unit) {
    if (product->rows <= 0 || product->columns <= 0 || product->depth <= 0 || unit->rows <= 0) return 0;
    return 1 -
           full(product->rows, unit->rows) * full(product->columns, unit->columns) * full(product->depth, unit->depth);
}
