/* builder_part.c - some tracks of a plane, read by a builder of their own beside those that read others.
 *
 * A part is a builder whose trace begins as a copy of what its tracks look up: hosts, devices, the plane's names and
 * their ops. Texts that it adds stand behind the run's. Whatever else it meets it numbers by itself, notes it
 * (asked.h), and does not begin what depends on tracks before its own. So the builder that takes it over asks for the
 * same things in the same order as if it had read the tracks itself, and gives the same numbers.
 */
#include "lib/base/parallel.h"
#include "lib/base/vec.h"
#include "lib/model/allocations.h"
#include "lib/model/builder_parts.h"
#include "lib/model/doings.h"

#include <stdatomic.h>

#include <stdlib.h>
#include <string.h>

/* ---- the beginning ---- */

static int refuse_host(struct ids_sink *sink, const struct ids_host_info *host, struct ids_error *err) {
    (void)host;
    return ids_asked_in_order(((struct ids_builder *)sink)->dimensions.asked, err);
}

static int refuse_plane(struct ids_sink *sink, const struct ids_plane_info *plane, uint32_t *ret_plane,
                        struct ids_error *err) {
    (void)plane;
    *ret_plane = 0;
    return ids_asked_in_order(((struct ids_builder *)sink)->dimensions.asked, err);
}

static int refuse_name(struct ids_sink *sink, const struct ids_name_info *name, uint32_t *ret_name,
                       struct ids_error *err) {
    (void)name;
    *ret_name = 0;
    return ids_asked_in_order(((struct ids_builder *)sink)->dimensions.asked, err);
}

static int refuse_diag(struct ids_sink *sink, const struct ids_diag *diag, struct ids_error *err) {
    (void)diag;
    return ids_asked_in_order(((struct ids_builder *)sink)->dimensions.asked, err);
}

enum { COPY_ROOM = 16 }; /* for what comes */

/* Room for all of them, of which only those from `first` on are copied, and looked up: the others are of other planes,
 * and their memory is never touched. */
static void *copy_from(const void *all, size_t first, size_t count, size_t element_bytes) {
    char *copy = malloc((count + COPY_ROOM) * element_bytes);
    if (copy && count > first)
        memcpy(copy + first * element_bytes, (const char *)all + first * element_bytes,
               (count - first) * element_bytes);
    return copy;
}

static int copy_devices(struct ids_trace *to, const struct ids_trace *from) {
    to->devices = copy_from(from->devices, 0, from->device_count, sizeof *to->devices);
    if (!to->devices) return -1;
    for (size_t d = 0; d < from->device_count; d++) {
        struct ids_device *device = &to->devices[d];
        device->activity = device->async = device->waits = device->modules = device->steps = (struct ids_events){0};
    }
    to->device_count = from->device_count;
    to->device_room = from->device_count + COPY_ROOM;
    return 0;
}

static int copy_dimensions(struct ids_builder *part, const struct ids_builder *whole, uint32_t plane_number) {
    const struct ids_builder_plane *plane = &whole->planes[plane_number];
    const struct ids_trace *from = whole->trace;
    struct ids_trace *to = part->trace;
    part->planes = copy_from(whole->planes, plane_number, (size_t)plane_number + 1, sizeof *part->planes);
    to->hosts = copy_from(from->hosts, plane->host, (size_t)plane->host + 1, sizeof *to->hosts);
    to->names = copy_from(from->names, plane->first_name, from->name_count, sizeof *to->names);
    to->ops = copy_from(from->ops, plane->first_op, from->op_count, sizeof *to->ops);
    if (!part->planes || !to->hosts || !to->names || !to->ops) return -1;
    part->plane_count = (size_t)plane_number + 1;
    to->host_count = (size_t)plane->host + 1;
    to->name_count = from->name_count;
    to->name_room = from->name_count + COPY_ROOM;
    to->op_count = from->op_count;
    to->op_room = from->op_count + COPY_ROOM;
    return copy_devices(to, from);
}

/* The memory that events lie in until their track ends goes from one part to the next: to fill it anew takes as long as
 * to read a tenth of them. */
static void take_idle(struct ids_builder *part) {
    struct ids_assembly *idle = NULL;
    for (int i = 0; i < IDS_IDLE_PARTS && !idle; i++) idle = atomic_exchange(&part->whole->idle_of_parts[i], NULL);
    if (!idle) return;
    part->idle = *idle;
    free(idle);
}

