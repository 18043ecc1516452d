#include "lib/run/recording_names.h"

#include "lib/base/vec.h"
#include "lib/io/archive.h"
#include "lib/run/format_names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { PARTS_MOST = 24, WORDS_MOST = 24, KIND_BYTES = 32, PATH_BYTES = 4096, DIGITS_MOST = 5, STAMP_DIGITS = 6 };

struct word {
    const char *at;
    size_t length;
};

/* ---- words ---- */

static int word_is(struct word word, const char *text) {
    return strlen(text) == word.length && !strncasecmp(word.at, text, word.length);
}

static int is_one_of(struct word word, const char *const *texts) {
    for (; *texts; texts++) {
        if (word_is(word, *texts)) return 1;
    }
    return 0;
}

static int names_devices(struct word word) {
    static const char *const words[] = {"gpu",   "gpus",  "tpu",   "tpus",      "dev",   "devs",  "device", "devices",
                                        "chip",  "chips", "core",  "cores",     "card",  "cards", "gcd",    "gcds",
                                        "cpu",   "cpus",  "ngpu",  "ngpus",     "ndev",  "ndevs", "np",     "ndevices",
                                        "nproc", "procs", "world", "worldsize", "ranks", "ws",    NULL};
    return is_one_of(word, words);
}

/* Numbers of these say which recording of the same thing it is, or which part of it. */
static int names_repeat(struct word word) {
    static const char *const words[] = {"run",  "rep",   "repeat", "trial",  "iter",  "seed",    "try", "attempt",
                                        "take", "r",     "window", "host",   "node",  "pid",     "job", "id",
                                        "step", "steps", "rank",   "worker", "epoch", "process", NULL};
    return is_one_of(word, words);
}

static int says_nothing(struct word word) {
    static const char *const words[] = {
        "trace",  "traces",  "profile",     "profiles", "profiling", "log",     "logs", "plugins", "tb", "out",
        "output", "outputs", "result",      "results",  "global",    "tmp",     "data", "archive", "on", "with",
        "using",  "again",   "tensorboard", "retry",    "rerun",     "capture", "size", "world",   NULL};
    return is_one_of(word, words) || names_repeat(word) || ids_is_ending_word(word.at, word.length);
}

static size_t digits_of(struct word word) {
    size_t count = 0;
    while (count < word.length && isdigit((unsigned char)word.at[count])) count++;
    return count;
}

static int is_number(struct word word) {
    return word.length && digits_of(word) == word.length;
}

static double number_of(struct word word) {
    double number = 0;
    for (size_t i = 0; i < word.length; i++) number = number * 10 + (word.at[i] - '0');
    return number;
}

/* The letters around the one number of a word: "n" and "" of "n4"; 0 when there is none, or more than one. */
static int split(struct word word, struct word *ret_before, struct word *ret_number, struct word *ret_behind) {
    size_t from = 0;
    while (from < word.length && !isdigit((unsigned char)word.at[from])) from++;
    struct word rest = {word.at + from, word.length - from};
    size_t digits = digits_of(rest);
    *ret_before = (struct word){word.at, from};
    *ret_number = (struct word){rest.at, digits};
    *ret_behind = (struct word){rest.at + digits, rest.length - digits};
    for (size_t i = 0; i < ret_behind->length; i++) {
        if (isdigit((unsigned char)ret_behind->at[i])) return 0;
    }
    return digits > 0 && digits <= DIGITS_MOST;
}

/* "8xA100" are two words, and so are "A100x8"; "2x4" is one. */
static size_t times_at(struct word word) {
    size_t digits = digits_of(word), last = word.length;
    if (digits && digits + 1 < word.length && tolower((unsigned char)word.at[digits]) == 'x')
        return isdigit((unsigned char)word.at[digits + 1]) ? 0 : digits + 1;
    while (last && isdigit((unsigned char)word.at[last - 1])) last--;
    if (last < 2 || last == word.length || tolower((unsigned char)word.at[last - 1]) != 'x') return 0;
    return isdigit((unsigned char)word.at[last - 2]) ? last - 1 : 0;
}

static size_t split_part(struct word part, struct word words[WORDS_MOST]) {
    static const char between[] = "_-. =+,@()[]";
    size_t count = 0;
    while (part.length && count < WORDS_MOST) {
        size_t length = 0;
        while (length < part.length && !strchr(between, part.at[length])) length++;
        struct word word = {part.at, length};
        size_t times = length ? times_at(word) : 0;
        if (times && count + 1 < WORDS_MOST) {
            words[count++] = (struct word){word.at, times};
            word = (struct word){word.at + times, word.length - times};
        }
        if (length) words[count++] = word;
        length += length < part.length;
        part.at += length;
        part.length -= length;
    }
    return count;
}

