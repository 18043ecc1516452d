/* executions.c - counts the calls of functions that Python calls through a vectorcall pointer (PEP 590), for the Python
 * hook.
 *
 * idsprof_executions.py puts ids_count_call into the pointer of each jitted function; everything here runs with the GIL
 * held, which is the lock of it. No header of Python is needed: objects are addresses, and the call is handed on as
 * it came. */
#include "collectors/common/agent.h"

/* Functions that are followed, dead ones too. More are not counted; the table stays at most half full. */
enum { FUNCTIONS = 8192, FOLLOWED_MAX = FUNCTIONS / 2 };

typedef void *(*vectorcall)(void *callable, void *const *arguments, size_t count_and_flag, void *keywords);
typedef int (*step)(void *callable, int64_t number);

static vectorcall original; /* what the pointers led to */
static step on_step;        /* NULL: nothing is counted any more */
static int64_t furthest = -1;
static int followed;
static struct {
    void *callable;
    int64_t calls;
} functions[FUNCTIONS];

static size_t place_of(const void *callable) {
    size_t at = (size_t)(((uintptr_t)callable >> 4) * 0x9E3779B97F4A7C15u >> 51) % FUNCTIONS;
    while (functions[at].callable && functions[at].callable != callable) at = (at + 1) % FUNCTIONS;
    return at;
}

IDS_AGENT_API void ids_count_begin(void *called, void *callback);
IDS_AGENT_API int ids_count_follow(void *callable);
IDS_AGENT_API void ids_count_end(void);
IDS_AGENT_API void *ids_count_call(void *callable, void *const *arguments, size_t count_and_flag, void *keywords);

void ids_count_begin(void *called, void *callback) {
    original = (vectorcall)called;
    on_step = (step)callback;
}

/* 1, or 0 when there is no room. A function at the address of a dead one begins anew. */
int ids_count_follow(void *callable) {
    size_t at = place_of(callable);
    if (!functions[at].callable) {
        if (followed == FOLLOWED_MAX) return 0;
        functions[at].callable = callable;
        followed++;
    }
    functions[at].calls = 0;
    return 1;
}

void ids_count_end(void) {
    on_step = NULL;
}

void *ids_count_call(void *callable, void *const *arguments, size_t count_and_flag, void *keywords) {
    if (on_step) {
        size_t at = place_of(callable);
        /* The callback may register functions, but none moves. It says whether this is an execution. */
        if (functions[at].callable) {
            int64_t number = functions[at].calls;
            if (number <= furthest) {
                functions[at].calls = number + 1;
            } else {
                /* Before the callback, which may let other threads call: the step begins once. */
                int64_t before = furthest;
                furthest = number;
                if (on_step(callable, number))
                    functions[at].calls = number + 1;
                else if (furthest == number)
                    furthest = before;
            }
        }
    }
    return original(callable, arguments, count_and_flag, keywords);
}
