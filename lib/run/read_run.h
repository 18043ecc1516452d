/* read_run.h - the files of a run into a sink, each by the format that its content asks for. */
#ifndef IDS_LIB_RUN_READ_RUN_H
#define IDS_LIB_RUN_READ_RUN_H

#include "lib/io/run_files.h"
#include "lib/model/format.h"
#include "lib/run/engine.h"

/* The format that claims content which begins with these bytes, or NULL; *ret_more is 1 when what follows may change
 * that. */
const struct ids_format *ids_format_of_bytes(const uint8_t *head, size_t length, int *ret_more);
/* The name of the format that a file's ending speaks for, or NULL. */
const char *ids_format_named(const char *path);

/* Reads one file into a sink; *ret_format is what its format is called. A file that ends early is in the sink's
 * diag. */
int ids_read_file(const char *path, struct ids_sink *sink, const char **ret_format, struct ids_error *err);
/* The same of a run's file, which may lie in an archive. */
int ids_read_run_file(const struct ids_run_file *file, struct ids_sink *sink, const char **ret_format,
                      struct ids_error *err);
/* All files of a run. */
int ids_read_run(const struct ids_engine *engine, const struct ids_run_files *run, struct ids_sink *sink,
                 const char **ret_format, struct ids_error *err);

#endif
