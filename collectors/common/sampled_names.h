/* sampled_names.h - what the calls of sampled stacks are called: "$./train.py:88 main", as JAX's tracer calls frames,
 * but with more of the path and with the line that runs.
 *
 * Of a function that runs itself, and calls nothing, the line is the one in which it was seen most, because a loop of
 * ten lines is one thing. */
#ifndef IDS_COLLECTORS_COMMON_SAMPLED_NAMES_H
#define IDS_COLLECTORS_COMMON_SAMPLED_NAMES_H

#include "collectors/common/python_names.h"
#include "collectors/common/samples.h"

enum { IDS_SAMPLED_NAME = 1024 };

struct ids_sampled_names {
    const struct ids_python_codes *codes;
    int minor;
    char **functions; /* of codes whose calls were sampled, what people call them; of libraries as Python does */
    char folder[512]; /* the program's own, with a slash behind it; "": unknown */
    struct ids_python_sources sources;
    struct ids_sampled_place *places; /* by code and instruction, by a hash */
    size_t place_count, place_room;
    struct ids_own_line *own; /* by code: the line that it runs most itself */
    size_t own_count, own_room;
};

/* -1 when there is no memory; ids_sampled_names_done may be called in both cases. */
int ids_sampled_names_find(struct ids_sampled_names *names, const struct ids_python_codes *codes, int minor,
                           const struct ids_samples *samples);
void ids_sampled_names_done(struct ids_sampled_names *names);

/* The name of a call; `is_innermost`: nothing is called by it that is known. */
void ids_sampled_name(const struct ids_sampled_names *names, struct ids_python_call call, int is_innermost,
                      char name[IDS_SAMPLED_NAME]);
/* Whether `inner`, which `outer` calls, is a part of that function: a comprehension, or a lambda. */
int ids_sampled_is_part(const struct ids_sampled_names *names, struct ids_python_call inner,
                        struct ids_python_call outer);
/* The C function that it calls, "$gc collect"; NULL: none, or it is not known. */
const char *ids_sampled_called(const struct ids_sampled_names *names, struct ids_python_call call);

/* The C function `called` (NULL: none) that is innermost, with what the kernel says of it where its words do not:
 * "$builtins nap (sleeps)", "$pickle load (reads)", "$buffer read (does not wait)"; NULL: none. */
const char *ids_sampled_told(const char *called, enum ids_thread_waits waits, char told[IDS_SAMPLED_NAME]);

/* The path of a file as the name has it: of a library from its folder on, of the program's own below `folder` with
 * "./" in front. */
const char *ids_sampled_path(const char *file, const char *folder, int *ret_is_own);

#endif
