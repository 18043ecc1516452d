/* manual.h - the manual pages that are made from what the program itself uses. */
#ifndef IDS_LIB_RENDER_MANUAL_H
#define IDS_LIB_RENDER_MANUAL_H

#include "lib/report/render.h"

#include <stdio.h>

/* The mdoc source. man/idsprof-metrics.7 is this text; tests/cli/test_manual.py holds the two together. */
void ids_manual_metrics(const struct ids_section *sections, int count, FILE *out);

/* man/idsprof-schema.5 in the same way, out of the comments in the SQL of a database; a table or column without one
 * is an error. */
int ids_manual_schema(const char *database, FILE *out, struct ids_error *err);

/* Text as mdoc wants it: lines not too long, a new one for each sentence, none that looks like a request. */
void ids_manual_text(FILE *out, const char *text);

#endif
