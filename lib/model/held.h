/* held.h - what lives on devices by the calls that made it, out of device memory profiles. */
#ifndef IDS_LIB_MODEL_HELD_H
#define IDS_LIB_MODEL_HELD_H

#include "lib/model/trace.h"

struct ids_held {
    struct ids_held_info info; /* its pointer is void */
    size_t first_frame;        /* of ids_trace.held_frames */
};

/* Beyond them stacks, and then samples, are left out; the sums of what is left out go to the last sample. */
enum { IDS_HELD_MOST = 1 << 18, IDS_HELD_FRAMES_MOST = 1 << 21 };

/* 0, or -1 when memory ran out. */
int ids_held_add(struct ids_trace *trace, const struct ids_held_info *info);

#endif
