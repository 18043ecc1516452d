/* check_words.h - the rows of a check in words, for the terminal, Markdown and JUnit. */
#ifndef IDS_LIB_RENDER_CHECK_WORDS_H
#define IDS_LIB_RENDER_CHECK_WORDS_H

#include "lib/compare/check.h"

/* All texts live in the arena; "" where memory ran out or there is nothing to say. */

const char *ids_check_word(enum ids_check_verdict verdict); /* "pass", "FAIL" */
/* "162.5 ms", "no data". */
const char *ids_check_value_text(struct ids_arena *arena, const struct ids_check_row *row);
/* "<= 150.0 ms". */
const char *ids_check_bound_text(struct ids_arena *arena, const struct ids_check_row *row);
/* "10.66 ms ± 310.0 us": where a new recording of the baseline lies. */
const char *ids_check_baseline_text(struct ids_arena *arena, const struct ids_check_row *row);
/* "over 8 steps after 4". */
const char *ids_check_steps_text(struct ids_arena *arena, const struct ids_check_row *row);
/* Why there is no value, why it cannot be told, what was accepted when and why. */
const char *ids_check_note_text(struct ids_arena *arena, const struct ids_check_row *row);
/* Both. */
const char *ids_check_remark_text(struct ids_arena *arena, const struct ids_check_row *row);
/* "fail: 1 of 3 limits failed, 1 inconclusive". */
const char *ids_check_summary_text(struct ids_arena *arena, const struct ids_check *check);

/* "2026-11-22" */
enum { IDS_CHECK_DATE_ROOM = 32 };
const char *ids_check_date(char text[IDS_CHECK_DATE_ROOM], int64_t unix_s);

#endif
