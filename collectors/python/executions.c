/* executions.c - counts the calls of functions that Python calls through a vectorcall pointer (PEP 590), for the Python
 * hook.
 *
 * idsprof_executions.py puts ids_count_call into the pointer of each jitted function; everything here runs with the GIL
 * held, which is the lock of it. No header of Python is needed: objects are addresses, and the call is handed on as
 * it came.
 *
 * Most steps are noted in the history and no more: for them Python's part is not called, which takes ten times as
 * long.
 *
 * A program that jits in its loop makes a new function in each step. Functions of one place in the source are one kind:
 * a new one goes on where those before it had come when it was made. When one is called again after a newer one was,
 * they live side by side, and from then on each is counted for itself, as functions of different places are.
 *
 * In front is the function that was called most; where another one takes that over for good, the agent is told. One
 * that is called less takes it over when the one in front is over (turns.h): it initialised, and its calls are many and
 * short. What evaluates by its name is called more often than what trains, and yet is not the loop: it waits for ten
 * times as long. A function that comes after as many of its calls each time is called once in a turn of the loop, as
 * what applies the gradients that several calls make; windows hold whole turns. Several functions may have one name, as
 * ops of jax for several types: together they are what --step-executable can name.
 *
 * Functions beside these, jax's own or those that --step-executable does not name, are followed for the number of their
 * calls alone: where the program ends without a window, they say whose calls could be its steps, those first that come
 * once in as many calls each time. Where the one in front is such an op, one beside it may be called once in a turn.
 *
 * The callback gives the GIL away, above all where it opens or ends a window, which takes milliseconds. What other
 * threads call meanwhile is part of the step that begins, and is not counted: else steps would pass that the window has
 * not, and marks of steps would come in another order than their numbers. */
#include "collectors/common/agent.h"
#include "collectors/common/process.h"
#include "collectors/common/turns.h"
#include "collectors/common/window.h"
#include "collectors/python/hidden.h"

#include <dlfcn.h>
#include <pthread.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#pragma weak dlsym /* see collectors/common/glibc.h */

/* Functions that are followed, dead ones too. More are not counted; the table stays at most half full. */
enum { FUNCTIONS = 8192, FOLLOWED_MAX = FUNCTIONS / 2, COSTS = 256, COSTS_AT_FIRST = 64 };
enum { BESIDE_MAX = FOLLOWED_MAX / 2 }; /* room is left for the program's own */
enum { KINDS = 4096, NAMES = 4096, INTERRUPTED = 2 };

typedef void *(*vectorcall)(void *callable, void *const *arguments, size_t count_and_flag, void *keywords);
typedef int (*step)(void *callable, int64_t number);

static vectorcall original; /* what the pointers led to */
static step on_step;        /* NULL: nothing is counted any more */
static void *is_clean;      /* a function of Python's: no other function is being traced */
static void *(*call_object)(void *callable);
static int (*is_true)(void *object);
static void *(*get_attribute)(void *object, void *name);
static struct { void *object, *attribute, *usual; /* object NULL: is_clean is called */ } states[2];
static void (*release)(void *object);
static void (*clear_error)(void);
static void (*interrupt)(void); /* as Ctrl-C does; NULL: there is none */
static int64_t costs[COSTS];    /* of steps that were noted: the first ones, then every COSTS_AT_FIRST-th */
static uint64_t passed;
static int64_t furthest = -1;
static int followed;
static int is_beginning;         /* a step: a thread is in the callback */
static size_t front = FUNCTIONS; /* the place of the function in front; FUNCTIONS: none */
static int64_t front_calls;
static struct ids_span front_span;
static size_t once_a_turn = FUNCTIONS; /* the place that ids_count_turn found last; FUNCTIONS: none */
static struct {
    void *callable;
    int64_t calls;
    int kind; /* -1: none */
    int name; /* -1: none */
    int is_called, evaluates;
    int is_beside; /* its calls are no steps */
    int is_op;     /* a function of jax's own */
    int64_t last_ns;
    struct ids_turn turn;
    struct ids_gap gap;
} functions[FUNCTIONS];
static struct {
    int64_t most;
    void *newest; /* of those that were called */
    int is_apart;
} kinds[KINDS];

