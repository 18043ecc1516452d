/* cpu_runs.h - which call launched each execution of the CPU client.
 *
 * The CPU client runs ops on pool threads, and its flows mostly do not lead back to the Python call: where execution n
 * is not over when n + 1 is launched, the worker that ends n queues n + 1, so that a chain of flows leads to the first
 * execution. All that is known of an execution is its run_id, on every op. The launch of a run is the first of these
 * that exists:
 *   1. the host event "CommonPjRtLoadedExecutable::Execute (...)" with that run_id (programs on several devices);
 *   2. the ExecuteHelperOnSingleDevice that the run's first op lies in on its own thread (it ran at once, inline);
 *   3. the ExecuteHelperOnSingleDevice in which the task was queued that the run's first op lies in (nothing ran then);
 *   4. by order: run ids of one program count up by one, so its k-th run belongs to the k-th
 *      ExecuteHelperOnSingleDevice under a PjitFunction of that program's name. Runs that were in flight when the
 *      recording began have no launch in it: runs are paired from the back when there are more of them, and never with
 *      a launch that came after their first op;
 *   5. by order too: the k-th of the runs that are left, of programs no function's name tells of (compiled ahead of
 *      time), belongs to the k-th of the ExecuteHelperOnSingleDevice that are left and tell of no program which ran;
 *      Where nothing is called ExecuteHelperOnSingleDevice, the outermost PjitFunctions stand in its place;
 *   6. the host event around the run's first op; for a task of a thread pool the event that queued it.
 */
#ifndef IDS_LIB_MODEL_CPU_RUNS_H
#define IDS_LIB_MODEL_CPU_RUNS_H

#include "lib/base/keymap.h"
#include "lib/model/trace.h"

/* Sets the launch of every op of the CPU devices. `executions`: run -> host event of rule 1. Host tracks are in order
 * with parents and causes set. */
int ids_cpu_runs_launch(struct ids_trace *trace, const struct ids_keymap *executions, struct ids_error *err);

#endif
