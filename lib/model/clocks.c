#include "lib/model/clocks.h"

#include "lib/base/saturate.h"
#include "lib/base/vec.h"
#include "lib/model/allocations.h"
#include "lib/model/clock_tie.h"
#include "lib/model/collective_runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A host in a forest: each root represents the hosts that are tied to it. */
struct node {
    uint32_t parent;   /* itself: a root */
    int64_t offset_ps; /* to add to its times to reach the parent's */
    int64_t first_ps, last_ps, first_activity_ps;
    int has_devices;
};

struct alignment {
    struct ids_trace *trace;
    struct node *nodes;
    struct ids_collective_runs *runs;
};

static const int64_t SECOND_PS = 1000000000000;
static const int64_t DAY_NS = 86400 * (int64_t)1000000000;

int64_t ids_clock_recorded_shift(int64_t start_unix_ns, int64_t origin_unix_ns) {
    int64_t shift_ns;
    if (!start_unix_ns || !origin_unix_ns || __builtin_sub_overflow(start_unix_ns, origin_unix_ns, &shift_ns)) return 0;
    return shift_ns > DAY_NS || shift_ns < -DAY_NS ? 0 : shift_ns * 1000;
}

static int has_recorded_clock(const struct ids_trace *trace, const struct ids_host *host) {
    return host->start_unix_ns && (host->start_unix_ns == trace->origin_unix_ns ||
                                   ids_clock_recorded_shift(host->start_unix_ns, trace->origin_unix_ns));
}

int64_t ids_clock_doubt_ps(const struct ids_trace *trace, const struct ids_device *a, const struct ids_device *b) {
    if (a->host == b->host) return 0;
    int64_t left_ps = trace->hosts[a->host].clock.residual_ps, right_ps = trace->hosts[b->host].clock.residual_ps;
    if (!ids_on_one_clock(trace, a, b) || left_ps < 0 || right_ps < 0) return -1;
    return ids_sat_add(left_ps, right_ps);
}

/* --- the forest -------------------------------------------------------------------------------------------------- */

static uint32_t root_of(struct node *nodes, uint32_t host, int64_t *ret_offset_ps) {
    *ret_offset_ps = 0;
    for (; nodes[host].parent != host; host = nodes[host].parent) ids_sum(ret_offset_ps, nodes[host].offset_ps);
    return host;
}

/* What is to be added to times of `moved` to reach `fixed` is known: the root with the larger number goes under the
 * other, and is returned. */
static uint32_t tie(struct node *nodes, uint32_t fixed, uint32_t moved, int64_t offset_ps) {
    int64_t fixed_ps, moved_ps;
    uint32_t fixed_root = root_of(nodes, fixed, &fixed_ps), moved_root = root_of(nodes, moved, &moved_ps);
    int64_t between_ps = ids_sat_sub(ids_sat_add(offset_ps, fixed_ps), moved_ps);
    if (moved_root > fixed_root) {
        nodes[moved_root].parent = fixed_root;
        nodes[moved_root].offset_ps = between_ps;
        return moved_root;
    }
    nodes[fixed_root].parent = moved_root;
    nodes[fixed_root].offset_ps = ids_sat_sub(0, between_ps);
    return fixed_root;
}

/* --- what each host has ------------------------------------------------------------------------------------------ */

static void stretch(struct node *node, int64_t first_ps, int64_t last_ps) {
    if (first_ps < node->first_ps) node->first_ps = first_ps;
    if (last_ps > node->last_ps) node->last_ps = last_ps;
}

static int make_nodes(struct alignment *alignment) {
    const struct ids_trace *trace = alignment->trace;
    alignment->nodes = calloc(trace->host_count, sizeof *alignment->nodes);
    if (!alignment->nodes) return -1;
    for (uint32_t h = 0; h < trace->host_count; h++)
        alignment->nodes[h] =
            (struct node){.parent = h, .first_ps = INT64_MAX, .last_ps = INT64_MIN, .first_activity_ps = INT64_MAX};
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        if (track->first_ps <= track->last_ps) stretch(&alignment->nodes[track->host], track->first_ps, track->last_ps);
    }
    for (size_t d = 0; d < trace->device_count; d++) {
        const struct ids_device *device = &trace->devices[d];
        struct node *node = &alignment->nodes[device->host];
        if (!device->activity.count) continue;
        node->has_devices = 1;
        if (device->activity.at[0].start_ps < node->first_activity_ps)
            node->first_activity_ps = device->activity.at[0].start_ps;
    }
    return 0;
}

