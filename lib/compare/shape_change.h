/* shape_change.h - how the shape of an op's result differs between two programs. */
#ifndef IDS_LIB_COMPARE_SHAPE_CHANGE_H
#define IDS_LIB_COMPARE_SHAPE_CHANGE_H

#include "lib/compare/match.h"

#include <stdint.h>

enum ids_shape_change_kind {
    IDS_SHAPE_OTHER,
    IDS_SHAPE_ELEMENT, /* the same dimensions of another type: f32[8,4] to bf16[8,4] */
    IDS_SHAPE_LEADING, /* only the first dimension is another one: a batch */
};

struct ids_shape_change {
    enum ids_shape_change_kind kind;
    char from[16], to[16];        /* types of the elements */
    int64_t from_count, to_count; /* the first dimension */
};

/* Of shapes as HLO text writes them; of tuples the first part counts. 0 where they are equal or one is not known. */
int ids_shape_change(const char *a, const char *b, struct ids_shape_change *ret_change);
/* They differ, and have as many dimensions each (of tuples arrays): of ops that stand at one place, an array of another
 * rank is another array. */
int ids_shapes_are_comparable(const char *a, const char *b);
/* Leading dimensions are alike where they changed by the same factor: a batch of 8 sequences of 16 has 128 tokens. */
int ids_shape_changes_are_alike(const struct ids_shape_change *a, const struct ids_shape_change *b);
/* Two shapes for people, which live in `texts` where they are not whole: of tuples the first part that differs, or how
 * many parts they have. */
void ids_shapes_told(struct ids_report *texts, const char **a, const char **b);
/* "f32 to bf16", "batch x2 (8 to 16)". */
enum { IDS_SHAPE_CHANGE_TEXT = 128 };
void ids_shape_change_text(const struct ids_shape_change *change, char text[IDS_SHAPE_CHANGE_TEXT]);

/* One dimension of a model: 512 to 1024 in f32[8,512] to f32[8,1024], and in f32[4096] to f32[8192] too. */
struct ids_dimension_change {
    int64_t from, to;
    size_t count; /* ops */
};
/* The dimensions that differ where two shapes differ in dimensions alone; of those that are alike the smallest. 0 where
 * more differs, where they only stand in another order, and where they are more than so many. */
enum { IDS_DIMENSIONS_OF_SHAPE = 4, IDS_DIMENSIONS_MOST = 16 };
size_t ids_dimension_changes(const char *a, const char *b,
                             struct ids_dimension_change ret_changes[IDS_DIMENSIONS_OF_SHAPE]);
/* The same one, or multiples of it. */
int ids_dimension_changes_are_alike(const struct ids_dimension_change *a, const struct ids_dimension_change *b);
int ids_match_has_dimension(const struct ids_match *match, const struct ids_dimension_change *change);
/* The dimensions that changed in two ops or more, that of most ops first. */
size_t ids_matches_dimension_changes(const struct ids_matches *ops,
                                     struct ids_dimension_change ret_changes[IDS_DIMENSIONS_MOST]);

/* How the shapes of the ops changed, where nearly all of those that did changed alike (256 are looked at): how many did
 * so. 0: they did not. */
size_t ids_matches_like_change(const struct ids_matches *ops, struct ids_shape_change *ret_change);

#endif
