/* callers.h - who calls the function of the program that holds a device up, out of sampled stacks: a small helper says
 * little where it is called from many places.
 *
 * Meant are the threads whose doing it is: those that launch, or, of what another thread has that is waited for, the
 * others. A caller is a line of the program; libraries' frames between it and the function are left out. */
#ifndef IDS_ANALYZERS_CALLERS_H
#define IDS_ANALYZERS_CALLERS_H

#include "analyzers/pieces.h"
#include "lib/analysis/context.h"
#include "lib/report/report.h"

/* "; called by load_batch (train.py:57)", "; 72.1 % of its time called by load_batch (train.py:57), one of 3 lines"; ""
 * where that is the module of the function's own file alone, nobody is known, or memory ran out. */
const char *ids_callers_in_words(const struct ids_trace *trace, const struct ids_ledger_entry *entry,
                                 struct ids_report *report);

/* "; augment (train.py:22) calls it and 3 others of these, together 75.0 %": where the function that calls it calls
 * others beside it that hold the device up for half as long, or longer, and launches nothing itself; else "", and of
 * all but the longest of them. `whole_ps` is
 * what shares are of. */
const char *ids_siblings_in_words(const struct ids_trace *trace, const struct ids_pieces *pieces,
                                  const struct ids_piece *piece, int64_t whole_ps, struct ids_report *report);

/* ", lines 14 (56.1 %) and 13 (43.2 %)", of those in which samples saw the function in the entry's own intervals; ""
 * where one has nearly all of them, of a module's own code, each of whose lines is a culprit, and as above. */
const char *ids_lines_in_words(const struct ids_trace *trace, const struct ids_ledger *ledger,
                               const struct ids_ledger_entry *entry, struct ids_report *report);

/* Of the program's functions that are asked for by name, the one below which samples saw the threads that launch for
 * most of their time, where they launch outside of it too. */
struct ids_function_time {
    const char *function, *file; /* "evaluate", "train.py" */
    const char *caller;          /* "main (train.py:57)"; "" where nobody of the program calls it */
    double share;                /* of the time of those threads in the window */
};
/* 1, or 0 where there is none, or memory ran out. */
int ids_callers_longest(const struct ids_trace *trace, int (*is_it)(const char *function), struct ids_report *report,
                        struct ids_function_time *ret_time);

/* The table `callers`. 0, or -1 when memory ran out. */
int ids_callers_list(const struct ids_analysis *analysis, struct ids_report *report);
extern const struct ids_table_def ids_callers_table;

#endif
