/* waste_attention.h - attention that is not one kernel, where a framework's ops run one by one. */
#ifndef IDS_LIB_MODEL_WASTE_ATTENTION_H
#define IDS_LIB_MODEL_WASTE_ATTENTION_H

#include "lib/model/waste.h"

/* Sets ids_op.waste of what scales, masks and takes the softmax of scores between two batched products, in the ops that
 * have no waste yet. 0, or -1 when memory ran out. */
int ids_wastes_find_attention(struct ids_trace *trace);

#endif
