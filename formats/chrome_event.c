#include "formats/chrome_event.h"

#include "lib/base/decimal.h"
#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PICOSECOND_PLACES = 6 }; /* of a microsecond */

static int is(const struct ids_json_span *span, const char *text, size_t length) {
    return span->length == length && !memcmp(span->at, text, length);
}

/* A place for one more member, which counts once `used` is raised: keys and values are read where they stay. NULL when
 * memory ran out. */
static inline struct ids_chrome_member *next_member(struct ids_chrome_parser *parser) {
    if (parser->used == parser->room) {
        struct ids_chrome_member *grown = ids_vec_grow(parser->members, &parser->room, sizeof *grown);
        if (!grown) return NULL;
        parser->members = grown;
    }
    return &parser->members[parser->used];
}

static inline void keep_member(struct ids_chrome_parser *parser, struct ids_chrome_event *event) {
    parser->used++;
    event->member_count++;
}

/* What the reader takes a key of an element for. */
enum place { OTHER, TS, DUR, PID, TID, NAME, PHASE, ARGS, CAT, ID, ID2 };

static void learn(struct ids_chrome_guess *guess, const char *start, const char *end, const struct ids_json_span *key,
                  enum place place, uint16_t mark) {
    size_t length = (size_t)(end - start), first = length < sizeof guess->words ? length : sizeof guess->words;
    guess->length = 0;
    if (length > sizeof guess->text || key->escaped) return;
    memset(guess->words, 0, sizeof guess->words);
    memset(guess->masks, 0, sizeof guess->masks);
    memcpy(guess->words, start, first);
    memset(guess->masks, 0xff, first);
    memcpy(guess->text, start, length);
    guess->length = (uint8_t)length;
    guess->key_at = (uint8_t)(key->at - start);
    guess->key_length = (uint8_t)key->length;
    guess->place = (uint8_t)place;
    guess->mark = mark;
}

/* The scan stands where the guess stood, between the same neighbours, so the same bytes mean the same event. */
static inline int holds(const struct ids_chrome_guess *guess, const struct ids_json_scan *scan) {
    uint64_t words[2];
    if (!guess->length || (size_t)(scan->end - scan->at) < sizeof guess->text) return 0;
    memcpy(words, scan->at, sizeof words);
    if ((words[0] & guess->masks[0]) != guess->words[0] || (words[1] & guess->masks[1]) != guess->words[1]) return 0;
    return guess->length <= sizeof words ||
           !memcmp(scan->at + sizeof words, guess->text + sizeof words, guess->length - sizeof words);
}

static enum place place_of(const struct ids_json_span *key) {
    switch (key->length) {
    case 2:
        return is(key, "ts", 2) ? TS : is(key, "ph", 2) ? PHASE : is(key, "id", 2) ? ID : OTHER;
    case 3:
        return is(key, "dur", 3)   ? DUR
               : is(key, "pid", 3) ? PID
               : is(key, "tid", 3) ? TID
               : is(key, "cat", 3) ? CAT
               : is(key, "id2", 3) ? ID2
                                   : OTHER;
    case 4:
        return is(key, "name", 4) ? NAME : is(key, "args", 4) ? ARGS : OTHER;
    default:
        return OTHER;
    }
}

/* What holds at the `number`-th key of an object, else what may be forgotten for this key; NULL for keys that are
 * not remembered. */
static struct ids_chrome_guess *guess_at(struct ids_chrome_guesses *places, size_t number,
                                         const struct ids_json_scan *scan, int *ret_holds) {
    *ret_holds = 0;
    if (number >= IDS_CHROME_GUESSES) return NULL;
    struct ids_chrome_guesses *guesses = &places[number];
    for (int i = 0; i < IDS_CHROME_KINDS; i++) {
        *ret_holds = holds(&guesses->of[guesses->last], scan);
        if (*ret_holds) break;
        guesses->last = (uint8_t)((guesses->last + 1) % IDS_CHROME_KINDS);
    }
    if (!*ret_holds) guesses->last = (uint8_t)((guesses->last + 1) % IDS_CHROME_KINDS);
    return &guesses->of[guesses->last];
}

static inline enum ids_json_result take_guessed(struct ids_json_scan *scan, const struct ids_chrome_guess *guess,
                                                struct ids_json_span *ret_key, enum place *ret_place) {
    *ret_key = (struct ids_json_span){scan->at + guess->key_at, guess->key_length, IDS_JSON_STRING, 0, guess->mark};
    *ret_place = (enum place)guess->place;
    scan->at += guess->length;
    return IDS_JSON_OK;
}

