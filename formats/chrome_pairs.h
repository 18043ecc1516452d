/* chrome_pairs.h - begin and end events of a Chrome trace (B/E of a thread, b/n/e of an id), which stand apart and in
 * any order in the file: kept as they are written until all are there, then ordered by time and paired. */
#ifndef IDS_FORMATS_CHROME_PAIRS_H
#define IDS_FORMATS_CHROME_PAIRS_H

#include "formats/chrome_event.h"

struct ids_chrome_mark {
    uint64_t group; /* marks of one group pair with each other, the innermost first */
    int64_t ps;
    uint32_t thread;               /* on which the slice lies */
    uint32_t text_at, text_length; /* the element */
    char phase;                    /* 'B' begins, 'E' ends, 'n' is a moment */
};

struct ids_chrome_pairs {
    struct ids_chrome_mark *marks;
    size_t count, room;
    char *text;
    size_t text_used, text_room;
};

void ids_chrome_pairs_done(struct ids_chrome_pairs *pairs);

/* Keeps a mark with its element. IDS_LIMIT when there are too many to be held. */
int ids_chrome_pairs_add(struct ids_chrome_pairs *pairs, const struct ids_chrome_mark *mark, const char *text,
                         size_t length, struct ids_error *err);

/* What became of the marks: a slice of a begin and its end, a begin without an end (end NULL), a moment (end ==
 * begin). */
typedef int ids_chrome_pair_fn(void *context, const struct ids_chrome_mark *begin, const struct ids_chrome_mark *end,
                               struct ids_error *err);
/* Pairs all marks and empties the list; *ret_without_begin is the number of ends that nothing began. */
int ids_chrome_pairs_match(struct ids_chrome_pairs *pairs, ids_chrome_pair_fn *pair, void *context,
                           uint64_t *ret_without_begin, struct ids_error *err);

#endif
