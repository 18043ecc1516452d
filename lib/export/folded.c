/* folded.c - stacks of Python frames with the time of each, a line a stack, for flame graphs and speedscope:
 *
 *   python/4559;<module> (train.py:12);load_batch (train.py:88);time.sleep 50740
 *
 * the thread, its calls from the outside in, and microseconds in which the last one ran itself. Frames are sampled
 * stacks (idsprof capture --stacks) and what Python's tracers recorded; all other events are passed over. */
#include "lib/base/keymap.h"
#include "lib/base/vec.h"
#include "lib/export/export.h"
#include "lib/model/python_frame.h"
#include "lib/wire/json_put.h"

#include <stdlib.h>

#define PS_PER_US ((int64_t)1000000)
/* Calls below this one count as its own time: no program goes deeper, and a line holds each call of its stack. */
enum { MOST_DEPTH = 1000 };

/* A call below others: a stack. */
struct stack {
    uint32_t outside; /* index + 1 of the stack around it; 0: a thread */
    uint32_t text;    /* of the frame, or the thread's name */
    int64_t self_ps;
};

struct open_call {
    int64_t end_ps;
    uint32_t stack;
};

struct folded {
    struct ids_export export; /* first */
    uint32_t *names;          /* by name: its text; IDS_NO_TEXT: it is no frame */
    uint32_t *threads;        /* by track: its name */
    struct stack *stacks;
    struct open_call *open; /* of the track at hand */
    size_t name_count, name_room, thread_count, thread_room, stack_count, stack_room, depth, open_room;
    struct ids_keymap by_call; /* (outside, text) -> index + 1 */
};

static struct folded *of(struct ids_sink *sink) {
    return (struct folded *)sink;
}

static int folded_host(struct ids_sink *sink, const struct ids_host_info *host, struct ids_error *err) {
    (void)sink, (void)host, (void)err;
    return 0;
}

static int folded_plane(struct ids_sink *sink, const struct ids_plane_info *plane, uint32_t *ret_plane,
                        struct ids_error *err) {
    (void)sink, (void)plane, (void)err;
    *ret_plane = 0;
    return 0;
}

static int folded_name(struct ids_sink *sink, const struct ids_name_info *info, uint32_t *ret_name,
                       struct ids_error *err) {
    struct folded *folded = of(sink);
    struct ids_python_frame frame;
    *ret_name = (uint32_t)folded->name_count;
    uint32_t *name = IDS_PUSH(folded->names, folded->name_count, folded->name_room);
    if (!name) return ids_no_memory(err);
    *name =
        ids_python_frame_of(ids_strings_text(&folded->export.strings, info->text), &frame) ? info->text : IDS_NO_TEXT;
    return 0;
}

static int folded_track(struct ids_sink *sink, const struct ids_track_info *info, uint32_t *ret_track,
                        struct ids_error *err) {
    struct folded *folded = of(sink);
    *ret_track = (uint32_t)folded->thread_count;
    uint32_t *thread = IDS_PUSH(folded->threads, folded->thread_count, folded->thread_room);
    if (!thread) return ids_no_memory(err);
    *thread = info->name;
    return 0;
}

/* The stack of a call; 0 when there is no memory, else its index + 1. */
static uint32_t stack_of(struct folded *folded, uint32_t outside, uint32_t text) {
    uint64_t *number = ids_keymap_at(&folded->by_call, ids_key_of(outside, text));
    if (!number) return 0;
    if (!*number) {
        struct stack *fresh = IDS_PUSH(folded->stacks, folded->stack_count, folded->stack_room);
        if (!fresh) return 0;
        *fresh = (struct stack){outside, text, 0};
        *number = folded->stack_count;
    }
    return (uint32_t)*number;
}

static int folded_slice(struct ids_sink *sink, uint32_t track, const struct ids_slice *slice, struct ids_error *err) {
    struct folded *folded = of(sink);
    uint32_t text = folded->names[slice->name];
    int64_t end_ps = slice->start_ps + slice->duration_ps;
    if (text == IDS_NO_TEXT || slice->form != IDS_FORM_SLICE) return 0;
    while (folded->depth && folded->open[folded->depth - 1].end_ps <= slice->start_ps) folded->depth--;
    if (folded->depth == MOST_DEPTH) return 0;
    const struct open_call *around = folded->depth ? &folded->open[folded->depth - 1] : NULL;
    if (around && end_ps > around->end_ps) end_ps = around->end_ps; /* recorded ends may overlap a little */
    uint32_t outside = around ? around->stack : stack_of(folded, 0, folded->threads[track]);
    uint32_t stack = outside ? stack_of(folded, outside, text) : 0;
    struct open_call *open = stack ? IDS_PUSH(folded->open, folded->depth, folded->open_room) : NULL;
    if (!open) return ids_no_memory(err);
    *open = (struct open_call){end_ps, stack};
    folded->stacks[stack - 1].self_ps += end_ps - slice->start_ps;
    if (around) folded->stacks[outside - 1].self_ps -= end_ps - slice->start_ps;
    folded->export.events++;
    return 0;
}

