/* builder_partial_take.c - a builder takes over what a partial holds, as if the file had been read now. */
#include "lib/base/saturate.h"
#include "lib/base/vec.h"
#include "lib/model/allocations.h"
#include "lib/model/builder_partial.h"
#include "lib/model/clocks.h"
#include "lib/model/doings.h"
#include "lib/model/held.h"
#include "lib/model/link.h"
#include "lib/model/programs.h"
#include "lib/model/stacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct taking {
    struct ids_builder *whole, *file;
    struct ids_partial_sums *sums;
    struct ids_partial_moves moves;
    uint32_t *maps[IDS_PARTIAL_KINDS]; /* the numbers of the whole, where they do not just follow each other */
};

static void taking_done(struct taking *taking) {
    for (int kind = 0; kind < IDS_PARTIAL_KINDS; kind++) free(taking->maps[kind]);
}

#define RENUMBER(id, array, count) \
    ids_partial_renumber(&taking->moves, &ids_partial_##id, array, sizeof *(array), count)

/* A map for numbers of that kind, which counts from now on. NULL when memory ran out. */
static uint32_t *new_map(struct taking *taking, enum ids_partial_kind kind, size_t count) {
    uint32_t *map = calloc(count + 1, sizeof *map);
    taking->moves.map[kind] = taking->maps[kind] = map;
    return map;
}

/* ---- what files share ---- */

static int take_texts(struct taking *taking) {
    struct ids_strings *to = &taking->whole->trace->strings;
    const struct ids_strings *from = &taking->file->trace->strings;
    uint32_t *map = new_map(taking, IDS_PARTIAL_TEXT, from->count);
    if (!map) return -1;
    struct ids_text stem = ids_strings_text(from, taking->sums->stem);
    if (taking->whole->sink.file_name) {
        taking->whole->sink.file_name = ids_intern(to, stem.at, stem.length);
        if (taking->whole->sink.file_name == IDS_NO_TEXT) return -1;
    }
    for (uint32_t i = 0; i < from->count; i++) {
        struct ids_text text = ids_strings_text(from, i);
        map[i] = ids_intern(to, text.at, text.length);
        if (map[i] == IDS_NO_TEXT) return -1;
    }
    return 0;
}

/* A file that does not tell its program's number shares its modules with others by their names. */
static int take_modules(struct taking *taking) {
    struct ids_trace *to = taking->whole->trace, *from = taking->file->trace;
    uint32_t *map = new_map(taking, IDS_PARTIAL_MODULE, from->module_count);
    RENUMBER(module, from->modules, from->module_count);
    for (size_t m = 0; map && m < from->module_count; m++) {
        const struct ids_module *module = &from->modules[m];
        uint64_t *place = ids_keymap_at(&taking->whole->dimensions.modules, ids_module_key(module));
        if (!place) return -1;
        if (!*place || module->program_id) {
            struct ids_module *added = IDS_PUSH(to->modules, to->module_count, to->module_room);
            if (!added) return -1;
            *added = *module;
            *place = to->module_count;
        }
        map[m] = (uint32_t)(*place - 1);
    }
    return map ? 0 : -1;
}

/* Ops of a framework are told by their path and type, all others are a host's own. */
static int take_ops(struct taking *taking) {
    struct ids_trace *to = taking->whole->trace, *from = taking->file->trace;
    uint32_t *map = new_map(taking, IDS_PARTIAL_OP, from->op_count);
    RENUMBER(op, from->ops, from->op_count);
    for (size_t o = 0; map && o < from->op_count; o++) {
        const struct ids_op *op = &from->ops[o];
        uint64_t own = 0, *place = &own;
        if (op->framework)
            place = ids_keymap_at(&taking->whole->dimensions.annotated, ids_key_of(op->framework_name, op->category));
        if (!place) return -1;
        if (!*place) {
            struct ids_op *added = IDS_PUSH(to->ops, to->op_count, to->op_room);
            if (!added) return -1;
            *added = *op;
            *place = to->op_count;
        }
        map[o] = (uint32_t)(*place - 1);
        to->ops[map[o]].meets |= op->meets;
    }
    return map ? 0 : -1;
}

static int take_costs(struct taking *taking) {
    struct ids_trace *to = taking->whole->trace, *from = taking->file->trace;
    uint32_t *map = new_map(taking, IDS_PARTIAL_COST, from->call_cost_count);
    RENUMBER(call_cost, from->call_costs, from->call_cost_count);
    for (size_t c = 0; map && c < from->call_cost_count; c++) {
        uint64_t *place = ids_keymap_at(&taking->whole->calls.costs, from->call_costs[c].fingerprint);
        if (!place) return -1;
        if (!*place) {
            struct ids_call_cost *added = IDS_PUSH(to->call_costs, to->call_cost_count, to->call_cost_room);
            if (!added) return -1;
            *added = from->call_costs[c];
            *place = to->call_cost_count;
        }
        map[c] = (uint32_t)(*place - 1);
    }
    return map ? 0 : -1;
}

static int take_calls(struct taking *taking) {
    struct ids_trace *from = taking->file->trace;
    uint32_t *map = new_map(taking, IDS_PARTIAL_CALL, from->call_count);
    RENUMBER(call, from->calls, from->call_count);
    for (size_t c = 0; map && c < from->call_count; c++) {
        if (ids_call_number(&taking->whole->calls, &from->calls[c], &map[c])) return -1;
        map[c]--;
    }
    return map ? 0 : -1;
}

static int take_shapes(struct taking *taking, struct ids_error *err) {
    struct ids_trace *from = taking->file->trace;
    struct ids_shape_key *keys = taking->file->dimensions.shape_keys;
    uint32_t *map = new_map(taking, IDS_PARTIAL_SHAPE, from->shape_count);
    int code = map ? 0 : ids_no_memory(err);
    RENUMBER(shape, from->shapes, from->shape_count);
    RENUMBER(shape_key, keys, from->shape_count);
    for (size_t s = 0; s < from->shape_count && !code; s++)
        code = ids_shape_of_key(&taking->whole->dimensions, &keys[s], &from->shapes[s], &map[s], err);
    return code;
}

static int take_doings(struct taking *taking) {
    struct ids_trace *from = taking->file->trace;
    uint32_t *map = new_map(taking, IDS_PARTIAL_DOING, from->doing_count);
    RENUMBER(doing, from->doings, from->doing_count);
    for (size_t d = 0; map && d < from->doing_count; d++) {
        int64_t number = ids_doing_number(taking->whole->trace, &from->doings[d]);
        if (number < 0) return -1;
        map[d] = (uint32_t)number;
    }
    return map ? 0 : -1;
}

static int take_stacks(struct taking *taking) {
    struct ids_trace *to = taking->whole->trace, *from = taking->file->trace;
    uint32_t *map = new_map(taking, IDS_PARTIAL_STACK, from->stack_count);
    for (size_t s = 0; map && s < from->stack_count; s++) {
        struct ids_stack *stack = &from->stacks[s];
        RENUMBER(stack, stack, 1); /* what is around it comes first */
        uint32_t number = ids_stack_of(to, stack->track, stack->outside, stack->text);
        if (!number) return -1;
        ids_sum(&to->stacks[number - 1].self_ps, stack->self_ps);
        map[s] = number - 1;
    }
    return map ? 0 : -1;
}

/* ---- what is a file's own ---- */

/* Hosts of one file have one clock, or they cannot be brought to another one's together. */
static int take_hosts(struct taking *taking, struct ids_error *err) {
    struct ids_builder *whole = taking->whole;
    struct ids_trace *from = taking->file->trace;
    int64_t origin_ns = 0;
    RENUMBER(host, from->hosts, from->host_count);
    for (size_t h = 0; h < from->host_count; h++) {
        const struct ids_host *host = &from->hosts[h];
        const struct ids_host_info info = {.name = ids_host_of_file(&whole->sink, host->told),
                                           .start_unix_ns = host->start_unix_ns,
                                           .ranks = host->ranks};
        int code = ids_build_host(&whole->sink, &info, err);
        if (code) return code;
        struct ids_host *taken = &whole->trace->hosts[whole->dimensions.host];
        taken->asked_ms = host->asked_ms;
        taken->opened_unix_ns = host->opened_unix_ns;
        taken->closed_unix_ns = host->closed_unix_ns;
        if (!origin_ns) origin_ns = host->start_unix_ns;
        int64_t shift_ps = whole->trace->hosts[whole->dimensions.host].shift_ps -
                           ids_clock_recorded_shift(host->start_unix_ns, origin_ns);
        if (!h) taking->moves.shift_ps = shift_ps;
        if (shift_ps != taking->moves.shift_ps)
            return ids_fail(err, IDS_UNSUPPORTED, "hosts of one file with clocks of their own, beside other files");
    }
    return 0;
}

static int take_planes(struct taking *taking) {
    struct ids_builder *whole = taking->whole;
    for (uint64_t p = 0; p < taking->sums->plane_count; p++) { /* of which nothing more is read */
        struct ids_builder_plane *plane = IDS_PUSH(whole->planes, whole->plane_count, whole->plane_room);
        if (!plane) return -1;
        *plane = (struct ids_builder_plane){.device = IDS_NONE};
    }
    return 0;
}

static int take_names(struct taking *taking) {
    struct ids_trace *to = taking->whole->trace, *from = taking->file->trace;
    RENUMBER(name, from->names, from->name_count);
    for (size_t n = 0; n < from->name_count; n++) {
        struct ids_name *name = IDS_PUSH(to->names, to->name_count, to->name_room);
        if (!name) return -1;
        *name = from->names[n];
    }
    RENUMBER(sampling, from->samplings, from->sampling_count);
    for (size_t s = 0; s < from->sampling_count; s++) {
        struct ids_sampling *sampling = IDS_PUSH(to->samplings, to->sampling_count, to->sampling_room);
        if (!sampling) return -1;
        *sampling = from->samplings[s];
    }
    return 0;
}

static int take_devices(struct taking *taking) {
    struct ids_trace *to = taking->whole->trace, *from = taking->file->trace;
    RENUMBER(device, from->devices, from->device_count);
    for (size_t d = 0; d < from->device_count; d++) {
        struct ids_device *device = IDS_PUSH(to->devices, to->device_count, to->device_room), *own = &from->devices[d];
        if (!device) return -1;
        *device = *own;
        own->activity = own->async = own->waits = own->modules = own->steps = (struct ids_events){0};
        struct ids_events *const lists[] = {&device->activity, &device->async, &device->waits, &device->modules,
                                            &device->steps};
        for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) RENUMBER(device_event, lists[l]->at, lists[l]->count);
        char key[IDS_DEVICE_KEY_ROOM];
        snprintf(key, sizeof key, "%.200s:%s", ids_trace_text(to, to->hosts[device->host].name), own->key);
        device->key = ids_arena_copy(&to->arena, key, strlen(key));
        device->label = ids_arena_copy(&to->arena, own->label, strlen(own->label));
        if (!device->key || !device->label) return -1;
    }
    return 0;
}

