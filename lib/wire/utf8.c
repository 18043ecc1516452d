#include "lib/wire/utf8.h"

size_t ids_utf8_next(const char *at, size_t left, uint32_t *ret_character, int *ret_valid) {
    const unsigned char *bytes = (const unsigned char *)at;
    uint32_t character = bytes[0];
    size_t length = 1;
    uint32_t least = 0; /* smaller ones have a shorter form, and are overlong here */
    if (character >= 0xf0 && character < 0xf8) {
        length = 4;
        least = 0x10000;
        character &= 0x07;
    } else if (character >= 0xe0 && character < 0xf0) {
        length = 3;
        least = 0x800;
        character &= 0x0f;
    } else if (character >= 0xc0 && character < 0xe0) {
        length = 2;
        least = 0x80;
        character &= 0x1f;
    }
    int valid = length > 1 || character < 0x80;
    if (length > left) valid = 0;
    for (size_t i = 1; valid && i < length; i++) {
        valid = (bytes[i] & 0xc0) == 0x80;
        character = character << 6 | (bytes[i] & 0x3f);
    }
    if (character < least || character > 0x10ffff || (character >= 0xd800 && character < 0xe000)) valid = 0;
    *ret_valid = valid;
    *ret_character = valid ? character : IDS_REPLACEMENT;
    return valid ? length : 1;
}

int ids_character_harms(uint32_t character) {
    if (character < 0x20) return 1;
    if (character < 0x7f) return 0;
    return character < 0xa0 || character == 0x61c || character == 0x200e || character == 0x200f ||
           (character >= 0x2028 && character <= 0x202e) || (character >= 0x2066 && character <= 0x206f);
}
