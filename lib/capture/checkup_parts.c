#include "lib/capture/checkup_parts.h"

#include "lib/base/vec.h"

#include <stdarg.h>
#include <stdio.h>

enum { TEXT_BYTES = 2048 };

const char *ids_check_text(struct ids_checkup *checkup, const char *format, ...) {
    char buffer[TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    if (length < 0) return "";
    size_t bytes = (size_t)length < sizeof buffer ? (size_t)length : sizeof buffer - 1;
    const char *text = ids_arena_copy(&checkup->arena, buffer, bytes);
    return text ? text : "";
}

void ids_check_add(struct ids_checkup *checkup, const char *id, const char *title, enum ids_check_state state,
                   const char *what, const char *remedy) {
    struct ids_finding *finding = IDS_PUSH(checkup->findings, checkup->count, checkup->room);
    if (finding) *finding = (struct ids_finding){id, title, state, what, remedy};
}
