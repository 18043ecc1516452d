#include "lib/redact/redactor.h"

#include "lib/model/python_frame.h"
#include "lib/redact/paths.h"
#include "lib/redact/public_words.h"

#include <string.h>

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static int is_digit(char c) {
    return c >= '0' && c <= '9';
}

static int is_word_char(char c) {
    return ids_is_letter(c) || is_digit(c) || c == '_';
}

static void put_pseudonym(const struct ids_redactor *redactor, const char *at, size_t length, struct ids_buffer *out) {
    char word[IDS_PSEUDONYM_ROOM];
    if (ids_is_pseudonym(at, length)) {
        ids_buffer_put(out, at, length);
        return;
    }
    ids_pseudonym(&redactor->key, at, length, word);
    ids_buffer_put(out, word, IDS_PSEUDONYM_LENGTH);
}

/* ---- what stands at a place of a text: each gives how many bytes it took, 0 for none ---- */

struct place {
    struct ids_redactor *redactor;
    struct ids_text text;
    enum ids_redacted_kind kind;
    struct ids_buffer *out;
};

static char char_at(const struct place *place, size_t at) {
    return at < place->text.length ? place->text.at[at] : '\0';
}

static size_t until(const struct place *place, size_t at, const char *ends) {
    while (at < place->text.length && !strchr(ends, place->text.at[at])) at++;
    return at;
}

/* "gs://bucket/run", "https://..." */
static size_t take_address_of_web(const struct place *place, size_t at) {
    size_t colon = at;
    while (ids_is_letter(char_at(place, colon)) || is_digit(char_at(place, colon))) colon++;
    if (colon == at || place->text.length - colon < 3 || memcmp(place->text.at + colon, "://", 3) != 0) return 0;
    size_t end = until(place, colon + 3, " \t\n\r\"'<>)]}");
    ids_buffer_put(place->out, place->text.at + at, colon + 3 - at);
    put_pseudonym(place->redactor, place->text.at + colon + 3, end - colon - 3, place->out);
    return end - at;
}

/* "--name=value", "--name value" */
static size_t take_option(const struct place *place, size_t at) {
    if (char_at(place, at) != '-' || char_at(place, at + 1) != '-' || !ids_is_letter(char_at(place, at + 2))) return 0;
    size_t name = at + 2;
    while (is_word_char(char_at(place, name)) || char_at(place, name) == '-') name++;
    if ((char_at(place, name) != '=' && char_at(place, name) != ' ') || char_at(place, name + 1) == '-') return 0;
    size_t end = until(place, name + 1, " \t\n\"'");
    if (end == name + 1) return 0;
    ids_buffer_put(place->out, place->text.at + at, name + 1 - at);
    put_pseudonym(place->redactor, place->text.at + name + 1, end - name - 1, place->out);
    return end - at;
}

/* "XLA_FLAGS=value" */
static size_t take_setting(const struct place *place, size_t at) {
    size_t name = at;
    while ((char_at(place, name) >= 'A' && char_at(place, name) <= 'Z') || char_at(place, name) == '_' ||
           (name > at && is_digit(char_at(place, name))))
        name++;
    if (name < at + 3 || char_at(place, name) != '=') return 0;
    size_t end = until(place, name + 1, " \t\n\"',;)}]");
    int number = 1;
    for (size_t i = name + 1; i < end; i++) number &= is_digit(place->text.at[i]) || place->text.at[i] == '.';
    if (number) return 0;
    ids_buffer_put(place->out, place->text.at + at, name + 1 - at);
    put_pseudonym(place->redactor, place->text.at + name + 1, end - name - 1, place->out);
    return end - at;
}

/* "user=value", "token: value" */
static size_t take_credential(const struct place *place, size_t at) {
    static const char *const words[] = {"user", "username", "login",  "password", "passwd",
                                        "pw",   "token",    "secret", "api_key",  "apikey"};
    size_t name = at;
    while (is_word_char(char_at(place, name))) name++;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!ids_text_is((struct ids_text){place->text.at + at, (uint32_t)(name - at)}, words[i])) continue;
        size_t value = name + (char_at(place, name) == '=' || char_at(place, name) == ':');
        if (value == name) return 0;
        while (char_at(place, value) == ' ') value++;
        size_t end = until(place, value, " \t\n\"',;)}]");
        if (end == value) return 0;
        ids_buffer_put(place->out, place->text.at + at, value - at);
        put_pseudonym(place->redactor, place->text.at + value, end - value, place->out);
        return end - at;
    }
    return 0;
}

