#include "lib/model/calls.h"

#include "lib/base/vec.h"
#include "lib/model/checkpoints.h"
#include "lib/model/classify.h"
#include "lib/model/dimensions.h"
#include "lib/model/nesting.h"
#include "lib/model/torch_cost.h"

#include <stdlib.h>
#include <string.h>

/* What passes of a frame or a numbered op. */
enum mark_kind { MARK_FRAME, MARK_FORWARD, MARK_BACKWARD, MARK_OTHER };
struct ids_call_mark {
    uint64_t id, parent; /* of frames; of ops the keys of their sequence number and of their External id, or 0 */
    uint32_t name;       /* of trace->names */
    union {
        uint32_t scope; /* text: of frames, once resolved */
        uint32_t cost;  /* of ops: index + 1 of trace->call_costs; 0 unknown */
    };
    uint32_t inputs; /* of ops, see ids_call */
    uint32_t host;
    uint8_t kind, is_resolved;
};

struct ids_call_arrow {
    uint64_t key;
    int64_t at_ps;
    uint32_t track;
    int is_out;
};

/* An op, frame or region that is open on the track, with what it has of those around it. */
struct ids_open_call {
    int64_t end_ps;
    int64_t region_end_ps;      /* of the innermost region around */
    uint64_t link;              /* of a backward op: the key of its forward op */
    uint32_t scope, op, outer;  /* texts */
    uint32_t cost, inputs;      /* of `op` */
    uint32_t run;               /* which of the op's runs it is, from 1; 0: it is no op that bears a number */
    uint32_t frame, user_frame; /* texts: the innermost one, and that outside the framework */
    uint32_t checkpoint;        /* text: the scope in which a checkpointed function was called */
    uint8_t in_module;          /* scope is of modules, not of regions */
    uint8_t is_autograd;        /* scope is that of the forward op `link` */
    uint8_t in_checkpoint;      /* `checkpoint` is known */
    uint8_t is_again;           /* what runs is computed again, for the backward op of `link` */
};

/* A chain of frames is as long as calls nest, unless a damaged file has a circle. */
enum { FRAMES_LIMIT = 10000 };

static const char module_prefix[] = "nn.Module: ";
static const char autograd_prefix[] = "autograd::engine::evaluate_function: ";

void ids_calls_done(struct ids_calls *calls) {
    free(calls->marks);
    free(calls->forwards);
    free(calls->arrows);
    free(calls->stack);
    free(calls->chain);
    ids_keymap_done(&calls->frame_of_id);
    ids_keymap_done(&calls->scopes);
    ids_keymap_done(&calls->map);
    ids_keymap_done(&calls->forward_map);
    ids_keymap_done(&calls->external);
    ids_keymap_done(&calls->costs);
    ids_keymap_done(&calls->inputs);
    *calls = (struct ids_calls){0};
}

static struct ids_text text_of_name(const struct ids_calls *calls, uint32_t name) {
    return ids_strings_text(&calls->trace->strings, calls->trace->names[name].text);
}

uint64_t ids_calls_external(uint32_t host, const struct ids_facts *facts) {
    return facts->external ? ids_link_key(IDS_LINK_EXTERNAL, host, 0, (uint64_t)facts->external) : 0;
}

/* ---- reading ---- */

static int new_cost(struct ids_trace *trace, const struct ids_torch_cost *told, uint64_t key, uint64_t *ret_number) {
    struct ids_call_cost cost = {.fingerprint = key,

                                 .flops = (int64_t)told->flops,
                                 .bytes = (int64_t)told->bytes,
                                 .element = told->element};
    cost.shape = ids_intern(&trace->strings, told->shape, strlen(told->shape));
    struct ids_call_cost *added =
        cost.shape == IDS_NO_TEXT ? NULL : IDS_PUSH(trace->call_costs, trace->call_cost_count, trace->call_cost_room);
    if (!added) return -1;
    *added = cost;
    *ret_number = trace->call_cost_count;
    return 0;
}

/* What it was called with, never 0. */
static uint32_t inputs_of(const struct ids_trace *trace, const struct ids_facts *facts) {
    if (!facts->input_dims) return 0;
    struct ids_text dims = ids_arg_chars(trace, facts->input_dims);
    uint64_t key = ids_hash_bytes(dims.at, dims.length);
    if (facts->input_types) {
        struct ids_text types = ids_arg_chars(trace, facts->input_types);
        key = ids_key_of(key, ids_hash_bytes(types.at, types.length));
    }
    return (uint32_t)(key >> 32) | 1;
}

