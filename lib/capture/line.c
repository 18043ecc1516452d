#include "lib/capture/line.h"

#include <string.h>

int ids_line_parse(const char *text, size_t length, struct ids_line *ret_line) {
    struct ids_json_scan scan = {.at = text, .end = text + length, .whole = 1};
    int first = 1;
    ret_line->count = 0;
    if (ids_json_space(&scan) != IDS_JSON_OK || *scan.at != '{') return -1;
    scan.at++;
    while (ret_line->count < IDS_LINE_MEMBERS) {
        enum ids_json_result result = ids_json_member(&scan, &first, &ret_line->members[ret_line->count].key);
        if (result == IDS_JSON_END) return 0;
        if (result != IDS_JSON_OK) return -1;
        if (ids_json_value(&scan, &ret_line->members[ret_line->count].value) != IDS_JSON_OK) return -1;
        ret_line->count++;
    }
    return -1;
}

const struct ids_json_span *ids_line_find(const struct ids_line *line, const char *key) {
    size_t length = strlen(key);
    for (size_t i = 0; i < line->count; i++) {
        const struct ids_json_span *found = &line->members[i].key;
        if (found->length == length && !memcmp(found->at, key, length)) return &line->members[i].value;
    }
    return NULL;
}

int64_t ids_line_number(const struct ids_line *line, const char *key) {
    const struct ids_json_span *span = ids_line_find(line, key);
    if (!span || span->type != IDS_JSON_NUMBER) return -1;
    int64_t number = 0;
    for (size_t i = 0; i < span->length; i++) {
        if (span->at[i] < '0' || span->at[i] > '9' || __builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, span->at[i] - '0', &number)) {
            return -1;
        }
    }
    return number;
}

const char *ids_line_copy(struct ids_arena *arena, const struct ids_json_span *span) {
    char *text = span && span->type == IDS_JSON_STRING ? ids_arena_alloc(arena, span->length + 1) : NULL;
    if (text) text[ids_json_unescape(span, text)] = '\0';
    return text;
}

const char *ids_line_text(struct ids_arena *arena, const struct ids_line *line, const char *key) {
    return ids_line_copy(arena, ids_line_find(line, key));
}

int ids_line_says(const struct ids_line *line, const char *key, const char *text) {
    const struct ids_json_span *span = ids_line_find(line, key);
    return span && span->length == strlen(text) && !memcmp(span->at, text, span->length);
}