/* --- collectives ------------------------------------------------------------------------------------------------- */

static int try_pair(struct alignment *alignment, uint32_t fixed, uint32_t moved, unsigned effort,
                    struct ids_error *err) {
    struct ids_clock_tie found;
    int64_t ignored_ps;
    uint32_t moved_root = root_of(alignment->nodes, moved, &ignored_ps);
    if (root_of(alignment->nodes, fixed, &ignored_ps) == moved_root) return 0;
    int code = ids_clock_tie_find(&alignment->runs[fixed], &alignment->runs[moved], effort, &found, err);
    if (code || !found.found) return code;
    uint32_t tied = tie(alignment->nodes, fixed, moved, found.offset_ps);
    alignment->trace->hosts[tied].clock = (struct ids_clock){
        .method = IDS_CLOCK_COLLECTIVES,
        .against = tied == moved_root ? fixed : moved,
        .residual_ps = found.residual_ps,
        .drift = tied == moved_root ? found.drift : -found.drift,
        .matched = found.matched,
        .shortest_ps = found.shortest_ps,
    };
    return 0;
}

/* Every host against the first, and where they have nothing in common against its neighbours: stages of a pipeline meet
 * only those. */
static int tie_by_collectives(struct alignment *alignment, struct ids_error *err) {
    enum { MANY = 64, EFFORT = 1024, LEAST_EFFORT = 16 };
    uint32_t hosts = (uint32_t)alignment->trace->host_count;
    unsigned effort = hosts > MANY ? EFFORT * 16 / hosts : EFFORT;
    if (effort < LEAST_EFFORT) effort = LEAST_EFFORT;
    for (uint32_t h = 1; h < hosts; h++) {
        int code = try_pair(alignment, 0, h, effort, err);
        for (uint32_t back = 1; !code && back <= h && (hosts <= MANY || back <= 2); back *= 2)
            code = try_pair(alignment, h - back, h, effort, err);
        if (code) return code;
    }
    return 0;
}

/* --- recorded clocks --------------------------------------------------------------------------------------------- */

/* The time from the first to the last event of all hosts under a root, on the root's clock. */
static void find_extents(struct alignment *alignment) {
    struct node *nodes = alignment->nodes;
    for (uint32_t h = 0; h < alignment->trace->host_count; h++) {
        int64_t offset_ps;
        uint32_t root = root_of(nodes, h, &offset_ps);
        if (root == h) continue;
        if (nodes[h].first_ps <= nodes[h].last_ps)
            stretch(&nodes[root], ids_sat_add(nodes[h].first_ps, offset_ps), ids_sat_add(nodes[h].last_ps, offset_ps));
        int64_t first_ps = nodes[h].has_devices ? ids_sat_add(nodes[h].first_activity_ps, offset_ps) : INT64_MAX;
        if (first_ps < nodes[root].first_activity_ps) nodes[root].first_activity_ps = first_ps;
        nodes[root].has_devices |= nodes[h].has_devices;
    }
}

/* The first host under each root whose clock is recorded; by root, IDS_NONE where there is none. */
static int find_recorded(struct alignment *alignment, uint32_t **ret_recorded) {
    const struct ids_trace *trace = alignment->trace;
    uint32_t *recorded = calloc(trace->host_count + 1, sizeof *recorded);
    if (!recorded) return -1;
    for (size_t h = 0; h < trace->host_count; h++) recorded[h] = IDS_NONE;
    for (uint32_t h = 0; h < trace->host_count; h++) {
        int64_t ignored_ps;
        uint32_t root = root_of(alignment->nodes, h, &ignored_ps);
        if (recorded[root] == IDS_NONE && has_recorded_clock(trace, &trace->hosts[h])) recorded[root] = h;
    }
    *ret_recorded = recorded;
    return 0;
}

