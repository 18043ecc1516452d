#include "lib/model/collective.h"

#include "lib/hlo/op_text.h"
#include "lib/hlo/replica_groups.h"
#include "lib/model/classify.h"

#include <string.h>

double ids_collective_bus_factor(enum ids_collective collective, int64_t group_size) {
    double others = (double)(group_size - 1) / (double)(group_size > 0 ? group_size : 1);
    switch (collective) {
    case IDS_BROADCAST:
    case IDS_REDUCE:
    case IDS_SEND_RECV:
    case IDS_PERMUTE:
        return 1;
    case IDS_ALL_REDUCE:
        return group_size > 0 ? 2 * others : -1;
    case IDS_ALL_GATHER:
    case IDS_REDUCE_SCATTER:
    case IDS_ALL_TO_ALL:
    case IDS_GATHER:
    case IDS_SCATTER:
        return group_size > 0 ? others : -1;
    default:
        return -1;
    }
}

int64_t ids_collective_group_size(const struct ids_trace *trace, const struct ids_event *event) {
    if (event->op != IDS_NONE && trace->ops[event->op].group_size) return trace->ops[event->op].group_size;
    return event->shape == IDS_NONE ? 0 : trace->shapes[event->shape].group_size;
}

/* ---- bytes ---- */

enum { TUPLE_DEPTH = 16, ALL_PARTS = -1 };

/* Bytes of the shape at *at; of a tuple those of one part, or of all. -1 unknown. */
static int64_t shape_bytes(const char **at, const char *end, int part, int depth) {
    int64_t bytes;
    int on_host;
    while (*at < end && **at == ' ') ++*at;
    if (*at == end || depth == TUPLE_DEPTH) return -1;
    if (**at != '(') return ids_hlo_array_shape(at, end, &bytes, &on_host) ? -1 : bytes;
    int64_t total = 0;
    ++*at;
    for (int i = 0; *at < end && **at != ')'; i++) {
        bytes = shape_bytes(at, end, ALL_PARTS, depth + 1);
        if (bytes < 0) return -1;
        if ((part == ALL_PARTS || part == i) && __builtin_add_overflow(total, bytes, &total)) return -1;
        while (*at < end && (**at == ',' || **at == ' ')) ++*at;
    }
    if (*at == end) return -1;
    ++*at;
    return total;
}

/* What the op's result holds. A -start gives its operands back before the result; an all-reduce's does not. */
static int64_t result_of(const struct ids_trace *trace, const struct ids_op *op, struct ids_text category) {
    struct ids_text text = ids_strings_text(&trace->strings, op->long_name);
    const char *equals = text.length ? memmem(text.at, text.length, " = ", 3) : NULL, *end = text.at + text.length;
    const char *at = equals ? equals + 3 : text.at;
    if (!equals) {
        text = ids_strings_text(&trace->strings, op->shape);
        at = text.at;
        end = at + text.length;
    }
    int starts = ids_text_ends(category, "-start") && op->collective != IDS_ALL_REDUCE && at < end && *at == '(';
    int64_t bytes = shape_bytes(&at, end, starts ? 1 : ALL_PARTS, 0);
    return bytes < 0 && !starts ? op->result_bytes : bytes;
}

/* "replica_groups={{0,1},{2,3}}, ..." of an op's text: up to the comma that is inside no bracket. */
static int take_groups(struct ids_trace *trace, struct ids_op *op) {
    static const char word[] = "replica_groups=";
    struct ids_text text = ids_strings_text(&trace->strings, op->long_name);
    const char *at = text.length ? memmem(text.at, text.length, word, sizeof word - 1) : NULL;
    if (!at) return 0;
    at += sizeof word - 1;
    const char *end = at;
    for (int depth = 0; end < text.at + text.length && (depth || (*end != ',' && *end != ' ')); end++)
        depth += (*end == '{' || *end == '[' || *end == '(') - (*end == '}' || *end == ']' || *end == ')');
    op->groups = ids_intern(&trace->strings, at, (size_t)(end - at));
    return op->groups == IDS_NO_TEXT ? -1 : 0;
}

int ids_collective_measure(struct ids_trace *trace, struct ids_op *op) {
    struct ids_text category = ids_strings_text(&trace->strings, op->category);
    op->message_bytes = -1;
    if (!op->groups && take_groups(trace, op)) return -1;
    op->group_size = ids_replica_group_size(ids_strings_text(&trace->strings, op->groups));
    if (ids_text_ends(category, " fusion")) return 0; /* its result is that of what is fused with the collective */
    int64_t bytes = result_of(trace, op, category);
    if (op->collective == IDS_REDUCE_SCATTER &&
        (bytes < 0 || !op->group_size || __builtin_mul_overflow(bytes, op->group_size, &bytes)))
        return 0; /* each rank's part, and not known how many there are */
    op->message_bytes = bytes;
    return 0;
}
