/* utilization.c - how much of the window each device worked, stalled apart. */
#include "lib/analysis/context.h"
#include "lib/analysis/metric_sql.h"
#include "lib/base/saturate.h"

#define USEFUL_SQL(which)                                                                                   \
    "SELECT sum(dur_ps * (account IN ('work.compute', 'comm.transfer') OR account LIKE 'copy.%')) * 1.0 / " \
    "sum(dur_ps) FROM ledger WHERE run = :run AND " which

static const struct ids_metric_def metrics[] = {
    {"device.utilization", "device utilization", IDS_UNIT_RATIO, IDS_BETTER_HIGHER,
     "Working time ÷ window, over all active devices Σ working ÷ Σ window. Working is the union of what a device did "
     "(kernels, copies, sets; TPU: the "
     "line XLA Ops; CPU: ops of the CPU client from their start to their end) less what only waits: TPU *-done ops, "
     "CPU Rendezvous and Wait. Concurrent work "
     "counts once. Devices without any activity, and CPU devices beside an accelerator, are listed, not averaged.",
     IDS_SQL_TIME_SHARE("working")},
    {"device.useful_share", "useful", IDS_UNIT_RATIO, IDS_BETTER_HIGHER,
     "The part of the window in the accounts work.compute, comm.transfer and copy.*: a device that waits for its peers "
     "is busy, and does no good.",
     USEFUL_SQL("in_window = 1")},
    {"device.useful_steps_share", "useful, of the steps", IDS_UNIT_RATIO, IDS_BETTER_HIGHER,
     "The same part of the steps of all devices. Steps may begin on the host before the window of the devices.",
     USEFUL_SQL("step_id IS NOT NULL")},
    {"device.window", "window", IDS_UNIT_TIME, IDS_BETTER_NEITHER,
     "A device's own first to last activity; over all devices the run's window.",
     "SELECT max(start_ps + dur_ps) - min(start_ps) FROM devices WHERE run = :run AND is_active = 1"},
    {"device.busy", "busy", IDS_UNIT_TIME, IDS_BETTER_NEITHER,
     "Union of all activity of a device in the window, waits that are booked as ops included; summed over devices.",
     IDS_SQL_TIME("busy")},
    {"device.working", "working", IDS_UNIT_TIME, IDS_BETTER_NEITHER,
     "Busy time less waiting: see device.utilization; summed over devices.", IDS_SQL_TIME("working")},
    {"device.stalled", "stalled time", IDS_UNIT_TIME, IDS_BETTER_LOWER,
     "Busy time in which the device only waited: device.busy − device.working; summed over devices.",
     IDS_SQL_TIME("busy - working")},
    {"device.stalled_share", "stalled", IDS_UNIT_RATIO, IDS_BETTER_LOWER,
     "The part of busy time in which the device only waited: 1 − working ÷ busy.",
     "SELECT sum(dur_ps * (busy - working)) * 1.0 / sum(dur_ps * busy) FROM device_time WHERE run = :run"},
    {"device.compute_share", "compute", IDS_UNIT_RATIO, IDS_BETTER_HIGHER,
     "Union of compute (neither collective nor copy) ÷ window.", IDS_SQL_TIME_SHARE("compute")},
    {"device.copy_share", "copies", IDS_UNIT_RATIO, IDS_BETTER_LOWER,
     "Union of copies and sets that are booked as activity ÷ window.", IDS_SQL_TIME_SHARE("copy")},
    {"device.no_core_share", "no core", IDS_UNIT_RATIO, IDS_BETTER_LOWER,
     "Of the time that threads of the program without Python were ready to run while stacks were sampled, the part in "
     "which all cores were others': waiting ÷ (waiting + running), as the kernel counts it. With JAX's CPU client "
     "these "
     "threads are the device: its ops last so much longer.",
     "SELECT sum(v.value * (s.name = 'others_waited_ns')) * 1.0 / sum(v.value) FROM plane_stat v JOIN stat s ON s.id = "
     "v.stat JOIN plane p ON p.id = v.plane JOIN host h ON h.id = p.host WHERE h.run = :run AND s.name IN "
     "('others_ran_ns', 'others_waited_ns')"},
};

