/* For lib/model, lib/analysis and analyzers/: they see cursors, never files. */
#ifndef IDS_POISON_FILES_H
#define IDS_POISON_FILES_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "forbid.h"

#define IDS_FILES "this layer never touches files: lib/io does"
IDS_FORBID(fopen, IDS_FILES);
IDS_FORBID(freopen, IDS_FILES);
IDS_FORBID(fdopen, IDS_FILES);
IDS_FORBID(tmpfile, IDS_FILES);
IDS_FORBID(open, IDS_FILES);
IDS_FORBID(openat, IDS_FILES);
IDS_FORBID(creat, IDS_FILES);
IDS_FORBID(mkstemp, IDS_FILES);
IDS_FORBID(opendir, IDS_FILES);
IDS_FORBID(read, IDS_FILES);
IDS_FORBID(pread, IDS_FILES);
IDS_FORBID(write, IDS_FILES);
IDS_FORBID(pwrite, IDS_FILES);
IDS_FORBID(mmap, IDS_FILES);
IDS_FORBID(stat, IDS_FILES);
IDS_FORBID(rename, IDS_FILES);
IDS_FORBID(unlink, IDS_FILES);

#endif
