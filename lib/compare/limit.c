#include "lib/compare/limit.h"

#include "lib/base/decimal.h"
#include "lib/compare/amount.h"

#include <string.h>

static const char *const aggregates[] = {"", "median", "mean", "min", "max"};
enum { AGGREGATES = sizeof aggregates / sizeof *aggregates };

const char *ids_aggregate_name(enum ids_run_aggregate aggregate) {
    return aggregates[aggregate];
}

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

static int read_count(struct words *words, const char *noun, int64_t *ret_count, struct ids_error *err) {
    const char *word;
    size_t length;
    if (next_word(words, &word, &length) && ids_decimal_integer(word, length, ret_count) == 1 && *ret_count >= 0)
        return 0;
    return ids_fail(err, IDS_USAGE, "expected a number of %ss", noun);
}

/* "median of 3 runs". */
static int read_aggregate(struct words *words, struct ids_limit *limit, enum ids_run_aggregate aggregate,
                          struct ids_error *err) {
    if (!eat(words, "of")) return ids_fail(err, IDS_USAGE, "expected '%s of N runs'", ids_aggregate_name(aggregate));
    int code = read_count(words, "run", &limit->runs, err);
    if (code) return code;
    if (!limit->runs) return ids_fail(err, IDS_USAGE, "the %s of 0 runs is nothing", ids_aggregate_name(aggregate));
    limit->aggregate = aggregate;
    if (!eat(words, "runs")) eat(words, "run");
    return 0;
}

/* What stands behind the value, in any order. */
static int read_rest(struct words *words, struct ids_limit *limit, struct ids_error *err) {
    for (;;) {
        int64_t *place = eat(words, "over") ? &limit->over : eat(words, "after") ? &limit->after : NULL;
        int code = 0, aggregate = place ? AGGREGATES : 1;
        if (place) {
            if (strncmp(limit->subject.metric->id, "steps.", 6) != 0)
                return ids_fail(err, IDS_USAGE,
                                "only figures of steps (steps.mean, steps.p95, ...) can cover some steps");
            code = read_count(words, "step", place, err);
            if (!code && !eat(words, "steps")) eat(words, "step");
        }
        while (aggregate < AGGREGATES && !eat(words, aggregates[aggregate])) aggregate++;
        if (aggregate < AGGREGATES) code = read_aggregate(words, limit, (enum ids_run_aggregate)aggregate, err);
        if (code) return code;
        if (place || aggregate < AGGREGATES) continue;
        if (!eat(words, "optional")) return 0;
        limit->is_optional = 1;
    }
}

static int ends_value(const char *word, size_t length) {
    static const char *const ends[] = {"over", "after", "optional", "median", "mean", "min", "max"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (is_word(word, length, ends[i])) return 1;
    }
    return 0;
}

/* The value and its unit, which may be a word of its own. */
static size_t value_length(struct words *words, const char **ret_value) {
    const char *word, *to = NULL;
    size_t length;
    *ret_value = NULL;
    for (;;) {
        struct words before = *words;
        if (!next_word(words, &word, &length) || ends_value(word, length)) {
            *words = before;
            return *ret_value ? (size_t)(to - *ret_value) : 0;
        }
        if (!*ret_value) *ret_value = word;
        to = word + length;
    }
}

static int read_value(struct words *words, struct ids_limit *limit, struct ids_error *err) {
    const char *value;
    size_t length = value_length(words, &value);
    if (!length) return ids_fail(err, IDS_USAGE, "a value is missing");
    const struct ids_metric_def *metric = limit->subject.metric;
    if (ids_amount_parse(value, length, metric->unit, &limit->value, err)) return ids_error_at(err, "%s", metric->id);
    return read_rest(words, limit, err);
}

#define DEFAULT_TOLERANCE 0.05

static int read_baseline(struct words *words, struct ids_limit *limit, struct ids_error *err) {
    enum ids_unit unit = limit->subject.metric->unit;
    const char *value;
    limit->kind = IDS_LIMIT_BASELINE;
    limit->value = DEFAULT_TOLERANCE;
    limit->is_share = 1;
    if (!eat(words, "worse") || !eat(words, "than") || !eat(words, "baseline"))
        return ids_fail(err, IDS_USAGE, "expected 'no worse than baseline', or that 'by N %%'");
    if (limit->subject.metric->better == IDS_BETTER_NEITHER)
        return ids_fail(err, IDS_USAGE, "'%s' is neither better nor worse when it changes", limit->subject.metric->id);
    if (eat(words, "by")) {
        size_t length = value_length(words, &value);
        if (!length) return ids_fail(err, IDS_USAGE, "a value is missing");
        limit->is_share = unit == IDS_UNIT_RATIO || value[length - 1] == '%';
        int code = ids_amount_parse(value, length, limit->is_share ? IDS_UNIT_RATIO : unit, &limit->value, err);
        if (code) return code;
        if (limit->value < 0) return ids_fail(err, IDS_USAGE, "'%.*s' is below 0", (int)length, value);
    }
    if (eat(words, "optional")) limit->is_optional = 1;
    return 0;
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

int ids_limit_parse(const char *text, size_t length, ids_find_metric *find, struct ids_arena *arena,
                    struct ids_limit *ret_limit, struct ids_error *err) {
    struct ids_limit limit = {0};
    size_t subject = ids_subject_length(text, length);
    struct words words = {text + subject, text + length};
    int code = ids_subject_parse(text, subject, find, arena, &limit.subject, err);
    const char *word;
    if (code) return code;
    if (!next_word(&words, &word, &length))
        return ids_fail(err, IDS_USAGE, "expected <, <=, >, >=, = and a value, or 'no worse than baseline'");
    if (is_word(word, length, "no"))
        code = read_baseline(&words, &limit, err);
    else if (read_kind(word, length, &limit.kind))
        code = read_value(&words, &limit, err);
    else
        code =
            ids_fail(err, IDS_USAGE, "'%.*s': expected <, <=, >, >=, = or 'no worse than baseline'", (int)length, word);
    if (!code && next_word(&words, &word, &length))
        code = ids_fail(err, IDS_USAGE, "'%.*s' is unexpected", (int)length, word);
    if (!code) *ret_limit = limit;
    return code;
}
