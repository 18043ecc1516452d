/* seen.h - what the processes of a capture reported in their hello files (format: collectors/common/hello.h). */
#ifndef IDS_LIB_CAPTURE_SEEN_H
#define IDS_LIB_CAPTURE_SEEN_H

#include "lib/base/arena.h"
#include "lib/base/error.h"

#include <stdint.h>

enum { IDS_SEEN_PROCESSES = 65536, IDS_SEEN_FILE_BYTES = 8 << 20 }; /* more are counted in left_out */

enum ids_seen_fate { IDS_SEEN_OPEN, IDS_SEEN_WRITTEN, IDS_SEEN_LOST };

/* Texts are in the arena of the list. Not reported: NULL, or -1 for numbers. Times are in nanoseconds. */
struct ids_seen_window {
    int64_t number;
    int is_of_block; /* a thread of the program opened it for what it does next, and waits where it opens and ends */
    enum ids_seen_fate fate; /* IDS_SEEN_OPEN: the process ended before the window was closed */
    const char *collector, *opened_by, *closed_by, *path, *why;
    const char *of; /* what its steps are called; NULL: not known */
    int64_t bytes, events, drops, first_step, last_step, steps;
    int64_t begin_ns, end_ns, start_ns, stop_ns, publish_ns, waited_ns;
    const char *reason; /* why it was kept, if windows are judged */
    int64_t slow_step, slow_ns, median_ns;
    int64_t slow_late_ns; /* of that step, before the window opened */
    int64_t rate, samples, threads, late, left_out, still,
        sampling_ns;       /* sampled stacks (collectors/common/stacks.h) */
    const char *no_stacks; /* why none were sampled; NULL */
};

struct ids_seen_text {
    const char *key, *value; /* a fact; or the collector and reason of a skipped window; or NULL and a note */
    int64_t window, step;    /* -1 where they do not apply */
};

struct ids_seen_process {
    int64_t pid, ppid, rank;
    const char *host, *exe, *socket, *agent;
    const char **argv;
    size_t argv_count;
    const char *steps_source; /* the best kind of steps in the process */
    const char *steps_name;   /* of its latest written window's, else of its last ones, else of the first */
    int is_named;             /* it is of a window's */
    const char *front;        /* what the steps are called that it made at last, as its history has them; NULL */
    int64_t first_number, reached, number; /* first number, number of steps, the last step's own number */
    int64_t own_begin, own_end;            /* steps at which the program's own profile began and ended; -1: none */
    /* Judged windows: tried and kept; steps, slow ones, slow ones in no window. tried -1: nothing was judged. */
    int64_t tried, kept, judged_steps, slow, slow_missed, judged_median_ns, judged_cost_ns;
    int64_t missed_step,
        missed_ns;          /* the slowest step in no kept window, of those worth one; missed_ns 0: there is none */
    int64_t missed_seen_ns; /* of it, in a window that was not kept; 0 or less: in none */
    int is_closed;          /* it ended normally */
    int unwritten;          /* a line of its own could not be written: the errno; 0: all could */
    struct ids_seen_text *collectors, *facts, *skipped, *notes;
    size_t collector_count, fact_count, skipped_count, note_count;
    size_t collector_room, fact_room, skipped_room, note_room;
    struct ids_seen_window *windows;
    size_t window_count, window_room;
};

struct ids_seen {
    struct ids_arena arena;
    struct ids_seen_process *processes; /* by host, rank and process id */
    size_t count, room;
    int64_t pythons;     /* Pythons that started under the capture, with or without a collector */
    const char *failure; /* why one Python's hook could not start; NULL: all did */
    int unwritten;       /* the errno of a process that could write no line; 0: none is known */
    int64_t left_out, broken_lines;
};

/* Reads SESSION/.idsprof. IDS_NOT_FOUND if it is gone. */
int ids_seen_read(const char *session, struct ids_seen *ret_seen, struct ids_error *err);
void ids_seen_done(struct ids_seen *seen);

/* What the process's hook said of it by that key; NULL: nothing. */
const char *ids_seen_fact(const struct ids_seen_process *process, const char *key);
/* Whose call came with each so many-th step, where those are calls: it is called once in a turn of the loop. NULL: of
 * no function that is known. */
const char *ids_seen_turn(const struct ids_seen_process *process, int64_t *ret_steps);
/* Which steps it comes with: the rest of their numbers, divided by that; -1: not known. */
int64_t ids_seen_turn_place(const struct ids_seen_process *process);

/* Number of windows with this fate, over all processes. */
int64_t ids_seen_windows(const struct ids_seen *seen, enum ids_seen_fate fate);

#endif
