/* verdict_words.h - figures of a comparison, and what is thought of them, in words. */
#ifndef IDS_LIB_COMPARE_VERDICT_WORDS_H
#define IDS_LIB_COMPARE_VERDICT_WORDS_H

#include "lib/compare/difference.h"
#include "lib/report/painter.h"

/* "+5.450 ms", "-3.1 points": a difference with its sign. */
enum { IDS_SIGNED_ROOM = 48 };
const char *ids_signed(char buffer[IDS_SIGNED_ROOM], enum ids_unit unit, double value);
/* "regression, by 2.1 ms to 3.4 ms", "within the spread (-1.2 ms to +0.4 ms)". */
const char *ids_verdict_words(struct ids_painter *painter, const struct ids_difference *row);
/* The value of a figure in the unit's base. */
struct ids_value ids_figure_value(enum ids_unit unit, int known, double value);

#endif
