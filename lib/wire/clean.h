/* clean.h - text of others, so that it can be shown.
 *
 * Names come from profiles, archives, databases and file systems. All of them pass here before they reach a terminal or
 * a text file: a broken byte, and a character that ids_character_harms names, becomes U+FFFD.
 */
#ifndef IDS_LIB_WIRE_CLEAN_H
#define IDS_LIB_WIRE_CLEAN_H

#include "lib/base/buffer.h"

enum ids_clean_kind {
    IDS_CLEAN_LINE,  /* one line: no newline and no tab either */
    IDS_CLEAN_LINES, /* newlines and tabs stay */
};

int ids_is_clean(const char *text, size_t length, enum ids_clean_kind kind);
/* Puts the clean text; returns its number of characters. */
size_t ids_clean_put(struct ids_buffer *buffer, const char *text, size_t length, enum ids_clean_kind kind);

#endif
