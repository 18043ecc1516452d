/* keys.h - the stats that the model understands, by number. See keys.def. */
#ifndef IDS_LIB_MODEL_KEYS_H
#define IDS_LIB_MODEL_KEYS_H

#include "lib/base/intern.h"

enum ids_key {
    IDS_KEY_NONE, /* the empty text */
#define IDS_KEY(id, text) IDS_KEY_##id,
#include "lib/model/keys.def"
    IDS_KEY_COUNT,
};

/* Writers of Chrome traces spell the same key in several ways ("External id", "external id", "Correlation ID"). */
enum { IDS_KEY_SPELLINGS = 64 };
struct ids_key_spellings {
    struct {
        uint32_t text, key;
    } recent[IDS_KEY_SPELLINGS]; /* by the low bits of the text's id; of the last key that was looked up there */
};

/* The key that a text is a spelling of: case, spaces, '_' and '-' make no difference. Else the text's own id. The texts
 * of one file stay as they are, so that exports and databases show what the file says. */
uint32_t ids_key_spelt_anew(struct ids_key_spellings *spellings, const struct ids_strings *strings, uint32_t text);
static inline uint32_t ids_key_spelt(struct ids_key_spellings *spellings, const struct ids_strings *strings,
                                     uint32_t text) {
    if (text < IDS_KEY_COUNT) return text;
    const uint32_t place = text % IDS_KEY_SPELLINGS;
    return spellings->recent[place].text == text ? spellings->recent[place].key
                                                 : ids_key_spelt_anew(spellings, strings, text);
}

/* Interns the empty text and every key, so that a key's text id is its enum value. Call it on an empty table, before
 * anything else is interned. Returns 0, or -1 when memory ran out. */
int ids_keys_intern(struct ids_strings *strings);

#endif
