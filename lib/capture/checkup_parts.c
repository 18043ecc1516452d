#include "lib/capture/checkup_parts.h"

#include "lib/base/vec.h"

#include <stdarg.h>
#include <stdio.h>

const char *ids_check_text(struct ids_checkup *checkup, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const char *text = ids_arena_vprint(&checkup->arena, format, arguments);
    va_end(arguments);
    return text ? text : "";
}

void ids_check_add(struct ids_checkup *checkup, const char *id, const char *title, enum ids_check_state state,
                   const char *what, const char *remedy) {
    struct ids_finding *finding = IDS_PUSH(checkup->findings, checkup->count, checkup->room);
    if (finding) *finding = (struct ids_finding){id, title, state, what, remedy};
}