/* The same op is called with the same shapes again and again. */
static int cost_of(struct ids_calls *calls, uint32_t name, const struct ids_facts *facts, uint32_t *ret_cost) {
    struct ids_trace *trace = calls->trace;
    uint8_t *product = &trace->names[name].product;
    if (!*product) *product = (uint8_t)(ids_torch_product(text_of_name(calls, name)) + 1);
    *ret_cost = 0;
    if (*product == 1 || !facts->input_dims || !facts->input_types) return 0;
    const struct ids_arg none = {.type = IDS_VALUE_NONE};
    const struct ids_arg *const args[] = {facts->input_dims, facts->input_types,
                                          facts->input_values ? facts->input_values : &none};
    struct ids_text texts[3];
    struct ids_text op = text_of_name(calls, name);
    uint64_t key = ids_hash_bytes(op.at, op.length);
    for (int i = 0; i < 3; i++) {
        texts[i] = ids_arg_chars(trace, args[i]);
        key = ids_key_of(key, ids_hash_bytes(texts[i].at, texts[i].length));
    }
    uint64_t number = 0;
    struct ids_torch_cost cost;
    if (!ids_keymap_get(&calls->costs, key, &number)) {
        if (ids_torch_cost_of(*product - 1, texts[0], texts[1], texts[2], &cost) &&
            new_cost(trace, &cost, key, &number))
            return -1;
        if (ids_keymap_add(&calls->costs, key, number) < 0) return -1;
    }
    *ret_cost = (uint32_t)number;
    return 0;
}

int ids_calls_mark(struct ids_calls *calls, uint32_t host, uint32_t name, const struct ids_facts *facts,
                   uint32_t *ret_mark) {
    struct ids_call_mark mark = {.name = name, .host = host};
    *ret_mark = IDS_NONE;
    if (facts->has_python_id) {
        mark.id = (uint64_t)facts->python_id;
        mark.parent = (uint64_t)facts->python_parent;
        mark.kind = MARK_FRAME;
        uint64_t number = calls->mark_count + 1;
        if (ids_keymap_add(&calls->frame_of_id, ids_link_key(IDS_LINK_FRAME, host, 0, mark.id), number) < 0) return -1;
    } else if (facts->is_op && (facts->has_sequence || facts->external)) {
        if (facts->has_sequence) mark.id = ids_link_key(IDS_LINK_SEQUENCE, host, 0, (uint64_t)facts->sequence);
        mark.parent = ids_calls_external(host, facts);
        mark.kind = !facts->has_sequence ? MARK_OTHER : facts->forward_thread ? MARK_BACKWARD : MARK_FORWARD;
        mark.is_resolved = 1;
        if (cost_of(calls, name, facts, &mark.cost)) return -1;
        if (!mark.cost) mark.inputs = inputs_of(calls->trace, facts);
    } else {
        return 0;
    }
    if (calls->mark_count == IDS_CALL_MARKS_LIMIT) return 0;
    struct ids_call_mark *added = IDS_PUSH(calls->marks, calls->mark_count, calls->mark_room);
    if (!added) return -1;
    *added = mark;
    *ret_mark = (uint32_t)(calls->mark_count - 1);
    return 0;
}

int ids_calls_arrow(struct ids_calls *calls, uint32_t host, uint32_t track, int64_t at_ps, int is_out,
                    const struct ids_facts *facts) {
    if (!facts->is_fwdbwd || !facts->arrow) return 0;
    const uint64_t key = ids_link_arrow(&calls->trace->strings, host, facts->arrow);
    struct ids_call_arrow *added = IDS_PUSH(calls->arrows, calls->arrow_count, calls->arrow_room);
    if (!added) return -1;
    *added = (struct ids_call_arrow){key, at_ps, track, is_out};
    return 0;
}

/* ---- names ---- */

enum call_part {
    PART_UNKNOWN,
    PART_BUILT_IN,
    PART_MODULE,
    PART_FRAMEWORK,
    PART_CHECKPOINT,
    PART_AGAIN,
    PART_PROGRAM,
    PART_NODE
};

