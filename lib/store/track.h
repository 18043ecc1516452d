/* track.h - the file of `idsprof track`: figures of many runs in one SQLite database, of which nothing is cached.
 *
 * It is written whole and renamed into place; who changes it holds a lock on it (flock) from reading to renaming, so
 * that two jobs that end at the same moment lose nothing.
 */
#ifndef IDS_LIB_STORE_TRACK_H
#define IDS_LIB_STORE_TRACK_H

#include "lib/report/series.h"

/* IDS_NOT_FOUND when there is no such file. The caller ends the series (ids_series_done) also when it failed. */
int ids_track_load(const char *path, struct ids_series *ret_series, struct ids_error *err);

/* Reads the file, which is made when it is not there, lets `change` change the series, and writes it when that returns
 * 0; a code of `change` is returned. */
typedef int ids_track_change(struct ids_series *series, void *user, struct ids_error *err);
int ids_track_update(const char *path, ids_track_change *change, void *user, struct ids_error *err);

#endif
