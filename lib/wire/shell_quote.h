/* shell_quote.h - a path as a shell reads it back. */
#ifndef IDS_LIB_WIRE_SHELL_QUOTE_H
#define IDS_LIB_WIRE_SHELL_QUOTE_H

#include <stddef.h>

/* Plain where it can be, else in '...', else, with bytes that a terminal would not show as they are, in $'...'. The
 * length, or -1 where `size` is below 8. */
int ids_shell_quote(const char *path, char *buffer, size_t size);

#endif
