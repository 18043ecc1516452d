#include "lib/run/extract_window.h"

#include "lib/analysis/times.h"
#include "lib/base/quantity.h"
#include "lib/base/saturate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int ids_parse_steps(const char *text, int64_t *ret_first, int64_t *ret_last, struct ids_error *err) {
    char first[32];
    struct ids_error ignored;
    size_t length = strcspn(text, "-.");
    const char *rest = !strncmp(text + length, "..", 2) ? text + length + 2
                       : text[length] == '-'            ? text + length + 1
                                                        : NULL;
    if (!rest) length = strlen(text);
    snprintf(first, sizeof first, "%.*s", (int)(length < sizeof first ? length : 0), text);
    if (ids_parse_count(first, ret_first, &ignored) || ids_parse_count(rest ? rest : first, ret_last, &ignored))
        return ids_fail(err, IDS_USAGE, "--steps: '%s' is not a step such as 7, or steps such as 3-5", text);
    return *ret_first <= *ret_last ? 0 : ids_fail(err, IDS_USAGE, "--steps: %s: the first comes after the last", text);
}

static int cut_to_steps(const struct ids_times *times, const char *steps, struct ids_extract_window *window,
                        struct ids_error *err) {
    int64_t first, last, from_ps = INT64_MAX, to_ps = INT64_MIN, least = INT64_MAX, most = INT64_MIN;
    int code = ids_parse_steps(steps, &first, &last, err);
    if (code) return code;
    for (size_t i = 0; i < times->step_count; i++) {
        const struct ids_step_times *step = &times->steps[i];
        if (step->number < least) least = step->number;
        if (step->number > most) most = step->number;
        if (step->number < first || step->number > last) continue;
        if (step->from_ps < from_ps) from_ps = step->from_ps;
        if (step->to_ps > to_ps) to_ps = step->to_ps;
    }
    if (!times->step_count) return ids_fail(err, IDS_USAGE, "--steps: no step is marked in this run");
    if (from_ps == INT64_MAX) {
        return ids_fail(err, IDS_USAGE, "--steps: there is no step %s; the run has steps %" PRId64 " to %" PRId64,
                        steps, least, most);
    }
    if (from_ps > window->from_ps) window->from_ps = from_ps;
    if (to_ps < window->to_ps) window->to_ps = to_ps;
    return 0;
}

int ids_extract_window_of(const struct ids_trace *trace, int64_t from_ps, int64_t to_ps, const char *steps,
                          struct ids_extract_window *ret_window, struct ids_error *err) {
    struct ids_extract_window *window = ret_window;
    *window = IDS_EXTRACT_WHOLE;
    struct ids_times times;
    int code = ids_times_of(trace, &times, err);
    if (code) return code;
    if (from_ps >= 0) {
        window->from_ps = times.first_ps;
        ids_sum(&window->from_ps, from_ps);
    }
    if (to_ps >= 0) {
        window->to_ps = times.first_ps;
        ids_sum(&window->to_ps, to_ps);
    }
    if (steps) code = cut_to_steps(&times, steps, window, err);
    ids_times_done(&times);
    if (code) return code;
    window->shifts_ps = calloc(trace->host_count + 1, sizeof *window->shifts_ps);
    if (!window->shifts_ps) return ids_no_memory(err);
    for (size_t i = 0; i < trace->host_count; i++) window->shifts_ps[i] = trace->hosts[i].shift_ps;
    window->shift_count = trace->host_count;
    return 0;
}

void ids_extract_window_in(const struct ids_extract_window *window, size_t file, int64_t *ret_from_ps,
                           int64_t *ret_to_ps) {
    int64_t shift_ps = file < window->shift_count ? window->shifts_ps[file] : 0;
    *ret_from_ps = window->from_ps;
    *ret_to_ps = window->to_ps;
    if (window->from_ps != INT64_MIN) ids_sum(ret_from_ps, -shift_ps);
    if (window->to_ps != INT64_MAX) ids_sum(ret_to_ps, -shift_ps);
}

void ids_extract_window_done(struct ids_extract_window *window) {
    free(window->shifts_ps);
    window->shifts_ps = NULL;
}
