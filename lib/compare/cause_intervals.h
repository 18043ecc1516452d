/* cause_intervals.h - how sure the entries of a waterfall are. */
#ifndef IDS_LIB_COMPARE_CAUSE_INTERVALS_H
#define IDS_LIB_COMPARE_CAUSE_INTERVALS_H

#include "lib/compare/cause_entries.h"

/* Sets the intervals of all causes, their variances drawn towards those of their like where they are from recording to
 * recording. 0, or -1 when memory ran out. */
int ids_entries_find_intervals(struct ids_entries *entries);
/* How far the machine alone moves ops that do the same, where a side is one recording and no noise is stated: then
 * intervals hold it from now on. 0, or -1. */
int ids_entries_find_machine_spread(struct ids_entries *entries);
/* That of one which others were put into. */
void ids_entry_find_interval(const struct ids_entries *entries, struct ids_entry *entry);
/* Makes intervals as wide as the false discovery rate wants them: of the large culprits, and of all others. (From step
 * to step of single recordings no verdict is given.) 0, or -1. */
int ids_entries_hold_discovery_rate(struct ids_entries *entries);

#endif
