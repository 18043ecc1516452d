#include "lib/redact/redactor.h"

#include "lib/model/python_frame.h"
#include "lib/redact/domains.h"
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
    size_t *no_file_before; /* of ids_path_at */
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

static int is_quote(char c) {
    return c == '"' || c == '\'';
}

/* "--name=value", "--name value", "--name 'some words'" */
static size_t take_option(const struct place *place, size_t at) {
    if (char_at(place, at) != '-' || char_at(place, at + 1) != '-' || !ids_is_letter(char_at(place, at + 2))) return 0;
    size_t value = at + 2;
    while (is_word_char(char_at(place, value)) || char_at(place, value) == '-') value++;
    if ((char_at(place, value) != '=' && char_at(place, value) != ' ') || char_at(place, value + 1) == '-') return 0;
    value += is_quote(char_at(place, value + 1)) ? 2 : 1;
    size_t end = until(place, value, is_quote(place->text.at[value - 1]) ? "\n\"'" : " \t\n\"'");
    if (end == value) return 0;
    ids_buffer_put(place->out, place->text.at + at, value - at);
    put_pseudonym(place->redactor, place->text.at + value, end - value, place->out);
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

/* A quote may be escaped, where JSON is a text in JSON. */
static size_t behind_quote(const struct place *place, size_t at) {
    size_t quote = at;
    while (char_at(place, quote) == '\\') quote++;
    return is_quote(char_at(place, quote)) ? quote + 1 : at;
}

/* Where the value stands that is said of a name that ends at `at`: `=value`, `: value`, and JSON's `": "value`. 0:
 * none. */
static size_t value_after(const struct place *place, size_t at) {
    size_t sign = behind_quote(place, at);
    while (char_at(place, sign) == ' ') sign++;
    if (char_at(place, sign) != '=' && char_at(place, sign) != ':') return 0;
    for (sign++; char_at(place, sign) == ' ';) sign++;
    return behind_quote(place, sign);
}

static int is_word_in_small(struct ids_text word, const char *small) {
    if (strlen(small) != word.length) return 0;
    for (uint32_t i = 0; i < word.length; i++) {
        if (lower(word.at[i]) != small[i]) return 0;
    }
    return 1;
}

/* "user=value", "token: value", "Bearer value", "Authorization: Basic value" */
static size_t take_credential(const struct place *place, size_t at) {
    static const char *const words[] = {"user",    "username", "login",  "password", "passwd",       "passphrase",
                                        "pw",      "token",    "secret", "api_key",  "apikey",       "access_token",
                                        "api-key", "email",    "auth",   "bearer",   "authorization"};
    enum { WORDS = sizeof words / sizeof *words, BEARER = WORDS - 2, AUTHORIZATION, LONGER = 16 };
    size_t name = at, word = 0;
    while (name - at < LONGER && (is_word_char(char_at(place, name)) || char_at(place, name) == '-')) name++;
    struct ids_text said = {place->text.at + at, (uint32_t)(name - at)};
    while (word < WORDS && !is_word_in_small(said, words[word])) word++;
    if (word == WORDS) return 0;
    size_t value = value_after(place, name);
    if (!value && word == BEARER && char_at(place, name) == ' ') value = name + 1;
    if (!value) return 0;
    int is_open = word == AUTHORIZATION || is_quote(place->text.at[value - 1]);
    size_t end = until(place, value, is_open ? "\n\"'" : " \t\n\"',;)}]");
    if (is_quote(char_at(place, end)))
        while (end > value && place->text.at[end - 1] == '\\') end--;
    if (end == value) return 0;
    ids_buffer_put(place->out, said.at, value - at);
    put_pseudonym(place->redactor, place->text.at + value, end - value, place->out);
    return end - at;
}

/* What stands behind "git@where.org:": a path, from its first letter on. 0 for none. */
static size_t repository_at(const struct place *place, size_t at) {
    if (char_at(place, at) != ':' || !is_word_char(char_at(place, at + 1))) return 0;
    size_t end = at + 1, slashes = 0;
    for (char c; c = char_at(place, end), is_word_char(c) || (c && strchr("/.-+~%", c)); end++) slashes += c == '/';
    return slashes ? end - at : 0;
}

/* "who@where.org", "git@where.org:team/code.git" */
static size_t take_mail(const struct place *place, size_t at) {
    enum { PERSON_MOST = 320 }; /* RFC 5321 allows 64 */
    size_t sign = at, end;
    for (char c; c = char_at(place, sign), is_word_char(c) || (c && strchr(".+-", c)); sign++) {
        if (sign - at == PERSON_MOST) return 0;
    }
    if (sign == at || char_at(place, sign) != '@') return 0;
    for (end = sign + 1; is_word_char(char_at(place, end)) || char_at(place, end) == '-' ||
                         (char_at(place, end) == '.' && is_word_char(char_at(place, end + 1)));)
        end++;
    if (end == sign + 1) return 0;
    put_pseudonym(place->redactor, place->text.at + at, end - at, place->out);
    size_t repository = repository_at(place, end);
    if (repository) {
        ids_buffer_byte(place->out, ':');
        put_pseudonym(place->redactor, place->text.at + end + 1, repository - 1, place->out);
    }
    return end + repository - at;
}

/* "sk-...", "ghp_...": keys that services give out begin so. With digits, because names of functions may begin so
 * too. */
static size_t take_key(const struct place *place, size_t at) {
    static const char *const begins[] = {"sk-",   "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xoxb-",
                                         "xoxp-", "AKIA", "ASIA", "hf_",  "AIza",        "eyJ",    "ya29."};
    enum { SECRET_LEAST = 14 };
    struct ids_text rest = {place->text.at + at, place->text.length - (uint32_t)at};
    if (at && place->text.at[at - 1] == '-') return 0; /* the begin of the run was looked at */
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        if (!ids_text_begins(rest, begins[i])) continue;
        size_t from = at + strlen(begins[i]), end = from, digits = 0;
        for (char c; c = char_at(place, end), is_word_char(c) || (c && strchr("-.", c)); end++) {
            digits += (size_t)is_digit(char_at(place, end));
        }
        if (end - from < SECRET_LEAST || !digits) return 0;
        put_pseudonym(place->redactor, rest.at, end - at, place->out);
        return end - at;
    }
    return 0;
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
    enum { DOMAIN_MOST = 253 };
    size_t end = at;
    while (is_word_char(char_at(place, end)) || char_at(place, end) == '-' ||
           (char_at(place, end) == '.' && is_word_char(char_at(place, end + 1)))) {
        if (++end - at > DOMAIN_MOST) return 0;
    }
    struct ids_text name = {place->text.at + at, (uint32_t)(end - at)};
    if (char_at(place, end) == '(' || !ids_is_domain(name)) return 0;
    put_pseudonym(place->redactor, name.at, name.length, place->out);
    return end - at;
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
    size_t length = ids_path_at(place->text, at, place->kind == IDS_REDACT_VALUE, place->no_file_before);
    if (length) length = up_to_quote(place, at, length);
    if (length) ids_redact_path(place->redactor, (struct ids_text){place->text.at + at, (uint32_t)length}, place->out);
    return length;
}

