/* fuzz_mcp.c - requests of the Model Context Protocol, a line each. Whatever comes, each answer is one line of JSON,
 * and a request with an id has one answer. No path may be opened, so that only requests are tried, not profiles. */
#include "lib/mcp/mcp.h"

#include <cjson/cJSON.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void stop(const char *why, const char *text) {
    fprintf(stderr, "fuzz_mcp: %s: %.300s\n", why, text ? text : "");
    abort();
}

static void check(const char *answer, size_t length) {
    if (!length) return;
    const char *end = NULL;
    if (answer[length - 1] != '\n' || memchr(answer, '\n', length - 1)) stop("not one line", answer);
    cJSON *tree = cJSON_ParseWithOpts(answer, &end, 0);
    if (!tree || strcmp(end, "\n") != 0) stop("not JSON", answer);
    int has_result = cJSON_HasObjectItem(tree, "result"), has_error = cJSON_HasObjectItem(tree, "error");
    if (has_result == has_error) stop("neither a result nor an error, or both", answer);
    if (!cJSON_HasObjectItem(tree, "id")) stop("an answer without an id", answer);
    cJSON_Delete(tree);
}

static void answer(const char *line, size_t length) {
    const struct ids_mcp_setup setup = {0};
    struct ids_error err = IDS_ERROR_INIT;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return;
    char *copy = malloc(length + 1); /* so that the sanitizer sees a read behind the end */
    if (copy) {
        memcpy(copy, line, length);
        copy[length] = '\0';
        if (ids_mcp_answer_line(&setup, copy, length, out, &err)) stop("failed", err.text);
    }
    fclose(out);
    check(text, size);
    free(copy);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    const char *at = (const char *)bytes, *end = at + length;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop_at = newline ? newline : end;
        answer(at, (size_t)(stop_at - at));
        at = newline ? newline + 1 : end;
    }
    return 0;
}
