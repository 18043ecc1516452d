/* finish.h - the end of filling the graph of a program (module.h). */
#ifndef IDS_LIB_HLO_FINISH_H
#define IDS_LIB_HLO_FINISH_H

#include "lib/hlo/module.h"

/* Ties operands, calls, roots and the entry to what their ids name, marks the insides of fusions, and computes sizes
 * and fingerprints. 0 or IDS_NOMEM. */
int ids_hlo_module_finish(struct ids_hlo_module *module, struct ids_error *err);

#endif
