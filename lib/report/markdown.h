/* markdown.h - texts in GitHub's Markdown: names come from files, and hold what Markdown reads as markup. */
#ifndef IDS_LIB_REPORT_MARKDOWN_H
#define IDS_LIB_REPORT_MARKDOWN_H

#include "lib/base/arena.h"

#include <stdio.h>

/* The text as it is, whatever it holds; controls as spaces or U+FFFD. */
void ids_markdown_text(FILE *out, struct ids_arena *arena, const char *text);
/* The same in a code span inside a table's cell; nothing for "". */
void ids_markdown_code(FILE *out, struct ids_arena *arena, const char *text);
/* The lines above a table's rows: titles, and which columns are numbers. */
void ids_markdown_head(FILE *out, const char *const *titles, const int *are_numbers, size_t count);

#endif
