#include "analyzers/model_flops.h"

#include "lib/base/saturate.h"
#include "lib/hlo/family.h"
#include "lib/hlo/multiplier.h"
#include "lib/report/alike_names.h"

#include <stdlib.h>
#include <string.h>

struct ids_metric *ids_efficiency_share(struct ids_report *report, const char *id, const char *device, double part,
                                        double whole, const char *missing) {
    if (missing)
        ids_report_no_data(report, id, IDS_UNIT_RATIO, device, "%s", missing);
    else if (!(part <= whole * (1 + IDS_EFFICIENCY_ROUNDING)))
        ids_report_no_data(report, id, IDS_UNIT_RATIO, device,
                           "more than the peak: the peak or the counted operations and bytes are wrong");
    else
        return ids_report_metric(report, id, device, ids_real_value(IDS_UNIT_RATIO, part / whole));
    return NULL;
}

/* ---- the types ---- */

/* By what units of the device the model is multiplied. */
struct multipliers {
    double flops[IDS_MULTIPLIERS];
    int count;
    enum ids_multiplier most;
};

static struct multipliers multipliers_of(const struct ids_analysis *analysis) {
    struct multipliers found = {.most = IDS_BY_BF16};
    const struct ids_trace *trace = analysis->trace;
    struct ids_peaks peaks = {.bandwidth = 0};
    if (analysis->busy_count) peaks = ids_peaks_of(trace, analysis->busy[0].device, &analysis->params);
    for (size_t i = 0; i < trace->op_count && analysis->costs.of_op; i++) {
        const struct ids_op_cost *cost = &analysis->costs.of_op[i];
        double rate = cost->self_time > 0 ? cost->flops / cost->self_time : 0;
        found.flops[ids_multiplier_at(&trace->ops[i], &peaks, rate)] += cost->model_flops;
    }
    for (int by = 0; by < IDS_MULTIPLIERS; by++) {
        if (found.flops[by] > found.flops[found.most]) found.most = (enum ids_multiplier)by;
        found.count += found.flops[by] > 0;
    }
    return found;
}

/* ---- steps ---- */

static double steps_time(const struct ids_analysis *analysis) {
    double time = 0;
    for (size_t s = 0; s < analysis->steps.count; s++) time += (double)analysis->steps.at[s].sum_ps * 1e-12;
    return time;
}

static void put_tokens(const struct ids_analysis *analysis, struct ids_report *report) {
    const struct ids_metric *mean = ids_report_find(report, "steps.mean", NULL);
    const char *id = "efficiency.tokens_per_s";
    if (analysis->params.tokens_per_step <= 0)
        ids_report_no_data(report, id, IDS_UNIT_NUMBER, NULL, "--tokens-per-step was not given");
    else if (!mean || mean->value.missing || mean->value.i <= 0)
        ids_report_no_data(report, id, IDS_UNIT_NUMBER, NULL, "no steps in this trace");
    else
        ids_report_metric(
            report, id, NULL,
            ids_real_value(IDS_UNIT_NUMBER, analysis->params.tokens_per_step / ((double)mean->value.i * 1e-12)));
}

/* The time of the devices in which the model's operations are counted, these operations, and their time at the peak. */
static double model_of(const struct ids_analysis *analysis, double *ret_flops, double *ret_time) {
    const struct ids_op_costs *costs = &analysis->costs;
    size_t steps = analysis->steps.count;
    *ret_flops = *ret_time = 0;
    if (analysis->params.flops_per_step > 0 && steps) {
        double peaks = 0;
        enum ids_multiplier type = multipliers_of(analysis).most;
        for (size_t b = 0; b < analysis->busy_count; b++)
            peaks += ids_peaks_of(analysis->trace, analysis->busy[b].device, &analysis->params).flops[type];
        *ret_flops = analysis->params.flops_per_step * (double)steps;
        if (peaks > 0) *ret_time = *ret_flops * (double)analysis->busy_count / peaks;
        return steps_time(analysis);
    }
    for (size_t b = 0; b < analysis->busy_count && costs->of_device; b++) {
        *ret_flops += steps ? costs->in_steps[b].flops : costs->of_device[b].model_flops;
        *ret_time += steps ? costs->in_steps[b].time : costs->of_device[b].model_time;
    }
    return steps ? steps_time(analysis) : (double)ids_windows_total(analysis) * 1e-12;
}

/* ---- the peak ---- */

/* Of f32 the data sheets of NVIDIA's devices with matrix units for it give the peak of TF32, which not all who multiply
 * f32 allow. */
static const char *type_of_peak(const struct ids_device *device, enum ids_multiplier type) {
    int has_tf32 = device->multiprocessor && device->multiprocessor->warp == 32 && device->capability_major >= 8;
    return type == IDS_BY_F32 && has_tf32 ? "f32 as TF32" : ids_multiplier_name(type);
}

