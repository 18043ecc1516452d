/* json_scan.h - reading JSON in place and without a tree, from a window of it that may end anywhere.
 *
 * A scan stands at a place in a window. A function that does not find its end there returns IDS_JSON_MORE and leaves
 * the scan where it was: the caller reads on and asks again. Nothing is copied or unescaped; a value is a span of the
 * window. Depth costs no memory and no stack: nested values are skipped by counting brackets, and down to 64 levels a
 * closing one must be of the kind that was opened.
 */
#ifndef IDS_LIB_WIRE_JSON_SCAN_H
#define IDS_LIB_WIRE_JSON_SCAN_H

#include <stddef.h>
#include <stdint.h>

enum ids_json_result {
    IDS_JSON_OK,
    IDS_JSON_MORE, /* the window ends inside */
    IDS_JSON_END,  /* no more members or elements: the closing bracket was passed */
    IDS_JSON_BAD,  /* not JSON; scan->at is where, scan->why what was expected */
};

enum ids_json_type {
    IDS_JSON_NONE,
    IDS_JSON_STRING, /* the span is what stands between the quotes */
    IDS_JSON_NUMBER,
    IDS_JSON_TRUE,
    IDS_JSON_FALSE,
    IDS_JSON_NULL,
    IDS_JSON_OBJECT, /* the span has its brackets */
    IDS_JSON_ARRAY,
};

struct ids_json_span {
    const char *at;
    uint32_t length; /* a window is shorter than 4 GiB */
    uint8_t type;    /* enum ids_json_type */
    uint8_t escaped; /* a string with backslashes: ids_json_unescape */
    uint16_t mark;   /* 0: for whoever wants to know the span again */
};

struct ids_json_scan {
    const char *at, *end;
    int whole; /* nothing follows the window: a number may end with it */
    const char *why;
    /* The first value passed that is no JSON and was taken all the same: a number or an escape written wrongly, a bare
     * control character, NaN. NULL: none; the caller sets it back. */
    const char *broken;
};

/* The next character that is no white space stays in front; IDS_JSON_MORE when there is none. */
enum ids_json_result ids_json_space(struct ids_json_scan *scan);
/* Any value as a whole. */
enum ids_json_result ids_json_value(struct ids_json_scan *scan, struct ids_json_span *ret_value);
/* Behind the bracket of an object, or behind a member: the next key, and the scan in front of its value; *first is 1
 * before the first member and set to 0. IDS_JSON_END behind the closing bracket. */
enum ids_json_result ids_json_member(struct ids_json_scan *scan, int *first, struct ids_json_span *ret_key);

enum { IDS_JSON_WORDS = 4 };
struct ids_json_words {
    const char *const *words; /* up to IDS_JSON_WORDS of them */
    int count;
    const char *firsts; /* their first characters, each once */
};
/* Skips a value of any size over many windows; {0}, or with `watched` set, in front of its bracket. IDS_JSON_MORE when
 * the window was used up (scan->at is its end then), IDS_JSON_OK behind the value. Strings in it that begin with one of
 * the watched words are noticed on the way, those that lie in one window and have no escapes: it is how a reader finds
 * the few elements that it wants to take apart. A word may end with the closing quote. */
struct ids_json_skip {
    const struct ids_json_words *watched;
    uint32_t seen, again;              /* bit n: words[n] was met; was met more than once */
    const char *place[IDS_JSON_WORDS]; /* behind words[n], where it was met first */
    uint64_t depth;
    uint64_t kinds; /* bit n: the bracket n levels up is a brace; not known once it was deeper than 64 */
    uint8_t in_string, escape, deep, wrong;
};
enum ids_json_result ids_json_skip(struct ids_json_scan *scan, struct ids_json_skip *skip);

/* Where `text`, of four characters, stands first; NULL when it does not. Made for one short key in each of a million
 * elements. */
const char *ids_json_find(const char *at, const char *end, const char text[4]);

/* Writes the string's characters as UTF-8 to `to`, which has room for span->length bytes; returns their number. A lone
 * surrogate becomes U+FFFD, an unknown escape the character behind the backslash. Bytes that are no UTF-8 stay as
 * they are. */
size_t ids_json_unescape(const struct ids_json_span *span, char *to);
/* Copies a value without the white space outside its strings; returns the number of bytes, at most span->length.
 * *broken, unless it is set already, becomes the first place that is no JSON. A comma before a closing bracket
 * counts as JSON here. */
size_t ids_json_minify(const struct ids_json_span *span, char *to, const char **broken);

#endif
