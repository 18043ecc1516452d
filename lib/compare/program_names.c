#include "lib/compare/program_names.h"

#include <ctype.h>
#include <string.h>

const char *ids_program_function(const char *module) {
    return !strncmp(module, "jit_", 4) ? module + 4 : module;
}

size_t ids_name_length(const char *text) {
    size_t length = 0;
    while (text[length] == '_' || isalnum((unsigned char)text[length])) length++;
    return length;
}

const char *ids_path_next_call(const char *path, size_t *ret_length) {
    for (const char *at = strchr(path, '('); at; at = strchr(at + 1, '(')) {
        *ret_length = ids_name_length(at + 1);
        if (*ret_length && at[1 + *ret_length] == ')') return at + 1;
    }
    return NULL;
}

const char *ids_path_in_program(const char *op_name) {
    const char *slash = strchr(op_name, '/');
    return slash ? slash : "";
}
