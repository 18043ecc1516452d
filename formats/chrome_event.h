/* chrome_event.h - one element of a Chrome trace's traceEvents, taken apart into spans of the window it lies in. */
#ifndef IDS_FORMATS_CHROME_EVENT_H
#define IDS_FORMATS_CHROME_EVENT_H

#include "lib/model/sink.h"
#include "lib/wire/json_scan.h"

/* Keys with the same mark, if it is not 0, are the same one, of one parser. */
struct ids_chrome_member {
    struct ids_json_span key, value;
};

/* What stood in front of a value: comma, quotes, key and colon as they were written. */
struct ids_chrome_guess {
    uint64_t words[2], masks[2]; /* its first sixteen bytes */
    char text[40];
    uint8_t length; /* 0: none */
    uint8_t key_at, key_length;
    uint8_t place; /* of the element's own keys: what the reader takes it for */
    uint16_t mark; /* of the key; 0: it has none */
};
enum { IDS_CHROME_GUESSES = 16, IDS_CHROME_KINDS = 2 };

/* At a place in an object: what stood there in objects of several kinds, which alternate. */
struct ids_chrome_guesses {
    struct ids_chrome_guess of[IDS_CHROME_KINDS];
    uint8_t last; /* the kind that held last */
};

struct ids_chrome_event {
    struct ids_json_span name, cat, id, pid, tid, ts, dur; /* type IDS_JSON_NONE where absent */
    /* Everything else that the element says: members beside the ones above but ph (cat and id are there too), then the
     * members of `args`. */
    const struct ids_chrome_member *members;
    uint32_t member_count;
    uint32_t args_at, args_count; /* which of them are those of `args` */
    char phase;                   /* 'X', 'M', ...; 0 where there is none */
};

/* What takes elements apart, {0} at first. Elements of one writer have the same keys in the same order: those of the
 * elements before, by place, are looked for first. */
struct ids_chrome_parser {
    struct ids_chrome_guesses keys[IDS_CHROME_GUESSES], arg_keys[IDS_CHROME_GUESSES];
    struct ids_chrome_member *members; /* of events from the first on, whoever sets `used` to 0 ends them */
    size_t used, room;
    uint16_t marks; /* that were given */
};

/* Takes the element apart at whose bracket the scan stands, and moves the scan behind it. The event's members lie
 * behind those that the parser has, and are moved when it is used again. IDS_JSON_MORE leaves the scan where it was;
 * *ret_no_memory is set, with IDS_JSON_BAD, when memory ran out. */
enum ids_json_result ids_chrome_event_read(struct ids_json_scan *scan, struct ids_chrome_parser *parser,
                                           struct ids_chrome_event *ret_event, int *ret_no_memory);
void ids_chrome_parser_done(struct ids_chrome_parser *parser);

int ids_chrome_has_arg(const struct ids_chrome_event *event, const char *key);

/* A number, given as one or in quotes; 0 when it is none (or no integer). */
int ids_chrome_integer(const struct ids_json_span *span, int64_t *ret_value);
/* Microseconds, given as a number or in quotes, as (rounded) picoseconds; 0 when it is none. */
int ids_chrome_time(const struct ids_json_span *span, __int128 *ret_ps);

/* Texts that had to be unescaped or minified: one buffer that is given its room before it is used, so that what lies
 * in it stays. */
struct ids_chrome_scratch {
    char *at;
    size_t used, room;
    const char *broken; /* the first place in nested values taken since the reset that is no JSON; NULL: none */
};
/* Empties the buffer and makes room for all the texts of elements of `length` bytes. 0, or -1 when memory ran out. */
int ids_chrome_scratch_reset(struct ids_chrome_scratch *scratch, size_t length);
/* The text that a string, or any other value as it is written, stands for. */
struct ids_text ids_chrome_text(struct ids_chrome_scratch *scratch, const struct ids_json_span *span);
/* The category; "" where the event has none that is a text. */
struct ids_text ids_chrome_category(struct ids_chrome_scratch *scratch, const struct ids_chrome_event *event);
/* The value as the sink takes it; the key is left to the caller. */
void ids_chrome_value(struct ids_chrome_scratch *scratch, const struct ids_json_span *span, struct ids_arg *ret_arg);

#endif
