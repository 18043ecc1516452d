#include "lib/analysis/device_sweep.h"

#include "lib/analysis/ledger.h"
#include "lib/base/run_merge.h"
#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

/* A stretch of one event's own time on its track: while it is the innermost one there. */
struct piece {
    int64_t from_ps, to_ps;
    const struct ids_event *event;
    uint16_t state;
    uint8_t rank;
};

/* The ops that are open on one track. At each moment the innermost one says what the device does: a loop's time is that
 * of the ops in its body. */
struct open_op {
    const struct ids_event *event;
    int64_t from_ps; /* since when it is the innermost one */
};

struct lane {
    struct open_op *stack;
    size_t depth, room;
    size_t stall; /* where the track's stalls are looked at next */
    int is_open;  /* in the list of those with an op */
};

struct ids_sweep_room {
    const struct ids_analysis *analysis;
    struct lane *lanes; /* by track; empty between devices */
    uint32_t *open;     /* tracks */
    size_t track_count;
};

int ids_sweep_room_new(const struct ids_analysis *analysis, struct ids_sweep_room **ret_room, struct ids_error *err) {
    struct ids_sweep_room *room = calloc(1, sizeof *room);
    if (room) {
        room->lanes = calloc(analysis->trace->track_count + 1, sizeof *room->lanes);
        room->open = calloc(analysis->trace->track_count + 1, sizeof *room->open);
    }
    if (!room || !room->lanes || !room->open) {
        ids_sweep_room_free(room);
        return ids_no_memory(err);
    }
    room->analysis = analysis;
    room->track_count = analysis->trace->track_count;
    *ret_room = room;
    return 0;
}

void ids_sweep_room_free(struct ids_sweep_room *room) {
    if (!room) return;
    for (size_t t = 0; t < room->track_count; t++) free(room->lanes[t].stack);
    free(room->lanes);
    free(room->open);
    free(room);
}

struct gathering {
    const struct ids_analysis *analysis;
    int64_t from_ps, to_ps;
    struct lane *lanes; /* by track */
    uint32_t *open;     /* tracks that have an op, or had one when `first_end_ps` was found */
    size_t open_count;
    int64_t first_end_ps; /* when the first of the innermost ops ends */
    struct piece *at;
    size_t count, room;
    const struct ids_event *beyond; /* the first activity behind `to_ps` */
    int of_cpu, failed;
};

static enum ids_sweep_rank rank_of_copy(const struct ids_event *event) {
    static const uint8_t ranks[IDS_DIRECTION_COUNT + 1] = {[IDS_H2D] = IDS_RANK_H2D,
                                                           [IDS_D2H] = IDS_RANK_D2H,
                                                           [IDS_D2D] = IDS_RANK_D2D,
                                                           [IDS_P2P] = IDS_RANK_P2P,
                                                           [IDS_MEMSET] = IDS_RANK_SET,
                                                           [IDS_H2H] = IDS_RANK_OTHER_COPY,
                                                           [IDS_NO_DIRECTION] = IDS_RANK_OTHER_COPY};
    return (enum ids_sweep_rank)ranks[event->direction <= IDS_NO_DIRECTION ? event->direction : IDS_NO_DIRECTION];
}

static uint16_t state_of_direction(const struct ids_event *event) {
    return event->direction == IDS_H2D ? IDS_IS_H2D : event->direction == IDS_D2H ? IDS_IS_D2H : 0;
}

enum { NEAR = 32 };

static void add_piece(struct gathering *gathering, const struct ids_event *event, int64_t from_ps, int64_t to_ps,
                      unsigned state, enum ids_sweep_rank rank) {
    if (from_ps < gathering->from_ps) from_ps = gathering->from_ps;
    if (to_ps > gathering->to_ps) to_ps = gathering->to_ps;
    if (to_ps <= from_ps) return;
    struct piece *piece = IDS_PUSH(gathering->at, gathering->count, gathering->room);
    if (!piece) {
        gathering->failed = 1;
        return;
    }
    /* An op's piece is known when it ends: beside it those of a few other tracks came. What has further to go is
     * merged later. */
    size_t place = gathering->count - 1, least = place > NEAR ? place - NEAR : 0;
    if (place > least && gathering->at[least].from_ps <= from_ps) {
        for (; place > least && gathering->at[place - 1].from_ps > from_ps; place--)
            gathering->at[place] = gathering->at[place - 1];
    }
    gathering->at[place] = (struct piece){from_ps, to_ps, event, (uint16_t)state, (uint8_t)rank};
}

