/* agent_state.h - the inside of the agent: its state, and what agent.c asks of session.c. Not for collectors. */
#ifndef IDS_COLLECTORS_COMMON_AGENT_STATE_H
#define IDS_COLLECTORS_COMMON_AGENT_STATE_H

#include "collectors/common/agent.h"
#include "collectors/common/control.h"
#include "collectors/common/process.h"
#include "collectors/common/publish.h"
#include "collectors/common/recorder.h"
#include "collectors/common/window.h"

#include <pthread.h>
#include <stdatomic.h>

struct ids_slot {
    struct ids_collector collector;
    char name[32];
    int is_alive;
};

enum { IDS_REASON_BYTES_MAX = 256, IDS_KEPT_PATH = 512 };

struct ids_kept_file {
    int64_t window, bytes; /* window 0: free */
    char path[IDS_KEPT_PATH];
};

enum { IDS_STEPS_NAME = 128 };

struct ids_agent {
    pthread_mutex_t lock;             /* over everything but what is said to be a job's or atomic */
    atomic_int awake;                 /* 0: nothing was read yet; 1; -1: no capture here, for good */
    atomic_int hot[IDS_STEP_SOURCES]; /* by source: steps of it are of interest */
    atomic_int shown;                 /* the window's state as it was when the lock was last given back */
    char why_asleep[IDS_WHY_BYTES];

    struct ids_plan plan;
    struct ids_window window;
    struct ids_slot collectors[IDS_COLLECTORS_MAX];
    int collector_count;
    int64_t rank;
    int said_steps[IDS_STEP_SOURCES]; /* by source: its first step is in the hello file */
    int64_t opened;                   /* the number of the last window that did open */
    char steps_of[IDS_STEPS_NAME];    /* what the window's steps are called, where window.named is set */
    uint64_t steps_of_key;            /* of this feeder, in this window */
    int64_t steps_of_window;
    char front_of[IDS_STEPS_NAME]; /* and what those of the feeder in front are, of which front_key is the key */
    uint64_t front_key;
    int counts_calls; /* a collector counts the calls of the program's functions */
    int said_rank;    /* that this rank was not chosen */
    struct ids_recorder recorder;
    int standing;                  /* threads of the program that stand still for a window: how long is not known yet */
    char wish_name[IDS_WISH_NAME]; /* what the trigger calls the window that is open */
    int64_t cost_ns, slow_cost_ns, tried, kept; /* of windows that are judged */
    int64_t said_busy; /* the number of the window of which the hello file has that the profiler was in use */

    char session[IDS_SESSION_PATH], host[IDS_HOST_BYTES], socket[IDS_CONTROL_PATH];
    int pid;
    struct ids_hello_file *hello; /* NULL: nothing was read yet */
    struct ids_own_file listener;
    int64_t write_at_ns;  /* when the history is to be written, -1: nothing is new */
    struct ids_bell wake; /* the control thread looks at the deadline anew */
    atomic_int idle;      /* 1: no job runs */

    /* Of the job that runs; nobody else touches it. */
    enum ids_window_action job;
    int64_t decided_ns;   /* when it was to be done: the thread that does it may begin late */
    int of_block;         /* the latest window that was asked for is of a block of the program */
    int is_own_job;       /* the job runs in a thread of ours, not in one of the program's */
    int64_t running_step; /* of an opening in the middle of a step: its number, else -1 */
    int owner;            /* index of the collector whose session runs, -1: none */
    char part[IDS_PUBLISH_PATH];
    char why_lost[IDS_WHY_BYTES]; /* "": the owner wrote its file */
    struct ids_caught caught;
    int64_t begin_ns, end_ns, stop_ns; /* CLOCK_REALTIME; how long the stop took */
    int64_t asked_ns, start_ns;        /* CLOCK_MONOTONIC; how long the start took */
    int64_t entered_ns;                /* CLOCK_MONOTONIC; when the latest callback said that it began */
    char suffix[IDS_WISH_NAME + 24];   /* of the run's name */
    char reason[IDS_REASON_BYTES_MAX]; /* why the window is kept; "": nobody judges it */
    struct ids_slow_step slow;         /* in the window */
    int64_t instead;                   /* the kept window that goes for it, 0: none */
    struct ids_kept_file kept_files[IDS_KEPT_MAX];
    int64_t written_bytes;     /* by all windows of this process */
    atomic_llong memory_limit; /* the window that is open ends beyond; 0: there is no limit */
};

extern struct ids_agent ids_agent __attribute__((visibility("hidden")));

/* Reads the environment, opens the hello file, and sets the window up. 0, or -1 with the reason. */
int ids_session_begin(struct ids_agent *agent, char *why, size_t why_size);
/* 0 when this process is among the chosen ranks. */
int ids_session_has_rank(struct ids_agent *agent, char *why, size_t why_size);

/* Starts the first able collector. 0 when a session runs, IDS_BUSY when one could were its profiler not in use. In a
 * job. */
int ids_session_open(struct ids_agent *agent);
/* Ends it, and has the others contribute. In a job. */
void ids_session_stop(struct ids_agent *agent, int throw_away);
/* Brings the file to its place. 1 when max_size was reached. In a job. */
int ids_session_publish(struct ids_agent *agent);
/* Instead of that, of a window that is not kept and was thrown away. In a job. */
void ids_session_drop(struct ids_agent *agent);

/* ---- judging.c: the steps that the agent sees, and what they mean for windows. All but the last under the lock
 * ---- */

/* The window's step began at `now_ns`. 1 when the control thread has something new to do. */
int ids_judging_step(struct ids_agent *agent, int64_t now_ns);
/* The program's thread stood still from `from_ns` to `to_ns` for a window of ours. */
int ids_judging_stall(struct ids_agent *agent, int64_t from_ns, int64_t to_ns);
/* The number of the step that runs while a window opens that no step opens; -1: none. */
int64_t ids_judging_running(const struct ids_agent *agent);
/* When the step that runs will be worth a window; -1: never, as far as is known. */
int64_t ids_judging_deadline(const struct ids_agent *agent);
/* At that moment. */
enum ids_window_action ids_judging_time(struct ids_agent *agent, int64_t now_ns);
/* The window that was opened is open, or the one that is to be closed ends: whether it is kept. */
void ids_judging_opened(struct ids_agent *agent);
int ids_judging_keeps(struct ids_agent *agent);
/* It is closed; `is_kept`: and written. Returns as ids_judging_step does. */
int ids_judging_closed(struct ids_agent *agent, int is_kept);
/* A line of the hello file about it all. In a job, or at the end. */
void ids_judging_say(const struct ids_agent *agent);

/* The answer of the control socket. */
void ids_session_status(const struct ids_agent *agent, struct ids_hello *line, int refused, int is_start);

void ids_session_note(const struct ids_agent *agent, const char *what, const char *why);
void ids_session_say_loaded(const struct ids_agent *agent);
void ids_session_say_registered(const struct ids_agent *agent, const struct ids_slot *slot);
void ids_session_say(const struct ids_agent *agent, const struct ids_slot *slot, const char *key, const char *value);
void ids_session_say_steps(struct ids_agent *agent, int source, const char *name, int64_t number);
/* What the steps of the window are called. */
void ids_session_name_steps(char to[IDS_STEPS_NAME], const char *name);
void ids_session_say_slow(const struct ids_agent *agent);
void ids_session_say_late(const struct ids_agent *agent);
void ids_session_say_profile(const struct ids_agent *agent, int begins);
void ids_session_say_closed(const struct ids_agent *agent);

#endif
