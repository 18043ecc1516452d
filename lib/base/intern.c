#include "lib/base/intern.h"

#include <stdlib.h>
#include <string.h>

uint64_t ids_hash_bytes(const void *bytes, size_t length) {
    /* Eight bytes at a time, a multiply and a fold each: names are short, so the start-up cost decides. */
    const unsigned char *at = bytes;
    uint64_t hash = 0x9e3779b97f4a7c15u ^ length;
    while (length >= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        hash = (hash ^ word) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
        at += 8;
        length -= 8;
    }
    uint64_t tail = 0;
    if (length) memcpy(&tail, at, length);
    hash = (hash ^ tail) * 0xc4ceb9fe1a85ec53u;
    return hash ^ hash >> 29;
}

void ids_strings_done(struct ids_strings *strings) {
    ids_arena_done(&strings->arena);
    free(strings->texts);
    free(strings->slots);
    *strings = (struct ids_strings){0};
}

/* Doubles the slot table (and makes the first one). Returns 0 when memory ran out. */
static int grow_slots(struct ids_strings *strings) {
    uint32_t size = strings->slots ? (strings->slot_mask + 1) * 2 : 256;
    if (!size) return 0;
    uint32_t *slots = calloc(size, sizeof *slots);
    if (!slots) return 0;
    for (uint32_t id = 0; id < strings->count; id++) {
        struct ids_text text = strings->texts[id];
        uint32_t slot = (uint32_t)ids_hash_bytes(text.at, text.length) & (size - 1);
        while (slots[slot]) slot = (slot + 1) & (size - 1);
        slots[slot] = id + 1;
    }
    free(strings->slots);
    strings->slots = slots;
    strings->slot_mask = size - 1;
    return 1;
}

uint32_t ids_intern(struct ids_strings *strings, const char *text, size_t length) {
    if (length > UINT32_MAX - 1 || strings->count == IDS_NO_TEXT - 1) return IDS_NO_TEXT;
    if (!strings->slots && length && ids_intern(strings, "", 0) == IDS_NO_TEXT) return IDS_NO_TEXT;
    if (!strings->slots || strings->count >= (strings->slot_mask + 1) / 2) {
        if (!grow_slots(strings)) return IDS_NO_TEXT;
    }
    uint32_t slot = (uint32_t)ids_hash_bytes(text, length) & strings->slot_mask;
    for (; strings->slots[slot]; slot = (slot + 1) & strings->slot_mask) {
        uint32_t id = strings->slots[slot] - 1;
        struct ids_text there = strings->texts[id];
        if (there.length == length && !memcmp(there.at, text, length)) return id;
    }
    if (strings->count == strings->room) {
        uint32_t room = strings->room ? strings->room * 2 : 128;
        struct ids_text *texts = realloc(strings->texts, room * sizeof *texts);
        if (!texts) return IDS_NO_TEXT;
        strings->texts = texts;
        strings->room = room;
    }
    char *copy = ids_arena_copy(&strings->arena, text, length);
    if (!copy) return IDS_NO_TEXT;
    strings->texts[strings->count] = (struct ids_text){copy, (uint32_t)length};
    strings->slots[slot] = ++strings->count;
    return strings->count - 1;
}

uint32_t ids_intern_z(struct ids_strings *strings, const char *text) {
    return ids_intern(strings, text, strlen(text));
}

uint32_t ids_strings_find(const struct ids_strings *strings, const char *text, size_t length) {
    if (!strings->slots) return length ? IDS_NO_TEXT : 0;
    uint32_t slot = (uint32_t)ids_hash_bytes(text, length) & strings->slot_mask;
    for (; strings->slots[slot]; slot = (slot + 1) & strings->slot_mask) {
        uint32_t id = strings->slots[slot] - 1;
        struct ids_text there = strings->texts[id];
        if (there.length == length && !memcmp(there.at, text, length)) return id;
    }
    return IDS_NO_TEXT;
}

struct ids_text ids_strings_text(const struct ids_strings *strings, uint32_t id) {
    if (id >= strings->count) return (struct ids_text){"", 0};
    return strings->texts[id];
}

const char *ids_strings_z(const struct ids_strings *strings, uint32_t id) {
    return ids_strings_text(strings, id).at;
}
