#include "collectors/common/sampling_pace.h"

enum { SECOND_NS = 1000000000 };
enum { DENSE_TIMES = 4, DENSE_RATE = 2000 };
/* The first milliseconds may be all of a window. */
enum { OPENING_NS = 4000000, OPENING_TIMES = 16, OPENING_RATE = 8000 };

/* `times` as often, but above the limit no more often than was asked for. */
static int64_t faster(int64_t rate, int64_t times, int64_t limit) {
    int64_t fast = times * rate < limit ? times * rate : limit;
    return fast > rate ? fast : rate;
}

int64_t ids_sampling_period(int64_t rate, int64_t past_ns) {
    if (past_ns < OPENING_NS) return SECOND_NS / faster(rate, OPENING_TIMES, OPENING_RATE);
    return SECOND_NS / (past_ns < IDS_SAMPLING_DENSE_NS ? faster(rate, DENSE_TIMES, DENSE_RATE) : rate);
}

/* Marsaglia's xorshift. */
int64_t ids_sampling_next(int64_t period_ns, uint32_t *random) {
    *random ^= *random << 13;
    *random ^= *random >> 17;
    *random ^= *random << 5;
    return period_ns / 2 + (int64_t)((uint64_t)period_ns * (*random >> 16) >> 16);
}
