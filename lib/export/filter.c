#include "lib/export/filter.h"

#include "lib/base/saturate.h"
#include "lib/base/vec.h"
#include "lib/model/account.h"
#include "lib/model/keys.h"
#include "lib/model/passing.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEFT_OUT UINT32_MAX

struct plane {
    uint32_t next; /* its id in the next sink, or LEFT_OUT */
    uint32_t name;
    int only_ops; /* a host's plane, of which only a CPU device's ops are asked for */
};

struct track {
    uint32_t next;
    int only_ops;
};

struct ids_filter {
    struct ids_passing passing; /* first, so that the sink is the filter */
    struct ids_filter_params params;
    struct plane *planes;
    size_t plane_count, plane_room;
    uint32_t *names; /* ids in the next sink, or LEFT_OUT */
    size_t name_count, name_room;
    struct track *tracks;
    size_t track_count, track_room;
};

static struct ids_filter *of(struct ids_sink *sink) {
    return (struct ids_filter *)sink;
}

void ids_filter_params_default(struct ids_filter_params *params) {
    *params = (struct ids_filter_params){.from_ps = INT64_MIN, .to_ps = INT64_MAX};
}

int ids_filter_params_are_default(const struct ids_filter_params *params) {
    return params->from_ps == INT64_MIN && params->to_ps == INT64_MAX && !params->min_duration_ps &&
           !params->names.count && !params->tracks.count && !params->devices.count;
}

int ids_globs_match(const struct ids_globs *globs, const char *text) {
    for (size_t i = 0; i < globs->count; i++) {
        if (!fnmatch(globs->at[i], text, 0)) return 1;
    }
    return 0;
}

/* --- devices ---------------------------------------------------------------------------------------------------- */

static int device_matches(const struct ids_globs *devices, const char *plane) {
    static const char prefix[] = "/device:";
    if (ids_globs_match(devices, plane)) return 1;
    if (strncmp(plane, prefix, sizeof prefix - 1) != 0) return 0;
    const char *label = plane + sizeof prefix - 1, *colon = strchr(label, ':');
    return ids_globs_match(devices, label) || (colon && ids_globs_match(devices, colon + 1));
}

static int ordinal_matches(const struct ids_globs *devices, int64_t ordinal) {
    char text[32];
    snprintf(text, sizeof text, "CPU:%" PRId64, ordinal);
    if (ids_globs_match(devices, text) || ids_globs_match(devices, text + 4)) return 1;
    text[3] = '#';
    return ids_globs_match(devices, text);
}

static int is_account(const struct ids_filter *filter, const struct ids_arg *arg) {
    return arg->key == IDS_KEY_CATEGORY && arg->type == IDS_VALUE_TEXT &&
           ids_text_is(ids_strings_text(filter->passing.sink.strings, arg->text), IDS_ACCOUNT_CATEGORY);
}

/* The CPU client's op, or the account, of a device that is asked for. */
static int is_wanted_op(const struct ids_filter *filter, const struct ids_slice *slice) {
    int is_op = 0, wanted = 0;
    for (uint32_t i = 0; i < slice->arg_count; i++) {
        const struct ids_arg *arg = &slice->args[i];
        is_op |= arg->key == IDS_KEY_HLO_OP || is_account(filter, arg);
        if (arg->key == IDS_KEY_DEVICE_ORDINAL && (arg->type == IDS_VALUE_INT || arg->type == IDS_VALUE_UINT))
            wanted = ordinal_matches(&filter->params.devices, arg->i);
    }
    return is_op && wanted;
}

/* --- the sink --------------------------------------------------------------------------------------------------- */

static int is_whole(const struct ids_filter_params *params) {
    return params->from_ps == INT64_MIN && params->to_ps == INT64_MAX;
}

static int filter_plane(struct ids_sink *sink, const struct ids_plane_info *info, uint32_t *ret_plane,
                        struct ids_error *err) {
    struct ids_filter *filter = of(sink);
    *ret_plane = (uint32_t)filter->plane_count;
    struct plane *plane = IDS_PUSH(filter->planes, filter->plane_count, filter->plane_room);
    if (!plane) return ids_no_memory(err);
    *plane = (struct plane){LEFT_OUT, info->name, 0};
    const char *name = ids_strings_z(sink->strings, info->name);
    if (filter->params.devices.count && strcmp(name, "/host:metadata") != 0 && strcmp(name, "Task Environment") != 0 &&
        !device_matches(&filter->params.devices, name)) {
        if (strncmp(name, "/host:", 6) != 0) return 0;
        plane->only_ops = 1;
    }
    if (is_whole(&filter->params))
        return filter->passing.next->ops->plane(filter->passing.next, info, &plane->next, err);
    /* A part of a profile is not as long as that was asked for. */
    struct ids_arg *args = malloc((info->arg_count + 1) * sizeof *args);
    if (!args) return ids_no_memory(err);
    struct ids_plane_info cut = {.name = info->name, .args = args};
    for (size_t i = 0; i < info->arg_count; i++) {
        if (info->args[i].key != IDS_KEY_PROFILE_STOP_TIME) args[cut.arg_count++] = info->args[i];
    }
    int code = filter->passing.next->ops->plane(filter->passing.next, &cut, &plane->next, err);
    free(args);
    return code;
}

