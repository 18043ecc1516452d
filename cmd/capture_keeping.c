#include "cmd/capture_keeping.h"

#include "collectors/common/recorder.h"
#include "lib/base/decimal.h"
#include "lib/base/quantity.h"

#include <stdio.h>
#include <string.h>

enum { PS_PER_NS = 1000, MILLIONTHS = 1000000, RATIO_MOST = 1000000 };

/* ---- the condition: 'step > 2x' or 'step > 500ms' ---- */

static const char *skip(const char *at, const char *word) {
    at += strspn(at, " ");
    size_t length = strlen(word);
    return !strncmp(at, word, length) ? at + length + strspn(at + length, " ") : NULL;
}

static int parse_ratio(const char *text, size_t length, int64_t *ret_thousandths) {
    __int128 thousandths;
    if (length > 12 || ids_decimal_scaled(text, length, 3, &thousandths)) return -1;
    if (thousandths <= 1000 || thousandths > (__int128)RATIO_MOST * 1000) return -1;
    *ret_thousandths = (int64_t)thousandths;
    return 0;
}

static int parse_when(const char *text, struct ids_plan *plan, struct ids_error *err) {
    struct ids_error why = IDS_ERROR_INIT;
    const char *value = skip(text, "step");
    char limit[32];
    int64_t ps = 0;
    if (value) value = skip(value, ">");
    if (value && *value == '>')
        return ids_fail(err, IDS_USAGE, "--when: '%s' is not a condition such as 'step > 2x' or 'step > 500ms'", text);
    if (value && *value == '=') value = skip(value, "="); /* no clock tells the difference */
    size_t length = value ? strlen(value) : 0;
    while (length && value[length - 1] == ' ') length--;
    if (!length || length >= sizeof limit)
        return ids_fail(err, IDS_USAGE, "--when: '%s' is not a condition such as 'step > 2x' or 'step > 500ms'", text);
    snprintf(limit, sizeof limit, "%.*s", (int)length, value);
    if (limit[length - 1] == 'x') {
        for (length--; length && limit[length - 1] == ' ';) length--;
        if (!parse_ratio(limit, length, &plan->when_ratio)) return 0;
        return ids_fail(err, IDS_USAGE, "--when: '%s' of the median is not above 1x (expected such as 'step > 2x')",
                        limit);
    }
    if (ids_parse_time(limit, &ps, &why))
        return ids_fail(err, IDS_USAGE, "--when: %s, or x (times the median)", why.text);
    plan->when_ns = ps / PS_PER_NS;
    return plan->when_ns ? 0 : ids_fail(err, IDS_USAGE, "--when: every step takes longer than '%s'", limit);
}

/* ---- all of it ---- */

static int set_cost(const char *text, struct ids_plan *plan, struct ids_error *err) {
    double share = 0;
    int code = ids_parse_share(text, &share, err);
    if (code) return ids_error_at(err, "--max-cost");
    plan->max_cost = (int64_t)(share * MILLIONTHS + 0.5);
    if (plan->max_cost < 1 || plan->max_cost > MILLIONTHS)
        return ids_fail(err, IDS_USAGE, "--max-cost: '%s' is not between 0.0001%% and 100%%", text);
    return 0;
}

const char *ids_capture_keeping_option(const struct ids_capture_keeping *keeping) {
    return keeping->when ? "when" : keeping->slowest >= 0 ? "keep-slowest" : NULL;
}

int ids_capture_keeping_settle(const struct ids_capture_keeping *keeping, struct ids_plan *plan,
                               struct ids_error *err) {
    int code = 0;
    if (!ids_capture_keeping_option(keeping))
        return keeping->max_cost ? ids_fail(err, IDS_USAGE, "--max-cost is for --when and --keep-slowest") : 0;
    if (keeping->slowest == 0 || keeping->slowest > IDS_KEPT_MAX)
        return ids_fail(err, IDS_USAGE, "--keep-slowest: %lld is not between 1 and %d", (long long)keeping->slowest,
                        IDS_KEPT_MAX);
    if (keeping->when) code = parse_when(keeping->when, plan, err);
    if (!code && keeping->max_cost) code = set_cost(keeping->max_cost, plan, err);
    if (keeping->slowest > 0) plan->keep_slowest = keeping->slowest;
    plan->start_step = IDS_WARM_STEPS;
    return code;
}

int ids_capture_every(const char *text, int64_t *ret_steps, int64_t *ret_ns, struct ids_error *err) {
    int64_t ps = 0;
    if (!text) return 0;
    if (*text && strspn(text, "0123456789") == strlen(text)) {
        int code = ids_parse_count(text, ret_steps, err);
        return code ? ids_error_at(err, "--every") : 0;
    }
    int code = ids_parse_time(text, &ps, err);
    if (code) return ids_error_at(err, "--every");
    *ret_ns = ps / PS_PER_NS;
    return *ret_ns ? 0 : ids_fail(err, IDS_USAGE, "--every: a window every '%s' leaves no time between them", text);
}
