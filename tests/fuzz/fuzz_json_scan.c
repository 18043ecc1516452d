/* fuzz_json_scan.c - the JSON scanner: a text read as a whole, and again through windows of a few bytes. Both must find
 * the same value, or the same fault; a skip by blocks must end where the value does; what is unescaped or minified
 * must fit where it goes. */
#include "lib/wire/json_scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static const char *const words[] = {"args", "name", "ph"};
static const struct ids_json_words watched = {.words = words, .count = 3, .firsts = "anp"};

static void die(const char *why, size_t at) {
    fprintf(stderr, "fuzz_json_scan: %s, at %zu\n", why, at);
    abort();
}

/* Copies, so that the sanitizer sees a read behind the end of a window. */
static char *window(const char *text, size_t length) {
    char *copy = malloc(length ? length : 1);
    if (!copy) abort();
    memcpy(copy, text, length);
    return copy;
}

static void check_string(const struct ids_json_span *span) {
    char *to = malloc(span->length ? span->length : 1);
    if (!to) abort();
    if (span->type == IDS_JSON_STRING && ids_json_unescape(span, to) > span->length)
        die("unescaped to more than it was", span->length);
    const char *broken = NULL;
    if (ids_json_minify(span, to, &broken) > span->length) die("minified to more than it was", span->length);
    free(to);
}

/* Members of an object, down to `depth`: keys and values are what a reader takes apart. */
static void walk(const struct ids_json_span *object, int depth) {
    struct ids_json_scan scan = {.at = object->at + 1, .end = object->at + object->length, .whole = 1};
    struct ids_json_span key, value;
    int first = 1;
    while (ids_json_member(&scan, &first, &key) == IDS_JSON_OK) {
        check_string(&key);
        if (ids_json_value(&scan, &value) != IDS_JSON_OK) return;
        check_string(&value);
        if (depth && value.type == IDS_JSON_OBJECT) walk(&value, depth - 1);
    }
}

/* Skips in windows of `step` bytes; the place behind the value, or -1. */
static long skip(const char *text, size_t length, size_t step, uint32_t *ret_seen) {
    struct ids_json_skip state = {.watched = &watched};
    for (size_t at = 0; at < length;) {
        size_t size = length - at < step ? length - at : step;
        char *copy = window(text + at, size);
        struct ids_json_scan scan = {.at = copy, .end = copy + size};
        enum ids_json_result result = ids_json_skip(&scan, &state);
        size_t used = (size_t)(scan.at - copy);
        free(copy);
        at += used;
        *ret_seen = state.seen;
        if (result == IDS_JSON_OK) return (long)at;
        if (result != IDS_JSON_MORE) return -1;
        if (used != size) die("wants more, though the window was not used up", at);
    }
    return -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    if (!length) return 0;
    size_t step = (size_t)bytes[0] % 97 + 1;
    const char *text = (const char *)bytes + 1;
    length--;
    char *copy = window(text, length);
    struct ids_json_scan scan = {.at = copy, .end = copy + length, .whole = 1};
    struct ids_json_span value;
    enum ids_json_result result = ids_json_value(&scan, &value);
    if (result == IDS_JSON_BAD && (!scan.why || scan.at < copy || scan.at > copy + length))
        die("a fault without words", length);
    if (result == IDS_JSON_OK) {
        if (value.at < copy || value.at + value.length > scan.at) die("a value outside its text", length);
        check_string(&value);
        if (value.type == IDS_JSON_OBJECT) walk(&value, 8);
        /* In a shorter window that ends inside the value it is asked for again, never half of it. */
        size_t cut = step % (value.length + 1);
        char *part = window(copy, (size_t)(value.at - copy) + cut);
        struct ids_json_scan again = {.at = part, .end = part + (size_t)(value.at - copy) + cut};
        struct ids_json_span half;
        if (cut < value.length && ids_json_value(&again, &half) == IDS_JSON_OK && value.type != IDS_JSON_NUMBER)
            die("half a value taken for a whole one", cut);
        free(part);
    }
    if (length && (*text == '{' || *text == '[')) {
        uint32_t seen_at_once = 0, seen_by_windows = 0;
        long end = skip(text, length, length, &seen_at_once);
        if (skip(text, length, step, &seen_by_windows) != end) die("skipped by windows, it ends elsewhere", step);
        if (seen_by_windows & ~seen_at_once) die("a word seen in windows that is not there", step);
        if (result == IDS_JSON_OK && end != (long)(scan.at - copy))
            die("skip and value end at different places", (size_t)end);
    }
    free(copy);
    return 0;
}
