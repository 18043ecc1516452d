/* formats/mini.c: what it understands and what it says of a mistake. A profile that is read wrong would make goldens
 * wrong. */
#include "tests/support/mini_trace.h"
#include "tests/support/suite.h"

#include <stdio.h>

/* The message for a text with a mistake; "" when there is none. */
static const char *said(const char *text) {
    static struct ids_error err;
    struct ids_source *source;
    struct ids_builder *builder;
    char whole[4096];
    snprintf(whole, sizeof whole, "idsprof-mini 1\n%s", text);
    err = (struct ids_error)IDS_ERROR_INIT;
    ck_assert_int_eq(ids_source_memory(whole, strlen(whole), &source, &err), 0);
    ck_assert_int_eq(ids_builder_new(&builder, &err), 0);
    int code = ids_mini_format.read(source, ids_builder_sink(builder), &err);
    ck_assert_int_eq(code, *err.text ? IDS_CORRUPT : 0);
    ids_builder_free(builder);
    ids_source_close(source);
    return err.text;
}

#define TRACK "plane /device:GPU:0\nline 1 \"Stream #1\"\n"

START_TEST(mistakes) {
    static const struct {
        const char *text, *message;
    } table[] = {
        {"", ""},
        {"# a comment\n\n  \t\n" TRACK "1 1 k # and one behind\n", ""},
        {"plane\n", "line 2: expected: plane NAME"},
        {"meta f a=1\n", "line 2: expected: meta NAME KEY=VALUE, after a plane"},
        {"line 1 x\n", "line 2: expected: line ID NAME, after a plane"},
        {"plane p\nline 1\n", "line 3: expected: line ID NAME, after a plane"},
        {"plane p\n1 1 k\n", "line 3: an event before any line"},
        {TRACK "plane q\n1 1 k\n", "line 5: an event before any line"}, /* a plane ends the line */
        {TRACK "1 1\n", "line 4: expected: START DURATION NAME"},
        {TRACK "1x 1 k\n", "line 4: expected: START DURATION NAME"},
        {TRACK "1 1.2.3us k\n", "line 4: expected: START DURATION NAME"},
        {TRACK "- 1 k\n", "line 4: expected: START DURATION NAME"},
        {TRACK "99999999999999999999 1 k\n", "line 4: expected: START DURATION NAME"},
        {TRACK "1 1 k novalue\n", "line 4: expected KEY=VALUE"},
        {TRACK "1 1 \"k\n", "line 4: a quote is not closed"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        ck_assert_msg(!strcmp(said(table[i].text), table[i].message), "%zu: '%s'", i, said(table[i].text));
    }
    char many[1024] = TRACK "1 1 k";
    for (int i = 0; i < 62; i++) strcat(many, " a=1");
    ck_assert_str_eq(said(many), "line 4: more than 64 words");
}
END_TEST

START_TEST(times) {
    struct ids_trace *trace =
        mini_trace(TRACK "1.25ms 5us a\n40ns 7 b\n-3us 0.000001us c\n2s 1ps d\n0.5 1.000000000001s e\n");
    static const struct {
        const char *name;
        int64_t start, duration;
    } table[] = {{"a", 1250000000, 5000000},
                 {"b", 40000, 7},
                 {"c", -3000000, 1},
                 {"d", INT64_C(2000000000000), 1},
                 {"e", 0, INT64_C(1000000000001)}}; /* half a picosecond is none */
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct ids_event *event = activity(trace, 0, table[i].name);
        ck_assert_int_eq(event->start_ps, table[i].start);
        ck_assert_int_eq(event->end_ps - event->start_ps, table[i].duration);
    }
    ids_trace_free(trace);
}
END_TEST

START_TEST(words) {
    struct ids_trace *trace =
        mini_trace(TRACK "0 1 \"a name\" hlo_op=\"an op\" hlo_module=\"m\"\n2 1 b#c hlo_op=x\n4 1 d hlo_op=-5\n");
    ck_assert_str_eq(ids_trace_text(trace, trace->ops[activity(trace, 0, "a name")->op].name), "an op");
    ck_assert_str_eq(ids_trace_text(trace, trace->ops[activity(trace, 0, "b#c")->op].name), "x"); /* # inside a word */
    ck_assert_uint_eq(activity(trace, 0, "d")->op, IDS_NONE); /* a number is no text */
    ck_assert_uint_eq(trace->stat_count, 4);
    ids_trace_free(trace);
}
END_TEST

START_TEST(only_its_own_files) {
    int more = 0;
    ck_assert_int_eq(ids_mini_format.bid((const uint8_t *)"idsprof-mini 1\nhost", 19, &more), 100);
    ck_assert_int_eq(ids_mini_format.bid((const uint8_t *)"idsprof-mini", 12, &more), 0);
    ck_assert_int_eq(ids_mini_format.bid((const uint8_t *)"\x0a\x06\x08\x01\x12\x02/h\0\0\0\0\0\0", 14, &more), 0);
}
END_TEST

IDS_RUN_SUITE("mini", mistakes, times, words, only_its_own_files)
