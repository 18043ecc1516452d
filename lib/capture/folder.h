/* folder.h - the folders of captures: DIR/<name>_<YYYYMMDD_HHMMSS>[_n], made so that two captures never share one,
 * and pruned. */
#ifndef IDS_LIB_CAPTURE_FOLDER_H
#define IDS_LIB_CAPTURE_FOLDER_H

#include "lib/base/error.h"

#include <stdint.h>
#include <time.h>

struct ids_capture_folder {
    char *path;   /* absolute */
    char run[32]; /* 2026_11_21_07_43_53: the run's name below plugins/profile, as jax names them */
    char *made;   /* the topmost folder above it that was made for it; NULL: DIR was there */
};

/* Makes DIR where it is missing, the folder, and .idsprof in it. The path is the caller's to free. */
int ids_capture_folder_make(const char *dir, const char *name, time_t now, struct ids_capture_folder *ret_folder,
                            struct ids_error *err);
/* A folder of that exact path, which must not be there: a part of a sweep. */
int ids_capture_folder_make_part(const char *path, time_t now, struct ids_capture_folder *ret_folder,
                                 struct ids_error *err);
/* Whether a process on this machine still has the folder for its session. */
pid_t ids_capture_folder_in_use(const struct ids_capture_folder *folder);
/* Removes what killed processes had begun to write. Not while the folder is in use. */
void ids_capture_folder_tidy(const struct ids_capture_folder *folder);
/* Removes a capture that caught nothing, and the folders that were made for it, as far as they hold nothing else. */
void ids_capture_folder_remove(const struct ids_capture_folder *folder);
void ids_capture_folder_done(struct ids_capture_folder *folder);

/* The name of a capture when none was given: what the program is called, "train" of "python -m pkg.train" and of
 * "python3 -u train.py", without what a file's name should not have. At most `size` - 1 bytes. */
void ids_capture_name(char *const argv[], char *name, size_t size);

/* Removes the oldest captures of this name in DIR, so that `keep` stay. Only folders that are called as captures are
 * and hold a sidecar that does not say "running" count. *ret_removed is how many went. */
int ids_capture_folder_prune(const char *dir, const char *name, int64_t keep, int64_t *ret_removed,
                             struct ids_error *err);

#endif
