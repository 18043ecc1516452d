#include "lib/model/host_copies.h"

#include "lib/base/keymap.h"
#include "lib/base/vec.h"
#include "lib/hlo/op_text.h"
#include "lib/model/classify.h"
#include "lib/model/event_order.h"

#include <stdlib.h>
#include <string.h>

/* --- what the text of an op says --------------------------------------------------------------------------------- */

/* Arrays of one side of an op. */
struct side {
    int on_host, on_device;                 /* any array of more than one element that lies there */
    int64_t first_bytes, most_device_bytes; /* of the first array; of the largest in device memory; -1 none */
};

static void add_array(struct side *side, int64_t bytes, int on_host) {
    enum { SCALAR_BYTES = 8 }; /* an index or a context */
    if (bytes >= 0 && bytes <= SCALAR_BYTES && !on_host) return;
    if (!side->on_host && !side->on_device) side->first_bytes = bytes;
    if (on_host) {
        side->on_host = 1;
    } else {
        side->on_device = 1;
        if (bytes > side->most_device_bytes) side->most_device_bytes = bytes;
    }
}

/* The place of the parenthesis that closes the one at `open`. */
static size_t closing(struct ids_text text, size_t open) {
    size_t depth = 0;
    for (size_t i = open; i < text.length; i++) {
        depth += text.at[i] == '(';
        if (text.at[i] == ')' && --depth == 0) return i;
    }
    return text.length;
}

/* All arrays of text[from, to): "f32[5,1024]{1,0:T(8,128)S(5)} %x, s32[] %i". */
static struct side read_side(struct ids_text text, size_t from, size_t to) {
    struct side side = {.first_bytes = -1, .most_device_bytes = -1};
    const char *end = text.at + to;
    for (const char *at = text.at + from; at < end;) {
        const char *type = at;
        while (at < end && ((*at >= 'a' && *at <= 'z') || (*at >= '0' && *at <= '9'))) at++;
        if (at > type && at < end && *at == '[') {
            int64_t bytes;
            int on_host;
            const char *next = type;
            if (ids_hlo_array_shape(&next, end, &bytes, &on_host)) break;
            add_array(&side, bytes, on_host);
            at = next;
        } else if (at < end && *at == '%') { /* a name, which may look like a type */
            while (at < end && *at != ',' && *at != ')') at++;
        } else if (at == type) {
            at++;
        }
    }
    return side;
}

static enum ids_direction judge(const struct side *from, const struct side *to, int64_t *ret_bytes) {
    if (to->on_host && !to->on_device && from->on_device) {
        /* A slice is put into an array that is there already, or the whole is copied. */
        *ret_bytes = from->on_host ? from->most_device_bytes : to->first_bytes;
        return IDS_D2H;
    }
    if (!to->on_host && to->on_device && from->on_host) {
        *ret_bytes = to->first_bytes;
        return IDS_H2D;
    }
    return IDS_NO_DIRECTION;
}

/* "((operands), result, context)" of an async-start. */
static enum ids_direction judge_async(struct ids_text text, size_t tuple, int64_t *ret_bytes) {
    size_t inner = tuple + 1, inner_end = closing(text, inner), end = closing(text, tuple);
    if (inner_end >= end || text.at[inner] != '(') return IDS_NO_DIRECTION;
    struct side from = read_side(text, inner, inner_end), to = read_side(text, inner_end, end);
    return judge(&from, &to, ret_bytes);
}

static int moves_a_slice(struct ids_text text) {
    static const char *const words[] = {"dynamic-slice", "dynamic-update-slice", "dynamic_slice",
                                        "dynamic_update_slice", " copy("};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (memmem(text.at, text.length, words[i], strlen(words[i]))) return 1;
    }
    return 0;
}

