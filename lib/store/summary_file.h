/* summary_file.h - what the cache needs of the summary beside summary.h. */
#ifndef IDS_LIB_STORE_SUMMARY_FILE_H
#define IDS_LIB_STORE_SUMMARY_FILE_H

#include "lib/store/summary.h"

/* ids_summary_write; without `sync` the file can be lost or damaged when the machine (not the program) stops: the checksum
 * in it finds that. */
int ids_summary_write_file(const struct ids_report *report, const char *key, const char *path, int sync,
                           struct ids_error *err);

#endif
