/* sink_feed.h - what is put into a sink by hand, and a sink that writes down what it gets. */
#ifndef IDS_TESTS_SUPPORT_SINK_FEED_H
#define IDS_TESTS_SUPPORT_SINK_FEED_H

#include "lib/model/keys.h"
#include "lib/model/sink.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static struct ids_error err;
#define OK(call) ck_assert_msg((call) == 0, "%s", err.text)

/* ---- feeding ---- */

static inline uint32_t put_plane(struct ids_sink *sink, const char *name) {
    uint32_t id;
    const struct ids_plane_info info = {.name = ids_intern_z(sink->strings, name)};
    OK(sink->ops->plane(sink, &info, &id, &err));
    return id;
}

static inline uint32_t put_name(struct ids_sink *sink, uint32_t plane, const char *text, const char *display) {
    uint32_t id;
    const struct ids_name_info info = {.plane = plane,
                                       .text = ids_intern_z(sink->strings, text),
                                       .display = display ? ids_intern_z(sink->strings, display) : 0};
    OK(sink->ops->name(sink, &info, &id, &err));
    return id;
}

static inline uint32_t put_track(struct ids_sink *sink, uint32_t plane, const char *name, int64_t track_id) {
    uint32_t id;
    const struct ids_track_info info = {.plane = plane, .name = ids_intern_z(sink->strings, name), .id = track_id};
    OK(sink->ops->track(sink, &info, &id, &err));
    return id;
}

static inline void put_slice(struct ids_sink *sink, uint32_t track, uint32_t name, int64_t start_ps,
                             int64_t duration_ps) {
    const struct ids_slice slice = {.start_ps = start_ps, .duration_ps = duration_ps, .name = name};
    OK(sink->ops->slice(sink, track, &slice, &err));
}

static inline void put_event(struct ids_sink *sink, uint32_t track, uint32_t name, enum ids_form form, int64_t start_ps,
                             const struct ids_arg *args, uint32_t arg_count) {
    const struct ids_slice slice = {
        .start_ps = start_ps, .name = name, .form = (uint8_t)form, .args = args, .arg_count = arg_count};
    OK(sink->ops->slice(sink, track, &slice, &err));
}

/* ---- a sink that writes down what it gets ---- */

struct note {
    struct ids_sink sink; /* first */
    struct ids_strings strings;
    char text[4096];
    uint32_t planes, names, tracks;
};

static inline void note(struct ids_sink *sink, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline void note(struct ids_sink *sink, const char *format, ...) {
    struct note *to = (struct note *)sink;
    size_t used = strlen(to->text);
    va_list args;
    va_start(args, format);
    vsnprintf(to->text + used, sizeof to->text - used, format, args);
    va_end(args);
}

static inline int note_host(struct ids_sink *sink, const struct ids_host_info *host, struct ids_error *error) {
    (void)host, (void)error;
    note(sink, "host ");
    return 0;
}
static inline int note_plane(struct ids_sink *sink, const struct ids_plane_info *plane, uint32_t *ret,
                             struct ids_error *error) {
    (void)error;
    note(sink, "plane:%s ", ids_strings_z(sink->strings, plane->name));
    *ret = ((struct note *)sink)->planes++;
    return 0;
}
static inline int note_name(struct ids_sink *sink, const struct ids_name_info *name, uint32_t *ret,
                            struct ids_error *error) {
    (void)error;
    note(sink, "name:%s ", ids_strings_z(sink->strings, name->text));
    *ret = ((struct note *)sink)->names++;
    return 0;
}
static inline int note_track(struct ids_sink *sink, const struct ids_track_info *track, uint32_t *ret,
                             struct ids_error *error) {
    (void)error;
    note(sink, "track:%s ", ids_strings_z(sink->strings, track->name));
    *ret = ((struct note *)sink)->tracks++;
    return 0;
}
static inline int note_slice(struct ids_sink *sink, uint32_t track, const struct ids_slice *slice,
                             struct ids_error *error) {
    (void)error;
    note(sink, "%u:%lld+%lld", track, (long long)slice->start_ps, (long long)slice->duration_ps);
    for (uint32_t i = 0; i < slice->arg_count; i++) {
        const struct ids_arg *arg = &slice->args[i];
        if (arg->type == IDS_VALUE_CHARS)
            note(sink, "'%.*s'", (int)arg->length, arg->chars);
        else if (arg->type == IDS_VALUE_TEXT)
            note(sink, "=%s", ids_strings_z(sink->strings, arg->text));
        else
            note(sink, "=%lld", (long long)arg->i);
    }
    note(sink, " ");
    return 0;
}
static inline int note_end(struct ids_sink *sink, uint32_t track, struct ids_error *error) {
    (void)error;
    note(sink, "end:%u ", track);
    return 0;
}
static inline int note_diag(struct ids_sink *sink, const struct ids_diag *diag, struct ids_error *error) {
    (void)error;
    note(sink, "diag:%s ", diag->id);
    return 0;
}

static inline void note_init(struct note *to) {
    static const struct ids_sink_ops ops = {.host = note_host,
                                            .plane = note_plane,
                                            .name = note_name,
                                            .track = note_track,
                                            .slice = note_slice,
                                            .track_end = note_end,
                                            .diag = note_diag};
    *to = (struct note){.sink = {.ops = &ops, .complete = 1}};
    to->sink.strings = &to->strings;
    ck_assert_int_eq(ids_keys_intern(&to->strings), 0);
}

#endif
