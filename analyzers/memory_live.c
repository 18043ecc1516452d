#include "analyzers/memory_live.h"
#include "lib/report/alike_names.h"

#include "lib/base/saturate.h"
#include "lib/base/vec.h"
#include "lib/model/python_frame.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct maker {
    const struct ids_trace *trace;
    struct ids_live_list *list;
    struct ids_keymap groups; /* key -> index + 1 */
};

/* --- who took it ------------------------------------------------------------------------------------------------ */

static const char *name_text(const struct ids_trace *trace, uint32_t name) {
    const struct ids_name *of = &trace->names[name];
    return ids_trace_text(trace, of->display ? of->display : of->text);
}

/* "step (train.py:12)" of "$train.py:12 step". */
static const char *frame_text(struct maker *maker, uint32_t name) {
    const char *text = name_text(maker->trace, name);
    struct ids_python_frame frame;
    if (!ids_python_frame_of((struct ids_text){text, (uint32_t)strlen(text)}, &frame) || !frame.file.length)
        return text;
    const char *slash = memrchr(frame.file.at, '/', frame.file.length);
    uint32_t skip = slash ? (uint32_t)(slash + 1 - frame.file.at) : 0;
    return ids_arena_print(&maker->list->texts, "%.*s (%.*s:%" PRId64 ")", (int)frame.function.length,
                           frame.function.at, (int)(frame.file.length - skip), frame.file.at + skip, frame.line);
}

/* What the thread was doing when it took memory. */
static const struct ids_doing *doing_at(const struct ids_trace *trace, const struct ids_allocation *event) {
    const struct ids_timeline *timeline = &trace->tracks[event->track].timeline;
    size_t turn = timeline->count ? ids_timeline_find(timeline, event->at_ps) : SIZE_MAX;
    return turn == SIZE_MAX ? NULL : &trace->doings[timeline->doing[turn]];
}

static int is_told(const struct ids_trace *trace, uint32_t op) {
    return op && strcmp(ids_trace_text(trace, op), "dummy") != 0; /* what a TPU's allocator says of all of them */
}

/* --- groups ----------------------------------------------------------------------------------------------------- */

/* The place of an op in a framework's model: layers of it are one row. A name without a path stays as it is. */
static uint64_t hash_of_op(const char *op) {
    return strchr(op, '/') ? ids_hash_without_numbers(op) : ids_hash_bytes(op, strlen(op));
}

static int add(struct maker *maker, const struct ids_allocation *event) {
    const struct ids_trace *trace = maker->trace;
    const struct ids_doing *doing = doing_at(trace, event);
    int told = is_told(trace, event->op);
    uint32_t call = doing && !told ? doing->around : IDS_NONE, caller = doing ? doing->caller : IDS_NONE;
    uint64_t op = told ? hash_of_op(ids_trace_text(trace, event->op)) : 0;
    uint64_t key = ids_key_of(ids_key_of(op, (uint64_t)call << 32 | caller),
                              ids_key_of((uint64_t)event->region << 32 | event->type, event->shape));
    uint64_t *place = ids_keymap_at(&maker->groups, key);
    if (!place) return -1;
    if (!*place) {
        struct ids_live *added = IDS_PUSH(maker->list->at, maker->list->count, maker->list->room);
        if (!added) return -1;
        *added = (struct ids_live){.op = told               ? ids_trace_text(trace, event->op)
                                         : call == IDS_NONE ? ""
                                                            : frame_text(maker, call),
                                   .caller = caller == IDS_NONE ? "" : frame_text(maker, caller),
                                   .region = event->region,
                                   .type = event->type,
                                   .shape = event->shape};
        if (!added->op || !added->caller) return -1;
        added->first_op = event->op;
        *place = maker->list->count;
    }
    struct ids_live *live = &maker->list->at[*place - 1];
    live->ops_differ |= told && event->op != live->first_op;
    ids_sum(&live->bytes, event->bytes);
    live->count++;
    return 0;
}

static int most_first(const void *a, const void *b) {
    const struct ids_live *left = a, *right = b;
    if (left->bytes != right->bytes) return left->bytes < right->bytes ? 1 : -1;
    int order = strcmp(left->op, right->op);
    return order ? order : strcmp(left->caller, right->caller);
}

/* The events up to `last` that took what is still in use then, by address. */
static int find_open(const struct ids_memory_use *use, const struct ids_allocation *last, struct ids_keymap *open) {
    for (const struct ids_allocation *event = use->first; event <= last; event++) {
        if (!event->address) continue;
        uint64_t *at = ids_keymap_at(open, event->address);
        if (!at) return -1;
        *at = event->takes ? (uint64_t)(event - use->first) + 1 : 0;
    }
    return 0;
}

int ids_live_make(const struct ids_trace *trace, const struct ids_memory_use *use, const struct ids_allocation *last,
                  struct ids_live_list *ret_list, struct ids_error *err) {
    struct ids_keymap open = {0};
    struct maker maker = {.trace = trace, .list = ret_list};
    *ret_list = (struct ids_live_list){.before = ids_sat_sub(last->in_use, last->reserved)};
    int failed = find_open(use, last, &open);
    for (const struct ids_allocation *event = use->first; event <= last && !failed; event++) {
        uint64_t taken;
        if (!event->address || !event->takes || !ids_keymap_get(&open, event->address, &taken) ||
            taken != (uint64_t)(event - use->first) + 1)
            continue;
        failed = add(&maker, event);
        ids_sum(&ret_list->before, -event->bytes);
    }
    if (ret_list->before < 0 || !open.count) ret_list->before = 0; /* without addresses nothing is known of it */
    ids_keymap_done(&open);
    ids_keymap_done(&maker.groups);
    if (failed) ids_live_done(ret_list);
    if (!failed && ret_list->count) qsort(ret_list->at, ret_list->count, sizeof *ret_list->at, most_first);
    return failed ? ids_no_memory(err) : 0;
}

void ids_live_done(struct ids_live_list *list) {
    free(list->at);
    ids_arena_done(&list->texts);
    *list = (struct ids_live_list){0};
}
