/* earlier_work.h - a device that did nothing as far as the file goes, because what it worked at was launched before the
 * recording began: idle time that nobody can win.
 *
 * A server that launches ahead is recorded from one batch on: its first kernel waits for the batch before, of which the
 * file has nothing but the call that makes a stream wait for it. And what was launched before a recording may run in it
 * for long, one op after the other.
 */
#ifndef IDS_LIB_ANALYSIS_EARLIER_WORK_H
#define IDS_LIB_ANALYSIS_EARLIER_WORK_H

#include "lib/analysis/context.h"
#include "lib/analysis/host_threads.h"

struct ids_earlier_work {
    uint8_t *launched; /* by track: something on it has its launch recorded; NULL: not asked yet */
    size_t seen;       /* how many activities of the device were looked at */
    int is_known;      /* 1: its launches are recorded; -1: many are not; 0: not asked yet */
};

void ids_earlier_work_done(struct ids_earlier_work *work);

/* Whether the activity, whose launch is not recorded, was launched before the recording began: most of the device have
 * theirs, and none before it on its stream. Activities of a device are asked for in their order, `begin` before
 * the first one. -1 when memory ran out. */
void ids_earlier_work_begin(struct ids_earlier_work *work);
int ids_earlier_work_is(struct ids_earlier_work *work, const struct ids_analysis *analysis,
                        const struct ids_device *device, const struct ids_event *activity);

/* The call by which the stream of `next`, its first activity, was made to wait for what the file does not have: what is
 * done by it, IDS_NO_DOING for none. From `from` on it was launched, and nothing ran on the device. */
uint32_t ids_earlier_work_wait(const struct ids_analysis *analysis, const struct ids_busy *busy,
                               const struct ids_asked_threads *threads, const struct ids_event *next, int64_t from_ps);

#endif
