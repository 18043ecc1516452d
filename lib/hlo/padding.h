/* padding.h - what of a matrix product, and of the arrays that an instruction reads and writes, could be padding.
 *
 * A matrix unit multiplies blocks of a width of its own, and a TPU keeps arrays in tiles ("T(8,128)"): what is smaller
 * is filled up. How wide the unit is depends on the device, so that a product is told by its three sizes here.
 */
#ifndef IDS_LIB_HLO_PADDING_H
#define IDS_LIB_HLO_PADDING_H

#include "lib/hlo/module.h"

/* [rows,depth] times [depth,columns], once or for each matrix of a batch. Columns are the side on which the result's
 * fastest dimension lies; several dimensions of one side are taken together, because XLA may merge them. */
struct ids_hlo_product {
    int64_t rows, columns, depth; /* 0: there is none, or it is not known */
};

/* Of a dot, a convolution or a library's product; of a fusion, of the one inside that has most operations. *effort
 * grows by what was looked at, as of ids_hlo_convolution_flops; above IDS_HLO_EFFORT_LIMIT nothing is told. */
struct ids_hlo_product ids_hlo_product_of(const struct ids_hlo_module *module, uint32_t instruction, uint64_t *effort);

/* Operands and result. The layouts were read; both are 0 where no array has tiles, or a size is not known. */
struct ids_hlo_tiled {
    int64_t bytes, tiled; /* without and with what their tiles add */
};
struct ids_hlo_tiled ids_hlo_tiled_of(const struct ids_hlo_module *module, uint32_t instruction);

#endif
