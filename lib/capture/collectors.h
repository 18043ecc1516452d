/* collectors.h - which collectors lie in the home of an installation, and what is not recorded without one of them. */
#ifndef IDS_LIB_CAPTURE_COLLECTORS_H
#define IDS_LIB_CAPTURE_COLLECTORS_H

#include <stddef.h>

enum ids_collector_file {
    IDS_FILE_HOOK, /* jax in Python */
    IDS_FILE_PJRT, /* stands for PJRT plugins */
    IDS_FILE_CUDA, /* CUDA programs without jax */
    IDS_COLLECTOR_FILES
};

/* What to do about a file that is missing or damaged. */
#define IDS_COLLECTOR_REMEDY "build all of idsprof (cmake --build build/release --target installed) and install it anew"

/* 0 when the file is there and can be loaded here; else `why` is a clause such as "libidsprof_cuda.so is missing". */
int ids_collector_check(const char *home, enum ids_collector_file file, char *why, size_t size);
/* The same of all files as one sentence without an end, which says what each would have recorded. Returns how many
 * fail. */
int ids_collectors_missing(const char *home, char *text, size_t size);

#endif
