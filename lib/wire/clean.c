#include "lib/wire/clean.h"

#include "lib/wire/utf8.h"

/* The bytes of the next character; *ret_good: it may stay. */
static size_t next(const char *text, size_t left, enum ids_clean_kind kind, int *ret_good) {
    uint32_t character;
    int valid;
    size_t taken = ids_utf8_next(text, left, &character, &valid);
    int kept = kind == IDS_CLEAN_LINES && (character == '\n' || character == '\t');
    *ret_good = kept || (valid && !ids_character_harms(character));
    return taken;
}

int ids_is_clean(const char *text, size_t length, enum ids_clean_kind kind) {
    for (size_t at = 0; at < length;) {
        int good = 1;
        at += text[at] >= 0x20 && text[at] < 0x7f ? 1 : next(text + at, length - at, kind, &good);
        if (!good) return 0;
    }
    return 1;
}

size_t ids_clean_put(struct ids_buffer *buffer, const char *text, size_t length, enum ids_clean_kind kind) {
    size_t characters = 0;
    for (size_t at = 0; at < length; characters++) {
        int good;
        size_t taken = next(text + at, length - at, kind, &good);
        if (good)
            ids_buffer_put(buffer, text + at, taken);
        else
            IDS_BUFFER_PUT(buffer, IDS_REPLACEMENT_UTF8);
        at += taken;
    }
    return characters;
}
