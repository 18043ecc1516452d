#include "lib/export/channels.h"

#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

enum {
    SPOOL_MEMORY_BYTES = 64 << 20,
    TAIL_FIRST_BYTES = 512,
    TAIL_BYTES = 64 << 10,
    TAILS_BYTES = 32 << 20, /* of all channels together: then all are put aside */
    READ_BYTES = 256 << 10,
};

int ids_channels_init(struct ids_channels *channels, struct ids_error *err) {
    *channels = (struct ids_channels){0};
    return ids_spill_new(SPOOL_MEMORY_BYTES, &channels->spill, err);
}

void ids_channels_done(struct ids_channels *channels) {
    for (size_t i = 0; i < channels->count; i++) {
        free(channels->at[i].parts);
        free(channels->at[i].tail);
    }
    free(channels->at);
    ids_spill_free(channels->spill);
    *channels = (struct ids_channels){0};
}

int ids_channels_add(struct ids_channels *channels, struct ids_error *err) {
    struct ids_channel *channel = IDS_PUSH(channels->at, channels->count, channels->room);
    if (!channel) return ids_no_memory(err);
    *channel = (struct ids_channel){0};
    return 0;
}

/* Puts bytes of a channel aside; a part that ends there grows. */
static int put_part(struct ids_channels *channels, struct ids_channel *channel, const void *bytes, size_t length,
                    struct ids_error *err) {
    uint64_t at = ids_spill_length(channels->spill);
    int code = ids_spill_append(channels->spill, bytes, length, err);
    if (code) return code;
    struct ids_channel_part *last = channel->part_count ? &channel->parts[channel->part_count - 1] : NULL;
    if (last && last->at + last->length == at) {
        last->length += length;
        return 0;
    }
    struct ids_channel_part *part = IDS_PUSH(channel->parts, channel->part_count, channel->part_room);
    if (!part) return ids_no_memory(err);
    *part = (struct ids_channel_part){at, length};
    return 0;
}

static int put_tail(struct ids_channels *channels, struct ids_channel *channel, struct ids_error *err) {
    if (!channel->tail_length) return 0;
    int code = put_part(channels, channel, channel->tail, channel->tail_length, err);
    channels->tails -= channel->tail_length;
    channel->tail_length = 0;
    return code;
}

static int put_all_tails(struct ids_channels *channels, struct ids_error *err) {
    for (size_t i = 0; i < channels->count; i++) {
        int code = put_tail(channels, &channels->at[i], err);
        if (code) return code;
        free(channels->at[i].tail);
        channels->at[i].tail = NULL;
        channels->at[i].tail_room = 0;
    }
    return 0;
}

static int grow_tail(struct ids_channel *channel, size_t length) {
    size_t room = channel->tail_room ? channel->tail_room : TAIL_FIRST_BYTES;
    while (room - channel->tail_length < length && room < TAIL_BYTES) room *= 2;
    uint8_t *tail = realloc(channel->tail, room);
    if (!tail) return -1;
    channel->tail = tail;
    channel->tail_room = room;
    return 0;
}

int ids_channels_append(struct ids_channels *channels, size_t index, const void *bytes, size_t length,
                        struct ids_error *err) {
    struct ids_channel *channel = &channels->at[index];
    int code = 0;
    channel->length += length;
    if (length > channel->tail_room - channel->tail_length) {
        if (channel->tail_length + length > TAIL_BYTES) code = put_tail(channels, channel, err);
        if (!code && length > TAIL_BYTES) return put_part(channels, channel, bytes, length, err);
        if (!code && length > channel->tail_room - channel->tail_length && grow_tail(channel, length))
            return ids_no_memory(err);
        if (code) return code;
    }
    if (length) memcpy(channel->tail + channel->tail_length, bytes, length);
    channel->tail_length += length;
    channels->tails += length;
    return channels->tails > TAILS_BYTES ? put_all_tails(channels, err) : 0;
}

static int write_part(struct ids_channels *channels, struct ids_channel_part part, struct ids_out *out,
                      struct ids_error *err) {
    while (part.length) {
        size_t length = part.length < READ_BYTES ? (size_t)part.length : READ_BYTES;
        const uint8_t *bytes;
        int code = ids_spill_read(channels->spill, part.at, length, &bytes, err);
        if (!code) code = out->write(out, bytes, length, err);
        if (code) return code;
        part.at += length;
        part.length -= length;
    }
    return 0;
}

int ids_channels_write(struct ids_channels *channels, size_t index, struct ids_out *out, struct ids_error *err) {
    const struct ids_channel *channel = &channels->at[index];
    for (size_t i = 0; i < channel->part_count; i++) {
        int code = write_part(channels, channel->parts[i], out, err);
        if (code) return code;
    }
    return channel->tail_length ? out->write(out, channel->tail, channel->tail_length, err) : 0;
}
