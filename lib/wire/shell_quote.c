#include "lib/wire/shell_quote.h"

#include "lib/wire/clean.h"

#include <stdio.h>
#include <string.h>

/* What a terminal would not show as it is: bash, zsh and ksh read \ooo inside of $'...'. */
static int quote_bytes(const char *path, char *buffer, size_t size) {
    size_t used = 2;
    buffer[0] = '$';
    buffer[1] = '\'';
    for (; *path && used + 6 < size; path++) {
        unsigned char byte = (unsigned char)*path;
        if (byte >= 0x20 && byte < 0x7f && byte != '\'' && byte != '\\')
            buffer[used++] = *path;
        else
            used += (size_t)snprintf(buffer + used, 5, "\\%03o", byte);
    }
    memcpy(buffer + used, "'", 2);
    return (int)used + 1;
}

int ids_shell_quote(const char *path, char *buffer, size_t size) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./,:=@%+";
    if (*path && strspn(path, plain) == strlen(path)) return snprintf(buffer, size, "%s", path);
    size_t used = 0;
    if (size < 8) return -1;
    if (!ids_is_clean(path, strlen(path), IDS_CLEAN_LINE)) return quote_bytes(path, buffer, size);
    buffer[used++] = '\'';
    for (; *path && used + 6 < size; path++) {
        if (*path == '\'') {
            memcpy(buffer + used, "'\\''", 4);
            used += 4;
        } else {
            buffer[used++] = *path;
        }
    }
    buffer[used++] = '\'';
    buffer[used] = '\0';
    return (int)used;
}
