/* host_time.h - who owns a moment at which a device does nothing: the host before the launch of the next work, the
 * device after it.
 *
 * The host's part is swept, not judged as a whole. At each moment the innermost activity counts: of the thread that
 * launched, else of the threads whose events made it launch, else of the program's own thread. The program's own thread
 * has the step annotations or the calls of jitted functions; autograd threads and queues of the runtime launch for it.
 */
#ifndef IDS_LIB_ANALYSIS_HOST_TIME_H
#define IDS_LIB_ANALYSIS_HOST_TIME_H

#include "lib/analysis/device_sweep.h"
#include "lib/analysis/idle_names.h"
#include "lib/analysis/ledger.h"

struct ids_host_time;

int ids_host_time_new(const struct ids_analysis *analysis, struct ids_host_time **ret_time, struct ids_error *err);
void ids_host_time_free(struct ids_host_time *time);
/* One that another thread of this program asks. The first one has to stay. */
int ids_host_time_lend(const struct ids_host_time *time, struct ids_host_time **ret_lent, struct ids_error *err);

/* A part of a stretch without activity. */
struct ids_idle_part {
    int64_t from_ps, to_ps;
    uint8_t account, known;
    uint32_t name;                 /* of idle_names.h */
    const struct ids_event *event; /* the launch, where it is its doing; NULL */
};

/* Of the names of parts. */
struct ids_idle_names *ids_host_time_names(struct ids_host_time *time);

/* What the host of `busy` does for more than half of [from, to), by the program's thread: "host.sync
 * hipMemcpyWithStream"; length 0: nothing that is known, or many things. The text lives as long as the host time. */
struct ids_text ids_host_time_meanwhile(struct ids_host_time *time, const struct ids_busy *busy, int64_t from_ps,
                                        int64_t to_ps);

/* What a callback of the host did in a stretch in which its op is all that is booked on the device: the Python that was
 * recorded inside it, else the op itself. 0, or a code of `visit`. */
int ids_host_time_call_back(struct ids_host_time *time, const struct ids_stretch *stretch,
                            int (*visit)(void *context, const struct ids_idle_part *part, struct ids_error *err),
                            void *context, struct ids_error *err);

/* Divides a stretch in which the device of `busy` has no activity and no copy runs. 0, or a code of `visit`. */
int ids_host_time_divide(struct ids_host_time *time, const struct ids_busy *busy, const struct ids_stretch *stretch,
                         int (*visit)(void *context, const struct ids_idle_part *part, struct ids_error *err),
                         void *context, struct ids_error *err);

#endif