static void give_idle(struct ids_builder *part) {
    struct ids_assembly *idle = malloc(sizeof *idle), *none = NULL;
    int given = 0;
    free(part->idle.aggregate_of_name); /* they are of the part's own sums */
    part->idle.aggregate_of_name = NULL;
    part->idle.aggregate_room = 0;
    if (idle) *idle = part->idle;
    for (int i = 0; i < IDS_IDLE_PARTS && idle && !given; i++, none = NULL)
        given = atomic_compare_exchange_strong(&part->whole->idle_of_parts[i], &none, idle);
    if (given) {
        part->idle = (struct ids_assembly){0};
        return;
    }
    free(idle);
    ids_assembly_done(&part->idle);
}

void ids_builder_idle_done(struct ids_builder *builder) {
    for (int i = 0; i < IDS_IDLE_PARTS; i++) {
        struct ids_assembly *idle = atomic_exchange(&builder->idle_of_parts[i], NULL);
        if (idle) ids_assembly_done(idle);
        free(idle);
    }
}

static int begin_part(struct ids_sink *sink, uint32_t plane, size_t tracks_before, struct ids_sink **ret_part,
                      struct ids_error *err) {
    static const struct ids_sink_ops ops = {
        .host = refuse_host,
        .plane = refuse_plane,
        .name = refuse_name,
        .track = ids_build_track,
        .slice = ids_build_slice,
        .track_end = ids_build_track_end,
        .diag = refuse_diag,
    };
    struct ids_builder *whole = (struct ids_builder *)sink;
    /* Of what comes then nothing is kept, and there is no room that a part could borrow. */
    if (whole->held.overflowed) return ids_fail(err, IDS_UNSUPPORTED, "what is only counted is read in order");
    struct ids_builder *part = calloc(1, sizeof *part);
    if (part) part->trace = calloc(1, sizeof *part->trace);
    if (part && part->trace) ids_strings_stand_on(&part->trace->strings, &whole->trace->strings);
    if (!part || !part->trace || copy_dimensions(part, whole, plane)) {
        ids_builder_free(part);
        return ids_no_memory(err);
    }
    part->sink = (struct ids_sink){.ops = &ops, .strings = &part->trace->strings, .complete = 1};
    part->dimensions.trace = part->calls.trace = part->trace;
    part->dimensions.host = whole->dimensions.host;
    part->dimensions.asked = &part->asked;
    part->held.until_ps = whole->held.until_ps;
    part->held.first_ps = INT64_MAX;
    part->held.last_ps = INT64_MIN;
    part->held.lender = &whole->held;
    part->whole = whole;
    part->first_track = (uint32_t)(whole->trace->track_count + tracks_before);
    take_idle(part);
    *ret_part = &part->sink;
    return 0;
}

static void end_part(struct ids_sink *sink) {
    give_idle((struct ids_builder *)sink);
}

static void free_part(struct ids_sink *sink) {
    struct ids_held_records *held = &((struct ids_builder *)sink)->held;
    atomic_fetch_sub(&held->lender->lent, held->most_bytes);
    ids_builder_free((struct ids_builder *)sink);
}

/* ---- the numbers of the whole ---- */

struct taking {
    struct ids_builder *whole, *part;
    uint32_t first_text;      /* of the part's own ones */
    uint32_t *texts, *doings; /* the whole's numbers of these */
    struct ids_part_numbers *numbers;
};

static void taking_done(struct taking *taking) {
    free(taking->texts);
    free(taking->doings);
    ids_part_numbers_free(taking->numbers);
}

static uint32_t text_in_whole(const struct taking *taking, uint32_t text) {
    return text < taking->first_text ? text : taking->texts[text - taking->first_text];
}

static int number_texts(struct taking *taking) {
    const struct ids_strings *own = &taking->part->trace->strings;
    taking->first_text = own->first;
    taking->texts = calloc((size_t)own->count + 1, sizeof *taking->texts);
    if (!taking->texts) return -1;
    for (uint32_t i = 0; i < own->count; i++) {
        struct ids_text text = ids_strings_text(own, own->first + i);
        taking->texts[i] = ids_intern(&taking->whole->trace->strings, text.at, text.length);
        if (taking->texts[i] == IDS_NO_TEXT) return -1;
    }
    return 0;
}

/* The number that it has in the whole, with the texts of the whole. */
static int ask_again(struct ids_dimensions *dimensions, const struct ids_trace *from, const struct ids_asked_one *one,
                     uint32_t *ret_number, struct ids_error *err) {
    switch (one->what) {
    case IDS_ASKED_DEVICE:
        return ids_cpu_device(dimensions, one->device.plane, one->device.ordinal, ret_number, err);
    case IDS_ASKED_OP: {
        const struct ids_facts facts = {
            .hlo_op = one->op.name, .hlo_module = one->op.module, .program_id = one->op.program_id};
        return ids_op_of(dimensions, &facts, ret_number, err);
    }
    case IDS_ASKED_ANNOTATED:
        return ids_op_of_annotation(dimensions, one->annotated, ret_number, err);
    default:
        return ids_shape_known(dimensions, one->shape.details, one->shape.device_kind, &from->shapes[one->shape.number],
                               ret_number, err);
    }
}

