#include "lib/compare/budget.h"

#include "lib/base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAIR_BYTES = 1024 };

static int add(struct ids_budget *budget, const char *text, size_t length, ids_find_metric *find,
               struct ids_error *err) {
    struct ids_limit limit;
    if (budget->count == IDS_BUDGET_LIMITS) return ids_fail(err, IDS_LIMIT, "more than %d limits", IDS_BUDGET_LIMITS);
    int code = ids_limit_parse(text, length, find, &budget->arena, &limit, err);
    if (code) return code;
    limit.text = ids_arena_copy(&budget->arena, text, length);
    struct ids_limit *place = limit.text ? IDS_PUSH(budget->at, budget->count, budget->room) : NULL;
    if (!place) return ids_no_memory(err);
    *place = limit;
    return 0;
}

/* Where the comment of a line begins; names between brackets may hold '#'. */
static size_t without_comment(const char *text, size_t from, size_t end) {
    size_t depth = 0;
    for (size_t at = from; at < end; at++) {
        depth += text[at] == '[';
        depth -= text[at] == ']' && depth;
        if (text[at] == '#' && !depth) return at;
    }
    return end;
}

int ids_budget_read(struct ids_budget *budget, const char *text, size_t length, ids_find_metric *find,
                    struct ids_error *err) {
    size_t number = 0;
    for (size_t at = 0; at < length;) {
        const char *newline = memchr(text + at, '\n', length - at);
        size_t end = newline ? (size_t)(newline - text) : length, next = end + (newline != NULL), from = at;
        end = without_comment(text, from, end);
        while (from < end && (text[from] == ' ' || text[from] == '\t')) from++;
        while (end > from && (text[end - 1] == ' ' || text[end - 1] == '\t' || text[end - 1] == '\r')) end--;
        number++;
        at = next;
        if (from == end) continue;
        if (add(budget, text + from, end - from, find, err)) return ids_error_at(err, "line %zu", number);
    }
    return 0;
}

int ids_budget_add(struct ids_budget *budget, const char *pair, enum ids_limit_kind kind, ids_find_metric *find,
                   struct ids_error *err) {
    static const char *const signs[] = {"<", "<=", ">", ">=", "="};
    size_t subject = ids_subject_length(pair, strlen(pair));
    char text[PAIR_BYTES];
    if (pair[subject] != '=') return ids_fail(err, IDS_USAGE, "'%s': expected ID=VALUE, as in steps.mean=150ms", pair);
    int length = snprintf(text, sizeof text, "%.*s %s %s", (int)subject, pair, signs[kind], pair + subject + 1);
    if (length >= (int)sizeof text) return ids_fail(err, IDS_USAGE, "'%.40s...' is too long for a limit", pair);
    return add(budget, text, (size_t)length, find, err);
}

int ids_budget_add_baseline(struct ids_budget *budget, const char *id, double tolerance, ids_find_metric *find,
                            struct ids_error *err) {
    char text[PAIR_BYTES];
    int length = snprintf(text, sizeof text, "%s no worse than baseline by %g %%", id, tolerance * 100);
    return add(budget, text, (size_t)length, find, err);
}

void ids_budget_done(struct ids_budget *budget) {
    ids_arena_done(&budget->arena);
    free(budget->at);
    *budget = (struct ids_budget){0};
}
