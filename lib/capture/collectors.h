/* collectors.h - which collectors an installation has, and what is not recorded without each of them. */
#ifndef IDS_LIB_CAPTURE_COLLECTORS_H
#define IDS_LIB_CAPTURE_COLLECTORS_H

#include <stddef.h>

enum ids_collector_file {
    IDS_FILE_HOOK, /* records jax in Python */
    IDS_FILE_PJRT, /* is loaded in place of PJRT plugins */
    IDS_FILE_CUDA, /* records CUDA programs without jax */
    IDS_COLLECTOR_FILES
};

/* The remedy for a missing or damaged file. */
#define IDS_COLLECTOR_REMEDY \
    "build all of idsprof (cmake --build build/release --target installed) and install it again"

/* 0 if the file exists and can be loaded here; else `why` is a clause such as "libidsprof_cuda.so is missing". */
int ids_collector_check(const char *home, enum ids_collector_file file, char *why, size_t size);
/* The same for all files, as one sentence without its full stop that says what each would have recorded. Returns the
 * number of files that fail. */
int ids_collectors_missing(const char *home, char *text, size_t size);

#endif
