/* python_source.h - the name of the C function that an instruction calls, by the text of the program: frames of C
 * functions do not exist, but since Python 3.11 each instruction knows its columns. */
#ifndef IDS_COLLECTORS_COMMON_PYTHON_SOURCE_H
#define IDS_COLLECTORS_COMMON_PYTHON_SOURCE_H

#include "collectors/common/python_code.h"

enum { IDS_PYTHON_CALLED = 128 };

/* Files that were read; all zero to begin with. */
struct ids_python_sources {
    struct ids_python_source *at;
    size_t count, room;
};

void ids_python_sources_done(struct ids_python_sources *sources);

/* Writes what is called there as JAX's tracer writes it, "$gc collect": 1, or 0 where the text shows no call, or cannot
 * be read. `place` is of the instruction `at`. */
int ids_python_called(struct ids_python_sources *sources, const struct ids_python_code *code, uint32_t at,
                      struct ids_python_location place, char called[IDS_PYTHON_CALLED]);
/* The same of one line's text, from `begin` to `end` of it. */
int ids_python_called_in(const char *text, size_t length, char called[IDS_PYTHON_CALLED]);

/* The line in which the code begins, and in `*ret_text` the begin of its file, a text that ends in a zero; NULL: it
 * cannot be read. */
const char *ids_python_source_line(struct ids_python_sources *sources, const struct ids_python_code *code,
                                   const char **ret_text);

#endif
