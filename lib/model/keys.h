/* keys.h - the stats that the model understands, by number. See keys.def. */
#ifndef IDS_LIB_MODEL_KEYS_H
#define IDS_LIB_MODEL_KEYS_H

#include "lib/base/intern.h"

enum ids_key {
    IDS_KEY_NONE, /* the empty text */
#define IDS_KEY(id, text) IDS_KEY_##id,
#include "lib/model/keys.def"
#undef IDS_KEY
    IDS_KEY_COUNT,
};

/* Interns the empty text and every key, so that a key's text id is its enum value. Call it on an empty table, before
 * anything else is interned. Returns 0, or -1 when memory ran out. */
int ids_keys_intern(struct ids_strings *strings);

#endif