/* What its body does, on whichever thread, says what the device does. */
static int is_loop_of_cpu(const struct gathering *gathering, const struct ids_event *event) {
    const struct ids_trace *trace = gathering->analysis->trace;
    return gathering->of_cpu && event->op != IDS_NONE && trace->ops[event->op].container;
}

/* [from, to) is the event's own time; what it spends waiting on its track is no work. Starts only grow on a track. */
static void add_own(struct gathering *gathering, const struct ids_event *event, int64_t from_ps, int64_t to_ps) {
    unsigned state = IDS_IS_BUSY | state_of_direction(event);
    enum ids_sweep_rank rank = IDS_RANK_STALL;
    if (event->class == IDS_CLASS_COMPUTE) state |= IDS_IS_COMPUTE, rank = IDS_RANK_COMPUTE;
    if (event->class == IDS_CLASS_COLLECTIVE) state |= IDS_IS_COLLECTIVE, rank = IDS_RANK_COLLECTIVE;
    if (event->class == IDS_CLASS_COPY) state |= IDS_IS_COPY, rank = rank_of_copy(event);
    if (event->class != IDS_CLASS_STALL) state |= IDS_IS_WORKING;
    if (is_loop_of_cpu(gathering, event)) state = IDS_IS_BUSY, rank = IDS_RANK_CONTAINER;
    const struct ids_spans *stalls = &gathering->analysis->stalls[event->track];
    size_t *at = &gathering->lanes[event->track].stall;
    while (*at < stalls->count && stalls->at[*at].end_ps <= from_ps) ++*at;
    for (size_t i = *at; i < stalls->count && stalls->at[i].start_ps < to_ps; i++) {
        const struct ids_span *stall = &stalls->at[i];
        int64_t stalled_ps = stall->start_ps > from_ps ? stall->start_ps : from_ps;
        int64_t until_ps = stall->end_ps < to_ps ? stall->end_ps : to_ps;
        add_piece(gathering, event, from_ps, stalled_ps, state, rank);
        add_piece(gathering, event, stalled_ps, until_ps, state & ~(unsigned)(IDS_IS_WORKING | IDS_IS_COMPUTE),
                  rank == IDS_RANK_COMPUTE ? IDS_RANK_STALL : rank);
        from_ps = until_ps;
    }
    add_piece(gathering, event, from_ps, to_ps, state, rank);
}

static void close_op(struct gathering *gathering, struct lane *lane) {
    struct open_op done = lane->stack[--lane->depth];
    add_own(gathering, done.event, done.from_ps, done.event->end_ps);
    if (lane->depth && lane->stack[lane->depth - 1].from_ps < done.event->end_ps)
        lane->stack[lane->depth - 1].from_ps = done.event->end_ps;
}

/* Closes what has ended at the moment, on all tracks: pieces come almost in order then. */
static void close_ended(struct gathering *gathering, int64_t now_ps) {
    size_t kept = 0;
    gathering->first_end_ps = INT64_MAX;
    for (size_t i = 0; i < gathering->open_count; i++) {
        struct lane *lane = &gathering->lanes[gathering->open[i]];
        while (lane->depth && lane->stack[lane->depth - 1].event->end_ps <= now_ps) close_op(gathering, lane);
        lane->is_open = lane->depth > 0;
        if (!lane->is_open) continue;
        gathering->open[kept++] = gathering->open[i];
        int64_t end_ps = lane->stack[lane->depth - 1].event->end_ps;
        if (end_ps < gathering->first_end_ps) gathering->first_end_ps = end_ps;
    }
    gathering->open_count = kept;
}