static enum ids_json_result find_key(struct ids_json_scan *scan, struct ids_chrome_guesses *places, size_t number,
                                     uint16_t *marks, struct ids_json_span *ret_key, enum place *ret_place) {
    int is_held;
    struct ids_chrome_guess *guess = guess_at(places, number, scan, &is_held);
    if (is_held) return take_guessed(scan, guess, ret_key, ret_place);
    const char *start = scan->at;
    int first = number == 0;
    enum ids_json_result result = ids_json_member(scan, &first, ret_key);
    if (result != IDS_JSON_OK) return result;
    *ret_place = place_of(ret_key);
    if (!guess) return IDS_JSON_OK;
    const uint16_t mark = *marks < UINT16_MAX ? ++*marks : 0;
    learn(guess, start, scan->at, ret_key, *ret_place, mark);
    return IDS_JSON_OK;
}

/* The next key of an object, the `number`-th of it; mostly it is that of the element before. */
static inline enum ids_json_result next_key(struct ids_json_scan *scan, struct ids_chrome_guesses *places,
                                            size_t number, uint16_t *marks, struct ids_json_span *ret_key,
                                            enum place *ret_place) {
    if (scan->at < scan->end && *scan->at == '}') {
        scan->at++;
        return IDS_JSON_END;
    }
    if (number < IDS_CHROME_GUESSES) {
        const struct ids_chrome_guess *guess = &places[number].of[places[number].last];
        if (holds(guess, scan)) return take_guessed(scan, guess, ret_key, ret_place);
    }
    return find_key(scan, places, number, marks, ret_key, ret_place);
}

/* The members of `args`. */
static enum ids_json_result read_args(struct ids_json_scan *scan, struct ids_chrome_parser *parser,
                                      struct ids_chrome_event *event, int *ret_no_memory) {
    if (event->args_count) { /* `args` twice: the last one counts, as for every member */
        struct ids_chrome_member *args = parser->members + (parser->used - event->member_count) + event->args_at;
        const uint32_t behind = event->member_count - event->args_at - event->args_count;
        memmove(args, args + event->args_count, behind * sizeof *args);
        event->member_count -= event->args_count;
        parser->used -= event->args_count;
    }
    event->args_at = event->member_count;
    scan->at++;
    for (;;) {
        enum place unused;
        struct ids_chrome_member *member = next_member(parser);
        event->args_count = event->member_count - event->args_at;
        *ret_no_memory = !member;
        if (!member) return IDS_JSON_BAD;
        enum ids_json_result result =
            next_key(scan, parser->arg_keys, event->args_count, &parser->marks, &member->key, &unused);
        if (result == IDS_JSON_END) return IDS_JSON_OK;
        if (result == IDS_JSON_OK) result = ids_json_value(scan, &member->value);
        if (result != IDS_JSON_OK) return result;
        keep_member(parser, event);
    }
}

/* Behind the key of `member`, which is the next one of the event and becomes one if the reader does not understand
 * it. */
static enum ids_json_result read_member(struct ids_json_scan *scan, enum place place, struct ids_chrome_member *member,
                                        struct ids_chrome_parser *parser, struct ids_chrome_event *event,
                                        int *ret_no_memory) {
    enum ids_json_result result;
    switch (place) {
    case TS:
        return ids_json_value(scan, &event->ts);
    case DUR:
        return ids_json_value(scan, &event->dur);
    case PID:
        return ids_json_value(scan, &event->pid);
    case TID:
        return ids_json_value(scan, &event->tid);
    case NAME:
        return ids_json_value(scan, &event->name);
    case ARGS:
        result = ids_json_space(scan);
        if (result != IDS_JSON_OK) return result;
        if (*scan->at == '{') return read_args(scan, parser, event, ret_no_memory);
        break;
    default:
        break;
    }
    const struct ids_json_span *value = &member->value;
    result = ids_json_value(scan, &member->value);
    if (result != IDS_JSON_OK) return result;
    if (place == PHASE) {
        event->phase = value->type == IDS_JSON_STRING && value->length == 1 ? *value->at : '?';
        return IDS_JSON_OK;
    }
    if (place == CAT) event->cat = *value;
    if (place == ID || (place == ID2 && event->id.type == IDS_JSON_NONE)) event->id = *value;
    keep_member(parser, event);
    return IDS_JSON_OK;
}