static enum call_part part_of_frame(struct ids_text text) {
    enum ids_checkpoint_frame checkpoint = ids_checkpoint_frame_of(text);
    if (checkpoint) return checkpoint == IDS_CHECKPOINT_CALL ? PART_CHECKPOINT : PART_AGAIN;
    int is_framework = ids_text_begins(text, "torch/") || ids_text_contains(text, "/torch/");
    return is_framework ? PART_FRAMEWORK : PART_PROGRAM;
}

/* Names are few and events many: each is looked at once. */
static enum call_part part_of(struct ids_calls *calls, uint32_t name) {
    uint8_t *part = &calls->trace->names[name].call_part;
    if (*part) return (enum call_part) * part;
    struct ids_text text = text_of_name(calls, name);
    enum call_part found = ids_text_begins(text, autograd_prefix) ? PART_NODE
                           : ids_text_begins(text, module_prefix) ? PART_MODULE
                           : !text.length || *text.at == '<'      ? PART_BUILT_IN /* they bear an address */
                                                                  : part_of_frame(text);
    *part = (uint8_t)found;
    return found;
}

/* ---- scopes ---- */

/* "scope/name" */
static int inner_scope(struct ids_calls *calls, uint32_t scope, struct ids_text name, uint32_t *ret_scope) {
    struct ids_strings *strings = &calls->trace->strings;
    uint32_t part = ids_intern(strings, name.at, name.length);
    if (part == IDS_NO_TEXT) return -1;
    *ret_scope = part;
    if (!scope) return 0;
    uint64_t *place = ids_keymap_at(&calls->scopes, ids_key_of(scope, part));
    if (!place) return -1;
    if (!*place) {
        struct ids_text outside = ids_strings_text(strings, scope), inside = ids_strings_text(strings, part);
        size_t length = (size_t)outside.length + 1 + inside.length;
        char *path = malloc(length);
        if (!path) return -1;
        memcpy(path, outside.at, outside.length);
        path[outside.length] = '/';
        memcpy(path + outside.length + 1, inside.at, inside.length);
        uint32_t text = ids_intern(strings, path, length);
        free(path);
        if (text == IDS_NO_TEXT) return -1;
        *place = text;
    }
    *ret_scope = (uint32_t)*place;
    return 0;
}

/* The frame's own module, without the words before it. */
static struct ids_text module_of(struct ids_text name) {
    size_t prefix = sizeof module_prefix - 1;
    return (struct ids_text){name.at + prefix, (uint32_t)(name.length - prefix)};
}

/* The modules of a frame: the modules of the frames above it, and itself. Each frame is visited once, and its result
 * is kept. */
static int resolve(struct ids_calls *calls, uint32_t number, uint32_t *ret_scope) {
    size_t length = 0;
    uint64_t above = (uint64_t)number + 1;
    while (!calls->marks[above - 1].is_resolved && length < FRAMES_LIMIT) {
        uint32_t *next = IDS_PUSH(calls->chain, length, calls->chain_room);
        if (!next) return -1;
        *next = (uint32_t)(above - 1);
        const struct ids_call_mark *mark = &calls->marks[above - 1];
        if (!ids_keymap_get(&calls->frame_of_id, ids_link_key(IDS_LINK_FRAME, mark->host, 0, mark->parent), &above))
            break;
    }
    uint32_t scope = calls->marks[above - 1].is_resolved ? calls->marks[above - 1].scope : 0;
    while (length--) {
        struct ids_call_mark *mark = &calls->marks[calls->chain[length]];
        if (part_of(calls, mark->name) == PART_MODULE &&
            inner_scope(calls, scope, module_of(text_of_name(calls, mark->name)), &scope))
            return -1;
        mark->scope = scope;
        mark->is_resolved = 1;
    }
    *ret_scope = scope;
    return 0;
}

/* Whether `inner` is a scope inside the first `length` bytes of a scope. */
static int is_deeper(struct ids_text inner, struct ids_text outer, size_t length) {
    if (inner.length <= length || memcmp(inner.at, outer.at, length) != 0) return 0;
    return !length || inner.at[length] == '/';
}

/* The modules of a frame, by its ids and by the frame around it. Kineto sometimes skips callers: then the parent
 * that a frame names is further out than the frame that encloses it. Frames inside it get the modules by their ids. */
