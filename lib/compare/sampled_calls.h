/* sampled_calls.h - the calls that samples of stacks saw on a side: the tables `stacks` of its runs, read once. */
#ifndef IDS_LIB_COMPARE_SAMPLED_CALLS_H
#define IDS_LIB_COMPARE_SAMPLED_CALLS_H

#include "lib/compare/side.h"

struct ids_sampled_call {
    const char *call, *file; /* "load (data.py:12)"; its file without folders */
    int depth, line;
    double total_ps, self_ps; /* its part of a step of the side */
};

/* As trees: what a call calls stands behind it, one deeper. */
struct ids_sampled_calls {
    struct ids_sampled_call *at;
    size_t count;
    /* What one sample more or less of a recording makes of a step of the side. 0: not known, or Python's functions are
     * recorded as events. */
    double sample_ps;
};

/* Whether so much time on one side, and no sample of it on the other one, is no chance: each of its samples could have
 * been one of either side. */
int ids_is_of_one_side(const struct ids_sampled_calls sides[2], int side, double ps);

/* 0, or -1 when memory ran out. `at` is the caller's to free. */
int ids_sampled_calls_read(const struct ids_side *side, struct ids_sampled_calls *ret_calls);

/* A function in a file, whatever folder that is in and whichever line it is at. */
struct ids_function {
    const char *name, *file;
    size_t name_length, file_length;
};

/* Of a culprit and its place "data.py:29", "data.py:29, mostly in loads". 0: it is no function of the program. */
int ids_function_of(const char *culprit, const char *where, struct ids_function *ret_function);
int ids_is_function(const struct ids_function *function, const char *name, const char *file);
int ids_is_called(const char *call, const char *name, size_t length);
/* "python.wait_for_core": what the machine did to the function that it stands in. */
int ids_is_wait_for_machine(const char *call);
const char *ids_file_of(const char *path); /* without folders */

#endif
