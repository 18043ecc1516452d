/* numbers.h - names that differ in numbers only: layer_3/attn, layer_4/attn. A number that belongs to a word, as in
 * conv2d, counts as a part of it. */
#ifndef IDS_ANALYZERS_NUMBERS_H
#define IDS_ANALYZERS_NUMBERS_H

#include "lib/report/report.h"

/* The same for texts that differ in numbers only. */
uint64_t ids_hash_without_numbers(const char *text);
/* "train_step/layer_*\/attn": a * for each number. NULL when memory ran out. */
const char *ids_without_numbers(struct ids_report *report, const char *text);

#endif
