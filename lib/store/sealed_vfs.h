/* sealed_vfs.h - sealed files (seal.h) for SQLite: each page that it reads is checked, and one that does not fit fails
 * with SQLITE_IOERR_DATA, before anything was made of it. The files are read only and do not change. */
#ifndef IDS_LIB_STORE_SEALED_VFS_H
#define IDS_LIB_STORE_SEALED_VFS_H

/* The name to open such a file by; NULL when memory ran out. */
const char *ids_sealed_vfs(void);

#endif
