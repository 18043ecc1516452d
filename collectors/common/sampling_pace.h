/* sampling_pace.h - when the next sample of the stacks is due. */
#ifndef IDS_COLLECTORS_COMMON_SAMPLING_PACE_H
#define IDS_COLLECTORS_COMMON_SAMPLING_PACE_H

#include <stdint.h>

/* A window of a few short steps would get a handful of samples: for so long they come more often. */
enum { IDS_SAMPLING_DENSE_NS = 40000000 };

/* After so long a window has samples enough, and what one costs counts: the rate is held where a sample takes so much
 * CPU time, and where it takes more they come less often, down to half of it. In a virtual machine a timer and two
 * turns of a core alone take 12 to 30 us, whatever is read. While no thread runs, every second sample is left out. */
enum { IDS_SAMPLING_FULL_NS = 200000000, IDS_SAMPLING_COST_NS = 10000, IDS_SAMPLING_SLOWER = 2 };

/* What the last samples say of the next one. */
struct ids_sampling_last {
    int64_t cost_ns; /* CPU time of a sample; 0: unknown */
    int is_still;    /* no thread had run since the one before */
};

/* The usual time between two samples at `rate` a second, so long after the sampling began. */
int64_t ids_sampling_period(int64_t rate, int64_t past_ns, struct ids_sampling_last last);
/* Half to one and a half times that, by chance: steps that take as long as a period, or a whole part of it, would be
 * seen at the same place again and again. *random is any number but 0 at first. */
int64_t ids_sampling_next(int64_t period_ns, uint32_t *random);

#endif