/* How many words are a time: 20260102, 2026-01-02_15-30, 1700000000. */
static size_t stamp_words(const struct word *words, size_t count) {
    size_t used = 0;
    size_t digits = digits_of(words[0]);
    int is_year = digits == 4 && words[0].length == 4 && (words[0].at[0] == '1' || words[0].at[0] == '2');
    int is_date = is_year && count > 2 && digits_of(words[1]) == 2 && digits_of(words[2]) == 2;
    if (digits >= STAMP_DIGITS || is_date) {
        for (used = 1; used < count && digits_of(words[used]) >= 2 && isdigit((unsigned char)words[used].at[0]);) {
            struct word before, number, behind;
            int is_named = split(words[used], &before, &number, &behind) && names_devices(behind);
            int is_next = used + 1 < count && names_devices(words[used + 1]);
            if (is_named || is_next) break;
            used++;
        }
    }
    return used;
}

/* ---- paths ---- */

struct path {
    char text[PATH_BYTES];
    struct word parts[PARTS_MOST]; /* from the top */
    size_t count;
};

static int is_profile_folder(const struct path *path, size_t at) {
    return at + 1 < path->count && word_is(path->parts[at], "plugins") && word_is(path->parts[at + 1], "profile");
}

static void drop_ending(struct word *part) {
    for (const char *const *end = ids_archive_ends; *end; end++) {
        size_t n = strlen(*end);
        if (part->length > n && !strncmp(part->at + part->length - n, *end, n)) part->length -= n;
    }
    part->length = ids_length_without_format(part->at, part->length);
}

static void split_path(const char *text, struct path *path) {
    char here[PATH_BYTES / 2] = "";
    if (*text != '/' && !getcwd(here, sizeof here)) *here = '\0';
    snprintf(path->text, sizeof path->text, "%s/%s", here, text);
    path->count = 0;
    for (const char *at = path->text; *at; at += strspn(at, "/")) {
        struct word part = {at, strcspn(at, "/")};
        at += part.length;
        if (!part.length || word_is(part, ".")) continue;
        if (word_is(part, "..") && path->count) {
            path->count--;
        } else {
            if (path->count == PARTS_MOST) memmove(path->parts, path->parts + 1, --path->count * sizeof *path->parts);
            path->parts[path->count++] = part;
        }
    }
    if (path->count) drop_ending(&path->parts[path->count - 1]);
    for (size_t i = 0; i + 1 < path->count; i++) {
        if (is_profile_folder(path, i)) path->count = i;
    }
}

static int same_part(struct word a, struct word b) {
    return a.length == b.length && !memcmp(a.at, b.at, a.length);
}

/* ---- numbers that may be those of devices ---- */

struct number {
    size_t name, part, from, to; /* of whose path: the part of it, and the words */
    double value;
    int is_sure;           /* a word for devices stands beside it */
    char kind[KIND_BYTES]; /* "n#": what is around the number */
    double agreed;         /* share of the traces of this kind that have as many devices; -1: nothing tells */
};

struct reading {
    struct ids_recording_name *names;
    struct path *paths;
    size_t count, shared[2]; /* parts that all paths begin with: those without a label, and those with one */
    struct number *numbers;
    size_t number_count, number_room;
};

static size_t first_part(const struct reading *reading, size_t name) {
    size_t shared = reading->shared[reading->names[name].is_labelled], count = reading->paths[name].count;
    return reading->names[name].is_labelled && count && shared >= count ? count - 1 : shared;
}

static void find_shared(struct reading *reading, int is_labelled) {
    const struct path *first = NULL;
    size_t *shared = &reading->shared[is_labelled];
    for (size_t i = 0; i < reading->count; i++) {
        const struct path *path = &reading->paths[i];
        size_t same = 0;
        if (reading->names[i].is_folder || reading->names[i].is_labelled != is_labelled) continue;
        if (!first) {
            first = path;
            *shared = path->count;
        }
        while (same < *shared && same < path->count && same_part(first->parts[same], path->parts[same])) same++;
        *shared = same;
    }
}

static int add_number(struct reading *reading, struct number number, struct word before, struct word behind) {
    struct number *place = IDS_PUSH(reading->numbers, reading->number_count, reading->number_room);
    if (!place) return -1;
    *place = number;
    snprintf(place->kind, sizeof place->kind, "%.*s#%.*s", (int)before.length, before.at, (int)behind.length,
             behind.at);
    for (char *at = place->kind; *at; at++) *at = (char)tolower((unsigned char)*at);
    return 0;
}