/* In the order in which the part met them, each kind gets its numbers one after the other. */
static int number_asked(struct taking *taking, struct ids_error *err) {
    const struct ids_trace *own = taking->part->trace;
    const struct ids_asked *asked = &taking->part->asked;
    struct ids_part_numbers *numbers = taking->numbers;
    numbers->devices = calloc(asked->count + 1, sizeof *numbers->devices);
    numbers->ops = calloc(asked->count + 1, sizeof *numbers->ops);
    numbers->shapes = calloc(asked->count + 1, sizeof *numbers->shapes);
    if (!numbers->devices || !numbers->ops || !numbers->shapes) return ids_no_memory(err);
    uint32_t *next[IDS_ASKED_KINDS] = {[IDS_ASKED_DEVICE] = numbers->devices, [IDS_ASKED_SHAPE] = numbers->shapes};
    uint32_t *next_op = numbers->ops; /* of two kinds */
    for (size_t i = 0; i < asked->count; i++) {
        struct ids_asked_one one = asked->at[i];
        uint32_t **place = next[one.what] ? &next[one.what] : &next_op;
        if (one.what == IDS_ASKED_OP) {
            one.op.module = text_in_whole(taking, one.op.module);
            one.op.name = text_in_whole(taking, one.op.name);
        } else if (one.what == IDS_ASKED_SHAPE) {
            one.shape.details = text_in_whole(taking, one.shape.details);
        }
        int code = ask_again(&taking->whole->dimensions, own, &one, *place, err);
        if (code) return code;
        ++*place;
    }
    return 0;
}

static int number_doings(struct taking *taking) {
    const struct ids_trace *own = taking->part->trace;
    taking->doings = calloc(own->doing_count + 1, sizeof *taking->doings);
    if (!taking->doings) return -1;
    for (size_t d = 0; d < own->doing_count; d++) {
        int64_t number = ids_doing_number(taking->whole->trace, &own->doings[d]);
        if (number < 0) return -1;
        taking->doings[d] = (uint32_t)number;
    }
    return 0;
}

/* ---- what is moved ---- */

/* What stays on a track: of a host thread nothing has a device, or an op, that is no op. */
static void renumber_track(void *context, size_t i) {
    const struct taking *taking = context;
    struct ids_track *track = &taking->part->trace->tracks[i];
    for (size_t t = 0; t < track->timeline.count; t++)
        track->timeline.doing[t] = taking->doings[track->timeline.doing[t]];
    if (track->device == IDS_NONE && !ids_events_may_have(&track->events, IDS_KINDS(IDS_KIND_OP))) return;
    for (size_t e = 0; e < track->events.count; e++) {
        struct ids_event *event = &track->events.at[e];
        event->device = ids_device_in_whole(taking->numbers, event->device);
        event->op = ids_op_in_whole(taking->numbers, event->op);
    }
}

static int move_track(const struct taking *taking, struct ids_track *from) {
    struct ids_builder *whole = taking->whole;
    struct ids_trace *trace = whole->trace;
    uint32_t *place = IDS_PUSH(whole->place_of_track, whole->place_count, whole->place_room);
    struct ids_track *to = place ? IDS_PUSH(trace->tracks, trace->track_count, trace->track_room) : NULL;
    if (!to) return -1;
    *place = IDS_NONE; /* it has ended */
    *to = *from;
    from->events = (struct ids_events){0};
    from->timeline = (struct ids_timeline){0};
    to->name = text_in_whole(taking, to->name);
    return 0;
}

static int move_sums(const struct taking *taking) {
    struct ids_trace *to = taking->whole->trace;
    const struct ids_trace *from = taking->part->trace;
    for (size_t i = 0; i < from->aggregate_count; i++) {
        struct ids_aggregate *sum = IDS_PUSH(to->aggregates, to->aggregate_count, to->aggregate_room);
        if (!sum) return -1;
        *sum = from->aggregates[i];
        sum->track += taking->part->first_track;
    }
    for (size_t i = 0; i < from->sample_count; i++) {
        struct ids_stack_sample *sample = IDS_PUSH(to->samples, to->sample_count, to->sample_room);
        if (!sample) return -1;
        *sample = from->samples[i];
        sample->track += taking->part->first_track;
    }
    to->event_count += from->event_count;
    to->stat_count += from->stat_count;
    return 0;
}