/* "who@where.org" */
static size_t take_mail(const struct place *place, size_t at) {
    size_t sign = at, end;
    while (is_word_char(char_at(place, sign)) || (char_at(place, sign) && strchr(".+-", char_at(place, sign)))) sign++;
    if (sign == at || char_at(place, sign) != '@') return 0;
    for (end = sign + 1; is_word_char(char_at(place, end)) || char_at(place, end) == '-' ||
                         (char_at(place, end) == '.' && is_word_char(char_at(place, end + 1)));)
        end++;
    if (end == sign + 1) return 0;
    put_pseudonym(place->redactor, place->text.at + at, end - at, place->out);
    return end - at;
}

/* "10.1.2.3", "fe80::1:2" */
static size_t take_address(const struct place *place, size_t at) {
    size_t end = at, dots = 0, colons = 0, digits = 0, pair = 0, other = 0;
    for (char c; c = char_at(place, end), is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f') || c == '.' || c == ':';
         end++) {
        dots += c == '.';
        colons += c == ':';
        pair |= c == ':' && char_at(place, end + 1) == ':';
        digits += (size_t)is_digit(c);
        other += ids_is_letter(c) ? 1 : 0;
    }
    while (end > at && (char_at(place, end - 1) == '.' || char_at(place, end - 1) == ':')) {
        dots -= char_at(place, end - 1) == '.';
        colons -= char_at(place, end - 1) == ':';
        end--;
    }
    if (is_word_char(char_at(place, end))) return 0;
    int is_4 = dots == 3 && !other && digits >= 4;
    int is_6 = !dots && (colons >= 5 || (digits && (colons >= 4 || (pair && colons >= 3))));
    if (!is_4 && !is_6) return 0;
    put_pseudonym(place->redactor, place->text.at + at, end - at, place->out);
    return end - at;
}

/* "node7.cluster.example.org" */
static size_t take_domain(const struct place *place, size_t at) {
    static const char *const tops[] = {"ai",    "cloud", "cluster",  "co",    "com", "corp",
                                       "edu",   "gov",   "internal", "intra", "io",  "lan",
                                       "local", "mil",   "net",      "org",   "svc", "localdomain"};
    size_t end = at, last = 0;
    while (is_word_char(char_at(place, end)) || char_at(place, end) == '-' ||
           (char_at(place, end) == '.' && is_word_char(char_at(place, end + 1)))) {
        if (char_at(place, end) == '.') last = end + 1;
        end++;
    }
    if (!last || char_at(place, end) == '(') return 0;
    for (size_t i = 0; i < sizeof tops / sizeof *tops; i++) {
        if (!ids_text_is((struct ids_text){place->text.at + last, (uint32_t)(end - last)}, tops[i])) continue;
        put_pseudonym(place->redactor, place->text.at + at, end - at, place->out);
        return end - at;
    }
    return 0;
}

/* Between quotes a path may have spaces. */
static size_t up_to_quote(const struct place *place, size_t at, size_t length) {
    char quote = at ? place->text.at[at - 1] : '\0';
    if (quote != '"' && quote != '\'') return length;
    size_t end = at + length;
    while (end < place->text.length && place->text.at[end] != quote && place->text.at[end] != '\n') end++;
    return char_at(place, end) == quote ? end - at : length;
}

static size_t take_path(const struct place *place, size_t at) {
    size_t length = ids_path_at(place->text, at, place->kind == IDS_REDACT_VALUE);
    if (length) length = up_to_quote(place, at, length);
    if (length) ids_redact_path(place->redactor, (struct ids_text){place->text.at + at, (uint32_t)length}, place->out);
    return length;
}

static size_t take_learned(const struct place *place, size_t at) {
    size_t length =
        ids_learned_at(place->redactor, (struct ids_text){place->text.at + at, (uint32_t)(place->text.length - at)});
    if (length) put_pseudonym(place->redactor, place->text.at + at, length, place->out);
    return length;
}

/* A word up to its hump. A public one stays, even if a learned name is inside it. */
static size_t take_word(const struct place *place, size_t at) {
    struct ids_text word = {place->text.at + at, (uint32_t)(place->text.length - at)};
    word.length = (uint32_t)ids_word_length(word);
    if (ids_word_is_public(word)) {
        ids_buffer_put(place->out, word.at, word.length);
        return word.length;
    }
    if (!place->redactor->names || place->kind == IDS_REDACT_TEXT) return 0;
    put_pseudonym(place->redactor, word.at, word.length, place->out);
    return word.length;
}

