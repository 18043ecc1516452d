/* lead.h - how far ahead of its device a host would be, had it not waited for it.
 *
 * A host that launches without waiting gets ahead: what it launches lies in a queue, and the device has no gaps. A wait
 * takes the lead away. All that the host does after it would have been done so much earlier as it had waited while the
 * device worked, and gaps up to that length in all, in which the host does nothing but launch, are the wait's doing:
 * the first one, which begins in the wait, and those after it, until the host waits again. But where the host has more
 * to do until then than it had waited, launching takes too long with and without the wait, and the gaps after the first
 * one are not the wait's.
 */
#ifndef IDS_LIB_ANALYSIS_LEAD_H
#define IDS_LIB_ANALYSIS_LEAD_H

#include "lib/model/trace.h"

struct ids_lead {
    /* Of the thread, with its waits: eight devices come to the same million turns. */
    const struct ids_timeline *timeline;
    struct ids_lead_wait {
        size_t first, end; /* turns */
    } * waits;
    size_t wait_count, wait_room;
    size_t wait;         /* the first one that is not looked at */
    size_t turn;         /* that the last wait ended with */
    uint32_t waited;     /* doing of the last wait; IDS_NONE: there was none */
    int64_t lost_ps;     /* of the lead, what no gap has taken up yet */
    int64_t gap_from_ps; /* the gap that is looked at */
};

/* Before the first gap of a device; of a lead that is all 0, or of another device. */
void ids_lead_begin(struct ids_lead *lead);
void ids_lead_done(struct ids_lead *lead);
/* Comes to the gap that begins at that moment, later than those of the device before it: takes the thread's waits that
 * ended until then, and not one that it is in. The timeline has to stay. 0, or -1 when memory ran out. */
int ids_lead_come(struct ids_lead *lead, const struct ids_trace *trace, const struct ids_timeline *timeline,
                  int64_t gap_from_ps);
/* The gap that it came to begins in a wait of the doing, which goes from the turn `first` to before `end`. */
void ids_lead_take(struct ids_lead *lead, uint32_t doing, size_t first, size_t end);

#endif
