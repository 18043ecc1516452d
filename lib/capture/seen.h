/* seen.h - what the processes of a capture said about themselves: their hello files, read (collectors/common/hello.h
 * has the form). */
#ifndef IDS_LIB_CAPTURE_SEEN_H
#define IDS_LIB_CAPTURE_SEEN_H

#include "lib/base/arena.h"
#include "lib/base/error.h"

#include <stdint.h>

enum { IDS_SEEN_PROCESSES = 65536, IDS_SEEN_FILE_BYTES = 8 << 20 }; /* what is beyond is counted in left_out */

enum ids_seen_fate { IDS_SEEN_OPEN, IDS_SEEN_WRITTEN, IDS_SEEN_LOST };

/* Texts are in the arena of the list, NULL where nothing was said; numbers are -1 there. Times are in nanoseconds. */
struct ids_seen_window {
    int64_t number;
    enum ids_seen_fate fate; /* IDS_SEEN_OPEN: the process ended, or was ended, before it was closed */
    const char *collector, *opened_by, *closed_by, *path, *why;
    int64_t bytes, events, drops, first_step, last_step, steps;
    int64_t begin_ns, end_ns, start_ns, stop_ns, publish_ns, waited_ns;
    int64_t rate, samples, threads, late, left_out, sampling_ns; /* of sampled stacks (collectors/common/stacks.h) */
};

struct ids_seen_text {
    const char *key, *value; /* a fact; of a skipped window the collector and why; of a note NULL and what */
    int64_t window, step;    /* -1 where they do not belong */
};

struct ids_seen_process {
    int64_t pid, ppid, rank;
    const char *host, *exe, *socket, *agent;
    const char **argv;
    size_t argv_count;
    const char *steps_source, *steps_name; /* of the best kind of steps that it saw */
    int64_t first_number, reached, number; /* the first number, how far it came, what it called the last step */
    int64_t own_begin, own_end; /* the step at which its latest profile of its own began, and ended; -1: none did */
    int is_closed;              /* it ended in order */
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
    int64_t pythons;     /* that came up under the capture, whether or not they loaded a collector */
    const char *failure; /* why the Python hook of one could not start, NULL */
    int64_t left_out, broken_lines;
};

/* Reads SESSION/.idsprof. IDS_NOT_FOUND when that is not there any more. */
int ids_seen_read(const char *session, struct ids_seen *ret_seen, struct ids_error *err);
void ids_seen_done(struct ids_seen *seen);

/* Windows of all processes with this fate. */
int64_t ids_seen_windows(const struct ids_seen *seen, enum ids_seen_fate fate);

#endif
