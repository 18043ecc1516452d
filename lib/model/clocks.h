/* clocks.h - one clock for all hosts of a run.
 *
 * Each host of a run (each rank of a Kineto job) has a file with times of its own clock. ids_builder_finish() aligns
 * them, before windows and steps are computed:
 *
 * - Hosts that ran collectives together are tied by them, because a collective ends on all devices at nearly the same
 *   moment (clock_tie.h). The offset that remains - the residual - says how exact such an end is.
 * - Else recorded clocks count (profile_start_time, baseTimeNanoseconds, times since 1970), where both hosts have one,
 *   less than a day apart, and what was recorded then lies at one time, to a second.
 * - Else a host stays apart: its own first device activity lies at the run's, and it has a clock number of its own.
 *   Windows and steps are made for each clock number, and no figure compares times of two.
 *
 * How to use it. All times of a trace are aligned already, and trace->hosts[h].shift_ps is what was added to the times
 * of the file. `ids_on_one_clock` says whether the times of two devices may be compared. A time between two hosts is
 * only as exact as `ids_clock_doubt_ps`. lib/analysis/meetings.h says who came last to a collective.
 */
#ifndef IDS_LIB_MODEL_CLOCKS_H
#define IDS_LIB_MODEL_CLOCKS_H

#include "lib/model/trace.h"

/* Brings all hosts to the clock of the first whose clock is recorded, or else the first, and fills ids_host.clock and
 * trace->clock_count. Leaves a warning where the residual is longer than the shortest collective, and where hosts with
 * devices stay apart. The trace is whole and in order. */
int ids_clocks_align(struct ids_trace *trace, struct ids_error *err);

/* How much is to be added to the times of a host whose file begins at `start_unix_ns`, where the run's first began at
 * `origin_unix_ns`; 0 where that is more than a day, which no run is. */
int64_t ids_clock_recorded_shift(int64_t start_unix_ns, int64_t origin_unix_ns);

static inline uint32_t ids_clock_of_device(const struct ids_trace *trace, const struct ids_device *device) {
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): callers have a device; the analyzer loses their counts */
    return trace->hosts[device->host].clock.number;
}
static inline int ids_on_one_clock(const struct ids_trace *trace, const struct ids_device *a,
                                   const struct ids_device *b) {
    return ids_clock_of_device(trace, a) == ids_clock_of_device(trace, b);
}
/* How far a moment of one device may be off against one of the other: 0 on one host; -1 unknown, or clocks that do
 * not compare. */
int64_t ids_clock_doubt_ps(const struct ids_trace *trace, const struct ids_device *a, const struct ids_device *b);

#endif
