/* rename.h - a file gets the name of another, or only one that is free. */
#ifndef IDS_LIB_IO_RENAME_H
#define IDS_LIB_IO_RENAME_H

/* 0, or -1 and errno: EEXIST where `path` is there and may not be replaced. A file system that cannot keep what is
 * there replaces it. */
int ids_rename(const char *from, const char *path, int replace);

#endif
