/* query_print.h - the rows of a query for people and programs. */
#ifndef IDS_CMD_QUERY_PRINT_H
#define IDS_CMD_QUERY_PRINT_H

#include "lib/events/query.h"

#include <stdio.h>

enum ids_query_format { IDS_QUERY_TABLE, IDS_QUERY_JSON, IDS_QUERY_CSV };

/* All rows of a prepared query. JSON is a list of objects; a blob is the text x'...' of its bytes in JSON and CSV. */
int ids_query_print(struct ids_query *query, enum ids_query_format format, FILE *out, struct ids_error *err);
/* A text as it is but for what a terminal would obey. */
void ids_query_put_lines(struct ids_cell cell, FILE *out);

#endif