static void open_op(struct gathering *gathering, const struct ids_event *event) {
    struct lane *lane = &gathering->lanes[event->track];
    /* What only overlaps is a sibling on another lane, whose time stays its own. */
    while (lane->depth && lane->stack[lane->depth - 1].event->end_ps < event->end_ps) close_op(gathering, lane);
    if (lane->depth) {
        struct open_op *around = &lane->stack[lane->depth - 1];
        add_own(gathering, around->event, around->from_ps, event->start_ps);
        around->from_ps = event->start_ps;
    }
    struct open_op *open = IDS_PUSH(lane->stack, lane->depth, lane->room);
    if (!open) {
        gathering->failed = 1;
        return;
    }
    *open = (struct open_op){event, event->start_ps};
    if (!lane->is_open) gathering->open[gathering->open_count++] = event->track;
    lane->is_open = 1;
    if (event->end_ps < gathering->first_end_ps) gathering->first_end_ps = event->end_ps;
}

/* What runs beside the ops of a TPU's core, and its waits for other cores. */
static void add_beside(struct gathering *gathering, const struct ids_device *device) {
    static const char barrier[] = "barrier-cores";
    const struct ids_trace *trace = gathering->analysis->trace;
    uint32_t barrier_text = ids_strings_find(&trace->strings, barrier, sizeof barrier - 1);
    struct ids_cursor cursor = ids_cursor_over(&device->async);
    for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
        int collective = event->class == IDS_CLASS_COLLECTIVE;
        add_piece(gathering, event, event->start_ps, event->end_ps,
                  (collective ? IDS_IS_COLLECTIVE : IDS_IS_ASYNC_COPY) | state_of_direction(event),
                  collective ? IDS_RANK_COLLECTIVE : rank_of_copy(event));
    }
    cursor = ids_cursor_over(&device->waits);
    for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
        if (trace->names[event->name].text == barrier_text)
            add_piece(gathering, event, event->start_ps, event->end_ps, 0, IDS_RANK_BARRIER);
    }
}

static int piece_before(const struct piece *a, const struct piece *b) {
    return a->from_ps < b->from_ps;
}

IDS_DEFINE_RUN_MERGE(merge_pieces, struct piece, piece_before)

static int gather(struct gathering *gathering, const struct ids_busy *busy) {
    struct ids_cursor cursor = ids_cursor_over(&busy->device->activity);
    const struct ids_event *event;
    while (!gathering->failed && (event = ids_cursor_next(&cursor))) {
        if (event->end_ps == event->start_ps) continue; /* a moment is no activity */
        if (event->start_ps >= gathering->to_ps) {
            gathering->beyond = event;
            break;
        }
        if (gathering->open_count && gathering->first_end_ps <= event->start_ps)
            close_ended(gathering, event->start_ps);
        int is_alone = !gathering->open_count && cursor.at < cursor.end && cursor.at->start_ps >= event->end_ps;
        if (is_alone)
            add_own(gathering, event, event->start_ps, event->end_ps);
        else
            open_op(gathering, event);
    }
    if (!gathering->failed) close_ended(gathering, INT64_MAX);
    cursor = ids_cursor_over(&busy->device->activity);
    while ((event = ids_cursor_next(&cursor))) {
        struct lane *lane = &gathering->lanes[event->track];
        lane->depth = lane->stall = 0;
        lane->is_open = 0;
    }
    add_beside(gathering, busy->device);
    if (gathering->failed) return -1;
    int ordered = 1;
    for (size_t i = 1; i < gathering->count && ordered; i++)
        ordered = gathering->at[i].from_ps >= gathering->at[i - 1].from_ps;
    if (ordered) return 0;
    struct piece *spare = malloc(gathering->count * sizeof *spare);
    if (!spare) return -1;
    merge_pieces(&gathering->at, &spare, gathering->count);
    free(spare);
    return 0;
}

/* --- the sweep -------------------------------------------------------------------------------------------------- */

/* Pieces that run now, the one that ends first on top; and by rank, the one that began first on top, ended ones
 * among them. */
struct heap {
    uint32_t *at;
    size_t count, room;
};

