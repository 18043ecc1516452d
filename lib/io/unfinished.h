/* unfinished.h - files that get their own name when they are whole, and what a killed program leaves of them.
 *
 * Who writes such a file holds a lock on it (flock) until it is whole; its name says which process on which host that
 * is, because finished files of a set wait without a lock, and a lock of another host may not be seen here. So a file
 * is removed when its lock is free and its process was of this host and is gone, or when it has not been written for a
 * day.
 */
#ifndef IDS_LIB_IO_UNFINISHED_H
#define IDS_LIB_IO_UNFINISHED_H

#include "lib/base/error.h"

#include <stddef.h>

/* A new empty file called `stem` with host, process and number behind it, open for reading and writing, and locked: its
 * descriptor, or a negative code and errno. A duplicate of the descriptor keeps the lock. The path is the caller's
 * to free. */
int ids_unfinished_open(const char *stem, char **ret_path, struct ids_error *err);

/* Where in a name host, process and number stand; 0 when the name is not that of an unfinished file. */
typedef size_t ids_unfinished_name(const char *name);
size_t ids_unfinished_output(const char *name); /* stems ".../.idsprof." */
size_t ids_unfinished_beside(const char *name); /* stems ".../<file>.tmp-" */

/* 1 when nobody writes the file any more. `mark` is what ids_unfinished_name gave. */
int ids_unfinished_is_abandoned(int folder, const char *name, size_t mark);
/* Removes what is abandoned of the file `path` (stem "<path>.tmp-"), in its folder. */
void ids_unfinished_sweep_beside(const char *path);
/* Removes what is abandoned in the folder. Nothing is said: the next program that looks tries again. */
void ids_unfinished_sweep(const char *folder, ids_unfinished_name *name_of);

#endif
