/* read_run.h - reads the files of a run into a sink, each with the format that its content shows. */
#ifndef IDS_LIB_RUN_READ_RUN_H
#define IDS_LIB_RUN_READ_RUN_H

#include "lib/io/run_files.h"
#include "lib/model/format.h"
#include "lib/run/engine.h"

/* The format of a file that begins with these bytes, or NULL; *ret_more is 1 if more bytes may change the answer. */
const struct ids_format *ids_format_of_bytes(const uint8_t *head, size_t length, int *ret_more);

/* Does what lies at the path begin as a profile does? Not so a partial, and what is no file or cannot be read. */
int ids_holds_profile(const char *path);

/* Reads one file into a sink; *ret_format is the title of its format. If the file ends early, the sink's diag says
 * so. */
int ids_read_file(const char *path, struct ids_sink *sink, const char **ret_format, struct ids_error *err);
/* The same for a file of a run, which may be in an archive. */
int ids_read_run_file(const struct ids_run_file *file, struct ids_sink *sink, const char **ret_format,
                      struct ids_error *err);
/* What one file of many has that the others have not: the job of a host that died while it wrote. */
int ids_is_of_one_file(int code);
/* The title of the format of that name, and the other way; itself and "" where there is none. */
const char *ids_format_title_of(const char *name);
const char *ids_format_name_of(const char *title);
/* Reads one file for ids_read_run_by, whose sink it knows; `stem` is the name of its host in a run of several. */
typedef int ids_file_reader(void *own, const struct ids_run_file *file, const char *stem, const char **ret_format,
                            struct ids_error *err);
/* All files of a run, but for those beside it by `read`, NULL: by ids_read_run_file. */
int ids_read_run_by(const struct ids_engine *engine, const struct ids_run_files *run, struct ids_sink *sink,
                    ids_file_reader *read, void *own, const char **ret_format, struct ids_error *err);
/* All files of a run. */
int ids_read_run(const struct ids_engine *engine, const struct ids_run_files *run, struct ids_sink *sink,
                 const char **ret_format, struct ids_error *err);

#endif
