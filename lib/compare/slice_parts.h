/* slice_parts.h - what a slice takes in place of the parts of a step: its accounts, and its time as the first
 * figure. */
#ifndef IDS_LIB_COMPARE_SLICE_PARTS_H
#define IDS_LIB_COMPARE_SLICE_PARTS_H

#include "lib/compare/cause_entries.h"

/* The two accounts of which ops are, of ledgers that hold nothing but the slice; and what they sum to in place of the
 * step. 0, or -1 when memory ran out. */
int ids_slice_parts(struct ids_entries *entries, struct ids_parts *ret_parts);

/* The time of the slice as the first figure, and the step time as the second one. */
void ids_slice_headline(const struct ids_compare_options *options, const struct ids_parts *parts, int by_run,
                        struct ids_report *texts, struct ids_difference rows[IDS_HEADLINES], size_t *count);

#endif
