/* partial_names.h - what the partials of many files are called in one folder. */
#ifndef IDS_LIB_RUN_PARTIAL_NAMES_H
#define IDS_LIB_RUN_PARTIAL_NAMES_H

#include "lib/base/error.h"

#include <stddef.h>

/* ret_names[i] is the name for paths[i], which the caller frees, also after an error: the file's own with the ending of
 * partials. Files of one name are told apart by the folder that differs, put in front ("host2.vm.xplane.pb.idspart").
 * IDS_USAGE where nothing tells them apart. */
int ids_partial_names(const char *const *paths, size_t count, char **ret_names, struct ids_error *err);

#endif
