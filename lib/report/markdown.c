#include "lib/report/markdown.h"

#include "lib/report/layout.h"

#include <string.h>

static const char *one_line(struct ids_arena *arena, const char *text) {
    char *copy = ids_arena_copy(arena, text, strlen(text));
    for (char *at = copy; at && *at; at++) {
        if (*at == '\n' || *at == '\r' || *at == '\t') *at = ' ';
    }
    return ids_text_clean(arena, copy ? copy : "");
}

void ids_markdown_text(FILE *out, struct ids_arena *arena, const char *text) {
    for (text = one_line(arena, text); *text; text++) {
        if (strchr("\\`*_{}[]<>#|~&$", *text)) fputc('\\', out);
        fputc(*text, out);
    }
}

static size_t longest_fence(const char *text) {
    size_t longest = 0, run = 0;
    for (; *text; text++) {
        run = *text == '`' ? run + 1 : 0;
        if (run > longest) longest = run;
    }
    return longest;
}

static void put_fence(FILE *out, size_t length) {
    while (length--) fputc('`', out);
}

void ids_markdown_code(FILE *out, struct ids_arena *arena, const char *text) {
    text = one_line(arena, text);
    size_t length = strlen(text), fence = longest_fence(text) + 1;
    if (!length) return;
    int is_padded = strchr("` ", text[0]) || strchr("` ", text[length - 1]);
    put_fence(out, fence);
    if (is_padded) fputc(' ', out);
    for (; *text; text++) {
        if (*text == '|') fputc('\\', out); /* a cell ends at any other one, also in code */
        fputc(*text, out);
    }
    if (is_padded) fputc(' ', out);
    put_fence(out, fence);
}

void ids_markdown_head(FILE *out, const char *const *titles, const int *are_numbers, size_t count) {
    for (size_t i = 0; i < count; i++) fprintf(out, "| %s ", titles[i]);
    fputs("|\n", out);
    for (size_t i = 0; i < count; i++) fputs(are_numbers[i] ? "| ---: " : "| --- ", out);
    fputs("|\n", out);
}
