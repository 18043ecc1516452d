#include "lib/model/keys.h"

/* Keys of Chrome traces whose spelling varies from one release or maker to the next. Stats of xplane.pb have one
 * spelling. */
static const uint32_t varied[] = {
    IDS_KEY_CORRELATION,
    IDS_KEY_CORRELATION_ID,
    IDS_KEY_EXTERNAL_ID,
    IDS_KEY_PYTHON_ID,
    IDS_KEY_PYTHON_PARENT_ID,
    IDS_KEY_SEQUENCE_NUMBER,
    IDS_KEY_FORWARD_THREAD,
    IDS_KEY_BYTES,
    IDS_KEY_DIRECTION,
    IDS_KEY_GRID,
    IDS_KEY_BLOCK,
    IDS_KEY_REGISTERS_PER_THREAD,
    IDS_KEY_SHARED_MEMORY,
    IDS_KEY_COLLECTIVE_NAME,
    IDS_KEY_ACHIEVED_OCCUPANCY,
    IDS_KEY_MESSAGE_ELEMENTS,
    IDS_KEY_RESULT_ELEMENTS,
    IDS_KEY_GROUP_SIZE,
    IDS_KEY_DTYPE,
    IDS_KEY_GROUP_RANKS,
};

static int is_separator(char c) {
    return c == ' ' || c == '_' || c == '-';
}

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static int is_spelling(struct ids_text text, struct ids_text key) {
    uint32_t i = 0, j = 0;
    for (;;) {
        while (i < text.length && is_separator(text.at[i])) i++;
        while (j < key.length && is_separator(key.at[j])) j++;
        if (i == text.length || j == key.length) return i == text.length && j == key.length;
        if (lower(text.at[i++]) != lower(key.at[j++])) return 0;
    }
}

uint32_t ids_key_spelt_anew(struct ids_key_spellings *spellings, const struct ids_strings *strings, uint32_t text) {
    const uint32_t place = text % IDS_KEY_SPELLINGS;
    uint32_t key = text;
    for (size_t i = 0; i < sizeof varied / sizeof *varied && key == text; i++) {
        if (is_spelling(ids_strings_text(strings, text), ids_strings_text(strings, varied[i]))) key = varied[i];
    }
    spellings->recent[place].text = text;
    spellings->recent[place].key = key;
    return key;
}

int ids_keys_intern(struct ids_strings *strings) {
    static const char *const texts[IDS_KEY_COUNT] = {
        [IDS_KEY_NONE] = "",
#define IDS_KEY(id, text) [IDS_KEY_##id] = (text),
#include "lib/model/keys.def"
    };
    for (uint32_t key = 0; key < IDS_KEY_COUNT; key++) {
        if (ids_intern_z(strings, texts[key]) != key) return -1;
    }
    return 0;
}
