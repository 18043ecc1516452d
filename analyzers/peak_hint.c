#include "analyzers/peak_hint.h"

#include "lib/analysis/context.h"

#include <string.h>

/* Short executions, and ops of hardly any time, may be timed badly. */
#define LEAST_TIME 10e-6
#define LEAST_SHARE 1e-3
/* Bytes may come from a cache, here and there. */
#define ABOVE_BANDWIDTH 1.05

struct rates {
    double flops, bandwidth; /* the highest; a second */
};

static double rate_of(double amount, double time) {
    return time > 0 ? amount / time : 0;
}

static int is_worth(const struct ids_op_cost *cost, double all_time) {
    double runs = (double)(cost->runs - cost->untimed.runs);
    return runs > 0 && cost->self_time >= LEAST_SHARE * all_time && cost->self_time >= LEAST_TIME * runs;
}

static size_t counted_ops(const struct ids_analysis *analysis) {
    return analysis->costs.of_op ? analysis->trace->op_count : 0;
}

static double all_time_of(const struct ids_analysis *analysis) {
    double time = 0;
    for (size_t i = 0; i < counted_ops(analysis); i++) time += analysis->costs.of_op[i].self_time;
    return time;
}

static struct rates fastest(const struct ids_analysis *analysis, double all_time) {
    struct rates most = {0, 0};
    for (size_t i = 0; i < counted_ops(analysis); i++) {
        const struct ids_op_cost *cost = &analysis->costs.of_op[i];
        if (!is_worth(cost, all_time)) continue;
        double flops = rate_of(cost->flops - cost->untimed.flops, cost->self_time);
        double bandwidth = rate_of(cost->bytes - cost->untimed.bytes, cost->self_time);
        if (flops > most.flops) most.flops = flops;
        if (bandwidth > most.bandwidth) most.bandwidth = bandwidth;
    }
    return most;
}

static int can_do_all(const struct ids_analysis *analysis, const struct ids_peaks *peaks, double all_time) {
    for (size_t i = 0; i < counted_ops(analysis); i++) {
        const struct ids_op_cost *cost = &analysis->costs.of_op[i];
        if (!is_worth(cost, all_time)) continue;
        double flops = rate_of(cost->flops - cost->untimed.flops, cost->self_time);
        double bandwidth = rate_of(cost->bytes - cost->untimed.bytes, cost->self_time);
        if (flops > peaks->flops[ids_multiplier_at(&analysis->trace->ops[i], peaks, flops)]) return 0;
        if (bandwidth > peaks->bandwidth * ABOVE_BANDWIDTH) return 0;
    }
    return 1;
}

static int are_equal(const struct ids_peaks *a, const struct ids_peaks *b) {
    for (size_t i = 0; i < sizeof a->flops / sizeof *a->flops; i++) {
        if (a->flops[i] != b->flops[i]) return 0;
    }
    return 1;
}

static int are_all_tpus(const struct ids_analysis *analysis) {
    for (size_t b = 0; b < analysis->busy_count; b++) {
        if (analysis->busy[b].device->kind != IDS_DEVICE_TPU) return 0;
    }
    return analysis->busy_count > 0;
}

/* The one kind of TPU that can do all; NULL: none, or more than one. Some have two names. */
static const char *only_kind(const struct ids_analysis *analysis, double all_time) {
    struct ids_peaks_sheet found = {.kind = NULL}, sheet;
    for (int i = 0; (sheet = ids_peaks_sheet(i)).kind; i++) {
        if (!sheet.is_tpu || !can_do_all(analysis, &sheet.peaks, all_time)) continue;
        int is_same = found.kind && are_equal(&found.peaks, &sheet.peaks);
        if (found.kind && !is_same) return NULL;
        if (!found.kind) found = sheet;
    }
    return found.kind;
}

const char *ids_peak_hint(const struct ids_adviser *adviser) {
    const struct ids_analysis *analysis = adviser->analysis;
    double all_time = analysis->costs.of_op ? all_time_of(analysis) : 0;
    const char *kind = all_time > 0 && are_all_tpus(analysis) ? only_kind(analysis, all_time) : NULL;
    if (analysis->busy_count && analysis->busy[0].device->kind == IDS_DEVICE_CPU)
        return "--peak-flops and --peak-bandwidth give the shares of the peak, which is not known here";
    if (!kind)
        return "--device-kind ('list' shows the names), or --peak-flops and --peak-bandwidth, give the shares of the "
               "peak, which is not known here";
    struct rates most = fastest(analysis, all_time);
    char flops[IDS_VALUE_ROOM], bandwidth[IDS_VALUE_ROOM];
    return ids_report_text(
        adviser->report,
        "--device-kind '%s' gives the shares of the peak, which the profile does not: of the TPUs "
        "known here only it can do what these ops did (%s, %s of memory)",
        kind, ids_value_format(ids_real_value(IDS_UNIT_FLOPS, most.flops), flops, sizeof flops),
        ids_value_format(ids_real_value(IDS_UNIT_RATE, most.bandwidth), bandwidth, sizeof bandwidth));
}