static int take_tracks(struct taking *taking) {
    struct ids_builder *whole = taking->whole;
    struct ids_trace *to = whole->trace, *from = taking->file->trace;
    RENUMBER(track, from->tracks, from->track_count);
    for (size_t t = 0; t < from->track_count; t++) {
        uint32_t *place = IDS_PUSH(whole->place_of_track, whole->place_count, whole->place_room);
        struct ids_track *track = place ? IDS_PUSH(to->tracks, to->track_count, to->track_room) : NULL;
        if (!track) return -1;
        *place = IDS_NONE; /* it has ended */
        *track = from->tracks[t];
        from->tracks[t].events = (struct ids_events){0};
        from->tracks[t].timeline = (struct ids_timeline){0};
        RENUMBER(thread_event, track->events.at, track->events.count);
        struct ids_timeline *timeline = &track->timeline;
        for (size_t i = 0; i < timeline->count; i++) {
            timeline->from_ps[i] += taking->moves.shift_ps;
            timeline->doing[i] = taking->maps[IDS_PARTIAL_DOING][timeline->doing[i]];
        }
        if (track->first_ps > track->last_ps) continue;
        track->first_ps += taking->moves.shift_ps;
        track->last_ps += taking->moves.shift_ps;
    }
    return 0;
}

static int take_sums(struct taking *taking) {
    struct ids_trace *to = taking->whole->trace, *from = taking->file->trace;
    RENUMBER(aggregate, from->aggregates, from->aggregate_count);
    for (size_t i = 0; i < from->aggregate_count; i++) {
        struct ids_aggregate *sum = IDS_PUSH(to->aggregates, to->aggregate_count, to->aggregate_room);
        if (!sum) return -1;
        *sum = from->aggregates[i];
    }
    RENUMBER(stack_sample, from->samples, from->sample_count);
    for (size_t i = 0; i < from->sample_count; i++) {
        struct ids_stack_sample *sample = IDS_PUSH(to->samples, to->sample_count, to->sample_room);
        if (!sample) return -1;
        *sample = from->samples[i];
    }
    RENUMBER(counter, from->counters, from->counter_count);
    for (size_t c = 0; c < from->counter_count; c++)
        RENUMBER(counter_sample, from->counters[c].samples, from->counters[c].sample_count);
    RENUMBER(allocation, from->allocations, from->allocation_count);
    return ids_counters_take(&taking->whole->counters, to, &taking->file->counters, from) ||
                   ids_allocations_add_all(to, from, taking->moves.first[IDS_PARTIAL_HOST], 0, UINT32_MAX, NULL)
               ? -1
               : 0;
}

