/* sql_functions.h - functions that SQL over events has beside those of SQLite.
 *
 *   median(x), percentile(x, p) with p from 0 to 100, stddev(x): aggregates and window functions over the values that
 *   are not NULL; NULL without any, and stddev also of one alone
 *   regexp(pattern, text), and the operator: text REGEXP pattern: whether a part of the text matches the extended
 *   regular expression of POSIX
 */
#ifndef IDS_LIB_EVENTS_SQL_FUNCTIONS_H
#define IDS_LIB_EVENTS_SQL_FUNCTIONS_H

#include "lib/base/error.h"

#include <sqlite3.h>

int ids_sql_functions_add(sqlite3 *db, struct ids_error *err);

#endif
