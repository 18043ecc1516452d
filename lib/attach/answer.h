/* answer.h - the answer of the profiler service, read as it comes: its XSpace is handed on piece by piece, so that an
 * answer of any size needs no memory.
 *
 * The bytes are a message of gRPC (a byte, a length, a ProfileResponse). What contradicts that form is said in `wrong`.
 */
#ifndef IDS_LIB_ATTACH_ANSWER_H
#define IDS_LIB_ATTACH_ANSWER_H

#include <stddef.h>
#include <stdint.h>

enum ids_answer_state { IDS_ANSWER_PREFIX, IDS_ANSWER_TAG, IDS_ANSWER_VARINT, IDS_ANSWER_LENGTH, IDS_ANSWER_BODY };

struct ids_answer {
    /* Takes bytes of the XSpace; not 0 ends it. */
    int (*write)(void *self, const uint8_t *bytes, size_t length);
    void *self;
    uint64_t limit; /* bytes of XSpace that are too many; 0: none */

    uint64_t bytes;    /* of XSpace so far */
    uint64_t expected; /* the length that the message announces */
    int is_empty;      /* the server says that it recorded nothing */
    const char *wrong;

    enum ids_answer_state state;
    uint64_t left;      /* of the message */
    uint64_t body_left; /* of the field */
    uint64_t varint;
    unsigned shift, prefix_length;
    uint32_t field;
    uint8_t prefix[5];
};

/* 0, or -1 with `wrong` set, or where `write` refused (then it is not set). Not to be called again after that. */
int ids_answer_feed(struct ids_answer *answer, const uint8_t *bytes, size_t length);
/* Whether the message came to its end. */
int ids_answer_is_whole(const struct ids_answer *answer);

#endif
