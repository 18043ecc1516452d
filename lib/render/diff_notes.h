/* diff_notes.h - what is to be said of where a change comes from, besides the table of causes: for people, wherever
 * they read it. */
#ifndef IDS_LIB_RENDER_DIFF_NOTES_H
#define IDS_LIB_RENDER_DIFF_NOTES_H

#include "lib/compare/diff.h"
#include "lib/report/painter.h"

/* Whether the shares of causes are said: not of a change that may be chance. */
int ids_diff_has_shares(const struct ids_diff *diff);

/* "+1.5 ms"; "~ -1 ms to +2 ms", with the mark of an interval that holds zero. */
const char *ids_diff_signed(struct ids_painter *painter, double ps);
const char *ids_diff_interval(struct ids_painter *painter, const struct ids_interval *interval);

/* Sentences, the most general first: how much is explained, what is known of each of the first `shown` causes, and of
 * time in which nothing was recorded. In the painter's arena. */
const char *const *ids_diff_notes(struct ids_painter *painter, const struct ids_diff *diff, size_t shown,
                                  size_t *ret_count);

#endif
