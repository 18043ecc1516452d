#include "lib/run/engine.h"

#include "lib/store/summary.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { PROGRESS_BYTES = 256 };

void ids_engine_done(struct ids_engine *engine) {
    ids_summaries_close(engine->summaries);
    engine->summaries = NULL;
}

void ids_engine_progress(const struct ids_engine *engine, const char *format, ...) {
    char what[PROGRESS_BYTES];
    va_list args;
    if (!engine->calls || !engine->calls->progress) return;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    engine->calls->progress(engine->own, what);
}

void ids_engine_progress_end(const struct ids_engine *engine) {
    if (engine->calls && engine->calls->progress) engine->calls->progress(engine->own, NULL);
}

void ids_engine_note(const struct ids_engine *engine, const char *format, ...) {
    char *text = NULL;
    va_list args;
    if (!engine->calls || !engine->calls->note) return;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0) text = NULL;
    va_end(args);
    engine->calls->note(engine->own, text ? text : format); /* without memory at least the kind of it */
    free(text);
}

void ids_engine_filling(const struct ids_engine *engine, const char *path) {
    if (engine->calls && engine->calls->filling) engine->calls->filling(engine->own, path);
}

void ids_engine_sql(const struct ids_engine *engine, enum ids_engine_sql what) {
    if (engine->calls && engine->calls->sql) engine->calls->sql(engine->own, what);
}

int ids_engine_may_open(const struct ids_engine *engine, const char *path, struct ids_error *err) {
    if (!engine->calls || !engine->calls->may_open) return 0;
    return engine->calls->may_open(engine->own, path, err);
}