/* What is to be added to the times of a root to reach the run's: by the recorded clocks of one host on each side. */
static int place_recorded(struct alignment *alignment, uint32_t root, uint32_t host, uint32_t frame,
                          uint32_t frame_host, int64_t *ret_ps) {
    struct node *nodes = alignment->nodes;
    int64_t host_ps, frame_ps;
    if (nodes[root].first_ps > nodes[root].last_ps) return 1; /* no event: nothing of it could lie elsewhere */
    if (host == IDS_NONE || frame_host == IDS_NONE) return 0;
    root_of(nodes, host, &host_ps);
    root_of(nodes, frame_host, &frame_ps);
    *ret_ps = ids_sat_sub(frame_ps, host_ps); /* their own times compare as they are */
    int64_t first_ps = ids_sat_add(nodes[root].first_ps, *ret_ps), last_ps = ids_sat_add(nodes[root].last_ps, *ret_ps);
    if (nodes[frame].first_ps > nodes[frame].last_ps) return 1;
    /* What was recorded of one run lies at one time, or nearly. */
    return ids_sat_sub(first_ps, nodes[frame].last_ps) <= SECOND_PS &&
           ids_sat_sub(nodes[frame].first_ps, last_ps) <= SECOND_PS;
}

/* --- the outcome ------------------------------------------------------------------------------------------------- */

static void shift_events(struct ids_events *events, int64_t by_ps) {
    struct ids_event *opened = ids_events_change(events);
    for (size_t i = 0; i < events->count; i++) {
        ids_sum(&opened[i].start_ps, by_ps);
        ids_sum(&opened[i].end_ps, by_ps);
    }
    ids_events_changed(events, opened);
}

static void shift_timeline(struct ids_timeline *timeline, int64_t by_ps) {
    const size_t bytes = timeline->count * sizeof *timeline->from_ps;
    int64_t *opened = timeline->from_ps;
    if (timeline->far) opened = ids_far_change(timeline->far, timeline->from_ps, bytes);
    for (size_t i = 0; i < timeline->count; i++) ids_sum(&opened[i], by_ps);
    if (timeline->far) ids_far_changed(timeline->far, timeline->from_ps, opened, bytes);
}

/* Moves every time of the hosts, by `shifts`. */
static void shift_all(struct ids_trace *trace, const int64_t *shifts) {
    for (size_t h = 0; h < trace->host_count; h++) ids_sum(&trace->hosts[h].shift_ps, shifts[h]);
    for (size_t t = 0; t < trace->track_count; t++) {
        struct ids_track *track = &trace->tracks[t];
        if (!shifts[track->host]) continue;
        shift_events(&track->events, shifts[track->host]);
        shift_timeline(&track->timeline, shifts[track->host]);
        if (track->first_ps > track->last_ps) continue;
        ids_sum(&track->first_ps, shifts[track->host]);
        ids_sum(&track->last_ps, shifts[track->host]);
    }
    for (size_t s = 0; s < trace->sample_count; s++)
        ids_sum(&trace->samples[s].when_ps, shifts[trace->tracks[trace->samples[s].track].host]);
    for (size_t a = 0; a < trace->allocation_count; a++)
        ids_sum(&trace->allocations[a].at_ps, shifts[trace->allocators[trace->allocations[a].allocator].host]);
    for (size_t d = 0; d < trace->device_count; d++) {
        struct ids_device *device = &trace->devices[d];
        struct ids_events *lists[] = {&device->activity, &device->async, &device->waits, &device->modules,
                                      &device->steps};
        if (!shifts[device->host]) continue;
        for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) shift_events(lists[l], shifts[device->host]);
    }
}

/* What is to be added to the times of each root that recorded clocks or nothing but itself tie to the run's clock.
 * Returns when the first device of these did something. */
