/* machine_spread.h - how far two recordings of the same program are apart, told from one recording a side.
 *
 * What the steps of one recording vary by says little of it: they share the load of the machine, the cores that the
 * program got and where its memory lies. But an op that does the same on both sides took another time only through the
 * machine: how much most of them changed says how much one of them may change by chance.
 */
#ifndef IDS_LIB_COMPARE_MACHINE_SPREAD_H
#define IDS_LIB_COMPARE_MACHINE_SPREAD_H

#include "lib/compare/cause_entries.h"
#include "lib/compare/shrinkage.h"

/* Fills entries->machine_spread, after an even change was taken out of the ops. 0, or -1 when memory ran out. */
int ids_find_machine_spread(struct ids_entries *entries);

/* Adds it to what an entry varies by from step to step: of the time that both sides have in it. What the programs say,
 * what one side alone does and what Python computes are not the machine's. */
void ids_add_machine_spread(const struct ids_entries *entries, const struct ids_entry *entry,
                            struct ids_variation *spread);

/* Python itself, whose waits for a core have a culprit of their own. */
int ids_cause_is_python(const struct ids_cause *cause);

#endif