/* ---- texts ---- */

static size_t take(const struct place *place, size_t at) {
    static size_t (*const forms[])(const struct place *, size_t) = {take_address_of_web, take_option, take_setting,
                                                                    take_credential,     take_mail,   take_path,
                                                                    take_address,        take_domain};
    char before = at ? place->text.at[at - 1] : ' ';
    size_t taken = 0;
    int begins = !is_word_char(before) && before != '/' && before != ')' && before != '.';
    for (size_t i = 0; begins && i < sizeof forms / sizeof *forms && !taken; i++) taken = forms[i](place, at);
    if (!taken && before == '/') taken = take_mail(place, at);
    if (!taken) taken = take_learned(place, at);
    int begins_word = ids_is_letter(place->text.at[at]) && (!at || !ids_is_letter(before) || place->redactor->names);
    return !taken && begins_word ? take_word(place, at) : taken;
}

static void redact_text(const struct place *place, size_t at, size_t end) {
    struct place part = *place;
    part.text = (struct ids_text){place->text.at + at, (uint32_t)(end - at)};
    for (at = 0; at < part.text.length;) {
        size_t taken = take(&part, at);
        if (!taken) ids_buffer_byte(part.out, part.text.at[at]);
        at += taken ? taken : 1;
    }
}

/* "$train.py:12 step", "src/train.py(12): step": the file is a path whatever it is called. */
static int redact_frame(const struct place *place) {
    struct ids_python_frame frame;
    if (!ids_python_frame_of(place->text, &frame) || !frame.file.length || *frame.file.at == '<') return 0;
    size_t file = (size_t)(frame.file.at - place->text.at);
    ids_buffer_put(place->out, place->text.at, file);
    ids_redact_path(place->redactor, frame.file, place->out);
    redact_text(place, file + frame.file.length, place->text.length);
    return 1;
}

static void redact_source(const struct place *place) {
    uint32_t end = place->text.length;
    while (end && is_digit(place->text.at[end - 1])) end--;
    if (!end || end == place->text.length || place->text.at[end - 1] != ':') end = place->text.length + 1;
    ids_redact_path(place->redactor, (struct ids_text){place->text.at, end - 1}, place->out);
    ids_buffer_put(place->out, place->text.at + end - 1, place->text.length + 1 - end);
}

static int has_letters(struct ids_text text) {
    for (uint32_t i = 0; i < text.length; i++) {
        if (ids_is_letter(text.at[i])) return 1;
    }
    return 0;
}

/* A rank's number holds in every file of a run, and says nothing. */
static int is_public_host(struct ids_text text) {
    static const char *const words[] = {"rank", "worker", "host", "localhost", "process", "trace", "profile"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!ids_text_begins(text, words[i])) continue;
        struct ids_text rest = {text.at + strlen(words[i]), text.length - (uint32_t)strlen(words[i])};
        if (!has_letters(rest)) return 1;
    }
    return 0;
}

/* A memory profile of a window's begin is called as that of its end, and ".begin". */
static void redact_host(const struct place *place) {
    static const char begin[] = ".begin";
    struct ids_text name = place->text;
    if (name.length > sizeof begin - 1 && ids_text_ends(name, begin)) name.length -= (uint32_t)sizeof begin - 1;
    ids_redactor_learn(place->redactor, name);
    put_pseudonym(place->redactor, name.at, name.length, place->out);
    ids_buffer_put(place->out, name.at + name.length, place->text.length - name.length);
}

void ids_redact(struct ids_redactor *redactor, struct ids_text text, enum ids_redacted_kind kind,
                struct ids_buffer *out) {
    struct place place = {redactor, text, kind, out};
    if (!text.length) return;
    switch (kind) {
    case IDS_REDACT_PATH:
        ids_redact_path(redactor, text, out);
        return;
    case IDS_REDACT_SOURCE:
        redact_source(&place);
        return;
    case IDS_REDACT_HOST:
        if (is_public_host(text)) {
            ids_buffer_put(out, text.at, text.length);
            return;
        }
        redact_host(&place);
        return;
    case IDS_REDACT_WHOLE:
        if (!has_letters(text)) break;
        put_pseudonym(redactor, text.at, text.length, out);
        return;
    case IDS_REDACT_NAME:
        if (redact_frame(&place)) return;
        break;
    default:
        break;
    }
    redact_text(&place, 0, text.length);
}
