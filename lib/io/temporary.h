/* temporary.h - a file for a while. */
#ifndef IDS_LIB_IO_TEMPORARY_H
#define IDS_LIB_IO_TEMPORARY_H

#include "lib/base/error.h"

/* An empty unlinked file in TMPDIR, else /tmp, for reading and writing: its descriptor, or a negative code. */
int ids_temporary_file(struct ids_error *err);
/* The same on a disk, to be mapped and written to (lib/base/far.h): in /var/tmp where TMPDIR is not set and /tmp is a
 * file system in memory, or one that copies what is written. IDS_UNSUPPORTED where TMPDIR, or /var/tmp, is one too. */
int ids_temporary_on_disk(struct ids_error *err);
/* The same with a name, for those who open files by name; the caller removes it. *ret_path is the caller's to free. */
int ids_temporary_named(char **ret_path, struct ids_error *err);

#endif