/* What is said before a file tells its host is said of the host before. */
static int take_diags(struct taking *taking) {
    struct ids_trace *to = taking->whole->trace, *from = taking->file->trace;
    for (size_t i = 0; i < from->diag_count; i++) {
        struct ids_trace_diag *diag = IDS_PUSH(to->diags, to->diag_count, to->diag_room);
        if (!diag) return -1;
        *diag = from->diags[i];
        diag->host = from->diags[i].host < from->host_count
                         ? taking->moves.first[IDS_PARTIAL_HOST] + from->diags[i].host
                         : taking->whole->dimensions.host;
        diag->id = ids_arena_copy(&to->arena, diag->id, strlen(diag->id));
        diag->text = ids_arena_copy(&to->arena, diag->text, strlen(diag->text));
        if (diag->id && diag->text) continue;
        to->diag_count--;
        return -1;
    }
    return 0;
}

static int take_held(struct taking *taking, struct ids_error *err) {
    struct ids_trace *from = taking->file->trace;
    size_t first = 0;
    if (from->held_count)
        ids_partial_renumber(&taking->moves, &ids_partial_held_info, &from->held->info, sizeof *from->held,
                             from->held_count);
    RENUMBER(held_frame, from->held_frames, from->held_frame_count);
    for (size_t i = 0; i < from->held_count; i++) {
        struct ids_held_info *info = &from->held[i].info;
        if (info->frame_count > from->held_frame_count - first || info->frame_count > IDS_HELD_STACK)
            return ids_fail(err, IDS_CORRUPT, "a damaged partial");
        info->frames = from->held_frames + first;
        first += info->frame_count;
        if (ids_held_add(taking->whole->trace, info)) return ids_no_memory(err);
    }
    return 0;
}

