#include "lib/attach/answer.h"

#include <string.h>

enum { PREFIX_BYTES = 5, FIELD_EMPTY = 7, FIELD_XSPACE = 8 };
enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

static int wrong(struct ids_answer *answer, const char *what) {
    answer->wrong = what;
    return -1;
}

static int take_prefix(struct ids_answer *answer, uint8_t byte) {
    answer->prefix[answer->prefix_length++] = byte;
    if (answer->prefix_length < PREFIX_BYTES) return 0;
    if (answer->prefix[0]) return wrong(answer, "a compressed answer, which was not asked for");
    for (int i = 1; i < PREFIX_BYTES; i++) answer->left = answer->left << 8 | answer->prefix[i];
    answer->expected = answer->left;
    answer->state = IDS_ANSWER_TAG;
    return 0;
}

/* 1 at its end, 0 before, -1 where it is longer than 64 bits. */
static int take_varint(struct ids_answer *answer, uint8_t byte) {
    if (answer->shift > 63 || (answer->shift == 63 && byte > 1)) return wrong(answer, "a number of more than 64 bits");
    answer->varint |= (uint64_t)(byte & 0x7f) << answer->shift;
    answer->shift += 7;
    return byte < 0x80;
}

static int begin_body(struct ids_answer *answer, uint64_t length) {
    if (length > answer->left) return wrong(answer, "a field that is longer than its message");
    if (answer->field == FIELD_XSPACE && answer->limit &&
        (length > answer->limit || answer->bytes > answer->limit - length))
        return wrong(answer, "more than --max-size allows");
    answer->body_left = length;
    answer->state = length ? IDS_ANSWER_BODY : IDS_ANSWER_TAG;
    return 0;
}

static int begin_field(struct ids_answer *answer, uint64_t tag) {
    uint64_t number = tag >> 3;
    if (!number || number > 0x1fffffff) return wrong(answer, "a field without a number");
    answer->field = (uint32_t)number;
    switch (tag & 7) {
    case WIRE_VARINT:
        answer->state = IDS_ANSWER_VARINT;
        return 0;
    case WIRE_BYTES:
        answer->state = IDS_ANSWER_LENGTH;
        return 0;
    case WIRE_FIXED64:
    case WIRE_FIXED32:
        answer->field = 0; /* none that is looked at */
        return begin_body(answer, (tag & 7) == WIRE_FIXED64 ? 8 : 4);
    default:
        return wrong(answer, "bytes that are no message of protobuf");
    }
}

/* A byte of a tag, a number or a length. */
static int take_byte(struct ids_answer *answer, uint8_t byte) {
    answer->left--;
    int ended = take_varint(answer, byte);
    if (ended <= 0) return ended;
    uint64_t value = answer->varint;
    answer->varint = 0;
    answer->shift = 0;
    if (answer->state == IDS_ANSWER_TAG) return begin_field(answer, value);
    if (answer->state == IDS_ANSWER_LENGTH) return begin_body(answer, value);
    if (answer->field == FIELD_EMPTY) answer->is_empty = value != 0;
    answer->state = IDS_ANSWER_TAG;
    return 0;
}

static int take_body(struct ids_answer *answer, const uint8_t *bytes, size_t length) {
    answer->left -= length;
    answer->body_left -= length;
    if (!answer->body_left) answer->state = IDS_ANSWER_TAG;
    if (answer->field != FIELD_XSPACE) return 0;
    answer->bytes += length;
    return answer->write(answer->self, bytes, length) ? -1 : 0;
}

int ids_answer_feed(struct ids_answer *answer, const uint8_t *bytes, size_t length) {
    const uint8_t *end = bytes + length;
    int code = 0;
    while (!code && bytes < end) {
        if (answer->state == IDS_ANSWER_PREFIX) {
            code = take_prefix(answer, *bytes++);
        } else if (!answer->left) {
            code = wrong(answer, "more bytes than it announced");
        } else if (answer->state == IDS_ANSWER_BODY) {
            size_t part = (size_t)(end - bytes) < answer->body_left ? (size_t)(end - bytes) : (size_t)answer->body_left;
            code = take_body(answer, bytes, part);
            bytes += part;
        } else {
            code = take_byte(answer, *bytes++);
        }
    }
    return code;
}

int ids_answer_is_whole(const struct ids_answer *answer) {
    return answer->state == IDS_ANSWER_TAG && !answer->left && !answer->shift;
}
