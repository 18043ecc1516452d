#include "lib/model/tee.h"

#include "lib/model/partial.h"

#include <stdlib.h>

static struct ids_tee *of(struct ids_sink *sink) {
    return (struct ids_tee *)sink;
}

#define BOTH(function, ...)                                           \
    struct ids_tee *tee = of(sink);                                   \
    int code = tee->left->ops->function(tee->left, __VA_ARGS__, err); \
    return code ? code : tee->right->ops->function(tee->right, __VA_ARGS__, err)

static int tee_host(struct ids_sink *sink, const struct ids_host_info *host, struct ids_error *err) {
    BOTH(host, host);
}

/* The number is given when both have read the thing, which it may lie in. */
static int give_number(int code, uint32_t left, uint32_t right, uint32_t *ret_number, struct ids_error *err) {
    if (code) return code;
    *ret_number = left;
    return left == right ? 0
                         : ids_fail(err, IDS_LIMIT, "two readers of one file count differently: %u, %u", left, right);
}

#define BOTH_NUMBERED(function, thing, ret_number)                               \
    struct ids_tee *tee = of(sink);                                              \
    uint32_t left = 0, right = 0;                                                \
    int code = tee->left->ops->function(tee->left, thing, &left, err);           \
    if (!code) code = tee->right->ops->function(tee->right, thing, &right, err); \
    return give_number(code, left, right, ret_number, err)

static int tee_plane(struct ids_sink *sink, const struct ids_plane_info *plane, uint32_t *ret_plane,
                     struct ids_error *err) {
    BOTH_NUMBERED(plane, plane, ret_plane);
}

static int remember_name(struct ids_tee *tee, uint32_t left, uint32_t right, struct ids_error *err) {
    if (left >= tee->name_room) {
        size_t room = (size_t)left + left / 2 + 256;
        uint32_t *grown = realloc(tee->right_name, room * sizeof *grown);
        if (!grown) return ids_no_memory(err);
        tee->right_name = grown;
        tee->name_room = room;
    }
    tee->right_name[left] = right;
    return 0;
}

static int tee_name(struct ids_sink *sink, const struct ids_name_info *name, uint32_t *ret_name,
                    struct ids_error *err) {
    struct ids_tee *tee = of(sink);
    uint32_t left = 0, right = 0;
    int code = tee->left->ops->name(tee->left, name, &left, err);
    if (!code) code = tee->right->ops->name(tee->right, name, &right, err);
    if (!code) code = remember_name(tee, left, right, err);
    if (!code) *ret_name = left;
    return code;
}

static int tee_track(struct ids_sink *sink, const struct ids_track_info *track, uint32_t *ret_track,
                     struct ids_error *err) {
    BOTH_NUMBERED(track, track, ret_track);
}

static int tee_slice(struct ids_sink *sink, uint32_t track, const struct ids_slice *slice, struct ids_error *err) {
    struct ids_tee *tee = of(sink);
    struct ids_slice other = *slice;
    other.name = tee->right_name[slice->name];
    int code = tee->left->ops->slice(tee->left, track, slice, err);
    return code ? code : tee->right->ops->slice(tee->right, track, &other, err);
}

/* The right one first, which may end the track on a thread of its own meanwhile (relay.c). */
static int tee_track_end(struct ids_sink *sink, uint32_t track, struct ids_error *err) {
    struct ids_tee *tee = of(sink);
    int code = tee->right->ops->track_end(tee->right, track, err);
    return code ? code : tee->left->ops->track_end(tee->left, track, err);
}

static int tee_hlo(struct ids_sink *sink, const struct ids_instruction_info *instruction, struct ids_error *err) {
    struct ids_tee *tee = of(sink);
    int code = tee->left->ops->hlo ? tee->left->ops->hlo(tee->left, instruction, err) : 0;
    return code || !tee->right->ops->hlo ? code : tee->right->ops->hlo(tee->right, instruction, err);
}

static int tee_memory(struct ids_sink *sink, const struct ids_program_memory_info *memory, struct ids_error *err) {
    struct ids_tee *tee = (struct ids_tee *)sink;
    int code = tee->left->ops->memory ? tee->left->ops->memory(tee->left, memory, err) : 0;
    return code || !tee->right->ops->memory ? code : tee->right->ops->memory(tee->right, memory, err);
}

static int tee_held(struct ids_sink *sink, const struct ids_held_info *held, struct ids_error *err) {
    struct ids_tee *tee = (struct ids_tee *)sink;
    int code = tee->left->ops->held ? tee->left->ops->held(tee->left, held, err) : 0;
    return code || !tee->right->ops->held ? code : tee->right->ops->held(tee->right, held, err);
}

static int tee_program(struct ids_sink *sink, const struct ids_program *program, struct ids_error *err) {
    struct ids_tee *tee = of(sink);
    int code = tee->left->ops->program ? tee->left->ops->program(tee->left, program, err) : 0;
    return code || !tee->right->ops->program ? code : tee->right->ops->program(tee->right, program, err);
}

/* The row builder wants events. */
static int tee_partial(struct ids_sink *sink, const void *bytes, size_t length, struct ids_error *err) {
    if (!of(sink)->left->ops->partial || !of(sink)->right->ops->partial) return ids_partial_has_no_events(err);
    BOTH(partial, bytes, length);
}

static int tee_diag(struct ids_sink *sink, const struct ids_diag *diag, struct ids_error *err) {
    BOTH(diag, diag);
}

void ids_tee_init(struct ids_tee *tee, struct ids_sink *left, struct ids_sink *right) {
    *tee = (struct ids_tee){.left = left, .right = right};
#define IDS_SINK_CALL(name, params, args) tee->ops.name = tee_##name;
#define IDS_SINK_OPTION(name, params, args) \
    if (left->ops->name || right->ops->name) tee->ops.name = tee_##name;
#include "lib/model/sink_calls.def"
    tee->sink = (struct ids_sink){.ops = &tee->ops, .strings = left->strings, .complete = 1};
}

void ids_tee_finish(struct ids_tee *tee) {
    if (tee->sink.complete) return;
    tee->left->complete = tee->right->complete = 0;
}

void ids_tee_done(struct ids_tee *tee) {
    free(tee->right_name);
}
