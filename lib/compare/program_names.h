/* program_names.h - what the names of programs and the paths of their ops say of functions. */
#ifndef IDS_LIB_COMPARE_PROGRAM_NAMES_H
#define IDS_LIB_COMPARE_PROGRAM_NAMES_H

#include <stddef.h>

/* "normalize" of "jit_normalize" */
const char *ids_program_function(const char *module);
/* The next function that a path goes through: "_var" of "jit(normalize)/jit(_var)/reduce_sum". NULL: there is none. */
const char *ids_path_next_call(const char *path, size_t *ret_length);
/* Behind the program itself: "/jit(_var)/reduce_sum"; "" of one that names nothing else. */
const char *ids_path_in_program(const char *op_name);
/* How many letters of a name stand there. */
size_t ids_name_length(const char *text);

#endif
