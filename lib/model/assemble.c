#include "lib/model/assemble.h"

#include "lib/base/run_merge.h"
#include "lib/base/saturate.h"
#include "lib/base/search.h"
#include "lib/base/vec.h"
#include "lib/model/account.h"
#include "lib/model/calls.h"
#include "lib/model/doings.h"
#include "lib/model/graph_recordings.h"
#include "lib/model/nesting.h"
#include "lib/model/stacks.h"

#include <stdlib.h>
#include <string.h>

struct ids_open_event {
    int64_t end_ps, children_ps;
    int64_t kept_children_ps; /* of an op: ops inside it. What else lies inside (a CPU op's waiting) is its own time */
    uint32_t passing;         /* index in the assembly */
    uint32_t op;              /* the innermost op that is open, itself included: index + 1 in the stack */
    uint32_t doing;           /* what the thread does while it is the innermost one */
    uint32_t sampled : 31;    /* of sampled stacks: index + 1 of trace->stacks; 0 of others */
    uint32_t launches : 1;    /* it is LONG, and its thread launched work in it */
};

void ids_assembly_done(struct ids_assembly *assembly) {
    free(assembly->at);
    free(assembly->spare);
    free(assembly->stack);
    free(assembly->records.at);
    free(assembly->launches.at);
    free(assembly->aggregate_of_name);
    *assembly = (struct ids_assembly){0};
}

void ids_assembly_keep_room(struct ids_assembly *assembly, struct ids_events *records) {
    if (records->room > assembly->records.room) {
        free(assembly->records.at);
        assembly->records = (struct ids_events){.at = records->at, .room = records->room};
    } else {
        free(records->at);
    }
    *records = (struct ids_events){0};
}

void ids_assembly_inherit(struct ids_assembly *assembly, struct ids_assembly *ended) {
    ids_assembly_keep_room(assembly, &ended->records);
    if (assembly->aggregate_of_name) return;
    assembly->aggregate_of_name = ended->aggregate_of_name;
    assembly->aggregate_room = ended->aggregate_room;
    ended->aggregate_of_name = NULL;
    ended->aggregate_room = 0;
}

/* --- order ------------------------------------------------------------------------------------------------------ */

IDS_DEFINE_RUN_MERGE(merge_passing, struct ids_passing, ids_passing_before)
static int sort_passing(struct ids_assembly *assembly, struct ids_error *err) {
    if (assembly->spare_room < assembly->room) {
        free(assembly->spare);
        assembly->spare_room = 0;
        assembly->spare = malloc(assembly->room * sizeof *assembly->spare);
        if (!assembly->spare) return ids_no_memory(err);
        assembly->spare_room = assembly->room;
    }
    struct ids_passing *at = assembly->at;
    merge_passing(&assembly->at, &assembly->spare, assembly->count);
    if (assembly->at != at) { /* the buffers changed places */
        size_t room = assembly->room;
        assembly->room = assembly->spare_room;
        assembly->spare_room = room;
    }
    return 0;
}

/* Puts the kept records in the order of their events, in place: they are most of what is held. */
static int order_kept(struct ids_assembly *assembly, struct ids_events *events, struct ids_error *err) {
    uint32_t *from = ids_vec_new(events->count + 1, sizeof *from), count = 0; /* where the n-th one lies */
    if (!from) return ids_no_memory(err);
    for (size_t i = 0; i < assembly->count; i++) {
        struct ids_passing *passing = &assembly->at[i];
        if (passing->kept >= IDS_CALL_MARK) continue;
        from[count] = passing->kept;
        passing->kept = count++;
    }
    for (uint32_t first = 0; first < count; first++) {
        if (from[first] == first) continue;
        const struct ids_event held = events->at[first];
        uint32_t to = first;
        for (uint32_t next; (next = from[to]) != first; to = next) {
            events->at[to] = events->at[next];
            from[to] = to;
        }
        events->at[to] = held;
        from[to] = to;
    }
    free(from);
    return 0;
}

/* --- the end of a track ----------------------------------------------------------------------------------------- */

