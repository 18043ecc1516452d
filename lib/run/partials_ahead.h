/* partials_ahead.h - partials of the next files of a run, read by other threads while the run takes over those before
 * them.
 */
#ifndef IDS_LIB_RUN_PARTIALS_AHEAD_H
#define IDS_LIB_RUN_PARTIALS_AHEAD_H

#include "lib/io/run_files.h"
#include "lib/model/partial.h"

struct ids_partials_ahead;

/* Begins with the first files; with one job, or where the system has no thread, it reads each when it is taken.
 * `cached`: partials of profiles are looked for in the cache. NULL when memory ran out. */
struct ids_partials_ahead *ids_partials_ahead_begin(const struct ids_run_files *run, int cached);
/* That of the file with this number in run->files; numbers rise from call to call. IDS_NOT_FOUND: it is no partial, and
 * none is kept of it; any other code than 0: it cannot be read. Then *ret_partial is NULL, else the caller's. */
int ids_partials_ahead_take(struct ids_partials_ahead *ahead, size_t file, struct ids_partial **ret_partial,
                            struct ids_error *err);
void ids_partials_ahead_end(struct ids_partials_ahead *ahead);

#endif
