/* op_text.h - what the text of a TPU op says: "%fusion.3 = f32[8,128]{1,0:T(8,128)} fusion(f32[8]{0} %p.1), kind=kLoop,
 * calls=%f.2".
 */
#ifndef IDS_LIB_HLO_OP_TEXT_H
#define IDS_LIB_HLO_OP_TEXT_H

#include "lib/base/intern.h"
#include "lib/hlo/shape.h"

/* The shape of the result without layouts, "f32[8,128]"; a long one is cut as in shape.h. Returns its length,
 * 0 when the text is no op. */
enum { IDS_HLO_TEXT_SHAPE = IDS_HLO_SHAPE_TEXT };
size_t ids_hlo_text_shape(struct ids_text text, char shape[IDS_HLO_TEXT_SHAPE]);

/* Where the shape of the result begins; NULL when the text is no op. */
const char *ids_hlo_text_body(struct ids_text text);

/* A number that another compilation gives to the same op too: of the text without names of operands and computations,
 * layouts, metadata and backend configuration, with the op's own name without its number (fusions of equal shapes
 * differ in their bodies, which the text does not show, and mostly in their names). 0 when the text is no op. */
uint64_t ids_hlo_text_fingerprint(struct ids_text text);

/* Reads one array's shape "f32[5,1024]{1,0:T(8,128)S(5)}" at *at: its bytes (-1 unknown) and whether it lies in host
 * memory. 0, or -1 when there is none. */
int ids_hlo_array_shape(const char **at, const char *end, int64_t *ret_bytes, int *ret_on_host);

#endif
