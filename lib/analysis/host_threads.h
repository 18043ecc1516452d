/* host_threads.h - which threads of a host say what it did before a launch.
 *
 * First the thread that launched, then the threads whose events made it launch, last the program's own thread: the one
 * with the step annotations or the calls of jitted functions, because autograd threads and queues of the runtime launch
 * for it.
 */
#ifndef IDS_LIB_ANALYSIS_HOST_THREADS_H
#define IDS_LIB_ANALYSIS_HOST_THREADS_H

#include "lib/analysis/recording.h"
#include "lib/analysis/wakers.h"
#include "lib/model/trace.h"

/* In the order in which they are asked. A track that reports compilations (jax.monitoring) comes before the thread
 * that compiled. */
enum { IDS_ASKED_THREADS = 12 };
struct ids_asked_threads {
    uint32_t at[IDS_ASKED_THREADS]; /* indices of ids_trace.tracks */
    uint8_t is_told[IDS_ASKED_THREADS];
    int count;
};

struct ids_host_threads {
    const struct ids_trace *trace;
    uint32_t *program; /* by host: its program's own track; IDS_NONE */
    uint32_t *told_of; /* by track: the track that tells of its compilations; IDS_NONE */
    struct ids_recorded
        *events, /* by host: from its file's first event to the last, or as long as its profile was to last: before and
                  * after that its profiler was not open */
        *frames; /* by host: from the first to the last Python frame of its program's thread */
    uint32_t *python; /* tracks of threads that run Python, by host; NULL: nobody asked yet */
    size_t python_count;
    uint32_t *holders;        /* by track: who has what it waits for; IDS_NONE: not asked yet; NULL: nobody asked */
    struct ids_wakers wakers; /* of locks that are waited for */
    uint32_t waits;           /* the track that was asked about last, whose waits mostly follow each other */
    struct ids_asked_threads asked; /* of `launch` */
    const struct ids_event *launch;
    int is_lent; /* the tables by host and track are another one's */
};

/* 0, or -1 when memory ran out; ids_host_threads_done may be called in both cases. */
int ids_host_threads_find(struct ids_host_threads *threads, const struct ids_trace *trace);
void ids_host_threads_done(struct ids_host_threads *threads);
/* One that another thread of this program asks. The first one has to stay. */
void ids_host_threads_lend(const struct ids_host_threads *threads, struct ids_host_threads *ret_lent);

/* The threads to ask about a launch of a host's device, NULL: of none. Valid until the next are asked for. */
const struct ids_asked_threads *ids_host_threads_of(struct ids_host_threads *threads, const struct ids_event *launch,
                                                    uint32_t host);

/* What other threads of the host do at a moment, of those that run Python and do not wait themselves. */
struct ids_other_doing {
    uint32_t doing; /* one with a function of the program, if there is any; IDS_NO_DOING: none of them does anything */
    int count;      /* how many do something */
    double score;   /* what speaks for it that this ends such waits, as a logarithm; 0: nothing */
    int is_unknown; /* others do something, but when they do says of none of them that it ends such waits */
    int has_gil;    /* who ends such waits needs Python's lock, and this one has it */
    int64_t until_ps; /* that long; at most `to` */
};
/* `waiting`: in what the thread `own` waits for another one; IDS_NO_DOING: for Python's own lock. Whoever sleeps, reads
 * a socket or waits for a device may be what is waited for, where its turns say that it ends such waits (wakers.h), but
 * has given Python's own lock back. 0, or -1 when memory ran out. */
int ids_host_threads_beside(struct ids_host_threads *threads, uint32_t host, const struct ids_timeline *own,
                            uint32_t waiting, int64_t from_ps, int64_t to_ps, struct ids_other_doing *ret_other);

/* What another thread usually does while the thread `own` waits for Python's lock, as far as samples saw both:
 * IDS_NO_DOING where they saw too few of such waits, or no function in most of their time. 0, or -1 when memory ran
 * out. */
int ids_host_threads_usual_holder(struct ids_host_threads *threads, const struct ids_timeline *own,
                                  uint32_t *ret_doing);
/* Whether both are of the same function of the program. */
int ids_host_threads_are_of_function(const struct ids_host_threads *threads, uint32_t doing, uint32_t other);

/* Whether the program's thread has Python frames before and after that. */
int ids_host_threads_are_traced(const struct ids_host_threads *threads, uint32_t host, int64_t from_ps, int64_t to_ps);

#endif
