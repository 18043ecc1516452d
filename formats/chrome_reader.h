/* chrome_reader.h - what the parts of the reader of Chrome traces share: chrome_trace.c walks the file, chrome_slices.c
 * gives its events to the sink, chrome_losses.c says what could not be kept. Nothing else includes it.
 */
#ifndef IDS_FORMATS_CHROME_READER_H
#define IDS_FORMATS_CHROME_READER_H

#include "formats/chrome_list.h"
#include "formats/chrome_pairs.h"
#include "formats/chrome_places.h"
#include "formats/chrome_properties.h"
#include "formats/chrome_survey.h"
#include "formats/json_window.h"

#include "lib/base/error.h"
#include "lib/io/source.h"
#include "lib/model/sink.h"

#include <stdint.h>

enum ids_chrome_part {
    IDS_CHROME_AT_START,
    IDS_CHROME_AT_MEMBERS,
    IDS_CHROME_IN_MEMBER,
    IDS_CHROME_AT_ELEMENTS,
    IDS_CHROME_AT_END
};

/* What is done on the way through the file. */
enum ids_chrome_pass {
    IDS_CHROME_SURVEY, /* what must be known before the events are read */
    IDS_CHROME_EVENTS, /* the events, behind it */
    IDS_CHROME_AT_ONCE /* both, as long as nothing that must be known stands behind the first event */
};

/* What could not be kept, each to be said. */
struct ids_chrome_losses {
    uint64_t without_time, without_duration, out_of_range, without_begin, without_end, unknown_phases, trailing;
    uint64_t foreign_accounts; /* of the category of our accounts, in a file that we did not write */
    uint64_t broken;           /* elements and members with values that are no JSON */
    int64_t broken_at;
};

/* Where an event before lay: threads are few, and so a map is seldom asked. */
struct ids_chrome_last_place {
    char pid[24], tid[24];
    uint8_t pid_length, tid_length; /* 0: not remembered */
    uint32_t thread;
};

/* What a key was interned as. */
struct ids_chrome_last_key {
    uint16_t mark; /* 0: none */
    uint32_t key;
};
enum { IDS_CHROME_LAST_PLACES = 8, IDS_CHROME_LAST_KEYS = 64 };

struct ids_chrome_reader {
    struct ids_source *source;
    struct ids_sink *sink;
    struct ids_json_window window;
    struct ids_json_scan *scan; /* the window's */
    enum ids_chrome_part part;
    enum ids_chrome_pass pass;
    int first_member, bare;
    int has_list, has_objects; /* traceEvents was there; it held objects */
    int in_doubt;              /* IDS_CHROME_AT_ONCE does not do */
    struct ids_chrome_list list;
    struct ids_json_skip skip;

    struct ids_chrome_parser parser;
    const struct ids_chrome_event *event; /* that is given to the sink */
    struct ids_chrome_scratch scratch;
    struct ids_chrome_places places;
    struct ids_chrome_properties properties;
    struct ids_chrome_categories categories;
    struct ids_chrome_survey survey;
    int strange_on_device; /* a device has events of unknown categories */
    struct ids_chrome_pairs pairs;
    struct ids_arg *args; /* of the event */
    size_t arg_room;
    uint32_t counters_text;
    struct ids_chrome_last_place last[IDS_CHROME_LAST_PLACES];  /* by the ends of pid and tid */
    struct ids_chrome_last_key last_keys[IDS_CHROME_LAST_KEYS]; /* by mark */
    int64_t base_ns;
    int has_base;
    uint64_t slices;
    int64_t first_ps, last_ps;
    struct ids_chrome_losses losses;
};

/* ---- chrome_slices.c: all return 0 or an enum ids_code with `err` filled ---- */

/* What reader->event, read from the text `element`, is in the model: to the sink, or kept until its other half
 * comes. */
int ids_chrome_give_event(struct ids_chrome_reader *reader, struct ids_text element, struct ids_error *err);

/* For ids_chrome_pairs_match, `context` being the reader: what begin and end are together. `end` is NULL where it never
 * came, and `begin` itself for a moment. */
int ids_chrome_give_pair(void *context, const struct ids_chrome_mark *begin, const struct ids_chrome_mark *end,
                         struct ids_error *err);

/* Tells the sink of the host, whose times count from reader->base_ns from then on. */
int ids_chrome_say_host(struct ids_chrome_reader *reader, struct ids_error *err);

/* Counts a value that is no JSON and was taken as it is, `offset` bytes from the start of the file. */
void ids_chrome_note_broken(struct ids_chrome_reader *reader, uint64_t offset);

/* ---- chrome_losses.c ---- */

/* The file ends early; `cut` is where what is not whole begins, in bytes from the start of what it holds unpacked. */
int ids_chrome_say_cut(struct ids_chrome_reader *reader, int64_t cut, struct ids_error *err);
int ids_chrome_say_losses(struct ids_chrome_reader *reader, struct ids_error *err);

#endif
