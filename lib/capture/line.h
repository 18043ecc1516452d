/* line.h - one line of a hello file, or the answer of a control socket: a JSON object of texts and numbers. */
#ifndef IDS_LIB_CAPTURE_LINE_H
#define IDS_LIB_CAPTURE_LINE_H

#include "lib/base/arena.h"
#include "lib/wire/json_scan.h"

enum { IDS_LINE_MEMBERS = 40 };

/* Points into the text that was parsed. */
struct ids_line {
    struct {
        struct ids_json_span key, value;
    } members[IDS_LINE_MEMBERS];
    size_t count;
};

/* 0, or -1 if the text is not such an object. */
int ids_line_parse(const char *text, size_t length, struct ids_line *ret_line);
/* NULL if there is no such key. */
const struct ids_json_span *ids_line_find(const struct ids_line *line, const char *key);
/* -1 if it is missing or not a whole number >= 0. */
int64_t ids_line_number(const struct ids_line *line, const char *key);
/* NULL if it is missing or not a text. */
const char *ids_line_text(struct ids_arena *arena, const struct ids_line *line, const char *key);
const char *ids_line_copy(struct ids_arena *arena, const struct ids_json_span *span);
/* Whether the key's value is this text. */
int ids_line_says(const struct ids_line *line, const char *key, const char *text);

#endif
