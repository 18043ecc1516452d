/* intern.h - each distinct text once, by a small number.
 *
 * Ids are dense from 0; id 0 is always the empty text. Texts are bytes, may hold zero bytes, and have a zero byte
 * behind them. Two texts are equal exactly when their ids are.
 *
 * One thread adds texts. Another may meanwhile ask for those whose ids it was given (by a lock or the like that both
 * pass): a text never moves, nor does what leads to it.
 *
 * A table may stand on another one that nobody adds to meanwhile: it knows all texts of that by their ids, and adds its
 * own behind them.
 */
#ifndef IDS_LIB_BASE_INTERN_H
#define IDS_LIB_BASE_INTERN_H

#include "lib/base/arena.h"

#include <stdint.h>
#include <string.h>

struct ids_text {
    const char *at;
    uint32_t length;
};

static inline int ids_text_is(struct ids_text text, const char *whole) {
    return strlen(whole) == text.length && !memcmp(text.at, whole, text.length);
}
static inline int ids_text_begins(struct ids_text text, const char *prefix) {
    size_t length = strlen(prefix);
    return text.length >= length && !memcmp(text.at, prefix, length);
}
static inline int ids_text_ends(struct ids_text text, const char *suffix) {
    size_t length = strlen(suffix);
    return text.length >= length && !memcmp(text.at + text.length - length, suffix, length);
}
static inline int ids_text_contains(struct ids_text text, const char *word) {
    return memmem(text.at, text.length, word, strlen(word)) != NULL;
}

enum { IDS_STRINGS_BLOCKS = 26 }; /* of 128 texts, 128, 256, 512 and so on: above four billion */

struct ids_strings {
    struct ids_arena arena;
    struct ids_text *blocks[IDS_STRINGS_BLOCKS];
    uint32_t *slots; /* id + 1; 0 is free */
    uint32_t slot_mask;
    _Atomic uint32_t count;         /* of its own texts */
    const struct ids_strings *base; /* NULL: it stands on none */
    uint32_t first;                 /* how many that has: the id of the first text of its own */
};

/* What ids_intern returns when memory ran out (or four billion texts were passed). */
#define IDS_NO_TEXT UINT32_MAX

void ids_strings_done(struct ids_strings *strings);
/* An empty table that stands on `base`. */
void ids_strings_stand_on(struct ids_strings *strings, const struct ids_strings *base);
uint32_t ids_intern(struct ids_strings *strings, const char *text, size_t length);
uint32_t ids_intern_z(struct ids_strings *strings, const char *text);
/* The id of a text that is there already, else IDS_NO_TEXT. */
uint32_t ids_strings_find(const struct ids_strings *strings, const char *text, size_t length);
/* The text of an id; the empty text for an id that is not there. */
struct ids_text ids_strings_text(const struct ids_strings *strings, uint32_t id);
const char *ids_strings_z(const struct ids_strings *strings, uint32_t id);

uint64_t ids_hash_bytes(const void *bytes, size_t length);

#endif
