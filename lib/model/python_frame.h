/* python_frame.h - a Python frame as profilers name it, and whose it is: the program's, or a library's.
 *
 * JAX's tracer (jaxlib python_hooks.cc) writes "$train.py:12 step", the file without its folder, or "$builtins len" of
 * what is written in C; Kineto writes "src/train.py(12): step", a path less the folder of sys.path that it lies in,
 * "<built-in method ...>" and "nn.Module: Linear_3".
 */
#ifndef IDS_LIB_MODEL_PYTHON_FRAME_H
#define IDS_LIB_MODEL_PYTHON_FRAME_H

#include "lib/base/intern.h"

#include <stdint.h>

struct ids_python_frame {
    struct ids_text file, function; /* file: as the name has it; length 0 of what has none */
    int64_t line;                   /* of the function's first line (JAX) or of the call (Kineto); 0 unknown */
};

enum ids_frame_owner {
    IDS_FRAME_UNKNOWN,
    IDS_FRAME_OF_PROGRAM,
    IDS_FRAME_OF_LIBRARY,
    /* its file is called as one of a library is, and as one of a program may be: a library's where a library called
     * it */
    IDS_FRAME_OF_EITHER,
    IDS_FRAME_OF_HOOK,     /* idsprof's own, collectors/python */
    IDS_FRAME_WAITS,       /* a built-in that waits for another thread: a lock is taken */
    IDS_FRAME_AWAITS_GIL,  /* of sampled stacks: whatever the thread does, another one has Python's lock */
    IDS_FRAME_AWAITS_CORE, /* of sampled stacks: it would go on, and all cores are others' */
    IDS_FRAME_BLOCKS,      /* a built-in that waits outside Python, and has given its lock back: sleep, recv */
};

/* 0 for a name that is no frame's. */
int ids_python_frame_of(struct ids_text name, struct ids_python_frame *ret_frame);

/* What people call it: "load", of "train.py" at line 88, or "sleep" of the module "time", which is built in. */
struct ids_python_call {
    struct ids_text module, function, file; /* file: without its folder; of the others each may be empty */
    int64_t line;
};
/* 0 for a name that is no frame's. */
int ids_python_call_of(struct ids_text name, struct ids_python_call *ret_call);

/* The same of all frames of a function, whatever their line is; of a module each line has its own. Never 0. */
uint64_t ids_python_function_key(struct ids_text name);

/* Of what idsprof's hook records of the waits of event loops (collectors/python/_idsprof/idsprof_awaits.py):
 * "$train.py:8 await fetch", and "$asyncio poll" inside it where another thread does what is awaited. */
int ids_python_is_await(struct ids_text name);
/* Of what it records of Python's garbage collector (idsprof_garbage.py): "$train.py:8 collect garbage". */
int ids_python_is_garbage(struct ids_text name);
/* Of Python's library: a thread waits in it for what another one does, whichever line of it is seen. */
int ids_python_waits_for_thread(struct ids_text name);
/* A sleep of the program's own: "$time sleep". */
int ids_python_sleeps(struct ids_text name);
/* Of sampled stacks: an event loop waits in its selector. */
int ids_python_is_selector(struct ids_text name);
/* ... or goes from one task to the next: "$asyncio/base_events.py:1922 _run_once". */
int ids_python_is_loop(struct ids_text name);

/* Whether the frame's file is of a framework that launches work: JAX and what is written with it, PyTorch,
 * TensorFlow. */
int ids_python_frame_launches(struct ids_text name);

enum ids_frame_owner ids_python_frame_owner(struct ids_text name);

/* Whether a file without its folder, or a package, is called as one of a known library is. */
int ids_python_file_is_known(struct ids_text file);
int ids_python_package_is_known(struct ids_text package);

/* Whether a call of something built in, "$np asarray", needs the values of what it is given: those of an array on a
 * device are there when the device has made them. */
int ids_python_call_needs_values(struct ids_text name);
/* The same by the function alone: "asarray". */
int ids_python_function_needs_values(struct ids_text function);

#endif
