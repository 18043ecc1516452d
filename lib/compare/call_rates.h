/* call_rates.h - whether a step that is a call of a function is the same part of the loop on both sides.
 *
 * Who accumulates gradients calls the same function several times in a turn of the loop, and updates once: a call is a
 * part of a turn then, and its time no step's. */
#ifndef IDS_LIB_COMPARE_CALL_RATES_H
#define IDS_LIB_COMPARE_CALL_RATES_H

#include "lib/compare/side.h"

/* Steps are calls of one function on both sides, and all else that comes with each of them on one side comes with a
 * part of them on the other: why they are no steps of one kind. NULL: they are, as far as is known. */
const char *ids_call_rates_unlike(const struct ids_side *a, const struct ids_side *b, struct ids_report *texts);
/* The same where it comes with a part of them on both sides, and with another part: an update, or an evaluation. */
const char *ids_call_rates_other(const struct ids_side *a, const struct ids_side *b, struct ids_report *texts);

#endif
