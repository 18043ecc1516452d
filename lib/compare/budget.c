#include "lib/compare/budget.h"

#include "lib/base/decimal.h"
#include "lib/base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- quantities ---- */

struct scale {
    enum ids_unit unit;
    const char *name;
    double base;
};

static const struct scale scales[] = {
    {IDS_UNIT_TIME, "ps", 1},
    {IDS_UNIT_TIME, "ns", 1e3},
    {IDS_UNIT_TIME, "us", 1e6},
    {IDS_UNIT_TIME, "ms", 1e9},
    {IDS_UNIT_TIME, "s", 1e12},
    {IDS_UNIT_BYTES, "B", 1},
    {IDS_UNIT_BYTES, "kB", 1e3},
    {IDS_UNIT_BYTES, "MB", 1e6},
    {IDS_UNIT_BYTES, "GB", 1e9},
    {IDS_UNIT_BYTES, "TB", 1e12},
    {IDS_UNIT_BYTES, "KiB", 1024.0},
    {IDS_UNIT_BYTES, "MiB", 1048576.0},
    {IDS_UNIT_BYTES, "GiB", 1073741824.0},
    {IDS_UNIT_BYTES, "", 1},
    {IDS_UNIT_RATIO, "%", 0.01},
    {IDS_UNIT_RATIO, "", 1},
    {IDS_UNIT_COUNT, "", 1},
    {IDS_UNIT_NUMBER, "", 1},
    {IDS_UNIT_RATE, "B/s", 1},
    {IDS_UNIT_RATE, "kB/s", 1e3},
    {IDS_UNIT_RATE, "MB/s", 1e6},
    {IDS_UNIT_RATE, "GB/s", 1e9},
    {IDS_UNIT_RATE, "TB/s", 1e12},
};

static int is_number(char c) {
    return (c >= '0' && c <= '9') || c == '.' || c == '-';
}

int ids_quantity_parse(const char *text, size_t length, enum ids_unit unit, double *ret_value, struct ids_error *err) {
    size_t digits = 0;
    double number;
    while (digits < length && is_number(text[digits])) digits++;
    const char *name = text + digits;
    size_t name_length = length - digits;
    while (name_length && *name == ' ') name++, name_length--;
    while (name_length && name[name_length - 1] == ' ') name_length--;
    if (ids_decimal_real(text, digits, &number))
        return ids_fail(err, IDS_USAGE, "'%.*s' is not a number", (int)length, text);
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        if (scales[i].unit != unit || strlen(scales[i].name) != name_length ||
            memcmp(scales[i].name, name, name_length) != 0)
            continue;
        *ret_value = number * scales[i].base;
        return 0;
    }
    if (unit == IDS_UNIT_TIME && !name_length && number == 0) {
        *ret_value = 0;
        return 0;
    }
    static const char *const wanted[] = {
        [IDS_UNIT_NONE] = "a number",
        [IDS_UNIT_COUNT] = "a number without a unit",
        [IDS_UNIT_TIME] = "ns, us, ms or s",
        [IDS_UNIT_BYTES] = "B, kB, MB, GB, TB, KiB, MiB or GiB",
        [IDS_UNIT_RATIO] = "% or a share",
        [IDS_UNIT_RATE] = "B/s, kB/s, MB/s, GB/s or TB/s",
        [IDS_UNIT_NUMBER] = "a number without a unit",
    };
    return ids_fail(err, IDS_USAGE, "'%.*s': expected %s", (int)length, text, wanted[unit]);
}

/* ---- lines ---- */

struct words {
    const char *at, *end;
};

static int next_word(struct words *words, const char **ret_word, size_t *ret_length) {
    while (words->at < words->end && (*words->at == ' ' || *words->at == '\t')) words->at++;
    *ret_word = words->at;
    while (words->at < words->end && *words->at != ' ' && *words->at != '\t') words->at++;
    *ret_length = (size_t)(words->at - *ret_word);
    return *ret_length > 0;
}

static int is_word(const char *word, size_t length, const char *wanted) {
    return strlen(wanted) == length && !memcmp(word, wanted, length);
}

