#include "lib/run/format_names.h"

#include "lib/io/archive.h"
#include "lib/run/file_name.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static int has_ending(const char *path, const char *const *suffixes) {
    for (; suffixes && *suffixes; suffixes++) {
        if (ids_name_ends_with(path, *suffixes)) return 1;
    }
    return 0;
}

const struct ids_format *ids_format_named(const char *path, int or_generic) {
    for (int i = 0; i < ids_format_count; i++) {
        const struct ids_format *format = ids_formats[i];
        if (has_ending(path, format->suffixes) || (or_generic && has_ending(path, format->generic_suffixes)))
            return format;
    }
    return NULL;
}

/* Whether `word` stands between dots in one of the suffixes. */
static int is_part_of(const char *const *suffixes, const char *word, size_t length) {
    for (; suffixes && *suffixes; suffixes++) {
        for (const char *dot = *suffixes; *dot == '.'; dot += 1 + strcspn(dot + 1, ".")) {
            if (strcspn(dot + 1, ".") == length && !strncasecmp(dot + 1, word, length)) return 1;
        }
    }
    return 0;
}

static int is_format_word(const char *word, size_t length) {
    for (int i = 0; i < ids_format_count; i++) {
        const struct ids_format *format = ids_formats[i];
        if (is_part_of(format->suffixes, word, length) || is_part_of(format->generic_suffixes, word, length)) return 1;
    }
    return 0;
}

int ids_is_ending_word(const char *word, size_t length) {
    return is_format_word(word, length) || is_part_of(ids_archive_ends, word, length);
}

static int is_format_name(const char *word, size_t length) {
    for (int i = 0; i < ids_format_count; i++) {
        if (strlen(ids_formats[i]->name) == length && !memcmp(ids_formats[i]->name, word, length)) return 1;
    }
    return 0;
}

const char *ids_format_lacks(const char *title) {
    for (int i = 0; i < ids_format_count; i++) {
        if (!strcmp(ids_formats[i]->title, title)) return ids_formats[i]->lacks;
    }
    return NULL;
}

size_t ids_length_without_format(const char *name, size_t length) {
    for (;;) {
        const char *dot = memrchr(name, '.', length);
        size_t word = dot ? length - (size_t)(dot + 1 - name) : 0;
        if (!dot || dot == name) return length;
        if (!is_format_word(dot + 1, word) && !is_format_name(dot + 1, word)) return length;
        length = (size_t)(dot - name);
    }
}

void ids_profile_stem(const char *path, char *buffer, size_t room) {
    const char *name = strcmp(path, "-") != 0 ? ids_file_name(path) : "profile";
    snprintf(buffer, room, "%.*s", (int)ids_length_without_format(name, strlen(name)), name);
}

int ids_beside_stem(const char *path, char *buffer, size_t room) {
    const char *name = ids_file_name(path);
    size_t length = strlen(name);
    int found = 0;
    for (int i = 0; i < ids_format_count && !found; i++) {
        for (const char *const *ending = ids_formats[i]->beside_suffixes; ending && *ending && !found; ending++) {
            found = ids_name_ends_with(name, *ending);
            if (found) length -= strlen(*ending);
        }
    }
    snprintf(buffer, room, "%.*s", (int)length, name);
    return found;
}

void ids_formats_expected(char *buffer, size_t room) {
    int count = 0, written = 0;
    size_t length = 0;
    for (int i = 0; i < ids_format_count; i++) count += ids_formats[i]->expected != NULL;
    *buffer = '\0';
    for (int i = 0; i < ids_format_count && length < room; i++) {
        if (!ids_formats[i]->expected) continue;
        written++;
        const char *before = written == 1 ? "" : written < count ? ", " : ", or ";
        length += (size_t)snprintf(buffer + length, room - length, "%s%s", before, ids_formats[i]->expected);
    }
}
