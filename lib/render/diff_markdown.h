/* diff_markdown.h - a diff in Markdown, for a pull request or a job's summary. */
#ifndef IDS_LIB_RENDER_DIFF_MARKDOWN_H
#define IDS_LIB_RENDER_DIFF_MARKDOWN_H

#include "lib/render/diff_text.h"

/* The headline, and the causes of the change (the largest `top` of them). `with_figures`: else only why the sides
 * cannot be compared. */
int ids_render_diff_markdown(const struct ids_diff *diff, const struct ids_diff_render *how, int with_figures,
                             FILE *out, struct ids_error *err);

#endif
