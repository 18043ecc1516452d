/* cut.h - what was cut to its room ends with a whole character, because readers show half of one as broken. */
#ifndef IDS_COLLECTORS_COMMON_CUT_H
#define IDS_COLLECTORS_COMMON_CUT_H

#include <string.h>

/* Drops the begin of a character of UTF-8 that the text ends with. */
static inline void ids_cut_between_characters(char *text) {
    size_t end = strlen(text), rest = 0;
    while (rest < 3 && rest < end && ((unsigned char)text[end - 1 - rest] & 0xc0) == 0x80) rest++;
    if (rest == end) return;
    unsigned char first = (unsigned char)text[end - 1 - rest];
    size_t wanted = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
    if (rest < wanted) text[end - 1 - rest] = '\0';
}

#endif
