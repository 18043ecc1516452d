#include "lib/wire/json_scan.h"

#include "lib/wire/utf8.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

static enum ids_json_result bad(struct ids_json_scan *scan, const char *at, const char *why) {
    scan->at = at;
    scan->why = why;
    return IDS_JSON_BAD;
}

static void note_broken(const char **broken, const char *at) {
    if (!*broken) *broken = at;
}

static int is_control(char c) {
    return (unsigned char)c < ' ';
}

/* The first quote, backslash or control character, or `end`. */
static inline const char *find_special(const char *at, const char *end) {
#ifdef __SSE2__
    const __m128i control = _mm_set1_epi8(' ' - 1);
    for (; end - at >= 16; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        __m128i hits =
            _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
        int mask = _mm_movemask_epi8(_mm_or_si128(hits, _mm_cmpeq_epi8(_mm_min_epu8(bytes, control), bytes)));
        if (mask) return at + __builtin_ctz((unsigned)mask);
    }
#endif
    while (at < end && *at != '"' && *at != '\\' && !is_control(*at)) at++;
    return at;
}

const char *ids_json_find(const char *at, const char *end, const char text[4]) {
#ifdef __SSE2__
    for (; end - at >= 19; at += 16) {
        __m128i hits = _mm_set1_epi8(-1);
        for (int i = 0; i < 4; i++)
            hits = _mm_and_si128(
                hits, _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)(at + i)), _mm_set1_epi8(text[i])));
        int mask = _mm_movemask_epi8(hits);
        if (mask) return at + __builtin_ctz((unsigned)mask);
    }
#endif
    for (; end - at >= 4; at++) {
        if (!memcmp(at, text, 4)) return at;
    }
    return NULL;
}

static int is_space(char c) {
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

enum ids_json_result ids_json_space(struct ids_json_scan *scan) {
    if (scan->at < scan->end && (unsigned char)*scan->at > ' ') return IDS_JSON_OK; /* mostly there is none */
    while (scan->at < scan->end && is_space(*scan->at)) scan->at++;
    return scan->at < scan->end ? IDS_JSON_OK : IDS_JSON_MORE;
}

/* Behind a quote: does a watched word stand there? */
static void notice(struct ids_json_skip *skip, const char *string, const char *end) {
    for (int i = 0; i < skip->watched->count; i++) {
        const char *word = skip->watched->words[i], *at = string;
        while (*word && at < end && *at == *word) at++, word++;
        if (*word) continue;
        if (skip->seen >> i & 1)
            skip->again |= 1u << i;
        else
            skip->place[i] = at;
        skip->seen |= 1u << i;
    }
}

/* Counts a bracket. IDS_JSON_OK: it closes the value; IDS_JSON_BAD: it is not of the kind that was opened. */
static enum ids_json_result bracket(struct ids_json_skip *skip, char c) {
    uint64_t is_brace = (c & 0x20) != 0; /* [ and ] have that bit clear, { and } set */
    if ((c | 0x20) == '{') {
        skip->kinds = skip->kinds << 1 | is_brace;
        skip->deep |= ++skip->depth > 64;
        return IDS_JSON_MORE;
    }
    if (!skip->deep && (skip->kinds & 1) != is_brace) {
        skip->wrong = 1;
        return IDS_JSON_BAD;
    }
    skip->kinds >>= 1;
    return --skip->depth ? IDS_JSON_MORE : IDS_JSON_OK;
}

#ifdef __SSE2__
static void load(const char *at, __m128i ret_bytes[4]) {
    for (size_t i = 0; i < 4; i++) ret_bytes[i] = _mm_loadu_si128((const __m128i *)(const void *)(at + 16 * i));
}

/* Sets those bytes of `hits` where the 64 are the character. */
static void find(const __m128i bytes[4], char character, __m128i hits[4]) {
    for (size_t i = 0; i < 4; i++) hits[i] = _mm_or_si128(hits[i], _mm_cmpeq_epi8(bytes[i], _mm_set1_epi8(character)));
}

/* Bit i: byte i of the 64 is a hit. */
static uint64_t mask_of(const __m128i hits[4]) {
    uint64_t mask = 0;
    for (int i = 0; i < 4; i++) mask |= (uint64_t)(uint32_t)_mm_movemask_epi8(hits[i]) << (16 * i);
    return mask;
}

static uint64_t where(const __m128i bytes[4], char character) {
    __m128i hits[4] = {0};
    find(bytes, character, hits);
    return mask_of(hits);
}

static int has(const __m128i bytes[4], char character) {
    __m128i hits[4] = {0};
    find(bytes, character, hits);
    return _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(hits[0], hits[1]), _mm_or_si128(hits[2], hits[3]))) != 0;
}