/* What was found out of names and ops while tracks ended. */
static void move_findings(const struct taking *taking) {
    struct ids_trace *to = taking->whole->trace;
    const struct ids_trace *from = taking->part->trace;
    const struct ids_builder_plane *plane = &taking->part->planes[taking->part->plane_count - 1];
    for (size_t n = plane->first_name; n < from->name_count; n++) {
        if (!to->names[n].frame) to->names[n].frame = from->names[n].frame;
        if (!to->names[n].account) to->names[n].account = from->names[n].account;
    }
    for (uint32_t op = plane->first_op; op < from->op_count; op++)
        if (from->ops[op].meets) to->ops[ids_op_in_whole(taking->numbers, op)].meets = 1;
}

static int move_links(const struct ids_keymap *from, struct ids_keymap *to) {
    for (size_t i = 0; i < from->room; i++) {
        const struct ids_keymap_slot *slot = &from->slots[i];
        if (slot->key && ids_keymap_add(to, slot->key, slot->value) < 0) return -1;
    }
    return 0;
}

static int move_op_ends(const struct taking *taking) {
    const struct ids_join *from = &taking->part->join;
    struct ids_join *to = &taking->whole->join;
    return move_links(&from->op_ends, &to->op_ends) || move_links(&from->op_goes_on, &to->op_goes_on) ? -1 : 0;
}

static void move_counts(const struct taking *taking) {
    struct ids_builder *whole = taking->whole;
    struct ids_held_records *to = &whole->held;
    const struct ids_held_records *from = &taking->part->held;
    uint64_t peak = to->bytes + ids_held_peak(from);
    if (peak > to->peak_bytes) to->peak_bytes = peak;
    to->bytes += from->bytes;
    to->beyond += from->beyond;
    if (from->first_ps < to->first_ps) to->first_ps = from->first_ps;
    if (from->last_ps > to->last_ps) to->last_ps = from->last_ps;
    whole->negative_durations += taking->part->negative_durations;
    whole->out_of_range += taking->part->out_of_range;
}

/* A limit that is passed is said where it is passed: in order. */
static int fits(const struct ids_builder *whole, const struct ids_builder *part) {
    return !whole->held.overflowed && !part->held.overflowed && !part->open_count &&
           part->first_track == whole->trace->track_count &&
           ids_held_peak(&part->held) <= whole->held.most_bytes - whole->held.bytes &&
           whole->trace->track_count + part->trace->track_count <= IDS_TRACK_LIMIT &&
           whole->trace->device_count + part->asked.count <= IDS_DEVICE_LIMIT;
}

static int move_all(struct taking *taking, struct ids_error *err) {
    const struct ids_trace *from = taking->part->trace;
    if (number_texts(taking)) return ids_no_memory(err);
    int code = number_asked(taking, err);
    if (!code && number_doings(taking)) code = ids_no_memory(err);
    if (code) return code;
    ids_parallel_events(from->event_count, from->track_count, renumber_track, taking);
    for (size_t t = 0; t < from->track_count && !code; t++)
        code = move_track(taking, &taking->part->trace->tracks[t]) ? ids_no_memory(err) : 0;
    if (!code && (move_sums(taking) || move_op_ends(taking) ||
                  ids_allocations_add_all(taking->whole->trace, from, 0, taking->part->first_track, taking->first_text,
                                          taking->texts)))
        code = ids_no_memory(err);
    if (code) return code;
    move_findings(taking);
    move_counts(taking);
    struct ids_part_numbers *numbers = taking->numbers;
    taking->numbers = NULL; /* they go with the pieces */
    return ids_device_pieces_take(&taking->whole->pieces, &taking->part->pieces, numbers) ? ids_no_memory(err) : 0;
}

static int take_part(struct ids_sink *sink, struct ids_sink *part_sink, int *ret_taken, struct ids_error *err) {
    struct ids_builder *whole = (struct ids_builder *)sink, *part = (struct ids_builder *)part_sink;
    ids_builder_idle_done(whole); /* all have ended */
    *ret_taken = fits(whole, part);
    if (!*ret_taken) return 0;
    size_t own_devices = 0, own_ops = 0;
    for (size_t i = 0; i < part->asked.count; i++) {
        own_devices += part->asked.at[i].what == IDS_ASKED_DEVICE;
        own_ops += part->asked.at[i].what == IDS_ASKED_OP || part->asked.at[i].what == IDS_ASKED_ANNOTATED;
    }
    struct taking taking = {.whole = whole, .part = part, .numbers = calloc(1, sizeof *taking.numbers)};
    if (!taking.numbers) return ids_no_memory(err);
    taking.numbers->first_device = (uint32_t)(part->trace->device_count - own_devices);
    taking.numbers->first_op = (uint32_t)(part->trace->op_count - own_ops);
    int code = move_all(&taking, err);
    taking_done(&taking);
    return code;
}

const struct ids_sink_parts ids_builder_parts = {
    .begin = begin_part, .end = end_part, .take = take_part, .free = free_part};
