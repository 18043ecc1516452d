/* agent.h - the interface between idsprof's agent, of which each profiled process has one, and the collectors in that
 * process.
 *
 * libidsprof_agent.so is one state for all collectors of a process: the Python hook loads it with ctypes when jax is
 * imported, the libraries of other collectors link it. It reads IDSPROF_SESSION and IDSPROF_PLAN when the first
 * collector registers; where they are not set every call here returns at once. It decides when a window opens and
 * closes (window.h), calls the collectors back, puts what they write where TensorBoard looks for it, keeps the
 * process's hello file (hello.h) and answers `idsprof trigger` (control.h). It never prints, never ends the process,
 * and handles no signal.
 *
 * Threads. Every function may be called from any thread. None of them may be called from inside a callback, but for
 * ids_agent_say, ids_agent_rank, ids_agent_plan, ids_agent_state, ids_agent_spell, ids_agent_garbage and
 * ids_agent_entered. The agent holds no lock while a callback runs. `start` runs in the thread that feeds the step or
 * region that opens the window, else (time, trigger) in a thread of the agent's; `stop` and `contribute` always run in
 * a thread of the agent's, while the feeding thread waits for it, at most stop_timeout of the plan: then the program
 * goes on, and the window is written when the vendor's stop returns after all. So a caller from Python must give up the
 * GIL while it calls (ctypes.CDLL does, ctypes.PyDLL does not), and must keep its callback objects for ever.
 *
 * fork: the child begins anew, with no window open and nothing written about it, when one of its threads feeds the
 * agent again; the collectors stay registered. Texts are UTF-8; they are cut where they are too long, never refused.
 */
#ifndef IDS_COLLECTORS_COMMON_AGENT_H
#define IDS_COLLECTORS_COMMON_AGENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IDS_AGENT_API __attribute__((visibility("default")))

/* Grows when a change here is no mere addition at the end of a struct or a new function. */
enum { IDS_AGENT_ABI = 1, IDS_COLLECTORS_MAX = 8, IDS_WHY_BYTES = 512, IDS_BUSY = 2 };

/* Who owns a window when several collectors can: the highest. */
enum { IDS_PRIORITY_CUDA = 10, IDS_PRIORITY_JAX = 20, IDS_PRIORITY_PJRT = 30 };

/* What a window caught. Filled by `stop`; every field is -1 before, which means "not known". */
struct ids_caught {
    int64_t events; /* in the XSpace */
    int64_t drops;  /* that the vendor or the collector lost */
};

struct ids_collector {
    uint32_t size;    /* sizeof(struct ids_collector): a later agent may know more fields */
    int32_t priority; /* IDS_PRIORITY_... */
    const char *name; /* "jax": copied */
    void *context;    /* handed to every callback */
    /* Starts the vendor's session. 0, or nonzero with the reason in `why`: then the next collector is asked. IDS_BUSY:
     * the program uses the vendor's profiler itself, and the window is tried again. */
    int (*start)(void *context, char *why, size_t why_size);
    /* Ends it and writes the XSpace to the file `path`, which exists and is empty; the agent renames it. 0, or nonzero
     * with the reason, after which no session runs any more. With `path` NULL what was caught is thrown away (the
     * end of a warm-up). */
    int (*stop)(void *context, const char *path, struct ids_caught *caught, char *why, size_t why_size);
    /* Appends to `path` what this collector knows of a window that another one owned, as one more serialized XSpace,
     * for these may stand one after the other. begin_ns and end_ns are of CLOCK_REALTIME; zero_ns too: the time
     * that the owner's lines count from, from which those beside it have to count (0: from 1970). NULL: it has
     * nothing beside the owner. */
    int (*contribute)(void *context, const char *path, int64_t zero_ns, int64_t begin_ns, int64_t end_ns, char *why,
                      size_t why_size);
    /* Where the handle goes before any callback: a thread of the agent's may call start before ids_agent_register has
     * returned. It stays valid; where there is no capture nothing is written. NULL: the callbacks need no handle. */
    int *handle;
};

/* Makes a collector known. A handle above 0; 0 when there is no capture here (no plan, another rank was chosen): `why`
 * says it, and the collector stays asleep. The struct is copied. */
IDS_AGENT_API int ids_agent_register(const struct ids_collector *collector, char *why, size_t why_size);

/* A step is about to begin. source: 1 a step annotation, 2 an execution, 3 a call
 * of a jitted function (enum ids_step_source). name: of the annotation
 * or the executable, which tells loops apart; may be NULL. number: what the program calls the step; -1: not known, and
 * the agent counts. Opens or closes a window before it returns when this is its step. Where nothing waits for steps
 * it is one load and a compare. */
IDS_AGENT_API void ids_agent_step(int source, const char *name, int64_t number);
/* The same for a step that is one call of the program: where a window is open when this returns, *calls is one more
 * (changed atomically, before anybody can end that window), which the collector takes back when it has the call's
 * record. 1 when it was counted. */
