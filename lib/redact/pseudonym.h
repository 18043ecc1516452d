/* pseudonym.h - words in place of names: the same name under the same key is always the same word.
 *
 * A word is "anon" and ten consonants, 40 bits of SipHash-2-4 of the name in small letters. Without the key nobody can
 * try names until one gives the word.
 */
#ifndef IDS_LIB_REDACT_PSEUDONYM_H
#define IDS_LIB_REDACT_PSEUDONYM_H

#include <stddef.h>
#include <stdint.h>

enum { IDS_PSEUDONYM_LENGTH = 14, IDS_PSEUDONYM_ROOM = IDS_PSEUDONYM_LENGTH + 1 };

struct ids_pseudonym_key {
    uint64_t halves[2];
};

/* A key from any number of bytes that nobody can guess. */
struct ids_pseudonym_key ids_pseudonym_key_of(const void *bytes, size_t length);

/* The word, in capitals where the name's letters are, or with a capital where it begins with one. */
void ids_pseudonym(const struct ids_pseudonym_key *key, const char *name, size_t length,
                   char ret_word[IDS_PSEUDONYM_ROOM]);

/* Whether the text is such a word, of whatever key. */
int ids_is_pseudonym(const char *text, size_t length);

#endif
