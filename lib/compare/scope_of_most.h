/* scope_of_most.h - the scope of a program in which most of some ops are. */
#ifndef IDS_LIB_COMPARE_SCOPE_OF_MOST_H
#define IDS_LIB_COMPARE_SCOPE_OF_MOST_H

#include "lib/report/report.h"

struct ids_placed_op {
    const char *path; /* in side b's words (places.h) */
    int more;         /* 1: it is counted; -1: it is taken off again */
};

/* The innermost scope that has three quarters of them or more, by number. *ret_scope: NULL where they are in several,
 * or in none; lives in `texts`. 0, or -1 when memory ran out. */
int ids_scope_of_most(const struct ids_placed_op *ops, size_t count, struct ids_report *texts, const char **ret_scope);

#endif
