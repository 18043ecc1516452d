#include "analyzers/library_part.h"

#include "lib/base/saturate.h"
#include "lib/model/python_frame.h"
#include "lib/model/stacks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Deeper ones are a recursion. So deep in the package that the line calls it is no detail of that call any more. */
enum { MOST_DEPTH = 64, LEAST_DEPTH = 4 };

static struct ids_text text_of(const struct ids_trace *trace, uint32_t text) {
    return ids_strings_text(&trace->strings, text);
}

/* Of what a thread waits for beside its call nothing is known here: it is the call's time. */
static int is_state(enum ids_frame_owner owner) {
    return owner == IDS_FRAME_AWAITS_GIL || owner == IDS_FRAME_AWAITS_CORE;
}

/* What is known of each stack; one that stands in another one comes behind it. */
struct part {
    int64_t all_ps; /* of the stack and of what it calls, but for functions of the program */
    uint8_t is_in;  /* it is one of the functions that are looked at */
};

/* The time below each stack, of libraries alone. */
static void sum_up(const struct ids_trace *trace, struct part *parts) {
    for (size_t s = trace->stack_count; s-- > 0;) {
        const struct ids_stack *stack = &trace->stacks[s];
        ids_sum(&parts[s].all_ps, stack->self_ps);
        if (!stack->outside) continue;
        enum ids_frame_owner owner = ids_python_frame_owner(text_of(trace, stack->text));
        if (owner != IDS_FRAME_OF_PROGRAM) ids_sum(&parts[stack->outside - 1].all_ps, parts[s].all_ps);
    }
}

/* Goes on to the function that has most time of those which the functions that are looked at call: its time, and the
 * longest of its lines in *ret_stack; -1 when memory ran out. */
static int64_t go_deeper(const struct ids_trace *trace, struct part *parts, uint32_t *ret_stack) {
    struct ids_keymap times = {0};
    uint64_t most = 0;
    int64_t most_ps = 0, longest_ps = 0;
    int failed = 0;
    for (size_t s = 0; s < trace->stack_count && !failed; s++) {
        const struct ids_stack *stack = &trace->stacks[s];
        if (!stack->outside || !parts[stack->outside - 1].is_in) continue;
        struct ids_text name = text_of(trace, stack->text);
        enum ids_frame_owner owner = ids_python_frame_owner(name);
        if (owner == IDS_FRAME_OF_PROGRAM || is_state(owner)) continue;
        uint64_t key = ids_python_function_key(name), *ps = ids_keymap_at(&times, key);
        failed = !ps;
        if (failed) break;
        *ps += (uint64_t)parts[s].all_ps;
        if ((int64_t)*ps > most_ps) most_ps = (int64_t)*ps, most = key;
    }
    for (size_t s = trace->stack_count; s-- > 0 && !failed;) {
        const struct ids_stack *stack = &trace->stacks[s];
        int is_next = most && stack->outside && parts[stack->outside - 1].is_in &&
                      ids_python_function_key(text_of(trace, stack->text)) == most;
        if (is_next && parts[s].all_ps > longest_ps) longest_ps = parts[s].all_ps, *ret_stack = (uint32_t)s;
        parts[s].is_in = (uint8_t)is_next;
    }
    ids_keymap_done(&times);
    return failed ? -1 : most_ps;
}

/* The folder of the packages' that a file lies in: "grain"; all of the file where there is none. */
static struct ids_text package_of(struct ids_text file) {
    static const char packages[] = "-packages/";
    for (uint32_t at = 0; at + sizeof packages - 1 < file.length; at++) {
        if (memcmp(file.at + at, packages, sizeof packages - 1) != 0) continue;
        struct ids_text package = {file.at + at + sizeof packages - 1, 0};
        while (package.at + package.length < file.at + file.length && package.at[package.length] != '/')
            package.length++;
        return package;
    }
    return (struct ids_text){file.at, 0};
}