/* ---- names that were learned ---- */

/* Whether a word may begin or end between these two: where letters do, and at a hump, "load" of "loadData". */
static int is_word_edge(char before, char after) {
    if (is_digit(before) && is_digit(after)) return 0;
    int is_hump = lower(after) != after && lower(before) == before;
    return !ids_is_letter(before) || !ids_is_letter(after) || is_hump;
}

static int is_bounded(const struct place *place, size_t at, size_t end) {
    int begins = !at || is_word_edge(char_at(place, at - 1), char_at(place, at));
    return begins && (end >= place->text.length || is_word_edge(char_at(place, end - 1), char_at(place, end)));
}

static size_t learned_at(const struct place *place, size_t at) {
    struct ids_text rest = {place->text.at + at, (uint32_t)(place->text.length - at)};
    return ids_learned_at(place->redactor, rest);
}

/* Letters from `at` to the end of a longer word in which a learned name is hidden: as a whole, for what is left of it
 * would give the name away. Short names are in words of every kind. */
static size_t word_around_learned(const struct place *place, size_t at) {
    enum { HIDDEN_LEAST = 5 };
    size_t end = at, most = 0;
    if (at && ids_is_letter(char_at(place, at - 1))) return 0;
    while (ids_is_letter(char_at(place, end))) end++;
    for (size_t i = at; i < end; i++) {
        size_t length = learned_at(place, i);
        if (length >= HIDDEN_LEAST && !is_bounded(place, i, i + length) && i + length > most) most = i + length;
    }
    if (!most || ids_words_are_public((struct ids_text){place->text.at + at, (uint32_t)(end - at)})) return 0;
    return (most > end ? most : end) - at;
}