static int take_programs(struct taking *taking, struct ids_error *err) {
    struct ids_trace *from = taking->file->trace;
    size_t value = 0, kept = 0;
    RENUMBER(program, from->programs, from->program_count);
    if (from->program_count)
        ids_partial_renumber(&taking->moves, &ids_partial_program_info, &from->programs->info, sizeof *from->programs,
                             from->program_count);
    RENUMBER(program_value, from->program_values, from->program_value_count);
    RENUMBER(kept_argument, from->kept_arguments, from->kept_argument_count);
    for (size_t i = 0; i < from->program_count; i++) {
        struct ids_program_memory_info *info = &from->programs[i].info;
        if (info->value_count > from->program_value_count - value ||
            info->kept_count > from->kept_argument_count - kept)
            return ids_fail(err, IDS_CORRUPT, "a damaged partial");
        info->values = from->program_values + value;
        info->kept = from->kept_arguments + kept;
        value += info->value_count;
        kept += info->kept_count;
        if (ids_program_memory_add(taking->whole->trace, from->programs[i].host, info)) return ids_no_memory(err);
    }
    struct ids_join *join = &taking->file->join;
    RENUMBER(instruction, join->hlo, join->hlo_count);
    for (size_t i = 0; i < join->hlo_count; i++) {
        uint32_t host = join->hlo_hosts[i] + taking->moves.first[IDS_PARTIAL_HOST];
        int code = ids_join_hlo(&taking->whole->join, host, &join->hlo[i], err);
        if (code) return code;
    }
    taking->whole->trace->hlo_instructions += join->hlo_count;
    return 0;
}