static struct ids_aggregate *aggregate_of(struct ids_assembly *assembly, struct ids_trace *trace, uint32_t track,
                                          uint32_t name) {
    if (name >= assembly->aggregate_room) {
        size_t room = (size_t)name + (size_t)name / 2 + 256;
        uint32_t *grown = realloc(assembly->aggregate_of_name, room * sizeof *grown);
        if (!grown) return NULL;
        memset(grown + assembly->aggregate_room, 0, (room - assembly->aggregate_room) * sizeof *grown);
        assembly->aggregate_of_name = grown;
        assembly->aggregate_room = room;
    }
    uint32_t index = assembly->aggregate_of_name[name];
    if (index && trace->aggregates[index - 1].track == track) return &trace->aggregates[index - 1];
    struct ids_aggregate *fresh = IDS_PUSH(trace->aggregates, trace->aggregate_count, trace->aggregate_room);
    if (!fresh) return NULL;
    *fresh = (struct ids_aggregate){.track = track, .name = name, .min_ps = INT64_MAX, .max_ps = INT64_MIN};
    assembly->aggregate_of_name[name] = (uint32_t)trace->aggregate_count;
    return fresh;
}

/* An event is over: its self time is known. */
static int close_event(struct ids_assembly *assembly, struct ids_trace *trace, uint32_t track,
                       const struct ids_open_event *open, struct ids_error *err) {
    const struct ids_passing *passing = &assembly->at[open->passing];
    int64_t self_ps = ids_self_time(passing->duration_ps, open->children_ps);
    struct ids_aggregate *sum = aggregate_of(assembly, trace, track, passing->name);
    if (!sum) return ids_no_memory(err);
    sum->count++;
    ids_sum(&sum->sum_ps, passing->duration_ps);
    ids_sum(&sum->self_ps, self_ps);
    if (passing->duration_ps < sum->min_ps) sum->min_ps = passing->duration_ps;
    if (passing->duration_ps > sum->max_ps) sum->max_ps = passing->duration_ps;
    if (open->sampled) ids_sum(&trace->stacks[open->sampled - 1].self_ps, self_ps);
    /* `kept` was renumbered to the new order when the event was opened; IDS_NONE is above every number. */
    struct ids_events *events = &trace->tracks[track].events;
    if (!events->at || passing->kept >= events->count) return 0;
    struct ids_event *event = &events->at[passing->kept]; /* a CPU op may end after its event */
    event->self_ps =
        event->kind == IDS_KIND_OP ? ids_self_time(event->end_ps - event->start_ps, open->kept_children_ps) : self_ps;
    return 0;
}

/* The innermost open event ends: its thread goes back to what is around it. */
static int close_top(struct ids_assembly *assembly, struct ids_trace *trace, uint32_t track, int64_t latest_ps,
                     struct ids_error *err) {
    const struct ids_open_event *open = &assembly->stack[--assembly->depth];
    uint32_t around = assembly->depth ? assembly->stack[assembly->depth - 1].doing : IDS_NO_DOING;
    int64_t end_ps = open->end_ps < latest_ps ? open->end_ps : latest_ps;
    if (open->doing != around && ids_timeline_turn(&trace->tracks[track].timeline, end_ps, around))
        return ids_no_memory(err);
    return close_event(assembly, trace, track, open, err);
}

/* The runtime marks a wait by two moments that a link ties (CommonPjRtBuffer::Await): between them the thread waits. */
static void bridge_wait(struct ids_assembly *assembly, struct ids_timeline *timeline, const struct ids_event *event) {
    if (event->kind != IDS_KIND_SYNC) return;
    if (event->consumes && event->consumes == assembly->awaited && timeline->count &&
        timeline->from_ps[timeline->count - 1] == assembly->awaited_ps)
        timeline->count--; /* the turn to what is around it */
    assembly->awaited = event->produces;
    assembly->awaited_ps = event->end_ps;
}

/* --- what lies inside host events -------------------------------------------------------------------------------- */