IDS_AGENT_API int ids_agent_step_call(int source, const char *name, int64_t number, int *calls);
/* Whether the calls of the program's functions are counted in this process: then executions are steps only where there
 * are none. */
IDS_AGENT_API void ids_agent_counts_calls(int are_counted);
/* The function whose calls were steps last: calls are fed without a name, because most of them are noted where none is
 * known. */
IDS_AGENT_API void ids_agent_calls_are_of(const char *name);
/* The next call is that of another function that took over for good (turns.h), its `number`-th. */
IDS_AGENT_API void ids_agent_turn(int64_t number);
/* Whether a window may open with a call; and which of `every` calls of a turn of the loop the next one is, from 1. */
IDS_AGENT_API int ids_agent_may_open(void);
IDS_AGENT_API void ids_agent_in_turn(int64_t every, int64_t place);
/* Whether stacks of this process's Python can be sampled: 1; 0: there is no Python; -1 with the reason in `why`. */
IDS_AGENT_API int ids_agent_can_sample(char *why, size_t why_size);
/* For callers that hold a lock of their language, which callbacks need: 1 when nothing but the history waits for this
 * step, and it was noted there; 0: ids_agent_step must be called, without that lock. Never runs a callback. */
IDS_AGENT_API int ids_agent_pass(int source, const char *name, int64_t number);
/* A function was compiled just now, which took so long: for the history. */
IDS_AGENT_API void ids_agent_compiled(const char *name, int64_t took_ns);
/* What a thread (its pthread_t) did from begin_ns to end_ns (CLOCK_REALTIME), of which no frame tells: "$train.py:8
 * collect garbage". It is put into the samples of its stack in that time, where a window's samples are of it. Also from
 * inside a callback. */
IDS_AGENT_API void ids_agent_spell(uint64_t thread, int64_t begin_ns, int64_t end_ns, const char *name);
/* From inside start, at its begin: what came before was a wait for the lock of the callback's language, which the
 * program had and went on with. It is no cost of the window. */
IDS_AGENT_API void ids_agent_entered(void);
/* A cell of a notebook is compiled: the file name of its code, what IPython calls it ("In[3]"), its text. With a plan
 * or without; also from inside a callback. */
IDS_AGENT_API void ids_agent_cell(const char *path, const char *called, const char *text);
/* Python collected garbage for so long just now: for the history. Also from inside a callback. */
IDS_AGENT_API void ids_agent_garbage(int64_t ns);
/* A program is executed now, in the step that runs: for the history. How many collectives are in it; -1: not known. It
 * takes no lock. */
IDS_AGENT_API void ids_agent_executed(int64_t collectives);
/* Whether steps of this source are still of use: 0 means that the collector need not count any more. */
IDS_AGENT_API int ids_agent_wants(int source);
/* A named region (TraceAnnotation, NVTX) begins (1) or ends (0). Only the plan's `range` is of interest. */
IDS_AGENT_API void ids_agent_range(const char *name, int begins);

/* A fact about the process for the sidecar, once for each key: "jax" "0.10.2", "device" "TPU v5e x 4". Into the
 * hello file. */
IDS_AGENT_API void ids_agent_say(int handle, const char *key, const char *value);
/* The rank in a launch of several processes, where the collector knows it better than RANK, OMPI_COMM_WORLD_RANK,
 * PMIX_RANK, PMI_RANK, SLURM_PROCID and JAX_PROCESS_ID do (jax.process_index() once distributed). A process that is not
 * among the plan's ranks opens no window. */
IDS_AGENT_API void ids_agent_rank(int64_t rank);

/* The value of one key of the plan (plan.h) as text: its length, or -1 when there is no plan, key or room. */
IDS_AGENT_API int ids_agent_plan(const char *key, char *buffer, size_t size);
/* enum ids_window_state, -1 without a plan. Without a lock: collectors ask it in every call of the program that they
 * see. */
IDS_AGENT_API int ids_agent_state(void);

/* The program takes the vendor's profiler for itself: ends the open window now and waits for it at most stop_timeout.
 * `why` is noted in the hello file. Nothing when no window is open. */
IDS_AGENT_API void ids_agent_give_way(int handle, const char *why);

/* The program's own use of the vendor's profiler begins (1) or has ended (0): noted with the step at which it did. */
IDS_AGENT_API void ids_agent_program_profile(int begins);

/* The process is about to become another program (exec): ends the open window and waits for it as
 * ids_agent_give_way does. Where that fails the program goes on, and so do its windows. */
IDS_AGENT_API void ids_agent_exec(void);

/* Ends a collector: after this it gets no callbacks. Call it at exit while everything still works (Python: atexit).
 * If a window is open, of any collector, it is ended first; this waits at most stop_timeout. */
IDS_AGENT_API void ids_agent_close(int handle);

#ifdef __cplusplus
}
#endif

#endif
