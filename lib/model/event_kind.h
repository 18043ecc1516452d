/* event_kind.h - the kind of an event, from its name.
 *
 * Names of host events are those that XLA, TSL, PJRT and JAX give (their profiler's TraceMe calls) and the Python
 * tracer's "$file.py:12 function". The table is in event_kind.c, each group with its source.
 */
#ifndef IDS_LIB_MODEL_EVENT_KIND_H
#define IDS_LIB_MODEL_EVENT_KIND_H

#include "lib/base/intern.h"

#include <stddef.h>

enum ids_kind {
    IDS_KIND_OTHER, /* no part: only counted */
    /* on devices */
    IDS_KIND_KERNEL,
    IDS_KIND_OP,
    IDS_KIND_COPY,
    IDS_KIND_SET,
    IDS_KIND_WAIT_OP, /* dependency-wait, barrier-cores */
    IDS_KIND_MODULE,
    IDS_KIND_STEP, /* of a "Steps" line */
    /* on hosts */
    IDS_KIND_STEP_MARK, /* an annotation that bears a step number */
    IDS_KIND_LAUNCH,    /* an API call that starts work on a device */
    IDS_KIND_DISPATCH,  /* PjitFunction(f): a call of a jitted function */
    IDS_KIND_EXECUTE,   /* the runtime's execution of a program */
    IDS_KIND_COMPILE,   /* backend compilation */
    IDS_KIND_LOWER,
    IDS_KIND_TRACE,
    IDS_KIND_AUTOTUNE,
    IDS_KIND_CACHE_READ, /* of the persistent compilation cache */
    IDS_KIND_CACHE_WRITE,
    IDS_KIND_CACHE_HIT,  /* moments, told by jax.monitoring */
    IDS_KIND_CACHE_MISS, /* as JAX counts them: an executable was written into the cache */
    IDS_KIND_RECOMPILE, /* a moment that begins with a compilation: why, "jax.recompile(f) shape: x f32[8] -> f32[9]" */
    IDS_KIND_OPENED,    /* a moment: idsprof's own window has opened, and the thread waited for it */
    IDS_KIND_SYNC,      /* the host waits for a device */
    IDS_KIND_TRANSFER,  /* the runtime's transfer, with its bytes (TPU) */
    IDS_KIND_STAGING,   /* preparing data for a transfer: layout, pinning, put */
    IDS_KIND_INPUT,     /* tf.data, or an annotation that says data, input, load, ... */
    IDS_KIND_PYTHON,    /* a Python frame; only outermost ones are kept */
    IDS_KIND_STALL,     /* CPU: an op waits inside (Rendezvous, Wait: ...) */
    IDS_KIND_REGION,    /* a task on a thread pool, StartRegion to StopRegion */
    IDS_KIND_NAMED,     /* a region that the program named (TraceAnnotation), and no more is known of it */
    IDS_KIND_CALL,      /* an op of the framework (aten::addmm): only counted; what is launched inside bears its name */
    IDS_KIND_FLOW,      /* nothing of the above, but it hands work on to another thread */
    /* only while reading */
    IDS_KIND_REGION_START,
    IDS_KIND_REGION_STOP,
    IDS_KIND_OP_END, /* CPU "end: NAME" */
    IDS_KIND_COUNT,
};

/* The kind of a host event of that name. An OTHER may still become FLOW, STEP_MARK, LAUNCH or OP by its stats. */
enum ids_kind ids_kind_of_name(const char *name, size_t length);

/* The kind of a Python frame, as JAX or Kineto name it: PYTHON, or what its function is known to do. */
enum ids_kind ids_kind_of_python_frame(struct ids_text name);

/* The kind of a region that is known to be the program's, where its name has none: INPUT or NAMED. */
enum ids_kind ids_kind_of_annotation(const char *name, size_t length);

/* A reader of input that is known by its name: tf.data's iterators, PyTorch's DataLoader. */
int ids_is_reader(struct ids_text name);

/* The words of a region's name say that it fetches input, even where it launches work itself: "fetch batch". */
int ids_says_fetching(struct ids_text name);

/* For people: "compile", "transfer staging". */
const char *ids_kind_name(enum ids_kind kind);

#endif
