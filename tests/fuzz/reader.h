/* reader.h - a damaged profile through its reader alone, into the dump. What a target of a format counts as edges is
 * then the reader's, and the goal of run.sh speaks of it; the whole way behind it is whole_way.h.
 */
#ifndef IDS_TESTS_FUZZ_READER_H
#define IDS_TESTS_FUZZ_READER_H

#include "lib/io/source.h"
#include "lib/model/dump.h"
#include "lib/model/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct ids_format *fuzzed;

static void stop(const char *what, const char *which) {
    fprintf(stderr, "fuzz_%s: %s: %s\n", fuzzed->name, what, which);
    abort();
}

static int read_into(const uint8_t *bytes, size_t length, struct ids_sink *sink, struct ids_error *err) {
    struct ids_source *source;
    int code = ids_source_memory(bytes, length, &source, err);
    if (code) return code;
    code = fuzzed->read(source, sink, err);
    ids_source_close(source);
    return code;
}

/* A message must be there, and say more than nothing. */
static void check_error(int code, const struct ids_error *err) {
    if (code > 0 || err->code != code || strlen(err->text) < 8) stop("an error without words", err->text);
}

/* What the dump counted, also before a failure. */
static int read_totals(const uint8_t *bytes, size_t length, struct ids_dump_totals *ret_totals) {
    struct ids_error err = IDS_ERROR_INIT;
    struct ids_dump *dump;
    memset(ret_totals, 0, sizeof *ret_totals);
    if (ids_dump_new(&dump, &err)) return IDS_NOMEM;
    int code = read_into(bytes, length, ids_dump_sink(dump), &err);
    ids_dump_totals(dump, ret_totals);
    ids_dump_free(dump);
    if (code) check_error(code, &err);
    return code;
}

#endif