/* Of all functions of a name. */
static struct {
    struct ids_gap gap;       /* by calls of the one in front */
    struct ids_rhythm rhythm; /* of those beside, by calls of all that are */
} names[NAMES];

static int64_t beside_first_ns, beside_last_ns, beside_calls;
static int beside;
static regex_t chosen;
static int has_chosen;

static size_t place_of(const void *callable) {
    size_t at = (size_t)(((uintptr_t)callable >> 4) * 0x9E3779B97F4A7C15u >> 51) % FUNCTIONS;
    while (functions[at].callable && functions[at].callable != callable) at = (at + 1) % FUNCTIONS;
    return at;
}

IDS_AGENT_API void ids_count_begin(void *called, void *callback, void *clean);
IDS_AGENT_API int64_t ids_count_cost(void);
IDS_AGENT_API void ids_count_states(void *attribute, void *const objects[2], void *const usual[2]);
IDS_AGENT_API int ids_count_follow(void *callable, int kind);
IDS_AGENT_API int ids_count_beside(void *callable);
IDS_AGENT_API int64_t ids_count_calls_beside(void *callable, int *ret_is_late);
IDS_AGENT_API void ids_count_name(void *callable, int name, int is_op);
IDS_AGENT_API int64_t ids_count_every(int name);
IDS_AGENT_API int64_t ids_count_reached(void);
IDS_AGENT_API int ids_count_choose(const char *pattern);
IDS_AGENT_API int ids_count_is_chosen(const char *name);
IDS_AGENT_API void ids_count_evaluates(void *callable);
IDS_AGENT_API void ids_count_end(void);
IDS_AGENT_API void *ids_count_front(void);
IDS_AGENT_API void *ids_count_turn(int64_t *ret_every);
IDS_AGENT_API int64_t ids_count_turn_place(void);
IDS_AGENT_API void *ids_count_call(void *callable, void *const *arguments, size_t count_and_flag, void *keywords);

static void *find(const char *name) {
    return dlsym ? dlsym(RTLD_DEFAULT, name) : NULL;
}

/* The thread that was in the callback is not in the child. */
static void forked(void) {
    is_beginning = 0;
}

void ids_count_begin(void *called, void *callback, void *clean) {
    static int is_prepared;
    if (!is_prepared) is_prepared = !pthread_atfork(NULL, NULL, forked);
    void *found[] = {find("PyObject_CallNoArgs"), find("PyObject_IsTrue"),    find("Py_DecRef"),
                     find("PyErr_Clear"),         find("PyErr_SetInterrupt"), find("PyObject_GetAttr")};
    memcpy(&call_object, &found[0], sizeof call_object);
    memcpy(&is_true, &found[1], sizeof is_true);
    memcpy(&release, &found[2], sizeof release);
    memcpy(&clear_error, &found[3], sizeof clear_error);
    memcpy(&interrupt, &found[4], sizeof interrupt);
    memcpy(&get_attribute, &found[5], sizeof get_attribute);
    states[0].object = NULL;
    is_clean = call_object && is_true && release && clear_error ? clean : NULL;
    original = (vectorcall)called;
    on_step = (step)callback;
}

/* No function is being traced where that attribute of each object is the usual one: what is_clean itself asks. In a
 * loop of some milliseconds its frames are in no cache, and they were most of what a step cost. After ids_count_begin;
 * all of them are kept by the caller. */
void ids_count_states(void *attribute, void *const objects[2], void *const usual[2]) {
    for (int i = 0; get_attribute && is_clean && i < 2; i++) {
        states[i].object = objects[i];
        states[i].attribute = attribute;
        states[i].usual = usual[i];
    }
}

/* 1, or 0 when there is no room. What was known of a dead function at its address is forgotten. */
int ids_count_follow(void *callable, int kind) {
    size_t at = place_of(callable);
    if (!functions[at].callable) {
        if (followed == FOLLOWED_MAX) return 0;
        functions[at].callable = callable;
        followed++;
    }
    functions[at].kind = kind >= 0 && kind < KINDS ? kind : -1;
    functions[at].calls = functions[at].kind < 0 || kinds[kind].is_apart ? 0 : kinds[kind].most;
    functions[at].is_called = functions[at].evaluates = functions[at].is_beside = functions[at].is_op = 0;
    functions[at].name = -1;
    functions[at].turn = (struct ids_turn){0};
    functions[at].gap = (struct ids_gap){0};
    return 1;
}