static const struct ids_column_def columns[] = {
    {"start", "from", IDS_UNIT_TIME, 0},
    {"duration", "length", IDS_UNIT_TIME, 0},
    {"utilization", "utilization", IDS_UNIT_RATIO, 0},
    {"compute", "compute", IDS_UNIT_RATIO, 0},
    {"collective", "collective", IDS_UNIT_RATIO, 0},
    {"copy", "copy", IDS_UNIT_RATIO, 0},
};
static const struct ids_table_def timeline = {
    "timeline",
    "utilization over time",
    columns,
    IDS_COUNT_OF(columns),
    "The run's window in 20 equal parts: working time and its classes ÷ length, over all active devices, each as long "
    "as "
    "its host was recorded. Classes may overlap.",
    0,
};

static const struct ids_headline headlines[] = {
    {"utilization", "device utilization", "device.utilization",
     (const struct ids_note[]){{.before = "stalled ", .metric = "device.stalled_share", .after = " of busy time"},
                               {.before = "waiting for peers ", .metric = "steps.comm.wait", .after = "a step"},
                               {.before = "threads without Python had no core for ",
                                .metric = "device.no_core_share",
                                .after = " of the time that they were ready",
                                .at_least = 0.1}},
     3, 1},
};

static int64_t useful_ps(const struct ids_account_times *times) {
    int64_t sum_ps = times->ps[IDS_WORK_COMPUTE];
    ids_sum(&sum_ps, times->ps[IDS_COMM_TRANSFER]);
    for (int a = IDS_COPY_H2D; a <= IDS_COPY_OTHER; a++) ids_sum(&sum_ps, times->ps[a]);
    return sum_ps;
}

static void useful_in_windows(const struct ids_analysis *analysis, struct ids_report *report) {
    int64_t all_ps = 0, windows_ps = ids_windows_total(analysis);
    for (size_t b = 0; b < analysis->busy_count; b++) {
        const struct ids_busy *busy = &analysis->busy[b];
        int64_t own_ps = useful_ps(&analysis->ledger.in_window[b]), window_ps = busy->end_ps - busy->start_ps;
        ids_sum(&all_ps, own_ps);
        if (window_ps)
            ids_report_metric(report, "device.useful_share", busy->device->key,
                              ids_real_value(IDS_UNIT_RATIO, (double)own_ps / (double)window_ps));
    }
    if (windows_ps)
        ids_report_metric(report, "device.useful_share", NULL,
                          ids_real_value(IDS_UNIT_RATIO, (double)all_ps / (double)windows_ps));
}

/* Of the steps of all devices: how long they are, how much of that lies beyond the windows, and how much is useful. */
struct in_steps {
    int64_t time_ps, beyond_ps, useful_ps, devices;
};

static struct in_steps look_at_steps(const struct ids_analysis *analysis) {
    struct in_steps all = {0};
    for (size_t b = 0; b < analysis->busy_count && analysis->steps.count; b++) {
        const struct ids_busy *busy = &analysis->busy[b];
        const struct ids_device_steps *own = &analysis->steps.of_device[busy->index];
        all.devices += own->count > 0;
        for (size_t i = 0; i < own->count; i++) {
            const struct ids_device_step *step = &own->at[i];
            if (step->step == IDS_NONE) continue;
            int64_t from_ps = step->from_ps > busy->start_ps ? step->from_ps : busy->start_ps;
            int64_t to_ps = step->to_ps < busy->end_ps ? step->to_ps : busy->end_ps;
            ids_sum(&all.time_ps, step->to_ps - step->from_ps);
            ids_sum(&all.beyond_ps, step->to_ps - step->from_ps - (to_ps > from_ps ? to_ps - from_ps : 0));
            ids_sum(&all.useful_ps, useful_ps(&analysis->ledger.in_step[analysis->ledger.first_step[b] + i]));
        }
    }
    return all;
}

