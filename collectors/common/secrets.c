#include "collectors/common/secrets.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { WORD_BYTES = 32 };

static const char name_letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
static const char spaces[] = " \t\n";

/* ---- names ---- */

static int is_among(const char *word, const char *const *words) {
    for (; *words; words++) {
        if (!strcmp(word, *words)) return 1;
    }
    return 0;
}

static int holds_any(const char *word, const char *const *parts) {
    for (; *parts; parts++) {
        if (strstr(word, *parts)) return 1;
    }
    return 0;
}

static int is_secret_word(const char *word) {
    static const char *const words[] = {"token",      "key",         "auth", "authorization", "pass",   "pwd",
                                        "credential", "creds",       "pat",  "jwt",           "cookie", "bearer",
                                        "sas",        "credentials", "sig",  "hmac",          NULL};
    static const char *const parts[] = {"password",   "passwd",  "passphrase", "secret",  "apikey", "accesskey",
                                        "privatekey", "authkey", "sshkey",     "signkey", NULL};
    size_t length = strlen(word);
    int ends_with_token = length > 5 && !strcmp(word + length - 5, "token");
    return ends_with_token || is_among(word, words) || holds_any(word, parts);
}

/* Names such as --token-file and key_size hold no secret. */
static int is_plain_word(const char *word) {
    static const char *const words[] = {"file",  "path", "dir",  "size", "dim",   "dims",  "len", "length",
                                        "count", "type", "name", "bits", "bytes", "heads", NULL};
    return is_among(word, words);
}

/* The word at `*at` in small letters: words end at other characters, and before a capital behind a small letter. */
static void next_word(const char *name, size_t length, size_t *at, char word[WORD_BYTES]) {
    size_t used = 0;
    while (*at < length && !isalnum((unsigned char)name[*at])) ++*at;
    for (size_t from = *at; *at < length && isalnum((unsigned char)name[*at]); ++*at) {
        if (*at > from && isupper((unsigned char)name[*at]) && islower((unsigned char)name[*at - 1])) break;
        if (used + 1 < WORD_BYTES) word[used++] = (char)tolower((unsigned char)name[*at]);
    }
    word[used] = '\0';
}

int ids_secrets_is_name(const char *name, size_t length) {
    char word[WORD_BYTES], before[WORD_BYTES] = "", both[2 * WORD_BYTES];
    int secret = 0, plain = 0;
    for (size_t at = 0; at < length;) {
        next_word(name, length, &at, word);
        if (!word[0]) continue;
        snprintf(both, sizeof both, "%s%s", before, word); /* "api" and "Key", "pass" and "word" */
        secret |= is_secret_word(word) || is_secret_word(both);
        plain = is_plain_word(word);
        memcpy(before, word, sizeof before);
    }
    return secret && !plain;
}

/* ---- writing ---- */

struct masked {
    char *text;
    size_t length, size;
};

static void put(struct masked *out, const char *text, size_t length) {
    size_t room = out->size - 1 - out->length;
    if (length > room) length = room;
    memcpy(out->text + out->length, text, length);
    out->length += length;
}

static void put_mask(struct masked *out) {
    put(out, "***", 3);
}

/* ---- inside a text ---- */

/* A value that a quote, a space or a separator ends; its length without quotes, which `*at` is moved behind. */
static size_t value_length(const char **at) {
    char quote = **at == '"' || **at == '\'' ? *(*at)++ : '\0';
    if (!quote) return strcspn(*at, " \t\n&;,|)}]\"'");
    size_t length = 0;
    while ((*at)[length] && (*at)[length] != quote) length += (*at)[length] == '\\' && (*at)[length + 1] ? 2 : 1;
    return length;
}

static int is_scheme(const char *word, size_t length) {
    static const char *const schemes[] = {"bearer", "basic", "token", "digest", "negotiate"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        if (strlen(schemes[i]) == length && !strncasecmp(word, schemes[i], length)) return 1;
    }
    return 0;
}

/* Masks the value at `at`, with an authorization's scheme left in front of it. Returns what lies behind it. */
static const char *mask_value(struct masked *out, const char *at) {
    const char *from = at;
    size_t length = value_length(&at);
    size_t word = strcspn(at, " \t\n\"'"), gap = word + strspn(at + word, spaces);
    if (gap > word && at[gap] && is_scheme(at, word)) {
        put(out, from, (size_t)(at - from) + gap);
        put_mask(out);
        return at + gap + strcspn(at + gap, "\"'\n");
    }
    put(out, from, (size_t)(at - from));
    if (length) put_mask(out);
    return at + length;
}

/* The value that a name is followed by: = or : between them, and closing quotes of the name; or an option's, behind
 * spaces. NULL: none. */