/* 8 of "2x4"; 0 when it is something else. */
static double read_product(struct word word) {
    double product = 1;
    size_t factors = 0;
    for (;; factors++) {
        size_t digits = digits_of(word);
        if (!digits || digits > DIGITS_MOST) return 0;
        product *= number_of((struct word){word.at, digits});
        if (digits == word.length) break;
        if (tolower((unsigned char)word.at[digits]) != 'x') return 0;
        word = (struct word){word.at + digits + 1, word.length - digits - 1};
    }
    return factors ? product : 0;
}

/* The word at `at`, with its neighbours: "4gpu", "4 gpu", "gpus 4", "n4", "8". Returns how many words were used. */
static int read_number(struct reading *reading, struct number *number, const struct word *words, size_t count,
                       size_t at) {
    struct word before, digits, behind, none = {"", 0};
    number->value = read_product(words[at]);
    if (number->value > 0) return add_number(reading, *number, none, (struct word){"x#", 2});
    if (at + 1 < count && names_devices(words[at]) && is_number(words[at + 1]) && words[at + 1].length <= DIGITS_MOST &&
        !(at && is_number(words[at - 1]))) {
        number->to = at + 2;
        number->value = number_of(words[at + 1]);
        number->is_sure = 1;
        return number->value > 0 ? add_number(reading, *number, words[at], none) : 0;
    }
    if (!split(words[at], &before, &digits, &behind)) return 0;
    number->value = number_of(digits);
    if (is_number(words[at]) && at + 1 < count && names_devices(words[at + 1])) {
        number->to = at + 2;
        number->is_sure = 1;
        return number->value > 0 ? add_number(reading, *number, none, words[at + 1]) : 0;
    }
    number->is_sure = (names_devices(before) && !behind.length) || (names_devices(behind) && !before.length);
    if (number->value <= 0 || names_repeat(before) || (at && is_number(words[at]) && names_repeat(words[at - 1])))
        return 0;
    if (is_number(words[at]) && *words[at].at == '0') return 0;
    if (is_number(words[at]) && count > 1) before = (struct word){"_", 1};
    return add_number(reading, *number, before, behind);
}

static int read_part(struct reading *reading, size_t name, size_t part) {
    struct word words[WORDS_MOST];
    size_t count = split_part(reading->paths[name].parts[part], words);
    for (size_t at = 0; at < count;) {
        size_t stamp = stamp_words(words + at, count - at), before = reading->number_count;
        if (stamp) {
            at += stamp;
            continue;
        }
        struct number number = {.name = name, .part = part, .from = at, .to = at + 1};
        if (read_number(reading, &number, words, count, at)) return -1;
        at = reading->number_count > before ? reading->numbers[before].to : at + 1;
    }
    return 0;
}

static int is_usual(const char *kind) {
    static const char *const kinds[] = {"#",  "_#", "n#", "#n", "x#", "#x", "g#",  "#g",
                                        "d#", "#d", "p#", "#p", "w#", "#w", "#x#", NULL};
    struct word word = {kind, strlen(kind)};
    return is_one_of(word, kinds);
}

/* Numbers of a kind mean devices where most of the traces have as many. A number that never changes proves nothing,
 * unless it stands where people write it. */
static void hold_against_traces(struct reading *reading, struct number *number) {
    size_t all = 0, agreed = 0, values = 0;
    double first = 0;
    for (size_t i = 0; i < reading->number_count; i++) {
        const struct number *other = &reading->numbers[i];
        double recorded = reading->names[other->name].recorded;
        if (strcmp(other->kind, number->kind) != 0 || recorded <= 0) continue;
        all++;
        if (other->value != recorded) continue;
        agreed++;
        if (first == 0) first = recorded;
        if (!values || recorded != first) values = recorded == first ? 1 : 2;
    }
    number->agreed = !all ? -1 : (double)agreed / (double)all;
    if (values < 2 && !is_usual(number->kind)) number->agreed = 0;
}

static int is_better(const struct number *number, const struct number *than) {
    if (number->is_sure != than->is_sure) return number->is_sure;
    return number->agreed > than->agreed || (number->agreed == than->agreed && number->part > than->part);
}

/* The number that counts the devices of a recording; NULL: none does. */
static const struct number *find_devices(const struct reading *reading, size_t name) {
    const struct number *best = NULL;
    for (size_t i = 0; i < reading->number_count; i++) {
        const struct number *number = &reading->numbers[i];
        if (number->name != name || (!number->is_sure && number->agreed <= 0.5 && number->agreed >= 0)) continue;
        if (!number->is_sure && number->agreed < 0 && !is_usual(number->kind)) continue;
        if (!best || is_better(number, best)) best = number;
    }
    return best;
}

