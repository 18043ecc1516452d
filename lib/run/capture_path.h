/* capture_path.h - where a profile lies in the folder of its capture. */
#ifndef IDS_LIB_RUN_CAPTURE_PATH_H
#define IDS_LIB_RUN_CAPTURE_PATH_H

#include <stddef.h>

/* The path of a profile as FOLDER/plugins/profile/RUN/FILE, for the caller to free: as it is where it says so, else its
 * real path, because who stands in the folder gives the end of it. *ret_folder is the length of FOLDER. NULL: it lies
 * in no capture's folder, or without memory. */
char *ids_capture_path(const char *path, size_t *ret_folder);

#endif
