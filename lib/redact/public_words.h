/* public_words.h - words that say nothing of who wrote a program or what it is about. */
#ifndef IDS_LIB_REDACT_PUBLIC_WORDS_H
#define IDS_LIB_REDACT_PUBLIC_WORDS_H

#include "lib/base/intern.h"

/* Letters alone, in any case. Words of two letters are public. */
int ids_word_is_public(struct ids_text word);
/* All of its words are. */
int ids_words_are_public(struct ids_text text);

/* A letter, or a byte of one that is not ASCII. */
static inline int ids_is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}
/* How many bytes the word at the begin of the text has: letters up to the next hump, "Pjit" of "PjitFunction". */
size_t ids_word_length(struct ids_text text);

#endif
