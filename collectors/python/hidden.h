/* hidden.h - calls of Python's that the program's profilers and debuggers do not see, for the Python hook.
 *
 * A program under sys.setprofile, sys.settrace, cProfile or coverage would be told of each function of the hook that
 * runs on its threads, and of what of jax that calls. Since Python 3.11 its C interface turns that off for a thread;
 * before, they are seen. The GIL is held.
 */
#ifndef IDS_COLLECTORS_PYTHON_HIDDEN_H
#define IDS_COLLECTORS_PYTHON_HIDDEN_H

#include "collectors/common/agent.h"

enum { IDS_METH_VARARGS_AND_KEYWORDS = 3 };

/* PyMethodDef, which is of the stable ABI (PEP 384) */
struct ids_python_method {
    const char *name;
    void *(*call)(void *self, void *arguments, void *keywords);
    int flags;
    const char *doc;
};

/* Turns it off, for ids_hide_end: NULL where this Python cannot. */
void *ids_hide_begin(void);
void ids_hide_end(void *hidden);

/* For PyCFunction_NewEx: calls the function's self. NULL where this Python cannot hide anything. */
IDS_AGENT_API struct ids_python_method *ids_hidden_call(void);
/* The same with a tuple of two for a self: calls the first one, which is seen, and the second one, which is not, with
 * its answer, and gives that back. */
IDS_AGENT_API struct ids_python_method *ids_hidden_after(void);

#endif