/* A name of four letters is many a word's part, and one of three many a word: the one is looked for between what no
 * identifier has, the other only in paths. */
static int is_name_here(const struct place *place, size_t at, size_t length) {
    enum { ALONE_LEAST = 4, BOUNDED_LEAST = 5 };
    if (length >= BOUNDED_LEAST) return is_bounded(place, at, at + length);
    return length >= ALONE_LEAST && !is_word_char(at ? char_at(place, at - 1) : ' ') &&
           !is_word_char(char_at(place, at + length));
}

/* Where each word that is not public is taken out, no word is taken together with what is beside it: it would have
 * another pseudonym in a profile of the same program that somebody else recorded. */
static int takes_words(const struct place *place) {
    return place->redactor->names && place->kind != IDS_REDACT_TEXT && place->kind != IDS_REDACT_SAID;
}

static size_t take_learned(const struct place *place, size_t at) {
    size_t length = learned_at(place, at);
    if (!length || !is_name_here(place, at, length)) length = takes_words(place) ? 0 : word_around_learned(place, at);
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
    if (!takes_words(place)) return 0;
    put_pseudonym(place->redactor, word.at, word.length, place->out);
    return word.length;
}

/* ---- texts ---- */

/* Those behind the first `OF_ARGUMENTS` hold in sentences of idsprof too. */
static size_t take(const struct place *place, size_t at) {
    static size_t (*const forms[])(const struct place *, size_t) = {take_option,         take_setting, take_credential,
                                                                    take_address_of_web, take_key,     take_mail,
                                                                    take_path,           take_address, take_domain};
    enum { OF_ARGUMENTS = 3 };
    char before = at ? place->text.at[at - 1] : ' ';
    size_t taken = 0;
    int begins = !is_word_char(before) && before != '/' && before != ')' && before != '.';
    for (size_t i = place->kind == IDS_REDACT_SAID ? OF_ARGUMENTS : 0;
         begins && i < sizeof forms / sizeof *forms && !taken; i++)
        taken = forms[i](place, at);
    if (!taken && before == '/') taken = take_mail(place, at);
    if (!taken) taken = take_learned(place, at);
    int begins_word = ids_is_letter(place->text.at[at]) && (!at || !ids_is_letter(before) || place->redactor->names);
    return !taken && begins_word ? take_word(place, at) : taken;
}

