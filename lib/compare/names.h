/* names.h - what names of ops and kernels say: the part that another compilation keeps, the user's scope, forward or backward, the family.
 */
#ifndef IDS_LIB_COMPARE_NAMES_H
#define IDS_LIB_COMPARE_NAMES_H

#include <stddef.h>

/* "fusion" of "fusion.3" and "fusion.3.1", "loop_add_fusion" of "loop_add_fusion_12": the length of the name without its numbers. */
size_t ids_base_name(const char *name);

/* The user's named scopes and functions out of a framework's name, "layer1" of "jit(train_step)/transpose(jvp(layer1))/dot_general"; without the outermost
 * function, the primitive, and what jax itself puts there (while, body, remat ...). "" when there is none. */
enum { IDS_SCOPE_BYTES = 128 };
void ids_scope_of(const char *op_name, char scope[IDS_SCOPE_BYTES]);

/* "backward" of what automatic differentiation transposed, or a custom_vjp's backward rule; "custom vjp" where jax says so;
 * "forward" of what it linearized; "" when it says neither. */
const char *ids_pass_of(const char *op_name);

/* A family of kernels or ops: "matrix product", "convolution", "fusion", "collective", "copy" ... */
const char *ids_family_of(const char *name, const char *category, const char *event_class);

#endif
