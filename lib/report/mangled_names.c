#include "lib/report/mangled_names.h"

#include <ctype.h>
#include <string.h>

enum { TYPES_MOST = 2 };

/* "5aiter": behind it, and the word; NULL where there is none. */
static const char *read_word(const char *at, const char **ret_word, size_t *ret_length) {
    size_t length = 0;
    while (isdigit((unsigned char)*at) && length < 4096) length = 10 * length + (size_t)(*at++ - '0');
    if (!length || strnlen(at, length) < length) return NULL;
    *ret_word = at;
    *ret_length = length;
    return at + length;
}

/* "Li256E", "Lb0E", and of an enumeration "...E1E": behind it, and the digits; NULL where there is none. */
static const char *read_number(const char *at, const char **ret_digits, size_t *ret_length) {
    if (*at != 'E' && (*at != 'L' || !islower((unsigned char)*++at))) return NULL;
    *ret_digits = ++at;
    *ret_length = strspn(at, "0123456789");
    return *ret_length && at[*ret_length] == 'E' ? at + *ret_length + 1 : NULL;
}

/* What has digits that are no length: "DF16b", a type of numbers, and "S4_", "T0_", what was named before. */
static const char *behind_digits(const char *at) {
    if (!strncmp(at, "DF", 2)) return at + 2 + strspn(at + 2, "0123456789");
    if (*at != 'S' && *at != 'T') return at + 1;
    size_t length = strspn(at + 1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    return at[1 + length] == '_' ? at + 2 + length : at + 1;
}

const char *ids_mangled_name_in_short(const char *name, int with_numbers, struct ids_arena *arena) {
    const char *at = name, *function = NULL, *word, *next;
    size_t length = 0, function_length = 0, used = 0;
    if (strncmp(name, "_ZN", 3) != 0) return NULL;
    for (at += 3; *at == 'K' || *at == 'V' || *at == 'r';) at++;
    while ((next = read_word(at, &word, &length))) at = next, function = word, function_length = length;
    /* Each word and number has at least as many letters in the name: what separates them takes the place of those. */
    char *text = function ? ids_arena_alloc(arena, 2 * strlen(name)) : NULL;
    if (!text) return NULL;
    memcpy(text, function, function_length);
    used = function_length;
    int count = 0, types = 0;
    while (*at) {
        int is_type = 0;
        next = read_number(at, &word, &length);
        if (!next) is_type = (next = read_word(at, &word, &length)) != NULL;
        at = next ? next : behind_digits(at);
        if (!next || (is_type ? types++ >= TYPES_MOST : !with_numbers)) continue;
        memcpy(text + used, count++ ? ", " : "<", 2);
        used += count > 1 ? 2 : 1;
        memcpy(text + used, word, length);
        used += length;
    }
    if (count) text[used++] = '>';
    text[used] = '\0';
    return text;
}
