#include "lib/export/contents.h"

#include "lib/base/vec.h"
#include "lib/model/keys.h"

#include <stdlib.h>
#include <string.h>

enum { CPU_DEVICES_MAX = 1024 };

static struct ids_contents *of(struct ids_sink *sink) {
    return (struct ids_contents *)sink;
}

static int note_host(struct ids_sink *sink, const struct ids_host_info *host, struct ids_error *err) {
    (void)err;
    of(sink)->host = host->name;
    return 0;
}

static int note_plane(struct ids_sink *sink, const struct ids_plane_info *info, uint32_t *ret_plane,
                      struct ids_error *err) {
    struct ids_contents *contents = of(sink);
    *ret_plane = (uint32_t)contents->plane_count;
    uint32_t *plane = IDS_PUSH(contents->planes, contents->plane_count, contents->plane_room);
    if (!plane) return ids_no_memory(err);
    *plane = info->name;
    return 0;
}

static int note_name(struct ids_sink *sink, const struct ids_name_info *name, uint32_t *ret_name,
                     struct ids_error *err) {
    (void)name, (void)err;
    *ret_name = of(sink)->name_count++;
    return 0;
}

static int note_track(struct ids_sink *sink, const struct ids_track_info *info, uint32_t *ret_track,
                      struct ids_error *err) {
    struct ids_contents *contents = of(sink);
    *ret_track = (uint32_t)contents->track_count;
    struct ids_contents_track *track = IDS_PUSH(contents->tracks, contents->track_count, contents->track_room);
    if (!track) return ids_no_memory(err);
    *track = (struct ids_contents_track){info->plane, info->name, info->id, 0};
    return 0;
}

static int note_cpu_device(struct ids_contents *contents, int64_t ordinal) {
    for (size_t i = 0; i < contents->cpu_device_count; i++) {
        if (contents->cpu_devices[i] == ordinal) return 0;
    }
    if (contents->cpu_device_count == CPU_DEVICES_MAX) return 0;
    int64_t *device = IDS_PUSH(contents->cpu_devices, contents->cpu_device_count, contents->cpu_device_room);
    if (device) *device = ordinal;
    return device ? 0 : -1;
}

static int note_slice(struct ids_sink *sink, uint32_t track, const struct ids_slice *slice, struct ids_error *err) {
    struct ids_contents *contents = of(sink);
    const struct ids_arg *ordinal = NULL;
    int is_op = 0;
    contents->tracks[track].events++;
    contents->events++;
    for (uint32_t i = 0; i < slice->arg_count; i++) {
        is_op |= slice->args[i].key == IDS_KEY_HLO_OP;
        if (slice->args[i].key == IDS_KEY_DEVICE_ORDINAL) ordinal = &slice->args[i];
    }
    if (!is_op || !ordinal || (ordinal->type != IDS_VALUE_INT && ordinal->type != IDS_VALUE_UINT)) return 0;
    const char *plane = ids_strings_z(sink->strings, contents->planes[contents->tracks[track].plane]);
    if (strncmp(plane, "/host:", 6) != 0) return 0;
    return note_cpu_device(contents, ordinal->i) ? ids_no_memory(err) : 0;
}

static int note_track_end(struct ids_sink *sink, uint32_t track, struct ids_error *err) {
    (void)sink, (void)track, (void)err;
    return 0;
}

static int note_program(struct ids_sink *sink, const struct ids_program *program, struct ids_error *err) {
    struct ids_contents *contents = of(sink);
    struct ids_contents_program *noted = IDS_PUSH(contents->programs, contents->program_count, contents->program_room);
    if (!noted) return ids_no_memory(err);
    *noted = (struct ids_contents_program){program->name, program->program_id, program->length};
    return 0;
}

static int note_diag(struct ids_sink *sink, const struct ids_diag *diag, struct ids_error *err) {
    (void)sink, (void)diag, (void)err;
    return 0;
}

int ids_contents_init(struct ids_contents *contents, struct ids_error *err) {
    static const struct ids_sink_ops ops = {.host = note_host,
                                            .plane = note_plane,
                                            .name = note_name,
                                            .track = note_track,
                                            .slice = note_slice,
                                            .track_end = note_track_end,
                                            .program = note_program,
                                            .diag = note_diag};
    *contents = (struct ids_contents){0};
    contents->sink = (struct ids_sink){.ops = &ops, .strings = &contents->strings, .complete = 1};
    return ids_keys_intern(&contents->strings) ? ids_no_memory(err) : 0;
}

void ids_contents_done(struct ids_contents *contents) {
    ids_strings_done(&contents->strings);
    free(contents->planes);
    free(contents->tracks);
    free(contents->programs);
    free(contents->cpu_devices);
}
