/* partials.h - files of a run as partials (lib/model/partial.h), and partials as a run. */
#ifndef IDS_LIB_RUN_PARTIALS_H
#define IDS_LIB_RUN_PARTIALS_H

#include "lib/base/buffer.h"
#include "lib/io/run_files.h"
#include "lib/run/engine.h"

/* The partial of one file of a run, not packed; it is added to `to`. `is_beside`: of one that lies beside the others.
 * `is_one_of_many`: a run has more files, so that one that cannot be read is a partial too, which says so.
 * *ret_why, of `room` bytes: why the file is not whole, which the partial says; empty where it is. */
int ids_partial_of_file(const struct ids_engine *engine, const struct ids_run_file *file, int is_beside,
                        int is_one_of_many, struct ids_buffer *to, char *ret_why, size_t room, struct ids_error *err);

/* One run of several partials, in a list as ids_find_runs gives it. Anything else among the paths is IDS_USAGE. */
int ids_find_partials(const struct ids_engine *engine, char *const *paths, size_t count, struct ids_run_list *ret_list,
                      struct ids_error *err);

#endif
