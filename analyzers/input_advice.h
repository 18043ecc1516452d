/* input_advice.h - what the stages of the input pipeline say of why devices wait for input. */
#ifndef IDS_ANALYZERS_INPUT_ADVICE_H
#define IDS_ANALYZERS_INPUT_ADVICE_H

#include "lib/report/report.h"

/* "; the program needs 87 a second of decode, and 1 thread gives 3.5: 25 times as many, or less work in each". Empty
 * where no stage was recorded. `culprit`: what the waiting is booked to, or NULL. Text of the report. */
const char *ids_input_in_words(struct ids_report *report, const char *culprit);

#endif
