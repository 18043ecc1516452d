/* file_name.h - parts of paths. */
#ifndef IDS_LIB_RUN_FILE_NAME_H
#define IDS_LIB_RUN_FILE_NAME_H

#include <stddef.h>

/* What stands behind the last '/'. */
const char *ids_file_name(const char *path);
int ids_name_ends_with(const char *text, const char *end);
/* The length of `text` without `end`, where it ends so and is not that alone. */
size_t ids_length_without(const char *text, size_t length, const char *end);

#endif
