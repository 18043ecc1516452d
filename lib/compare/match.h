/* match.h - matches the ops (or kernels) of two sides, and says how each one changed.
 *
 * An op is matched by what it computes (fingerprint), also in a program with another name; then by its name without
 * number and its shape; then by its place in the program (the framework's name); and by name alone if nothing better is
 * known. Among several equal ones (the same matrix product in every layer), those at the same place in the program are
 * matched first, then those with the same name, then the rest in order. Ops without a match are added or removed.
 */
#ifndef IDS_LIB_COMPARE_MATCH_H
#define IDS_LIB_COMPARE_MATCH_H

#include "lib/compare/difference.h"
#include "lib/compare/items.h"

enum ids_match_by { IDS_BY_NOTHING, IDS_BY_FINGERPRINT, IDS_BY_SHAPE, IDS_BY_PLACE, IDS_BY_NAME };
enum ids_match_class { IDS_MATCH_SAME, IDS_MATCH_SLOWER, IDS_MATCH_FASTER, IDS_MATCH_ADDED, IDS_MATCH_REMOVED };

struct ids_match {
    const struct ids_item *a, *b; /* NULL: not on that side */
    enum ids_match_by by;
    enum ids_match_class class;
    double change_ps; /* its contribution: b - a, per step and device */
    struct ids_interval interval;
};

struct ids_matches {
    struct ids_match *at; /* largest contribution first */
    size_t count, room;
};

const char *ids_match_by_name(enum ids_match_by by);
const char *ids_match_class_name(enum ids_match_class class);

/* The items must outlive the matches. An op is slower or faster if its time changed by more than the threshold. If
 * its spread is known, its interval must exclude zero too; the interval is widened by the number of compared ops
 * (Bonferroni), so that none of a thousand equal ops differs by chance. */
int ids_matches_make(const struct ids_side *a_side, const struct ids_items *a, const struct ids_side *b_side,
                     const struct ids_items *b, const struct ids_compare_options *options,
                     struct ids_matches *ret_matches, struct ids_error *err);
void ids_matches_done(struct ids_matches *matches);

#endif
