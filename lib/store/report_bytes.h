/* report_bytes.h - a report as bytes, as the cache keeps it: read back in one pass, in a tenth of the instructions that
 * rows of SQLite take.
 *
 * Bytes are for the build of the program that wrote them (the cache's key names it), and their file is sealed. Still
 * each count, place and length is checked, as in any file. Thresholds are not kept.
 */
#ifndef IDS_LIB_STORE_REPORT_BYTES_H
#define IDS_LIB_STORE_REPORT_BYTES_H

#include "lib/base/buffer.h"
#include "lib/report/report.h"

/* Appends to `to`. IDS_NOMEM when memory ran out. */
int ids_report_put_bytes(const struct ids_report *report, struct ids_buffer *to, struct ids_error *err);
/* Fills an initialised, empty report, which is of no use when this fails. A table that `find_table` does not know, or
 * that had another number of columns, is IDS_NOT_FOUND. Bytes that are no report are IDS_CORRUPT. */
int ids_report_get_bytes(struct ids_report *report, const void *bytes, size_t length,
                         const struct ids_table_def *(*find_table)(const char *id), struct ids_error *err);

#endif
