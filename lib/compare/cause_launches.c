/* cause_launches.c - what one function of the program launches. Written op by op it is many small programs, each of
 * which is a small cause: who mends the function wins all of it. */
#include "lib/base/intern.h"
#include "lib/compare/cause_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fewer programs are told one by one. */
enum { PROGRAMS_LEAST = 3 };

/* A function's entries in one account. */
struct function {
    size_t largest; /* of what it launches the entry that changed most */
    size_t programs;
    double change_ps, largest_ps, most_ps; /* of all, of that entry, of any entry */
    size_t whole;                          /* the entry that all are put into + 1 */
};

/* "train.py:17 clip, held up" of what clip launches; what the function itself does is "train.py:16" and called clip. */
struct place {
    const char *function;
    size_t file_length, line_length, function_length;
    int is_launched;
};

static int find_place(const struct ids_cause *cause, struct place *ret_place) {
    const char *where = cause->where;
    if (!cause->culprit || !where || !strchr(where, ':')) return 0;
    size_t file = strcspn(where, ":"), digits = strspn(where + file + 1, "0123456789");
    const char *rest = where + file + 1 + digits;
    int is_launched = *rest == ' ' && rest[1];
    const char *function = is_launched ? rest + 1 : cause->culprit;
    *ret_place = (struct place){.function = function,
                                .file_length = file,
                                .line_length = file + 1 + digits,
                                .function_length = strcspn(function, ","),
                                .is_launched = is_launched};
    return digits > 0;
}

static int is_of_launching(const struct ids_entry *entry) {
    const char *account = entry->cause.account;
    return !entry->is_gone && entry->cause.kind == IDS_CAUSE_CULPRIT &&
           (!strcmp(account, ids_account_id(IDS_HOST_DISPATCH)) || !strcmp(account, ids_account_id(IDS_DEVICE_QUEUE)));
}

static uint64_t key_of(const struct ids_cause *cause, const struct place *place) {
    uint64_t key = ids_entry_key(cause->account, NULL, NULL);
    key = ids_key_of(key, ids_hash_bytes(cause->where, place->file_length));
    return ids_key_of(key, ids_hash_bytes(place->function, place->function_length));
}

static void add_up(struct function *function, const struct ids_cause *cause, size_t i, int is_launched) {
    function->change_ps += cause->change_ps;
    function->most_ps = fmax(function->most_ps, fabs(cause->change_ps));
    if (!is_launched) return;
    function->programs++;
    if (fabs(cause->change_ps) < function->largest_ps) return;
    function->largest_ps = fabs(cause->change_ps);
    function->largest = i;
}

/* One program that is more than half of it is the cause. */
static int is_joint(const struct function *function) {
    return function->programs >= PROGRAMS_LEAST && 2 * function->most_ps <= fabs(function->change_ps);
}

static void call_whole(struct ids_entries *entries, struct ids_entry *whole, const struct function *function) {
    const struct ids_cause *largest = &entries->at[function->largest].cause;
    struct ids_cause *cause = &whole->cause;
    struct place place;
    if (!find_place(largest, &place)) return;
    const char *where = ids_report_text(entries->texts, "%.*s", (int)place.line_length, largest->where);
    cause->largest = largest->culprit;
    cause->is_place_before = largest->is_place_before;
    cause->kind = IDS_CAUSE_LAUNCHES;
    cause->culprit = ids_report_text(entries->texts, "%.*s", (int)place.function_length, place.function);
    cause->where = where;
    cause->count = function->programs;
}

static void join(struct ids_entries *entries, struct function *function, size_t i) {
    struct ids_entry *entry = &entries->at[i];
    if (!function->whole) {
        function->whole = i + 1;
        return;
    }
    struct ids_entry *whole = &entries->at[function->whole - 1];
    whole->cause.is_in_a |= entry->cause.is_in_a;
    whole->cause.is_in_b |= entry->cause.is_in_b;
    ids_entry_put_into(entries, whole, entry);
}

int ids_group_launches(struct ids_entries *entries) {
    struct function *functions = calloc(entries->count + 1, sizeof *functions);
    size_t *of = calloc(entries->count + 1, sizeof *of); /* of each entry: its function + 1 */
    struct ids_keymap numbers = {0};
    size_t count = 0;
    int failed = !functions || !of;
    for (size_t i = 0; i < entries->count && !failed; i++) {
        const struct ids_cause *cause = &entries->at[i].cause;
        struct place place;
        if (!is_of_launching(&entries->at[i]) || !find_place(cause, &place)) continue;
        uint64_t *number = ids_keymap_at(&numbers, key_of(cause, &place));
        failed = !number;
        if (failed) break;
        if (!*number) *number = ++count;
        of[i] = *number;
        add_up(&functions[*number - 1], cause, i, place.is_launched);
    }
    for (size_t i = 0; i < entries->count && !failed; i++) {
        if (of[i] && is_joint(&functions[of[i] - 1])) join(entries, &functions[of[i] - 1], i);
    }
    for (size_t f = 0; f < count && !failed; f++) {
        if (functions[f].whole) call_whole(entries, &entries->at[functions[f].whole - 1], &functions[f]);
    }
    free(functions);
    free(of);
    ids_keymap_done(&numbers);
    return failed;
}
