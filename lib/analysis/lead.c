#include "lib/analysis/lead.h"

#include "lib/base/saturate.h"
#include "lib/base/vec.h"
#include "lib/model/account.h"

#include <stdlib.h>

void ids_lead_begin(struct ids_lead *lead) {
    lead->wait = lead->turn = 0;
    lead->waited = IDS_NONE;
    lead->lost_ps = 0;
    lead->gap_from_ps = INT64_MIN;
}

void ids_lead_done(struct ids_lead *lead) {
    free(lead->waits);
}

static int list_waits(struct ids_lead *lead, const struct ids_trace *trace, const struct ids_timeline *timeline) {
    lead->timeline = NULL;
    lead->wait_count = 0;
    for (size_t turn = 0; turn < timeline->count; turn++) {
        if (trace->doings[timeline->doing[turn]].account != IDS_HOST_SYNC) continue;
        if (!lead->wait_count || lead->waits[lead->wait_count - 1].end != turn) {
            struct ids_lead_wait *fresh = IDS_PUSH(lead->waits, lead->wait_count, lead->wait_room);
            if (!fresh) return -1;
            fresh->first = turn;
        }
        lead->waits[lead->wait_count - 1].end = turn + 1;
    }
    lead->timeline = timeline;
    return 0;
}

static void take(struct ids_lead *lead, uint32_t doing, size_t end, int64_t waited_ps) {
    const int64_t *from_ps = lead->timeline->from_ps;
    while (lead->wait < lead->wait_count && lead->waits[lead->wait].first < end) lead->wait++;
    /* What the host takes from there to its next wait, where it waits again. */
    int64_t until_next_ps =
        lead->wait < lead->wait_count ? ids_sat_sub(from_ps[lead->waits[lead->wait].first], from_ps[end]) : INT64_MAX;
    lead->waited = doing;
    lead->lost_ps = until_next_ps <= waited_ps ? waited_ps : 0;
    lead->turn = end;
}

int ids_lead_come(struct ids_lead *lead, const struct ids_trace *trace, const struct ids_timeline *timeline,
                  int64_t gap_from_ps) {
    if (lead->timeline != timeline && list_waits(lead, trace, timeline)) return -1;
    lead->gap_from_ps = gap_from_ps;
    while (lead->wait < lead->wait_count) {
        const struct ids_lead_wait *wait = &lead->waits[lead->wait];
        if (wait->end == timeline->count || timeline->from_ps[wait->end] > gap_from_ps)
            break; /* the gap begins in it */
        take(lead, timeline->doing[wait->first], wait->end,
             ids_sat_sub(timeline->from_ps[wait->end], timeline->from_ps[wait->first]));
    }
    return 0;
}

void ids_lead_take(struct ids_lead *lead, uint32_t doing, size_t first, size_t end) {
    if (lead->turn == end) return; /* the gap was here before */
    take(lead, doing, end, ids_sat_sub(lead->gap_from_ps, lead->timeline->from_ps[first]));
}
