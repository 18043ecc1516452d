/* cost_matrix.h - operations of dots and convolutions, also of a library's that stand in their place. */
#ifndef IDS_LIB_HLO_COST_MATRIX_H
#define IDS_LIB_HLO_COST_MATRIX_H

#include "lib/hlo/module.h"

/* The array of a shape: itself, or the first part of a tuple; NULL when there is none. */
const struct ids_hlo_shape *ids_hlo_array_of(const struct ids_hlo_module *module, uint32_t shape);
/* Its elements; 0 of NULL. */
double ids_hlo_elements(const struct ids_hlo_module *module, const struct ids_hlo_shape *shape);
/* The shape of an operand, IDS_HLO_NONE where it has none. */
uint32_t ids_hlo_operand_shape(const struct ids_hlo_module *module, const struct ids_hlo_instruction *instruction,
                               uint32_t operand);

/* Operations; negative where shapes and dimension numbers do not tell. */
double ids_hlo_dot_flops(const struct ids_hlo_module *module, const struct ids_hlo_instruction *dot);
/* *effort grows by the positions that were looked at; above IDS_HLO_EFFORT_LIMIT nothing more is. */
enum { IDS_HLO_EFFORT_LIMIT = 1 << 26 };
double ids_hlo_convolution_flops(const struct ids_hlo_module *module, const struct ids_hlo_instruction *convolution,
                                 uint64_t *effort);
/* Whether a call's backend_config says that a query sees no later keys. Transformer Engine has NVTE_Mask_Type
 * (transformer_engine/fused_attn.h) among its attributes: 2 to 5 are causal, with padding or from the bottom right or
 * neither. cuDNN's has the name of its MaskType (xla/service/gpu/backend_configs.proto). */
int ids_hlo_is_causal(struct ids_text config);
/* Of cuBLAS, oneDNN, cuDNN and Transformer Engine. */
double ids_hlo_library_flops(const struct ids_hlo_module *module, const struct ids_hlo_instruction *call,
                             uint64_t *effort);

#endif