/* The first line says so where a good part of the steps is not in the window that the figures of devices are of, and
 * the share that devices work is a twentieth or more lower for it. */
static void useful_in_steps(const struct ids_analysis *analysis, struct ids_report *report) {
    const struct ids_metric *in_window = ids_report_find(report, "device.useful_share", NULL);
    struct in_steps steps = look_at_steps(analysis);
    char share[IDS_VALUE_ROOM], beyond[IDS_VALUE_ROOM];
    const double worth_a_word = 0.05;
    if (!steps.time_ps) {
        ids_report_no_data(report, "device.useful_steps_share", IDS_UNIT_RATIO, NULL, "no steps in this trace");
        return;
    }
    struct ids_value useful = ids_real_value(IDS_UNIT_RATIO, (double)steps.useful_ps / (double)steps.time_ps);
    int is_lower = in_window && useful.d <= in_window->value.d - worth_a_word;
    ids_report_metric(report, "device.useful_steps_share", NULL, useful);
    if (!is_lower || steps.beyond_ps <= steps.time_ps / 10) return;
    ids_value_format(useful, share, sizeof share);
    ids_value_format(ids_int_value(IDS_UNIT_TIME, steps.beyond_ps / steps.devices), beyond, sizeof beyond);
    ids_report_property(
        report, "beyond_window",
        ids_text_value(ids_report_text(report,
                                       "%s of the steps lie before the devices' first activity or after their "
                                       "last: devices work for %s of the steps",
                                       beyond, share)));
}

/* Of a GPU's or TPU's run these threads are not the device: what they lack is time of the host. */
static void without_core(const struct ids_analysis *analysis, struct ids_report *report) {
    const struct ids_trace *trace = analysis->trace;
    int64_t ran_ps = 0, waited_ps = 0;
    for (size_t s = 0; s < trace->sampling_count; s++) {
        ids_sum(&ran_ps, trace->samplings[s].others_ran_ps);
        ids_sum(&waited_ps, trace->samplings[s].others_waited_ps);
    }
    double ready_ps = (double)ran_ps + (double)waited_ps;
    if (ready_ps <= 0)
        ids_report_no_data(report, "device.no_core_share", IDS_UNIT_RATIO, NULL, "not recorded");
    else
        ids_report_metric(report, "device.no_core_share", NULL,
                          ids_real_value(IDS_UNIT_RATIO, (double)waited_ps / ready_ps));
}

static void over_time(const struct ids_analysis *analysis, struct ids_report *report) {
    struct ids_table *table = ids_report_table(report, &timeline);
    for (int part = 0; part < IDS_PARTS; part++) {
        int64_t from_ps = ids_part_start(analysis, part), to_ps = ids_part_start(analysis, part + 1);
        if (to_ps <= from_ps) continue;
        int64_t sums_ps[4] = {0}, windows_ps = 0;
        for (size_t b = 0; b < analysis->busy_count; b++) {
            const struct ids_busy *busy = &analysis->busy[b];
            const struct ids_part *own = &busy->parts[part];
            int64_t begin_ps = busy->start_ps > from_ps ? busy->start_ps : from_ps,
                    end_ps = busy->end_ps < to_ps ? busy->end_ps : to_ps;
            if (end_ps > begin_ps) ids_sum(&windows_ps, end_ps - begin_ps);
            ids_sum(&sums_ps[0], own->working_ps);
            ids_sum(&sums_ps[1], own->compute_ps);
            ids_sum(&sums_ps[2], own->collective_ps);
            ids_sum(&sums_ps[3], own->copy_ps);
        }
        double whole = windows_ps ? (double)windows_ps : 1; /* nobody was recorded then, and nobody worked */
        struct ids_value row[] = {
            ids_int_value(IDS_UNIT_TIME, from_ps - analysis->first_ps),
            ids_int_value(IDS_UNIT_TIME, to_ps - from_ps),
            ids_real_value(IDS_UNIT_RATIO, (double)sums_ps[0] / whole),
            ids_real_value(IDS_UNIT_RATIO, (double)sums_ps[1] / whole),
            ids_real_value(IDS_UNIT_RATIO, (double)sums_ps[2] / whole),
            ids_real_value(IDS_UNIT_RATIO, (double)sums_ps[3] / whole),
        };
        IDS_ROW(report, table, columns, row);
    }
}

