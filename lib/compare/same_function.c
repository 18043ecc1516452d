#include "lib/compare/same_function.h"

#include "lib/base/intern.h"

#include <math.h>
#include <string.h>

/* So much of the time of each is in what they have in common. */
#define ALIKE 0.5
/* A call or a line with less of the time is chance. */
#define TOLD 0.02
/* So many calls, or so many lines besides the first, prove something. */
enum { PROOF = 2, DEPTHS = 256 };

static void add(struct ids_parts_of_call *parts, uint64_t key, double ps) {
    size_t i = 0;
    parts->ps += ps;
    while (i < parts->count && parts->at[i].key != key) i++;
    if (i == IDS_CONTENTS_MOST) return;
    if (i == parts->count) parts->at[parts->count++].key = key;
    parts->at[i].ps += ps;
}

/* Of a call without its line and the object that it is of: "upper" of "word.upper", "loads" of "loads (data.py:3)". */
static uint64_t key_of_call(const char *call) {
    size_t length = strcspn(call, " (");
    const char *dot = memrchr(call, '.', length), *name = dot && dot + 1 < call + length ? dot + 1 : call;
    return ids_hash_bytes(name, (size_t)(call + length - name));
}

static void look_at(const struct ids_sampled_calls *calls, const struct ids_function *function,
                    struct ids_contents *contents) {
    const struct ids_sampled_call *around[DEPTHS] = {NULL};
    *contents = (struct ids_contents){.calls = {.count = 0}};
    for (size_t i = 0; i < calls->count; i++) {
        const struct ids_sampled_call *call = &calls->at[i];
        if (call->depth < 1 || call->depth >= DEPTHS) continue;
        const struct ids_sampled_call *by = call->depth > 1 ? around[call->depth - 1] : NULL;
        int is_own = ids_is_function(function, call->call, call->file);
        int is_by_own = by && ids_is_function(function, by->call, by->file);
        around[call->depth] = call;
        if (is_own) {
            add(&contents->calls, 0, call->self_ps);
            add(&contents->lines, (uint64_t)call->line, call->total_ps);
            if (is_by_own) continue;
            uint64_t caller = by ? key_of_call(by->call) : 1;
            add(&contents->callers, caller, call->total_ps);
            if (by && by->line && call->line)
                add(&contents->places, ids_key_of(caller, (uint64_t)(call->line - by->line)), call->total_ps);
        } else if (is_by_own && !ids_is_wait_for_machine(call->call)) {
            add(&contents->calls, key_of_call(call->call), call->total_ps);
        }
    }
}

/* A function that the other side has too is not gone. */
static int is_known(const struct ids_sampled_calls *calls, const struct ids_function *function) {
    for (size_t i = 0; i < calls->count; i++) {
        if (ids_is_function(function, calls->at[i].call, calls->at[i].file)) return 1;
    }
    return 0;
}

static const struct ids_part_of_call *part_of(const struct ids_parts_of_call *parts, uint64_t key) {
    for (size_t i = 0; i < parts->count; i++) {
        if (parts->at[i].key == key) return &parts->at[i];
    }
    return NULL;
}

/* The share of time that is in the same parts, `shift` further on the other side, and how many these are. The key 0,
 * the function's own time, counts as time alone. */
static double in_common(const struct ids_parts_of_call *a, const struct ids_parts_of_call *b, uint64_t shift,
                        int *ret_count) {
    double sum = 0;
    *ret_count = 0;
    for (size_t i = 0; i < a->count; i++) {
        const struct ids_part_of_call *other = part_of(b, a->at[i].key + shift);
        double share = other ? fmin(a->at[i].ps / a->ps, other->ps / b->ps) : 0;
        sum += share;
        *ret_count += share >= TOLD && a->at[i].key;
    }
    return sum;
}

static double lines_in_common(const struct ids_parts_of_call *a, const struct ids_parts_of_call *b, int *ret_count) {
    double most = 0;
    *ret_count = 0;
    for (size_t i = 0; i < a->count; i++) {
        for (size_t j = 0; j < b->count; j++) {
            int count;
            double share = in_common(a, b, b->at[j].key - a->at[i].key, &count);
            if (share <= most) continue;
            most = share;
            *ret_count = count;
        }
    }
    return most;
}

int ids_contents_of(const struct ids_sampled_calls calls[2], int side, const struct ids_function *function,
                    struct ids_contents *ret_contents) {
    static const char module[] = "<module>"; /* each file has one */
    if (!strncmp(function->name, module, sizeof module - 1) || is_known(&calls[!side], function)) return 0;
    look_at(&calls[side], function, ret_contents);
    return ret_contents->calls.ps > 0 && ret_contents->lines.ps > 0 && ret_contents->callers.ps > 0;
}

int ids_have_same_caller(const struct ids_contents *a, const struct ids_contents *b) {
    int count;
    return in_common(&a->callers, &b->callers, 0, &count) > 0;
}

int ids_are_at_same_place(const struct ids_contents *a, const struct ids_contents *b) {
    int count;
    return a->places.ps > 0 && b->places.ps > 0 && in_common(&a->places, &b->places, 0, &count) >= ALIKE;
}

int ids_are_same_contents(const struct ids_contents *a, const struct ids_contents *b) {
    int call_count, line_count;
    if (!ids_have_same_caller(a, b)) return 0;
    if (in_common(&a->calls, &b->calls, 0, &call_count) < ALIKE) return 0;
    if (lines_in_common(&a->lines, &b->lines, &line_count) < ALIKE) return 0;
    return call_count + line_count - 1 >= PROOF;
}
