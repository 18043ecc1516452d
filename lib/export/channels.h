/* channels.h - many streams of bytes that are written in turns and read one after the other, over one spill. */
#ifndef IDS_LIB_EXPORT_CHANNELS_H
#define IDS_LIB_EXPORT_CHANNELS_H

#include "lib/export/out.h"
#include "lib/io/spill.h"

#include <stdint.h>

struct ids_channel_part {
    uint64_t at, length;
};

struct ids_channel {
    struct ids_channel_part *parts; /* where it is aside */
    size_t part_count, part_room;
    uint8_t *tail; /* what is not yet there */
    size_t tail_length, tail_room;
    uint64_t length;
};

struct ids_channels {
    struct ids_spill *spill;
    struct ids_channel *at;
    size_t count, room;
    size_t tails; /* bytes in all tails */
};

int ids_channels_init(struct ids_channels *channels, struct ids_error *err);
void ids_channels_done(struct ids_channels *channels);
/* Its number, count before. */
int ids_channels_add(struct ids_channels *channels, struct ids_error *err);
int ids_channels_append(struct ids_channels *channels, size_t channel, const void *bytes, size_t length,
                        struct ids_error *err);
/* Writes the whole channel out. */
int ids_channels_write(struct ids_channels *channels, size_t channel, struct ids_out *out, struct ids_error *err);

#endif
