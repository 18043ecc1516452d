/* compilations.c - which compilation is one of its own, and whose. */
#include "lib/analysis/context.h"

#include <string.h>

/* Calls outwards and backwards along what caused an event, at most so far. */
enum { HOPS = 32 };

int ids_is_part_of_compilation(const struct ids_trace *trace, const struct ids_event *event) {
    const struct ids_event *at = event;
    for (int hop = 0; at && hop < HOPS; hop++) {
        for (const struct ids_event *around = hop ? at : ids_event_outside(trace, at); around;
             around = ids_event_outside(trace, around)) {
            if (around->kind == IDS_KIND_COMPILE) return 1;
        }
        at = ids_event_cause(trace, at);
    }
    return 0;
}

struct ids_text ids_compiled_function(const struct ids_trace *trace, const struct ids_event *event) {
    const struct ids_event *call = NULL, *at = event;
    for (int hop = 0; at && !call && hop < HOPS; hop++) {
        for (const struct ids_event *around = at; around && !call; around = ids_event_outside(trace, around)) {
            if (around->kind == IDS_KIND_DISPATCH) call = around;
        }
        if (!call) at = ids_event_cause(trace, at);
    }
    if (!call && !event) return (struct ids_text){0};
    struct ids_text name = ids_strings_text(&trace->strings, trace->names[(call ? call : event)->name].text);
    const char *open = name.length ? memchr(name.at, call ? '(' : '=', name.length) : NULL;
    if (!open) return (struct ids_text){0};
    uint32_t length = 0;
    while (open + 1 + length < name.at + name.length && !strchr(call ? ")" : "#,", open[1 + length])) length++;
    return (struct ids_text){open + 1, length};
}