/* The same of one whose calls are no steps. */
int ids_count_beside(void *callable) {
    size_t at = place_of(callable);
    if (!functions[at].callable && beside == BESIDE_MAX) return 0;
    beside += !functions[at].callable;
    if (!ids_count_follow(callable, -1)) return 0;
    functions[at].is_beside = 1;
    functions[at].last_ns = 0;
    return 1;
}

/* One that is followed, or beside; functions of one name have one number. */
void ids_count_name(void *callable, int name, int is_op) {
    size_t at = place_of(callable);
    if (!functions[at].callable) return;
    functions[at].name = name < NAMES ? name : -1;
    functions[at].is_op = is_op;
}

/* With which one of so many calls of functions beside the steps those of that name come; 0: in no turn. */
int64_t ids_count_every(int name) {
    if (name < 0 || name >= NAMES || !ids_rhythm_is_of(&names[name].rhythm, beside_calls)) return 0;
    return names[name].rhythm.calls;
}

/* 0 where it is none. *ret_is_late: the last one came in the later half of the time between the first call of such
 * functions and the last. */
int64_t ids_count_calls_beside(void *callable, int *ret_is_late) {
    size_t at = place_of(callable);
    int is_one = functions[at].callable && functions[at].is_beside;
    *ret_is_late = is_one && functions[at].last_ns - beside_first_ns >= beside_last_ns - functions[at].last_ns;
    return is_one ? functions[at].calls : 0;
}

/* How often the function in front was called. */
int64_t ids_count_reached(void) {
    return furthest + 1;
}

/* --step-executable, an extended regular expression as the launcher and the other collectors read it. 0, or -1 where it
 * is none. */
int ids_count_choose(const char *pattern) {
    if (has_chosen) regfree(&chosen);
    has_chosen = !regcomp(&chosen, pattern, REG_EXTENDED | REG_NOSUB);
    return has_chosen ? 0 : -1;
}

int ids_count_is_chosen(const char *name) {
    return !has_chosen || !regexec(&chosen, name, 0, NULL, 0);
}

/* Its name says that it evaluates; it is followed already. */
void ids_count_evaluates(void *callable) {
    size_t at = place_of(callable);
    functions[at].evaluates = functions[at].callable == callable;
}

static void count(size_t at, int64_t calls) {
    int kind = functions[at].kind;
    functions[at].calls = calls;
    if (kind < 0) return;
    if (!functions[at].is_called)
        kinds[kind].newest = functions[at].callable;
    else if (kinds[kind].newest != functions[at].callable)
        kinds[kind].is_apart = 1;
    functions[at].is_called = 1;
    if (kinds[kind].most < calls) kinds[kind].most = calls;
}

/* One that the program made anew is the same function. */
static int is_in_front(size_t at) {
    if (front == at) return 1;
    int kind = functions[at].kind;
    return front < FUNCTIONS && kind >= 0 && functions[front].kind == kind && !kinds[kind].is_apart;
}

static void note_turn(size_t at, int64_t now_ns) {
    if (is_in_front(at)) {
        front_calls++;
        ids_span_call(&front_span, now_ns);
    } else {
        ids_turn_step(&functions[at].turn, front_calls);
        if (functions[at].turn.length == IDS_TURN_STEPS) functions[at].turn.from_ns = now_ns;
    }
    ids_gap_call(&functions[at].gap, front_calls);
    if (functions[at].name >= 0) ids_gap_call(&names[functions[at].name].gap, front_calls);
}

/* Whether it evaluates, and what is in front does not. */
static int only_evaluates(size_t at) {
    return front < FUNCTIONS && functions[at].evaluates && !functions[front].evaluates;
}

/* The loop is this one's, which is called less than what is in front was. */
static int comes_after(size_t at, int64_t now_ns) {
    if (front == FUNCTIONS || is_in_front(at) || functions[at].turn.length < IDS_TURN_STEPS) return 0;
    if (functions[front].evaluates && !functions[at].evaluates) return 1;
    return ids_span_is_over(&front_span, now_ns - functions[at].turn.from_ns, only_evaluates(at));
}