static int take_map(struct taking *taking, const struct ids_partial_rows *rows, const struct ids_keymap *from,
                    struct ids_keymap *to) {
    for (size_t i = 0; i < from->room; i++) {
        struct ids_keymap_slot slot = from->slots[i];
        if (!slot.key) continue;
        ids_partial_renumber(&taking->moves, rows, &slot, sizeof slot, 1);
        if (ids_keymap_add(to, slot.key, slot.value) < 0) return -1;
    }
    return 0;
}

static int take_links(struct taking *taking) {
    struct ids_calls *to = &taking->whole->calls;
    const struct ids_calls *from = &taking->file->calls;
    RENUMBER(forward, from->forwards, from->forward_count);
    for (size_t i = 0; i < from->forward_count; i++) {
        struct ids_forward *forward = IDS_PUSH(to->forwards, to->forward_count, to->forward_room);
        if (!forward) return -1;
        *forward = from->forwards[i];
    }
    return take_map(taking, &ids_partial_forward_of, &from->forward_map, &to->forward_map) ||
                   take_map(taking, &ids_partial_call_of, &from->external, &to->external) ||
                   take_map(taking, &ids_partial_moment_of, &taking->file->join.op_ends,
                            &taking->whole->join.op_ends) ||
                   take_map(taking, &ids_partial_moment_of, &taking->file->join.op_goes_on,
                            &taking->whole->join.op_goes_on)
               ? -1
               : 0;
}

static void take_counts(struct taking *taking) {
    struct ids_builder *whole = taking->whole;
    struct ids_trace *trace = whole->trace;
    const struct ids_partial_sums *sums = taking->sums;
    struct ids_held_records *held = &whole->held;
    trace->event_count += sums->event_count;
    trace->stat_count += sums->stat_count;
    trace->counters_left_out += sums->counters_left_out;
    if (sums->jax_version) trace->jax_version = taking->maps[IDS_PARTIAL_TEXT][sums->jax_version];
    if (sums->has_options) {
        trace->tracer_host = sums->tracer_host;
        trace->tracer_device = sums->tracer_device;
        trace->tracer_python = sums->tracer_python;
    }
    whole->negative_durations += sums->negative_durations;
    whole->out_of_range += sums->out_of_range;
    whole->sink.complete &= sums->complete;
    uint64_t peak = held->bytes + sums->held_peak;
    if (peak > held->peak_bytes) held->peak_bytes = peak;
    held->bytes += sums->held_bytes;
    if (sums->first_ps > sums->last_ps) return;
    if (sums->first_ps + taking->moves.shift_ps < held->first_ps)
        held->first_ps = sums->first_ps + taking->moves.shift_ps;
    if (sums->last_ps + taking->moves.shift_ps > held->last_ps) held->last_ps = sums->last_ps + taking->moves.shift_ps;
}

/* ---- all of it ---- */

static int is_far(const struct taking *taking, int64_t first_ps, int64_t last_ps) {
    int64_t shift_ps = taking->moves.shift_ps;
    return first_ps <= last_ps &&
           !(ids_partial_is_time(first_ps) && ids_partial_is_time(last_ps) &&
             ids_partial_is_time(first_ps + shift_ps) && ids_partial_is_time(last_ps + shift_ps));
}