static int frame_scope(struct ids_calls *calls, uint32_t number, int64_t end_ps, uint32_t *ret_scope) {
    if (resolve(calls, number, ret_scope)) return -1;
    const struct ids_open_call *around = NULL;
    for (size_t i = calls->depth; i-- && !around;) {
        if (calls->stack[i].end_ps >= end_ps) around = &calls->stack[i];
    }
    if (!around || !around->in_module || around->scope == *ret_scope) return 0;
    struct ids_call_mark *mark = &calls->marks[number];
    struct ids_text name = text_of_name(calls, mark->name), own = {0};
    if (part_of(calls, mark->name) == PART_MODULE) own = module_of(name);
    const struct ids_strings *strings = &calls->trace->strings;
    struct ids_text by_id = ids_strings_text(strings, *ret_scope);
    size_t length = *ret_scope ? by_id.length - own.length : 0;
    if (own.length && length) length--; /* the slash */
    if (!length || !is_deeper(ids_strings_text(strings, around->scope), by_id, length)) return 0;
    *ret_scope = around->scope;
    if (own.length && inner_scope(calls, around->scope, own, ret_scope)) return -1;
    mark->scope = *ret_scope;
    return 0;
}

/* ---- a track ---- */

static int by_place(const void *a, const void *b) {
    const struct ids_call_arrow *left = a, *right = b;
    if (left->track != right->track) return left->track < right->track ? -1 : 1;
    return (left->at_ps > right->at_ps) - (left->at_ps < right->at_ps);
}

int ids_calls_begin(struct ids_calls *calls, uint32_t track) {
    if (calls->ordered_arrows != calls->arrow_count)
        qsort(calls->arrows, calls->arrow_count, sizeof *calls->arrows, by_place);
    calls->ordered_arrows = calls->arrow_count;
    size_t low = 0, high = calls->arrow_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (calls->arrows[middle].track < track)
            low = middle + 1;
        else
            high = middle;
    }
    calls->next_arrow = low;
    calls->track = track;
    calls->depth = 0;
    calls->last_link = 0;
    return 0;
}

static int put_forward(struct ids_calls *calls, uint64_t key, int64_t start_ps, const struct ids_open_call *open) {
    uint64_t *place = ids_keymap_at(&calls->forward_map, key);
    if (!place) return -1;
    struct ids_forward *forward = *place ? &calls->forwards[*place - 1] : NULL;
    if (!forward) {
        forward = IDS_PUSH(calls->forwards, calls->forward_count, calls->forward_room);
        if (!forward) return -1;
        *place = calls->forward_count;
        forward->track = calls->track;
    }
    /* Of the ops that bear a number the one that began last made the node. */
    if (forward->track != calls->track) forward->track = IDS_NONE;
    forward->start_ps = start_ps;
    forward->scope = open->scope;
    forward->checkpoint = open->checkpoint;
    forward->in_checkpoint = open->in_checkpoint;
    forward->again = open->is_again ? open->link : 0;
    return 0;
}

/* Arrows bind to the op that is open where they begin or end. */
static int pass_arrows(struct ids_calls *calls, int64_t before_ps) {
    for (; calls->next_arrow < calls->arrow_count; calls->next_arrow++) {
        const struct ids_call_arrow *arrow = &calls->arrows[calls->next_arrow];
        if (arrow->track != calls->track || arrow->at_ps >= before_ps) break;
        struct ids_open_call *open = NULL;
        for (size_t i = calls->depth; i-- && !open;) {
            if (calls->stack[i].end_ps > arrow->at_ps) open = &calls->stack[i];
        }
        if (!open) continue;
        if (arrow->is_out && put_forward(calls, arrow->key, arrow->at_ps, open)) return -1;
        if (arrow->is_out) continue;
        open->link = calls->last_link = arrow->key;
        open->is_autograd = 1;
    }
    return 0;
}

/* What runs from here on is no part of the node of autograd that needs it. */
static int compute_again(struct ids_calls *calls, struct ids_open_call *open) {
    static const char mark[] = IDS_CHECKPOINT_MARK;
    open->is_again = 1;
    open->op = open->cost = open->inputs = open->run = open->in_checkpoint = 0;
    open->outer = ids_intern(&calls->trace->strings, mark, sizeof mark - 1);
    return open->outer == IDS_NO_TEXT ? -1 : 0;
}

