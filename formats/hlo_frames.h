/* hlo_frames.h - a program's stack frames (xla.StackFrameIndexProto) into its graph. */
#ifndef IDS_FORMATS_HLO_FRAMES_H
#define IDS_FORMATS_HLO_FRAMES_H

#include "lib/hlo/module.h"
#include "lib/wire/pb_wire.h"

/* 0 or IDS_NOMEM. Frames that are malformed, or more than the graph takes, leave it without any, and its frames_lost
 * is 1. */
int ids_hlo_frames_read(struct ids_pb bytes, struct ids_hlo_module *module, struct ids_error *err);

#endif
