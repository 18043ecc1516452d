/* hlo_loop.h - what XLA wrote about a while loop into its backend_config: JSON of xla.WhileLoopBackendConfig,
 * {"known_trip_count":{"n":"4"},"known_induction_variable":{"tuple_index":"0"},...}. */
#ifndef IDS_FORMATS_HLO_LOOP_H
#define IDS_FORMATS_HLO_LOOP_H

#include "lib/hlo/module.h"

/* Returns 1 when it says anything about the loop; 0 when it does not, is no JSON, or memory for it could not be had. */
int ids_hlo_loop_read(struct ids_text config, struct ids_hlo_loop *ret_loop);

#endif
