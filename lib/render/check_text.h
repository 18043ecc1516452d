/* check_text.h - a check for people: on a terminal, and in Markdown for a pull request or a job's summary. */
#ifndef IDS_LIB_RENDER_CHECK_TEXT_H
#define IDS_LIB_RENDER_CHECK_TEXT_H

#include "lib/compare/check.h"
#include "lib/report/render.h"

struct ids_check_render {
    struct ids_render render;
    int is_quiet;     /* only what is not kept */
    const char *path; /* as the user named the runs, for the next command */
    int is_one_run;
    const char *baseline; /* the name of a saved one, or a run's path; NULL: none */
    int is_saved;         /* it is a name */
};

int ids_render_check_text(const struct ids_check *check, const struct ids_check_render *how, FILE *out,
                          struct ids_error *err);
int ids_render_check_markdown(const struct ids_check *check, const struct ids_check_render *how, FILE *out,
                              struct ids_error *err);

#endif
