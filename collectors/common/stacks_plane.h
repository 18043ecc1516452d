/* stacks_plane.h - what was sampled, as a plane of a profile: "/host:idsprof.stacks", with a line for each thread that
 * has the number of the thread's own line in the profile. */
#ifndef IDS_COLLECTORS_COMMON_STACKS_PLANE_H
#define IDS_COLLECTORS_COMMON_STACKS_PLANE_H

#include "collectors/common/samples.h"
#include "collectors/common/stacks.h"

struct ids_sampled {
    struct ids_python_codes codes;
    struct ids_samples samples;
};

void ids_sampled_done(struct ids_sampled *sampled);

/* Appends it to the file. 0, or -1 with the reason. */
int ids_stacks_plane_write(const struct ids_sampled *sampled, const struct ids_stacks_counts *counts, int minor,
                           const char *path, char *why, size_t why_size);

#endif