/* [ and { differ in one bit, and so do ] and }. */
static uint64_t brackets(const __m128i bytes[4]) {
    __m128i folded[4], hits[4] = {0};
    for (size_t i = 0; i < 4; i++) folded[i] = _mm_or_si128(bytes[i], _mm_set1_epi8(0x20));
    find(folded, '{', hits);
    find(folded, '}', hits);
    return mask_of(hits);
}

/* Bit i: byte i of the 64 begins a watched word. */
static uint64_t like_watched(const struct ids_json_words *watched, const char *at) {
    __m128i bytes[4], hits[4] = {0};
    load(at, bytes);
    for (const char *first = watched->firsts; *first; first++) find(bytes, *first, hits);
    return mask_of(hits);
}

/* Skips whole blocks of 64 bytes while they hold no backslash: strings are what lies between quotes, so that an
 * exclusive or over all quotes before a byte tells whether it is in one, and only brackets outside of strings are
 * counted. Returns where it stopped: at the end of a block, or behind the bracket that closes the value (depth is 0
 * then) or is wrong. */
static const char *skip_blocks(struct ids_json_skip *skip, const char *at, const char *end) {
    for (; end - at > 64; at += 64) {
        __m128i bytes[4];
        load(at, bytes);
        if (has(bytes, '\\')) return at;
        uint64_t quotes = where(bytes, '"'), inside = quotes;
        for (int shift = 1; shift < 64; shift *= 2) inside ^= inside << shift;
        if (skip->in_string) inside = ~inside;
        const char *stop = NULL;
        for (uint64_t rest = brackets(bytes) & ~inside; rest && !stop; rest &= rest - 1) {
            const char *place = at + __builtin_ctzll(rest);
            if (bracket(skip, *place) != IDS_JSON_MORE) stop = place + 1;
        }
        uint64_t starts = quotes & inside;
        if (stop) starts &= ((uint64_t)1 << (stop - 1 - at)) - 1;
        uint64_t like = skip->watched ? starts & like_watched(skip->watched, at + 1) : 0;
        for (; like; like &= like - 1) notice(skip, at + __builtin_ctzll(like) + 1, end);
        if (stop) return stop;
        skip->in_string = inside >> 63 != 0;
    }
    return at;
}
#endif

/* The same byte by byte, up to `end`. */
static enum ids_json_result skip_bytes(struct ids_json_skip *skip, const char **at, const char *end,
                                       const char *window_end) {
    while (*at < end) {
        char c = *(*at)++;
        if (skip->escape) {
            skip->escape = 0;
        } else if (skip->in_string) {
            skip->escape = c == '\\';
            skip->in_string = c != '"';
        } else if (c == '"') {
            skip->in_string = 1;
            if (skip->watched) notice(skip, *at, window_end);
        } else if ((c | 0x20) == '{' || (c | 0x20) == '}') {
            enum ids_json_result result = bracket(skip, c);
            if (result != IDS_JSON_MORE) return result;
        }
    }
    return IDS_JSON_MORE;
}

enum ids_json_result ids_json_skip(struct ids_json_scan *scan, struct ids_json_skip *skip) {
    const char *at = scan->at, *end = scan->end;
    enum ids_json_result result = IDS_JSON_MORE;
    while (at < end && result == IDS_JSON_MORE) {
#ifdef __SSE2__
        if (!skip->escape) {
            const char *before = at;
            at = skip_blocks(skip, at, end);
            result = skip->wrong ? IDS_JSON_BAD : at > before && !skip->depth ? IDS_JSON_OK : IDS_JSON_MORE;
        }
        if (result != IDS_JSON_MORE) break;
#endif
        result = skip_bytes(skip, &at, end - at > 64 ? at + 64 : end, end);
    }
    if (result == IDS_JSON_BAD) return bad(scan, at - 1, "a closing bracket of the other kind");
    scan->at = at;
    return result;
}

