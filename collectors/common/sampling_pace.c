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

int64_t ids_sampling_period(int64_t rate, int64_t past_ns, struct ids_sampling_last last) {
    if (past_ns < OPENING_NS) return SECOND_NS / faster(rate, OPENING_TIMES, OPENING_RATE);
    if (past_ns < IDS_SAMPLING_DENSE_NS) return SECOND_NS / faster(rate, DENSE_TIMES, DENSE_RATE);
    int64_t period_ns = SECOND_NS / rate;
    if (past_ns < IDS_SAMPLING_FULL_NS) return period_ns;
    if (last.cost_ns >= (int64_t)IDS_SAMPLING_SLOWER * IDS_SAMPLING_COST_NS)
        period_ns *= IDS_SAMPLING_SLOWER;
    else if (last.cost_ns > IDS_SAMPLING_COST_NS)
        period_ns = period_ns * last.cost_ns / IDS_SAMPLING_COST_NS;
    return last.is_still ? 2 * period_ns : period_ns;
}

/* Marsaglia's xorshift. */
int64_t ids_sampling_next(int64_t period_ns, uint32_t *random) {
    *random ^= *random << 13;
    *random ^= *random >> 17;
    *random ^= *random << 5;
    return period_ns / 2 + (int64_t)((uint64_t)period_ns * (*random >> 16) >> 16);
}
