#include "lib/compare/cause_places.h"

#include "lib/base/vec.h"
#include "lib/compare/same_function.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "data.py:12" of "data.py:12, mostly in loads" and of "data.py:12 fetch"; 0: it is no line. */
static size_t line_length(const char *where) {
    size_t file = strcspn(where, ": "), line = where[file] == ':' ? strspn(where + file + 1, "0123456789") : 0;
    return line ? file + 1 + line : 0;
}

/* ---- functions that were renamed ---- */

/* Of more functions that one side alone has, those with the most time are looked at: they come first in a ledger. */
enum { CANDIDATES_MOST = 64 };

struct candidate {
    size_t entry;
    struct ids_contents contents;
};

struct candidates {
    struct candidate *at;
    size_t count, room;
};

/* Functions that one side alone has, in the ledger and among the samples. */
static int find_candidates(const struct ids_entries *entries, int side, struct candidates *candidates) {
    for (size_t i = 0; i < entries->count && candidates->count < CANDIDATES_MOST; i++) {
        const struct ids_cause *cause = &entries->at[i].cause;
        struct ids_function function;
        struct ids_contents contents;
        if (cause->kind != IDS_CAUSE_CULPRIT || cause->is_in_a == side || cause->is_in_b != side) continue;
        if (!ids_function_of(cause->culprit, entries->at[i].where[side], &function)) continue;
        if (!ids_contents_of(entries->sampled, side, &function, &contents)) continue;
        struct candidate *place = IDS_PUSH(candidates->at, candidates->count, candidates->room);
        if (!place) return -1;
        *place = (struct candidate){i, contents};
    }
    return 0;
}

/* Of fewer samples nobody knows what a function does. */
enum { SAMPLES_TELL = 20 };

static int is_seen_little(const struct ids_entries *entries, const struct candidate *of) {
    int side = entries->at[of->entry].cause.is_in_b;
    return of->contents.calls.ps < SAMPLES_TELL * entries->sampled[side].sample_ps;
}

/* Where few samples saw one of them, the place tells, if it is the only one that this caller no longer calls, or now
 * calls. */
static int is_same(const struct ids_entries *entries, const struct candidate *of, const struct candidate *other,
                   const struct candidates *others) {
    if (ids_are_same_contents(&of->contents, &other->contents)) return 1;
    if (!is_seen_little(entries, of) && !is_seen_little(entries, other)) return 0;
    for (size_t i = 0; i < others->count; i++) {
        if (&others->at[i] != other && ids_have_same_caller(&of->contents, &others->at[i].contents)) return 0;
    }
    return ids_are_at_same_place(&of->contents, &other->contents);
}

/* The one of the other side that is the same function; NULL: there is none, or several. */
static const struct candidate *only_same(const struct ids_entries *entries, const struct candidate *of,
                                         const struct candidates *others) {
    const struct candidate *only = NULL;
    for (size_t i = 0; i < others->count; i++) {
        const struct candidate *other = &others->at[i];
        if (strcmp(entries->at[other->entry].cause.account, entries->at[of->entry].cause.account) != 0) continue;
        if (!is_same(entries, of, other, others)) continue;
        if (only) return NULL;
        only = other;
    }
    return only;
}

static void join_before(struct ids_entries *entries, struct ids_entry *fresh, struct ids_entry *gone) {
    fresh->cause.is_in_a = 1;
    fresh->where[0] = gone->where[0];
    ids_entry_put_into(entries, fresh, gone);
    fresh->cause.count = 1;
}

static int join_renamed(struct ids_entries *entries) {
    struct candidates sides[2] = {{0}};
    int failed = find_candidates(entries, 0, &sides[0]) || find_candidates(entries, 1, &sides[1]);
    for (size_t i = 0; i < sides[1].count && !failed; i++) {
        const struct candidate *fresh = &sides[1].at[i], *gone = only_same(entries, fresh, &sides[0]);
        if (!gone || only_same(entries, gone, &sides[1]) != fresh) continue;
        entries->at[fresh->entry].cause.name_before = entries->at[gone->entry].cause.culprit;
        join_before(entries, &entries->at[fresh->entry], &entries->at[gone->entry]);
    }
    free(sides[0].at);
    free(sides[1].at);
    return failed;
}

/* The file that it was in, where it is the same function in another one. */
static void find_moved(struct ids_entries *entries, struct ids_entry *entry) {
    struct ids_cause *cause = &entry->cause;
    const char *names[] = {cause->name_before ? cause->name_before : cause->culprit, cause->culprit};
    struct ids_function functions[2];
    struct ids_contents contents[2];
    if (entry->is_gone || cause->kind != IDS_CAUSE_CULPRIT || !entry->where[0] || !entry->where[1]) return;
    for (int side = 0; side < 2; side++) {
        if (!ids_function_of(names[side], entry->where[side], &functions[side])) return;
    }
    if (functions[0].file_length == functions[1].file_length &&
        !memcmp(functions[0].file, functions[1].file, functions[0].file_length))
        return;
    for (int side = 0; side < 2; side++) {
        if (!ids_contents_of(entries->sampled, side, &functions[side], &contents[side])) return;
    }
    if (ids_are_same_contents(&contents[0], &contents[1]))
        cause->file_before = ids_report_text(entries->texts, "%.*s", (int)functions[0].file_length, functions[0].file);
}

/* ---- what a function of the program calls instead ---- */

/* So much of the one's time is the other's, or they do not do the same. */
#define INSTEAD 0.25

/* What one side alone calls at that place: "float" at "train.py:30 log_loss". */
static int is_call_of_side(const struct ids_entry *entry, int side) {
    const struct ids_cause *cause = &entry->cause;
    const char *where = entry->where[side];
    size_t line = where ? line_length(where) : 0;
    return !entry->is_gone && cause->kind == IDS_CAUSE_CULPRIT && cause->culprit && cause->is_in_a == !side &&
           cause->is_in_b == side && line && where[line] == ' ';
}

