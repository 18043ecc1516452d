/* advice.c - what to do, from the figures that the other analyzers have put into the report: each piece of advice with its evidence
 * and what it could save at most. It runs last. */
#include "lib/analysis/context.h"
#include "lib/base/counted.h"

#include <stdlib.h>
#include <string.h>

struct adviser {
    const struct ids_analysis *analysis;
    struct ids_report *report;
    int64_t steps;   /* 0: savings are for the window */
    int64_t devices; /* active ones, over which times are summed */
    int speaks_jax; /* programs of XLA ran; else what ran is PyTorch's or plain CUDA, and jit means nothing to its author */
};

static int has(const struct adviser *adviser, const char *id, struct ids_value *ret_value) {
    const struct ids_metric *metric = ids_report_find(adviser->report, id, NULL);
    if (!metric || metric->value.missing) return 0;
    *ret_value = metric->value;
    return 1;
}

static int64_t count_of(const struct adviser *adviser, const char *id) {
    struct ids_value value;
    return has(adviser, id, &value) ? value.i : 0;
}

static int64_t time_of(const struct adviser *adviser, const char *id) {
    struct ids_value value;
    return has(adviser, id, &value) ? value.i : 0;
}

static double ratio_of(const struct adviser *adviser, const char *id) {
    struct ids_value value;
    return has(adviser, id, &value) ? value.d : 0;
}

/* A metric as a person reads it. */
static const char *say(const struct adviser *adviser, const char *id) {
    char text[IDS_VALUE_ROOM];
    struct ids_value value;
    if (!has(adviser, id, &value)) return "no data";
    return ids_report_text(adviser->report, "%s", ids_value_format(value, text, sizeof text));
}

static const char *say_time(const struct adviser *adviser, int64_t time_ps) {
    char text[IDS_VALUE_ROOM];
    return ids_report_text(adviser->report, "%s",
                           ids_value_format(ids_int_value(IDS_UNIT_TIME, time_ps), text, sizeof text));
}

/* What could be saved in the whole window (-1: that cannot be told) becomes per step where there are steps. */
static void advise(const struct adviser *adviser, int64_t window_saves_ps, const char *explain, const char *what,
                   const char *evidence) {
    int64_t saves_ps = window_saves_ps < 0 ? -1 : window_saves_ps / (adviser->steps ? adviser->steps : 1);
    struct ids_advice advice = {
        .saves_ps = saves_ps, .per_step = adviser->steps > 0, .what = what, .evidence = evidence, .explain = explain};
    ids_report_advice(adviser->report, &advice);
}

static const char *in_words_of(const struct adviser *adviser, const char *jax, const char *other) {
    return adviser->speaks_jax ? jax : other;
}

/* Worth a line: a twentieth of the window. */
static int matters(const struct adviser *adviser, int64_t summed_ps) {
    return summed_ps > 0 && summed_ps >= ids_windows_total(adviser->analysis) / 20;
}

