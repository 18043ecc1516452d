/* seen_lines.h - on which lines of a function the time of its entries is: what samples saw in their very intervals.
 *
 * An entry of the ledger is one function, whose place is one line. What else samples saw of it, while it waited for its
 * device or while the device worked, is no time of the entry. */
#ifndef IDS_LIB_ANALYSIS_SEEN_LINES_H
#define IDS_LIB_ANALYSIS_SEEN_LINES_H

#include "lib/analysis/ledger.h"
#include "lib/model/trace.h"

struct ids_seen_thread {
    const struct ids_timeline *timeline;
    uint32_t host;
    size_t turn; /* at the last interval */
};

struct ids_seen_lines {
    const struct ids_trace *trace;
    struct ids_seen_thread *threads; /* that were sampled */
    size_t count;
    uint64_t *functions; /* by doing; NULL: no thread was sampled */
};

/* 0, or -1 when memory ran out; ids_seen_lines_done may be called in both cases. */
int ids_seen_lines_init(struct ids_seen_lines *lines, const struct ids_trace *trace);
void ids_seen_lines_done(struct ids_seen_lines *lines);
/* The intervals of another device come. */
void ids_seen_lines_begin(struct ids_seen_lines *lines);
/* An interval of an entry that has lines, of a device of that host, in order of time: 0, or -1 when memory ran out. */
int ids_seen_lines_add(struct ids_seen_lines *lines, struct ids_ledger *ledger, uint32_t host,
                       const struct ids_ledger_interval *interval);

#endif