static int64_t place_on_run(struct alignment *alignment, uint32_t frame, const uint32_t *recorded, int64_t *shifts) {
    struct node *nodes = alignment->nodes;
    int64_t first_ps = INT64_MAX;
    for (uint32_t h = 0; h < alignment->trace->host_count; h++) {
        struct ids_clock *clock = &alignment->trace->hosts[h].clock;
        if (nodes[h].parent != h) continue;
        shifts[h] = 0;
        *clock = (struct ids_clock){.method = IDS_CLOCK_REFERENCE, .against = h, .shortest_ps = -1};
        if (h != frame) {
            int fits = place_recorded(alignment, h, recorded[h], frame, recorded[frame], &shifts[h]);
            clock->method = fits ? IDS_CLOCK_RECORDED : IDS_CLOCK_APART;
            clock->residual_ps = fits ? -1 : 0; /* apart: among those that are tied to it */
        }
        if (clock->method == IDS_CLOCK_APART || !nodes[h].has_devices) continue;
        int64_t own_ps = ids_sat_add(nodes[h].first_activity_ps, shifts[h]);
        if (own_ps < first_ps) first_ps = own_ps;
    }
    return first_ps;
}

/* The others begin where the run does, each on a clock of its own. */
static void place_roots(struct alignment *alignment, uint32_t frame, const uint32_t *recorded, int64_t *shifts) {
    struct ids_trace *trace = alignment->trace;
    const struct node *nodes = alignment->nodes;
    int64_t first_ps = place_on_run(alignment, frame, recorded, shifts);
    for (uint32_t h = 0; h < trace->host_count; h++) {
        struct ids_clock *clock = &trace->hosts[h].clock;
        if (nodes[h].parent != h || clock->method != IDS_CLOCK_APART) continue;
        clock->number = trace->clock_count++;
        if (nodes[h].has_devices && first_ps != INT64_MAX)
            shifts[h] = ids_sat_sub(first_ps, nodes[h].first_activity_ps);
        else
            shifts[h] = 0;
    }
}

/* What recorded clocks differ by, where that was too much to be believed. */
static int64_t not_applied(const struct ids_trace *trace, const struct ids_host *host) {
    if (!host->start_unix_ns || has_recorded_clock(trace, host)) return 0;
    return ids_sat_mul(host->start_unix_ns - trace->origin_unix_ns, 1000);
}

static void place_hosts(struct alignment *alignment, const uint32_t *recorded, int64_t *shifts) {
    struct ids_trace *trace = alignment->trace;
    struct node *nodes = alignment->nodes;
    uint32_t origin = 0; /* the host whose times stay as they are */
    int64_t still_ps;
    while (origin < trace->host_count && !trace->hosts[origin].start_unix_ns) origin++;
    if (origin == trace->host_count) origin = 0;
    uint32_t frame = root_of(nodes, origin, &still_ps);
    place_roots(alignment, frame, recorded, shifts);
    for (uint32_t h = 0; h < trace->host_count; h++) {
        int64_t offset_ps;
        uint32_t root = root_of(nodes, h, &offset_ps);
        struct ids_clock *clock = &trace->hosts[h].clock;
        clock->number = trace->hosts[root].clock.number;
        if (root != h) shifts[h] = ids_sat_add(shifts[root], offset_ps);
    }
    for (uint32_t h = 0; h < trace->host_count; h++) {
        shifts[h] = ids_sat_sub(shifts[h], still_ps);
        trace->hosts[h].clock.offset_ps = ids_sat_sub(shifts[h], not_applied(trace, &trace->hosts[h]));
    }
}

/* --- what is to be said ------------------------------------------------------------------------------------------ */

static int say(struct ids_trace *trace, enum ids_severity severity, const char *id, const char *text, uint64_t count,
               struct ids_error *err) {
    struct ids_trace_diag *diag = IDS_PUSH(trace->diags, trace->diag_count, trace->diag_room);
    if (!diag) return ids_no_memory(err);
    *diag = (struct ids_trace_diag){.severity = (uint8_t)severity,
                                    .id = id,
                                    .text = ids_arena_copy(&trace->arena, text, strlen(text)),
                                    .offset = -1,
                                    .count = count,
                                    .host = IDS_NONE};
    if (diag->text) return 0;
    trace->diag_count--;
    return ids_no_memory(err);
}

