#include "collectors/common/python_source.h"

#include "collectors/common/cells.h"

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
    source->text = ids_cells_text(path, &source->size);
    if (!source->text) read_file(source);
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

/* Functions and classes of builtins that take time. What else is written as a plain name is the program's own, or was
 * imported by that name, and the text does not say from where. */
static int is_builtin(const char *name, size_t length) {
    static const char *const names[] = {
        "__import__", "all",   "any",     "ascii",   "bin",     "bool",       "breakpoint", "bytearray",
        "bytes",      "chr",   "compile", "complex", "delattr", "dict",       "dir",        "divmod",
        "enumerate",  "eval",  "exec",    "filter",  "float",   "format",     "frozenset",  "getattr",
        "hasattr",    "hash",  "hex",     "id",      "input",   "int",        "isinstance", "issubclass",
        "iter",       "len",   "list",    "map",     "max",     "memoryview", "min",        "next",
        "object",     "oct",   "open",    "ord",     "pow",     "print",      "range",      "repr",
        "reversed",   "round", "set",     "setattr", "slice",   "sorted",     "str",        "sum",
        "tuple",      "type",  "vars",    "zip"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strlen(names[i]) == length && !memcmp(names[i], name, length)) return 1;
    }
    return 0;
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
    const char *of = module ? text + begin : !dot && is_builtin(name, name_length) ? "builtins" : "<unknown>";
    snprintf(called, IDS_PYTHON_CALLED, "$%.*s %.*s", module ? (int)module : (int)strlen(of), of, (int)name_length,
             name);
    return 1;
}

/* --- "with lock: count += 1" ------------------------------------------------------------------------------------- */

static const char with[] = "with ";
enum { WITH = sizeof with - 1 };

/* The colon that ends the head of the statement that begins at `text`; NULL: it is no "with". */
static const char *end_of_head(const char *text, const char *end) {
    size_t length = (size_t)(end - text), depth = 0;
    if (length > LONGEST_CALL) length = LONGEST_CALL;
    if (length <= WITH || memcmp(text, with, WITH) != 0) return NULL;
    for (size_t at = WITH; at < length;) {
        char c = text[at];
        if (c == '"' || c == '\'') {
            at = behind_string(text, length, at);
            continue;
        }
        if (c == ':' && !depth) return text + at;
        if (c == '(' || c == '[' || c == '{') depth++;
        if ((c == ')' || c == ']' || c == '}') && depth) depth--;
        at++;
    }
    return NULL;
}

static const char *skip_spaces(const char *at) {
    while (*at == ' ' || *at == '\t') at++;
    return at;
}

/* "lock" of "with lock:", of "with a, lock as it:" and of "with (a, lock):", as Python 3.13 and later have it for the
 * taking and the giving back; no part of another expression of the head. */
static int is_item(const char *statement, const char *from, const char *to, const char *colon) {
    if (from < statement + WITH || to > colon) return 0;
    const char *before = from, *behind = skip_spaces(to);
    while (before[-1] == ' ' || before[-1] == '\t') before--;
    int is_first = before <= statement + WITH || (before[-1] == '(' && skip_spaces(statement + WITH) == before - 1);
    return (is_first || before[-1] == ',') && (strchr(":,)", *behind) || !strncmp(behind, "as ", 3));
}

/* Names alone, whose taking is no call in the text. */
static int is_of_names(const char *at, const char *end) {
    while (at < end && (is_of_name(*at) || strchr(". ,", *at))) at++;
    return at == end;
}

static int say_with(const char *function, char called[IDS_PYTHON_CALLED]) {
    snprintf(called, IDS_PYTHON_CALLED, "$<unknown> %s", function);
    return 1;
}

/* The instruction at `place`, whose text is `from` to `to`, takes what a "with" is of, or gives it back, which the text
 * has no call for: up to Python 3.12 it is of the whole statement, later of the expression. The body may stand on the
 * same line, and its instructions are none of either. */
static int called_by_with(const struct ids_python_source *source, const struct ids_python_code *code, uint32_t at,
                          struct ids_python_location place, const char *first, const char *from, const char *to,
                          char called[IDS_PYTHON_CALLED]) {
    const char *statement = skip_spaces(first), *colon = end_of_head(statement, source->text + source->size);
    if (!colon || (from != statement && !is_item(statement, from, to, colon))) return 0;
    int line = place.line;
    const char *begin = first;
    for (const char *end; (end = memchr(begin, '\n', (size_t)(colon - begin))); begin = end + 1) line++;
    if (ids_python_code_comes_from(code, at, place, line, (int)(colon - begin))) return say_with("__exit__", called);
    if (from == statement ? !is_of_names(statement + WITH, colon) : to[-1] == ')') return 0;
    return say_with("__enter__", called);
}

int ids_python_called(struct ids_python_sources *sources, const struct ids_python_code *code, uint32_t at,
                      struct ids_python_location place, char called[IDS_PYTHON_CALLED]) {
    const struct ids_python_source *source =
        place.line > 0 && place.column >= 0 ? source_of(sources, code->file) : NULL;
    const char *first = source ? line_at(source, place.line) : NULL;
    const char *last = first && place.end_line != place.line ? line_at(source, place.end_line) : first;
    if (!first || !last) return 0;
    const char *from = first + place.column, *to = last + place.end_column;
    if (from < first || from >= to || to > source->text + source->size) return 0;
    if (called_by_with(source, code, at, place, first, from, to, called)) return 1;
    return to - from <= LONGEST_CALL && ids_python_called_in(from, (size_t)(to - from), called);
}
