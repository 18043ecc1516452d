#include "analyzers/input_advice.h"

#include <math.h>
#include <string.h>

static struct ids_value cell(const struct ids_table *stages, size_t row, const char *column) {
    return *ids_table_cell(stages, row, ids_table_column(stages, column));
}

static int is(const struct ids_table *stages, size_t row, const char *verdict) {
    struct ids_value value = cell(stages, row, "verdict");
    return !value.missing && !strcmp(value.text, verdict);
}

static const char *say(struct ids_report *report, struct ids_value value) {
    char text[IDS_VALUE_ROOM];
    return ids_report_text(report, "%s", ids_value_format(value, text, sizeof text));
}

/* "3 times as many workers", "a third more": below one and a half nobody counts in times. */
static const char *say_more(struct ids_report *report, double times, const char *of) {
    if (times >= 1.5) return ids_report_text(report, "%.0f times as many%s", ceil(times - 0.05), of);
    return ids_report_text(report, "%.0f %% more%s", ceil((times - 1) * 100), of);
}

/* Threads that run Python share its lock, but for what gives it back; those of tf.data do not. */
static const char *workers_of(const char *stage) {
    return strncmp(stage, "Iterator::", 10) ? " workers (processes where Python computes: threads share its lock)" : "";
}

/* What the slowest stage gives, where that is less than the steps need. */
static const char *say_slowest(struct ids_report *report, const struct ids_table *stages, size_t row,
                               const char *culprit) {
    const char *name = cell(stages, row, "stage").text;
    struct ids_value need = cell(stages, row, "need"), rate = cell(stages, row, "rate");
    int64_t threads = cell(stages, row, "threads").i;
    if (!need.missing && !rate.missing && rate.d > 0 && rate.d < need.d)
        return ids_report_text(
            report, "; the program needs %s a second of %s, and %lld %s %s: %s, or less work in each",
            say(report, need), name, (long long)threads, threads == 1 ? "thread gives" : "threads give",
            say(report, rate), say_more(report, need.d / rate.d, workers_of(name)));
    if (culprit && !strcmp(name, culprit))
        return need.missing || rate.missing
                   ? ""
                   : ids_report_text(
                         report,
                         "; it could give %s a second and the program needs %s, so that one thread or process "
                         "beside the loop is enough",
                         say(report, rate), say(report, need));
    return ids_report_text(report, "; slowest stage: %s, %s busy", name, say(report, cell(stages, row, "busy")));
}

/* Where those who work are not in the recording: what comes of them is what the steps got. */
static const char *say_unseen(struct ids_report *report, const struct ids_table *stages, const char *culprit) {
    const struct ids_metric *waited = ids_report_find(report, "input.waited", NULL);
    size_t of = 0;
    for (size_t row = 0; row < stages->row_count && culprit; row++) {
        if (!strcmp(cell(stages, row, "stage").text, culprit)) of = row;
    }
    struct ids_value need = cell(stages, of, "need");
    const char *start = "; its stages only wait for others, which were not recorded";
    if (need.missing || !waited || waited->value.missing || waited->value.d <= 0 || waited->value.d >= 1) return start;
    double gets = need.d * (1 - waited->value.d);
    return ids_report_text(report, "%s: the program needs %s a second and gets %s: %s, or less work in each", start,
                           say(report, need), say(report, ids_real_value(IDS_UNIT_NUMBER, gets)),
                           say_more(report, need.d / gets, " workers"));
}

const char *ids_input_in_words(struct ids_report *report, const char *culprit) {
    const struct ids_table *stages = ids_report_find_table(report, "input_stages");
    size_t waiting = 0;
    if (!stages || !stages->row_count) return "";
    for (size_t row = 0; row < stages->row_count; row++) {
        if (is(stages, row, "slowest")) return say_slowest(report, stages, row, culprit);
        waiting += (size_t)is(stages, row, "only waits");
    }
    return waiting ? say_unseen(report, stages, culprit) : "";
}
