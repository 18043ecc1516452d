/* matrix_unit.h - of which sizes a device's matrix unit multiplies. */
#ifndef IDS_LIB_ANALYSIS_MATRIX_UNIT_H
#define IDS_LIB_ANALYSIS_MATRIX_UNIT_H

#include "lib/model/trace.h"

/* What the sizes of a product are filled up to. TPU: the unit is as wide as it is deep, 256 from v6 on, else 128, and
 * takes 8 rows at a time. GPU: a load of 16 bytes, 8 numbers of bf16. A CPU has none (0). */
struct ids_matrix_unit {
    int64_t rows, columns, depth;
};
struct ids_matrix_unit ids_matrix_unit_of(const struct ids_trace *trace, const struct ids_device *device,
                                          uint32_t element);
/* What of the product is padding there: 0 to below 1. */
double ids_padding_of(const struct ids_product_size *product, const struct ids_matrix_unit *unit);

#endif
