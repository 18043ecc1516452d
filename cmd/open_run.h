/* open_run.h - from a path to the report of a run: which files, from the cache or read anew. */
#ifndef IDS_CMD_OPEN_RUN_H
#define IDS_CMD_OPEN_RUN_H

#include "lib/analysis/analysis.h"
#include "lib/io/run_files.h"
#include "lib/model/sink.h"
#include "lib/report/report.h"

/* Every run at or below a path that holds a format we know. */
int ids_find_runs(const char *path, struct ids_run_list *ret_list, struct ids_error *err);
/* Says on stderr what below the path was left out; 1 when something could not be read (and was not left out on purpose). */
int ids_say_unreadable(const struct ids_run_list *list, const char *command);
/* The run of that name (or whose path ends with it), the newest when name is NULL. */
int ids_choose_run(const struct ids_run_list *list, const char *name, const struct ids_run_files **ret_run,
                   struct ids_error *err);

/* Initialises and fills the report; it is the caller's to end when 0 is returned. Reports with default parameters are
 * cached, unless `no_cache`. */
int ids_open_run(const struct ids_run_files *run, const struct ids_params *params, int no_cache,
                 struct ids_report *ret_report, struct ids_error *err);

/* Reads one file into a sink, with the format that its content asks for; *ret_format is what that format is called. A file
 * that ends early is in the sink's diag. */
int ids_read_file(const char *path, struct ids_sink *sink, const char **ret_format, struct ids_error *err);
/* The same of a run's file, which may lie in an archive. */
int ids_read_run_file(const struct ids_run_file *file, struct ids_sink *sink, const char **ret_format,
                      struct ids_error *err);

/* All files of a run into a sink. */
int ids_read_run(const struct ids_run_files *run, struct ids_sink *sink, const char **ret_format,
                 struct ids_error *err);
/* Fills an initialised report with what the analyzers say of the run's trace; *ret_findings, unless NULL, is the caller's to end. */
int ids_report_trace(const struct ids_run_files *run, const struct ids_trace *trace, const char *format,
                     const struct ids_params *params, struct ids_report *report, struct ids_findings *ret_findings,
                     struct ids_error *err);

/* The trace of a run, without its analysis; the caller's to free. *ret_format is what its format is called. Of a run that memory has no
 * room for it is a part, which its diag says (builder.h): events before `until_ps`, INT64_MAX for all, or fewer. */
int ids_open_trace(const struct ids_run_files *run, int64_t until_ps, struct ids_trace **ret_trace,
                   const char **ret_format, struct ids_error *err);
/* How many bytes of records a trace of the run may hold: a fifth of what this process may have (memory_limit.h). The
 * analysis needs as much again. */
uint64_t ids_trace_bytes_most(const struct ids_run_files *run);
/* The name of the format that a file's ending speaks for, or NULL. */
const char *ids_format_named(const char *path);

/* The path as a shell reads it back. */
int ids_shell_quote(const char *path, char *buffer, size_t size);

#endif
