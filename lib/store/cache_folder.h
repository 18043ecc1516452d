/* cache_folder.h - the folder of the cache: where it is, which files in it are ours, and how much it may hold.
 *
 * What makes a file of it good for use, at whatever moment the program or the machine stopped, and whatever a disk or a
 * person did to it:
 *   - it is written under a temporary name and renamed when whole, so that a program that is killed leaves none of its
 *     name;
 *   - it is sealed (seal.h): each page has a checksum, which is checked when the page is read. Nothing is synced, since
 *     what a power cut takes is found like any other damage;
 *   - it is a regular file, which is opened without waiting for anybody and through no link;
 *   - it is for one identity of the source files and one build of the program, which stand in it.
 * All else is a miss, and is made again. What a killed program began is removed by the next one that writes here
 * (unfinished.h). */
#ifndef IDS_LIB_STORE_CACHE_FOLDER_H
#define IDS_LIB_STORE_CACHE_FOLDER_H

#include "lib/base/error.h"

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* "0123456789abcdef.db"; a file that is being written has more behind it. */
enum { IDS_CACHE_NAME_BYTES = 19 };

/* $XDG_CACHE_HOME/idsprof or ~/.cache/idsprof; it may not be there. The caller's to free. */
int ids_cache_folder(char **ret_folder, struct ids_error *err);
/* That it is there, and that only its user can write to it: what others may write to could hold anything. */
int ids_cache_folder_check(const char *folder, struct ids_error *err);
/* Makes it, and those above it. */
int ids_cache_folder_make(char *folder, struct ids_error *err);
/* What all files together may have: $IDSPROF_CACHE_LIMIT (bytes, or with K, M, G behind), 4 GiB by default. */
uint64_t ids_cache_limit(void);

/* 1 for the names of files that the cache made; others are not ours to touch. */
int ids_cache_is_ours(const char *name);
/* 1 for an unfinished file that no process writes any more. */
int ids_cache_is_abandoned(int folder, const char *name, const struct stat *status);

/* The first line of what an entry is valid for: this build of the program. */
void ids_cache_program(char *text, size_t size);

#endif
