/* own_words.c - messages of the engine name options, which who calls a tool has not: the argument is named instead. */
#include "lib/mcp/tool.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Options that are called otherwise here. */
static const char *const others[][2] = {{"section", "sections"}, {"timeout", "seconds"}, {"newest", "newest"}};

static const char *argument_of(const struct ids_mcp_tool *tool, const char *name, size_t length) {
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strlen(others[i][0]) != length || strncmp(others[i][0], name, length) != 0) continue;
        name = others[i][1];
        length = strlen(name);
        break;
    }
    for (int i = 0; tool && i < tool->argument_count; i++) {
        const char *argument = tool->arguments[i].name;
        if (strlen(argument) == length && !strncmp(argument, name, length)) return argument;
    }
    return NULL;
}

/* "TIME" behind an option is what it takes. */
static size_t length_of_value(const char *at) {
    size_t length = 1;
    if (*at != ' ' || !isupper((unsigned char)at[1])) return 0;
    while (isupper((unsigned char)at[length])) length++;
    return length > 2 && !isalnum((unsigned char)at[length]) ? length : 0;
}

char *ids_mcp_own_words(const struct ids_mcp_tool *tool, const char *words) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out) return NULL;
    for (const char *at = words; *at;) {
        size_t name = 0;
        int begins = !strncmp(at, "--", 2) && (at == words || !isalnum((unsigned char)at[-1]));
        while (begins && (islower((unsigned char)at[2 + name]) || at[2 + name] == '-')) name++;
        const char *argument = name ? argument_of(tool, at + 2, name) : NULL;
        if (!argument) {
            fputc(*at++, out);
            continue;
        }
        fprintf(out, "the argument '%s'", argument);
        at += 2 + name;
        at += length_of_value(at);
    }
    if (fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}