/* The function, whichever line it is at; of a module, which may call anything, the line too. */
static int is_same_site(const char *a, const char *b) {
    size_t file = strcspn(a, ":"), line_a = line_length(a), line_b = line_length(b);
    if (!strcmp(a, b)) return 1;
    return file == strcspn(b, ":") && !memcmp(a, b, file) && !strcmp(a + line_a, b + line_b) &&
           strcmp(a + line_a, " <module>") != 0;
}

static struct ids_entry *only_instead(struct ids_entries *entries, const struct ids_entry *of, int side) {
    struct ids_entry *only = NULL;
    if (!is_call_of_side(of, side)) return NULL;
    for (size_t i = 0; i < entries->count; i++) {
        struct ids_entry *other = &entries->at[i];
        if (!is_call_of_side(other, !side) || strcmp(other->cause.account, of->cause.account) != 0) continue;
        if (!is_same_site(of->where[side], other->where[!side])) continue;
        if (only) return NULL;
        only = other;
    }
    return only;
}

/* The only call of an account that is gone from a function, and the only one that came there. */
static void find_replaced(struct ids_entries *entries) {
    for (size_t i = 0; i < entries->count; i++) {
        struct ids_entry *fresh = &entries->at[i], *gone = only_instead(entries, fresh, 1);
        if (!gone || only_instead(entries, gone, 0) != fresh) continue;
        double a = gone->cause.a_ps, b = fresh->cause.b_ps;
        if (fmin(a, b) < INSTEAD * fmax(a, b)) continue;
        fresh->cause.call_before = gone->cause.culprit;
        join_before(entries, fresh, gone);
    }
}

/* ---- places ---- */

static int is_module(const char *name) {
    static const char module[] = "<module>";
    return name && !strncmp(name, module, sizeof module - 1);
}

static int is_call_of(const char *call, const char *name, size_t length) {
    const char *dot = memrchr(call, '.', strcspn(call, " "));
    return ids_is_called(dot ? dot + 1 : call, name, length);
}

/* Whether something of that name is called right in the call at `at`. */
static int calls_it(const struct ids_sampled_calls *calls, size_t at, const char *name, size_t length) {
    for (size_t i = at + 1; i < calls->count && calls->at[i].depth > calls->at[at].depth; i++) {
        if (calls->at[i].depth == calls->at[at].depth + 1 && is_call_of(calls->at[i].call, name, length)) return 1;
    }
    return 0;
}

/* What the place says that its line calls: "loads" of "data.py:12, mostly in json.loads", the culprit of "data.py:12
 * fetch". NULL: nothing. */
static const char *called_at(const struct ids_cause *cause, const char *where, size_t place, size_t *ret_length) {
    const char *in = strstr(where + place, "in "), *called = where[place] == ' ' ? cause->culprit : in ? in + 3 : NULL;
    *ret_length = called ? strcspn(called, " ") : 0;
    const char *dot = called ? memrchr(called, '.', *ret_length) : NULL;
    if (!dot || dot + 1 == called + *ret_length) return called;
    *ret_length -= (size_t)(dot + 1 - called);
    return dot + 1;
}

/* Whether samples of side b saw the function at that line, in the same call, as it is on side a: which of its lines has
 * the most time differs from run to run. A module's line without a call may be any statement. */
static int is_there_still(const struct ids_entries *entries, const struct ids_cause *cause, const char *where) {
    const struct ids_sampled_calls *calls = &entries->sampled[1];
    size_t place = line_length(where), called_length;
    const char *name = where[place] == ' ' ? where + place + 1 : cause->culprit;
    const char *called = called_at(cause, where, place, &called_length);
    size_t length = name ? strcspn(name, ", ") : 0;
    if (!called && is_module(name)) return 0;
    for (size_t i = 0; length && i < calls->count; i++) {
        const char *call = calls->at[i].call; /* "fetch (data.py:12)" */
        if (!strncmp(call, name, length) && !strncmp(call + length, " (", 2) &&
            !strncmp(call + length + 2, where, place) && call[length + 2 + place] == ')' &&
            (!called || calls_it(calls, i, called, called_length)))
            return 1;
    }
    return 0;
}

/* The place is a line on side a, where side b has another one. */
static int is_old_place(const struct ids_entries *entries, const struct ids_entry *entry) {
    const char *a = entry->where[0], *b = entry->where[1];
    size_t length = a ? line_length(a) : 0;
    if (!length || (b && !strcmp(a, b))) return 0;
    if (b && length == line_length(b) && !memcmp(a, b, length) && !is_module(entry->cause.culprit)) return 0;
    return !is_there_still(entries, &entry->cause, a);
}

/* A function is told by its place where it took the most time: what it no longer does stands in the file as it was
 * before. What has another name now has its new place. */
static void choose_place(const struct ids_entries *entries, struct ids_entry *entry) {
    struct ids_cause *cause = &entry->cause;
    if (cause->kind != IDS_CAUSE_CULPRIT) return;
    int is_new = cause->name_before || cause->file_before || cause->call_before;
    int side = entry->where[1] && (is_new || !(entry->where[0] && cause->a_ps > cause->b_ps));
    cause->where = entry->where[side];
    cause->is_place_before = !side && is_old_place(entries, entry);
}

int ids_find_places(struct ids_entries *entries) {
    if (join_renamed(entries)) return -1;
    for (size_t i = 0; i < entries->count; i++) find_moved(entries, &entries->at[i]);
    find_replaced(entries);
    for (size_t i = 0; i < entries->count; i++) choose_place(entries, &entries->at[i]);
    return 0;
}
