/* op_remedy.h - what to do about an op that the program need not have, where the op itself tells it. */
#ifndef IDS_ANALYZERS_OP_REMEDY_H
#define IDS_ANALYZERS_OP_REMEDY_H

/* `name`: of the instruction ("bitcast_concatenate_fusion"); `op_name`: its place in the program of JAX
 * ("jit(step)/cache/concatenate"); either may be NULL. NULL: nothing is known. */
const char *ids_op_remedy(const char *name, const char *op_name);

#endif
