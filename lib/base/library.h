/* library.h - a shared library that is loaded when it is needed, because all that comes with it would cost each start
 * of the program milliseconds. */
#ifndef IDS_LIB_BASE_LIBRARY_H
#define IDS_LIB_BASE_LIBRARY_H

#include "lib/base/error.h"

#include <stddef.h>

struct ids_library_call {
    const char *name;
    void *place; /* of the pointer to it */
};
/* Fills the places of the calls. IDS_UNSUPPORTED where the library is not installed or lacks a call. */
int ids_library_load(const char *library, const struct ids_library_call *calls, size_t count, struct ids_error *err);

#endif