/* Limits that a reader of the file would have seen while it read; a partial is whole, or not there. */
static int check_room(const struct taking *taking, struct ids_error *err) {
    const struct ids_builder *whole = taking->whole;
    const struct ids_held_records *held = &whole->held;
    const struct ids_partial_sums *sums = taking->sums;
    const struct ids_trace *from = taking->file->trace;
    for (size_t t = 0; t < from->track_count; t++)
        if (is_far(taking, from->tracks[t].first_ps, from->tracks[t].last_ps))
            return ids_fail(err, IDS_UNSUPPORTED, "its times are more than 26 days from those of the run");
    if (is_far(taking, sums->first_ps, sums->last_ps)) return ids_fail(err, IDS_CORRUPT, "a damaged partial");
    if (whole->trace->track_count + from->track_count > IDS_TRACK_LIMIT)
        return ids_fail(err, IDS_LIMIT, "more than %d timelines", IDS_TRACK_LIMIT);
    if (whole->trace->device_count + from->device_count > IDS_DEVICE_LIMIT)
        return ids_fail(err, IDS_LIMIT, "more than %d devices", IDS_DEVICE_LIMIT);
    if (!held->overflowed && held->until_ps == INT64_MAX && held->bytes <= held->most_bytes &&
        sums->held_peak <= held->most_bytes - held->bytes)
        return 0;
    ids_fail(err, IDS_LIMIT, "more than the memory that the process may use, and a partial cannot be read in part");
    return ids_hint(err, "a report of the profiles themselves shows the first part of such a run");
}

static int take_all(struct taking *taking, struct ids_error *err) {
    if (take_texts(taking)) return ids_no_memory(err);
    int code = take_hosts(taking, err);
    if (!code) code = check_room(taking, err);
    if (code) return code;
    if (take_modules(taking) || take_ops(taking) || take_costs(taking) || take_calls(taking)) return ids_no_memory(err);
    code = take_shapes(taking, err);
    if (code) return code;
    if (take_planes(taking) || take_names(taking) || take_doings(taking) || take_devices(taking) ||
        take_tracks(taking) || take_stacks(taking) || take_sums(taking) || take_diags(taking) || take_links(taking))
        return ids_no_memory(err);
    code = take_held(taking, err);
    if (!code) code = take_programs(taking, err);
    if (code) return code;
    take_counts(taking);
    taking->sums->format = taking->maps[IDS_PARTIAL_TEXT][taking->sums->format];
    return 0;
}

int ids_partial_take(struct ids_builder *builder, struct ids_partial *partial, struct ids_error *err) {
    const struct ids_trace *trace = builder->trace;
    struct taking taking = {.whole = builder, .file = partial->file, .sums = &partial->sums};
    uint32_t *first = taking.moves.first;
    if (partial->sums.is_beside && !builder->sink.file_name)
        return ids_fail(err, IDS_UNSUPPORTED, "it lies beside the profiles of a run: give the partials of these too");
    first[IDS_PARTIAL_HOST] = (uint32_t)trace->host_count;
    first[IDS_PARTIAL_PLANE] = (uint32_t)builder->plane_count;
    first[IDS_PARTIAL_DEVICE] = (uint32_t)trace->device_count;
    first[IDS_PARTIAL_TRACK] = (uint32_t)trace->track_count;
    first[IDS_PARTIAL_NAME] = (uint32_t)trace->name_count;
    first[IDS_PARTIAL_SAMPLING] = (uint32_t)trace->sampling_count;
    first[IDS_PARTIAL_FORWARD] = (uint32_t)builder->calls.forward_count;
    taking.moves.link = ids_link_of_hosts(trace->host_count);
    int code = take_all(&taking, err);
    taking_done(&taking);
    return code;
}

int ids_partial_hand_over(struct ids_builder *builder, struct ids_builder *file, const struct ids_partial_of *of,
                          struct ids_error *err) {
    struct ids_partial partial = {.file = file};
    int code = ids_partial_end(file, err);
    if (!code && ids_partial_sum_up(file, of, &partial.sums)) code = ids_no_memory(err);
    for (size_t d = 0; d < file->trace->device_count && !code; d++)
        file->trace->devices[d].key = ids_partial_device_key(file->trace, &file->trace->devices[d]);
    return code ? code : ids_partial_take(builder, &partial, err);
}
