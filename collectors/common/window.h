/* window.h - when a capture's windows open and close: a state machine that takes events and returns what to do.
 *
 * Pure: no clock, no file, no thread, no lock. Times are of any clock that does not jump, in nanoseconds.
 *
 *   WAITING --OPEN--> OPENING --opened(1)--> OPEN --CLOSE--> CLOSING --closed--> WAITING or DONE
 *                        `----opened(0)--> WAITING or DONE        REOPEN: the end of the warm-up; CLOSING, then OPENING
 *                                                                 again
 *
 * A caller that gets IDS_OPEN starts the vendor's session and reports with ids_window_opened. A caller that gets
 * IDS_CLOSE ends it and reports with ids_window_closed. Until then every other event returns IDS_NOTHING, so there is
 * only one session at a time.
 *
 * What opens a window: a step (start_step, every), a region (range), a trigger, a step that takes too long
 * (ids_window_slow), or time alone (delay); none before delay_ns, nor within every_ns of the one before. What ends it:
 * the first of so many steps, the duration, the region's end, a stop, the program's end.
 *
 * Steps come from feeders: an annotation of a name, or the executions of one executable. A feeder has a position, which
 * only grows: the number that the program gives, or where it gives none the count of its steps from 0. Numbers that
 * fall back (a new epoch) go on from where they were; a feeder whose first number lies beyond start_step (a resumed
 * run) is counted from 0. The feeder that reaches the start first leads: its steps alone open and end windows from then
 * on, which of executables finds the one that runs most. A window that no step opened ends with the feeder that first
 * begins one step more than `steps` in it. Once a step was annotated, executions count no more. Where the calls of the
 * program's own functions are counted, executions count only after so many without a call that the program has no loop
 * of such calls: what initialises is executed by the hundred before the first one.
 *
 * In front is the leader, and before there is one the feeder that got furthest: its steps are the program's, for the
 * history. `turns` counts how often another program took that over for good (turns.h). Where another function took over
 * from one whose calls had opened the one window of a plan, that was of what initialises: the loop gets a window too.
 * Where the caller says which call of a turn of the loop comes, a window that a step opens holds whole turns: it opens
 * with the last call of one, whose step is in no mean, and ends with the last call of another. One that a trigger opens
 * without saying how long begins where it is, and holds as many calls as whole turns have.
 */
#ifndef IDS_COLLECTORS_COMMON_WINDOW_H
#define IDS_COLLECTORS_COMMON_WINDOW_H

#include "collectors/common/plan.h"
#include "collectors/common/turns.h"

/* A call is one of a jitted function, which the program's language counts; an execution is what the plugin sees of it,
 * and of all others. */
enum ids_step_source { IDS_STEP_NONE, IDS_STEP_ANNOTATION, IDS_STEP_EXECUTION, IDS_STEP_CALL, IDS_STEP_SOURCES };
enum ids_window_state { IDS_WAITING, IDS_OPENING, IDS_OPENED, IDS_CLOSING, IDS_DONE };
enum ids_window_action { IDS_NOTHING, IDS_OPEN, IDS_CLOSE, IDS_REOPEN };
/* Why the window opened or closed, for people. */
enum ids_window_cause {
    IDS_BY_NOBODY,
    IDS_BY_STEP,
    IDS_BY_TIME,
    IDS_BY_RANGE,
    IDS_BY_TRIGGER,
    IDS_BY_EXIT,
    IDS_BY_PROGRAM,
    IDS_BY_SIZE,
    IDS_BY_EXEC,
    IDS_BY_SLOW
};

/* Executables that were counted; one more takes no part, so that a program that compiles for ever costs no more than
 * this. */
enum { IDS_FEEDERS = 256, IDS_WITHOUT_CALL = 10000 };

struct ids_feeder {
    uint64_t key; /* 0: free */
    int64_t last; /* the last number */
    int64_t base; /* position = number + base */
    int64_t position;
    int64_t in_window; /* the number of the window in which it began `begun` steps, the first one at `first` */
    int64_t begun, first;
    struct ids_turn turn;
};

