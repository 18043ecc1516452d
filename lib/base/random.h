/* random.h - bytes that nobody can guess, for tokens. */
#ifndef IDS_LIB_BASE_RANDOM_H
#define IDS_LIB_BASE_RANDOM_H

#include "lib/base/error.h"

#include <stddef.h>

int ids_random_bytes(void *bytes, size_t length, struct ids_error *err);

#endif
