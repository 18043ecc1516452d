/* same_function.h - whether a function that is gone and one that is new are the same one, renamed or moved. */
#ifndef IDS_LIB_COMPARE_SAME_FUNCTION_H
#define IDS_LIB_COMPARE_SAME_FUNCTION_H

#include "lib/compare/sampled_calls.h"

/* By what samples of stacks saw: neither side has the other's function too; who calls it is the same; what it calls, or
 * the distances between its lines, and the shares of time in them are alike; and that are two calls or three lines at
 * least, because one of them may be chance. */
int ids_is_same_function(const struct ids_sampled_calls calls[2], const struct ids_function functions[2]);

#endif
