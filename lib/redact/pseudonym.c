#include "lib/redact/pseudonym.h"

#include <string.h>

static const char letters[] = "bcdfghjklmnpqrst";
static const char head[] = "anon";

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static uint64_t rotate(uint64_t word, int by) {
    return word << by | word >> (64 - by);
}

static void sip_round(uint64_t v[4]) {
    v[0] += v[1], v[1] = rotate(v[1], 13) ^ v[0], v[0] = rotate(v[0], 32);
    v[2] += v[3], v[3] = rotate(v[3], 16) ^ v[2];
    v[0] += v[3], v[3] = rotate(v[3], 21) ^ v[0];
    v[2] += v[1], v[1] = rotate(v[1], 17) ^ v[2], v[2] = rotate(v[2], 32);
}

/* SipHash-2-4 (Aumasson and Bernstein, 2012) of the bytes, or of their small letters. */
static uint64_t sip_hash(const uint64_t key[2], const char *bytes, size_t length, int any_case) {
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du, key[0] ^ 0x6c7967656e657261u,
                     key[1] ^ 0x7465646279746573u};
    uint64_t word = 0;
    for (size_t i = 0; i < length; i++) {
        word |= (uint64_t)(unsigned char)(any_case ? lower(bytes[i]) : bytes[i]) << 8 * (i % 8);
        if (i % 8 != 7) continue;
        v[3] ^= word;
        sip_round(v);
        sip_round(v);
        v[0] ^= word;
        word = 0;
    }
    word |= (uint64_t)length << 56;
    v[3] ^= word;
    sip_round(v);
    sip_round(v);
    v[0] ^= word;
    v[2] ^= 0xff;
    for (int i = 0; i < 4; i++) sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

struct ids_pseudonym_key ids_pseudonym_key_of(const void *bytes, size_t length) {
    static const uint64_t first[2] = {0x6964737072666b31u, 1}, second[2] = {0x6964737072666b32u, 2};
    return (struct ids_pseudonym_key){{sip_hash(first, bytes, length, 0), sip_hash(second, bytes, length, 0)}};
}

static int is_capital(char c) {
    return c >= 'A' && c <= 'Z';
}

void ids_pseudonym(const struct ids_pseudonym_key *key, const char *name, size_t length,
                   char ret_word[IDS_PSEUDONYM_ROOM]) {
    uint64_t hash = sip_hash(key->halves, name, length, 1);
    memcpy(ret_word, head, sizeof head - 1);
    for (size_t i = sizeof head - 1; i < IDS_PSEUDONYM_LENGTH; i++, hash >>= 4) ret_word[i] = letters[hash & 15];
    ret_word[IDS_PSEUDONYM_LENGTH] = '\0';
    size_t capitals = 0;
    while (capitals < length && is_capital(name[capitals])) capitals++;
    size_t wanted = !capitals ? 0 : capitals == length && length > 1 ? IDS_PSEUDONYM_LENGTH : 1;
    for (size_t i = 0; i < wanted; i++) ret_word[i] = (char)(ret_word[i] - 'a' + 'A');
}

int ids_is_pseudonym(const char *text, size_t length) {
    if (length != IDS_PSEUDONYM_LENGTH) return 0;
    for (size_t i = 0; i < length; i++) {
        char c = lower(text[i]);
        if (i < sizeof head - 1 ? c != head[i] : !memchr(letters, c, sizeof letters - 1)) return 0;
    }
    return 1;
}
