#include "lib/model/trace.h"

#include "lib/base/search.h"
#include "lib/base/vec.h"
#include "lib/hlo/family.h"
#include "lib/hlo/scope.h"
#include "lib/hlo/waste.h"

#include <stdlib.h>
#include <string.h>

void ids_trace_free(struct ids_trace *trace) {
    if (!trace) return;
    for (size_t i = 0; i < trace->device_count; i++) {
        for (enum ids_device_list l = 0; l < IDS_DEVICE_LISTS; l++)
            ids_events_let_go(ids_device_list(&trace->devices[i], l));
    }
    for (size_t i = 0; i < trace->track_count; i++) {
        ids_events_let_go(&trace->tracks[i].events);
        ids_timeline_done(&trace->tracks[i].timeline);
        ids_timeline_done(&trace->tracks[i].seen);
    }
    free(trace->hosts);
    free(trace->devices);
    free(trace->tracks);
    free(trace->names);
    free(trace->modules);
    free(trace->ops);
    free(trace->facts);
    free(trace->calls);
    free(trace->call_costs);
    for (size_t c = 0; c < trace->counter_count; c++) free(trace->counters[c].samples);
    free(trace->counters);
    free(trace->shapes);
    free(trace->aggregates);
    free(trace->samples);
    free(trace->told_files);
    free(trace->samplings);
    free(trace->stacks);
    free(trace->diags);
    free(trace->allocators);
    free(trace->allocations);
    free(trace->programs);
    free(trace->held);
    free(trace->held_frames);
    free(trace->program_values);
    free(trace->kept_arguments);
    free(trace->doings);
    free(trace->doing_changes);
    ids_keymap_done(&trace->doing_numbers);
    ids_keymap_done(&trace->stack_numbers);
    ids_strings_done(&trace->strings);
    ids_arena_done(&trace->arena);
    ids_far_free(trace->far);
    free(trace);
}

struct ids_events *ids_device_list(struct ids_device *device, enum ids_device_list list) {
    struct ids_events *const lists[IDS_DEVICE_LISTS] = {[IDS_LIST_ACTIVITY] = &device->activity,
                                                        [IDS_LIST_ASYNC] = &device->async,
                                                        [IDS_LIST_WAITS] = &device->waits,
                                                        [IDS_LIST_MODULES] = &device->modules,
                                                        [IDS_LIST_STEPS] = &device->steps};
    return lists[list];
}

void ids_events_let_go(struct ids_events *events) {
    if (!events->far) free(events->at);
    *events = (struct ids_events){0};
}

struct ids_event *ids_events_add(struct ids_events *events) {
    if (events->far) {
        struct ids_event *own = malloc((events->count + 1) * sizeof *own);
        if (!own) return NULL;
        memcpy(own, events->at, events->count * sizeof *own);
        *events = (struct ids_events){.at = own, .count = events->count, .room = events->count + 1};
    }
    events->kinds = 0;
    return IDS_PUSH(events->at, events->count, events->room);
}

static void give_back(struct ids_events *events) {
    if (events->count == events->room || events->far) return;
    struct ids_event *exact = events->count ? realloc(events->at, events->count * sizeof *exact) : NULL;
    if (!exact) return;
    events->at = exact;
    events->room = events->count;
}

void ids_trace_give_back(struct ids_trace *trace, size_t first_device, size_t first_track) {
    for (size_t t = first_track; t < trace->track_count; t++) {
        give_back(&trace->tracks[t].events);
        ids_timeline_give_back(&trace->tracks[t].timeline);
    }
    for (size_t d = first_device; d < trace->device_count; d++) {
        for (enum ids_device_list l = 0; l < IDS_DEVICE_LISTS; l++) give_back(ids_device_list(&trace->devices[d], l));
    }
}

void ids_trace_drop_timelines(struct ids_trace *trace) {
    for (size_t t = 0; t < trace->track_count; t++) {
        ids_timeline_done(&trace->tracks[t].timeline);
        ids_timeline_done(&trace->tracks[t].seen);
        trace->tracks[t].timeline = trace->tracks[t].seen = (struct ids_timeline){0};
    }
}

const char *ids_trace_name(const struct ids_trace *trace, uint32_t name) {
    const struct ids_name *called = &trace->names[name];
    return ids_trace_text(trace, called->display ? called->display : called->text);
}

const char *ids_event_name(const struct ids_trace *trace, const struct ids_event *event) {
    return ids_trace_name(trace, event->name);
}

/* The number of events that begin before `when_ps`. */
static size_t begin_before(const struct ids_events *events, int64_t when_ps) {
    return IDS_COUNT_BELOW(events->at, events->count, start_ps, when_ps);
}

