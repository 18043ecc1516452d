/* cache_partials.h - what partial_cache.c needs of the cache. */
#ifndef IDS_LIB_STORE_CACHE_PARTIALS_H
#define IDS_LIB_STORE_CACHE_PARTIALS_H

#include "lib/io/run_files.h"
#include "lib/store/events_cache.h"

/* Where the entry of that file would be, and the key that it must have; both are the caller's, in any case. */
int ids_partial_entry_find(const struct ids_run_files *file, char **ret_path, char **ret_key, struct ids_error *err);
/* As ids_events_entry_begin. */
int ids_partial_entry_begin(const struct ids_run_files *file, struct ids_events_entry *ret_entry,
                            struct ids_error *err);
void ids_cache_mark_used(const char *path);

#endif