/* Which peak the model's operations are measured by. What the user counts has no type: it is that of the ops. */
static void say_peak(const struct ids_analysis *analysis, struct ids_report *report, struct ids_metric *mfu) {
    const struct ids_params *params = &analysis->params;
    struct ids_peaks peaks = ids_peaks_of(analysis->trace, analysis->busy[0].device, params);
    struct multipliers types = multipliers_of(analysis);
    int is_told = params->flops_per_step > 0;
    char rate[IDS_VALUE_ROOM];
    if (is_told && !analysis->steps.count) {
        ids_report_rule(report, mfu, "--flops-per-step says nothing here: no steps in this trace");
        return;
    }
    if (!peaks.flops_from) return;
    ids_value_format(ids_real_value(IDS_UNIT_FLOPS, peaks.flops[types.most]), rate, sizeof rate);
    if (params->peak_flops > 0)
        ids_report_rule(report, mfu, "%s is the peak (%s)", rate, peaks.flops_from);
    else if (is_told && !types.count)
        ids_report_rule(report, mfu,
                        "%s is the peak (%s; for bf16 and f16: give --peak-flops where the model multiplies another "
                        "type)",
                        rate, peaks.flops_from);
    else
        ids_report_rule(report, mfu, "%s is the peak (%s; for %s, in which %s is multiplied%s)", rate, peaks.flops_from,
                        type_of_peak(analysis->busy[0].device, types.most), types.count > 1 ? "most" : "all",
                        types.count > 1 && !is_told ? "; other types have their own" : "");
}

/* ---- what is not counted ---- */

/* Time of kernels that multiply. */
struct multiplying {
    int64_t all_ps, uncounted_ps;
};

static int names_product(const struct ids_trace *trace, uint32_t text, uint8_t *known) {
    enum { NO = 1, YES };
    if (!*known) {
        const char *family = ids_family_of(ids_trace_text(trace, text), NULL, NULL);
        int is = !strcmp(family, "matrix product") || !strcmp(family, "convolution") || !strcmp(family, "attention");
        *known = is ? YES : NO;
    }
    return *known == YES;
}

/* By the name of the op, or of the kernel: what torch.compile made is one op, CompiledFunction, and its kernels are
 * those of a library. */
static int multiplies(const struct ids_trace *trace, const struct ids_event *event, const struct ids_op *op,
                      uint8_t *known) {
    if (op && names_product(trace, op->name, &known[trace->name_count + event->op])) return 1;
    return names_product(trace, trace->names[event->name].text, &known[event->name]);
}

/* The ops of a framework have a cost where the file has the shapes that they were called with; kernels that belong to
 * no op have none. What is in no step is not asked for. 0, or -1 when memory ran out. */
static int find_multiplying(const struct ids_analysis *analysis, struct multiplying *found) {
    const struct ids_trace *trace = analysis->trace;
    uint8_t *known = trace->call_cost_count ? calloc(trace->name_count + trace->op_count + 1, 1) : NULL;
    *found = (struct multiplying){.all_ps = 0};
    if (!trace->call_cost_count) return 0;
    if (!known) return -1;
    for (size_t b = 0; b < analysis->busy_count; b++) {
        struct ids_cursor cursor = ids_busy_cursor(&analysis->busy[b], &analysis->busy[b].device->activity);
        for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
            const struct ids_op *op = event->op == IDS_NONE ? NULL : &trace->ops[event->op];
            int is_counted = op && op->cost_source != IDS_COST_UNKNOWN;
            if (event->class != IDS_CLASS_COMPUTE || (!is_counted && !multiplies(trace, event, op, known))) continue;
            if (analysis->steps.count && !ids_step_of_device_event(analysis, event)) continue;
            ids_sum(&found->all_ps, event->self_ps);
            if (!is_counted) ids_sum(&found->uncounted_ps, event->self_ps);
        }
    }
    free(known);
    return 0;
}

/* Beyond this share of their time the model's operations would be told far too low. */
enum { UNCOUNTED_PERCENT = 5 };

static const char *why_uncounted(struct ids_report *report, const struct multiplying *found) {
    double share = found->all_ps > 0 ? (double)found->uncounted_ps / (double)found->all_ps : 0;
    if (share * 100 <= UNCOUNTED_PERCENT) return NULL;
    return ids_report_text(report,
                           "of %.1f %% of the time of products, convolutions and attention the file lacks the shapes "
                           "(record_shapes; of convolutions the strides too, \"Concrete Inputs\"): give "
                           "--flops-per-step",
                           share * 100);
}

/* ---- all ---- */

int ids_model_flops_put(const struct ids_analysis *analysis, struct ids_report *report) {
    double flops, model_time, time = model_of(analysis, &flops, &model_time);
    size_t steps = analysis->steps.count;
    int is_told = analysis->params.flops_per_step > 0;
    struct multiplying found;
    if (find_multiplying(analysis, &found)) return -1;
    const char *none = is_told && !steps ? "no steps in this trace, which --flops-per-step is of"
                                         : "no op of this trace has a known number of operations of the model";
    const char *missing = flops <= 0 ? none : is_told ? NULL : why_uncounted(report, &found);
    const char *no_count = missing ? missing : steps ? NULL : "no steps in this trace";
    if (no_count)
        ids_report_no_data(report, "efficiency.model_flops", IDS_UNIT_NUMBER, NULL, "%s", no_count);
    else
        ids_report_metric(report, "efficiency.model_flops", NULL,
                          ids_real_value(IDS_UNIT_NUMBER, flops / (double)steps));
    if (!missing && model_time <= 0) missing = IDS_NO_PEAK_FLOPS;
    struct ids_metric *mfu = ids_efficiency_share(report, "efficiency.mfu", NULL, model_time, time, missing);
    if (mfu) say_peak(analysis, report, mfu);
    put_tokens(analysis, report);
    return 0;
}
