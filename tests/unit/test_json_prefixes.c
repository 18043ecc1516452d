/* Every prefix of a JSON trace: only a bare array may lack its end, between two elements; any other prefix is said
 * to be one. */
#include "lib/io/source.h"
#include "lib/model/dump.h"
#include "lib/model/format.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct ids_format ids_chrome_trace_format;

static char *content_of(const char *name, size_t *ret_length) {
    char path[4096];
    snprintf(path, sizeof path, "%s/testdata/json/%s", getenv("IDS_SOURCE_DIR"), name);
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s", path);
    enum { ROOM = 1 << 16 };
    char *content = malloc(ROOM);
    *ret_length = fread(content, 1, ROOM, file);
    ck_assert_uint_lt(*ret_length, ROOM);
    fclose(file);
    return content;
}

/* 1 when the reader takes the bytes for a whole trace. */
static int is_whole(const char *bytes, size_t length) {
    struct ids_error err = IDS_ERROR_INIT;
    struct ids_source *source;
    struct ids_dump *dump;
    ck_assert_int_eq(ids_dump_new(&dump, &err), 0);
    char *copy = malloc(length); /* so that the sanitizers see a read behind its end */
    memcpy(copy, bytes, length);
    ck_assert_int_eq(ids_source_memory(copy, length, &source, &err), 0);
    int code = ids_chrome_trace_format.read(source, ids_dump_sink(dump), &err);
    int whole = !code && ids_dump_sink(dump)->complete;
    ids_source_close(source);
    ids_dump_free(dump);
    free(copy);
    return whole;
}

/* Brackets that are open behind `length` bytes, by counting; -1 inside a string. */
static int open_brackets(const char *bytes, size_t length) {
    int depth = 0, in_string = 0;
    for (size_t i = 0; i < length; i++) {
        if (in_string) {
            i += bytes[i] == '\\';
            in_string = i < length && bytes[i] != '"';
            continue;
        }
        in_string = bytes[i] == '"';
        depth += (bytes[i] == '{' || bytes[i] == '[') - (bytes[i] == '}' || bytes[i] == ']');
    }
    return in_string ? -1 : depth;
}

START_TEST(every_prefix) {
    static const struct {
        const char *name;
        int bare;
    } files[] = {{"kineto.trace.json", 0}, {"jax_gpu.trace.json", 0}, {"chrome_array.trace.json", 1}};
    size_t some = getenv("IDS_VALGRIND") ? 61 : 1; /* the sanitizers see each */
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        size_t length;
        char *content = content_of(files[f].name, &length);
        for (size_t cut = 1; cut <= length; cut += some) {
            int open = open_brackets(content, cut);
            int may_end = open == 0 || (files[f].bare && open == 1);
            ck_assert_msg(is_whole(content, cut) == may_end, "%s, cut at %zu: %s", files[f].name, cut,
                          may_end ? "not whole" : "whole");
        }
        free(content);
    }
}
END_TEST

IDS_RUN_SUITE("json_prefixes", every_prefix)
