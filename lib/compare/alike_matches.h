/* alike_matches.h - the matches of ops put together that compute the same and changed in the same way: of 64 layers one
 * row, not 64.
 */
#ifndef IDS_LIB_COMPARE_ALIKE_MATCHES_H
#define IDS_LIB_COMPARE_ALIKE_MATCHES_H

#include "lib/compare/match.h"
#include "lib/report/alike_names.h"

/* Of the same program, fingerprints on both sides, class and way of matching. An op without a fingerprint stands
 * alone. */
struct ids_alike_matches {
    const struct ids_match *largest; /* the one with the largest change */
    struct ids_alike_names names;    /* of side b where there is one */
    double a_ps, b_ps, change_ps;    /* sums, per step (or in the window) and device */
    double count_a, count_b;         /* executions of the same */
};

struct ids_alike_list {
    struct ids_alike_matches *at; /* largest change first */
    size_t count, room;
};

/* Texts stay those of the matches' items. */
int ids_alike_list_make(const struct ids_matches *matches, struct ids_alike_list *ret_list, struct ids_error *err);
void ids_alike_list_done(struct ids_alike_list *list);

#endif
