#include "collectors/common/python_layout.h"

#include "collectors/common/own_memory.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#pragma weak dlsym /* see glibc.h */

enum { OLDEST = 9, SELF_DESCRIBING = 13, NEWEST = 14, SLOTS = 64 };

/* --- 3.9 to 3.12 ------------------------------------------------------------------------------------------------ */

/* Of PyInterpreterState, PyThreadState, _PyCFrame and PyFrameObject or _PyInterpreterFrame, with 64 bits. */
static const struct ids_python_layout known[] = {
    {.minor = 9,
     .interpreter_threads = 8,
     .thread_next = 8,
     .thread_frame = 24,
     .thread_id = 176,
     .frame_previous = 24,
     .frame_code = 32,
     .frame_at = 104,
     .ascii_of_text = 48},
    {.minor = 10,
     .interpreter_threads = 8,
     .thread_next = 8,
     .thread_frame = 24,
     .thread_id = 176,
     .frame_previous = 24,
     .frame_code = 32,
     .frame_at = 96,
     .ascii_of_text = 48},
    {.minor = 11,
     .interpreter_threads = 16,
     .thread_next = 8,
     .thread_frame = 56,
     .through_cframe = 1,
     .cframe_frame = 8,
     .thread_id = 152,
     .frame_code = 32,
     .frame_previous = 48,
     .frame_at = 56,
     .frame_is_entry = 68,
     .frame_owner = 69,
     .ascii_of_text = 48},
    {.minor = 12,
     .interpreter_threads = 72,
     .thread_next = 8,
     .thread_frame = 56,
     .through_cframe = 1,
     .cframe_frame = 0,
     .thread_id = 136,
     .frame_code = 0,
     .frame_previous = 8,
     .frame_at = 56,
     .frame_owner = 70,
     .ascii_of_text = 40},
};

/* --- 3.13 and later --------------------------------------------------------------------------------------------- */

/* The number of the word in struct _Py_DebugOffsets that says where something lies: they were inserted in the middle
 * of it from version to version. */
struct slots {
    int minor, free_threaded, interpreter_threads, thread_next, thread_frame, thread_id;
    int frame_previous, frame_code, frame_at, frame_owner;
};
static const struct slots self_described[] = {
    {13, 2, 9, 21, 23, 24, 29, 30, 31, 33},
    {14, 2, 9, 24, 26, 27, 32, 33, 34, 36},
};

static int take_described(const struct slots *slots, struct ids_python_layout *layout, char *why, size_t why_size) {
    uintptr_t runtime = (uintptr_t)dlsym(RTLD_DEFAULT, "_PyRuntime");
    uint64_t words[SLOTS];
    if (!runtime || ids_own_memory(runtime, words, sizeof words) || memcmp(words, "xdebugpy", 8) != 0) {
        snprintf(why, why_size, "this Python does not say where its frames lie");
        return -1;
    }
    if (words[slots->free_threaded]) {
        snprintf(why, why_size, "Python without a global lock (free-threaded) is not sampled");
        return -1;
    }
    *layout = (struct ids_python_layout){
        .minor = slots->minor,
        .interpreter_threads = words[slots->interpreter_threads],
        .thread_next = words[slots->thread_next],
        .thread_frame = words[slots->thread_frame],
        .thread_id = words[slots->thread_id],
        .frame_previous = words[slots->frame_previous],
        .frame_code = words[slots->frame_code],
        .frame_at = words[slots->frame_at],
        .frame_owner = words[slots->frame_owner],
        .ascii_of_text = 40,
    };
    return 0;
}

/* --- code objects ----------------------------------------------------------------------------------------------- */

/* In PyTypeObject and PyMemberDef, with 64 bits. */
enum { TYPE_BASIC_SIZE = 32, TYPE_MEMBERS = 240, MEMBER_BYTES = 40, MEMBER_OFFSET = 16, MEMBERS = 64 };

/* Where objects of the type have the member; 0: it has none of that name. */
static size_t member_of(uintptr_t type, const char *name) {
    uint64_t members, member[MEMBER_BYTES / 8];
    char text[32];
    if (ids_own_memory(type + TYPE_MEMBERS, &members, sizeof members)) return 0;
    for (size_t i = 0; i < MEMBERS; i++) {
        if (ids_own_memory((uintptr_t)members + i * MEMBER_BYTES, member, sizeof member) || !member[0]) return 0;
        size_t length = strlen(name) + 1;
        if (length <= sizeof text && !ids_own_memory((uintptr_t)member[0], text, length) && !memcmp(text, name, length))
            return (size_t)member[MEMBER_OFFSET / 8];
    }
    return 0;
}

