/* runs.h - when executions are complete. */
#ifndef IDS_COLLECTORS_PJRT_RUNS_H
#define IDS_COLLECTORS_PJRT_RUNS_H

#include "collectors/pjrt/pjrt_abi.h"

#include <stddef.h>
#include <stdint.h>

/* Has the completion of an execution that was just enqueued written into its record. `events`: one a device; with
 * `is_ours` they are destroyed here. */
void ids_runs_follow(void *const *events, size_t count, int is_ours, int64_t record, int64_t start_ns);
/* What the agent is told of in this thread, now; NULL: it has been told. */
void ids_runs_about_to(const struct pjrt_execute *step);
/* In a thread that is about to execute a step: follows what makes this step's inputs, so the steps before it. */
void ids_runs_follow_inputs(void);
/* Calls that execute a step of an open window and have not put their record: the agent counts them up
 * (ids_agent_step_call). */
int *ids_runs_calls(void);
void ids_runs_end_call(void);
/* Waits until those calls are over and all that is followed is complete, at most half of the plan's stop_timeout and 10
 * s (of calls, which may wait for us in turn from a host callback: 200 ms). How many are not. */
int ids_runs_wait(void);
/* In the child of a fork. */
void ids_runs_forget(void);

#endif
