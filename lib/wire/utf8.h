/* utf8.h - reading UTF-8 that may be broken.
 *
 * Names in profiles are bytes that somebody's runtime wrote: mostly UTF-8, sometimes cut in the middle of a character,
 * sometimes anything. What is printed must be valid, so every writer walks its texts with this.
 */
#ifndef IDS_LIB_WIRE_UTF8_H
#define IDS_LIB_WIRE_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define IDS_REPLACEMENT 0xfffdu
#define IDS_REPLACEMENT_UTF8 "\xef\xbf\xbd"

/* The bytes that the character at `at` takes, 1 to 4; `left` is at least 1. An invalid byte (also an overlong form, a
 * surrogate, a cut character) takes one byte and is IDS_REPLACEMENT with *ret_valid 0. */
size_t ids_utf8_next(const char *at, size_t left, uint32_t *ret_character, int *ret_valid);
/* Controls (C0, DEL, C1), line separators, and marks that turn the direction of text: they drive a terminal, or make it
 * show another text than there is. */
int ids_character_harms(uint32_t character);

#endif
