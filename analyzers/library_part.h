/* library_part.h - the function of a library in which most time of a call goes, out of sampled stacks: a loader's next
 * batch may take its time in what counts batches, and not in reading them. */
#ifndef IDS_ANALYZERS_LIBRARY_PART_H
#define IDS_ANALYZERS_LIBRARY_PART_H

#include "lib/analysis/ledger.h"
#include "lib/report/report.h"

/* "; 78.9 % of that line's time in _measure_prefetch_depth (grain, prefetch.py:232)": of the time in which samples saw
 * the library that the entry's line calls, without what that calls of the program's. The innermost function that has
 * half of it; "" where that is a detail of what the line calls, or waits, or launches, or is known from nothing, or
 * memory ran out. */
const char *ids_library_part_in_words(const struct ids_trace *trace, const struct ids_ledger_entry *entry,
                                      const char *where, struct ids_report *report);

#endif
