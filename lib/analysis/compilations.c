/* compilations.c - which compilation is one of its own, and whose. */
#include "lib/analysis/context.h"

#include <stdlib.h>
#include <string.h>

/* Who tells of a host's compilations. */
enum { TOLD = 1, RUNTIME = 2 };

static int runtime_compiles(const struct ids_trace *trace, const struct ids_track *track) {
    if (ids_track_is_calls(trace, track)) return 0;
    struct ids_cursor cursor = ids_cursor_over_kinds(&track->events, IDS_KINDS(IDS_KIND_COMPILE));
    for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
        if (event->kind == IDS_KIND_COMPILE) return 1;
    }
    return 0;
}

int ids_compilations_make(struct ids_analysis *analysis, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    analysis->compile_sources = calloc(trace->host_count + 1, 1);
    if (!analysis->compile_sources) return ids_no_memory(err);
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        if (ids_track_is_told(trace, track)) analysis->compile_sources[track->host] |= TOLD;
        if (runtime_compiles(trace, track)) analysis->compile_sources[track->host] |= RUNTIME;
    }
    return 0;
}

int ids_is_told(const struct ids_trace *trace, const struct ids_event *event) {
    return ids_track_is_told(trace, &trace->tracks[event->track]);
}

struct ids_text ids_told_function(const struct ids_trace *trace, const struct ids_event *event) {
    struct ids_text name = ids_strings_text(&trace->strings, trace->names[event->name].text);
    const char *open = name.length ? memchr(name.at, '(', name.length) : NULL;
    if (!open || name.at[name.length - 1] != ')') return (struct ids_text){"", 0};
    return (struct ids_text){open + 1, (uint32_t)(name.at + name.length - open - 2)};
}

struct ids_text ids_recompile_reason(const struct ids_trace *trace, const struct ids_event *event) {
    static const char after[] = ") ";
    if (!ids_is_told(trace, event)) return (struct ids_text){0};
    const struct ids_events *events = &trace->tracks[event->track].events;
    size_t own = (size_t)(event - events->at);
    for (size_t i = own + 1; i < events->count && events->at[i].start_ps == event->start_ps; i++) {
        if (events->at[i].kind != IDS_KIND_RECOMPILE || events->at[i].parent != own) continue;
        struct ids_text name = ids_strings_text(&trace->strings, trace->names[events->at[i].name].text);
        const char *end = memmem(name.at, name.length, after, sizeof after - 1);
        if (!end) break;
        end += sizeof after - 1;
        return (struct ids_text){end, (uint32_t)(name.at + name.length - end)};
    }
    return (struct ids_text){0};
}

struct ids_text ids_recompile_reason_of(const struct ids_trace *trace, const char *function) {
    struct ids_text longest = {0};
    int64_t longest_ps = -1;
    for (size_t t = 0; t < trace->track_count; t++) {
        if (!ids_track_is_told(trace, &trace->tracks[t])) continue;
        struct ids_cursor cursor = ids_cursor_over_kinds(&trace->tracks[t].events, IDS_KINDS(IDS_KIND_COMPILE));
        for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
            if (event->kind != IDS_KIND_COMPILE || event->end_ps - event->start_ps <= longest_ps) continue;
            struct ids_text name = ids_told_function(trace, event);
            if (name.length != strlen(function) || memcmp(name.at, function, name.length) != 0) continue;
            struct ids_text reason = ids_recompile_reason(trace, event);
            if (!reason.length) continue;
            longest = reason;
            longest_ps = event->end_ps - event->start_ps;
        }
    }
    return longest;
}

int ids_is_retold(const struct ids_analysis *analysis, const struct ids_event *event) {
    const struct ids_trace *trace = analysis->trace;
    const struct ids_track *track = &trace->tracks[event->track];
    const unsigned compile_sources = analysis->compile_sources[track->host];
    if (compile_sources & TOLD) return !ids_is_told(trace, event);
    return event->kind == IDS_KIND_COMPILE && compile_sources & RUNTIME && ids_track_is_calls(trace, track);
}

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
    if (event && ids_is_told(trace, event)) return ids_told_function(trace, event);
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