enum ids_json_result ids_chrome_event_read(struct ids_json_scan *scan, struct ids_chrome_parser *parser,
                                           struct ids_chrome_event *event, int *ret_no_memory) {
    const char *start = scan->at;
    const size_t first = parser->used;
    *event = (struct ids_chrome_event){0};
    *ret_no_memory = 0;
    scan->at++;
    for (size_t number = 0;; number++) {
        enum place place;
        struct ids_chrome_member *member = next_member(parser);
        *ret_no_memory = !member;
        enum ids_json_result result = member ? IDS_JSON_OK : IDS_JSON_BAD;
        if (result == IDS_JSON_OK) result = next_key(scan, parser->keys, number, &parser->marks, &member->key, &place);
        if (result == IDS_JSON_OK) result = read_member(scan, place, member, parser, event, ret_no_memory);
        if (result == IDS_JSON_OK) continue;
        if (result == IDS_JSON_MORE) scan->at = start;
        if (result != IDS_JSON_END) parser->used = first;
        event->members = parser->members + first;
        return result == IDS_JSON_END ? IDS_JSON_OK : result;
    }
}

void ids_chrome_parser_done(struct ids_chrome_parser *parser) {
    free(parser->members);
    *parser = (struct ids_chrome_parser){0};
}

int ids_chrome_has_arg(const struct ids_chrome_event *event, const char *key) {
    for (size_t i = 0; i < event->args_count; i++) {
        const struct ids_json_span *span = &event->members[event->args_at + i].key;
        if (span->length == strlen(key) && !strncasecmp(span->at, key, span->length)) return 1;
    }
    return 0;
}

int ids_chrome_integer(const struct ids_json_span *span, int64_t *ret_value) {
    return (span->type == IDS_JSON_NUMBER || span->type == IDS_JSON_STRING) &&
           ids_decimal_integer(span->at, span->length, ret_value) == 1;
}

int ids_chrome_time(const struct ids_json_span *span, __int128 *ret_ps) {
    return (span->type == IDS_JSON_NUMBER || span->type == IDS_JSON_STRING) &&
           !ids_decimal_scaled(span->at, span->length, PICOSECOND_PLACES, ret_ps);
}

int ids_chrome_scratch_reset(struct ids_chrome_scratch *scratch, size_t length) {
    scratch->used = 0;
    scratch->broken = NULL;
    if (length <= scratch->room) return 0;
    char *at = realloc(scratch->at, length + length / 2);
    if (!at) return -1;
    scratch->at = at;
    scratch->room = length + length / 2;
    return 0;
}

struct ids_text ids_chrome_text(struct ids_chrome_scratch *scratch, const struct ids_json_span *span) {
    int nested = span->type == IDS_JSON_OBJECT || span->type == IDS_JSON_ARRAY;
    if (!nested && !span->escaped) return (struct ids_text){span->at, (uint32_t)span->length};
    char *to = scratch->at + scratch->used;
    size_t length = nested ? ids_json_minify(span, to, &scratch->broken) : ids_json_unescape(span, to);
    scratch->used += length;
    return (struct ids_text){to, (uint32_t)length};
}

struct ids_text ids_chrome_category(struct ids_chrome_scratch *scratch, const struct ids_chrome_event *event) {
    return event->cat.type == IDS_JSON_STRING ? ids_chrome_text(scratch, &event->cat) : (struct ids_text){"", 0};
}

void ids_chrome_value(struct ids_chrome_scratch *scratch, const struct ids_json_span *span, struct ids_arg *ret_arg) {
    if (span->type == IDS_JSON_NULL || span->type == IDS_JSON_NONE) {
        ret_arg->type = IDS_VALUE_NONE;
        return;
    }
    if (span->type == IDS_JSON_NUMBER) {
        int integer = ids_decimal_integer(span->at, span->length, &ret_arg->i);
        if (integer) {
            ret_arg->type = integer == 1 ? IDS_VALUE_INT : IDS_VALUE_UINT;
            return;
        }
        if (!ids_decimal_real(span->at, span->length, &ret_arg->d)) {
            ret_arg->type = IDS_VALUE_REAL;
            return;
        }
    }
    struct ids_text text = ids_chrome_text(scratch, span);
    ret_arg->type = IDS_VALUE_CHARS;
    ret_arg->chars = text.at;
    ret_arg->length = text.length;
}
