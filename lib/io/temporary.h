/* temporary.h - a file that nobody else sees. */
#ifndef IDS_LIB_IO_TEMPORARY_H
#define IDS_LIB_IO_TEMPORARY_H

#include "lib/base/error.h"

/* An empty unlinked file in TMPDIR, else /tmp, for reading and writing: its descriptor, or a negative code. */
int ids_temporary_file(struct ids_error *err);

#endif
