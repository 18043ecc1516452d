/* sections.h - the analyzers as the renderers and the options see them. */
#ifndef IDS_LIB_RUN_SECTIONS_H
#define IDS_LIB_RUN_SECTIONS_H

#include "lib/report/render.h"

/* All sections, in the order of analyzers.def. The array is static. */
const struct ids_section *ids_sections(int *ret_count);

const char *ids_section_choice(int i); /* names of sections */
const char *ids_metric_choice(int i);  /* ids of metrics */
const char *ids_explain_choice(int i); /* ids of metrics and tables */

#endif