enum ids_direction ids_host_copy_of_text(struct ids_text text, int64_t *ret_bytes) {
    static const char equals[] = " = ";
    *ret_bytes = -1;
    if (!text.length || !memmem(text.at, text.length, "S(5)", 4)) return IDS_NO_DIRECTION;
    const char *result = memmem(text.at, text.length, equals, sizeof equals - 1);
    if (!result) return IDS_NO_DIRECTION;
    size_t at = (size_t)(result - text.at) + sizeof equals - 1;
    if (at + 1 < text.length && text.at[at] == '(') {
        if (text.at[at + 1] == '(') return judge_async(text, at, ret_bytes);
        return memmem(text.at, text.length, "copy-start(", 11) ? ids_copy_start_direction(text, ret_bytes)
                                                               : IDS_NO_DIRECTION;
    }
    if (!moves_a_slice(text)) return IDS_NO_DIRECTION;
    const char *space = memchr(text.at + at, ' ', text.length - at); /* behind the result's shape */
    if (!space) return IDS_NO_DIRECTION;
    size_t opcode = (size_t)(space - text.at);
    const char *open = memchr(space, '(', text.length - opcode);
    if (!open) return IDS_NO_DIRECTION;
    size_t operands = (size_t)(open - text.at);
    struct side to = read_side(text, at, opcode), from = read_side(text, operands, closing(text, operands));
    return judge(&from, &to, ret_bytes);
}

/* --- pairs ------------------------------------------------------------------------------------------------------- */

static int is_start(const struct ids_trace *trace, const struct ids_op *op) {
    struct ids_text category = ids_strings_text(&trace->strings, op->category);
    return op->direction != IDS_NO_DIRECTION && ids_text_ends(category, "-start");
}

static int is_done(const struct ids_trace *trace, const struct ids_op *op) {
    return ids_text_ends(ids_strings_text(&trace->strings, op->category), "-done");
}

/* The name of the -start that a -done waits for: its operand, else its own name with the other word. 0 unknown. */
static uint64_t started_by(const struct ids_trace *trace, const struct ids_op *op) {
    struct ids_text text = ids_strings_text(&trace->strings, op->long_name);
    const char *operand = text.length ? memrchr(text.at, '%', text.length) : NULL;
    if (operand && operand > text.at && memmem(text.at, text.length, "-done(", 6)) {
        const char *end = ++operand;
        while (end < text.at + text.length && *end != ')' && *end != ',' && *end != ' ') end++;
        return ids_hash_bytes(operand, (size_t)(end - operand));
    }
    char name[256];
    struct ids_text own = ids_strings_text(&trace->strings, op->name);
    const char *word = own.length ? memmem(own.at, own.length, "-done", 5) : NULL;
    if (!word || own.length + 1 > sizeof name) return 0;
    size_t before = (size_t)(word - own.at);
    memcpy(name, own.at, before);
    static const char start[6] = {'-', 's', 't', 'a', 'r', 't'};
    memcpy(name + before, start, sizeof start);
    memcpy(name + before + 6, word + 5, own.length - before - 5);
    return ids_hash_bytes(name, own.length + 1);
}

/* The op's name in its program, "%NAME = ..."; what viewers show may be another one ("async-copy"). */
static uint64_t name_key(const struct ids_trace *trace, const struct ids_op *op) {
    struct ids_text text = ids_strings_text(&trace->strings, op->long_name);
    const char *end = text.length && text.at[0] == '%' ? memchr(text.at, ' ', text.length) : NULL;
    if (end) return ids_hash_bytes(text.at + 1, (size_t)(end - text.at) - 1);
    struct ids_text name = ids_strings_text(&trace->strings, op->name);
    return ids_hash_bytes(name.at, name.length);
}

/* The copies of one op that are under way, first in, first out. */
struct queue {
    size_t *at; /* indices into the copies of the device */
    size_t first, count, room;
};

struct pairing {
    struct ids_trace *trace;
    struct ids_event *copies;
    size_t count, room;
    struct ids_keymap queue_of; /* (program, name of the -start) -> index of queues + 1 */
    struct queue *queues;
    size_t queue_count, queue_room;
    struct ids_keymap on_line; /* the same of ops that are on an async line */
};

static struct queue *queue_of(struct pairing *pairing, uint64_t key) {
    uint64_t *place = ids_keymap_at(&pairing->queue_of, key);
    if (!place) return NULL;
    if (!*place) {
        struct queue *fresh = IDS_PUSH(pairing->queues, pairing->queue_count, pairing->queue_room);
        if (!fresh) return NULL;
        *fresh = (struct queue){0};
        *place = pairing->queue_count;
    }
    return &pairing->queues[*place - 1];
}