/* Eats the word when it comes next. */
static int eat(struct words *words, const char *wanted) {
    struct words before = *words;
    const char *word;
    size_t length;
    if (next_word(words, &word, &length) && is_word(word, length, wanted)) return 1;
    *words = before;
    return 0;
}

static int find_metric(const char *word, size_t length, ids_find_metric *find, const struct ids_metric_def **ret_def,
                       struct ids_error *err) {
    char id[128];
    if (length < sizeof id) {
        memcpy(id, word, length);
        id[length] = '\0';
        *ret_def = find(id, err);
        if (!*ret_def) return IDS_USAGE;
        if ((*ret_def)->unit == IDS_UNIT_NONE)
            return ids_fail(err, IDS_USAGE, "'%s' is a text, which has no limits", id);
        return 0;
    }
    return ids_fail(err, IDS_USAGE, "no metric has a name as long as '%.*s'", (int)length, word);
}

static int read_count(struct words *words, int64_t *ret_count, struct ids_error *err) {
    const char *word;
    size_t length;
    if (next_word(words, &word, &length) && ids_decimal_integer(word, length, ret_count) == 1 && *ret_count >= 0)
        return 0;
    return ids_fail(err, IDS_USAGE, "expected a number of steps");
}

/* "over 100 steps after 10 steps", in either order, or nothing. */
static int read_steps(struct words *words, struct ids_limit *limit, struct ids_error *err) {
    for (;;) {
        int64_t *place = eat(words, "over") ? &limit->over : eat(words, "after") ? &limit->after : NULL;
        if (!place) return 0;
        if (strncmp(limit->metric->id, "steps.", 6) != 0)
            return ids_fail(err, IDS_USAGE, "only figures of steps (steps.mean, steps.p95, ...) can cover some steps");
        int code = read_count(words, place, err);
        if (code) return code;
        if (!eat(words, "steps")) eat(words, "step");
    }
}

/* The value and its unit: what stands before "over", "after" or the end. */
static int read_value(struct words *words, struct ids_limit *limit, struct ids_error *err) {
    const char *word, *from = NULL, *to = NULL;
    size_t length;
    for (;;) {
        struct words before = *words;
        if (!next_word(words, &word, &length) || is_word(word, length, "over") || is_word(word, length, "after")) {
            *words = before;
            break;
        }
        if (!from) from = word;
        to = word + length;
    }
    if (!from) return ids_fail(err, IDS_USAGE, "a value is missing");
    return ids_quantity_parse(from, (size_t)(to - from), limit->metric->unit, &limit->value, err);
}

#define DEFAULT_TOLERANCE 0.05

static int read_baseline(struct words *words, struct ids_limit *limit, struct ids_error *err) {
    limit->kind = IDS_LIMIT_BASELINE;
    limit->value = DEFAULT_TOLERANCE;
    if (!eat(words, "worse") || !eat(words, "than") || !eat(words, "baseline"))
        return ids_fail(err, IDS_USAGE, "expected 'no worse than baseline', or that 'by N %%'");
    if (limit->metric->better == IDS_BETTER_NEITHER)
        return ids_fail(err, IDS_USAGE, "'%s' is neither better nor worse when it changes", limit->metric->id);
    if (!eat(words, "by")) return 0;
    const char *word, *from = words->at;
    size_t length;
    while (from < words->end && *from == ' ') from++;
    while (next_word(words, &word, &length)) continue;
    return ids_quantity_parse(from, (size_t)(words->end - from), IDS_UNIT_RATIO, &limit->value, err);
}

static int read_kind(const char *word, size_t length, enum ids_limit_kind *ret_kind) {
    static const char *const signs[] = {"<", "<=", ">", ">=", "="};
    for (int i = 0; i < 5; i++) {
        if (is_word(word, length, signs[i])) return *ret_kind = (enum ids_limit_kind)i, 1;
    }
    if (!is_word(word, length, "==")) return 0;
    *ret_kind = IDS_LIMIT_EQUAL;
    return 1;
}

