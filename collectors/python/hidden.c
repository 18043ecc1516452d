#include "collectors/python/hidden.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#pragma weak dlsym /* see collectors/common/glibc.h */

static struct {
    int is_looked_for, is_there;
    void *(*thread)(void);
    void (*enter)(void *thread);
    void (*leave)(void *thread);
    void *(*call)(void *callable, void *arguments, void *keywords);
    void *(*call_with)(void *callable, ...);
    void *(*item)(void *tuple, ptrdiff_t at);
    void (*release)(void *object);
} python;

static int find_python(void) {
    const struct {
        const char *name;
        void *place;
    } wanted[] = {{"PyThreadState_Get", &python.thread},
                  {"PyThreadState_EnterTracing", &python.enter},
                  {"PyThreadState_LeaveTracing", &python.leave},
                  {"PyObject_Call", &python.call},
                  {"PyObject_CallFunctionObjArgs", &python.call_with},
                  {"PyTuple_GetItem", &python.item},
                  {"Py_DecRef", &python.release}};
    if (python.is_looked_for) return python.is_there;
    python.is_looked_for = 1;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *found = dlsym ? dlsym(RTLD_DEFAULT, wanted[i].name) : NULL;
        if (!found) return 0;
        memcpy(wanted[i].place, &found, sizeof found);
    }
    return python.is_there = 1;
}

void *ids_hide_begin(void) {
    void *thread = find_python() ? python.thread() : NULL;
    if (thread) python.enter(thread);
    return thread;
}

void ids_hide_end(void *hidden) {
    if (hidden) python.leave(hidden);
}

static void *call_hidden(void *self, void *arguments, void *keywords) {
    void *hidden = ids_hide_begin(), *answer = python.call(self, arguments, keywords);
    ids_hide_end(hidden);
    return answer;
}

static void *call_hidden_after(void *self, void *arguments, void *keywords) {
    void *answer = python.call(python.item(self, 0), arguments, keywords);
    if (!answer) return NULL;
    void *hidden = ids_hide_begin(), *after = python.call_with(python.item(self, 1), answer, NULL);
    ids_hide_end(hidden);
    if (after) {
        python.release(after);
        return answer;
    }
    python.release(answer); /* Ctrl-C, which is the program's */
    return NULL;
}

struct ids_python_method *ids_hidden_call(void) {
    static struct ids_python_method method = {"hidden", call_hidden, IDS_METH_VARARGS_AND_KEYWORDS, NULL};
    return find_python() ? &method : NULL;
}

struct ids_python_method *ids_hidden_after(void) {
    static struct ids_python_method method = {"hidden_after", call_hidden_after, IDS_METH_VARARGS_AND_KEYWORDS, NULL};
    return find_python() ? &method : NULL;
}
