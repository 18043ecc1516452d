/* match.h - matches the ops (or kernels) of two sides, and says how each one changed.
 *
 * An op is matched by what it computes (fingerprint), also in a program with another name, which tells that the program
 * was renamed; then by its name without number and its shape; then by its place in the program (the framework's name);
 * and by name alone if nothing better is known. Among several equal ones (the same matrix product in every layer),
 * those at the same place in the program and on the same line (places.h) are matched first, then those with the same
 * name, then the rest in order. Ops without a match are added or removed.
 */
#ifndef IDS_LIB_COMPARE_MATCH_H
#define IDS_LIB_COMPARE_MATCH_H

#include "lib/compare/difference.h"
#include "lib/compare/items.h"

enum ids_match_by { IDS_BY_NOTHING, IDS_BY_FINGERPRINT, IDS_BY_SHAPE, IDS_BY_PLACE, IDS_BY_NAME };
enum ids_match_class {
    IDS_MATCH_SAME,
    IDS_MATCH_SLOWER,
    IDS_MATCH_FASTER,
    IDS_MATCH_ADDED,
    IDS_MATCH_REMOVED,
    IDS_MATCH_UNSURE
};

struct ids_match {
    const struct ids_item *a, *b; /* NULL: not on that side */
    enum ids_match_by by;
    enum ids_match_class class;
    double change_ps; /* its contribution: b - a, per step and device */
    struct ids_interval interval;
};

/* A program of side a that side b has under another name. */
struct ids_renamed {
    const char *a, *b;
};

struct ids_matches {
    struct ids_match *at; /* largest contribution first */
    size_t count, room;
    struct ids_renamed *renamed;
    size_t renamed_count, renamed_room;
};

/* What side b calls a program of side a. */
const char *ids_matches_program_in_b(const struct ids_matches *matches, const char *module);

const char *ids_match_by_name(enum ids_match_by by);
const char *ids_match_class_name(enum ids_match_class class);

/* The items must outlive the matches. An op is slower or faster if its time changed by more than the threshold. If
 * its spread is known, its interval must exclude zero too: intervals are as wide as the false discovery rate over all
 * compared ops wants them, and from recording to recording an op's variance is drawn towards that of its like
 * (shrinkage.h). It is the same where its whole interval lies within the threshold, and unsure otherwise. */
int ids_matches_make(const struct ids_side *a_side, const struct ids_items *a, const struct ids_side *b_side,
                     const struct ids_items *b, const struct ids_compare_options *options,
                     struct ids_matches *ret_matches, struct ids_error *err);
void ids_matches_done(struct ids_matches *matches);

#endif