/* What was called more often goes on from where this one is; and what was in front is from now on as what evaluates:
 * when it is called again, it is not in front for that. */
static void fall_back(size_t to, int64_t calls) {
    if (!functions[to].evaluates) functions[front].evaluates = 1;
    for (size_t at = 0; at < FUNCTIONS; at++) {
        if (functions[at].calls > calls && !functions[at].is_beside) functions[at].calls = calls;
    }
    for (size_t kind = 0; kind < KINDS; kind++) {
        if (kinds[kind].most > calls) kinds[kind].most = calls;
    }
}

static void put_in_front(size_t at, int64_t now_ns) {
    if (!is_in_front(at)) front_span = (struct ids_span){0};
    if (!front_span.calls) ids_span_call(&front_span, now_ns);
    front = at;
}

static int takes_over(size_t at) {
    return front < FUNCTIONS && !is_in_front(at) && ids_turn_takes_over(&functions[at].turn, furthest);
}

void *ids_count_front(void) {
    return front < FUNCTIONS ? functions[front].callable : NULL;
}

static int has_name_of_front(size_t at) {
    return functions[at].name >= 0 && functions[at].name == functions[front].name;
}

/* Of all functions of its name, which is how it is chosen; of one that has the name of the one in front, its own. */
static const struct ids_gap *gap_of(size_t at) {
    return functions[at].name < 0 || has_name_of_front(at) ? &functions[at].gap : &names[functions[at].name].gap;
}

/* Of two that come once in a turn: not the one that no pattern tells from what is in front, the one that comes more
 * often, and the one whose name was known first. */
static int is_better_turn(size_t at, size_t than) {
    if (than == FUNCTIONS) return 1;
    if (has_name_of_front(at) != has_name_of_front(than)) return has_name_of_front(than);
    if (gap_of(at)->calls != gap_of(than)->calls) return gap_of(at)->calls < gap_of(than)->calls;
    return functions[at].name < functions[than].name;
}

/* The function of which a call comes with each `*ret_every`-th of the one in front; NULL: there is none. */
void *ids_count_turn(int64_t *ret_every) {
    once_a_turn = FUNCTIONS;
    for (size_t at = 0; front < FUNCTIONS && at < FUNCTIONS; at++) {
        if (!functions[at].callable || is_in_front(at) || !ids_gap_is_turn(gap_of(at), front_calls)) continue;
        if (functions[at].is_beside && !functions[front].is_op) continue;
        if (is_better_turn(at, once_a_turn)) once_a_turn = at;
    }
    if (once_a_turn == FUNCTIONS) return NULL;
    *ret_every = gap_of(once_a_turn)->calls;
    return functions[once_a_turn].callable;
}

/* Which of the steps of a turn it comes with: the rest of their numbers. Of the function that ids_count_turn found. */
int64_t ids_count_turn_place(void) {
    if (once_a_turn == FUNCTIONS) return -1;
    const struct ids_gap *gap = gap_of(once_a_turn);
    int64_t number = furthest - (front_calls - gap->seen);
    return number < 0 ? -1 : number % gap->calls;
}

/* The agent learns which call of its turn comes now, where a window may open with it. Looking for turns takes as long
 * as some ten steps. */
static void tell_turn(void) {
    enum { LOOK_AGAIN = 64 };
    static int64_t looked = -LOOK_AGAIN;
    int64_t every = 0;
    int is_known = once_a_turn < FUNCTIONS && ids_gap_is_turn(gap_of(once_a_turn), front_calls);
    if (!is_known && front_calls - looked >= LOOK_AGAIN) {
        looked = front_calls;
        is_known = ids_count_turn(&every) != NULL;
    }
    const struct ids_gap *gap = is_known ? gap_of(once_a_turn) : NULL;
    if (gap && gap->calls > IDS_GAP_MEASURED) gap = NULL;
    ids_agent_in_turn(gap ? gap->calls : 0, gap ? front_calls - gap->seen : 0);
}

void ids_count_end(void) {
    on_step = NULL;
}