static int is_digit(char c) {
    return c >= '0' && c <= '9';
}

static int is_hex(char c) {
    return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* Whether the escape whose backslash is at `at` is one of JSON's. */
static int is_escape(const char *at, const char *end) {
    if (end - at < 2) return 0;
    if (at[1] != 'u') return at[1] && strchr("\"\\/bfnrt", at[1]) != NULL;
    return end - at >= 6 && is_hex(at[2]) && is_hex(at[3]) && is_hex(at[4]) && is_hex(at[5]);
}

/* Behind the string whose first character is at `at`, or NULL where it does not end before `end`. */
static const char *string_end(const char *at, const char *end, int *ret_escaped, const char **broken) {
    for (*ret_escaped = 0;;) {
        at = find_special(at, end);
        if (at == end) return NULL;
        if (*at == '"') return at + 1;
        if (*at != '\\') {
            note_broken(broken, at++);
            continue;
        }
        if (end - at < 2) return NULL;
        if (!is_escape(at, end)) note_broken(broken, at);
        *ret_escaped = 1;
        at += 2;
    }
}

static enum ids_json_result string_value(struct ids_json_scan *scan, struct ids_json_span *ret_value) {
    const char *start = scan->at + 1, *broken = NULL, *end = find_special(start, scan->end);
    int escaped = 0;
    if (end < scan->end && *end == '"') { /* nearly every one */
        *ret_value = (struct ids_json_span){start, (uint32_t)(end - start), IDS_JSON_STRING, 0, 0};
        scan->at = end + 1;
        return IDS_JSON_OK;
    }
    end = string_end(start, scan->end, &escaped, &broken);
    if (!end) return IDS_JSON_MORE;
    if (broken) note_broken(&scan->broken, broken);
    *ret_value = (struct ids_json_span){start, (uint32_t)(end - 1 - start), IDS_JSON_STRING, (uint8_t)escaped, 0};
    scan->at = end;
    return IDS_JSON_OK;
}

static inline const char *digits_end(const char *at, const char *end) {
#ifdef __SSE2__
    for (; end - at >= 16; at += 16) {
        __m128i values = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)(const void *)at), _mm_set1_epi8('0'));
        int digits = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(values, _mm_set1_epi8(9)), values));
        if (digits != 0xffff) return at + __builtin_ctz(~(unsigned)digits);
    }
#endif
    while (at < end && is_digit(*at)) at++;
    return at;
}

static int is_of_number(char c) {
    return is_digit(c) || c == '.' || c == '-' || c == '+' || (c | 0x20) == 'e';
}

/* Behind the characters that a number may have; *ret_right is 0 where they are in no order that makes one. */
static inline const char *number_end(const char *at, const char *end, int *ret_right) {
    if (at < end && *at == '-') at++;
    const char *start = at;
    at = digits_end(at, end);
    *ret_right = at > start && (*start != '0' || at == start + 1);
    if (at < end && *at == '.') {
        start = ++at;
        at = digits_end(at, end);
        *ret_right &= at > start;
    }
    if (at == end || !is_of_number(*at)) return at;
    if ((*at | 0x20) == 'e') {
        at++;
        if (at < end && (*at == '+' || *at == '-')) at++;
        start = at;
        at = digits_end(at, end);
        *ret_right &= at > start;
    }
    if (at < end && is_of_number(*at)) *ret_right = 0;
    while (at < end && is_of_number(*at)) at++;
    return at;
}

static enum ids_json_result number_value(struct ids_json_scan *scan, struct ids_json_span *ret_value) {
    int right;
    const char *at = number_end(scan->at, scan->end, &right);
    if (at == scan->end && !scan->whole) return IDS_JSON_MORE;
    if (!right) note_broken(&scan->broken, scan->at);
    *ret_value = (struct ids_json_span){scan->at, (uint32_t)(at - scan->at), IDS_JSON_NUMBER, 0, 0};
    scan->at = at;
    return IDS_JSON_OK;
}

