/* same_function.h - whether a function that is gone and one that is new are the same one, renamed or moved. */
#ifndef IDS_LIB_COMPARE_SAME_FUNCTION_H
#define IDS_LIB_COMPARE_SAME_FUNCTION_H

#include "lib/compare/sampled_calls.h"

enum { IDS_CONTENTS_MOST = 48 };

/* What a function calls, by name, or its lines, or who calls it; with the time of each. */
struct ids_part_of_call {
    uint64_t key;
    double ps;
};
struct ids_parts_of_call {
    struct ids_part_of_call at[IDS_CONTENTS_MOST]; /* the first ones; `ps` is of all */
    size_t count;
    double ps;
};

struct ids_contents {
    struct ids_parts_of_call calls, lines, callers;
    struct ids_parts_of_call places; /* who calls it, and how far its line is from the caller's */
};

/* Of a function of that side, as samples of stacks saw it. 0: they did not, or they saw it on the other side too. */
int ids_contents_of(const struct ids_sampled_calls calls[2], int side, const struct ids_function *function,
                    struct ids_contents *ret_contents);

/* Who calls it is the same; what it calls, or the distances between its lines, and the shares of time in them are
 * alike; and that are two calls or three lines at least, because one of them may be chance. */
int ids_are_same_contents(const struct ids_contents *a, const struct ids_contents *b);

/* The same caller calls both, as far from its own line: enough where few samples tell what they do. */
int ids_are_at_same_place(const struct ids_contents *a, const struct ids_contents *b);
int ids_have_same_caller(const struct ids_contents *a, const struct ids_contents *b);

#endif