static int say_residual(struct ids_trace *trace, struct ids_error *err) {
    int64_t worst_ps = 0, shortest_ps = INT64_MAX;
    uint64_t count = 0;
    for (size_t h = 0; h < trace->host_count; h++) {
        const struct ids_clock *clock = &trace->hosts[h].clock;
        if (clock->method != IDS_CLOCK_COLLECTIVES) continue;
        if (clock->shortest_ps < shortest_ps) shortest_ps = clock->shortest_ps;
        if (clock->residual_ps > worst_ps) worst_ps = clock->residual_ps;
    }
    for (size_t h = 0; h < trace->host_count; h++) {
        const struct ids_clock *clock = &trace->hosts[h].clock;
        count += clock->method == IDS_CLOCK_COLLECTIVES && clock->residual_ps > shortest_ps;
    }
    if (!count) return 0;
    char text[256];
    snprintf(text, sizeof text,
             "the clocks of the hosts agree to %.4g us only, and the shortest collective takes %.4g us: who came last "
             "to a short one cannot be told",
             (double)worst_ps * 1e-6, (double)shortest_ps * 1e-6);
    return say(trace, IDS_WARNING, "clocks.residual", text, count, err);
}

static int say_apart(struct ids_trace *trace, const struct node *nodes, struct ids_error *err) {
    uint64_t apart = 0, recorded = 0, all = 0;
    for (size_t h = 0; h < trace->host_count; h++) {
        const struct ids_clock *clock = &trace->hosts[h].clock;
        if (!nodes[h].has_devices) continue;
        all++;
        apart += clock->number != 0;
        recorded += clock->method == IDS_CLOCK_RECORDED;
    }
    char text[256];
    if (apart) {
        snprintf(text, sizeof text,
                 "%llu of %llu hosts are reported apart: they have no collective in common with the others, and no "
                 "recorded clock that fits; windows and steps are each host's own",
                 (unsigned long long)apart, (unsigned long long)all);
        int code = say(trace, IDS_WARNING, "clocks.apart", text, apart, err);
        if (code) return code;
    }
    if (!recorded) return 0;
    return say(trace, IDS_NOTE, "clocks.recorded",
               "hosts were aligned by the clocks that their files state; no collective confirms that", recorded, err);
}

static int align(struct alignment *alignment, struct ids_error *err) {
    struct ids_trace *trace = alignment->trace;
    uint32_t *recorded = NULL;
    int64_t *shifts = calloc(trace->host_count, sizeof *shifts);
    int code = !shifts || make_nodes(alignment) ? ids_no_memory(err) : 0;
    if (!code) code = ids_collective_runs_of(trace, &alignment->runs, err);
    if (!code) code = tie_by_collectives(alignment, err);
    if (!code) find_extents(alignment);
    if (!code && find_recorded(alignment, &recorded)) code = ids_no_memory(err);
    if (!code) {
        place_hosts(alignment, recorded, shifts);
        shift_all(trace, shifts);
        code = say_residual(trace, err);
    }
    if (!code) code = say_apart(trace, alignment->nodes, err);
    free(recorded);
    free(shifts);
    return code;
}

int ids_clocks_align(struct ids_trace *trace, struct ids_error *err) {
    struct alignment alignment = {.trace = trace};
    trace->clock_count = 1;
    for (uint32_t h = 0; h < trace->host_count; h++)
        trace->hosts[h].clock = (struct ids_clock){.against = h, .shortest_ps = -1};
    if (trace->host_count < 2) return 0;
    int code = align(&alignment, err);
    free(alignment.nodes);
    ids_collective_runs_done(alignment.runs, trace->host_count);
    return code;
}

const char *ids_clock_method_name(enum ids_clock_method method) {
    static const char *const names[IDS_CLOCK_METHODS] = {"reference", "collectives", "recorded", "apart"};
    return (unsigned)method < IDS_CLOCK_METHODS ? names[method] : "unknown";
}