static int folded_track_end(struct ids_sink *sink, uint32_t track, struct ids_error *err) {
    (void)track, (void)err;
    of(sink)->depth = 0;
    return 0;
}

static int folded_program(struct ids_sink *sink, const struct ids_program *program, struct ids_error *err) {
    (void)sink, (void)program, (void)err;
    return 0;
}

/* A semicolon ends a call, and a line a stack. */
static void put_clean(struct ids_buffer *buffer, struct ids_text text) {
    for (uint32_t i = 0; i < text.length; i++) {
        char c = text.at[i];
        ids_buffer_byte(buffer, c == ';' ? ':' : (unsigned char)c < 0x20 ? ' ' : c);
    }
}

static void put_call(struct folded *folded, const struct stack *stack) {
    struct ids_buffer *buffer = &folded->export.buffer;
    struct ids_text text = ids_strings_text(&folded->export.strings, stack->text);
    struct ids_python_call call;
    if (!stack->outside || !ids_python_call_of(text, &call)) {
        put_clean(buffer, text);
        return;
    }
    put_clean(buffer, call.module);
    if (call.module.length) ids_buffer_byte(buffer, '.');
    put_clean(buffer, call.function);
    if (!call.file.length) return;
    IDS_BUFFER_PUT(buffer, " (");
    put_clean(buffer, call.file);
    ids_buffer_byte(buffer, ':');
    ids_json_put_int(buffer, call.line);
    ids_buffer_byte(buffer, ')');
}

static void put_stack(struct folded *folded, uint32_t stack) {
    const struct stack *at = &folded->stacks[stack - 1];
    if (at->outside) {
        put_stack(folded, at->outside);
        ids_buffer_byte(&folded->export.buffer, ';');
    }
    put_call(folded, at);
}

static int folded_finish(struct ids_export *export, struct ids_error *err) {
    struct folded *folded = (struct folded *)export;
    if (!folded->stack_count)
        return ids_fail(err, IDS_NOT_FOUND,
                        "no Python frames were recorded; idsprof capture samples them unless --stacks 0 is given");
    for (uint32_t s = 1; s <= folded->stack_count; s++) {
        int64_t self_us = (folded->stacks[s - 1].self_ps + PS_PER_US / 2) / PS_PER_US;
        if (self_us <= 0) continue;
        put_stack(folded, s);
        ids_buffer_byte(&export->buffer, ' ');
        ids_json_put_int(&export->buffer, self_us);
        ids_buffer_byte(&export->buffer, '\n');
        int code = ids_export_write(export, err);
        if (code) return code;
    }
    return ids_export_write_all(export, err);
}

static void folded_done(struct ids_export *export) {
    struct folded *folded = (struct folded *)export;
    free(folded->names);
    free(folded->threads);
    free(folded->stacks);
    free(folded->open);
    ids_keymap_done(&folded->by_call);
}

static int open_folded(struct ids_out *out, const struct ids_export_params *params, struct ids_export **ret_export,
                       struct ids_error *err) {
    static const struct ids_sink_ops ops = {.host = folded_host,
                                            .plane = folded_plane,
                                            .name = folded_name,
                                            .track = folded_track,
                                            .slice = folded_slice,
                                            .track_end = folded_track_end,
                                            .program = folded_program,
                                            .diag = ids_export_no_diag};
    struct folded *folded = calloc(1, sizeof *folded);
    (void)params;
    if (!folded) return ids_no_memory(err);
    folded->export.finish = folded_finish;
    folded->export.done = folded_done;
    int code = ids_export_init(&folded->export, out, &ops, err);
    if (code) {
        ids_export_free(&folded->export);
        return code;
    }
    *ret_export = &folded->export;
    return 0;
}

const struct ids_export_format ids_folded_export = {
    .name = "folded",
    .title = "folded stacks",
    .suffix = ".folded.txt",
    .wants_order = 1,
    .is_text = 1,
    .open = open_folded,
};