static const char *value_behind(const char *name, const char *end) {
    const char *at = end + strspn(end, "\"'])");
    at += strspn(at, spaces);
    if ((*at == '=' && at[1] != '=') || (*at == ':' && strncmp(at, "://", 3) != 0)) {
        at++;
        return at + strspn(at, spaces);
    }
    size_t gap = strspn(end, spaces);
    return *name == '-' && gap && end[gap] && end[gap] != '-' ? end + gap : NULL;
}

/* Tokens that services give out say whose they are. */
static int is_known_token(const char *word, size_t length) {
    static const struct {
        const char *start;
        size_t least;
    } known[] = {{"hf_", 20},    {"sk-", 20},   {"ghp_", 20},  {"gho_", 20}, {"ghs_", 20}, {"github_pat_", 20},
                 {"glpat-", 20}, {"xoxb-", 20}, {"xoxp-", 20}, {"AKIA", 20}, {"ASIA", 20}, {"eyJ", 30}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (length >= known[i].least && !strncmp(word, known[i].start, strlen(known[i].start))) return 1;
    }
    return 0;
}

/* Behind "://": user:password@, or a token alone before the @ of http. Returns what lies behind what was written. */
static const char *mask_authority(struct masked *out, const char *text, const char *at) {
    size_t length = strcspn(at, "/?# \t\n\"'<>|;&)"), user = 0, end = length;
    while (end && at[end - 1] != '@') end--;
    if (!end) return at;
    while (user < end && at[user] != ':') user++;
    if (user < end) {
        put(out, at, user + 1);
    } else if (at - text < 7 ||
               (strncmp(at - 7, "http://", 7) != 0 && (at - text < 8 || strncmp(at - 8, "https://", 8) != 0))) {
        return at; /* ssh://git@host */
    }
    put_mask(out);
    return at + end - 1;
}

static const char *mask_word(struct masked *out, const char *at) {
    size_t length = strspn(at, name_letters);
    const char *end = at + length, *value = NULL;
    if (ids_secrets_is_name(at, length)) value = value_behind(at, end);
    if (!value && length == 6 && !strncasecmp(at, "bearer", 6) && strspn(end, spaces))
        value = end + strspn(end, spaces);
    if (value) {
        put(out, at, (size_t)(value - at));
        return mask_value(out, value);
    }
    if (is_known_token(at, length)) {
        put_mask(out);
    } else {
        put(out, at, length);
    }
    return end;
}

static void mask_text(struct masked *out, const char *text) {
    for (const char *at = text; *at;) {
        if (!strncmp(at, "://", 3)) {
            put(out, at, 3);
            at = mask_authority(out, text, at + 3);
        } else if (strchr(name_letters, *at)) {
            at = mask_word(out, at);
        } else {
            put(out, at++, 1);
        }
    }
}

/* ---- arguments ---- */

static int is_script_flag(const char *argument) {
    size_t length = strlen(argument);
    return argument[0] == '-' && length > 1 && length < 6 && argument[1] != '-' && argument[length - 1] == 'c';
}

static int is_user_flag(const char *argument) {
    return !strcmp(argument, "-u") || !strcmp(argument, "--user") || !strcmp(argument, "--proxy-user");
}

/* An argument that is all name, or a name and "=" and a value to its end, spaces included. 0: neither. */
static int mask_whole(struct ids_secrets *secrets, struct masked *out, const char *argument) {
    size_t length = strspn(argument, name_letters);
    if (!ids_secrets_is_name(argument, length)) return 0;
    if (argument[length] == '=' && argument[length + 1]) {
        put(out, argument, length + 1);
        put_mask(out);
        return 1;
    }
    secrets->next_is_value = !argument[length] && argument[0] == '-';
    return 0;
}

static int mask_user(struct masked *out, const char *argument) {
    const char *colon = strchr(argument, ':');
    if (!colon || !colon[1]) return 0;
    put(out, argument, (size_t)(colon + 1 - argument));
    put_mask(out);
    return 1;
}

void ids_secrets_mask(struct ids_secrets *secrets, const char *argument, char *masked, size_t size) {
    struct masked out = {masked, 0, size};
    struct ids_secrets was = *secrets;
    *secrets = (struct ids_secrets){.next_is_script = is_script_flag(argument), .next_is_user = is_user_flag(argument)};
    if (was.next_is_value && argument[0] && (argument[0] != '-' || !argument[1])) {
        put_mask(&out);
    } else if (was.next_is_user && mask_user(&out, argument)) {
        /* that is all */
    } else if (was.next_is_script || !mask_whole(secrets, &out, argument)) {
        mask_text(&out, argument);
    }
    masked[out.length] = '\0';
}