static int holds_program(const struct ids_name_info *info) {
    for (size_t i = 0; i < info->arg_count; i++) {
        uint32_t key = info->args[i].key;
        if (info->args[i].type == IDS_VALUE_BYTES && (key == IDS_KEY_HLO_PROTO || key == IDS_KEY_HLO_PROTO_OLD))
            return 1;
    }
    return 0;
}

static int name_passes(const struct ids_filter *filter, const struct ids_name_info *info) {
    const struct ids_globs *names = &filter->params.names;
    if (!names->count || ids_globs_match(names, ids_strings_z(filter->passing.sink.strings, info->text))) return 1;
    return (info->display && ids_globs_match(names, ids_strings_z(filter->passing.sink.strings, info->display))) ||
           holds_program(info);
}

static int filter_name(struct ids_sink *sink, const struct ids_name_info *info, uint32_t *ret_name,
                       struct ids_error *err) {
    struct ids_filter *filter = of(sink);
    *ret_name = (uint32_t)filter->name_count;
    uint32_t *name = IDS_PUSH(filter->names, filter->name_count, filter->name_room);
    if (!name) return ids_no_memory(err);
    *name = LEFT_OUT;
    struct ids_name_info passed = *info;
    passed.plane = filter->planes[info->plane].next;
    if (passed.plane == LEFT_OUT || !name_passes(filter, info)) return 0;
    return filter->passing.next->ops->name(filter->passing.next, &passed, name, err);
}

static int track_passes(const struct ids_filter *filter, const struct plane *plane, const char *name) {
    const struct ids_globs *tracks = &filter->params.tracks;
    if (!tracks->count || ids_globs_match(tracks, name)) return 1;
    char path[4096]; /* longer ones are matched by their begin */
    snprintf(path, sizeof path, "%s/%s", ids_strings_z(filter->passing.sink.strings, plane->name), name);
    return ids_globs_match(tracks, path);
}

static int filter_track(struct ids_sink *sink, const struct ids_track_info *info, uint32_t *ret_track,
                        struct ids_error *err) {
    struct ids_filter *filter = of(sink);
    const struct plane *plane = &filter->planes[info->plane];
    *ret_track = (uint32_t)filter->track_count;
    struct track *track = IDS_PUSH(filter->tracks, filter->track_count, filter->track_room);
    if (!track) return ids_no_memory(err);
    *track = (struct track){LEFT_OUT, plane->only_ops};
    if (plane->next == LEFT_OUT || !track_passes(filter, plane, ids_strings_z(sink->strings, info->name))) return 0;
    struct ids_track_info passed = *info;
    passed.plane = plane->next;
    return filter->passing.next->ops->track(filter->passing.next, &passed, &track->next, err);
}

static int in_window(const struct ids_filter_params *params, const struct ids_slice *slice) {
    int64_t end_ps = slice->start_ps;
    if (slice->duration_ps > 0) ids_sum(&end_ps, slice->duration_ps);
    return slice->start_ps < params->to_ps && (end_ps > params->from_ps || slice->start_ps >= params->from_ps);
}

static int filter_slice(struct ids_sink *sink, uint32_t track_id, const struct ids_slice *slice,
                        struct ids_error *err) {
    struct ids_filter *filter = of(sink);
    const struct track *track = &filter->tracks[track_id];
    struct ids_slice passed = *slice;
    passed.name = filter->names[slice->name];
    if (track->next == LEFT_OUT || passed.name == LEFT_OUT || !in_window(&filter->params, slice)) return 0;
    if (slice->form == IDS_FORM_SLICE && slice->duration_ps < filter->params.min_duration_ps) return 0;
    if (track->only_ops && !is_wanted_op(filter, slice)) return 0;
    return filter->passing.next->ops->slice(filter->passing.next, track->next, &passed, err);
}

static int filter_track_end(struct ids_sink *sink, uint32_t track_id, struct ids_error *err) {
    struct ids_filter *filter = of(sink);
    uint32_t track = filter->tracks[track_id].next;
    return track == LEFT_OUT ? 0 : filter->passing.next->ops->track_end(filter->passing.next, track, err);
}

int ids_filter_new(struct ids_sink *next, const struct ids_filter_params *params, struct ids_filter **ret_filter,
                   struct ids_error *err) {
    struct ids_filter *filter = calloc(1, sizeof *filter);
    if (!filter) return ids_no_memory(err);
    ids_passing_init(&filter->passing, next,
                     &(struct ids_sink_ops){.plane = filter_plane,
                                            .name = filter_name,
                                            .track = filter_track,
                                            .slice = filter_slice,
                                            .track_end = filter_track_end});
    filter->params = *params;
    *ret_filter = filter;
    return 0;
}

struct ids_sink *ids_filter_sink(struct ids_filter *filter) {
    return &filter->passing.sink;
}

void ids_filter_free(struct ids_filter *filter) {
    if (!filter) return;
    free(filter->planes);
    free(filter->names);
    free(filter->tracks);
    free(filter);
}
