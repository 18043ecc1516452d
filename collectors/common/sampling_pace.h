/* sampling_pace.h - when the next sample of the stacks is due. */
#ifndef IDS_COLLECTORS_COMMON_SAMPLING_PACE_H
#define IDS_COLLECTORS_COMMON_SAMPLING_PACE_H

#include <stdint.h>

/* A window of a few short steps would get a handful of samples: for so long they come more often. */
enum { IDS_SAMPLING_DENSE_NS = 40000000 };

/* The usual time between two samples at `rate` a second, so long after the sampling began. */
int64_t ids_sampling_period(int64_t rate, int64_t past_ns);
/* Half to one and a half times that, by chance: steps that take as long as a period, or a whole part of it, would be
 * seen at the same place again and again. *random is any number but 0 at first. */
int64_t ids_sampling_next(int64_t period_ns, uint32_t *random);

#endif