static void call_checkpoint(struct ids_open_call *open) {
    open->checkpoint = open->scope;
    open->in_checkpoint = 1;
}

static int open_frame(struct ids_calls *calls, uint32_t name, struct ids_open_call *open) {
    enum call_part part = part_of(calls, name);
    if (part < PART_FRAMEWORK) return 0;
    open->frame = calls->trace->names[name].text;
    if (part == PART_PROGRAM) open->user_frame = open->frame;
    if (part == PART_CHECKPOINT) call_checkpoint(open);
    return part == PART_AGAIN ? compute_again(calls, open) : 0;
}

static int open_op(struct ids_calls *calls, int64_t start_ps, uint32_t name, uint32_t mark_number,
                   struct ids_open_call *open) {
    const struct ids_call_mark *mark = mark_number == IDS_NONE ? NULL : &calls->marks[mark_number];
    open->op = calls->trace->names[name].text;
    open->cost = mark ? mark->cost : 0;
    open->inputs = mark ? mark->inputs : 0;
    open->run = mark ? mark_number + 1 : 0;
    if (part_of(calls, name) == PART_NODE) { /* the root of what it runs */
        struct ids_text text = text_of_name(calls, name);
        size_t prefix = sizeof autograd_prefix - 1;
        open->op = ids_intern(&calls->trace->strings, text.at + prefix, text.length - prefix);
        if (open->op == IDS_NO_TEXT) return -1;
        open->scope = open->outer = 0;
        open->in_module = open->is_autograd = open->in_checkpoint = 0;
        open->is_again = (uint8_t)ids_checkpoint_is_node(ids_strings_text(&calls->trace->strings, open->op));
        open->link = calls->last_link; /* a node without a forward op comes with the one before */
    }
    if (!open->outer) open->outer = open->op;
    if (ids_checkpoint_is_function(text_of_name(calls, name))) {
        call_checkpoint(open);
        open->outer = 0; /* what it calls is what the program calls */
    }
    if (!mark || mark->kind == MARK_OTHER) return 0;
    if (mark->kind == MARK_FORWARD) return put_forward(calls, mark->id, start_ps, open);
    if (open->is_autograd && open->link != mark->id) return 0; /* an arrow told */
    open->link = calls->last_link = mark->id;
    open->is_autograd = 1;
    return 0;
}

int ids_call_number(struct ids_calls *calls, const struct ids_call *call, uint32_t *ret_number) {
    uint64_t key = ids_key_of(ids_key_of(ids_key_of(call->scope, call->op), ids_key_of(call->outer, call->frame)),
                              ids_key_of(call->source, ids_key_of(call->pass, ids_key_of(call->cost, call->inputs))));
    uint64_t *place = ids_keymap_at(&calls->map, key);
    if (!place) return -1;
    if (!*place) {
        struct ids_trace *trace = calls->trace;
        struct ids_call *added = IDS_PUSH(trace->calls, trace->call_count, trace->call_room);
        if (!added) return -1;
        *added = *call;
        *place = trace->call_count;
    }
    *ret_number = (uint32_t)*place;
    return 0;
}

static struct ids_call inside(const struct ids_open_call *top) {
    enum ids_call_pass pass = top->is_again ? IDS_CALL_AGAIN : top->is_autograd ? IDS_CALL_BACKWARD : IDS_CALL_FORWARD;
    return (struct ids_call){top->scope,      top->op, top->outer, top->frame,
                             top->user_frame, pass,    top->cost,  top->inputs};
}

static int launch(struct ids_calls *calls, const struct ids_open_call *top, struct ids_event *event) {
    struct ids_call call = inside(top);
    /* Behind the nodes of a thread of autograd come what its end calls, in no frame of the program. */
    uint64_t link = top->link || top->frame || top->in_module ? top->link : calls->last_link;
    if (!event->consumes) event->consumes = link;
    if (!event->run_id) event->run_id = top->run;
    event->from_autograd = link != 0;
    return ids_call_number(calls, &call, &event->call);
}

/* Work may name the op by its number. */
static int number_op(struct ids_calls *calls, const struct ids_open_call *op, uint32_t mark_number) {
    const uint64_t key = mark_number == IDS_NONE ? 0 : calls->marks[mark_number].parent;
    if (!key) return 0;
    struct ids_call call = inside(op);
    uint32_t number;
    return ids_call_number(calls, &call, &number) || ids_keymap_add(&calls->external, key, number) < 0 ? -1 : 0;
}

