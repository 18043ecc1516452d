#include "lib/run/read_run.h"

#include "lib/events/query.h"
#include "lib/io/head.h"
#include "lib/io/source.h"
#include "lib/redact/redacting.h"
#include "lib/report/report.h"
#include "lib/run/file_name.h"
#include "lib/run/format_names.h"

#include <string.h>
#include <sys/stat.h>

/* ---- which format ---- */

const struct ids_format *ids_format_of_bytes(const uint8_t *head, size_t length, int *ret_more) {
    const struct ids_format *format = NULL;
    int best = 0;
    *ret_more = 0;
    for (int i = 0; i < ids_format_count; i++) {
        int wants = 0, bid = ids_formats[i]->bid(head, length, &wants);
        *ret_more |= wants;
        if (bid <= best) continue;
        best = bid;
        format = ids_formats[i];
    }
    return format;
}

/* By content; *ret_format is NULL where it says nothing. */
static int format_of_content(struct ids_source *source, const struct ids_format **ret_format, struct ids_error *err) {
    struct ids_head head = {0};
    int more = 1, code = 0;
    while (!code && more) {
        code = ids_head_read(&head, source, err);
        more = 0;
        if (!code) *ret_format = ids_format_of_bytes(head.bytes, head.length, &more);
        more &= ids_head_has_more(&head);
    }
    if (!code && !head.length)
        code =
            ids_fail(err, IDS_UNSUPPORTED, "%s", ids_source_cut(source) ? ids_source_cut(source) : "the file is empty");
    ids_head_done(&head);
    return code;
}

int ids_holds_profile(const char *path) {
    struct ids_error ignored = IDS_ERROR_INIT;
    struct ids_source *source = NULL;
    const struct ids_format *format = NULL;
    struct stat status;
    if (stat(path, &status) || !S_ISREG(status.st_mode) || ids_source_open(path, &source, &ignored)) return 0;
    if (format_of_content(source, &format, &ignored)) format = NULL;
    ids_source_close(source);
    return format && strcmp(format->form, "partial") != 0;
}

/* What people give it that others write, and what to do then; 0 where it is nothing of these. */
static int refuse_known(struct ids_source *source, struct ids_error *err) {
    static const struct {
        const char *ending, *what, *hint;
    } kinds[] = {
        {".pftrace", "a trace in Perfetto's own format, not a profile",
         "idsprof writes it for Perfetto and reads Chrome's JSON and xplane.pb"},
        {".perfetto-trace", "a trace in Perfetto's own format, not a profile",
         "idsprof writes it for Perfetto and reads Chrome's JSON and xplane.pb"},
        {".nsys-rep", "a recording of Nsight Systems, which only that reads",
         "'idsprof capture' records CUDA programs itself"},
        {".idspart.gz", "a partial that was packed once more", "gunzip makes it a partial again"},
        {".cpuprofile", "a CPU profile of V8, which knows no device",
         "idsprof reads Chrome traces, xplane.pb, Kineto's"},
    };
    static const char rocprof[] = "{\"rocprofiler-sdk-tool\"";
    uint8_t head[sizeof rocprof - 1];
    size_t length = 0;
    int code = ids_source_head(source, head, sizeof head, &length, err);
    if (code) return code;
    if (length == sizeof head && !memcmp(head, rocprof, length)) {
        ids_fail(err, IDS_UNSUPPORTED, "the JSON of rocprofv3, AMD's own profiler, which idsprof does not read");
        return ids_hint(err,
                        "torch.profiler and jax.profiler record what idsprof reads; rocprofv3 writes nothing of that");
    }
    if (length >= 2 && (!memcmp(head, "\xff\xfe", 2) || !memcmp(head, "\xfe\xff", 2))) {
        ids_fail(err, IDS_UNSUPPORTED, "text in UTF-16, and idsprof reads UTF-8");
        return ids_hint(err, "iconv -f UTF-16 -t UTF-8 makes it that");
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!ids_name_ends_with(ids_source_path(source), kinds[i].ending)) continue;
        ids_fail(err, IDS_UNSUPPORTED, "%s", kinds[i].what);
        return ids_hint(err, "%s", kinds[i].hint);
    }
    return 0;
}

