/* stacks.h - samples what each Python thread of the process runs, while a window is open.
 *
 * A thread of our own reads the stacks at a fixed rate without Python's lock (python_stack.h): the program does not
 * notice it, and a call that holds the lock for long is seen while it runs. It needs nothing of Python that could wait,
 * so a window may open and close at any moment, also while Python begins or ends. One sampler for a process. */
#ifndef IDS_COLLECTORS_COMMON_STACKS_H
#define IDS_COLLECTORS_COMMON_STACKS_H

#include "collectors/common/core_users.h"

#include <stddef.h>
#include <stdint.h>

/* What a window's sampling came to. */
struct ids_stacks_counts {
    int64_t rate;                     /* samples a second that were asked for */
    int64_t samples, threads;         /* threads that ran Python */
    int64_t late;                     /* samples that came later than one period after they were due */
    int64_t dropped;                  /* stacks for which there was no room */
    int64_t still;                    /* how often a thread had not run since the sample before, and was not read */
    int64_t cpu_ns, begin_ns, end_ns; /* cpu_ns: of the sampling thread */
    int64_t dense, dense_end_ns;      /* samples at the begin of the window, which come more often, and until when */
    int64_t running_step;             /* in whose middle the window opened; -1: none */
    int64_t slow_step;                /* for which the window is kept; -1: none */
    int64_t others_ran_ns, others_waited_ns; /* of the threads that run no Python (other_threads.h); 0 unknown */
    int64_t next_step_ns;                    /* when the step began that ended the window; 0: none did */
    struct ids_core_shares cores;            /* who had them */
};

/* What is known of a window when it is written. */
struct ids_stacks_window {
    int64_t slow_step, next_step_ns; /* as in the counts */
};

/* Begins to sample, `rate` times a second, and more often at first. `running_step` is in its middle, -1: none. 1; 0:
 * there is no Python here; -1 with the reason. */
int ids_stacks_start(int64_t rate, int64_t running_step, char *why, size_t why_size);
/* This thread (its pthread_t) is none of the program's, and what it runs of Python is ours: it is left out of the
 * samples until this is called with 0, which it does before it ends: then its number may become that of another
 * thread. */
void ids_stacks_leave_out(uint64_t pthread);
/* Ends it. 1 when it ran. */
int ids_stacks_stop(struct ids_stacks_counts *ret_counts);
/* Appends the plane of what was sampled to the XSpace in `path`, and forgets it. Path NULL: only that. 0, or -1 with
 * the reason. */
int ids_stacks_write(const char *path, const struct ids_stacks_window *window, char *why, size_t why_size);
/* In the child of a fork: nothing runs there. */
void ids_stacks_forked(void);

/* Whether stacks of this process's Python could be sampled: as ids_stacks_start. */
int ids_stacks_can(char *why, size_t why_size);

#endif
