/* query_rows.h - the rows of a query for people and programs. */
#ifndef IDS_LIB_RENDER_QUERY_ROWS_H
#define IDS_LIB_RENDER_QUERY_ROWS_H

#include "lib/events/query.h"

#include <stdio.h>

enum ids_query_format { IDS_QUERY_TABLE, IDS_QUERY_JSON, IDS_QUERY_CSV };

/* All rows of a prepared query. JSON is a list of objects; a blob is the text x'...' of its bytes in JSON and CSV. */
int ids_render_query(struct ids_query *query, enum ids_query_format format, FILE *out, struct ids_error *err);
/* A text as it is but for what a terminal would obey. */
void ids_render_lines(struct ids_cell cell, FILE *out);

#endif
