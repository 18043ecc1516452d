#include "lib/analysis/lead.h"

#include "lib/base/saturate.h"
#include "lib/model/account.h"

void ids_lead_begin(struct ids_lead *lead) {
    *lead = (struct ids_lead){.waited = IDS_NONE, .gap_from_ps = INT64_MIN};
}

static int waits(const struct ids_trace *trace, const struct ids_timeline *timeline, size_t turn) {
    return trace->doings[timeline->doing[turn]].account == IDS_HOST_SYNC;
}

void ids_lead_come(struct ids_lead *lead, const struct ids_trace *trace, const struct ids_timeline *timeline,
                   int64_t gap_from_ps) {
    lead->gap_from_ps = gap_from_ps;
    while (lead->turn + 1 < timeline->count && timeline->from_ps[lead->turn + 1] <= gap_from_ps) {
        size_t first = lead->turn, end = first + 1;
        if (waits(trace, timeline, first)) {
            while (end < timeline->count && waits(trace, timeline, end)) end++;
            if (end == timeline->count || timeline->from_ps[end] > gap_from_ps) return; /* the gap begins in it */
            lead->waited = timeline->doing[first];
            lead->lost_ps = ids_sat_sub(timeline->from_ps[end], timeline->from_ps[first]);
        }
        lead->turn = end;
    }
}

void ids_lead_wait(struct ids_lead *lead, const struct ids_timeline *timeline, uint32_t doing, size_t first,
                   size_t end) {
    if (lead->turn == end) return; /* the gap was here before */
    lead->waited = doing;
    lead->lost_ps = ids_sat_sub(lead->gap_from_ps, timeline->from_ps[first]);
    lead->turn = end;
}
