#include "lib/export/gzip.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum {
    BLOCK_BYTES = 256 << 10,
    WORKERS_MAX = 4,
    SLOTS_MAX = 2 * WORKERS_MAX,
    LEVEL = 1, /* a trace's JSON: level 1 leaves 8 % of it at the speed of the rest of the export, level 6 leaves 6 % at
                * a fifth */
    RAW_DEFLATE = -15,
    MEMORY_LEVEL = 8,
    TRAILER_BYTES = 8,
};

enum slot_state { FILLING, FULL, TAKEN, PACKED };

struct slot {
    enum slot_state state;
    uint8_t *plain, *packed;
    size_t plain_length, packed_length;
    uint32_t crc;
    int failed, last;
};

struct ids_gzip {
    struct ids_out out; /* first, so that the out is the gzip */
    struct ids_out *next;
    struct slot slots[SLOTS_MAX];
    size_t slot_count, filling, packing; /* a ring: filled, packed and written in this order */
    size_t packed_room;
    uint32_t crc;
    uint64_t length;
    int begun, closing;
    pthread_t workers[WORKERS_MAX];
    size_t worker_count;
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

static void pack(struct slot *slot, size_t room) {
    z_stream stream = {0};
    slot->failed = deflateInit2(&stream, LEVEL, Z_DEFLATED, RAW_DEFLATE, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK;
    if (slot->failed) return;
    stream.next_in = slot->plain;
    stream.avail_in = (uInt)slot->plain_length;
    stream.next_out = slot->packed;
    stream.avail_out = (uInt)room;
    int state = deflate(&stream, slot->last ? Z_FINISH : Z_FULL_FLUSH);
    slot->failed = state != (slot->last ? Z_STREAM_END : Z_OK) || stream.avail_in || !stream.avail_out;
    slot->packed_length = room - stream.avail_out;
    deflateEnd(&stream);
    slot->crc = (uint32_t)crc32(0, slot->plain, (uInt)slot->plain_length);
}

static void *work(void *argument) {
    struct ids_gzip *gzip = argument;
    pthread_mutex_lock(&gzip->lock);
    for (;;) {
        struct slot *slot = &gzip->slots[gzip->packing];
        if (slot->state == FULL) {
            gzip->packing = (gzip->packing + 1) % gzip->slot_count;
            slot->state = TAKEN;
            pthread_mutex_unlock(&gzip->lock);
            pack(slot, gzip->packed_room);
            pthread_mutex_lock(&gzip->lock);
            slot->state = PACKED;
            pthread_cond_broadcast(&gzip->changed);
        } else if (gzip->closing) {
            break;
        } else {
            pthread_cond_wait(&gzip->changed, &gzip->lock);
        }
    }
    pthread_mutex_unlock(&gzip->lock);
    return NULL;
}

/* Writes a slot out, once it is packed, and makes it ready to be filled. */
static int write_slot(struct ids_gzip *gzip, struct slot *slot, struct ids_error *err) {
    pthread_mutex_lock(&gzip->lock);
    while (slot->state == FULL || slot->state == TAKEN) pthread_cond_wait(&gzip->changed, &gzip->lock);
    pthread_mutex_unlock(&gzip->lock);
    if (slot->state == FILLING) return 0;
    if (slot->failed) return ids_no_memory(err);
    gzip->crc = (uint32_t)crc32_combine(gzip->crc, slot->crc, (z_off_t)slot->plain_length);
    gzip->length += slot->plain_length;
    int code = gzip->next->write(gzip->next, slot->packed, slot->packed_length, err);
    slot->state = FILLING;
    slot->plain_length = 0;
    return code;
}

/* Gives the slot that is being filled to the workers, and makes the next one free. */
static int close_slot(struct ids_gzip *gzip, int last, struct ids_error *err) {
    struct slot *slot = &gzip->slots[gzip->filling];
    slot->last = last;
    if (!gzip->worker_count) {
        pack(slot, gzip->packed_room);
        slot->state = PACKED;
        return write_slot(gzip, slot, err);
    }
    pthread_mutex_lock(&gzip->lock);
    slot->state = FULL;
    pthread_cond_broadcast(&gzip->changed);
    pthread_mutex_unlock(&gzip->lock);
    gzip->filling = (gzip->filling + 1) % gzip->slot_count;
    return write_slot(gzip, &gzip->slots[gzip->filling], err);
}

static int begin(struct ids_gzip *gzip, struct ids_error *err) {
    enum { UNIX = 3, FASTEST = 4 };
    static const uint8_t head[] = {0x1f, 0x8b, Z_DEFLATED, 0, 0, 0, 0, 0, FASTEST, UNIX}; /* no name, no time */
    gzip->begun = 1;
    return gzip->next->write(gzip->next, head, sizeof head, err);
}

static int gzip_write(struct ids_out *out, const void *bytes, size_t length, struct ids_error *err) {
    struct ids_gzip *gzip = (struct ids_gzip *)out;
    const uint8_t *at = bytes;
    int code = gzip->begun ? 0 : begin(gzip, err);
    while (length && !code) {
        struct slot *slot = &gzip->slots[gzip->filling];
        size_t taken = BLOCK_BYTES - slot->plain_length;
        if (taken > length) taken = length;
        memcpy(slot->plain + slot->plain_length, at, taken);
        slot->plain_length += taken;
        at += taken;
        length -= taken;
        if (slot->plain_length == BLOCK_BYTES) code = close_slot(gzip, 0, err);
    }
    return code;
}

int ids_gzip_finish(struct ids_gzip *gzip, struct ids_error *err) {
    int code = gzip->begun ? 0 : begin(gzip, err);
    if (!code) code = close_slot(gzip, 1, err);
    for (size_t i = 1; i <= gzip->slot_count && !code; i++)
        code = write_slot(gzip, &gzip->slots[(gzip->filling + i) % gzip->slot_count], err);
    if (code) return code;
    uint8_t trailer[TRAILER_BYTES];
    for (int i = 0; i < 4; i++) {
        trailer[i] = (uint8_t)(gzip->crc >> 8 * i);
        trailer[4 + i] = (uint8_t)(gzip->length >> 8 * i);
    }
    return gzip->next->write(gzip->next, trailer, sizeof trailer, err);
}

struct ids_out *ids_gzip_out(struct ids_gzip *gzip) {
    return &gzip->out;
}

/* As many workers as there are processors to spare; without any the caller packs. */
static void start_workers(struct ids_gzip *gzip, size_t wanted) {
    while (gzip->worker_count < wanted && !pthread_create(&gzip->workers[gzip->worker_count], NULL, work, gzip))
        gzip->worker_count++;
}

int ids_gzip_new(struct ids_out *next, struct ids_gzip **ret_gzip, struct ids_error *err) {
    struct ids_gzip *gzip = calloc(1, sizeof *gzip);
    if (!gzip) return ids_no_memory(err);
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t wanted = processors < 1 ? 1 : processors > WORKERS_MAX ? WORKERS_MAX : (size_t)processors;
    gzip->out.write = gzip_write;
    gzip->next = next;
    gzip->slot_count = 2 * wanted;
    z_stream any = {0};                                       /* of no settings yet: the bound for all */
    gzip->packed_room = deflateBound(&any, BLOCK_BYTES) + 64; /* and the empty block that ends at a byte */
    pthread_mutex_init(&gzip->lock, NULL);
    pthread_cond_init(&gzip->changed, NULL);
    for (size_t i = 0; i < gzip->slot_count; i++) {
        gzip->slots[i].plain = malloc(BLOCK_BYTES);
        gzip->slots[i].packed = malloc(gzip->packed_room);
        if (gzip->slots[i].plain && gzip->slots[i].packed) continue;
        ids_gzip_free(gzip);
        return ids_no_memory(err);
    }
    start_workers(gzip, wanted);
    *ret_gzip = gzip;
    return 0;
}

void ids_gzip_free(struct ids_gzip *gzip) {
    if (!gzip) return;
    pthread_mutex_lock(&gzip->lock);
    gzip->closing = 1;
    pthread_cond_broadcast(&gzip->changed);
    pthread_mutex_unlock(&gzip->lock);
    for (size_t i = 0; i < gzip->worker_count; i++) pthread_join(gzip->workers[i], NULL);
    for (size_t i = 0; i < gzip->slot_count; i++) {
        free(gzip->slots[i].plain);
        free(gzip->slots[i].packed);
    }
    pthread_cond_destroy(&gzip->changed);
    pthread_mutex_destroy(&gzip->lock);
    free(gzip);
}