struct sweep {
    const struct piece *pieces;
    struct heap running, of_rank[IDS_RANK_COUNT];
    uint32_t of_state[8]; /* how many run, by bit of their state */
    uint32_t of_its_rank[IDS_RANK_COUNT];
    uint16_t state, ranks; /* bits of those that are not 0 */
};

static int64_t key_of(const struct sweep *sweep, uint32_t piece, int by_end) {
    return by_end ? sweep->pieces[piece].to_ps : (int64_t)piece;
}

static int heap_push(const struct sweep *sweep, struct heap *heap, uint32_t piece, int by_end) {
    if (!IDS_PUSH(heap->at, heap->count, heap->room)) return -1;
    size_t place = heap->count - 1;
    for (; place; place = (place - 1) / 2) {
        uint32_t above = heap->at[(place - 1) / 2];
        if (key_of(sweep, above, by_end) <= key_of(sweep, piece, by_end)) break;
        heap->at[place] = above;
    }
    heap->at[place] = piece;
    return 0;
}

static void heap_pop(const struct sweep *sweep, struct heap *heap, int by_end) {
    uint32_t last = heap->at[--heap->count];
    size_t place = 0;
    for (size_t child; (child = 2 * place + 1) < heap->count; place = child) {
        if (child + 1 < heap->count &&
            key_of(sweep, heap->at[child + 1], by_end) < key_of(sweep, heap->at[child], by_end))
            child++;
        if (key_of(sweep, last, by_end) <= key_of(sweep, heap->at[child], by_end)) break;
        heap->at[place] = heap->at[child];
    }
    if (heap->count) heap->at[place] = last;
}

static int begin(struct sweep *sweep, uint32_t index) {
    const struct piece *piece = &sweep->pieces[index];
    for (unsigned state = piece->state; state; state &= state - 1) sweep->of_state[__builtin_ctz(state)]++;
    sweep->of_its_rank[piece->rank]++;
    sweep->state |= piece->state;
    sweep->ranks |= (uint16_t)(1u << piece->rank);
    return heap_push(sweep, &sweep->running, index, 1) || heap_push(sweep, &sweep->of_rank[piece->rank], index, 0);
}

static void end_first(struct sweep *sweep) {
    const struct piece *piece = &sweep->pieces[sweep->running.at[0]];
    for (unsigned state = piece->state; state; state &= state - 1) {
        int bit = __builtin_ctz(state);
        if (!--sweep->of_state[bit]) sweep->state &= (uint16_t) ~(1u << bit);
    }
    if (!--sweep->of_its_rank[piece->rank]) {
        sweep->ranks &= (uint16_t) ~(1u << piece->rank);
        sweep->of_rank[piece->rank].count = 0; /* what is left there has ended */
    }
    heap_pop(sweep, &sweep->running, 1);
}

/* A loop computes where none of its body's ops says what is done. */
static uint16_t state_alone(uint8_t rank) {
    return rank == IDS_RANK_CONTAINER ? IDS_IS_WORKING | IDS_IS_COMPUTE : 0;
}

/* What counts at this moment of all that runs. */
static void look(struct sweep *sweep, int64_t now_ps, struct ids_stretch *stretch) {
    stretch->state = sweep->state;
    stretch->event = NULL;
    stretch->rank = IDS_RANK_IDLE;
    if (!sweep->ranks) return;
    stretch->rank = (uint8_t)__builtin_ctz(sweep->ranks);
    stretch->state |= state_alone(stretch->rank);
    struct heap *heap = &sweep->of_rank[stretch->rank];
    while (sweep->pieces[heap->at[0]].to_ps <= now_ps) heap_pop(sweep, heap, 0);
    stretch->event = sweep->pieces[heap->at[0]].event;
}

/* Bounds of the time without activity that a stretch lies in. */
struct gap {
    int64_t from_ps, to_ps;
    size_t next; /* the piece looked at next for the end */
    const struct ids_event *previous, *next_event;
};

static void find_gap_end(const struct gathering *gathering, struct gap *gap, size_t next) {
    if (gap->next < next) gap->next = next;
    while (gap->next < gathering->count && !(gathering->at[gap->next].state & IDS_IS_BUSY)) gap->next++;
    int there = gap->next < gathering->count;
    gap->to_ps = there ? gathering->at[gap->next].from_ps : gathering->to_ps;
    gap->next_event = there ? gathering->at[gap->next].event : gathering->beyond;
}

