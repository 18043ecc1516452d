/* scope.h - a framework's name of an op (OpMetadata.op_name) as a path of scopes:
 * "jit(train_step)/transpose(jvp(layer1))/dot_general".
 */
#ifndef IDS_LIB_HLO_SCOPE_H
#define IDS_LIB_HLO_SCOPE_H

#include <stddef.h>

/* The user's named scopes and functions out of such a name, outermost first: "train_step" and "layer1" above. Without
 * the primitive, and without what jax itself puts there (while, body, remat ...). Of several names of one fusion the
 * first counts; what is deeper than IDS_SCOPE_DEPTH belongs to the last scope that has room. */
enum { IDS_SCOPE_DEPTH = 32 };
struct ids_scopes {
    struct ids_scope_part {
        const char *at;
        size_t length;
    } parts[IDS_SCOPE_DEPTH];
    int count;
    int has_function; /* the first one is the outermost function: jit(train_step) */
};
void ids_scopes_of(const char *op_name, struct ids_scopes *ret_scopes);

/* The same as a path, "layer1" above, without the outermost function. "" when there is none. */
enum { IDS_SCOPE_BYTES = 128 };
void ids_scope_of(const char *op_name, char scope[IDS_SCOPE_BYTES]);

/* "recomputed": the forward pass again, under jax.checkpoint; "backward": transposed by automatic differentiation, or a
 * custom_vjp's backward rule; "custom vjp": as jax marks it; "forward": linearized; "": none of these. */
const char *ids_pass_of(const char *op_name);
int ids_is_backward(const char *op_name);

#endif
