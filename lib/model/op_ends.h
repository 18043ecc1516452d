/* op_ends.h - CPU ops end where their "end:" event begins, maybe on another thread. */
#ifndef IDS_LIB_MODEL_OP_ENDS_H
#define IDS_LIB_MODEL_OP_ENDS_H

#include "lib/model/joinable.h"

/* Of the whole hosts that have the devices and tracks from these on; what reading gathered for it is let go. */
int ids_op_ends_find(struct ids_join *join, struct ids_trace *trace, size_t first_device, size_t first_track,
                     struct ids_error *err);

#endif