static void redact_text(const struct place *place, size_t at, size_t end) {
    size_t no_file_before = 0;
    struct place part = *place;
    part.no_file_before = &no_file_before;
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

/* A file, and the line and column in it: "a.py:12", "a.py:12:5". */
static void redact_source(const struct place *place) {
    uint32_t end = place->text.length, file = end;
    while (end) {
        while (end && is_digit(place->text.at[end - 1])) end--;
        if (!end || end == file || place->text.at[end - 1] != ':') break;
        file = --end;
    }
    ids_redact_path(place->redactor, (struct ids_text){place->text.at, file}, place->out);
    ids_buffer_put(place->out, place->text.at + file, place->text.length - file);
}

/* A stat may be a list: frames of a stack stand behind ";" (Kineto) or in lines (XLA). */
static void redact_values(const struct place *place) {
    for (size_t at = 0; at <= place->text.length; at++) {
        struct place value = *place;
        size_t end = until(place, at, ";\n"), no_file_before = 0;
        value.text = (struct ids_text){place->text.at + at, (uint32_t)(end - at)};
        if (at) ids_buffer_byte(place->out, place->text.at[at - 1]);
        at = end;
        if (!value.text.length || redact_frame(&value)) continue;
        if (ids_path_at(value.text, 0, 1, &no_file_before) == value.text.length)
            redact_source(&value);
        else
            redact_text(&value, 0, value.text.length);
    }
}

static int has_letters(struct ids_text text) {
    for (uint32_t i = 0; i < text.length; i++) {
        if (ids_is_letter(text.at[i])) return 1;
    }
    return 0;
}

/* "1", "-0.5", "1e-05", "True", "Float": what a list of arguments may tell. */
static int is_harmless_item(struct ids_text item) {
    uint32_t numeric = 0;
    while (numeric < item.length && (is_digit(item.at[numeric]) || strchr("+-.eE", item.at[numeric]))) numeric++;
    int is_number = numeric == item.length && !ids_is_letter(*item.at);
    return is_number || !has_letters(item) || (item.length > 2 && ids_words_are_public(item));
}

static void redact_list(const struct place *place) {
    static const char between[] = "[](),:\"'\\ \t\n";
    for (size_t at = 0, end; at < place->text.length; at = end) {
        end = at + 1;
        if (strchr(between, place->text.at[at])) {
            ids_buffer_byte(place->out, place->text.at[at]);
            continue;
        }
        end = until(place, at, between);
        struct ids_text item = {place->text.at + at, (uint32_t)(end - at)};
        if (is_harmless_item(item))
            ids_buffer_put(place->out, item.at, item.length);
        else
            put_pseudonym(place->redactor, item.at, item.length, place->out);
    }
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

/* How many bytes of a host's name are no part of it: ".begin" of a memory profile of a window's begin, ".1234" of a
 * process. */
static uint32_t behind_host(struct ids_text name) {
    static const char begin[] = ".begin";
    uint32_t end = name.length;
    if (end > sizeof begin - 1 && ids_text_ends(name, begin)) return sizeof begin - 1;
    while (end && is_digit(name.at[end - 1])) end--;
    int is_process = end > 1 && end < name.length && name.at[end - 1] == '.';
    for (uint32_t i = 0; i + 1 < end; i++) is_process |= ids_is_letter(name.at[i]) ? 2 : 0;
    return is_process == 3 ? name.length - end + 1 : 0;
}

static void redact_host(const struct place *place) {
    struct ids_text name = place->text;
    name.length -= behind_host(name);
    ids_redactor_learn(place->redactor, name);
    put_pseudonym(place->redactor, name.at, name.length, place->out);
    ids_buffer_put(place->out, name.at + name.length, place->text.length - name.length);
}

void ids_redact(struct ids_redactor *redactor, struct ids_text text, enum ids_redacted_kind kind,
                struct ids_buffer *out) {
    struct place place = {redactor, text, kind, out, NULL};
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
    case IDS_REDACT_VALUE:
        redact_values(&place);
        return;
    case IDS_REDACT_LIST:
        redact_list(&place);
        return;
    case IDS_REDACT_NAME:
        if (redact_frame(&place)) return;
        break;
    default:
        break;
    }
    redact_text(&place, 0, text.length);
}
