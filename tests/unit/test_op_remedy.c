/* analyzers/op_remedy: what the op itself tells, by its place in the program, or its name where that is not known. */
#include "analyzers/op_remedy.h"
#include "tests/support/suite.h"

#include <string.h>

/* What the remedy says; NULL: nothing is known of the op. */
static const struct {
    const char *name, *op_name, *says;
} table[] = {
    {"bitcast_concatenate_fusion", "jit(step)/cache_update/concatenate", "dynamic_update_slice"},
    {"stack.33", "jit(policy)/frame_stack/stack", "dynamic_update_slice"},
    {"fusion.1", "jit(f)/jit(_pad)/pad", "dynamic_update_slice"},
    {"compare_convert_fusion", "jit(step)/embed/jit(_one_hot)/convert_element_type", "table[ids]"},
    {"concatenate.7", NULL, "dynamic_update_slice"},
    {"loop_concatenate_fusion", "", "dynamic_update_slice"},
    /* jnp.array's copy of an array of numpy's; other ops, and programs, of that name */
    {"copy", "jit_stage", "once before the loop"},
    {"add.1", "jit_stage", NULL},
    {"copy", "jit_stage2", NULL},
    {"copy", "jit(stage)/copy", NULL},
    /* a fusion with another root than what is put together in it; a scope that is called so; parts of names */
    {"add_concatenate_fusion", "jit(step)/mlp/add", NULL},
    {"dot.1", "jit(step)/stack/dot_general", NULL},
    {"add.1", "jit(step)/my_stack", NULL},
    {"dot.1", "jit(step)/attn/dot_general", NULL},
    {NULL, NULL, NULL},
};

START_TEST(the_op_tells_what_to_do) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const char *said = ids_op_remedy(table[i].name, table[i].op_name);
        int is_right = table[i].says ? said && strstr(said, table[i].says) : !said;
        ck_assert_msg(is_right, "row %zu says '%s'", i, said ? said : "nothing");
    }
}
END_TEST

IDS_RUN_SUITE("op_remedy", the_op_tells_what_to_do)
