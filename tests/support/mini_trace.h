/* mini_trace.h - a trace out of a mini text (formats/mini.c), and finding things in it. */
#ifndef IDS_TESTS_SUPPORT_MINI_TRACE_H
#define IDS_TESTS_SUPPORT_MINI_TRACE_H

#include "lib/io/source.h"
#include "lib/model/builder.h"
#include "lib/model/format.h"

#include <check.h>
#include <string.h>

extern const struct ids_format ids_mini_format;

/* The text without its first line "idsprof-mini 1", which mini.c looks at in its bid only. */
static inline struct ids_trace *mini_trace(const char *text) {
    struct ids_error err = IDS_ERROR_INIT;
    struct ids_source *source;
    struct ids_builder *builder;
    struct ids_trace *trace = NULL;
    char whole[1 << 17] = "idsprof-mini 1\n";
    ck_assert_uint_lt(strlen(text), sizeof whole - strlen(whole));
    strcat(whole, text);
    ck_assert_int_eq(ids_source_memory(whole, strlen(whole), &source, &err), 0);
    ck_assert_int_eq(ids_builder_new(&builder, &err), 0);
    int code = ids_mini_format.read(source, ids_builder_sink(builder), &err);
    ck_assert_msg(!code, "%s", err.text);
    code = ids_builder_finish(builder, &trace, &err);
    ck_assert_msg(!code, "%s", err.text);
    ids_source_close(source);
    return trace;
}

/* The only event of that name among the records; fails when there is none or a second. */
static inline const struct ids_event *event_named(const struct ids_trace *trace, const struct ids_events *events,
                                                  const char *name) {
    const struct ids_event *found = NULL;
    for (size_t i = 0; i < events->count; i++) {
        if (strcmp(ids_event_name(trace, &events->at[i]), name) != 0) continue;
        ck_assert_msg(!found, "two events '%s'", name);
        found = &events->at[i];
    }
    ck_assert_msg(found != NULL, "no event '%s'", name);
    return found;
}

/* A device's activity, and a kept event of any host thread, by name. */
static inline const struct ids_event *activity(const struct ids_trace *trace, size_t device, const char *name) {
    ck_assert_uint_lt(device, trace->device_count);
    return event_named(trace, &trace->devices[device].activity, name);
}

static inline const struct ids_event *on_host(const struct ids_trace *trace, const char *name) {
    const struct ids_event *found = NULL;
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_events *events = &trace->tracks[t].events;
        for (size_t i = 0; i < events->count; i++) {
            if (strcmp(ids_event_name(trace, &events->at[i]), name) != 0) continue;
            ck_assert_msg(!found, "two events '%s'", name);
            found = &events->at[i];
        }
    }
    ck_assert_msg(found != NULL, "no event '%s'", name);
    return found;
}

/* How many records a diag is about; 0 without it. */
static inline uint64_t diag_count(const struct ids_trace *trace, const char *id) {
    uint64_t count = 0;
    for (size_t i = 0; i < trace->diag_count; i++) {
        if (!strcmp(trace->diags[i].id, id)) count += trace->diags[i].count;
    }
    return count;
}

#endif
