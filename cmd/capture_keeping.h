/* capture_keeping.h - which windows of `idsprof capture` are kept: --when, --keep-slowest, --max-cost; and --every. */
#ifndef IDS_CMD_CAPTURE_KEEPING_H
#define IDS_CMD_CAPTURE_KEEPING_H

#include "collectors/common/plan.h"
#include "lib/base/error.h"

struct ids_capture_keeping {
    const char *when, *max_cost; /* NULL: not given */
    int64_t slowest;             /* -1: not given */
};

/* "when" or "keep-slowest", where windows are judged; NULL: they are not. */
const char *ids_capture_keeping_option(const struct ids_capture_keeping *keeping);
/* Before what opens windows: with a rule they are opened from another step on. */
int ids_capture_keeping_settle(const struct ids_capture_keeping *keeping, struct ids_plan *plan, struct ids_error *err);
/* "100" are steps, "10m" is a time; NULL is neither, and nothing is changed. */
int ids_capture_every(const char *text, int64_t *ret_steps, int64_t *ret_ns, struct ids_error *err);

#endif
