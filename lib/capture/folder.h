/* folder.h - the folders of captures: DIR/<name>_<YYYYMMDD_HHMMSS>[_n], created so that two captures never share
 * one, and pruned. */
#ifndef IDS_LIB_CAPTURE_FOLDER_H
#define IDS_LIB_CAPTURE_FOLDER_H

#include "lib/base/error.h"

#include <stdint.h>
#include <time.h>

struct ids_capture_folder {
    char *path;   /* absolute */
    char run[32]; /* 2026_11_21_07_43_53: the run's name below plugins/profile, as jax names them */
    char *made;   /* the topmost parent folder created for it; NULL: DIR existed */
};

/* Creates DIR if it is missing, the folder, and .idsprof in it. Free it with ids_capture_folder_done. */
int ids_capture_folder_make(const char *dir, const char *name, time_t now, struct ids_capture_folder *ret_folder,
                            struct ids_error *err);
/* Creates a folder of that exact path, which must not exist: a part of a sweep. */
int ids_capture_folder_make_part(const char *path, time_t now, struct ids_capture_folder *ret_folder,
                                 struct ids_error *err);
/* Whether a process on this machine still uses the folder as its session. */
pid_t ids_capture_folder_in_use(const struct ids_capture_folder *folder);
/* Removes half-written files of killed processes. Not while the folder is in use. */
void ids_capture_folder_tidy(const struct ids_capture_folder *folder);
/* Removes a capture that recorded nothing, and the folders created for it if they are otherwise empty. */
void ids_capture_folder_remove(const struct ids_capture_folder *folder);
void ids_capture_folder_done(struct ids_capture_folder *folder);

/* The default name of a capture: the program's name, "train" for "python -m pkg.train" and for
 * "python3 -u train.py", without characters that a file name should not have. At most `size` - 1 bytes. */
void ids_capture_name(char *const argv[], char *name, size_t size);

/* Removes the oldest captures of this name in DIR until `keep` are left. Only folders named like captures whose
 * sidecar does not say "running" count. *ret_removed is the number of removed folders. */
int ids_capture_folder_prune(const char *dir, const char *name, int64_t keep, int64_t *ret_removed,
                             struct ids_error *err);

#endif