/* Nothing else runs before the piece ends. */
static int runs_alone(const struct gathering *gathering, size_t next, int64_t now_ps) {
    const struct piece *piece = &gathering->at[next];
    return piece->from_ps <= now_ps && (piece->state & IDS_IS_BUSY) &&
           (next + 1 == gathering->count || gathering->at[next + 1].from_ps >= piece->to_ps);
}

static int run_sweep(const struct gathering *gathering, struct sweep *sweep,
                     int (*visit)(void *context, const struct ids_stretch *stretch, struct ids_error *err),
                     void *context, struct ids_error *err) {
    struct gap gap = {.from_ps = gathering->from_ps};
    int64_t now_ps = gathering->from_ps;
    size_t next = 0;
    while (now_ps < gathering->to_ps) {
        while (sweep->running.count && sweep->pieces[sweep->running.at[0]].to_ps <= now_ps) {
            const struct piece *piece = &sweep->pieces[sweep->running.at[0]];
            if (piece->state & IDS_IS_BUSY) gap.from_ps = piece->to_ps, gap.previous = piece->event;
            end_first(sweep);
        }
        /* Mostly one thing runs at a time. */
        if (!sweep->running.count && next < gathering->count && runs_alone(gathering, next, now_ps)) {
            const struct piece *piece = &gathering->at[next++];
            const struct ids_stretch stretch = {.from_ps = now_ps,
                                                .to_ps = piece->to_ps,
                                                .event = piece->event,
                                                .state = piece->state | state_alone(piece->rank),
                                                .rank = piece->rank};
            gap.from_ps = piece->to_ps, gap.previous = piece->event;
            int code = visit(context, &stretch, err);
            if (code) return code;
            now_ps = piece->to_ps;
            continue;
        }
        for (; next < gathering->count && gathering->at[next].from_ps <= now_ps; next++) {
            if (begin(sweep, (uint32_t)next)) return ids_no_memory(err);
        }
        int64_t until_ps = next < gathering->count ? gathering->at[next].from_ps : gathering->to_ps;
        if (sweep->running.count && sweep->pieces[sweep->running.at[0]].to_ps < until_ps)
            until_ps = sweep->pieces[sweep->running.at[0]].to_ps;
        struct ids_stretch stretch = {.from_ps = now_ps, .to_ps = until_ps};
        look(sweep, now_ps, &stretch);
        if (!(stretch.state & IDS_IS_BUSY)) {
            find_gap_end(gathering, &gap, next);
            stretch.gap_from_ps = gap.from_ps;
            stretch.gap_to_ps = gap.to_ps;
            stretch.previous = gap.previous;
            stretch.next = gap.next_event;
        }
        int code = visit(context, &stretch, err);
        if (code) return code;
        now_ps = until_ps;
    }
    return 0;
}

int ids_sweep_device(struct ids_sweep_room *room, const struct ids_busy *busy, int64_t from_ps, int64_t to_ps,
                     int (*visit)(void *context, const struct ids_stretch *stretch, struct ids_error *err),
                     void *context, struct ids_error *err) {
    struct gathering gathering = {.analysis = room->analysis,
                                  .from_ps = from_ps,
                                  .to_ps = to_ps,
                                  .of_cpu = busy->device->kind == IDS_DEVICE_CPU,
                                  .lanes = room->lanes,
                                  .open = room->open,
                                  .first_end_ps = INT64_MAX};
    struct sweep sweep = {0};
    int code = gather(&gathering, busy) ? ids_no_memory(err) : 0;
    if (!code && gathering.count >= UINT32_MAX)
        code = ids_fail(err, IDS_LIMIT, "more than four billion stretches of work on one device");
    sweep.pieces = gathering.at;
    if (!code) code = run_sweep(&gathering, &sweep, visit, context, err);
    free(gathering.at);
    free(sweep.running.at);
    for (int rank = 0; rank < IDS_RANK_COUNT; rank++) free(sweep.of_rank[rank].at);
    return code;
}
