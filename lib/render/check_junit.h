/* check_junit.h - the result of a check as JUnit XML, which CI systems show. */
#ifndef IDS_LIB_RENDER_CHECK_JUNIT_H
#define IDS_LIB_RENDER_CHECK_JUNIT_H

#include "lib/compare/check.h"

#include <stdio.h>

struct ids_junit_options {
    double seconds;          /* that reading and checking took */
    int64_t unix_s;          /* when it began */
    int allows_inconclusive; /* then such a case is skipped, else it failed */
};

/* A test suite `idsprof check`, a test case a row, whose classname and name no other has. Errors of writing stay in the
 * file. */
void ids_render_check_junit(const struct ids_check *check, const struct ids_junit_options *options, FILE *out);

#endif
