/* contents.h - a sink that only notes what a profile holds, so that a part of it can be asked for. */
#ifndef IDS_LIB_EXPORT_CONTENTS_H
#define IDS_LIB_EXPORT_CONTENTS_H

#include "lib/model/sink.h"

struct ids_contents_track {
    uint32_t plane, name; /* a plane's index; a text */
    int64_t id;
    uint64_t events;
};

struct ids_contents_program {
    uint32_t name;
    uint64_t program_id, bytes;
};

struct ids_contents {
    struct ids_sink sink; /* first */
    struct ids_strings strings;
    uint32_t host;    /* text, may be empty */
    uint32_t *planes; /* texts */
    size_t plane_count, plane_room;
    struct ids_contents_track *tracks;
    size_t track_count, track_room;
    struct ids_contents_program *programs;
    size_t program_count, program_room;
    int64_t *cpu_devices; /* ordinals that ops of the CPU client name */
    size_t cpu_device_count, cpu_device_room;
    uint32_t name_count;
    uint64_t events;
};

int ids_contents_init(struct ids_contents *contents, struct ids_error *err);
void ids_contents_done(struct ids_contents *contents);

#endif
