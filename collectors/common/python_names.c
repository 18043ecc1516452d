#include "collectors/common/python_names.h"

#include "collectors/common/cut.h"

#include <stdio.h>
#include <string.h>

static const char of_locals[] = ".<locals>";
enum { OF_LOCALS = sizeof of_locals - 1 };

int ids_python_is_inline(const char *name) {
    static const char *const names[] = {"<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>", "<lambda>"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!strcmp(name, names[i])) return 1;
    }
    return 0;
}

static int ends(const char *text, size_t length, const char *end) {
    size_t own = strlen(end);
    return length >= own && !memcmp(text + length - own, end, own);
}

/* Where the last part of a name begins: behind its last point. */
static size_t last_part(const char *text, size_t length) {
    const char *dot = memrchr(text, '.', length);
    return dot ? (size_t)(dot - text) + 1 : 0;
}

/* The length of "f" in "f.<locals>.<listcomp>"; 0: nothing is around it. */
static size_t around(const char *text, size_t length) {
    size_t last = last_part(text, length);
    size_t outside = last ? last - 1 : 0;
    return ends(text, outside, of_locals) ? outside - OF_LOCALS : outside;
}

void ids_python_short_name(const char *qualified, char name[IDS_PYTHON_NAME]) {
    char part[IDS_PYTHON_NAME];
    size_t length = strlen(qualified), begin = 0;
    for (;;) {
        size_t last = last_part(qualified, length);
        snprintf(part, sizeof part, "%.*s", (int)(length - last), qualified + last);
        /* A lambda of a class or a module is called by others; a comprehension runs where it stands. */
        int is_lambda = !strcmp(part, "<lambda>");
        if (!ids_python_is_inline(part) || (is_lambda && !ends(qualified, last ? last - 1 : 0, of_locals))) break;
        length = around(qualified, length);
    }
    for (size_t at = 0; at + OF_LOCALS < length; at++) {
        if (!memcmp(qualified + at, of_locals, OF_LOCALS) && qualified[at + OF_LOCALS] == '.')
            begin = at + OF_LOCALS + 1;
    }
    if (length)
        snprintf(name, IDS_PYTHON_NAME, "%.*s", (int)(length - begin), qualified + begin);
    else
        snprintf(name, IDS_PYTHON_NAME, "<module>");
    ids_cut_between_characters(name);
}

/* --- Python before 3.11 ----------------------------------------------------------------------------------------- */

static int is_of_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (c & 0x80);
}

/* What a line defines, in front of what is known of the name: "Trainer." of a class, "fit.<locals>." of a function. */
static void put_in_front(const char *line, size_t length, char name[IDS_PYTHON_NAME]) {
    static const struct {
        const char *word, *behind;
    } kinds[] = {{"class ", "."}, {"def ", ".<locals>."}, {"async def ", ".<locals>."}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t word = strlen(kinds[i].word), end = word;
        if (length <= word || memcmp(line, kinds[i].word, word) != 0) continue;
        while (end < length && is_of_name(line[end])) end++;
        size_t own = end - word, behind = strlen(kinds[i].behind), rest = strlen(name) + 1;
        if (own + behind + rest > IDS_PYTHON_NAME) return;
        memmove(name + own + behind, name, rest);
        memcpy(name, line + word, own);
        memcpy(name + own, kinds[i].behind, behind);
    }
}

/* Lines further left than all below them are what the function stands in, as far as they define something. */
static void qualify(const char *text, const char *line, int is_inline, char name[IDS_PYTHON_NAME]) {
    size_t least = SIZE_MAX;
    for (int is_first = 1;; is_first = 0) {
        const char *end = strchrnul(line, '\n');
        size_t indent = strspn(line, " \t");
        /* Brackets are closed further left than what they hold, as in "):" below the arguments of a function. */
        int is_empty = line + indent >= end || strchr("#)]}", line[indent]);
        if (!is_empty && indent < least) {
            if (!is_first || is_inline) put_in_front(line + indent, (size_t)(end - line) - indent, name);
            least = indent;
        }
        if (!least || line == text) return;
        for (line--; line > text && line[-1] != '\n';) line--;
    }
}

void ids_python_name(struct ids_python_sources *sources, const struct ids_python_code *code,
                     char name[IDS_PYTHON_NAME]) {
    if (code->qualified) {
        ids_python_short_name(code->qualified, name);
        return;
    }
    char qualified[IDS_PYTHON_NAME];
    snprintf(qualified, sizeof qualified, "%.200s", code->name);
    const char *text, *line = ids_python_source_line(sources, code, &text);
    if (line && strcmp(code->name, "<module>") != 0) qualify(text, line, ids_python_is_inline(code->name), qualified);
    ids_python_short_name(qualified, name);
}
