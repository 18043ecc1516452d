#include "lib/export/ordered.h"

#include "lib/base/buffer.h"
#include "lib/base/vec.h"
#include "lib/io/spill.h"
#include "lib/model/passing.h"

#include <stdlib.h>
#include <string.h>

/* Of args; a profile of 2.4 million events has 60 MB of them on its fullest track. */
enum { SPOOL_MEMORY_BYTES = 64 << 20 };

struct kept {
    int64_t start_ps, duration_ps;
    uint64_t
        args_at; /* where they are aside; grows with every event, and so tells which of two equal ones came first */
    uint32_t args_bytes;
    uint32_t name;
    uint32_t arg_count;
    uint8_t form;
};

struct track {
    struct kept *events;
    size_t count, room;
    int unsorted, ended;
};

struct ids_ordered {
    struct ids_passing passing; /* first, so that the sink is the ordered */
    struct track *tracks;
    size_t track_count, track_room;
    size_t waiting; /* events that are kept */
    struct ids_spill *spill;
    struct ids_buffer packed;
    struct ids_arg *args;
    size_t arg_room;
};

static struct ids_ordered *of(struct ids_sink *sink) {
    return (struct ids_ordered *)sink;
}

static int note_track(struct ids_sink *sink, const struct ids_track_info *track, uint32_t *ret_track,
                      struct ids_error *err) {
    struct ids_ordered *ordered = of(sink);
    int code = ordered->passing.next->ops->track(ordered->passing.next, track, ret_track, err);
    while (!code && ordered->track_count <= *ret_track) { /* ids are dense */
        struct track *made = IDS_PUSH(ordered->tracks, ordered->track_count, ordered->track_room);
        if (!made) return ids_no_memory(err);
        *made = (struct track){0};
    }
    return code;
}

static int is_outside(const struct ids_arg *arg) {
    return arg->type == IDS_VALUE_CHARS || arg->type == IDS_VALUE_BYTES;
}

/* The args as they are, then the bytes that they point to, one behind the other. */
static int keep_args(struct ids_ordered *ordered, const struct ids_slice *slice, struct kept *kept,
                     struct ids_error *err) {
    kept->args_at = ids_spill_length(ordered->spill);
    if (!slice->arg_count) {
        kept->args_bytes = 1;
        return ids_spill_append(ordered->spill, "", 1, err); /* so that places differ */
    }
    struct ids_buffer *packed = &ordered->packed;
    packed->length = 0;
    ids_buffer_put(packed, slice->args, slice->arg_count * sizeof *slice->args);
    for (uint32_t i = 0; i < slice->arg_count; i++) {
        if (is_outside(&slice->args[i])) ids_buffer_put(packed, slice->args[i].chars, slice->args[i].length);
    }
    if (packed->failed) return ids_no_memory(err);
    if (packed->length > UINT32_MAX) return ids_fail(err, IDS_LIMIT, "an event of more than 4 GiB");
    kept->args_bytes = (uint32_t)packed->length;
    return ids_spill_append(ordered->spill, packed->at, packed->length, err);
}

static int keep_slice(struct ids_sink *sink, uint32_t track_id, const struct ids_slice *slice, struct ids_error *err) {
    struct ids_ordered *ordered = of(sink);
    struct track *track = &ordered->tracks[track_id];
    struct kept *kept = IDS_PUSH(track->events, track->count, track->room);
    if (!kept) return ids_no_memory(err);
    *kept = (struct kept){.start_ps = slice->start_ps,
                          .duration_ps = slice->duration_ps,
                          .name = slice->name,
                          .arg_count = slice->arg_count,
                          .form = slice->form};
    track->ended = 0;
    ordered->waiting++;
    if (track->count > 1) {
        const struct kept *before = kept - 1;
        track->unsorted |= before->start_ps > kept->start_ps ||
                           (before->start_ps == kept->start_ps && before->duration_ps < kept->duration_ps);
    }
    return keep_args(ordered, slice, kept, err);
}

