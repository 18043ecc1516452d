/* history.h - what the agent itself saw of the last steps: a ring in memory, written to
 * SESSION/.idsprof/<host>.<pid>.history several times a second while steps come, so that a process that is killed
 * leaves all but the last moment of it. `idsprof report` draws it (lib/capture/history_file.h reads it).
 *
 * The file is a struct ids_history_head, then IDS_HISTORY_STEPS places for steps and IDS_HISTORY_EVENTS for events, as
 * they lie in memory of a little-endian machine; the n-th step ever is at place n % IDS_HISTORY_STEPS. A file that was
 * written while the ring went round may have newer records where the oldest are expected. Times are of
 * CLOCK_MONOTONIC; the head tells what CLOCK_REALTIME was.
 */
#ifndef IDS_COLLECTORS_COMMON_HISTORY_H
#define IDS_COLLECTORS_COMMON_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#define IDS_HISTORY_MAGIC "idsprof steps 5\n"

enum { IDS_HISTORY_STEPS = 10000, IDS_HISTORY_EVENTS = 500, IDS_HISTORY_NAME = 104, IDS_HISTORY_HOST = 128 };
enum ids_history_kind {
    IDS_HISTORY_COMPILE = 1, /* name: the function */
    IDS_HISTORY_WINDOW = 2   /* a window that was written; name: its number, and why it was kept */
};

struct ids_history_step {
    int64_t begin_ns, number;
    float stall_ns;       /* for which the program stood still in it for a window of ours */
    float slow_median_ns; /* the median then, where windows are judged and it was slow; -1: none; 0: not slow */
    float garbage_ns;     /* for which Python collected garbage in it, in collections of 1 ms and more */
    int32_t collectives;  /* in the programs that it executed; -1: none is known, or of some it is not */
};

struct ids_history_event {
    int64_t begin_ns, end_ns, kind;
    char name[IDS_HISTORY_NAME]; /* ends with a zero byte */
};

struct ids_history_head {
    char magic[16];
    int64_t steps, events; /* ever */
    int64_t now_ns, realtime_ns;
    int64_t compiles, compile_ns; /* ever */
    int64_t when_ratio, when_ns;  /* of the plan: what was slow */
    int64_t pid, rank;
    int64_t watched_ns, full_ns, others_ns; /* how busy the machine was meanwhile: machine_load.h */
    char host[IDS_HISTORY_HOST];
};

/* Begins anew, for this process. */
void ids_history_begin(const char *session, const char *host, int64_t pid, int64_t rank, int64_t when_ratio,
                       int64_t when_ns);
void ids_history_rank(int64_t rank);
/* Under the caller's lock, as ids_history_event. 1 when there is something to write now that was not there before. */
int ids_history_step(int64_t now_ns, int64_t number);
int ids_history_stall(int64_t ns);
/* All steps so far were of another program than the one whose steps come now: there are none. */
void ids_history_turn(void);
/* The last step, which ends now, was slow by the plan's rule, or without one by the median. */
void ids_history_slow(int64_t median_ns);
/* The program collected garbage for so long in the step that runs. */
void ids_history_garbage(int64_t ns);
/* A program is executed in the step that runs, by any thread and without the caller's lock. -1: it is not known how
 * many collectives are in it. */
void ids_history_executed(int64_t collectives);
int ids_history_event(enum ids_history_kind kind, int64_t begin_ns, int64_t end_ns, const char *name);
/* Writes what is new. The caller's lock is taken by `lock` for moments only, never while something is written. */
void ids_history_write(void (*lock)(void), void (*unlock)(void));

#endif