/* true, false, null; and what writers put where JSON has no word: Python NaN and Infinity, C++ nan and inf (Kineto's
 * bandwidths). */
static enum ids_json_result word_value(struct ids_json_scan *scan, struct ids_json_span *ret_value) {
    static const struct {
        const char *word;
        uint8_t type;
        uint8_t foreign;
    } words[] = {{"true", IDS_JSON_TRUE, 0}, {"false", IDS_JSON_FALSE, 0},   {"null", IDS_JSON_NULL, 0},
                 {"NaN", IDS_JSON_NULL, 1},  {"Infinity", IDS_JSON_NULL, 1}, {"-Infinity", IDS_JSON_NULL, 1},
                 {"nan", IDS_JSON_NULL, 1},  {"inf", IDS_JSON_NULL, 1},      {"-nan", IDS_JSON_NULL, 1},
                 {"-inf", IDS_JSON_NULL, 1}};
    size_t left = (size_t)(scan->end - scan->at);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i].word), compared = left < length ? left : length;
        if (memcmp(scan->at, words[i].word, compared) != 0) continue;
        if (compared < length) return scan->whole ? bad(scan, scan->at, "a value") : IDS_JSON_MORE;
        if (words[i].foreign) note_broken(&scan->broken, scan->at);
        *ret_value = (struct ids_json_span){scan->at, (uint32_t)length, words[i].type, 0, 0};
        scan->at += length;
        return IDS_JSON_OK;
    }
    return bad(scan, scan->at, "a value");
}

__attribute__((noinline)) static enum ids_json_result any_value(struct ids_json_scan *scan,
                                                                struct ids_json_span *ret_value) {
    const char *start = scan->at;
    enum ids_json_result result = ids_json_space(scan);
    if (result != IDS_JSON_OK) {
        scan->at = start;
        return result;
    }
    const char c = *scan->at;
    if (c == '"') {
        result = string_value(scan, ret_value);
    } else if ((c >= '0' && c <= '9') || (c == '-' && (scan->end - scan->at < 2 || !strchr("Iin", scan->at[1])))) {
        result = number_value(scan, ret_value);
    } else if (c == '{' || c == '[') {
        struct ids_json_skip skip = {0};
        const char *value = scan->at;
        result = ids_json_skip(scan, &skip);
        if (result == IDS_JSON_OK) {
            *ret_value = (struct ids_json_span){value, (uint32_t)(scan->at - value),
                                                c == '{' ? IDS_JSON_OBJECT : IDS_JSON_ARRAY, 0, 0};
        }
    } else {
        result = word_value(scan, ret_value);
    }
    if (result == IDS_JSON_MORE) scan->at = start;
    return result;
}

/* Texts without escapes, and numbers, which nearly all are, are taken before anything is put aside for the others. */
enum ids_json_result ids_json_value(struct ids_json_scan *scan, struct ids_json_span *ret_value) {
    const char *at = scan->at, *end = scan->end;
    if (at < end && *at == '"') {
        const char *close = find_special(at + 1, end);
        if (close < end && *close == '"') {
            *ret_value = (struct ids_json_span){at + 1, (uint32_t)(close - at - 1), IDS_JSON_STRING, 0, 0};
            scan->at = close + 1;
            return IDS_JSON_OK;
        }
    } else if (at < end && is_digit(*at)) {
        int right;
        const char *behind = number_end(at, end, &right);
        if (behind < end && right) {
            *ret_value = (struct ids_json_span){at, (uint32_t)(behind - at), IDS_JSON_NUMBER, 0, 0};
            scan->at = behind;
            return IDS_JSON_OK;
        }
    }
    return any_value(scan, ret_value);
}