/* ---- methods ---- */

struct left {
    char parts[PARTS_MOST][80]; /* what no number, time or empty word took; "" nothing */
    size_t count;
};

static void put_word(char text[80], struct word word) {
    size_t length = strlen(text);
    snprintf(text + length, 80 - length, "%s%.*s", length ? "_" : "", (int)word.length, word.at);
}

/* "lcam" of "lcam4GPU": letters that no word for devices explains may be the method's. */
static void leave_letters(struct word word, char left[80]) {
    struct word before, number, behind;
    if (!split(word, &before, &number, &behind)) return;
    if (before.length && !names_devices(before)) put_word(left, before);
    if (behind.length && !names_devices(behind)) put_word(left, behind);
}

static void leave(const struct path *path, size_t part, const struct number *devices, char left[80]) {
    struct word words[WORDS_MOST];
    size_t count = split_part(path->parts[part], words);
    *left = '\0';
    if (count == 1 && is_number(words[0])) return; /* the number of a repeat */
    for (size_t at = 0; at < count;) {
        struct word before, number, behind;
        size_t stamp = stamp_words(words + at, count - at);
        if (stamp) {
            at += stamp;
        } else if (devices && devices->part == part && at >= devices->from && at < devices->to) {
            if (!devices->is_sure && !is_usual(devices->kind)) leave_letters(words[at], left);
            at = devices->to;
        } else if (names_repeat(words[at]) && at + 1 < count && is_number(words[at + 1])) {
            at += 2;
        } else {
            int is_repeat = split(words[at], &before, &number, &behind) && names_repeat(before) && !behind.length;
            if (!is_repeat && !says_nothing(words[at])) put_word(left, words[at]);
            at++;
        }
    }
}

static int has_part(const struct left *left, const char *text) {
    for (size_t i = 0; i < left->count; i++) {
        if (!strcmp(left->parts[i], text)) return 1;
    }
    return 0;
}

static int all_have(const struct reading *reading, const struct left *lefts, const char *text) {
    for (size_t i = 0; i < reading->count; i++) {
        const struct ids_recording_name *name = &reading->names[i];
        if (!name->is_folder && !name->is_labelled && !has_part(&lefts[i], text)) return 0;
    }
    return 1;
}

static void name_method(const struct reading *reading, const struct left *lefts, size_t name) {
    const struct left *left = &lefts[name];
    char *method = reading->names[name].method;
    *method = '\0';
    for (size_t i = 0; i < left->count; i++) {
        size_t length = strlen(method);
        if (!*left->parts[i] || all_have(reading, lefts, left->parts[i])) continue;
        snprintf(method + length, sizeof reading->names[name].method - length, "%s%s", length ? "/" : "",
                 left->parts[i]);
    }
}

/* ---- */

static int read_names(struct reading *reading) {
    struct left *lefts = calloc(reading->count, sizeof *lefts);
    if (!lefts) return -1;
    int failed = 0;
    for (size_t i = 0; i < reading->count; i++) split_path(reading->names[i].path, &reading->paths[i]);
    find_shared(reading, 0);
    find_shared(reading, 1);
    for (size_t i = 0; i < reading->count && !failed; i++) {
        for (size_t part = first_part(reading, i); part < reading->paths[i].count && !failed; part++)
            failed = read_part(reading, i, part);
    }
    for (size_t i = 0; i < reading->number_count; i++) hold_against_traces(reading, &reading->numbers[i]);
    for (size_t i = 0; i < reading->count; i++) {
        const struct number *devices = find_devices(reading, i);
        reading->names[i].devices = devices ? devices->value : 0;
        for (size_t part = first_part(reading, i); part < reading->paths[i].count; part++)
            leave(&reading->paths[i], part, devices, lefts[i].parts[lefts[i].count++]);
    }
    for (size_t i = 0; i < reading->count; i++) name_method(reading, lefts, i);
    free(lefts);
    return failed;
}

int ids_recording_names_read(struct ids_recording_name *names, size_t count, struct ids_error *err) {
    struct reading reading = {.names = names, .count = count};
    if (!count) return 0;
    reading.paths = calloc(count, sizeof *reading.paths);
    int failed = !reading.paths || read_names(&reading);
    free(reading.paths);
    free(reading.numbers);
    return failed ? ids_no_memory(err) : 0;
}