static int in_order(const void *a, const void *b) {
    const struct kept *left = a, *right = b;
    if (left->start_ps != right->start_ps) return left->start_ps < right->start_ps ? -1 : 1;
    if (left->duration_ps != right->duration_ps) return left->duration_ps > right->duration_ps ? -1 : 1;
    return left->args_at < right->args_at ? -1 : 1;
}

/* Takes the args back. */
static int find_args(struct ids_ordered *ordered, const struct kept *kept, struct ids_error *err) {
    const uint8_t *bytes;
    int code = ids_spill_read(ordered->spill, kept->args_at, kept->args_bytes, &bytes, err);
    if (code) return code;
    if (kept->arg_count > ordered->arg_room) {
        struct ids_arg *args = realloc(ordered->args, kept->arg_count * sizeof *args * 2);
        if (!args) return ids_no_memory(err);
        ordered->args = args;
        ordered->arg_room = (size_t)kept->arg_count * 2;
    }
    memcpy(ordered->args, bytes, kept->arg_count * sizeof *ordered->args);
    bytes += kept->arg_count * sizeof *ordered->args;
    for (uint32_t i = 0; i < kept->arg_count; i++) {
        struct ids_arg *arg = &ordered->args[i];
        if (!is_outside(arg)) continue;
        arg->chars = (const char *)bytes;
        bytes += arg->length;
    }
    return 0;
}

static int hand_on(struct ids_ordered *ordered, uint32_t track_id, struct ids_error *err) {
    struct track *track = &ordered->tracks[track_id];
    struct ids_sink *next = ordered->passing.next;
    int code = 0;
    if (track->unsorted) qsort(track->events, track->count, sizeof *track->events, in_order);
    for (size_t i = 0; i < track->count && !code; i++) {
        const struct kept *kept = &track->events[i];
        struct ids_slice slice = {.start_ps = kept->start_ps,
                                  .duration_ps = kept->duration_ps,
                                  .name = kept->name,
                                  .form = kept->form,
                                  .arg_count = kept->arg_count};
        if (kept->arg_count) code = find_args(ordered, kept, err);
        slice.args = ordered->args;
        if (!code) code = next->ops->slice(next, track_id, &slice, err);
    }
    ordered->waiting -= track->count;
    free(track->events);
    *track = (struct track){.ended = 1};
    if (!ordered->waiting) ids_spill_clear(ordered->spill);
    return code ? code : next->ops->track_end(next, track_id, err);
}

static int end_track(struct ids_sink *sink, uint32_t track_id, struct ids_error *err) {
    return hand_on(of(sink), track_id, err);
}

int ids_ordered_finish(struct ids_ordered *ordered, struct ids_error *err) {
    if (!ordered->passing.sink.complete) ordered->passing.next->complete = 0;
    for (size_t i = 0; i < ordered->track_count; i++) {
        int code = ordered->tracks[i].ended ? 0 : hand_on(ordered, (uint32_t)i, err);
        if (code) return code;
    }
    return 0;
}

int ids_ordered_new(struct ids_sink *next, struct ids_ordered **ret_ordered, struct ids_error *err) {
    struct ids_ordered *ordered = calloc(1, sizeof *ordered);
    if (!ordered) return ids_no_memory(err);
    int code = ids_spill_new(SPOOL_MEMORY_BYTES, &ordered->spill, err);
    if (code) {
        free(ordered);
        return code;
    }
    ids_passing_init(&ordered->passing, next,
                     &(struct ids_sink_ops){.track = note_track, .slice = keep_slice, .track_end = end_track});
    *ret_ordered = ordered;
    return 0;
}

struct ids_sink *ids_ordered_sink(struct ids_ordered *ordered) {
    return &ordered->passing.sink;
}

void ids_ordered_free(struct ids_ordered *ordered) {
    if (!ordered) return;
    for (size_t i = 0; i < ordered->track_count; i++) free(ordered->tracks[i].events);
    free(ordered->tracks);
    ids_spill_free(ordered->spill);
    ids_buffer_done(&ordered->packed);
    free(ordered->args);
    free(ordered);
}
