#include "collectors/common/python_stack.h"

#include "collectors/common/own_memory.h"

#include <string.h>

/* Owners from here on are no functions but marks of where C called Python (3.12 and later). */
enum { OWNED_BY_C = 3, WINDOW = 4096, PAGE = 4096, AHEAD = 512 };
/* A thread that calls and returns all the time is read in the middle of it now and then. */
enum { ATTEMPTS = 8 };

/* Memory that was read at once: frames lie one beside the other. */
struct window {
    uintptr_t from;
    size_t size;
    unsigned char bytes[WINDOW];
};

static const unsigned char *frame_at(struct window *window, uintptr_t frame) {
    /* A thread that has ended leads anywhere, also to the very end of memory. */
    int is_inside = window->size >= IDS_PYTHON_FRAME && frame >= window->from &&
                    frame - window->from <= window->size - IDS_PYTHON_FRAME;
    if (!is_inside) {
        /* Frames outside this one lie below it. */
        window->from = frame + IDS_PYTHON_FRAME - WINDOW;
        window->size = WINDOW;
        if (ids_own_memory(window->from, window->bytes, WINDOW)) {
            window->from = frame;
            window->size = IDS_PYTHON_FRAME;
            if (ids_own_memory(frame, window->bytes, IDS_PYTHON_FRAME)) {
                window->size = 0;
                return NULL;
            }
        }
    }
    return window->bytes + (frame - window->from);
}

static uintptr_t word_of(const unsigned char *bytes, size_t at) {
    uintptr_t word;
    memcpy(&word, bytes + at, sizeof word);
    return word;
}

/* The offset of the frame's instruction in its code, in bytes. */
static uint32_t offset_of(const struct ids_python_layout *layout, const unsigned char *frame, uintptr_t code) {
    if (!layout->code_begin) {
        int32_t number;
        memcpy(&number, frame + layout->frame_at, sizeof number);
        return number < 0 ? 0 : (uint32_t)(layout->minor >= 10 ? 2 * number : number);
    }
    uintptr_t begin = code + layout->code_begin, at = word_of(frame, layout->frame_at);
    return at < begin || at - begin > INT32_MAX ? 0 : (uint32_t)(at - begin);
}

static unsigned is_by_c(const struct ids_python_layout *layout, const unsigned char *frame) {
    return layout->frame_is_entry && frame[layout->frame_is_entry] ? 1 : 0;
}

/* --- one thread ------------------------------------------------------------------------------------------------- */

struct reading {
    unsigned char state[IDS_PYTHON_THREAD];
    uintptr_t cframe_frame; /* what the frame's place held, where the guess is of it */
    struct window window;
};

/* The state, and what was found from there the last time. Without that, or where it has gone, the state alone. */
static int read_state(const struct ids_python_layout *layout, uintptr_t thread, const struct ids_python_guess *guess,
                      struct reading *reading) {
    struct ids_own_piece pieces[IDS_OWN_PIECES] = {{thread, reading->state, sizeof reading->state}};
    int count = 1;
    reading->window.from = reading->window.size = 0;
    if (guess->frames) {
        if (layout->through_cframe)
            pieces[count++] = (struct ids_own_piece){guess->cframe + layout->cframe_frame, &reading->cframe_frame,
                                                     sizeof reading->cframe_frame};
        pieces[count++] = (struct ids_own_piece){guess->frames, reading->window.bytes, guess->frames_size};
        if (!ids_own_memory_pieces(pieces, count)) {
            reading->window.from = guess->frames;
            reading->window.size = guess->frames_size;
            return 0;
        }
    }
    return ids_own_memory(thread, reading->state, sizeof reading->state);
}

/* The innermost frame; 0: the thread runs no Python. */
static uintptr_t innermost(const struct ids_python_layout *layout, const struct reading *reading,
                           struct ids_python_guess *guess) {
    uintptr_t frame = word_of(reading->state, layout->thread_frame), inner;
    if (!layout->through_cframe || !frame) return frame;
    if (reading->window.size && guess->cframe == frame) return reading->cframe_frame;
    guess->cframe = frame;
    return ids_own_memory(frame + layout->cframe_frame, &inner, sizeof inner) ? 0 : inner;
}

/* Frames of generators lie elsewhere; those of the other calls lie one behind the other. */
static void widen(struct ids_python_guess *guess, uintptr_t frame) {
    uintptr_t from = guess->frames && guess->frames < frame ? guess->frames : frame, to = frame + IDS_PYTHON_FRAME;
    if (guess->frames && guess->frames + guess->frames_size > to) to = guess->frames + guess->frames_size;
    if (to - from > WINDOW) return;
    guess->frames = from;
    guess->frames_size = to - from;
}

/* Calls that come next have their frames behind the innermost one; what lies on the same page is there. */
static void widen_for_calls(struct ids_python_guess *guess) {
    if (!guess->frames) return;
    uintptr_t to = guess->frames + guess->frames_size, page_end = ((to - 1) | (PAGE - 1)) + 1;
    size_t more = page_end - to < AHEAD ? page_end - to : AHEAD;
    if (guess->frames_size + more <= WINDOW) guess->frames_size += more;
}

/* 1 when the outermost frame was reached; 0 when the thread went on meanwhile, and the rest is not known; -1 when there
 * is no such thread. */
static int read_once(const struct ids_python_layout *layout, struct ids_python_codes *codes, uintptr_t thread,
                     uint32_t sample, struct ids_python_guess *guess, struct ids_python_stack *stack) {
    struct reading reading;
    if (read_state(layout, thread, guess, &reading)) return -1;
    stack->next = word_of(reading.state, layout->thread_next);
    stack->pthread = word_of(reading.state, layout->thread_id);
    stack->tid = layout->minor >= 11 ? word_of(reading.state, layout->thread_id + 8) : 0;
    stack->depth = 0;
    uintptr_t frame = innermost(layout, &reading, guess);
    guess->frames = guess->frames_size = 0;
    while (frame && stack->depth < IDS_PYTHON_DEPTH) {
        const unsigned char *bytes = frame_at(&reading.window, frame);
        if (!bytes) return 0;
        uintptr_t outside = word_of(bytes, layout->frame_previous);
        struct ids_python_call *inside = stack->depth ? &stack->calls[stack->depth - 1] : NULL;
        if (layout->frame_owner && layout->minor >= 12 && bytes[layout->frame_owner] >= OWNED_BY_C) {
            if (inside) inside->from_c = 1;
        } else {
            uintptr_t code = word_of(bytes, layout->frame_code) & ~(uintptr_t)7;
            int64_t number = ids_python_codes_find(codes, layout, code, sample);
            if (number < 0) return 0;
            stack->calls[stack->depth++] = (struct ids_python_call){
                (uint32_t)number, offset_of(layout, bytes, code) & INT32_MAX, is_by_c(layout, bytes) & 1};
        }
        widen(guess, frame);
        if (outside == frame) return 0;
        frame = outside;
    }
    widen_for_calls(guess);
    /* Nothing begins with a generator: it has given its frame back, and who called it is not known any more. */
    return !stack->depth || !codes->at[stack->calls[stack->depth - 1].code].is_generator;
}

int ids_python_stack_read(const struct ids_python_layout *layout, struct ids_python_codes *codes, uintptr_t thread,
                          uint32_t sample, struct ids_python_guess *guess, struct ids_python_stack *stack) {
    int whole = 0;
    for (int i = 0; i < ATTEMPTS && !whole; i++) whole = read_once(layout, codes, thread, sample, guess, stack);
    return whole < 0 ? -1 : 0;
}
