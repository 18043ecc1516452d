/* xspace.h - writes XSpace profiles as streams: what the generators here have in common. One of these functions is
 * unused in each of them. */
#ifndef IDS_BENCH_XSPACE_H
#define IDS_BENCH_XSPACE_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { LENGTH_BYTES = 5 };

static FILE *out;

struct bytes {
    uint8_t at[512];
    size_t length;
};

static inline void put_varint(struct bytes *bytes, uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes->at[bytes->length++] = (uint8_t)(value | 0x80);
    bytes->at[bytes->length++] = (uint8_t)value;
}

static inline void put_number(struct bytes *bytes, unsigned field, uint64_t value) {
    put_varint(bytes, field << 3);
    put_varint(bytes, value);
}

static inline void put_bytes(struct bytes *bytes, unsigned field, const void *inside, size_t length) {
    put_varint(bytes, field << 3 | 2);
    put_varint(bytes, length);
    memcpy(bytes->at + bytes->length, inside, length);
    bytes->length += length;
}

static inline void put_text(struct bytes *bytes, unsigned field, const char *text) {
    put_bytes(bytes, field, text, strlen(text));
}

static inline void put_stat(struct bytes *bytes, unsigned id, unsigned field, uint64_t value) {
    struct bytes stat = {.length = 0};
    put_number(&stat, 1, id);
    put_number(&stat, field, value);
    put_bytes(bytes, 4, stat.at, stat.length);
}

static inline void write_message(unsigned field, const struct bytes *inside) {
    struct bytes whole = {.length = 0};
    put_bytes(&whole, field, inside->at, inside->length);
    fwrite(whole.at, 1, whole.length, out);
}

/* A message whose length is known at its end: five bytes are left for it. Returns where. */
static inline long begin(unsigned field) {
    static const uint8_t none[LENGTH_BYTES];
    fputc((int)(field << 3 | 2), out);
    long at = ftell(out);
    fwrite(none, 1, sizeof none, out);
    return at;
}

static inline void end(long at) {
    long now = ftell(out);
    uint64_t length = (uint64_t)(now - at - LENGTH_BYTES);
    fseek(out, at, SEEK_SET);
    for (int i = 0; i < LENGTH_BYTES; i++)
        fputc((int)(length >> (7 * i) & 0x7f) | (i + 1 < LENGTH_BYTES ? 0x80 : 0), out);
    fseek(out, now, SEEK_SET);
}

static inline void write_line_head(int64_t id, const char *name) {
    struct bytes head = {.length = 0};
    put_number(&head, 1, (uint64_t)id);
    put_text(&head, 2, name);
    fwrite(head.at, 1, head.length, out);
}

static inline void begin_event(struct bytes *event, unsigned name, uint64_t offset_ps, uint64_t duration_ps) {
    event->length = 0;
    put_number(event, 1, name);
    put_number(event, 2, offset_ps);
    put_number(event, 3, duration_ps);
}

static inline uint64_t random_of(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static inline void write_metadata(unsigned field, unsigned id, const char *format, unsigned number) {
    struct bytes value = {.length = 0}, entry = {.length = 0};
    char name[64];
    snprintf(name, sizeof name, format, number);
    put_number(&value, 1, id);
    put_text(&value, 2, name);
    put_number(&entry, 1, id);
    put_bytes(&entry, 2, value.at, value.length);
    write_message(field, &entry);
}

#endif
