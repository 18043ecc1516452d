#include "analyzers/op_remedy.h"

#include <stddef.h>
#include <string.h>

static const char *last_part_of(const char *op_name) {
    const char *slash = strrchr(op_name, '/');
    return slash ? slash + 1 : op_name;
}

/* A new array of which all but a little is copied from those that are there. */
static int puts_together(const char *name, const char *op_name) {
    static const char *const makers[] = {"concatenate", "stack", "pad"};
    if (!*op_name) return strstr(name, "concatenate") != NULL;
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        if (!strcmp(last_part_of(op_name), makers[i])) return 1;
    }
    return 0;
}

const char *ids_op_remedy(const char *name, const char *op_name) {
    if (!name) name = "";
    if (!op_name) op_name = "";
    /* jax.nn.one_hot is a function of its own in the program. */
    if (strstr(op_name, "_one_hot"))
        return "where it only picks rows of a table by a product, index the table instead (table[ids], jnp.take)";
    if (puts_together(name, op_name))
        return "where it only adds to an array that is kept, or fills one from parts, write the parts into an array "
               "that is allocated once and donated (x.at[i].set, jax.lax.dynamic_update_slice)";
    /* jax._src.lax.stage: the program of a copy, which has no place in a program of the user's. */
    if (!strcmp(op_name, "jit_stage") && !strncmp(name, "copy", 4))
        return "jnp.array and jnp.asarray of an array of numpy's upload it and then copy it: where it is the same in "
               "each step, do that once before the loop, else jax.device_put makes no such copy";
    return NULL;
}
