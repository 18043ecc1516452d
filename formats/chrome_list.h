/* chrome_list.h - the list of events of a Chrome trace: its elements one after the other, or in batches that a thread
 * of its own takes apart ahead of the one that reads them. */
#ifndef IDS_FORMATS_CHROME_LIST_H
#define IDS_FORMATS_CHROME_LIST_H

#include "formats/chrome_event.h"
#include "formats/json_window.h"

#include "lib/base/error.h"

struct ids_chrome_list {
    struct ids_json_scan *scan;
    int after_element; /* a comma or the bracket must follow */
    uint64_t strays;   /* elements that are no objects, passed over */
};

/* Passes what lies in front of the next event, at whose bracket the scan then stands; the caller passes that and sets
 * `after_element`. IDS_JSON_END: the list ends, and the scan is behind it. */
enum ids_json_result ids_chrome_list_next(struct ids_chrome_list *list);

/* An event as it stands in the file. */
struct ids_chrome_element {
    struct ids_chrome_event event;
    struct ids_text text;
    const char *broken; /* the first value that is no JSON, of those that are not nested; NULL: none */
};

/* The event that the scan stands in front of; IDS_JSON_MORE leaves it there. Its members are as ids_chrome_event_read
 * has it. */
enum ids_json_result ids_chrome_list_take(struct ids_chrome_list *list, struct ids_chrome_parser *parser,
                                          struct ids_chrome_element *ret_element, int *ret_no_memory);

/* Some events that follow each other, and where in the file they are: the text `at` is `offset` bytes from its
 * start. */
struct ids_chrome_batch {
    struct ids_chrome_element *elements;
    size_t count, room;
    const char *at;
    uint64_t offset;
    /* the list's own */
    struct ids_chrome_member *members;
    size_t member_room;
    int has_chunk; /* of the stream, which nobody needs after it */
};

/* Events from the scan on. Until it has ended, window, list and parser are the thread's. */
struct ids_chrome_ahead;
int ids_chrome_ahead_begin(struct ids_json_window *window, struct ids_chrome_list *list,
                           struct ids_chrome_parser *parser, struct ids_chrome_ahead **ret_ahead,
                           struct ids_error *err);
/* Waits for the next batch, which is valid until the next call; NULL when none follows. */
const struct ids_chrome_batch *ids_chrome_ahead_next(struct ids_chrome_ahead *ahead);
/* Ends the thread, before its end too, and frees `ahead`. *ret_result is what it stopped at: IDS_JSON_END, or
 * IDS_JSON_MORE at the end of the file, or IDS_JSON_BAD. */
int ids_chrome_ahead_end(struct ids_chrome_ahead *ahead, enum ids_json_result *ret_result, struct ids_error *err);

#endif
