#include "lib/cli/say.h"

#include "lib/cli/terminal.h"
#include "lib/report/layout.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WRAP_INDENT = 17 };

/* The arguments as one clean line, which the arena keeps. A message that finds no memory says so. */
static const char *make(struct ids_arena *arena, const char *format, va_list arguments) {
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0) return "out of memory";
    const char *clean = ids_text_clean(arena, text);
    if (clean == text) clean = ids_arena_copy(arena, text, strlen(text));
    free(text);
    return clean ? clean : "out of memory";
}

void ids_say(const char *command, const char *format, ...) {
    struct ids_arena arena = {0};
    va_list arguments;
    va_start(arguments, format);
    const char *text = make(&arena, format, arguments);
    va_end(arguments);
    fprintf(stderr, command ? "idsprof: %s: %s\n" : "idsprof: %s%s\n", command ? command : "", text);
    ids_arena_done(&arena);
}

void ids_say_below(int indent, const char *format, ...) {
    struct ids_arena arena = {0};
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%*s%s\n", indent, "", make(&arena, format, arguments));
    va_end(arguments);
    ids_arena_done(&arena);
}

void ids_say_wrapped(const char *what, const char *format, ...) {
    struct ids_arena arena = {0};
    va_list arguments;
    va_start(arguments, format);
    const char *text = make(&arena, format, arguments);
    va_end(arguments);
    fprintf(stderr, "idsprof: %-8s", what);
    ids_text_wrap(stderr, text, WRAP_INDENT, WRAP_INDENT, ids_terminal_width(0));
    ids_arena_done(&arena);
}
