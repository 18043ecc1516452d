#include "lib/base/error.h"

#include "lib/base/memory.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_LEFT = 16 }; /* of what is cut in its middle: a few bytes of either end */

/* The longest part between two quotes that stand on words' edges, mostly a path; else the longest word. */
static size_t longest_part(const char *whole, const char **ret_part) {
    size_t quoted = 0, word = 0;
    const char *in_quotes = whole, *longest = whole;
    for (const char *at = whole; *at; at += strcspn(at, " ") + strspn(at + strcspn(at, " "), " ")) {
        const char *close = *at == '\'' ? strchr(at + 1, '\'') : NULL;
        size_t length = strcspn(at, " ");
        if (close && (size_t)(close - at - 1) > quoted) quoted = (size_t)(close - at - 1), in_quotes = at + 1;
        if (length > word) word = length, longest = at;
    }
    *ret_part = quoted > word / 2 ? in_quotes : longest;
    return quoted > word / 2 ? quoted : word;
}

/* The message in its room. What is too long loses the middle of its path, because the reason stands behind it. */
static void put(struct ids_error *err, const char *whole) {
    static const char dots[] = "...";
    const size_t length = strlen(whole), most = sizeof err->text - 1;
    if (length <= most) {
        memmove(err->text, whole, length + 1);
        return;
    }
    const char *part;
    size_t excess = length - most + sizeof dots - 1, room = longest_part(whole, &part);
    if (room < excess + LEAST_LEFT) part = whole, room = length;
    size_t head = (size_t)(part - whole) + (room - excess) / 2, tail = head + excess;
    while (head && (whole[head] & 0xc0) == 0x80) head--; /* whole characters */
    while (tail < length && (whole[tail] & 0xc0) == 0x80) tail++;
    memmove(err->text, whole, head);
    memcpy(err->text + head, dots, sizeof dots - 1);
    memmove(err->text + head + sizeof dots - 1, whole + tail, length - tail + 1);
}

/* The text, however long; in `room` when that is enough, or when memory ran out. */
static char *format_text(char *room, size_t size, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(room, size, format, args);
    char *text = room;
    if (length >= 0 && (size_t)length >= size && vasprintf(&text, format, again) < 0) text = room;
    va_end(again);
    return text;
}

enum { ROOM = 1024 };

int(ids_fail)(struct ids_error *err, int code, const char *format, ...) {
    char room[ROOM];
    va_list args;
    va_start(args, format);
    char *text = format_text(room, sizeof room, format, args);
    va_end(args);
    put(err, text);
    if (text != room) free(text);
    err->hint[0] = '\0';
    err->code = code;
    if (code == IDS_NOMEM) ids_memory_refused();
    return code;
}

int(ids_fail_system)(struct ids_error *err, const char *format, ...) {
    int number = errno;
    char reason[128] = "out of memory", room[ROOM];
    va_list args;
    va_start(args, format);
    char *what = format_text(room, sizeof room, format, args);
    va_end(args);
    if (number != ENOMEM) snprintf(reason, sizeof reason, "%s", strerror(number));
    (ids_fail)(err, number == ENOMEM ? IDS_NOMEM : IDS_IO, "%s", reason);
    ids_error_at(err, "%s", what);
    if (what != room) free(what);
    return err->code;
}

int ids_hint(struct ids_error *err, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(err->hint, sizeof err->hint, format, args);
    va_end(args);
    return err->code;
}

const char *ids_error_whole(const struct ids_error *err, char *room) {
    snprintf(room, IDS_ERROR_WHOLE, *err->hint ? "%s (%s)" : "%s", err->text, err->hint);
    return room;
}

int ids_error_at(struct ids_error *err, const char *format, ...) {
    char room[ROOM], both[ROOM + sizeof err->text + 2], *whole = both;
    va_list args;
    va_start(args, format);
    char *before = format_text(room, sizeof room, format, args);
    va_end(args);
    if (before == room)
        snprintf(both, sizeof both, "%s: %s", room, err->text);
    else if (asprintf(&whole, "%s: %s", before, err->text) < 0)
        whole = both, snprintf(both, sizeof both, "%.*s: %s", ROOM - 1, before, err->text);
    put(err, whole);
    if (before != room) free(before);
    if (whole != both) free(whole);
    return err->code;
}