static int find_code(struct ids_python_layout *layout) {
    uint64_t basic_size;
    layout->code_type = (uintptr_t)dlsym(RTLD_DEFAULT, "PyCode_Type");
    layout->code_filename = member_of(layout->code_type, "co_filename");
    layout->code_name = member_of(layout->code_type, "co_name");
    layout->code_qualified = member_of(layout->code_type, "co_qualname");
    if (layout->code_qualified + 8 > IDS_PYTHON_CODE) layout->code_qualified = 0;
    layout->code_first_line = member_of(layout->code_type, "co_firstlineno");
    layout->code_flags = member_of(layout->code_type, "co_flags");
    layout->code_lines = member_of(layout->code_type, layout->minor >= 10 ? "co_linetable" : "co_lnotab");
    if (layout->minor >= 11) {
        if (ids_own_memory(layout->code_type + TYPE_BASIC_SIZE, &basic_size, sizeof basic_size)) return -1;
        layout->code_begin = (size_t)basic_size;
    }
    const size_t fields[] = {layout->code_filename, layout->code_name, layout->code_first_line, layout->code_lines,
                             layout->code_flags};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (!fields[i] || fields[i] + 8 > IDS_PYTHON_CODE) return -1;
    }
    return layout->code_begin > IDS_PYTHON_CODE ? -1 : 0;
}

/* --- which Python ----------------------------------------------------------------------------------------------- */

static int fits(const struct ids_python_layout *layout) {
    const size_t of_thread[] = {layout->thread_next, layout->thread_frame, layout->thread_id};
    const size_t of_frame[] = {layout->frame_code, layout->frame_previous, layout->frame_at, layout->frame_owner};
    int is_fit = 1;
    for (size_t i = 0; i < sizeof of_thread / sizeof *of_thread; i++) is_fit &= of_thread[i] + 8 <= IDS_PYTHON_THREAD;
    for (size_t i = 0; i < sizeof of_frame / sizeof *of_frame; i++) is_fit &= of_frame[i] + 8 <= IDS_PYTHON_FRAME;
    return is_fit;
}

static int take_layout(int minor, struct ids_python_layout *layout, char *why, size_t why_size) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].minor != minor) continue;
        *layout = known[i];
        return 0;
    }
    for (size_t i = 0; i < sizeof self_described / sizeof *self_described; i++) {
        if (self_described[i].minor == minor) return take_described(&self_described[i], layout, why, why_size);
    }
    snprintf(why, why_size, "stacks are sampled of Python 3.%d to 3.%d, and this is 3.%d", OLDEST, NEWEST, minor);
    return -1;
}

uintptr_t ids_python_first_thread(const struct ids_python_layout *layout) {
    uintptr_t interpreter = (uintptr_t)layout->main_interpreter(), thread;
    if (!interpreter || ids_own_memory(interpreter + layout->interpreter_threads, &thread, sizeof thread)) return 0;
    return thread;
}

int ids_python_next_thread(const struct ids_python_layout *layout, uintptr_t state, uintptr_t *ret_next) {
    return ids_own_memory(state + layout->thread_next, ret_next, sizeof *ret_next);
}

int ids_python_has_threads(const struct ids_python_layout *layout, void *(*first_thread)(void *interpreter)) {
    enum { TRIES = 100 };
    void *interpreter = layout->main_interpreter();
    for (int i = 0; interpreter && i < TRIES; i++) {
        if ((uintptr_t)first_thread(interpreter) == ids_python_first_thread(layout)) return 1;
    }
    return 0;
}

int ids_python_layout_find(struct ids_python_layout *layout, char *why, size_t why_size) {
    if (!dlsym) return 0;
    const char *(*version)(void) = (const char *(*)(void))dlsym(RTLD_DEFAULT, "Py_GetVersion");
    int (*is_initialized)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "Py_IsInitialized");
    void *(*main_interpreter)(void) = (void *(*)(void))dlsym(RTLD_DEFAULT, "PyInterpreterState_Main");
    void *(*first_thread)(void *) = (void *(*)(void *))dlsym(RTLD_DEFAULT, "PyInterpreterState_ThreadHead");
    if (!version || !is_initialized || !main_interpreter || !first_thread || !is_initialized()) return 0;
    const char *text = version();
    int minor = 0; /* of "3.11.2 (main, ...)" */
    for (const char *at = text && !strncmp(text, "3.", 2) ? text + 2 : ""; *at >= '0' && *at <= '9' && minor < 100;
         at++)
        minor = 10 * minor + (*at - '0');
    if (dlsym(RTLD_DEFAULT, "PyPy_Version") || !minor) {
        snprintf(why, why_size, "only stacks of CPython are sampled");
        return -1;
    }
    if (ids_own_memory_open(why, why_size) || take_layout(minor, layout, why, why_size)) return -1;
    layout->main_interpreter = main_interpreter;
    layout->is_initialized = is_initialized;
    if (sizeof(void *) == 8 && fits(layout) && !find_code(layout) && ids_python_has_threads(layout, first_thread))
        return 1;
    snprintf(why, why_size, "frames of this Python 3.%d lie otherwise than known", minor);
    return -1;
}
