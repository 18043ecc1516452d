#include "collectors/common/python_source.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ids_python_source {
    const char *path; /* of a code object, which lives as long */
    char *text;       /* NULL: it cannot be read */
    size_t size;
};

enum { LONGEST = 16 << 20, LONGEST_CALL = 4096 };

void ids_python_sources_done(struct ids_python_sources *sources) {
    for (size_t i = 0; i < sources->count; i++) free(sources->at[i].text);
    free(sources->at);
    *sources = (struct ids_python_sources){0};
}

/* --- files ------------------------------------------------------------------------------------------------------ */

static void read_file(struct ids_python_source *source) {
    /* A path may be anything that a program calls its code, a pipe too. */
    int file = open(source->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return;
    off_t size = lseek(file, 0, SEEK_END); /* an error for a pipe, and 0 for a device */
    if (size > 0 && size < LONGEST) {
        source->text = malloc((size_t)size + 1);
        ssize_t got = source->text ? pread(file, source->text, (size_t)size, 0) : 0;
        source->size = got > 0 ? (size_t)got : 0;
        if (source->text) source->text[source->size] = '\0';
    }
    close(file);
}

static const struct ids_python_source *source_of(struct ids_python_sources *sources, const char *path) {
    for (size_t i = 0; i < sources->count; i++) {
        if (sources->at[i].path == path || !strcmp(sources->at[i].path, path)) return &sources->at[i];
    }
    if (sources->count == sources->room) {
        size_t room = sources->room ? 2 * sources->room : 32;
        struct ids_python_source *grown = realloc(sources->at, room * sizeof *grown);
        if (!grown) return NULL;
        sources->at = grown;
        sources->room = room;
    }
    struct ids_python_source *source = &sources->at[sources->count++];
    *source = (struct ids_python_source){.path = path};
    read_file(source);
    return source;
}

/* Where a line begins; lines count from 1. NULL: the file has fewer. */
static const char *line_at(const struct ids_python_source *source, int line) {
    const char *at = source->text, *end = at ? at + source->size : at;
    for (int number = 1; at && at < end; number++) {
        if (number == line) return at;
        at = memchr(at, '\n', (size_t)(end - at));
        if (at) at++;
    }
    return NULL;
}

const char *ids_python_source_line(struct ids_python_sources *sources, const struct ids_python_code *code,
                                   const char **ret_text) {
    const struct ids_python_source *source = code->first_line > 0 ? source_of(sources, code->file) : NULL;
    *ret_text = source ? source->text : NULL;
    return source ? line_at(source, code->first_line) : NULL;
}

/* --- the text of a call ----------------------------------------------------------------------------------------- */

static int is_of_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (c & 0x80);
}

/* Behind the string that begins there. */
static size_t behind_string(const char *text, size_t length, size_t at) {
    char quote = text[at];
    int is_long = length - at >= 3 && text[at + 1] == quote && text[at + 2] == quote;
    for (at += is_long ? 3 : 1; at < length; at++) {
        if (text[at] == '\\')
            at++;
        else if (text[at] == quote &&
                 (!is_long || (length - at >= 3 && text[at + 1] == quote && text[at + 2] == quote)))
            return at + (is_long ? 3 : 1);
    }
    return length;
}

/* Where the bracket opens that the text's last letter closes; `length` when that is none. */
static size_t last_call(const char *text, size_t length) {
    size_t opened = length, depth = 0;
    for (size_t at = 0; at < length;) {
        char c = text[at];
        if (c == '"' || c == '\'') {
            at = behind_string(text, length, at);
            continue;
        }
        if (c == '#') { /* up to the end of the line */
            while (at < length && text[at] != '\n') at++;
            continue;
        }
        if (c == '(' || c == '[' || c == '{') {
            if (!depth++) opened = at;
        } else if ((c == ')' || c == ']' || c == '}') && depth) {
            depth--;
        }
        at++;
    }
    return length && text[length - 1] == ')' && !depth && opened < length && text[opened] == '(' ? opened : length;
}

int ids_python_called_in(const char *text, size_t length, char called[IDS_PYTHON_CALLED]) {
    size_t opened = last_call(text, length), end = opened, begin;
    if (opened == length) return 0;
    while (end && text[end - 1] == ' ') end--;
    for (begin = end; begin && (is_of_name(text[begin - 1]) || text[begin - 1] == '.');) begin--;
    const char *dot = begin < end ? memrchr(text + begin, '.', end - begin) : NULL;
    const char *name = dot ? dot + 1 : text + begin;
    size_t name_length = (size_t)(text + end - name), module = dot ? (size_t)(dot - text) - begin : 0;
    if (!name_length || (*name >= '0' && *name <= '9')) return 0;
    /* "-f(x)", "a @ f(x)": the instruction is no call, but begins with or contains one. What stands in front of the
     * name belongs to the call only where it ends in a bracket or a string: "open(x).read()". */
    if (begin && !(dot && dot == text + begin && strchr(")]}\"'", text[begin - 1]))) return 0;
    int is_plain = !module && !dot;
    snprintf(called, IDS_PYTHON_CALLED, "$%.*s %.*s",
             is_plain ? 8
             : module ? (int)module
                      : 9,
             is_plain ? "builtins"
             : module ? text + begin
                      : "<unknown>",
             (int)name_length, name);
    return 1;
}

static const char with[] = "with ";
enum { WITH = sizeof with - 1 };

/* "with lock:", which takes it without a call in the text. */
static int is_in_with(const char *line, const char *at) {
    while (line < at && (*line == ' ' || *line == '\t')) line++;
    return at - line >= WITH && !memcmp(line, with, WITH);
}

/* The whole statement, as Python 3.11 and 3.12 have it for the taking: "with lock: count += 1". */
static int is_with(const char *text, size_t length) {
    if (length <= WITH || memcmp(text, with, WITH) != 0) return 0;
    size_t end = WITH;
    while (end < length && (is_of_name(text[end]) || text[end] == '.' || text[end] == ' ')) end++;
    return end < length && text[end] == ':';
}

int ids_python_called(struct ids_python_sources *sources, const struct ids_python_code *code,
                      struct ids_python_location place, char called[IDS_PYTHON_CALLED]) {
    const struct ids_python_source *source =
        place.line > 0 && place.column >= 0 ? source_of(sources, code->file) : NULL;
    const char *first = source ? line_at(source, place.line) : NULL;
    const char *last = first && place.end_line != place.line ? line_at(source, place.end_line) : first;
    if (!first || !last) return 0;
    const char *from = first + place.column, *to = last + place.end_column;
    if (from < first || from >= to || to > source->text + source->size || to - from > LONGEST_CALL) return 0;
    if (is_with(from, (size_t)(to - from))) {
        snprintf(called, IDS_PYTHON_CALLED, "$<unknown> __enter__");
        return 1;
    }
    if (ids_python_called_in(from, (size_t)(to - from), called)) return 1;
    if (to[-1] == ')' || !is_in_with(first, from)) return 0;
    snprintf(called, IDS_PYTHON_CALLED, "$<unknown> __enter__");
    return 1;
}
