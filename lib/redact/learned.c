#include "lib/redact/learned.h"

#include "lib/redact/public_words.h"

enum { LEARNED_LEAST = 3, LEARNED_MOST = 4096, NAME_MOST = 255 };

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

void ids_redactor_init(struct ids_redactor *redactor, const void *key, size_t key_length, int names) {
    *redactor = (struct ids_redactor){.key = ids_pseudonym_key_of(key, key_length), .names = names};
    redactor->failed = ids_intern_z(&redactor->learned, "") == IDS_NO_TEXT;
}

void ids_redactor_done(struct ids_redactor *redactor) {
    ids_strings_done(&redactor->learned);
}

void ids_redactor_learn(struct ids_redactor *redactor, struct ids_text name) {
    char small[NAME_MOST];
    if (!redactor->learns || name.length < LEARNED_LEAST || name.length > sizeof small) return;
    if (redactor->learned.count > LEARNED_MOST || ids_words_are_public(name)) return;
    for (uint32_t i = 0; i < name.length; i++) small[i] = lower(name.at[i]);
    redactor->begins[(unsigned char)small[0]] = 1;
    if (ids_intern(&redactor->learned, small, name.length) == IDS_NO_TEXT) redactor->failed = 1;
}

/* Whatever is before and behind it. */
size_t ids_learned_at(const struct ids_redactor *redactor, struct ids_text text) {
    if (redactor->learns || !text.length || !redactor->begins[(unsigned char)lower(*text.at)]) return 0;
    size_t best = 0;
    for (uint32_t i = 1; i < redactor->learned.count; i++) {
        struct ids_text name = ids_strings_text(&redactor->learned, i);
        if (name.length <= best || name.length > text.length) continue;
        uint32_t same = 0;
        while (same < name.length && lower(text.at[same]) == name.at[same]) same++;
        if (same == name.length) best = same;
    }
    return best;
}
