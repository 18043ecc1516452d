#include "lib/base/intern.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static uint64_t word8(const unsigned char *at) {
    uint64_t word;
    memcpy(&word, at, 8);
    return word;
}

static uint32_t word4(const unsigned char *at) {
    uint32_t word;
    memcpy(&word, at, 4);
    return word;
}

/* Both halves of a product: every bit of the word has a part in every bit of the result. */
static uint64_t fold(uint64_t word, uint64_t by) {
    unsigned __int128 product = (unsigned __int128)word * by;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t ids_hash_bytes(const void *bytes, size_t length) {
    /* Eight bytes at a time: names are short, so the start-up cost decides. The last word overlaps the one before: a
     * copy of the one to seven bytes behind would be a loop, and a wait for its stores. */
    const unsigned char *at = bytes;
    uint64_t hash = 0x9e3779b97f4a7c15u ^ length, tail = 0;
    if (length >= 8) {
        const unsigned char *last = at + length - 8;
        for (; at < last; at += 8) hash = fold(hash ^ word8(at), 0xff51afd7ed558ccdu);
        tail = word8(last);
    } else if (length >= 4) {
        tail = word4(at) | (uint64_t)word4(at + length - 4) << 32;
    } else if (length) {
        tail = at[0] | (uint32_t)at[length / 2] << 8 | (uint32_t)at[length - 1] << 16;
    }
    return fold(hash ^ tail, 0xc4ceb9fe1a85ec53u);
}

void ids_strings_done(struct ids_strings *strings) {
    ids_arena_done(&strings->arena);
    for (int i = 0; i < IDS_STRINGS_BLOCKS; i++) free(strings->blocks[i]);
    free(strings->slots);
    memset(strings, 0, sizeof *strings);
}

void ids_strings_stand_on(struct ids_strings *strings, const struct ids_strings *base) {
    *strings = (struct ids_strings){.base = base, .first = base->first + base->count};
}

enum { FIRST_BITS = 7 }; /* the first block has 128 texts, and each other one as many as all before it */

/* The block that a text is in, and the id of the first text there. */
static inline unsigned block_of(uint32_t id, uint32_t *ret_first) {
    unsigned bits = 31 - (unsigned)__builtin_clz(id | (1u << FIRST_BITS >> 1));
    *ret_first = bits < FIRST_BITS ? 0 : 1u << bits;
    return bits - (FIRST_BITS - 1);
}

static inline struct ids_text *text_at(const struct ids_strings *strings, uint32_t id) {
    uint32_t first;
    struct ids_text *block = strings->blocks[block_of(id, &first)];
    return &block[id - first];
}

static inline uint32_t count_of(const struct ids_strings *strings) {
    return atomic_load_explicit(&strings->count, memory_order_relaxed);
}

/* Where the next text goes; NULL when memory ran out. */
static struct ids_text *next_text(struct ids_strings *strings, uint32_t id) {
    uint32_t first;
    unsigned number = block_of(id, &first);
    if (!strings->blocks[number]) {
        size_t room = first ? first : 1u << FIRST_BITS;
        strings->blocks[number] = malloc(room * sizeof(struct ids_text));
        if (!strings->blocks[number]) return NULL;
    }
    return &strings->blocks[number][id - first];
}

/* Doubles the slot table (and makes the first one). Returns 0 when memory ran out. */
static int grow_slots(struct ids_strings *strings) {
    uint32_t size = strings->slots ? (strings->slot_mask + 1) * 2 : 256;
    if (!size) return 0;
    uint32_t *slots = calloc(size, sizeof *slots);
    if (!slots) return 0;
    for (uint32_t id = 0; id < count_of(strings); id++) {
        struct ids_text text = *text_at(strings, id);
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
    if (length > UINT32_MAX - 1 || strings->first + count_of(strings) == IDS_NO_TEXT - 1) return IDS_NO_TEXT;
    if (strings->base) {
        uint32_t known = ids_strings_find(strings->base, text, length);
        if (known != IDS_NO_TEXT) return known;
    }
    if (!strings->slots && !strings->base && length && ids_intern(strings, "", 0) == IDS_NO_TEXT) return IDS_NO_TEXT;
    if (!strings->slots || count_of(strings) >= (strings->slot_mask + 1) / 2) {
        if (!grow_slots(strings)) return IDS_NO_TEXT;
    }
    uint32_t slot = (uint32_t)ids_hash_bytes(text, length) & strings->slot_mask;
    for (; strings->slots[slot]; slot = (slot + 1) & strings->slot_mask) {
        uint32_t id = strings->slots[slot] - 1;
        struct ids_text there = *text_at(strings, id);
        if (there.length == length && !memcmp(there.at, text, length)) return strings->first + id;
    }
    uint32_t id = count_of(strings);
    struct ids_text *next = next_text(strings, id);
    char *copy = next ? ids_arena_copy(&strings->arena, text, length) : NULL;
    if (!copy) return IDS_NO_TEXT;
    *next = (struct ids_text){copy, (uint32_t)length};
    strings->slots[slot] = id + 1;
    atomic_store_explicit(&strings->count, id + 1, memory_order_relaxed);
    return strings->first + id;
}

uint32_t ids_intern_z(struct ids_strings *strings, const char *text) {
    return ids_intern(strings, text, strlen(text));
}

uint32_t ids_strings_find(const struct ids_strings *strings, const char *text, size_t length) {
    if (strings->base) {
        uint32_t known = ids_strings_find(strings->base, text, length);
        if (known != IDS_NO_TEXT || !strings->slots) return known;
    }
    if (!strings->slots) return length ? IDS_NO_TEXT : 0;
    uint32_t slot = (uint32_t)ids_hash_bytes(text, length) & strings->slot_mask;
    for (; strings->slots[slot]; slot = (slot + 1) & strings->slot_mask) {
        uint32_t id = strings->slots[slot] - 1;
        struct ids_text there = *text_at(strings, id);
        if (there.length == length && !memcmp(there.at, text, length)) return strings->first + id;
    }
    return IDS_NO_TEXT;
}

struct ids_text ids_strings_text(const struct ids_strings *strings, uint32_t id) {
    if (id < strings->first) return ids_strings_text(strings->base, id);
    if (id - strings->first >= count_of(strings)) return (struct ids_text){"", 0};
    return *text_at(strings, id - strings->first);
}

const char *ids_strings_z(const struct ids_strings *strings, uint32_t id) {
    return ids_strings_text(strings, id).at;
}
