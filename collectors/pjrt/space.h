/* space.h - what was recorded in a window, as planes of an XSpace. */
#ifndef IDS_COLLECTORS_PJRT_SPACE_H
#define IDS_COLLECTORS_PJRT_SPACE_H

#include "collectors/common/agent.h"

#include <stddef.h>
#include <stdint.h>

struct ids_space {
    int64_t zero_ns;          /* what the times of the planes beside ours count from; 0: from 1970 */
    int64_t begin_ns, end_ns; /* records that begin before or after are left out */
    const void *vendor;       /* what the plugin's profiler collected, NULL: nothing */
    size_t vendor_size;
};
/* Appends the vendor's bytes and ours to the file. */
int ids_space_write(const struct ids_space *space, const char *path, struct ids_caught *caught, char *why,
                    size_t why_size);

#endif
