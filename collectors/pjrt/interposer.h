/* interposer.h - the inside of libidsprof_pjrt.so: what its parts know of each other.
 *
 * interposer.c   GetPjrtApi: finds the plugin, copies its table, puts wrappers in
 * calls.c        the wrappers
 * describe.c     names, sizes and HLO of what was compiled
 * runs.c         completion of executions
 * profiler.c     the wrapped profiler extension
 * session.c      the vendor's session for the agent
 * space.c        what was recorded, as planes of an XSpace
 *
 * One plugin a process is wrapped; a second one is handed out as it is. Nothing here prints or ends the process. The
 * plugin's own functions are always called with the program's arguments, and what they return is what the program gets.
 */
#ifndef IDS_COLLECTORS_PJRT_INTERPOSER_H
#define IDS_COLLECTORS_PJRT_INTERPOSER_H

#include "collectors/common/agent.h"
#include "collectors/pjrt/pjrt_abi.h"

#include <stdatomic.h>

struct ids_pjrt {
    const struct pjrt_table *real;
    const struct pjrt_profiler_table *profiler; /* the plugin's, NULL: it has none that we can drive */
    int handle;                                 /* of the agent; 0: no capture */
    atomic_int clients;                         /* that live */
    atomic_int theirs;                          /* sessions of the plugin's profiler that are open and not ours */
    atomic_int ours;                            /* our session is open */
};
extern struct ids_pjrt ids_pjrt;

/* Whether the plugin has the function. */
int ids_pjrt_has(enum pjrt_entry entry);
/* Calls the plugin. NULL, or the error, which is the caller's to destroy. */
void *ids_pjrt_call(enum pjrt_entry entry, void *arguments);
/* The same for calls of our own: 0; or -1, and the error is destroyed. Where the plugin lacks the function, -1. */
int ids_pjrt_try(enum pjrt_entry entry, void *arguments);
void ids_pjrt_destroy_error(void *error);

/* calls.c: the function to put in place of the plugin's, NULL: none. */
pjrt_function *ids_pjrt_wrapper(enum pjrt_entry entry);
/* In a thread that is about to execute a step: follows (runs.c) what makes this step's inputs, so the steps before
 * it. */
void ids_calls_follow_inputs(void);

/* describe.c. A program for what was compiled, with its name, sizes and HLO. */
uint32_t ids_describe_loaded(void *loaded);
uint32_t ids_describe_executable(void *executable);
void ids_describe_client(void *client);

/* runs.c. Has the completion of an execution that was just enqueued written into its record. `events`: one a device;
 * with `is_ours` they are destroyed here. */
void ids_runs_follow(void *const *events, size_t count, int is_ours, int64_t record, int64_t start_ns);
/* Calls that execute a step of an open window and have not put their record: the agent counts them up
 * (ids_agent_step_call). */
int *ids_runs_calls(void);
void ids_runs_end_call(void);
/* Waits until those calls are over and all that is followed is complete, at most half of the plan's stop_timeout and 10
 * s (of calls, which may wait for us in turn from a host callback: 200 ms). How many are not. */
int ids_runs_wait(void);
void ids_runs_forget(void);

/* profiler.c. A chain with our profiler extension in front, or the plugin's own chain. */
struct pjrt_extension *ids_profiler_wrap(struct pjrt_extension *chain);
/* What an error of the profiler's functions says; destroys it. */
void ids_profiler_error(void *error, const char *what, char *why, size_t why_size);

/* session.c. The collector's callbacks. */
int ids_session_pjrt_register(int is_hooked, char *why, size_t why_size);
void ids_session_forget(void);

/* space.c */
struct ids_space {
    int64_t begin_ns, end_ns; /* records that begin before or after are left out */
    const void *vendor;       /* what the plugin's profiler collected, NULL: nothing */
    size_t vendor_size;
};
/* Appends the vendor's bytes and ours to the file. */
int ids_space_write(const struct ids_space *space, const char *path, struct ids_caught *caught, char *why,
                    size_t why_size);

#endif
