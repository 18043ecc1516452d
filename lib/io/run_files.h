/* run_files.h - which files make up a run.
 *
 * A run is a file, a folder `plugins/profile/<timestamp>` with one file per host, or the newest such folder anywhere
 * below a log folder. Only names are looked at here; content decides later what a file is.
 */
#ifndef IDS_LIB_IO_RUN_FILES_H
#define IDS_LIB_IO_RUN_FILES_H

#include "lib/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct ids_run_file {
    char *path;
    uint64_t size, device, inode; /* as stat says; with mtime the identity for the cache */
    int64_t mtime_ns;             /* all four are 0 for a pipe, which has no identity */
};

struct ids_run_files {
    char *path; /* what was asked for, or the run's folder */
    char *name; /* for people: the folder's own name, or the part of the path that tells it from its neighbours */
    struct ids_run_file *files; /* sorted by name; more than one: several hosts */
    size_t file_count;
};

struct ids_run_list {
    struct ids_run_files *runs; /* oldest first, by folder name, then path */
    size_t run_count;
    char *unreadable; /* the first folder that was left out because it could not be read, or NULL */
    size_t unreadable_count;
};

/* Every run at or below `path` (a file, a run folder, a log folder). `suffixes` is a NULL-terminated list of file name
 * endings worth opening, best first ("xplane.pb"): in one run folder only files of the best ending present are taken.
 * "-" is standard input. IDS_NOT_FOUND with a message that says what was looked for when there is none; IDS_IO when the
 * path, or every folder that could hold a run, cannot be read (a folder beside runs that were found is counted as
 * unreadable). Symbolic links to folders are followed for `path` alone; depth and number of entries are limited. */
int ids_runs_find(const char *path, const char *const *suffixes, struct ids_run_list *ret_list, struct ids_error *err);
void ids_run_list_done(struct ids_run_list *list);

#endif