static int begin_copy(struct pairing *pairing, const struct ids_event *event, const struct ids_op *op, uint64_t key) {
    size_t index = pairing->count;
    struct ids_event *copy = IDS_PUSH(pairing->copies, pairing->count, pairing->room);
    if (!copy) return -1;
    *copy = *event;
    copy->kind = IDS_KIND_COPY;
    copy->class = IDS_CLASS_COPY;
    copy->collective = IDS_NO_COLLECTIVE;
    copy->direction = op->direction;
    copy->value = op->copy_bytes;
    copy->asynchronous = op->marker;
    copy->pinned = 2;
    copy->self_ps = event->end_ps - event->start_ps;
    if (!op->marker) return 0;
    struct queue *queue = queue_of(pairing, key);
    size_t *waiting = queue ? IDS_PUSH(queue->at, queue->count, queue->room) : NULL;
    if (!waiting) return -1;
    *waiting = index;
    return 0;
}

static void end_copy(struct pairing *pairing, const struct ids_event *done, uint64_t key) {
    uint64_t place;
    if (!ids_keymap_get(&pairing->queue_of, key, &place)) return;
    struct queue *queue = &pairing->queues[place - 1];
    if (queue->first == queue->count) return; /* it began before the recording */
    struct ids_event *copy = &pairing->copies[queue->at[queue->first++]];
    if (done->end_ps > copy->end_ps) copy->end_ps = done->end_ps;
    copy->self_ps = copy->end_ps - copy->start_ps;
}

static int pair_ops(struct pairing *pairing, const struct ids_device *device) {
    const struct ids_trace *trace = pairing->trace;
    struct ids_cursor cursor = ids_cursor_over(&device->activity);
    for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
        const struct ids_op *op = event->op == IDS_NONE ? NULL : &trace->ops[event->op];
        uint64_t ignored;
        if (!op || event->kind != IDS_KIND_OP) continue;
        if (op->direction != IDS_NO_DIRECTION && (!op->marker || is_start(trace, op))) {
            uint64_t key = ids_key_of(name_key(trace, op), op->module);
            if (ids_keymap_get(&pairing->on_line, key, &ignored)) continue;
            if (begin_copy(pairing, event, op, key)) return -1;
        } else if (op->marker && pairing->queue_count && is_done(trace, op)) {
            end_copy(pairing, event, ids_key_of(started_by(trace, op), op->module));
        }
    }
    return 0;
}

static int note_line(struct pairing *pairing, const struct ids_device *device) {
    struct ids_cursor cursor = ids_cursor_over(&device->async);
    for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
        if (event->op == IDS_NONE) continue;
        const struct ids_op *op = &pairing->trace->ops[event->op];
        if (ids_keymap_add(&pairing->on_line, ids_key_of(name_key(pairing->trace, op), op->module), 1) < 0) return -1;
    }
    return 0;
}

static void pairing_done(struct pairing *pairing) {
    for (size_t q = 0; q < pairing->queue_count; q++) free(pairing->queues[q].at);
    free(pairing->queues);
    free(pairing->copies);
    ids_keymap_done(&pairing->queue_of);
    ids_keymap_done(&pairing->on_line);
}

static int add_to(struct ids_device *device, const struct pairing *pairing, struct ids_error *err) {
    struct ids_events *async = &device->async;
    for (size_t i = 0; i < pairing->count; i++) {
        struct ids_event *added = ids_events_add(async);
        if (!added) return ids_no_memory(err);
        *added = pairing->copies[i];
    }
    return pairing->count ? ids_events_sort(async, err) : 0;
}

int ids_host_copies_add(struct ids_trace *trace, struct ids_error *err) {
    int any = 0, code = 0;
    for (size_t o = 0; o < trace->op_count && !any; o++) any = trace->ops[o].direction != IDS_NO_DIRECTION;
    for (size_t d = 0; any && d < trace->device_count && !code; d++) {
        struct pairing pairing = {.trace = trace};
        if (trace->devices[d].kind != IDS_DEVICE_TPU) continue;
        code = note_line(&pairing, &trace->devices[d]) || pair_ops(&pairing, &trace->devices[d])
                   ? ids_no_memory(err)
                   : add_to(&trace->devices[d], &pairing, err);
        pairing_done(&pairing);
    }
    return code;
}
