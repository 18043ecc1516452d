#include "lib/hlo/base_name.h"

#include <string.h>

static int is_digit(char c) {
    return c >= '0' && c <= '9';
}

size_t ids_base_name(const char *name) {
    size_t length = strlen(name);
    for (;;) {
        size_t end = length;
        while (end && is_digit(name[end - 1])) end--;
        if (end == length || end < 2 || (name[end - 1] != '.' && name[end - 1] != '_')) return length;
        length = end - 1;
    }
}
