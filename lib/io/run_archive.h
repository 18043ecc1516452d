/* run_archive.h - members of archives as files of a run. */
#ifndef IDS_LIB_IO_RUN_ARCHIVE_H
#define IDS_LIB_IO_RUN_ARCHIVE_H

#include "lib/base/error.h"
#include "lib/io/run_list.h"
#include "lib/io/source.h"

/* Opens a file of a run, wherever it lies. The list must live, for it holds the open archive; files of one archive are
 * read in one pass when they are asked for in the order of member_index. The source may outlive the list. */
int ids_run_file_open(const struct ids_run_file *file, struct ids_source **ret_source, struct ids_error *err);

/* The plain files in the folder of an archive in which `file`, a member of it, lies; `file` is among them. */
int ids_run_file_neighbours(const struct ids_run_file *file, struct ids_run_file **ret_files, size_t *ret_count,
                            struct ids_error *err);
void ids_run_file_neighbours_free(struct ids_run_file *files, size_t count);

#endif
