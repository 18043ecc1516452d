/* read_run.h - reads the files of a run into a sink, each with the format that its content shows. */
#ifndef IDS_LIB_RUN_READ_RUN_H
#define IDS_LIB_RUN_READ_RUN_H

#include "lib/io/run_files.h"
#include "lib/model/format.h"
#include "lib/run/engine.h"

/* The format of a file that begins with these bytes, or NULL; *ret_more is 1 if more bytes may change the answer. */
const struct ids_format *ids_format_of_bytes(const uint8_t *head, size_t length, int *ret_more);

/* Reads one file into a sink; *ret_format is the title of its format. If the file ends early, the sink's diag says
 * so. */
int ids_read_file(const char *path, struct ids_sink *sink, const char **ret_format, struct ids_error *err);
/* The same for a file of a run, which may be in an archive. */
int ids_read_run_file(const struct ids_run_file *file, struct ids_sink *sink, const char **ret_format,
                      struct ids_error *err);
/* All files of a run. */
int ids_read_run(const struct ids_engine *engine, const struct ids_run_files *run, struct ids_sink *sink,
                 const char **ret_format, struct ids_error *err);

#endif
