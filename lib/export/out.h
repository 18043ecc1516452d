/* out.h - where an exporter's bytes go. Nothing in this layer opens a file: cmd/ does, and hands in one of these. */
#ifndef IDS_LIB_EXPORT_OUT_H
#define IDS_LIB_EXPORT_OUT_H

#include "lib/base/error.h"

#include <stddef.h>

struct ids_out {
    /* All of the bytes, or a negative code with `err` set; after that the exporter writes no more. */
    int (*write)(struct ids_out *out, const void *bytes, size_t length, struct ids_error *err);
};

#endif
