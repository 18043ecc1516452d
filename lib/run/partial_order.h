/* partial_order.h - partials are a run in the order of the files that they were made of, whatever they are called. */
#ifndef IDS_LIB_RUN_PARTIAL_ORDER_H
#define IDS_LIB_RUN_PARTIAL_ORDER_H

#include "lib/io/run_files.h"
#include "lib/model/partial.h"
#include "lib/run/engine.h"

/* What the file says of itself; 0: it is no partial, or cannot be read, which is told when the run is read. */
int ids_partial_head_of(const struct ids_run_file *file, struct ids_partial_head *ret_head);
/* Those of files that lay beside a run come at the end. One that is there twice counts once, and that is said. */
int ids_partials_put_in_order(const struct ids_engine *engine, struct ids_run_files *run, struct ids_error *err);
/* The same of a run of several files whose names all end as those of partials do; nothing to do for any other. */
int ids_partials_arrange(const struct ids_engine *engine, struct ids_run_files *run, struct ids_error *err);

#endif