static void on_idle(const struct adviser *adviser) {
    static const struct {
        const char *id, *jax, *other;
    } table[] = {
        {"idle.host_late.compile",
         "Recompilation stalls the device: keep shapes, dtypes and static arguments the same from step to step (pad, "
         "or jit with fewer static_argnums), and warm up before measuring",
         "Recompilation stalls the device: keep shapes and dtypes the same from step to step (pad, or mark what "
         "changes "
         "as dynamic), and warm up before measuring"},
        {"idle.host_late.staging",
         "The device waits for data to be put on it: call device_put once, keep results on the device, and leave numpy "
         "out of the loop",
         "The device waits for data to be put on it: copy once, keep results on the device, and copy the rest from "
         "pinned memory without waiting (non_blocking=True)"},
        {"idle.host_late.sync",
         "The host waits for the device each time before it dispatches more: fewer block_until_ready and np.asarray "
         "calls; fetch metrics every n steps, asynchronously",
         "The host waits for the device each time before it dispatches more: fewer .item(), .cpu() and "
         "cudaDeviceSynchronize calls; fetch metrics every n steps, asynchronously"},
        {"idle.host_late.input",
         "Input-bound: prefetch batches to the device on another thread (tf.data prefetch, a background device_put), "
         "or "
         "make the input cheaper",
         "Input-bound: more DataLoader workers with pin_memory, prefetch batches to the device, or make the input "
         "cheaper"},
        {"idle.host_late.launch_bound",
         "Launching takes longer than running: jit larger functions so that small kernels fuse, or run them as a CUDA "
         "graph (command buffers)",
         "Launching takes longer than running: fuse small kernels (torch.compile), or run them as a CUDA graph"},
        {"idle.host_late.python",
         "Python between dispatches holds the device up: jit the whole step, or move work out of the loop",
         "Python between launches holds the device up: compile the step (torch.compile) or run it as a CUDA graph, or "
         "move work out of the loop"},
        {"idle.host_late.not_recorded",
         "The host launches late and the trace does not say why: record again with the Python tracer "
         "(idsprof capture --python-tracer 1), or annotate the loop (jax.profiler.TraceAnnotation)",
         "The host launches late and the trace does not say why: record again with the host's activity (the "
         "profiler's CPU and Python tracers), or annotate the loop (record_function, NVTX)"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        int64_t summed_ps = time_of(adviser, table[i].id);
        if (!matters(adviser, summed_ps)) continue;
        advise(adviser, summed_ps / adviser->devices, table[i].id, in_words_of(adviser, table[i].jax, table[i].other),
               ids_report_text(adviser->report, "%s of idle time, %s in all, is this; longest gap %s",
                               say_time(adviser, summed_ps), say(adviser, "idle.total"), say(adviser, "idle.longest")));
    }
}

static void on_recompilation(const struct adviser *adviser) {
    struct ids_value count;
    const struct ids_table *table = ids_report_find_table(adviser->report, "compiles");
    if (!table || !has(adviser, "compile.in_steps", &count) || !count.i || adviser->steps < 2) return;
    enum { DURATION, START, FUNCTION, STEP }; /* columns of the table compiles */
    const char *function = NULL;
    int64_t late = 0, first_step = adviser->analysis->steps.at[0].number;
    for (size_t r = 0; r < table->row_count; r++) {
        const struct ids_value *row = &table->cells[r * (size_t)table->def->column_count];
        if (row[STEP].missing || row[STEP].i == first_step) continue; /* the first step compiles by right */
        late++;
        if (!function && !row[FUNCTION].missing) function = row[FUNCTION].text;
    }
    if (!late) return;
    advise(adviser, time_of(adviser, "compile.in_steps_time"), "compile.in_steps",
           ids_report_text(adviser->report,
                           "Recompilation in the loop (%s%s): its argument shapes, dtypes or static arguments change "
                           "between steps; pad to fixed shapes or hoist what changes",
                           function ? "largest: " : "function not recorded", function ? function : ""),
           ids_report_text(adviser->report, "%s after the first step, of %s in all, %s inside steps",
                           IDS_COUNTED(late, "compilation"), say(adviser, "compile.count"), say(adviser, "compile.in_steps_time")));
}

static void on_small_kernels(const struct adviser *adviser) {
    if (ratio_of(adviser, "kernels.small_share") < 0.5 || ratio_of(adviser, "kernels.small_time_share") < 0.1) return;
    advise(
        adviser, -1, "kernels.small_count",
        in_words_of(adviser,
                    "Many small kernels: jit larger functions so that XLA fuses them, with fewer control-flow "
                    "branches and host round trips between them",
                    "Many small kernels: fuse them (torch.compile, fused optimizers and attention), or run them as a "
                    "CUDA graph"),
        ids_report_text(adviser->report,
                        "%s below the threshold: %s of kernels, %s of kernel time; longest run %s",
                        IDS_COUNTED(count_of(adviser, "kernels.small_count"), "kernel"), say(adviser, "kernels.small_share"),
                        say(adviser, "kernels.small_time_share"), say(adviser, "kernels.longest_small_run")));
}

static void on_transfers(const struct adviser *adviser) {
    int64_t summed_ps = time_of(adviser, "transfers.h2d_time") + time_of(adviser, "transfers.d2h_time");
    double hidden = ratio_of(adviser, "transfers.overlapped_share");
    int64_t exposed_ps = (int64_t)((double)summed_ps * (1 - hidden));
    if (!matters(adviser, exposed_ps)) return;
    advise(
        adviser, exposed_ps / adviser->devices, "transfers.h2d_bytes",
        in_words_of(adviser,
                    "Large transfers between host and device: device_put once and keep results on the device; overlap "
                    "the rest with compute, from pinned memory",
                    "Large transfers between host and device: copy once and keep results on the device; overlap the "
                    "rest with compute, from pinned memory on a stream of its own"),
        ids_report_text(adviser->report, "H2D %s in %s, D2H %s in %s; %s hidden under compute",
                        say(adviser, "transfers.h2d_bytes"), say(adviser, "transfers.h2d_time"),
                        say(adviser, "transfers.d2h_bytes"), say(adviser, "transfers.d2h_time"),
                        say(adviser, "transfers.overlapped_share")));
}

static void on_stalls(const struct adviser *adviser) {
    int64_t stalled_ps = time_of(adviser, "device.busy") - time_of(adviser, "device.working");
    if (!matters(adviser, stalled_ps)) return;
    advise(adviser, stalled_ps / adviser->devices, "device.stalled_share",
           "Devices wait inside the program (async -done ops, rendezvous with peers): what they wait for is the "
           "bottleneck, not compute",
           ids_report_text(adviser->report, "%s of busy time is waiting: busy %s, working %s",
                           say(adviser, "device.stalled_share"), say(adviser, "device.busy"),
                           say(adviser, "device.working")));
}

static void on_collectives(const struct adviser *adviser) {
    int64_t exposed_ps = time_of(adviser, "collectives.exposed");
    if (!matters(adviser, exposed_ps)) return;
    advise(adviser, exposed_ps / adviser->devices, "collectives.exposed",
           in_words_of(adviser,
                       "Collectives are not hidden under compute: overlap them (latency-hiding scheduler), use larger "
                       "buckets, or shard otherwise",
                       "Collectives are not hidden under compute: overlap them with the backward pass, use larger "
                       "buckets (bucket_cap_mb), or shard otherwise"),
           ids_report_text(adviser->report, "collectives take %s of the window, all-reduce %s; %s is exposed",
                           say(adviser, "collectives.share"), say(adviser, "collectives.allreduce_share"),
                           say(adviser, "collectives.exposed")));
}

static void on_one_op(const struct adviser *adviser) {
    const struct ids_table *table = ids_report_find_table(adviser->report, "ops");
    if (!table || !table->row_count || ratio_of(adviser, "ops.top_share") <= 0.5) return;
    enum { SELF, SHARE, COUNT, MEAN, NAME }; /* columns of the table ops */
    advise(adviser, table->cells[SELF].i / adviser->devices, "ops.top_share",
           ids_report_text(adviser->report,
                           "One op takes more than half of the device time (%s): profile it apart, try another "
                           "algorithm, precision or a library kernel",
                           table->cells[NAME].text),
           ids_report_text(adviser->report, "%s of device time, %s of %s each",
                           say(adviser, "ops.top_share"), IDS_COUNTED(table->cells[COUNT].i, "execution"),
                           say_time(adviser, table->cells[MEAN].i)));
}

static void on_occupancy(const struct adviser *adviser) {
    struct ids_value value;
    if (!has(adviser, "occupancy.median", &value) || value.d > 0.5) return;
    advise(adviser, -1, "occupancy.median",
           "Low occupancy: kernels are limited by registers, shared memory or block size; larger blocks, or fewer "
           "registers and less shared memory per thread, let more warps run",
           ids_report_text(adviser->report, "half of the kernel time runs at %s theoretical occupancy or more",
                           say(adviser, "occupancy.median")));
}

static void on_warm_up(const struct adviser *adviser) {
    const struct ids_steps *steps = &adviser->analysis->steps;
    int64_t median_ps = time_of(adviser, "steps.median");
    if (steps->count < 3) return;
    int64_t first_ps = steps->at[0].end_ps - steps->at[0].start_ps;
    if (first_ps <= 2 * median_ps) return;
    advise(
        adviser, -1, "steps.mean",
        "This window has warm-up in it: the first step is no step like the others; begin recording later, or read the "
        "median",
        ids_report_text(adviser->report, "the first step took %s, the median one %s", say_time(adviser, first_ps),
                        say(adviser, "steps.median")));
}

/* What saves most comes first; equal and unknown ones stay in the order of the rules above. */
static void rank(struct ids_report *report) {
    for (size_t i = 1; i < report->advice_count; i++) {
        struct ids_advice advice = report->advice[i];
        size_t place = i;
        for (; place && report->advice[place - 1].saves_ps < advice.saves_ps; place--) {
            report->advice[place] = report->advice[place - 1];
        }
        report->advice[place] = advice;
    }
}

static int run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    (void)err;
    if (!analysis->busy_count) return 0;
    struct adviser adviser = {analysis, report, (int64_t)analysis->steps.count, (int64_t)analysis->busy_count,
                              analysis->trace->module_count > 0};
    on_warm_up(&adviser);
    on_idle(&adviser);
    on_recompilation(&adviser);
    on_stalls(&adviser);
    on_collectives(&adviser);
    on_transfers(&adviser);
    on_one_op(&adviser);
    on_small_kernels(&adviser);
    on_occupancy(&adviser);
    rank(report);
    return 0;
}

const struct ids_analyzer ids_analyzer_advice = {
    .name = "advice",
    .title = "what to do",
    .run = run,
};