enum ids_json_result ids_json_member(struct ids_json_scan *scan, int *first, struct ids_json_span *ret_key) {
    const char *start = scan->at;
    enum ids_json_result result = ids_json_space(scan);
    if (result == IDS_JSON_OK && *scan->at == '}') {
        scan->at++;
        return IDS_JSON_END;
    }
    if (result == IDS_JSON_OK && !*first) {
        if (*scan->at != ',') return bad(scan, scan->at, "',' or '}'");
        scan->at++;
        result = ids_json_space(scan);
        if (result == IDS_JSON_OK && *scan->at == '}') { /* a comma before the bracket, as people write it */
            scan->at++;
            return IDS_JSON_END;
        }
    }
    if (result == IDS_JSON_OK && *scan->at != '"') return bad(scan, scan->at, "a key in quotes");
    if (result == IDS_JSON_OK) result = string_value(scan, ret_key);
    if (result == IDS_JSON_OK) result = ids_json_space(scan);
    if (result == IDS_JSON_MORE) {
        scan->at = start;
        return result;
    }
    if (*scan->at != ':') return bad(scan, scan->at, "':'");
    scan->at++;
    *first = 0;
    return IDS_JSON_OK;
}

/* ---- what spans mean ---- */

static size_t put_utf8(uint32_t character, char *to) {
    if (character < 0x80) {
        to[0] = (char)character;
        return 1;
    }
    if (character < 0x800) {
        to[0] = (char)(0xc0 | character >> 6);
        to[1] = (char)(0x80 | (character & 0x3f));
        return 2;
    }
    if (character < 0x10000) {
        to[0] = (char)(0xe0 | character >> 12);
        to[1] = (char)(0x80 | (character >> 6 & 0x3f));
        to[2] = (char)(0x80 | (character & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | character >> 18);
    to[1] = (char)(0x80 | (character >> 12 & 0x3f));
    to[2] = (char)(0x80 | (character >> 6 & 0x3f));
    to[3] = (char)(0x80 | (character & 0x3f));
    return 4;
}

/* Four hexadecimal digits at `at`; -1 when there are not. */
static int32_t hex4(const char *at, const char *end) {
    int32_t value = 0;
    if (end - at < 4) return -1;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        int digit = c >= '0' && c <= '9'                     ? c - '0'
                    : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                             : -1;
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* Behind "\u": the character, and *at behind it. Six bytes give at most three, twelve at most four. */
static uint32_t escaped_character(const char **at, const char *end) {
    int32_t high = hex4(*at, end);
    if (high < 0) return IDS_REPLACEMENT;
    *at += 4;
    if (high < 0xd800 || high > 0xdfff) return (uint32_t)high;
    if (high > 0xdbff || end - *at < 6 || (*at)[0] != '\\' || (*at)[1] != 'u') return IDS_REPLACEMENT;
    int32_t low = hex4(*at + 2, end);
    if (low < 0xdc00 || low > 0xdfff) return IDS_REPLACEMENT;
    *at += 6;
    return 0x10000 + ((uint32_t)(high - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
}

size_t ids_json_unescape(const struct ids_json_span *span, char *to) {
    static const char letters[] = "bfnrt", meanings[] = "\b\f\n\r\t";
    const char *at = span->at, *end = at + span->length;
    size_t used = 0;
    while (at < end) {
        const char *stop = memchr(at, '\\', (size_t)(end - at));
        size_t plain = (size_t)((stop ? stop : end) - at);
        memcpy(to + used, at, plain);
        used += plain;
        at += plain;
        if (end - at < 2) break; /* a span never ends with half an escape */
        char c = at[1];
        const char *letter = memchr(letters, c, sizeof letters - 1);
        at += 2;
        if (c == 'u' && hex4(at, end) >= 0) {
            used += put_utf8(escaped_character(&at, end), to + used);
        } else {
            to[used++] = letter ? meanings[letter - letters] : c;
        }
    }
    return used;
}

/* What may come next in a value that is copied. */
enum expected { A_VALUE, A_VALUE_OR_END, A_KEY_OR_END, A_COLON, A_COMMA_OR_END, NOTHING };

/* A copy of a value under way. */
struct copy {
    const char *at, *end;
    char *to;
    enum expected expected;
    uint64_t depth, kinds; /* as in ids_json_skip: kinds are known down to 64 levels */
    const char **broken;
    int deep; /* it was deeper than that: nothing is held against it from there on */
};

static inline void expect(struct copy *copy, int holds) {
    if (!holds && !copy->deep) note_broken(copy->broken, copy->at);
}

static inline int expects_value(const struct copy *copy) {
    return copy->expected == A_VALUE || copy->expected == A_VALUE_OR_END;
}

static inline enum expected behind_value(const struct copy *copy) {
    return copy->depth ? A_COMMA_OR_END : NOTHING;
}

static inline void copy_opening(struct copy *copy) {
    expect(copy, expects_value(copy));
    copy->kinds = copy->kinds << 1 | (*copy->at == '{');
    copy->deep |= ++copy->depth > 64;
    copy->expected = *copy->at == '{' ? A_KEY_OR_END : A_VALUE_OR_END;
}

static inline void copy_closing(struct copy *copy) {
    expect(copy, copy->depth && (copy->expected == A_COMMA_OR_END || copy->expected == A_VALUE_OR_END ||
                                 copy->expected == A_KEY_OR_END));
    copy->kinds >>= 1;
    if (copy->depth) copy->depth--;
    copy->expected = behind_value(copy);
}

static inline void copy_separator(struct copy *copy) {
    int is_comma = *copy->at == ',';
    expect(copy, copy->expected == (is_comma ? A_COMMA_OR_END : A_COLON));
    copy->expected = !is_comma ? A_VALUE : copy->kinds & 1 ? A_KEY_OR_END : A_VALUE_OR_END;
}

static void copy_string(struct copy *copy) {
    int escaped, is_key = copy->expected == A_KEY_OR_END;
    expect(copy, is_key || expects_value(copy));
    const char *end = find_special(copy->at + 1, copy->end);
    if (end < copy->end && *end == '"')
        end++;
    else
        end = string_end(copy->at + 1, copy->end, &escaped, copy->broken);
    if (!end) end = copy->end;
    size_t length = (size_t)(end - copy->at);
    if (length > 16) {
        memcpy(copy->to, copy->at, length);
    } else {
        for (size_t i = 0; i < length; i++) copy->to[i] = copy->at[i];
    }
    copy->to += length;
    copy->at = end;
    copy->expected = is_key ? A_COLON : behind_value(copy);
}

/* Behind a number or a word: where a character stands that cannot be of one. */
static const char *scalar_end(const char *start, const char *end, int *ret_right) {
    const char *at = start;
    *ret_right = 0;
    if (is_of_number(*at)) at = number_end(at, end, ret_right);
    const char *word = at;
    while (at < end && !is_space(*at) && !strchr(",:[]{}\"", *at)) at++;
    size_t length = (size_t)(at - start);
    if (at > word)
        *ret_right = word == start && ((length == 4 && (!memcmp(word, "true", 4) || !memcmp(word, "null", 4))) ||
                                       (length == 5 && !memcmp(word, "false", 5)));
    return at > start ? at : start + 1;
}

static void copy_scalar(struct copy *copy) {
    int right;
    const char *next = copy->at + 1, *end;
    /* A digit alone, of which shapes are made, is done here. */
    if (is_digit(*copy->at) && next < copy->end && (*next == ',' || *next == ']')) {
        end = next;
        right = 1;
    } else {
        end = scalar_end(copy->at, copy->end, &right);
    }
    expect(copy, right && expects_value(copy));
    while (copy->at < end) *copy->to++ = *copy->at++;
    copy->expected = behind_value(copy);
}

size_t ids_json_minify(const struct ids_json_span *span, char *to, const char **broken) {
    struct copy copy = {span->at, span->at + span->length, to, A_VALUE, 0, 0, broken, 0};
    while (copy.at < copy.end) {
        switch (*copy.at) {
        case ' ':
        case '\n':
        case '\t':
        case '\r':
            copy.at++;
            continue;
        case '{':
        case '[':
            copy_opening(&copy);
            break;
        case '}':
        case ']':
            copy_closing(&copy);
            break;
        case ',':
        case ':':
            copy_separator(&copy);
            break;
        case '"':
            copy_string(&copy);
            continue;
        default:
            copy_scalar(&copy);
            continue;
        }
        *copy.to++ = *copy.at++;
    }
    return (size_t)(copy.to - to);
}