struct ids_cursor ids_cursor_between(const struct ids_events *events, int64_t from_ps, int64_t to_ps) {
    if (!events->count || to_ps <= from_ps) return (struct ids_cursor){events->at, events->at};
    size_t first = begin_before(events, from_ps), end = begin_before(events, to_ps);
    if (events->far) ids_far_turn(events->far, (end - first) * sizeof *events->at);
    return (struct ids_cursor){events->at + first, events->at + end};
}

uint32_t ids_thread_around(const struct ids_trace *trace, uint32_t track) {
    return trace->tracks[track].thread ? trace->tracks[track].thread - 1 : IDS_NONE;
}

const struct ids_event *ids_event_outside(const struct ids_trace *trace, const struct ids_event *event) {
    if (event->device != IDS_NONE) return NULL;
    const struct ids_track *track = &trace->tracks[event->track];
    if (event->parent != IDS_NONE) return &track->events.at[event->parent];
    return track->thread ? ids_track_at(&trace->tracks[track->thread - 1], event->start_ps) : NULL;
}

const struct ids_event *ids_track_at(const struct ids_track *track, int64_t when_ps) {
    size_t before = when_ps == INT64_MAX ? track->events.count : begin_before(&track->events, when_ps + 1);
    if (!before) return NULL;
    const struct ids_event *event = &track->events.at[before - 1];
    while (event->end_ps < when_ps) {
        if (event->parent == IDS_NONE) return NULL;
        event = &track->events.at[event->parent];
    }
    return event;
}

const struct ids_event *ids_event_cause(const struct ids_trace *trace, const struct ids_event *event) {
    for (; event; event = ids_event_outside(trace, event)) {
        if (event->launch) return event->launch;
    }
    return NULL;
}

const char *ids_op_pass(const struct ids_trace *trace, const struct ids_op *op) {
    return op->computed_once ? "forward" : ids_pass_of(ids_trace_text(trace, op->framework_name));
}

/* Whether an op whose name tells only of moving computes: XLA names a fusion by its first and last instructions. A few
 * operations on an index are no work; and what the program's graph shows to move, convert or pad, and nothing else. */
static int only_sounds_like_a_move(const struct ids_op *op, const char *family) {
    static const char *const moves[] = {"copy", "transpose", "slice", "conversion"};
    if (op->waste == IDS_WASTE_LAYOUT || op->waste == IDS_WASTE_CONVERT || op->waste == IDS_WASTE_PAD) return 0;
    if (op->flops <= 0 || op->flops < op->result_bytes / 16) return 0;
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        if (!strcmp(family, moves[i])) return strcmp(family, "conversion") != 0 || op->fingerprint;
    return 0;
}

const char *ids_op_family(const struct ids_trace *trace, const struct ids_op *op, const char *event_class) {
    const char *family =
        ids_family_of(ids_trace_text(trace, op->name), ids_trace_text(trace, op->category), event_class);
    int64_t multiplied = op->matrix_flops >= 0 ? op->matrix_flops : op->element ? op->flops : 0;
    int is_fusion = !strcmp(ids_trace_text(trace, op->opcode), "fusion");
    if (is_fusion && only_sounds_like_a_move(op, family)) family = "fusion";
    if (strcmp(family, "fusion") != 0 && strcmp(family, "custom call") != 0) return family;
    if (op->flops <= 0 || multiplied <= op->flops / 2) return family;
    return strstr(ids_trace_text(trace, op->framework_name), "conv") ? "convolution" : "matrix product";
}

int ids_track_is_told(const struct ids_trace *trace, const struct ids_track *track) {
    return !strcmp(ids_trace_text(trace, track->plane_name), "/host:jax.monitoring");
}

int ids_plane_is_sampled(struct ids_text plane_name) {
    return ids_text_is(plane_name, "/host:idsprof.stacks");
}

int ids_track_is_calls(const struct ids_trace *trace, const struct ids_track *track) {
    return !strcmp(ids_trace_text(trace, track->plane_name), "/host:idsprof.pjrt");
}

int ids_sampling_kept_for(const struct ids_trace *trace, uint32_t host, int64_t number) {
    for (size_t t = 0; t < trace->track_count && trace->sampling_count; t++) {
        const struct ids_sampling *sampling = ids_sampling_of(trace, &trace->tracks[t]);
        if (sampling && trace->tracks[t].host == host && sampling->slow_step == number) return 1;
    }
    return 0;
}

size_t ids_trace_first_sample(const struct ids_trace *trace, uint32_t track) {
    size_t low = 0, high = trace->sample_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (trace->samples[middle].track < track)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
