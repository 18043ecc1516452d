/* scope.h - a framework's name of an op (OpMetadata.op_name) as a path of scopes:
 * "jit(train_step)/transpose(jvp(layer1))/dot_general".
 */
#ifndef IDS_LIB_HLO_SCOPE_H
#define IDS_LIB_HLO_SCOPE_H

/* The user's named scopes and functions out of such a name, "layer1" above: without the outermost function, the
 * primitive, and what jax itself puts there (while, body, remat ...). "" when there is none. */
enum { IDS_SCOPE_BYTES = 128 };
void ids_scope_of(const char *op_name, char scope[IDS_SCOPE_BYTES]);

/* "backward": transposed by automatic differentiation, or a custom_vjp's backward rule; "custom vjp": as jax marks
 * it; "forward": linearized; "": none of these. */
const char *ids_pass_of(const char *op_name);

#endif