struct ids_window {
    struct ids_plan plan;
    enum ids_window_state state;
    enum ids_window_cause opened_by, closed_by;
    int64_t born_ns, opened_ns;
    int64_t steps, duration_ns;      /* that end the open window: the plan's, or what the trigger asked for */
    int64_t begun_ns;                /* when the last window was asked for by the plan */
    int64_t pause_ns, pause_slow_ns; /* no window by the plan before that; none for a slow step */
    int64_t retry_ns;                /* after a session that was busy: not to be asked again before that */
    int64_t next_start;              /* the position at which the next window opens */
    int64_t number;      /* of the window that is open or was last, from 1; a warm-up has the number of its window */
    int64_t counted;     /* windows that count for max */
    int64_t failed;      /* starts that failed one after the other */
    int64_t steps_begun; /* in the window, by the feeder that began most in it */
    int64_t first, last; /* of these: what the program calls them, else their positions; -1: none */
    uint64_t named;      /* the key of that feeder, 0: none */
    int64_t furthest;    /* the position of the feeder in front, -1: none */
    int64_t step_number; /* the number that the program gave to its latest step, -1: none */
    int ranges;          /* regions of the plan's name that are open */
    int warm;            /* the open session is a warm-up */
    int timed;           /* the window of `delay` was opened */
    int dropped;         /* the window that closes is not kept: it does not count, and its number is free again */
    int over;            /* the program ends, or max_size was reached: nothing opens any more */
    int annotated;       /* a step was annotated */
    int leader;          /* index into feeders, -1: none yet */
    int front;           /* likewise */
    int64_t front_steps; /* of those in front */
    int64_t turns;
    int64_t turn_every, turn_place; /* the next call is that of so many of a turn; 0: not known */
    int is_again;                   /* the one window was opened anew, for the loop */
    int counts_calls;               /* calls are counted in this process */
    int64_t without_call;           /* executions since the last one */
    int missed;                     /* feeders that found no room */
    struct ids_feeder feeders[IDS_FEEDERS];
};

void ids_window_init(struct ids_window *window, const struct ids_plan *plan, int64_t now_ns);

/* A step begins. `key` tells feeders of the same source apart; number -1: the program gives none. */
enum ids_window_action ids_window_step(struct ids_window *window, int64_t now_ns, enum ids_step_source source,
                                       uint64_t key, int64_t number);
/* The steps of that feeder are from now on those of another function, which is about to begin its `number`-th. */
void ids_window_turn(struct ids_window *window, uint64_t key, int64_t number);
/* The next step is the place-th of so many of a turn of the loop. */
void ids_window_in_turn(struct ids_window *window, int64_t every, int64_t place);
/* The key of the feeder in front, 0: none. */
uint64_t ids_window_front(const struct ids_window *window);
/* A region of the plan's name begins or ends. */
enum ids_window_action ids_window_range(struct ids_window *window, int64_t now_ns, int begins);
/* What `idsprof trigger` asks of a window; -1: as the plan says. */
struct ids_window_wish {
    int64_t steps, duration_ns;
};
/* The trigger: opens now, whatever the plan says, or ends what is open (`wish` NULL). */
enum ids_window_action ids_window_trigger(struct ids_window *window, const struct ids_window_wish *wish);
/* A step takes too long: opens in the middle of it, where the plan lets a window open; is_beyond: whatever
 * pause_slow_ns says. */
enum ids_window_action ids_window_slow(struct ids_window *window, int64_t now_ns, int is_beyond);
/* What it was opened for is over and not in it: ends it. */
enum ids_window_action ids_window_waste(struct ids_window *window);
/* No window by the plan before that, and none for a slow step. */
void ids_window_pause(struct ids_window *window, int64_t until_ns, int64_t slow_until_ns);
/* The window that closes is not kept. */
void ids_window_drop(struct ids_window *window);
/* To be called at ids_window_deadline: -1 when time does nothing. */
enum ids_window_action ids_window_time(struct ids_window *window, int64_t now_ns);
int64_t ids_window_deadline(const struct ids_window *window);
/* The program wants the vendor's profiler for itself: what is open ends. */
enum ids_window_action ids_window_give_way(struct ids_window *window);
/* The process holds more memory than a window may take: what is open ends. */
enum ids_window_action ids_window_full(struct ids_window *window);
/* The program is about to become another one (exec): what is open ends. */
enum ids_window_action ids_window_exec(struct ids_window *window);
/* The program ends; no window opens after that. */
enum ids_window_action ids_window_exit(struct ids_window *window);

/* What became of IDS_OPEN: whether a session runs now. After three failures in a row only a trigger tries again. */
void ids_window_opened(struct ids_window *window, int64_t now_ns, int ok);
/* The vendor's profiler is in use: the same window is tried again, at the next step or a moment later, for it may be
 * free then. A trigger is not: who asked for it is told. */
void ids_window_busy(struct ids_window *window, int64_t now_ns);
/* The vendor's profiler is free again. */
void ids_window_free(struct ids_window *window);
/* What became of IDS_CLOSE and of the first half of IDS_REOPEN, after which the state is OPENING; `full`: max_size
 * was reached. */
void ids_window_closed(struct ids_window *window, int full);

/* No window opens for a slow step before that; is_beyond: whatever pause_slow_ns says. */
int64_t ids_window_earliest(const struct ids_window *window, int is_beyond);
/* Whether this step, which is not told yet, neither opens a window nor ends one. Changes nothing; 0 where it cannot
 * say. */
int ids_window_passes(const struct ids_window *window, enum ids_step_source source, uint64_t key, int64_t number);

/* Whether steps of this source can still open or end a window, or, annotated, tell what it holds: so that a collector
 * can save itself the counting. */
int ids_window_wants(const struct ids_window *window, enum ids_step_source source);

/* How far the leader is, or without one the feeder that got furthest: its position, -1: no step was seen. */
int64_t ids_window_reached(const struct ids_window *window);
const char *ids_window_cause_name(enum ids_window_cause cause);

#endif
