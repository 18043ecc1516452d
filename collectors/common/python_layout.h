/* python_layout.h - where things lie in the Python of this process, whose stacks are read without its lock.
 *
 * Python 3.13 and later say themselves where thread states and frames have what (_Py_DebugOffsets); for 3.9 to 3.12 it
 * is written here, because a minor version never changes it. Fields of code objects are asked of their type's table of
 * members, in all versions. */
#ifndef IDS_COLLECTORS_COMMON_PYTHON_LAYOUT_H
#define IDS_COLLECTORS_COMMON_PYTHON_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that are read of a thread's state, of a frame and of a code object: what is asked of them lies within. */
enum { IDS_PYTHON_THREAD = 256, IDS_PYTHON_FRAME = 128, IDS_PYTHON_CODE = 256 };

struct ids_python_layout {
    int minor;                  /* 11 of 3.11 */
    uintptr_t code_type;        /* what code objects are of */
    size_t interpreter_threads; /* of an interpreter: its first thread's state */
    /* Of a thread's state: the next one, its frame (or, up to 3.12, what leads there), its pthread_t. */
    size_t thread_next, thread_frame, thread_id;
    int through_cframe; /* the frame is that of the struct _PyCFrame there, at cframe_frame */
    size_t cframe_frame;
    size_t frame_code, frame_previous, frame_at, frame_owner; /* frame_owner: 0 there is none */
    size_t frame_is_entry;                                    /* 3.11 alone; 0 there is none */
    size_t code_filename, code_name, code_first_line, code_lines, code_flags;
    size_t code_qualified; /* since 3.11; 0 there is none */
    size_t code_begin;     /* of the instructions in it; 0: frame_at holds their number, not an address (3.9, 3.10) */
    size_t ascii_of_text;  /* where the letters of a compact ASCII text begin */
    void *(*main_interpreter)(void);
    int (*is_initialized)(void);
};

/* 1 when there is a Python whose stacks can be read; 0 when there is none here; -1 with the reason in `why`. */
int ids_python_layout_find(struct ids_python_layout *layout, char *why, size_t why_size);

/* The state of the main interpreter's first thread; 0: there is none, or no interpreter any more. */
uintptr_t ids_python_first_thread(const struct ids_python_layout *layout);
/* The state of the thread behind that one; 0: it is the last one. -1 where nothing is there any more, else 0. */
int ids_python_next_thread(const struct ids_python_layout *layout, uintptr_t state, uintptr_t *ret_next);

/* Whether the list of threads begins where the layout says: at what `first_thread` answers, asked while there is an
 * interpreter. Later the list is read without asking, because an interpreter that ends takes its list with it. Threads
 * that begin between the two answers make them differ, as in programs that start hundreds: so they are asked for again.
 */
int ids_python_has_threads(const struct ids_python_layout *layout, void *(*first_thread)(void *interpreter));

#endif
