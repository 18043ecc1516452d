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

/* Before the first stretch of a device, whose stretches come in their order. */
void ids_host_time_begin(struct ids_host_time *time);

/* What the program's own thread of the host of `busy` did; NULL: there is none. */
const struct ids_timeline *ids_host_time_program(const struct ids_host_time *time, const struct ids_busy *busy);

/* A part of a stretch without activity. */
struct ids_idle_part {
    int64_t from_ps, to_ps;
    uint8_t account, known;
    uint32_t name;                 /* of idle_names.h */
    const struct ids_event *event; /* the launch, where it is its doing; NULL */
};

/* Who is told. 0, or a code of its own, which ends the division. */
struct ids_idle_visitor {
    int (*part)(void *context, const struct ids_idle_part *part, struct ids_error *err);
    /* What a thread did in a gap that is not short, from turn number *turn on, in which `from_ps` is: takes those that
     * are told as they are (ids_is_told_as_it_is) and end until `to_ps`, or some of them, and *turn becomes the first
     * that it did not take. A loop of the program turns a thousand times while each device waits. */
    int (*turns)(void *context, const struct ids_timeline *timeline, size_t *turn, int64_t from_ps, int64_t to_ps,
                 struct ids_error *err);
    void *context;
};

/* Whether what a thread does in a gap that is not short is the part of that account, recorded, whatever the device
 * waits for: neither the price of a launch nor a wait. */
static inline int ids_is_told_as_it_is(const struct ids_doing *doing) {
    if (doing->account == IDS_HOST_PYTHON && doing->launches) return 0;
    return doing->account != IDS_NO_ACCOUNT && doing->account != IDS_HOST_DISPATCH && doing->account != IDS_HOST_SYNC &&
           (doing->waits == IDS_WAITS_NOT || doing->waits == IDS_WAITS_FOR_CORE);
}
/* The name of that part. */
static inline uint32_t ids_name_as_it_is(uint32_t number, const struct ids_doing *doing) {
    return ids_name_of_doing(number, doing->account == IDS_HOST_RUNTIME ? IDS_AS_CALL : IDS_AS_IT_IS);
}

/* Of the names of parts. */
struct ids_idle_names *ids_host_time_names(struct ids_host_time *time);
/* What launched it, with its place in the program; IDS_NAME_OF_NOBODY where that is not recorded. */
uint32_t ids_host_time_name_of_launch(const struct ids_host_time *time, const struct ids_event *launched);

/* What the host of `busy` does for more than half of [from, to), by the program's thread: a doing, IDS_NO_DOING where
 * it is nothing that is known, or many things. */
uint32_t ids_host_time_mostly(const struct ids_host_time *time, const struct ids_busy *busy, int64_t from_ps,
                              int64_t to_ps);
/* The same in words: "host.sync hipMemcpyWithStream"; length 0: nothing that is known, or many things. The text
 * lives as long as the host time. */
struct ids_text ids_host_time_meanwhile(struct ids_host_time *time, const struct ids_busy *busy, int64_t from_ps,
                                        int64_t to_ps);

/* What a callback of the host did in a stretch in which its op is all that is booked on the device: the Python that was
 * recorded inside it, else the op itself. 0, or a code of the visitor. */
int ids_host_time_call_back(struct ids_host_time *time, const struct ids_stretch *stretch,
                            const struct ids_idle_visitor *visitor, struct ids_error *err);

/* Divides a stretch in which the device of `busy` has no activity and no copy runs. 0, or a code of the visitor. */
int ids_host_time_divide(struct ids_host_time *time, const struct ids_busy *busy, const struct ids_stretch *stretch,
                         const struct ids_idle_visitor *visitor, struct ids_error *err);

#endif