/* *ret_named: only the file's name speaks for the format. */
static int choose_format(struct ids_source *source, const struct ids_format **ret_format, int *ret_named,
                         struct ids_error *err) {
    int code = format_of_content(source, ret_format, err);
    if (code) return code;
    if (*ret_format) return 0;
    /* Content decides. Where it says nothing, a file that is named like a profile is read as one, to say where it is
     * damaged. */
    *ret_format = ids_format_named(ids_source_path(source), 0);
    *ret_named = *ret_format != NULL;
    if (*ret_format) return 0;
    if (ids_is_database(ids_source_path(source))) {
        ids_fail(err, IDS_UNSUPPORTED, "a database, not a profile");
        return ids_hint(err, "'idsprof report' and 'idsprof query' read those that idsprof made");
    }
    code = refuse_known(source, err);
    if (code) return code;
    char expected[512];
    ids_formats_expected(expected, sizeof expected);
    return ids_fail(err, IDS_UNSUPPORTED,
                    "not a profile that idsprof can read (expected %s; in gzip or an archive too)", expected);
}

/* What came out of a source that was cut is a whole file to the format, so its end is said here. */
static int say_cut(const struct ids_source *source, struct ids_sink *sink, struct ids_error *err) {
    const char *why = ids_source_cut(source);
    if (!why) return 0;
    sink->complete = 0;
    struct ids_diag diag = {.severity = IDS_DAMAGE,
                            .id = "source.cut",
                            .text = why,
                            .offset = (int64_t)ids_source_cut_at(source),
                            .count = 1};
    return sink->ops->diag(sink, &diag, err);
}

const char *ids_format_title_of(const char *name) {
    for (int i = 0; i < ids_format_count; i++)
        if (!strcmp(ids_formats[i]->name, name)) return ids_formats[i]->title;
    return name;
}

const char *ids_format_name_of(const char *title) {
    for (int i = 0; i < ids_format_count; i++)
        if (!strcmp(ids_formats[i]->title, title)) return ids_formats[i]->name;
    return "";
}

/* A file of bytes that was read and written as text: what was no UTF-8 became U+FFFD, which its begin shows. */
static int was_text(const struct ids_source *source) {
    uint8_t head[4096];
    size_t length = 0;
    struct ids_error ignored = IDS_ERROR_INIT;
    return !ids_source_copy(source, 0, head, sizeof head, &length, &ignored) &&
           memmem(head, length, "\xef\xbf\xbd", 3) != NULL;
}

/* `source` is closed. */
static int read_source(struct ids_source *source, struct ids_sink *sink, const char **ret_format,
                       struct ids_error *err) {
    const struct ids_format *format = NULL;
    int named = 0;
    sink->read_as = NULL;
    int code = choose_format(source, &format, &named, err);
    if (!code && !format->streams) code = ids_source_unpack(source, err);
    if (!code) code = format->read(source, sink, err);
    if (code && named) {
        ids_error_at(err, "not a profile, though named like one");
        if (code == IDS_CORRUPT && was_text(source))
            ids_hint(err, "it was copied as text, which loses each byte that is no UTF-8: copy it again, as binary");
    }
    if (code == IDS_CORRUPT && ids_source_cut(source)) ids_error_at(err, "%s", ids_source_cut(source));
    if (!code) code = say_cut(source, sink, err);
    if (!code && (!sink->read_as || *sink->read_as)) /* a partial of what could not be read has no format */
        *ret_format = sink->read_as ? ids_format_title_of(sink->read_as) : format->title;
    if (code)
        ids_error_at(err, strcmp(ids_source_path(source), "standard input") ? "'%s'" : "%s", ids_source_path(source));
    ids_source_close(source);
    return code;
}

int ids_read_file(const char *path, struct ids_sink *sink, const char **ret_format, struct ids_error *err) {
    struct ids_source *source = NULL;
    int code = ids_source_open(path, &source, err);
    return code ? code : read_source(source, sink, ret_format, err);
}

int ids_read_run_file(const struct ids_run_file *file, struct ids_sink *sink, const char **ret_format,
                      struct ids_error *err) {
    struct ids_source *source = NULL;
    int code = ids_run_file_open(file, &source, err);
    return code ? code : read_source(source, sink, ret_format, err);
}

