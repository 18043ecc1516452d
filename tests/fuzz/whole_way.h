/* whole_way.h - the whole way of a damaged profile of any format: reader, trace, analyzers, renderers.
 *
 * Beside what the sanitizers find, it stops where the result contradicts itself: the two sinks must see the same
 * events, a ratio lies in 0..1, and no byte of a file reaches a terminal or JSON as a control character or as broken
 * UTF-8. A fuzz target includes it and hands its format to whole_way().
 */
#ifndef IDS_TESTS_FUZZ_WHOLE_WAY_H
#define IDS_TESTS_FUZZ_WHOLE_WAY_H

#include "lib/analysis/analysis.h"
#include "lib/model/builder.h"
#include "lib/report/render.h"
#include "lib/run/sections.h"
#include "tests/fuzz/reader.h"

#include <math.h>
#include <stdio.h>

static void check_metrics(const struct ids_report *report) {
    for (size_t i = 0; i < report->metric_count; i++) {
        const struct ids_metric *metric = &report->metrics[i];
        if (metric->value.missing) {
            if (!metric->reason) stop("no value and no reason", metric->id);
        } else if (metric->value.unit == IDS_UNIT_RATIO && !(metric->value.d >= 0 && metric->value.d <= 1 + 1e-9)) {
            stop("a ratio outside 0..1", metric->id);
        } else if (ids_unit_is_real(metric->value.unit) && !isfinite(metric->value.d)) {
            stop("not finite", metric->id);
        }
    }
}

static size_t utf8_length(const unsigned char *at, size_t left) {
    size_t length = *at < 0x80                  ? 1
                    : *at >= 0xc2 && *at < 0xe0 ? 2
                    : *at >= 0xe0 && *at < 0xf0 ? 3
                    : *at >= 0xf0 && *at < 0xf5 ? 4
                                                : 0;
    if (!length || length > left) return 0;
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80) return 0;
    }
    return length;
}

static void check_text(const char *text, size_t length, const char *which) {
    for (size_t at = 0; at < length;) {
        unsigned char c = (unsigned char)text[at];
        if ((c < 0x20 && c != '\n' && c != '\r') || c == 0x7f) stop("a control character in the output", which);
        size_t step = utf8_length((const unsigned char *)text + at, length - at);
        if (!step) stop("broken UTF-8 in the output", which);
        at += step;
    }
}

typedef int render_function(const struct ids_report *, const struct ids_render *, FILE *, struct ids_error *);

static void render(const struct ids_report *report, render_function *function, const char *which, int width) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out) return;
    struct ids_render how = {.top = width ? 10 : 0, .width = width ? width : 120, .command = "idsprof report x"};
    struct ids_error err = IDS_ERROR_INIT;
    how.sections = ids_sections(&how.section_count);
    int code = function(report, &how, out, &err);
    fclose(out);
    if (code)
        check_error(code, &err);
    else
        check_text(text, length, which);
    free(text);
}

static void analyze(const struct ids_trace *trace, const struct ids_params *params) {
    struct ids_error err = IDS_ERROR_INIT;
    struct ids_report report;
    ids_report_init(&report);
    int code = ids_analyze(trace, params, &report, &err);
    if (!code) code = ids_report_check(&report, &err);
    if (code) {
        check_error(code, &err);
    } else {
        check_metrics(&report);
        render(&report, ids_render_json, "JSON", 0);
        render(&report, ids_render_text, "text", 80);
    }
    ids_report_done(&report);
}

static inline int whole_way(const struct ids_format *format, const uint8_t *bytes, size_t length) {
    fuzzed = format;
    struct ids_error err = IDS_ERROR_INIT;
    struct ids_builder *builder;
    struct ids_trace *trace;
    struct ids_dump_totals totals;
    int more = 0;
    fuzzed->bid(bytes, length < IDS_FORMAT_HEAD ? length : IDS_FORMAT_HEAD, &more);
    int dump_code = read_totals(bytes, length, &totals);
    if (ids_builder_new(&builder, &err)) return 0;
    int code = read_into(bytes, length, ids_builder_sink(builder), &err);
    if (!code && dump_code) stop("the dump failed where the builder did not", err.text);
    if (code) {
        check_error(code, &err);
        ids_builder_free(builder);
        return 0;
    }
    code = ids_builder_finish(builder, &trace, &err);
    if (code) {
        check_error(code, &err);
        ids_builder_free(builder);
        return 0;
    }
    if (trace->event_count != totals.events) stop("the sinks saw different events", "event_count");
    struct ids_params params;
    ids_params_default(&params);
    analyze(trace, &params);
    /* The other windows, as the length has it, so that each input is tried one way only. */
    if (length % 4 == 1) params.window = IDS_WINDOW_DEVICE;
    if (length % 4 == 2) params.window = IDS_WINDOW_STEPS;
    if (length % 4 == 3) params.from_ps = 10000000, params.to_ps = 60000000;
    if (length % 4) analyze(trace, &params);
    ids_trace_free(trace);
    return 0;
}

#endif
