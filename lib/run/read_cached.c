#include "lib/run/read_cached.h"

#include "lib/model/partial.h"
#include "lib/run/file_name.h"
#include "lib/run/partial_order.h"
#include "lib/run/partials_ahead.h"
#include "lib/run/read_run.h"
#include "lib/store/partial_cache.h"

struct reading {
    const struct ids_run_files *run;
    struct ids_partials_ahead *ahead;
    struct ids_builder *whole;
    uint64_t most_bytes;
    int cached; /* partials of profiles are kept */
};

/* Those of one file have a report in the cache. */
static int are_kept(const struct ids_engine *engine, const struct ids_run_files *run) {
    return !engine->no_cache && run->file_count > 1;
}

int ids_reads_by_partials(const struct ids_engine *engine, const struct ids_run_files *run) {
    return !engine->redactor && run->file_count > 1 &&
           (are_kept(engine, run) || ids_name_ends_with(run->files[0].path, IDS_PARTIAL_SUFFIX));
}

/* What was read of a file that cannot be read to its end stands, and is not kept. */
static int read_new(const struct reading *reading, const struct ids_run_file *file, const char *stem,
                    const char **ret_format, struct ids_error *err) {
    struct ids_error ignored = IDS_ERROR_INIT; /* a cache that fails is nobody's problem */
    struct ids_partial_of of = {.path = file->path, .stem = stem, .format = "", .bytes = file->size};
    struct ids_builder *own = NULL;
    struct ids_buffer bytes = {0};
    const char *title = NULL;
    int code = ids_builder_new(&own, err);
    if (code) return code;
    ids_builder_bound(own, reading->most_bytes, INT64_MAX);
    int failed = ids_read_run_file(file, ids_builder_sink(own), &title, err);
    if (failed && !ids_is_of_one_file(failed)) code = failed;
    if (!code && !failed) {
        of.format = ids_format_name_of(title);
        code = ids_partial_write(own, &of, &bytes, err);
        if (!code) ids_partial_cache_save(file, &bytes, &ignored);
        *ret_format = title;
    }
    ids_buffer_done(&bytes);
    if (!code) {
        struct ids_error of_taking = IDS_ERROR_INIT; /* beside that of the file */
        code = ids_partial_hand_over(reading->whole, own, &of, &of_taking);
        if (code) *err = of_taking;
    }
    ids_builder_free(own);
    return code ? code : failed;
}

static int read_file(void *own, const struct ids_run_file *file, const char *stem, const char **ret_format,
                     struct ids_error *err) {
    const struct reading *reading = own;
    struct ids_error ignored = IDS_ERROR_INIT;
    struct ids_partial_head head;
    struct ids_partial *partial = NULL;
    const char *format = "";
    if (ids_partials_ahead_take(reading->ahead, (size_t)(file - reading->run->files), &partial, &ignored)) {
        if (reading->cached && !ids_partial_head_of(file, &head)) return read_new(reading, file, stem, ret_format, err);
        /* and says why it cannot be read */
        return ids_read_run_file(file, ids_builder_sink(reading->whole), ret_format, err);
    }
    int code = ids_partial_add(reading->whole, partial, &format, err);
    if (!code && *format) *ret_format = ids_format_title_of(format);
    return code == IDS_CORRUPT || code == IDS_UNSUPPORTED ? IDS_LIMIT : code; /* whatever it is: read the files */
}

int ids_read_by_partials(const struct ids_engine *engine, const struct ids_run_files *run, struct ids_builder *builder,
                         uint64_t most_bytes, const char **ret_format, struct ids_error *err) {
    struct reading reading = {.run = run, .whole = builder, .most_bytes = most_bytes, .cached = are_kept(engine, run)};
    reading.ahead = ids_partials_ahead_begin(run, reading.cached);
    if (!reading.ahead) return ids_no_memory(err);
    int code = ids_read_run_by(engine, run, ids_builder_sink(builder), read_file, &reading, ret_format, err);
    ids_partials_ahead_end(reading.ahead);
    return code;
}
