/* hello.h - the report of a process about its part of a capture: a file of JSON lines,
 * SESSION/.idsprof/<host>.<pid>.hello.
 *
 * Each line is an object with "t" (CLOCK_REALTIME, nanoseconds) and "event", made in a buffer and written with one
 * write(), so that lines are whole even when the process is killed between two of them. Lines are cut to IDS_HELLO_LINE
 * at the end of a text. The events, and what else they have:
 *   loaded     pid, ppid, host, rank (-1: none), exe, argv, agent (its version), socket; the first line
 *   registered collector, priority
 *   said       collector, key, value
 *   steps      source (annotation, executions), name, number: the first step of its kind
 *   removed    window: it was kept (--keep-slowest) until one with a slower step came
 *   judged     tried, kept (windows); steps, slow, slow_missed; median_ns, cost_ns: what came of --when
 *   opened     window, collector, by (step, time, range, trigger, slow), step, start_ns (how long the start
 *              took), warm
 *   profile    begins (1, 0), step: the program's own use of the profiler
 *   slow       window, waited_ns: the program goes on, the stop has not returned
 *   written    window, collector, by, path (below SESSION), bytes, events, drops, first_step, last_step, steps,
 *              begin_ns and end_ns (CLOCK_REALTIME), stop_ns, publish_ns
 *   stacks     window, rate, samples, threads, late, dropped, cpu_ns, wall_ns: what was sampled (stacks.h)
 *   lost       window, collector, by, why: it was open, and nothing of it is there
 *   skipped    window (0: none in particular), step, collector, why: it was not opened
 *   note       why: something that a person should know and that lost nothing
 *   closed     steps_seen, source: the process ended in order
 * A launched process without "closed" was killed, or left by _exit, unless there is a link
 * <host>.<pid>.hello.unwritten: a line could not be written, and errno said the number that it links to.
 *
 * Beside them SESSION/.idsprof/followed has one line for each Python that came up under the capture, whether or not it
 * imported jax, appended by the Python hook before the program runs: {"t":0,"event":"python","pid":1}. From it the
 * launcher tells a Python without jax from a program in which no Python of ours ran at all. A hook that could not
 * start, so that there is no hello file either, adds {"t":...,"event":"failed","pid":1,"why":"..."}.
 */
#ifndef IDS_COLLECTORS_COMMON_HELLO_H
#define IDS_COLLECTORS_COMMON_HELLO_H

#include "collectors/common/own_file.h"

#include <stddef.h>
#include <stdint.h>

#define IDS_HELLO_UNWRITTEN ".unwritten"

enum { IDS_HELLO_LINE = 4096, IDS_HELLO_PATH = 1280 };

struct ids_hello {
    char text[IDS_HELLO_LINE];
    size_t length;
};

struct ids_hello_file {
    char path[IDS_HELLO_PATH];
    struct ids_own_file own;
};

/* Begins a line. */
void ids_hello_begin(struct ids_hello *line, const char *event);
void ids_hello_text(struct ids_hello *line, const char *key, const char *value);
void ids_hello_number(struct ids_hello *line, const char *key, int64_t value);
/* "key":["a","b"] of a list of texts each ended by a zero byte, as /proc/self/cmdline is. */
void ids_hello_texts(struct ids_hello *line, const char *key, const char *texts, size_t length);
/* Opens it, which its user alone reads, to append to. 0 or -1 with errno. */
int ids_hello_open(struct ids_hello_file *hello);
/* Ends the line and appends it to the file, which is opened again where the program closed it; 0 or -1 with errno. */
int ids_hello_end(struct ids_hello *line, struct ids_hello_file *hello);

#endif
