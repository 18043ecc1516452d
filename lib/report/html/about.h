/* about.h - what the ids of a page's report mean, as JSON: titles and definitions of the metrics, tables and columns
 * that it has, and names and colours of accounts. From the definitions that the manual is made of. */
#ifndef IDS_LIB_REPORT_HTML_ABOUT_H
#define IDS_LIB_REPORT_HTML_ABOUT_H

#include "lib/report/render.h"

/* `kind` is that of the page. Sections are those of `render`. */
void ids_page_about(const char *kind, const struct ids_report *report, const struct ids_render *render, FILE *out);

#endif
