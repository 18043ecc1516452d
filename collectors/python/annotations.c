/* annotations.c - tells the agent of step annotations, for the Python hook.
 *
 * idsprof_steps.py puts the method that is made here in the place of StepTraceAnnotation.__init__. Most steps are noted
 * in the history and no more: for them no code of Python runs beside the program's own, which takes four times as long.
 * It runs with the GIL held. No header of Python is needed: objects are addresses, and what is called of Python is of
 * its stable ABI (PEP 384), as the layout of PyMethodDef is. */
#include "collectors/common/agent.h"
#include "collectors/python/hidden.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#pragma weak dlsym /* see collectors/common/glibc.h */

enum { ANNOTATION = 1 };

IDS_AGENT_API struct ids_python_method *ids_count_annotations(void *make, void *tell, void *number_key);

static void *make_annotation, *tell_agent, *step_num; /* the class's own __init__, the hook's, and the keyword */

static struct {
    intptr_t (*size)(void *tuple);
    void *(*item)(void *tuple, intptr_t at);
    void *(*slice)(intptr_t length);
    int (*set)(void *tuple, intptr_t at, void *stolen);
    void *(*value)(void *dictionary, void *key);
    void *(*type)(void *object);
    const char *(*text)(void *object, intptr_t *length);
    long long (*number)(void *object);
    void *(*call)(void *callable, void *arguments, void *keywords);
    void (*keep)(void *object);
    void (*release)(void *object);
    void *(*error)(void);
    void (*clear_error)(void);
    void *of_numbers, *of_texts; /* types */
} python;

/* 1 when Python has all of it. */
static int find_python(void) {
    const struct {
        const char *name;
        void *place;
    } wanted[] = {{"PyTuple_Size", &python.size},
                  {"PyTuple_GetItem", &python.item},
                  {"PyTuple_New", &python.slice},
                  {"PyTuple_SetItem", &python.set},
                  {"PyDict_GetItemWithError", &python.value},
                  {"PyObject_Type", &python.type},
                  {"PyUnicode_AsUTF8AndSize", &python.text},
                  {"PyLong_AsLongLong", &python.number},
                  {"PyObject_Call", &python.call},
                  {"Py_IncRef", &python.keep},
                  {"Py_DecRef", &python.release},
                  {"PyErr_Occurred", &python.error},
                  {"PyErr_Clear", &python.clear_error},
                  {"PyLong_Type", &python.of_numbers},
                  {"PyUnicode_Type", &python.of_texts}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *found = dlsym ? dlsym(RTLD_DEFAULT, wanted[i].name) : NULL;
        if (!found) return 0;
        memcpy(wanted[i].place, &found, sizeof found);
    }
    return 1;
}

/* Exactly of that type: what converts itself to a number might wait for a device. */
static int is_a(void *object, const void *kind) {
    void *type = python.type(object);
    if (type) python.release(type);
    return type == kind;
}

/* 1: the step is in the history, and nothing else waits for it. */
static int passes(void *arguments, void *keywords) {
    void *name = python.size(arguments) == 1 ? python.item(arguments, 0) : NULL;
    void *given = keywords ? python.value(keywords, step_num) : NULL;
    if (!name || !is_a(name, python.of_texts) || (given && !is_a(given, python.of_numbers))) return 0;
    const char *text = python.text(name, NULL);
    long long number = given ? python.number(given) : -1;
    if (!python.error()) return ids_agent_pass(ANNOTATION, text, number);
    python.clear_error();
    return 0;
}

static void *with_self(void *self, void *arguments) {
    intptr_t count = python.size(arguments);
    void *all = python.slice(count + 1);
    for (intptr_t i = 0; all && i <= count; i++) {
        void *object = i ? python.item(arguments, i - 1) : self;
        python.keep(object);
        (void)python.set(all, i, object);
    }
    return all;
}

static void *annotate(void *self, void *arguments, void *keywords) {
    if (!passes(arguments, keywords)) {
        void *hidden = ids_hide_begin(), *told = python.call(tell_agent, arguments, keywords);
        ids_hide_end(hidden);
        if (!told) return NULL; /* Ctrl-C, which is the program's */
        python.release(told);
    }
    void *all = with_self(self, arguments);
    void *answer = all ? python.call(make_annotation, all, keywords) : NULL;
    if (all) python.release(all);
    return answer;
}

/* The method for PyDescr_NewMethod: `tell`, which takes what it takes, and then `make`; `tell` only where a window may
 * open or end. The three stay the caller's, for ever. NULL: this Python lacks what it needs. */
struct ids_python_method *ids_count_annotations(void *make, void *tell, void *number_key) {
    static struct ids_python_method method = {"__init__", annotate, IDS_METH_VARARGS_AND_KEYWORDS,
                                              "__init__($self, name, /, **kwargs)\n--\n\n"};
    make_annotation = make;
    tell_agent = tell;
    step_num = number_key;
    return find_python() ? &method : NULL;
}
