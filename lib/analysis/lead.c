#include "lib/analysis/lead.h"

#include "lib/base/saturate.h"
#include "lib/model/account.h"

void ids_lead_begin(struct ids_lead *lead) {
    *lead = (struct ids_lead){.waited = IDS_NONE, .gap_from_ps = INT64_MIN};
}

static int waits(const struct ids_trace *trace, const struct ids_timeline *timeline, size_t turn) {
    return trace->doings[timeline->doing[turn]].account == IDS_HOST_SYNC;
}

/* What the host takes from there to its next wait; INT64_MAX: it does not wait again. */
static int64_t until_next_wait(const struct ids_trace *trace, const struct ids_timeline *timeline, size_t from) {
    size_t next = from;
    while (next < timeline->count && !waits(trace, timeline, next)) next++;
    return next < timeline->count ? ids_sat_sub(timeline->from_ps[next], timeline->from_ps[from]) : INT64_MAX;
}

static void take(struct ids_lead *lead, const struct ids_trace *trace, const struct ids_timeline *timeline,
                 uint32_t doing, size_t end, int64_t waited_ps) {
    lead->waited = doing;
    lead->lost_ps = until_next_wait(trace, timeline, end) <= waited_ps ? waited_ps : 0;
    lead->turn = end;
}

void ids_lead_come(struct ids_lead *lead, const struct ids_trace *trace, const struct ids_timeline *timeline,
                   int64_t gap_from_ps) {
    lead->gap_from_ps = gap_from_ps;
    while (lead->turn + 1 < timeline->count && timeline->from_ps[lead->turn + 1] <= gap_from_ps) {
        size_t first = lead->turn, end = first + 1;
        if (waits(trace, timeline, first)) {
            while (end < timeline->count && waits(trace, timeline, end)) end++;
            if (end == timeline->count || timeline->from_ps[end] > gap_from_ps) return; /* the gap begins in it */
            take(lead, trace, timeline, timeline->doing[first], end,
                 ids_sat_sub(timeline->from_ps[end], timeline->from_ps[first]));
        }
        lead->turn = end;
    }
}

void ids_lead_wait(struct ids_lead *lead, const struct ids_trace *trace, const struct ids_timeline *timeline,
                   uint32_t doing, size_t first, size_t end) {
    if (lead->turn == end) return; /* the gap was here before */
    take(lead, trace, timeline, doing, end, ids_sat_sub(lead->gap_from_ps, timeline->from_ps[first]));
}
