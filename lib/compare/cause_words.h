/* cause_words.h - a cause in words: "layer2: 12 ops added". */
#ifndef IDS_LIB_COMPARE_CAUSE_WORDS_H
#define IDS_LIB_COMPARE_CAUSE_WORDS_H

#include "lib/compare/cause.h"
#include "lib/compare/structure.h"

/* The text lives in `texts`, or is one of the cause's own. */
const char *ids_cause_words(const struct ids_cause *cause, const struct ids_structure *structure, int are_other_devices,
                            struct ids_report *texts);

/* "1.206 ms", in `texts`. */
const char *ids_cause_time(struct ids_report *texts, double ps);

#endif
