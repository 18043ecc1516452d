#include "lib/run/file_name.h"

#include <stdio.h>
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

void ids_profile_stem(const char *path, char *buffer, size_t room) {
    static const char *const endings[] = {".gz", ".json", ".pb", ".xplane", ".trace", ".pt", ".mini"};
    const char *name = strcmp(path, "-") != 0 ? ids_file_name(path) : "profile";
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) length = ids_length_without(name, length, endings[i]);
    snprintf(buffer, room, "%.*s", (int)length, name);
}
