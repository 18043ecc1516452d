#include "lib/model/keys.h"

int ids_keys_intern(struct ids_strings *strings) {
    static const char *const texts[IDS_KEY_COUNT] = {
        [IDS_KEY_NONE] = "",
#define IDS_KEY(id, text) [IDS_KEY_##id] = (text),
#include "lib/model/keys.def"
#undef IDS_KEY
    };
    for (uint32_t key = 0; key < IDS_KEY_COUNT; key++) {
        if (ids_intern_z(strings, texts[key]) != key) return -1;
    }
    return 0;
}
