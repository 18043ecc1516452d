/* kept_arguments.h - which arguments of a program are not donated although a result replaces them: it has their shape
 * and is made out of them, element by element, in a part, or by a loop, by however many of these in a row. A gradient
 * has the shape of its parameter too, and is made out of products; it does not replace it. */
#ifndef IDS_LIB_HLO_KEPT_ARGUMENTS_H
#define IDS_LIB_HLO_KEPT_ARGUMENTS_H

#include "lib/hlo/program_memory.h"

/* Fills memory->kept. 0, or -1 when memory ran out. */
int ids_hlo_kept_arguments(const struct ids_hlo_module *module, struct ids_hlo_program_memory *memory);

/* Whether an argument is called as what a step replaces: "params", "opt_state", "kv_cache". */
int ids_hlo_is_state(struct ids_text name);

#endif
