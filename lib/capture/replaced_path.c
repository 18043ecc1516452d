/* The command, or the script that it names, gives programs a PYTHONPATH of its own: Python then does not find the
 * hook. */
#include "lib/capture/outcome_parts.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VARIABLE "PYTHONPATH"

enum { SCRIPT_BYTES = 256 << 10 }; /* more of a script is not looked at */

static int is_of_name(char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* PYTHONPATH=src, and not PYTHONPATH=src:$PYTHONPATH nor a comment. */
static int replaces(const char *line, size_t length) {
    const char *end = line + length, *at = line + strspn(line, " \t");
    if (at < end && *at == '#') return 0;
    while (at < end && (at = memmem(at, (size_t)(end - at), VARIABLE "=", sizeof VARIABLE))) {
        const char *value = at + sizeof VARIABLE;
        int begins = at == line || (!is_of_name(at[-1]) && at[-1] != '$' && at[-1] != '{');
        if (begins && !memmem(value, (size_t)(end - value), VARIABLE, sizeof VARIABLE - 1)) return 1;
        at = value;
    }
    return 0;
}

static int text_replaces(const char *text) {
    while (*text) {
        size_t length = strcspn(text, "\n");
        if (replaces(text, length)) return 1;
        text += length + (text[length] == '\n');
    }
    return 0;
}

/* A text that a shell reads; a program has zero bytes in what is read of it. */
static int script_replaces(const char *path) {
    int found = 0, file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    char *text = file < 0 ? NULL : malloc(SCRIPT_BYTES + 1);
    ssize_t length = text ? read(file, text, SCRIPT_BYTES) : -1;
    if (length > 0 && !memchr(text, '\0', (size_t)length)) {
        text[length] = '\0';
        found = text_replaces(text);
    }
    free(text);
    if (file >= 0) close(file);
    return found;
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

int ids_outcome_replaced_path(struct ids_outcome_work *outcome) {
    enum { WORDS = 8 }; /* a script stands among the first */
    char *const *command = outcome->record->command;
    const char *by = NULL;
    for (int i = 0; i < WORDS && command[i] && !by; i++) {
        if (text_replaces(command[i]))
            by = base_name(command[0]);
        else if (command[i][0] != '-' && script_replaces(command[i]))
            by = base_name(command[i]);
    }
    if (!by) return 0;
    ids_outcome_set(outcome, "python_path",
                    ids_outcome_text(outcome,
                                     "%s sets " VARIABLE ", by which idsprof's hook comes into Python, so that what "
                                     "runs with it was not seen",
                                     by),
                    ids_outcome_text(outcome, "keep in %s what " VARIABLE " has: " VARIABLE "=...:$" VARIABLE, by));
    return 1;
}
