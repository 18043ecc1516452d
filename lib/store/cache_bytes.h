/* cache_bytes.h - an entry of the cache that is nothing but bytes: a report (report_bytes.h) or a partial.
 *
 * It is a database as all entries are, with the same key, seal and name of the run, so that one list, one check and one
 * way to be damaged serve all. The bytes lie in the table that is named after what they are.
 */
#ifndef IDS_LIB_STORE_CACHE_BYTES_H
#define IDS_LIB_STORE_CACHE_BYTES_H

#include "lib/base/buffer.h"
#include "lib/store/events_cache.h"

/* Fills the temporary file of the entry. `run`: the run's name. */
int ids_cache_bytes_write(const struct ids_events_entry *entry, const char *table, const char *run,
                          const struct ids_buffer *bytes, struct ids_error *err);
/* Appends the bytes to `to`. IDS_NOT_FOUND when there is no such file, or it is for another key. */
int ids_cache_bytes_read(const char *path, const char *table, const char *key, struct ids_buffer *to,
                         struct ids_error *err);

#endif