/* What lies beside the files of the run. It says more of it; what cannot be read of it is said, and the run stands. */
static int read_beside(const struct ids_run_files *run, struct ids_sink *sink, struct ids_error *err) {
    for (size_t i = 0; i < run->beside_count; i++) {
        const char *format = NULL;
        int complete = sink->complete;
        char stem[IDS_STEM_BYTES];
        ids_beside_stem(run->beside[i].path, stem, sizeof stem);
        sink->file_name = ids_intern_z(sink->strings, stem);
        if (sink->file_name == IDS_NO_TEXT) return ids_no_memory(err);
        int code = ids_read_run_file(&run->beside[i], sink, &format, err);
        if (code == IDS_NOMEM) return code;
        sink->complete = complete; /* what is missing of it is not missing of the run */
        if (!code) continue;
        struct ids_diag diag = {IDS_WARNING, "run.beside", err->text, -1, 1};
        char text[sizeof err->text];
        memcpy(text, err->text, sizeof text);
        diag.text = text;
        *err = (struct ids_error)IDS_ERROR_INIT;
        code = sink->ops->diag(sink, &diag, err);
        if (code) return code;
    }
    return 0;
}

static int read_one(const struct ids_engine *engine, const struct ids_run_files *run, size_t file,
                    struct ids_sink *sink, ids_file_reader *read, void *own, const char **ret_format,
                    struct ids_error *err) {
    const struct ids_run_file *source = &run->files[file];
    char size[IDS_VALUE_ROOM], stem[IDS_STEM_BYTES];
    ids_value_format(ids_int_value(IDS_UNIT_BYTES, (int64_t)source->size), size, sizeof size);
    if (source->size) {
        ids_engine_progress(engine, "reading %.80s (%s)", ids_file_name(source->path), size);
    } else {
        ids_engine_progress(engine, "reading"); /* a pipe */
    }
    ids_profile_stem(source->path, stem, sizeof stem);
    sink->file_name = run->file_count > 1 ? ids_intern_z(sink->strings, stem) : 0;
    if (sink->file_name == IDS_NO_TEXT) return ids_no_memory(err);
    return read ? read(own, source, stem, ret_format, err) : ids_read_run_file(source, sink, ret_format, err);
}

int ids_is_of_one_file(int code) {
    return code == IDS_CORRUPT || code == IDS_TRUNCATED || code == IDS_UNSUPPORTED || code == IDS_IO ||
           code == IDS_NOT_FOUND;
}

/* A file that cannot be read is said, and the run of the others stands; what was read of it before stands too. */
int ids_read_run_by(const struct ids_engine *engine, const struct ids_run_files *run, struct ids_sink *sink,
                    ids_file_reader *read, void *own, const char **ret_format, struct ids_error *err) {
    struct ids_error first;
    size_t unreadable = 0;
    for (size_t i = 0; i < run->file_count; i++) {
        int code = read_one(engine, run, i, sink, read, own, ret_format, err);
        if (!code) continue;
        if (run->file_count == 1 || !ids_is_of_one_file(code)) return code;
        if (!unreadable++) first = *err;
        struct ids_error of_file = *err;
        const struct ids_diag diag = {IDS_DAMAGE, "run.unreadable", of_file.text, -1, 1};
        *err = (struct ids_error)IDS_ERROR_INIT;
        sink->complete = 0;
        code = sink->ops->diag(sink, &diag, err);
        if (code) return code;
    }
    if (unreadable && unreadable == run->file_count) {
        *err = first;
        return first.code;
    }
    return read_beside(run, sink, err);
}

int ids_read_run(const struct ids_engine *engine, const struct ids_run_files *run, struct ids_sink *sink,
                 const char **ret_format, struct ids_error *err) {
    struct ids_redacting *redacting;
    if (!engine->redactor) return ids_read_run_by(engine, run, sink, NULL, NULL, ret_format, err);
    int code = ids_redacting_new(sink, engine->redactor, &redacting, err);
    if (code) return code;
    code = ids_read_run_by(engine, run, ids_redacting_sink(redacting), NULL, NULL, ret_format, err);
    sink->complete &= ids_redacting_sink(redacting)->complete;
    ids_redacting_free(redacting);
    return code;
}
