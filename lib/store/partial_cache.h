/* partial_cache.h - partials of single files of a run (lib/model/partial.h) in the cache, so that of a run of many
 * hosts only files that are new are read. The rules for names and validity are those of all entries
 * (cache_folder.h). */
#ifndef IDS_LIB_STORE_PARTIAL_CACHE_H
#define IDS_LIB_STORE_PARTIAL_CACHE_H

#include "lib/base/buffer.h"
#include "lib/base/error.h"
#include "lib/io/run_files.h"

/* The partial of that file, not packed, is added to `to`; IDS_NOT_FOUND when there is none that is valid. */
int ids_partial_cache_load(const struct ids_run_file *file, struct ids_buffer *to, struct ids_error *err);
/* To be called before other threads load some beside this one, which may save others. */
void ids_partial_cache_expect_threads(void);
int ids_partial_cache_save(const struct ids_run_file *file, const struct ids_buffer *bytes, struct ids_error *err);

#endif
