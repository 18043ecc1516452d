/* check_junit.h - the result of a check as JUnit XML, which CI systems show. */
#ifndef IDS_CMD_CHECK_JUNIT_H
#define IDS_CMD_CHECK_JUNIT_H

#include "lib/compare/check.h"

#include <stdio.h>

/* A test suite `idsprof check`, a test case a row. Errors of writing stay in the file. */
void ids_check_junit(const struct ids_check *check, FILE *out);

/* "162.5 ms" of a row: its value, or its bound. */
enum { IDS_CHECK_VALUE_ROOM = 64 };
const char *ids_check_value(char buffer[IDS_CHECK_VALUE_ROOM], const struct ids_check_row *row, double value);

#endif
