/* recorder.h - which steps are slow, and which windows are worth keeping for them: `capture --when`, `--keep-slowest`.
 *
 * Pure: no clock, no file, no thread, no lock. Times are of a clock that does not jump, in nanoseconds.
 *
 * A step takes from its beginning to that of the next one, less what the program stood still in it for our windows. It
 * is held against the median of the last IDS_MEDIAN_OF steps of its own kind, because a profiler slows steps down:
 * steps in windows against those in windows, the others against the others. Nothing is judged in the first
 * IDS_WARM_STEPS steps, which compile, nor a step beside which a window was opened or ended by another thread, unless
 * it was slow by then.
 *
 * A window is worth what it saw of its slow step: a window that opened when the step had nearly ended has nothing of
 * what made it slow. Of less than a tenth nothing is said at all, as of a step in no window.
 *
 * Windows for slow steps have a budget, which noise may use up before a step comes that stands out. So a step may open
 * one beyond it when it has taken twice as long as a slow one, and twice the least of the last such openings, of which
 * there are as many as windows to keep. Each opening at least doubles one of N times, so there are no more of them than
 * N (1 + log2 of the longest step by the first such opening): 30 for N = 3 and steps that differ by 500 times.
 */
#ifndef IDS_COLLECTORS_COMMON_RECORDER_H
#define IDS_COLLECTORS_COMMON_RECORDER_H

#include "collectors/common/plan.h"

enum { IDS_MEDIAN_OF = 101, IDS_WARM_STEPS = 10, IDS_KEPT_MAX = 100, IDS_BEYOND_PLACES = 10 };

/* The median of the latest values. */
struct ids_median {
    int64_t values[IDS_MEDIAN_OF], sorted[IDS_MEDIAN_OF];
    int count, next;
};

struct ids_slow_step {
    int64_t number;    /* what the program calls it */
    int64_t took_ns;   /* 0: there is no such step */
    int64_t median_ns; /* that it was held against, 0: not known */
    int64_t late_ns;   /* the window was opened so long after its beginning */
    int goes_on;       /* it had not ended: it took longer */
};

struct ids_kept_window {
    int64_t window, seen_ns; /* so much of its slowest step is in it */
    int64_t number, took_ns; /* of that step */
};

struct ids_recorder {
    int64_t ratio, when_ns, keep, from; /* of the plan; steps before that are not judged */
    struct ids_median medians[2];       /* of steps outside windows and in them */
    int64_t steps;                      /* that have ended */
    int64_t slow, slow_missed;          /* that were slow by the rule; of these, in no window */
    int64_t missed_ns, missed_number; /* the slowest of those in no kept window that were worth one; 0: there is none */
    int64_t missed_seen_ns;           /* so much of it was in a window that is not kept; 0: in none */
    /* The step that runs. */
    int64_t begin_ns, number; /* begin_ns 0: none yet */
    int64_t stall_ns;
    int is_doubtful, is_watched;
    /* The window that is open. */
    int in_window;
    int64_t asked_ns, opened_ns;
    struct ids_slow_step worst;
    struct ids_kept_window kept[IDS_KEPT_MAX];
    int kept_count;
    int64_t beyond[IDS_KEPT_MAX]; /* how long the steps had taken that last opened windows beyond the budget */
    int64_t beyond_places;        /* of these */
};

void ids_recorder_init(struct ids_recorder *recorder, const struct ids_plan *plan);
/* A step begins, and the one before ends. 1 when that one was slow by the plan's rule, or without one took more than
 * twice the median; the median by which it was judged, 0: there was none. */
int ids_recorder_step(struct ids_recorder *recorder, int64_t now_ns, int64_t number, int64_t *ret_median_ns);
/* All steps so far were of another program than the one whose steps come now: none of those is held against them. */
void ids_recorder_turn(struct ids_recorder *recorder);
/* The program's thread stood still in the step that runs. */
void ids_recorder_stall(struct ids_recorder *recorder, int64_t ns);
/* A window was opened or ended while the step ran, beside the program's thread. */
void ids_recorder_doubt(struct ids_recorder *recorder, int64_t now_ns);
/* When the step that runs will be worth a window, within the budget or whatever that says; -1: not known, or it was
 * said already (ids_recorder_watch). */
int64_t ids_recorder_deadline(const struct ids_recorder *recorder, int is_beyond);
/* The step that runs is worth a window, and that was seen; is_beyond: the window opens beyond the budget. */
void ids_recorder_watch(struct ids_recorder *recorder, int64_t now_ns, int is_beyond);
/* A window opens, which was decided at asked_ns. */
void ids_recorder_open(struct ids_recorder *recorder, int64_t asked_ns, int64_t now_ns);
/* The window ends: its slowest step, also one that still runs; whether it is kept. *ret_instead is the number of the
 * kept window that goes for it, 0: none does. A window that is asked for is kept in any case. is_end: the program ends,
 * so that what runs may be what follows its loop, and takes the place of no step that ended. */
int ids_recorder_close(struct ids_recorder *recorder, int64_t now_ns, int64_t window, int is_asked_for, int is_end,
                       int64_t *ret_instead);
/* The window that was to be kept is lost. */
void ids_recorder_lost(struct ids_recorder *recorder, int64_t window);
/* "step 8,113 took 41.2 ms, 4.1 × the median"; "" where there is no such step. */
void ids_recorder_text(const struct ids_slow_step *slow, char *text, size_t size);

void ids_median_add(struct ids_median *median, int64_t value);
/* 0 while there are fewer than IDS_WARM_STEPS. */
int64_t ids_median_of(const struct ids_median *median);

#endif
