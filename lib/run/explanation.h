/* explanation.h - the statement that gives a metric from rows, and what it gives. */
#ifndef IDS_LIB_RUN_EXPLANATION_H
#define IDS_LIB_RUN_EXPLANATION_H

#include "lib/report/render.h"
#include "lib/run/open_events.h"

struct ids_explanation {
    struct ids_explained about;              /* for ids_render.explained */
    char *sql, *command, *text, *definition; /* what it points to */
    struct ids_topic topic;
    const char *figures[3];
};

/* Of the metric, table or account `id`, which must exist; where it lies is not moved afterwards. The statement is run
 * over the events unless their path is NULL; then `about` says with `command` (copied) how to have it run. The
 * caller ends it with ids_explanation_done, also after a failure. */
int ids_explanation_make(const char *id, struct ids_opened_events *events, const char *command,
                         struct ids_explanation *ret_explanation, struct ids_error *err);
void ids_explanation_done(struct ids_explanation *explanation);

#endif