/* The five figures of one device, or of all. */
static void figures(struct ids_report *report, const char *device, int64_t window_ps, int64_t busy_ps,
                    int64_t working_ps, int64_t compute_ps, int64_t copy_ps) {
    ids_report_metric(report, "device.busy", device, ids_int_value(IDS_UNIT_TIME, busy_ps));
    ids_report_metric(report, "device.working", device, ids_int_value(IDS_UNIT_TIME, working_ps));
    ids_report_metric(report, "device.stalled", device, ids_int_value(IDS_UNIT_TIME, busy_ps - working_ps));
    if (busy_ps) {
        double stalled = (double)(busy_ps - working_ps) / (double)busy_ps;
        ids_report_metric(report, "device.stalled_share", device, ids_real_value(IDS_UNIT_RATIO, stalled));
    }
    if (!window_ps) return;
    double utilization = (double)working_ps / (double)window_ps;
    ids_report_metric(report, "device.utilization", device, ids_real_value(IDS_UNIT_RATIO, utilization));
    ids_report_metric(report, "device.compute_share", device,
                      ids_real_value(IDS_UNIT_RATIO, (double)compute_ps / (double)window_ps));
    ids_report_metric(report, "device.copy_share", device,
                      ids_real_value(IDS_UNIT_RATIO, (double)copy_ps / (double)window_ps));
}

static int utilization_run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    (void)err;
    if (!analysis->busy_count) {
        ids_metrics_missing(report, metrics, IDS_COUNT_OF(metrics), ids_no_activity_reason(analysis));
        return 0;
    }
    int64_t busy_ps = 0, working_ps = 0, compute_ps = 0, copy_ps = 0;
    for (size_t b = 0; b < analysis->busy_count; b++) {
        const struct ids_busy *busy = &analysis->busy[b];
        int64_t own[] = {ids_time_in(busy, IDS_IS_BUSY), ids_time_in(busy, IDS_IS_WORKING),
                         ids_time_in(busy, IDS_IS_COMPUTE), ids_time_in(busy, IDS_IS_COPY)};
        ids_sum(&busy_ps, own[0]);
        ids_sum(&working_ps, own[1]);
        ids_sum(&compute_ps, own[2]);
        ids_sum(&copy_ps, own[3]);
        ids_report_metric(report, "device.window", busy->device->key,
                          ids_int_value(IDS_UNIT_TIME, busy->last_ps - busy->first_ps));
        figures(report, busy->device->key, busy->end_ps - busy->start_ps, own[0], own[1], own[2], own[3]);
    }
    ids_report_metric(report, "device.window", NULL,
                      ids_int_value(IDS_UNIT_TIME, analysis->end_ps - analysis->start_ps));
    figures(report, NULL, ids_windows_total(analysis), busy_ps, working_ps, compute_ps, copy_ps);
    useful_in_windows(analysis, report);
    useful_in_steps(analysis, report);
    without_core(analysis, report);
    over_time(analysis, report);
    return 0;
}

static const struct ids_table_def *const tables[] = {&timeline};

const struct ids_analyzer ids_utilization_analyzer = {
    .name = "utilization",
    .title = "device utilization",
    .metrics = metrics,
    .metric_count = IDS_COUNT_OF(metrics),
    .tables = tables,
    .table_count = IDS_COUNT_OF(tables),
    .headlines = headlines,
    .headline_count = IDS_COUNT_OF(headlines),
    .run = utilization_run,
};
