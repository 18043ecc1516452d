/* amount.h - a number with the unit of a figure: "150 ms", "1.5 GB", "70 %".
 *
 * A number without its unit is refused. A share of 10 would be a thousand percent, and a limit like that holds for
 * ever.
 */
#ifndef IDS_LIB_COMPARE_AMOUNT_H
#define IDS_LIB_COMPARE_AMOUNT_H

#include "lib/report/report.h"

/* The text in the unit's base (ps, bytes, ratio). Counts and plain numbers have no unit, and 0 needs none. IDS_USAGE
 * says what to write. */
int ids_amount_parse(const char *text, size_t length, enum ids_unit unit, double *ret_value, struct ids_error *err);

#endif
