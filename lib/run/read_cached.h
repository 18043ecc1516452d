/* read_cached.h - reads a run of many files by the partials of those that the cache has, and keeps those of the others.
 */
#ifndef IDS_LIB_RUN_READ_CACHED_H
#define IDS_LIB_RUN_READ_CACHED_H

#include "lib/io/run_files.h"
#include "lib/model/builder.h"
#include "lib/run/engine.h"

/* Whether that is worth it: not for one file, whose report is kept, nor where nothing may be kept. */
int ids_reads_by_partials(const struct ids_engine *engine, const struct ids_run_files *run);
/* As ids_read_run into the builder, a file of which may hold `most_bytes`. IDS_LIMIT: not all of it fits, and only a
 * reader of the files themselves can leave something out; the builder can only be freed then. */
int ids_read_by_partials(const struct ids_engine *engine, const struct ids_run_files *run, struct ids_builder *builder,
                         uint64_t most_bytes, const char **ret_format, struct ids_error *err);

#endif