static int earlier(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* They nearly always are in order: the events are. */
static void order_moments(struct ids_moments *moments) {
    size_t ordered = 1;
    while (ordered < moments->count && moments->at[ordered - 1] <= moments->at[ordered]) ordered++;
    if (ordered < moments->count) qsort(moments->at, moments->count, sizeof *moments->at, earlier);
}

static int lies_inside(const struct ids_moments *begins, int64_t from_ps, int64_t to_ps) {
    size_t low = ids_count_up_to(begins->at, begins->count, sizeof *begins->at, 0, from_ps);
    return low < begins->count && begins->at[low] < to_ps;
}

/* A shorter call of a library is no errand, but the price of what it is for. */
#define LONG_PS INT64_C(20000000) /* 20 us */

/* A library's frame that launches nothing, called by what launches: an errand of the program's function, which alone
 * would be blamed for all that it encloses. */
static int is_errand(const struct ids_passing *passing, const struct ids_open_event *open,
                     const struct ids_open_event *parent) {
    return passing->duration_ps >= LONG_PS && parent && parent->launches && !open->launches;
}

/* A region that launches and is nearly all that its thread does is the program: what is in it says more. So are then
 * the functions that are nearly all of it. */
static int is_program(const struct ids_assembly *assembly, const struct ids_passing *passing,
                      const struct ids_event *event) {
    uint64_t all_ps = (uint64_t)passing->duration_ps;
    if (!assembly->program_ps) return 0;
    if (event && event->kind == IDS_KIND_NAMED) {
        if (!ids_keymap_get(&assembly->regions, (uint64_t)event->name + 1, &all_ps)) return 0;
    }
    return (int64_t)all_ps >= assembly->program_ps;
}

static int begin_doing(struct ids_assembly *assembly, struct ids_trace *trace, struct ids_track *track,
                       const struct ids_passing *passing, struct ids_open_event *open,
                       const struct ids_open_event *parent, struct ids_error *err) {
    uint32_t around = parent ? parent->doing : IDS_NO_DOING;
    open->doing = around;
    if ((track->role != IDS_TRACK_HOST && track->role != IDS_TRACK_SAMPLED) || !passing->duration_ps) return 0;
    open->launches =
        passing->duration_ps >= LONG_PS && lies_inside(&assembly->launches, passing->start_ps, open->end_ps);
    const struct ids_event *event = passing->kept < IDS_CALL_MARK ? &track->events.at[passing->kept] : NULL;
    if (ids_kind_has_no_account((enum ids_kind)(event ? event->kind : trace->names[passing->name].kind))) return 0;
    if (event) bridge_wait(assembly, &track->timeline, event);
    struct ids_doing_place place = {.around = around,
                                    .called = parent ? assembly->at[parent->passing].name : IDS_NONE,
                                    .is_errand = is_errand(passing, open, parent),
                                    .is_program = is_program(assembly, passing, event)};
    int64_t doing = ids_doing_inside(trace, &place, passing->name, event);
    if (doing < 0) return ids_no_memory(err);
    open->doing = (uint32_t)doing;
    return open->doing != around && ids_timeline_turn(&track->timeline, passing->start_ps, open->doing)
               ? ids_no_memory(err)
               : 0;
}

static int begin_sampled(struct ids_trace *trace, uint32_t track, const struct ids_passing *passing,
                         struct ids_open_event *open, const struct ids_open_event *parent, struct ids_error *err) {
    uint32_t stack = ids_stack_inside(trace, track, parent ? parent->sampled : 0, passing->name);
    open->sampled = stack & INT32_MAX; /* at most IDS_STACKS_MOST */
    return stack ? 0 : ids_no_memory(err);
}

/* --- before the sweep --------------------------------------------------------------------------------------------- */

#define LAUNCHING (IDS_KINDS(IDS_KIND_LAUNCH) | IDS_KINDS(IDS_KIND_DISPATCH) | IDS_KINDS(IDS_KIND_EXECUTE))
#define COMPILING                                                                          \
    (IDS_KINDS(IDS_KIND_COMPILE) | IDS_KINDS(IDS_KIND_LOWER) | IDS_KINDS(IDS_KIND_TRACE) | \
     IDS_KINDS(IDS_KIND_AUTOTUNE) | IDS_KINDS(IDS_KIND_CACHE_READ) | IDS_KINDS(IDS_KIND_CACHE_WRITE))

/* Finds whether regions of one name that launch are nearly all that the thread does, nine tenths, and how long that
 * is. */
static int find_program(struct ids_assembly *assembly, const struct ids_events *events) {
    int64_t first_ps = INT64_MAX, last_ps = INT64_MIN;
    uint64_t most_ps = 0;
    assembly->program_ps = 0;
    for (size_t i = 0; i < events->count; i++) {
        const struct ids_event *event = &events->at[i];
        if (event->kind != IDS_KIND_NAMED || !event->launches) continue;
        uint64_t *sum = ids_keymap_at(&assembly->regions, (uint64_t)event->name + 1);
        if (!sum) return -1;
        *sum += (uint64_t)(event->end_ps - event->start_ps);
        if (*sum > most_ps) most_ps = *sum;
    }
    for (size_t i = 0; i < assembly->count && most_ps; i++) {
        const struct ids_passing *passing = &assembly->at[i];
        if (passing->start_ps < first_ps) first_ps = passing->start_ps;
        if (passing->start_ps + passing->duration_ps > last_ps) last_ps = passing->start_ps + passing->duration_ps;
    }
    int64_t least_ps = most_ps ? (last_ps - first_ps) / 10 * 9 : 0;
    if (most_ps && (int64_t)most_ps >= least_ps) assembly->program_ps = least_ps;
    return 0;
}

/* Marks regions that launch and calls that compile, and finds when the thread launches, before the sweep asks. */
static int look_inside(struct ids_moments *launches, struct ids_events *events) {
    struct ids_moments calls = {0}, compiles = {0};
    int failed = 0, asked = 0;
    launches->count = 0;
    if (!ids_events_may_have(events, LAUNCHING | COMPILING)) return 0;
    for (size_t i = 0; i < events->count && !failed; i++) {
        const struct ids_event *event = &events->at[i];
        const uint64_t kind = IDS_KINDS(event->kind);
        asked |= event->kind == IDS_KIND_INPUT || event->kind == IDS_KIND_NAMED || event->kind == IDS_KIND_DISPATCH;
        if (!(kind & (LAUNCHING | COMPILING))) continue;
        struct ids_moments *begins = kind & COMPILING                   ? &compiles
                                     : event->kind == IDS_KIND_DISPATCH ? &calls
                                                                        : launches;
        int64_t *begin = IDS_PUSH(begins->at, begins->count, begins->room);
        failed = !begin;
        if (begin) *begin = event->start_ps;
    }
    order_moments(launches);
    order_moments(&calls);
    order_moments(&compiles);
    for (size_t i = 0; i < events->count && asked && !failed; i++) {
        struct ids_event *event = &events->at[i];
        event->launches = (uint8_t)(lies_inside(launches, event->start_ps, event->end_ps) ||
                                    lies_inside(&calls, event->start_ps, event->end_ps));
        event->compiles = (uint8_t)lies_inside(&compiles, event->start_ps, event->end_ps);
    }
    if (!launches->count) { /* of calls nobody knows which of them launch, where those that do were recorded */
        struct ids_moments none = *launches;
        *launches = calls;
        calls = none;
    }
    free(calls.at);
    free(compiles.at);
    return failed;
}

/* The open op waits for its peers. */
static void mark_meeting(const struct ids_assembly *assembly, struct ids_trace *trace, const struct ids_track *track,
                         uint32_t op) {
    const struct ids_passing *passing = &assembly->at[assembly->stack[op - 1].passing];
    uint32_t number = track->events.at[passing->kept].op;
    if (number != IDS_NONE) trace->ops[number].meets = 1;
}

/* Sweeps the ordered events with a stack of those that are open (nesting.h). */
static int sweep(struct ids_assembly *assembly, struct ids_trace *trace, uint32_t track_id, struct ids_error *err) {
    struct ids_track *track = &trace->tracks[track_id];
    assembly->depth = 0;
    assembly->awaited = 0;
    if (assembly->calls && ids_calls_begin(assembly->calls, track_id)) return ids_no_memory(err);
    int code;
    for (size_t i = 0; i < assembly->count; i++) {
        const struct ids_passing *passing = &assembly->at[i];
        int64_t end_ps = passing->start_ps + passing->duration_ps;
        while (assembly->depth) {
            struct ids_open_event *open = &assembly->stack[assembly->depth - 1];
            enum ids_nesting nesting = ids_nesting_of(passing->start_ps, end_ps, open->end_ps);
            if (nesting == IDS_NESTING_INSIDE) break;
            track->overlaps += nesting == IDS_NESTING_ACROSS;
            code = close_top(assembly, trace, track_id, passing->start_ps, err);
            if (code) return code;
        }
        struct ids_open_event *parent = assembly->depth ? &assembly->stack[assembly->depth - 1] : NULL;
        if (parent) ids_sum(&parent->children_ps, passing->duration_ps);
        struct ids_event *kept = passing->kept < IDS_CALL_MARK ? &track->events.at[passing->kept] : NULL;
        if (assembly->calls) {
            uint32_t mark = kept || passing->kept == IDS_NONE ? IDS_NONE : passing->kept - IDS_CALL_MARK;
            if (ids_calls_visit(assembly->calls, passing->start_ps, end_ps, passing->name, mark, kept))
                return ids_no_memory(err);
        }
        uint32_t op = parent ? parent->op : 0;
        if (kept && kept->kind == IDS_KIND_OP) {
            if (op) ids_sum(&assembly->stack[op - 1].kept_children_ps, passing->duration_ps);
            op = (uint32_t)assembly->depth + 1;
        }
        if (kept && kept->kind == IDS_KIND_STALL && op) mark_meeting(assembly, trace, track, op);
        struct ids_open_event *open = IDS_PUSH(assembly->stack, assembly->depth, assembly->stack_room);
        if (!open) return ids_no_memory(err);
        *open = (struct ids_open_event){
            .end_ps = end_ps,
            .passing = (uint32_t)i,
            .op = op,
        };
        parent = assembly->depth > 1 ? open - 1 : NULL;
        code = begin_doing(assembly, trace, track, passing, open, parent, err);
        if (!code && track->role == IDS_TRACK_SAMPLED)
            code = begin_sampled(trace, track_id, passing, open, parent, err);
        if (code) return code;
    }
    while (assembly->depth) {
        code = close_top(assembly, trace, track_id, INT64_MAX, err);
        if (code) return code;
    }
    return 0;
}

/* Thread pools mark a task by two moments; makes one record of each pair and drops the second moment's. */
static void make_regions(struct ids_track *track) {
    struct ids_events *events = &track->events;
    size_t kept = 0;
    uint32_t open = IDS_NONE; /* innermost open region; the ones around it are linked through `parent` */
    if (!ids_events_may_have(events, IDS_KINDS(IDS_KIND_REGION_START) | IDS_KINDS(IDS_KIND_REGION_STOP))) return;
    for (size_t i = 0; i < events->count; i++) {
        struct ids_event *event = &events->at[i];
        if (event->kind == IDS_KIND_REGION_STOP) {
            if (open == IDS_NONE) continue; /* it began before the window */
            struct ids_event *region = &events->at[open];
            region->end_ps = event->start_ps;
            region->kind = IDS_KIND_REGION;
            open = region->parent;
            continue;
        }
        if (event->kind == IDS_KIND_REGION_START) {
            event->parent = open;
            event->end_ps = track->last_ps; /* unless a stop comes */
            open = (uint32_t)kept;
        }
        if (kept < i) events->at[kept] = *event;
        kept++;
    }
    for (; open != IDS_NONE; open = events->at[open].parent) events->at[open].kind = IDS_KIND_REGION;
    events->count = kept;
}

int ids_assembly_finish(struct ids_assembly *assembly, struct ids_trace *trace, uint32_t track_id,
                        struct ids_error *err) {
    struct ids_track *track = &trace->tracks[track_id];
    int code = assembly->unordered ? sort_passing(assembly, err) : 0;
    if (!code && assembly->unordered) code = order_kept(assembly, &track->events, err);
    assembly->launches.count = 0;
    if (!code && track->role == IDS_TRACK_HOST &&
        (look_inside(&assembly->launches, &track->events) || find_program(assembly, &track->events)))
        code = ids_no_memory(err);
    if (!code) code = sweep(assembly, trace, track_id, err);
    ids_keymap_done(&assembly->regions);
    if (code) return code;
    if (track->role == IDS_TRACK_HOST) ids_graph_recordings_fold(trace, &track->timeline);
    assembly->count = 0;
    assembly->unordered = 0;
    assembly->calls = NULL;
    make_regions(track);
    return 0;
}
