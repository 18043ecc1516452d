#include "lib/model/containers.h"

#include "lib/base/vec.h"
#include "lib/hlo/opcode.h"

#include <ctype.h>
#include <stdlib.h>

/* One that has not ended yet at the moment that is looked at. */
struct open_container {
    struct ids_event *event;
    int64_t until_ps, covered_ps; /* up to where its inside was looked at, and how much of that others take */
};

struct open_containers {
    struct open_container *at;
    size_t count, room;
};

/* "while.3" of a file without HLO. */
static int is_called_like_one(struct ids_text name) {
    uint32_t length = name.length;
    while (length && isdigit((unsigned char)name.at[length - 1])) length--;
    if (length && length < name.length && name.at[length - 1] == '.') name.length = length - 1;
    return ids_opcode_is_container(name);
}

static int find_by_name(struct ids_trace *trace) {
    int any = 0;
    for (size_t i = 0; i < trace->op_count; i++) {
        struct ids_op *op = &trace->ops[i];
        if (!op->category && is_called_like_one(ids_strings_text(&trace->strings, op->name))) op->container = 1;
        any |= op->container;
    }
    return any;
}

static void close_one(const struct open_container *open) {
    int64_t own_ps = open->event->end_ps - open->event->start_ps - open->covered_ps;
    if (own_ps < open->event->self_ps) open->event->self_ps = own_ps > 0 ? own_ps : 0;
}

/* Events come in order of their begin. */
static void cover(struct open_containers *open, const struct ids_event *event) {
    size_t kept = 0;
    for (size_t i = 0; i < open->count; i++) {
        struct open_container *container = &open->at[i];
        if (container->event->end_ps <= event->start_ps) {
            close_one(container);
            continue;
        }
        int64_t from_ps = event->start_ps > container->until_ps ? event->start_ps : container->until_ps;
        int64_t to_ps = event->end_ps < container->event->end_ps ? event->end_ps : container->event->end_ps;
        if (to_ps > from_ps) {
            container->covered_ps += to_ps - from_ps;
            container->until_ps = to_ps;
        }
        open->at[kept++] = *container;
    }
    open->count = kept;
}

static int look_at_device(struct ids_trace *trace, struct ids_events *activity, struct open_containers *open) {
    ids_events_turn(activity);
    for (size_t i = 0; i < activity->count; i++) {
        struct ids_event *event = &activity->at[i];
        if (event->kind != IDS_KIND_OP) continue;
        if (open->count) cover(open, event);
        if (event->op == IDS_NONE || !trace->ops[event->op].container) continue;
        struct open_container *place = IDS_PUSH(open->at, open->count, open->room);
        if (!place) return -1;
        *place = (struct open_container){event, event->start_ps, 0};
    }
    for (size_t i = 0; i < open->count; i++) close_one(&open->at[i]);
    open->count = 0;
    return 0;
}

int ids_containers_find(struct ids_trace *trace, struct ids_error *err) {
    struct open_containers open = {0};
    int failed = 0;
    if (!find_by_name(trace)) return 0;
    for (size_t d = 0; d < trace->device_count && !failed; d++) {
        if (trace->devices[d].kind == IDS_DEVICE_CPU)
            failed = look_at_device(trace, &trace->devices[d].activity, &open);
    }
    free(open.at);
    return failed ? ids_no_memory(err) : 0;
}
