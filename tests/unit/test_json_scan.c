/* lib/wire/json_scan: the same result wherever a window ends, whatever lies in strings. */
#include "lib/wire/json_scan.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ids_json_scan scan_of(const char *text, size_t length, int whole) {
    return (struct ids_json_scan){text, text + length, whole, NULL, NULL};
}

static int is(const struct ids_json_span *span, const char *text) {
    return span->length == strlen(text) && !memcmp(span->at, text, span->length);
}

START_TEST(values) {
    static const struct {
        const char *text, *span;
        int type, escaped;
    } table[] = {
        {" \"a b\" ,", "a b", IDS_JSON_STRING, 0},
        {"\"\"", "", IDS_JSON_STRING, 0},
        {"\"a\\\"b\\\\\" x", "a\\\"b\\\\", IDS_JSON_STRING, 1},
        {"\t\n-1.5e-7]", "-1.5e-7", IDS_JSON_NUMBER, 0},
        {"0}", "0", IDS_JSON_NUMBER, 0},
        {"true,", "true", IDS_JSON_TRUE, 0},
        {"false ", "false", IDS_JSON_FALSE, 0},
        {"null ", "null", IDS_JSON_NULL, 0},
        {"NaN,", "NaN", IDS_JSON_NULL, 0},
        {"-Infinity,", "-Infinity", IDS_JSON_NULL, 0},
        {"{}x", "{}", IDS_JSON_OBJECT, 0},
        {"[1,{\"a]\":\"}\\\"\"},[[]]],", "[1,{\"a]\":\"}\\\"\"},[[]]]", IDS_JSON_ARRAY, 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct ids_json_scan scan = scan_of(table[i].text, strlen(table[i].text), 0);
        struct ids_json_span span;
        ck_assert_msg(ids_json_value(&scan, &span) == IDS_JSON_OK, "%s", table[i].text);
        ck_assert_msg(is(&span, table[i].span), "%s: %.*s", table[i].text, (int)span.length, span.at);
        ck_assert_int_eq(span.type, table[i].type);
        ck_assert_int_eq(span.escaped, table[i].escaped);
        /* A window that ends within it says so and stays. */
        size_t end = (size_t)(span.at + span.length - table[i].text) + (span.type == IDS_JSON_STRING);
        for (size_t length = 0; length < end; length++) {
            scan = scan_of(table[i].text, length, 0);
            ck_assert_msg(ids_json_value(&scan, &span) == IDS_JSON_MORE, "%s to %zu", table[i].text, length);
            ck_assert_ptr_eq(scan.at, table[i].text);
        }
    }
    /* A number ends with its window only where nothing follows. */
    struct ids_json_span span;
    struct ids_json_scan scan = scan_of("12", 2, 0);
    ck_assert_int_eq(ids_json_value(&scan, &span), IDS_JSON_MORE);
    scan = scan_of("12", 2, 1);
    ck_assert_int_eq(ids_json_value(&scan, &span), IDS_JSON_OK);
    static const char *const wrong[] = {"x", "tru,", "nul l", "]", ":", "'a'"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        scan = scan_of(wrong[i], strlen(wrong[i]), 1);
        ck_assert_msg(ids_json_value(&scan, &span) == IDS_JSON_BAD, "%s", wrong[i]);
        ck_assert_ptr_nonnull(scan.why);
    }
}
END_TEST

START_TEST(members) {
    const char *text = "{ \"a\" : 1 , \"b\\n\":{\"c\":2},}";
    struct ids_json_scan scan = scan_of(text + 1, strlen(text) - 1, 1);
    struct ids_json_span key, value;
    int first = 1;
    ck_assert_int_eq(ids_json_member(&scan, &first, &key), IDS_JSON_OK);
    ck_assert(is(&key, "a"));
    ck_assert_int_eq(ids_json_value(&scan, &value), IDS_JSON_OK);
    ck_assert_int_eq(ids_json_member(&scan, &first, &key), IDS_JSON_OK);
    ck_assert(is(&key, "b\\n") && key.escaped);
    ck_assert_int_eq(ids_json_value(&scan, &value), IDS_JSON_OK);
    ck_assert(is(&value, "{\"c\":2}"));
    ck_assert_int_eq(ids_json_member(&scan, &first, &key), IDS_JSON_END);
    static const char *const wrong[] = {"a:1}", "\"a\" 1}", ",}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        scan = scan_of(wrong[i], strlen(wrong[i]), 1);
        first = 1;
        ck_assert_msg(ids_json_member(&scan, &first, &key) == IDS_JSON_BAD, "%s", wrong[i]);
    }
    scan = scan_of(" \"b\":1", 6, 1);
    first = 0;
    ck_assert_int_eq(ids_json_member(&scan, &first, &key), IDS_JSON_BAD); /* a comma is missing */
}
END_TEST

/* A nested value whose strings hold brackets, quotes and backslashes, long enough for blocks of 64 bytes; its end is
 * known. */
static size_t make_value(char *to, uint64_t seed, int *ret_words) {
    static const char *const pieces[] = {"\"plain text without anything\":1,",
                                         "\"}]\":\"{[\",",
                                         "\"q\\\"{\":\"\\\\\",",
                                         "\"M\":0,",
                                         "\"ph\":\"M\",",
                                         "\"M\\n\":2,",
                                         "\"Mx\":3,",
                                         "\"cat\":\"kernel\","};
    char closing[64] = "}";
    size_t used = 0, depth = 1;
    *ret_words = 0;
    to[used++] = '{';
    for (int i = 0; i < 40; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        unsigned pick = (unsigned)(seed >> 33) % 12;
        if (pick < 8) {
            size_t length = strlen(pieces[pick]);
            memcpy(to + used, pieces[pick], length);
            used += length;
            if (pick == 3 || pick == 4) *ret_words |= 1;
            if (pick == 7) *ret_words |= 2;
        } else if (pick < 10) {
            to[used++] = pick == 8 ? '{' : '[';
            closing[depth++] = pick == 8 ? '}' : ']';
        } else if (depth > 1) {
            to[used++] = closing[--depth];
        }
    }
    while (depth) to[used++] = closing[--depth];
    return used;
}

START_TEST(skipping) {
    static const char *const words[] = {"M\"", "kernel\""};
    static const struct ids_json_words watched = {words, 2, "Mk"};
    char text[4096];
    for (uint64_t seed = 0; seed < (uint64_t)ids_some_of(3000, 500); seed++) {
        int wanted;
        size_t length = make_value(text, seed, &wanted);
        memcpy(text + length, "]}\"M\"", 5); /* what follows is none of its business */
        struct ids_json_skip skip = {.watched = &watched};
        struct ids_json_scan scan = scan_of(text, length + 5, 0);
        ck_assert_int_eq(ids_json_skip(&scan, &skip), IDS_JSON_OK);
        ck_assert_msg((size_t)(scan.at - text) == length, "seed %d: %.*s", (int)seed, (int)length, text);
        ck_assert_int_eq((int)skip.seen, wanted);
        for (int i = 0; i < 2; i++) {
            if (!(wanted >> i & 1)) continue;
            const char *first = memmem(text, length, i ? "\"kernel\"" : "\"M\"", i ? 8 : 3);
            ck_assert_ptr_eq(skip.place[i], first + strlen(words[i]) + 1);
            ck_assert_int_eq(skip.again >> i & 1,
                             memmem(skip.place[i], (size_t)(text + length - skip.place[i]), first, i ? 8 : 3) != NULL);
        }
        /* In windows of any length. */
        size_t window = 1 + seed % 150;
        skip = (struct ids_json_skip){0};
        for (size_t at = 0; at < length;) {
            size_t n = length + 5 - at < window ? length + 5 - at : window;
            scan = scan_of(text + at, n, 0);
            enum ids_json_result result = ids_json_skip(&scan, &skip);
            at += (size_t)(scan.at - (text + at));
            ck_assert_int_eq(result, at == length ? IDS_JSON_OK : IDS_JSON_MORE);
            ck_assert(result == IDS_JSON_OK || scan.at == scan.end);
        }
    }
}
END_TEST

START_TEST(brackets_of_the_wrong_kind) {
    char text[512];
    for (size_t before = 0; before < 200; before++) { /* in a block of 64 bytes and in what is left behind one */
        memset(text, ' ', sizeof text);
        text[0] = '[';
        memcpy(text + 1 + before, "{\"a\":1]}", 8);
        struct ids_json_skip skip = {0};
        struct ids_json_scan scan = scan_of(text, sizeof text, 1);
        ck_assert_int_eq(ids_json_skip(&scan, &skip), IDS_JSON_BAD);
        ck_assert_int_eq(scan.at - text, (long)before + 7);
    }
}
END_TEST

START_TEST(depth_costs_nothing) {
    enum { DEPTH = 3000000 };
    char *text = malloc(2 * DEPTH);
    memset(text, '[', DEPTH);
    memset(text + DEPTH, ']', DEPTH);
    struct ids_json_scan scan = scan_of(text, 2 * DEPTH, 1);
    struct ids_json_span span;
    ck_assert_int_eq(ids_json_value(&scan, &span), IDS_JSON_OK);
    ck_assert_uint_eq(span.length, 2 * DEPTH);
    free(text);
}
END_TEST

START_TEST(texts) {
    static const struct {
        const char *text, *meaning;
        size_t length;
    } table[] = {
        {"plain", "plain", 5},
        {"a\\nb\\t\\\"\\\\\\/\\b\\f\\r", "a\nb\t\"\\/\b\f\r", 10},
        {"\\u0041\\u00e9\\u20ac", "A\xc3\xa9\xe2\x82\xac", 6},
        {"\\ud83d\\ude00!", "\xf0\x9f\x98\x80!", 5},
        {"\\ud83d!", "\xef\xbf\xbd!", 4},
        {"\\ude00\\ud83d\\u0041",
         "\xef\xbf\xbd\xef\xbf\xbd"
         "A",
         7},
        {"a\\u0000b", "a\0b", 3},
        {"\\u12", "u12", 3},
        {"\\q", "q", 1},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char to[64];
        struct ids_json_span span = {table[i].text, (uint32_t)strlen(table[i].text), IDS_JSON_STRING, 1, 0};
        size_t length = ids_json_unescape(&span, to);
        ck_assert_msg(length == table[i].length && !memcmp(to, table[i].meaning, length), "%s", table[i].text);
        ck_assert_uint_le(length, span.length);
    }
    char to[64];
    static const char spaced[] = "{ \"a b\" : [ 1 ,\n\t2.50 ], \"c\\\" \" : null }";
    struct ids_json_span span = {spaced, sizeof spaced - 1, IDS_JSON_OBJECT, 0, 0};
    const char *broken = NULL;
    size_t length = ids_json_minify(&span, to, &broken);
    ck_assert_ptr_null(broken);
    static const char minified[] = "{\"a b\":[1,2.50],\"c\\\" \":null}";
    ck_assert_msg(length == sizeof minified - 1 && !memcmp(to, minified, length), "%.*s", (int)length, to);
}
END_TEST

/* Values that are no JSON are taken, and the first such place is told: of a value alone, and inside nested ones. */
START_TEST(broken_values) {
    static const struct {
        const char *text;
        int at; /* of the broken place; -1: it is JSON */
    } table[] = {
        {"0", -1},
        {"-0.5e+10", -1},
        {"120", -1},
        {"007", 0},
        {"1.", 0},
        {"-", 0},
        {"1e", 0},
        {"1-2", 0},
        {"1.5.2", 0},
        {"NaN", 0},
        {"-inf", 0},
        {"nan", 0},
        {"\"a\\n\"", -1},
        {"\"a\nb\"", 2},
        {"\"abcdefghijklmnopqrs\x1ft\"", 20},
        {"\"\\q\"", 1},
        {"\"\\u12g4\"", 1},
        {"\"\\u12A4\"", -1},
        {"true", -1},
        {"[1,2,]", -1},
        {"[1,,2]", 3},
        {"[1 2]", 3},
        {"[,1]", 1},
        {"[tru]", 1},
        {"[truex]", 1},
        {"[nan]", 1},
        {"[1.2.3]", 1},
        {"[01]", 1},
        {"{\"a\":}", 5},
        {"{\"a\" 1}", 5},
        {"{a:1}", 1},
        {"{\"a\":1,\"b\"}", 10},
        {"{\"a\":[1,{\"b\":\"\t\"}]}", 14},
        {"{1:2}", 1},
        {"[\"a\":1]", 4},
        {"{\"a\":true,\"b\":[null,false,-1.5e3,\"x\"],\"c\":{}}", -1},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char to[64];
        struct ids_json_scan scan = {.at = table[i].text, .end = table[i].text + strlen(table[i].text), .whole = 1};
        struct ids_json_span span;
        ck_assert_msg(ids_json_value(&scan, &span) == IDS_JSON_OK && scan.at == scan.end, "%s", table[i].text);
        if (span.type == IDS_JSON_OBJECT || span.type == IDS_JSON_ARRAY) ids_json_minify(&span, to, &scan.broken);
        int at = scan.broken ? (int)(scan.broken - table[i].text) : -1;
        ck_assert_msg(at == table[i].at, "%s: broken at %d, not %d", table[i].text, at, table[i].at);
        char followed[80];
        snprintf(followed, sizeof followed, "%s,", table[i].text);
        scan = (struct ids_json_scan){.at = followed, .end = followed + strlen(followed)};
        ck_assert_msg(ids_json_value(&scan, &span) == IDS_JSON_OK && scan.at == scan.end - 1, "%s", followed);
        at = scan.broken ? (int)(scan.broken - followed) : -1;
        if (span.type == IDS_JSON_NUMBER || span.type == IDS_JSON_STRING)
            ck_assert_msg(at == table[i].at, "%s broken at %d, not %d", followed, at, table[i].at);
    }
}
END_TEST

IDS_RUN_SUITE("json_scan", values, members, skipping, brackets_of_the_wrong_kind, depth_costs_nothing, texts,
              broken_values)
