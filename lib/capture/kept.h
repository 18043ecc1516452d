/* kept.h - why a window was kept: the line of JSON that the agent wrote beside the profile (IDS_PUBLISH_KEPT). */
#ifndef IDS_LIB_CAPTURE_KEPT_H
#define IDS_LIB_CAPTURE_KEPT_H

#include <stdint.h>

enum { IDS_KEPT_TEXT = 256 };

struct ids_kept {
    char reason[IDS_KEPT_TEXT];
    int64_t step, took_ns, median_ns; /* of its slowest step; 0: there is none */
    int64_t late_ns;                  /* of that step, before the window opened */
    int goes_on;                      /* it had not ended when the program did: it may be none, but what followed */
};

/* What stands beside the profile at `path`: of several processes, the slowest. 0, or -1 when there is nothing. */
int ids_kept_read(const char *path, struct ids_kept *ret_kept);

#endif
