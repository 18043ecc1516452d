#include "collectors/pjrt/collectives.h"

#include "collectors/common/pb_skip.h"
#include "lib/fields/hlo.h"

#include <string.h>

static int is(const struct ids_field *field, size_t length, const char *text) {
    return strlen(text) == length && !memcmp(field->bytes, text, length);
}

/* "all-reduce", "all-reduce-start". What XLA makes asynchronous by async-start stands in a computation of its own. */
static int is_collective(const struct ids_field *opcode) {
    static const char *const names[] = {"all-reduce",        "all-gather",         "reduce-scatter",      "all-to-all",
                                        "ragged-all-to-all", "collective-permute", "collective-broadcast"};
    static const char start[] = "-start";
    size_t length = opcode->size, end = sizeof start - 1;
    if (length > end && !memcmp(opcode->bytes + length - end, start, end)) length -= end;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (is(opcode, length, names[i])) return 1;
    }
    return 0;
}

static int64_t in_instruction(const uint8_t *at, size_t size) {
    struct ids_field field;
    const uint8_t *end = at + size;
    int more;
    while ((more = ids_field_next(&at, end, &field)) > 0) {
        if (field.number == HLO_INSTRUCTION_OPCODE && field.bytes) return is_collective(&field);
    }
    return more;
}

/* The sum over the messages in field `number`. */
static int64_t sum(const uint8_t *at, size_t size, uint32_t number, int64_t (*count)(const uint8_t *at, size_t size)) {
    struct ids_field field;
    const uint8_t *end = at + size;
    int64_t total = 0;
    int more;
    while ((more = ids_field_next(&at, end, &field)) > 0) {
        int64_t part = field.number == number && field.bytes ? count(field.bytes, field.size) : 0;
        if (part < 0) return -1;
        total += part;
    }
    return more < 0 ? -1 : total;
}

static int64_t in_computation(const uint8_t *at, size_t size) {
    return sum(at, size, HLO_COMPUTATION_INSTRUCTION, in_instruction);
}

int64_t ids_collectives_in(const void *module, size_t size) {
    return sum(module, size, HLO_MODULE_COMPUTATION, in_computation);
}