int ids_calls_visit(struct ids_calls *calls, int64_t start_ps, int64_t end_ps, uint32_t name, uint32_t mark,
                    struct ids_event *event) {
    if (pass_arrows(calls, start_ps)) return -1;
    while (calls->depth && calls->stack[calls->depth - 1].end_ps <= start_ps) calls->depth--;
    struct ids_open_call open = {0};
    if (calls->depth) open = calls->stack[calls->depth - 1];
    open.end_ps = end_ps;
    uint8_t kind = event ? event->kind : calls->trace->names[name].kind;
    int code = 0;
    if (event && kind == IDS_KIND_LAUNCH) return calls->depth ? launch(calls, &open, event) : 0;
    if (kind == IDS_KIND_CALL) {
        code = open_op(calls, start_ps, name, mark, &open);
        if (!code) code = number_op(calls, &open, mark);
    } else if (kind == IDS_KIND_PYTHON) {
        uint32_t scope = 0;
        if (mark != IDS_NONE) code = frame_scope(calls, mark, end_ps, &scope);
        if (scope) {
            open.scope = scope;
            open.in_module = 1;
        } else if (mark != IDS_NONE && open.in_module) {
            open.scope = open.in_module = 0;
        }
        if (!code) code = open_frame(calls, name, &open);
    } else if (event && event->annotation && kind != IDS_KIND_STEP_MARK) {
        if (calls->depth && ids_outlives(start_ps, end_ps, open.region_end_ps) &&
            ids_collective_of_annotation(text_of_name(calls, name)))
            return 0;
        open.region_end_ps = end_ps;
        if (!open.in_module) code = inner_scope(calls, open.scope, text_of_name(calls, name), &open.scope);
    } else {
        return 0;
    }
    struct ids_open_call *pushed = code ? NULL : IDS_PUSH(calls->stack, calls->depth, calls->room);
    if (!pushed) return -1;
    *pushed = open;
    return 0;
}

/* ---- joins ---- */

/* The place of what ran as `*scope` when it was computed again for the backward op of that key; 0: it was not. Inside
 * checkpoints computed again there may be others. */
static int again_scope(struct ids_calls *calls, uint64_t key, uint32_t *scope) {
    enum { NESTED = 16 };
    uint64_t place;
    for (int depth = 0; key && depth < NESTED && ids_keymap_get(&calls->forward_map, key, &place); depth++) {
        const struct ids_forward *forward = &calls->forwards[place - 1];
        if (forward->track == IDS_NONE) return 0;
        uint32_t around = forward->in_checkpoint ? forward->checkpoint : forward->scope;
        if (ids_checkpoint_scope(&calls->trace->strings, around, *scope, forward->in_checkpoint, scope)) return -1;
        key = forward->again;
    }
    return 0;
}

int ids_calls_join(struct ids_calls *calls, uint64_t consumed, struct ids_event *launch) {
    struct ids_trace *trace = calls->trace;
    uint64_t place;
    if (!launch->call || launch->launch || !ids_keymap_get(&calls->forward_map, consumed, &place)) return 0;
    const struct ids_forward *forward = &calls->forwards[place - 1];
    if (forward->track == IDS_NONE) return 0;
    const struct ids_event *around = ids_track_at(&trace->tracks[forward->track], forward->start_ps);
    if (around != launch) launch->launch = around;
    struct ids_call call = trace->calls[launch->call - 1];
    uint32_t scope = forward->scope, had = call.scope;
    if (call.pass == IDS_CALL_FORWARD || (call.pass == IDS_CALL_BACKWARD && call.scope)) return 0;
    if (call.pass == IDS_CALL_AGAIN ? again_scope(calls, consumed, &call.scope)
                                    : again_scope(calls, forward->again, &scope))
        return -1;
    if (call.pass == IDS_CALL_BACKWARD) call.scope = scope;
    return call.scope == had ? 0 : ids_call_number(calls, &call, &launch->call);
}

