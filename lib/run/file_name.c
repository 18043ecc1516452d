#include "lib/run/file_name.h"

#include <string.h>

const char *ids_file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

int ids_name_ends_with(const char *text, const char *end) {
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && !strcmp(text + length - end_length, end);
}

size_t ids_length_without(const char *text, size_t length, const char *end) {
    size_t end_length = strlen(end);
    return length > end_length && !memcmp(text + length - end_length, end, end_length) ? length - end_length : length;
}
