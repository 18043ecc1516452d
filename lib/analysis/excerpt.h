/* excerpt.h - a file that holds a few of the ops that ran: somebody took a sample of a recording.
 *
 * PyTorch's profiler numbers the ops of a process (`External id`), and a recording has nearly all numbers from the
 * first to the last. Where most are missing, what the program did meanwhile is not in the file: devices look idle, and
 * calls look as if nothing held them up. */
#ifndef IDS_LIB_ANALYSIS_EXCERPT_H
#define IDS_LIB_ANALYSIS_EXCERPT_H

#include "lib/model/trace.h"
#include "lib/report/report.h"

struct ids_excerpt {
    uint64_t ops, of; /* of the processes of which less than half of the ops are here; 0: there is none */
};

/* -1 when memory ran out. */
int ids_excerpt_of(const struct ids_trace *trace, struct ids_excerpt *ret_excerpt);

/* "2,329 of 170,156 ops (1.4 %)": a text of the report. */
const char *ids_excerpt_text(const struct ids_excerpt *excerpt, struct ids_report *report);

#endif