static int read_line(struct words words, ids_find_metric *find, struct ids_limit *ret_limit, struct ids_error *err) {
    const char *word;
    size_t length;
    struct ids_limit limit = {0};
    next_word(&words, &word, &length);
    int code = find_metric(word, length, find, &limit.metric, err);
    if (code) return code;
    if (!next_word(&words, &word, &length))
        return ids_fail(err, IDS_USAGE, "expected <, <=, >, >=, = and a value, or 'no worse than baseline'");
    if (is_word(word, length, "no")) {
        code = read_baseline(&words, &limit, err);
    } else if (read_kind(word, length, &limit.kind)) {
        code = read_value(&words, &limit, err);
        if (!code) code = read_steps(&words, &limit, err);
    } else {
        code =
            ids_fail(err, IDS_USAGE, "'%.*s': expected <, <=, >, >=, = or 'no worse than baseline'", (int)length, word);
    }
    if (!code && next_word(&words, &word, &length))
        code = ids_fail(err, IDS_USAGE, "'%.*s' is unexpected", (int)length, word);
    if (!code) *ret_limit = limit;
    return code;
}

static int keep(struct ids_budget *budget, struct ids_limit limit, const char *text, size_t length,
                struct ids_error *err) {
    if (budget->count == IDS_BUDGET_LIMITS) return ids_fail(err, IDS_LIMIT, "more than %d limits", IDS_BUDGET_LIMITS);
    limit.text = ids_arena_copy(&budget->arena, text, length);
    struct ids_limit *place = limit.text ? IDS_PUSH(budget->at, budget->count, budget->room) : NULL;
    if (!place) return ids_no_memory(err);
    *place = limit;
    return 0;
}

int ids_budget_read(struct ids_budget *budget, const char *text, size_t length, ids_find_metric *find,
                    struct ids_error *err) {
    size_t number = 0;
    for (size_t at = 0; at < length;) {
        const char *newline = memchr(text + at, '\n', length - at);
        size_t end = newline ? (size_t)(newline - text) : length, next = end + (newline != NULL), from = at;
        const char *comment = memchr(text + at, '#', end - at);
        if (comment) end = (size_t)(comment - text);
        while (from < end && (text[from] == ' ' || text[from] == '\t')) from++;
        while (end > from && (text[end - 1] == ' ' || text[end - 1] == '\t' || text[end - 1] == '\r')) end--;
        number++;
        at = next;
        if (from == end) continue;
        struct ids_limit limit;
        int code = read_line((struct words){text + from, text + end}, find, &limit, err);
        if (!code) code = keep(budget, limit, text + from, end - from, err);
        if (code) return ids_error_at(err, "line %zu", number);
    }
    return 0;
}

int ids_budget_add(struct ids_budget *budget, const char *pair, enum ids_limit_kind kind, ids_find_metric *find,
                   struct ids_error *err) {
    static const char *const signs[] = {"<", "<=", ">", ">=", "="};
    const char *equals = strchr(pair, '=');
    struct ids_limit limit = {.kind = kind};
    char text[256];
    if (!equals) return ids_fail(err, IDS_USAGE, "'%s': expected ID=VALUE, as in steps.mean=150ms", pair);
    int code = find_metric(pair, (size_t)(equals - pair), find, &limit.metric, err);
    if (!code) code = ids_quantity_parse(equals + 1, strlen(equals + 1), limit.metric->unit, &limit.value, err);
    if (code) return code;
    int length = snprintf(text, sizeof text, "%s %s %s", limit.metric->id, signs[kind], equals + 1);
    return keep(budget, limit, text, length < (int)sizeof text ? (size_t)length : sizeof text - 1, err);
}

int ids_budget_add_baseline(struct ids_budget *budget, const char *id, double tolerance, ids_find_metric *find,
                            struct ids_error *err) {
    struct ids_limit limit = {.kind = IDS_LIMIT_BASELINE, .value = tolerance};
    char text[256];
    int code = find_metric(id, strlen(id), find, &limit.metric, err);
    if (code) return code;
    int length = snprintf(text, sizeof text, "%s no worse than baseline by %g %%", id, tolerance * 100);
    return keep(budget, limit, text, (size_t)length, err);
}

void ids_budget_done(struct ids_budget *budget) {
    ids_arena_done(&budget->arena);
    free(budget->at);
    *budget = (struct ids_budget){0};
}