/* Whether the call is an execution: 0 while another function is traced. */
static int asks_python(void) {
    for (int i = 0; states[0].object && i < 2; i++) {
        void *now = get_attribute(states[i].object, states[i].attribute);
        if (now)
            release(now); /* it is alive while it is compared: the usual one is kept */
        else
            clear_error();
        if (now != states[i].usual) return 0;
    }
    if (states[0].object) return 1;
    void *hidden = ids_hide_begin(), *answer = call_object(is_clean);
    ids_hide_end(hidden);
    int clean = answer ? is_true(answer) : -1;
    if (answer) release(answer);
    if (clean < 0) clear_error();
    return clean > 0;
}

/* Python's part, which the program's profilers do not see. */
static int tell_python(void *callable, int64_t number) {
    void *hidden = ids_hide_begin();
    int is_step = on_step(callable, number);
    ids_hide_end(hidden);
    /* Ctrl-C came in the callback: raised there, it would be printed and lost. */
    if (is_step == INTERRUPTED && interrupt) interrupt();
    return is_step;
}

/* The step begins: 1, or 0 where it is none. */
static int begin_step(void *callable, int64_t number, int is_turn) {
    if (!is_clean) return tell_python(callable, number);
    int64_t began = passed < COSTS_AT_FIRST || passed % COSTS_AT_FIRST == 0 ? ids_monotonic_ns() : 0;
    if (!asks_python()) return 0;
    if (is_turn) ids_agent_turn(number);
    if (!ids_agent_pass(IDS_STEP_CALL, NULL, number)) {
        if (!is_turn && ids_agent_may_open()) tell_turn();
        return tell_python(callable, number);
    }
    if (began) {
        uint64_t place = passed < COSTS_AT_FIRST ? passed : COSTS_AT_FIRST + passed / COSTS_AT_FIRST;
        costs[place % COSTS] = ids_monotonic_ns() - began;
    }
    passed++;
    return 1;
}

static int by_value(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* The median of what noting a step took, in nanoseconds; -1: too few were. */
int64_t ids_count_cost(void) {
    enum { LEAST = 20 };
    uint64_t count = passed < COSTS_AT_FIRST ? passed : COSTS_AT_FIRST + passed / COSTS_AT_FIRST;
    int64_t sorted[COSTS];
    if (count > COSTS) count = COSTS;
    if (count < LEAST) return -1;
    memcpy(sorted, costs, sizeof sorted);
    qsort(sorted, count, sizeof *sorted, by_value);
    return sorted[count / 2];
}

static void count_beside(size_t at) {
    if (is_clean && !asks_python()) return;
    functions[at].calls++;
    beside_calls++;
    if (functions[at].name >= 0) {
        ids_gap_call(&names[functions[at].name].gap, front_calls);
        ids_rhythm_call(&names[functions[at].name].rhythm, beside_calls);
    }
    functions[at].last_ns = beside_last_ns = ids_monotonic_ns();
    if (!beside_first_ns) beside_first_ns = beside_last_ns;
}

void *ids_count_call(void *callable, void *const *arguments, size_t count_and_flag, void *keywords) {
    if (on_step && !is_beginning) {
        size_t at = place_of(callable);
        /* The callback may register functions, but none moves. It says whether this is an execution. */
        if (functions[at].callable && functions[at].is_beside) {
            count_beside(at);
        } else if (functions[at].callable) {
            int64_t number = functions[at].calls, now_ns = ids_monotonic_ns();
            note_turn(at, now_ns);
            int is_after = comes_after(at, now_ns);
            if (!is_after && (number <= furthest || only_evaluates(at))) {
                count(at, number + 1);
            } else {
                /* Before the callback, which may let other threads call: the step begins once. */
                int64_t before = furthest;
                int is_turn = is_after || takes_over(at);
                furthest = number;
                is_beginning = 1;
                int has_begun = begin_step(callable, number, is_turn);
                is_beginning = 0;
                if (has_begun) {
                    if (is_after) fall_back(at, number);
                    count(at, number + 1);
                    put_in_front(at, now_ns);
                } else if (furthest == number) {
                    furthest = before;
                }
            }
        }
    }
    return original(callable, arguments, count_and_flag, keywords);
}
