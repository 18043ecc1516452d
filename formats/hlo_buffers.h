/* hlo_buffers.h - a program's buffer assignment (xla.BufferAssignmentProto) into its graph. */
#ifndef IDS_FORMATS_HLO_BUFFERS_H
#define IDS_FORMATS_HLO_BUFFERS_H

#include "lib/hlo/module.h"
#include "lib/wire/pb_wire.h"

/* Sets module->buffers. 0, IDS_NOMEM, IDS_LIMIT, or IDS_CORRUPT when it is malformed. */
int ids_hlo_buffers_read(struct ids_pb bytes, struct ids_hlo_module *module, struct ids_error *err);

#endif