/* "train.py(12): step" as sources are written: "train.py:12". */
static int source_of(struct ids_trace *trace, uint32_t frame, uint32_t *ret_source) {
    struct ids_text text = ids_strings_text(&trace->strings, frame);
    const char *open = text.length ? memchr(text.at, '(', text.length) : NULL;
    const char *close = open ? memchr(open, ')', (size_t)(text.at + text.length - open)) : NULL;
    *ret_source = 0;
    if (!close) return 0;
    size_t file = (size_t)(open - text.at), line = (size_t)(close - open - 1);
    char *source = malloc(file + line + 1);
    if (!source) return -1;
    memcpy(source, text.at, file);
    source[file] = ':';
    memcpy(source + file + 1, open + 1, line);
    *ret_source = ids_intern(&trace->strings, source, file + line + 1);
    free(source);
    return *ret_source == IDS_NO_TEXT ? -1 : 0;
}

/* The call that launched the work, from 1; 0 unknown. What a queue or a graph launched later lies in no op, or was
 * not recorded. */
static uint32_t call_of_work(const struct ids_calls *calls, const struct ids_event *work) {
    const uint32_t by_launch = work->launch ? work->launch->call : 0;
    uint64_t by_number;
    const struct ids_call *call = by_launch ? &calls->trace->calls[by_launch - 1] : NULL;
    if (call && (call->op || call->pass == IDS_CALL_AGAIN)) return by_launch;
    return work->produces && ids_keymap_get(&calls->external, work->produces, &by_number) ? (uint32_t)by_number
                                                                                          : by_launch;
}

static void put_cost(const struct ids_trace *trace, const struct ids_call_cost *cost, struct ids_op *op) {
    op->cost_source = IDS_COST_OF_MODEL;
    op->flops = op->matrix_flops = cost->flops;
    op->bytes_accessed = op->memory_bytes = cost->bytes;
    op->model_flops = strcmp(ids_op_pass(trace, op), "recomputed") != 0 ? cost->flops : 0;
    op->element = cost->element;
    op->shape = cost->shape;
    op->fingerprint = cost->fingerprint;
}

/* An op that is always called with the same shapes computes the same as others of its name that are; one that is not
 * has no fingerprint. */
static int see_inputs(struct ids_calls *calls, const struct ids_call *call, uint32_t number) {
    static const uint64_t differ = UINT64_MAX;
    struct ids_op *op = &calls->trace->ops[number];
    uint64_t *seen = ids_keymap_at(&calls->inputs, (uint64_t)number + 1);
    if (!seen) return -1;
    if (*seen == differ || (*seen && *seen == call->inputs)) return 0;
    const int is_first = !*seen && call->inputs;
    *seen = is_first ? call->inputs : differ;
    const struct ids_text name = ids_strings_text(&calls->trace->strings, op->name);
    op->fingerprint = is_first ? ids_key_of(ids_hash_bytes(name.at, name.length), call->inputs) : 0;
    return 0;
}

int ids_calls_op(struct ids_calls *calls, struct ids_keymap *ops, const struct ids_event *work, uint32_t *ret_op) {
    struct ids_trace *trace = calls->trace;
    *ret_op = IDS_NONE;
    const uint32_t number = call_of_work(calls, work);
    if (!number) return 0;
    const struct ids_call call = trace->calls[number - 1];
    uint32_t op_name = call.op ? call.op : call.scope ? trace->names[work->name].text : 0, path = call.scope;
    if (!op_name) return 0;
    struct ids_text outer = ids_strings_text(&trace->strings, call.outer);
    if (call.outer && call.outer != call.op && inner_scope(calls, path, outer, &path)) return -1;
    if (inner_scope(calls, path, ids_strings_text(&trace->strings, op_name), &path)) return -1;
    uint64_t *place = ids_keymap_at(ops, ids_key_of(ids_key_of(path, op_name), call.cost));
    if (!place) return -1;
    if (!*place) {
        uint32_t source;
        if (source_of(trace, call.source ? call.source : call.frame, &source)) return -1;
        if (ids_framework_op(trace, op_name, call.op, path, source, ret_op)) return -1;
        if (call.cost) put_cost(trace, &trace->call_costs[call.cost - 1], &trace->ops[*ret_op]);
        *place = (uint64_t)*ret_op + 1;
    }
    *ret_op = (uint32_t)(*place - 1);
    return call.cost ? 0 : see_inputs(calls, &call, *ret_op);
}