/* What a library does in itself is its call, which the place names. */
static int are_of_two_packages(const struct ids_trace *trace, uint32_t one, uint32_t other) {
    struct ids_python_frame left, right;
    if (!ids_python_frame_of(text_of(trace, trace->stacks[one].text), &left) ||
        !ids_python_frame_of(text_of(trace, trace->stacks[other].text), &right))
        return 0;
    struct ids_text a = package_of(left.file), b = package_of(right.file);
    return b.length && (a.length != b.length || memcmp(a.at, b.at, a.length) != 0);
}

static int is_of_package(const struct ids_trace *trace, uint32_t stack) {
    struct ids_python_frame frame;
    return ids_python_frame_of(text_of(trace, trace->stacks[stack].text), &frame) && package_of(frame.file).length;
}

static const char *name_of(const struct ids_trace *trace, uint32_t stack, struct ids_report *report) {
    struct ids_text name = text_of(trace, trace->stacks[stack].text);
    struct ids_python_frame frame;
    struct ids_python_call call;
    if (ids_python_frame_owner(name) != IDS_FRAME_OF_LIBRARY || ids_python_frame_launches(name)) return NULL;
    if (!ids_python_frame_of(name, &frame) || !ids_python_call_of(name, &call) || !call.file.length) return NULL;
    struct ids_text package = package_of(frame.file);
    return ids_report_text(report, "%.*s (%.*s%s%.*s:%" PRId64 ")", (int)frame.function.length, frame.function.at,
                           (int)package.length, package.at, package.length ? ", " : "", (int)call.file.length,
                           call.file.at, frame.line);
}

/* The line of a place, "train.py:30 main"; 0: it has none. */
static int64_t line_of(const char *where) {
    for (const char *at = where; at && (at = strchr(at, ':')); at++) {
        if (at[1] >= '0' && at[1] <= '9') return strtol(at + 1, NULL, 10);
    }
    return 0;
}

/* An entry may be of all lines of a function: its place tells which one has most of it. */
static int is_at(const struct ids_trace *trace, const struct ids_stack *stack, uint64_t function, int64_t line) {
    struct ids_python_frame frame;
    struct ids_text name = text_of(trace, stack->text);
    return stack->outside && ids_python_function_key(name) == function && ids_python_frame_of(name, &frame) &&
           frame.line == line;
}

const char *ids_library_part_in_words(const struct ids_trace *trace, const struct ids_ledger_entry *entry,
                                      const char *where, struct ids_report *report) {
    char buffer[IDS_VALUE_ROOM];
    int64_t line = line_of(where);
    struct part *parts = entry->frame && line ? calloc(trace->stack_count + 1, sizeof *parts) : NULL;
    int64_t all_ps = 0, part_ps = 0;
    uint32_t outermost = 0, innermost = 0; /* the first stack is a thread, and of no package */
    int depth = 0, begin = 0, end = 0;
    if (!parts) return "";
    uint64_t function = ids_python_function_key(text_of(trace, entry->frame));
    sum_up(trace, parts);
    for (size_t s = 0; s < trace->stack_count; s++) {
        if (!is_at(trace, &trace->stacks[s], function, line)) continue;
        parts[s].is_in = 1;
        ids_sum(&all_ps, parts[s].all_ps);
    }
    for (; depth < MOST_DEPTH; depth++) {
        uint32_t stack = 0;
        int64_t ps = go_deeper(trace, parts, &stack);
        if (ps <= 0 || ps < all_ps / 2) break;
        if (!is_of_package(trace, outermost)) outermost = stack, begin = depth;
        /* Python's own library does what it was called for: who calls it says more. */
        if (!is_of_package(trace, stack) && is_of_package(trace, innermost)) continue;
        part_ps = ps;
        innermost = stack;
        end = depth;
    }
    free(parts);
    if (!part_ps) return "";
    int is_told = end - begin >= LEAST_DEPTH || are_of_two_packages(trace, outermost, innermost);
    const char *name = is_told ? name_of(trace, innermost, report) : NULL;
    if (!name) return "";
    double share = (double)part_ps / (double)all_ps;
    return ids_report_text(report, "; %s of that line's time in %s",
                           ids_value_format(ids_real_value(IDS_UNIT_RATIO, share), buffer, sizeof buffer), name);
}
