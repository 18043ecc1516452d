#include "lib/store/partial_cache.h"

#include "lib/store/cache_bytes.h"
#include "lib/store/cache_partials.h"
#include "lib/store/db.h"

#include <stdlib.h>
#include <string.h>

static const char table[] = "partial";

/* The file as a run of its own, by whose identity it is kept. */
static struct ids_run_files alone(const struct ids_run_file *file) {
    const char *slash = strrchr(file->path, '/');
    return (struct ids_run_files){.path = file->path,
                                  .name = slash ? (char *)slash + 1 : file->path,
                                  .files = (struct ids_run_file *)file,
                                  .file_count = 1};
}

void ids_partial_cache_expect_threads(void) {
    ids_db_expect_threads();
}

int ids_partial_cache_save(const struct ids_run_file *file, const struct ids_buffer *bytes, struct ids_error *err) {
    const struct ids_run_files run = alone(file);
    struct ids_events_entry entry;
    int code = ids_partial_entry_begin(&run, &entry, err);
    if (code) return code;
    code = ids_cache_bytes_write(&entry, table, run.name, bytes, err);
    if (!code) code = ids_events_entry_commit(&entry, err);
    ids_events_entry_done(&entry);
    return code;
}

int ids_partial_cache_load(const struct ids_run_file *file, struct ids_buffer *to, struct ids_error *err) {
    const struct ids_run_files run = alone(file);
    char *path = NULL, *key = NULL;
    int code = ids_partial_entry_find(&run, &path, &key, err);
    if (!code) code = ids_cache_bytes_read(path, table, key, to, err);
    if (!code) ids_cache_mark_used(path);
    free(path);
    free(key);
    return code;
}
