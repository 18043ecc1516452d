/* shape.h - shapes of HLO values: how many bytes they have, and as HLO text writes them. */
#ifndef IDS_LIB_HLO_SHAPE_H
#define IDS_LIB_HLO_SHAPE_H

#include "lib/hlo/module.h"

/* Sets bytes and fingerprint of every shape of the module. */
void ids_hlo_measure_shapes(struct ids_hlo_module *module);

/* "f32[256,256]", "(f32[2], s32[])"; a long one is cut and ends in "... of 32 arrays". With layouts, where the module
 * has them: "f32[256,256]{1,0:T(8,128)S(5)}". Returns the length; 0 when the shape is not known. */
enum { IDS_HLO_SHAPE_TEXT = 128 };
size_t ids_hlo_shape_text(const struct ids_hlo_module *module, uint32_t shape, int with_layout,
                          char text[IDS_HLO_SHAPE_TEXT]);
/* The end of a text that is cut: the parts of the tuple, which a count of those that are there would miss. 0: it is
 * none, and the text ends in "...". */
void ids_hlo_shape_cut(char text[IDS_HLO_SHAPE_TEXT], size_t parts);

#endif
