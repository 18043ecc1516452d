#include "lib/redact/public_words.h"

#include <stdlib.h>
#include <string.h>

#include "lib/redact/public_words.def"

enum { WORD_BYTES = 40 }; /* no public word is longer */

static int compare(const void *key, const void *item) {
    return strcmp(key, *(const char *const *)item);
}

int ids_word_is_public(struct ids_text word) {
    char small[WORD_BYTES];
    if (word.length <= 2) {
        for (size_t i = 0; i < word.length; i++) {
            if ((unsigned char)word.at[i] >= 0x80) return 0;
        }
        return 1;
    }
    if (word.length >= sizeof small) return 0;
    for (size_t i = 0; i < word.length; i++)
        small[i] = word.at[i] >= 'A' && word.at[i] <= 'Z' ? (char)(word.at[i] - 'A' + 'a') : word.at[i];
    small[word.length] = '\0';
    return bsearch(small, public_words, sizeof public_words / sizeof *public_words, sizeof *public_words, compare) !=
           NULL;
}

static int is_capital(char c) {
    return c >= 'A' && c <= 'Z';
}

size_t ids_word_length(struct ids_text text) {
    size_t end = 1;
    while (end < text.length && ids_is_letter(text.at[end])) {
        int capital = is_capital(text.at[end]), after_capital = is_capital(text.at[end - 1]);
        int before_small = end + 1 < text.length && ids_is_letter(text.at[end + 1]) && !is_capital(text.at[end + 1]);
        if (capital && (!after_capital || before_small)) break;
        end++;
    }
    return end;
}

int ids_words_are_public(struct ids_text text) {
    for (uint32_t at = 0; at < text.length;) {
        struct ids_text rest = {text.at + at, text.length - at};
        if (!ids_is_letter(*rest.at)) {
            at++;
            continue;
        }
        rest.length = (uint32_t)ids_word_length(rest);
        if (!ids_word_is_public(rest)) return 0;
        at += rest.length;
    }
    return 1;
}
