#include "analyzers/no_device.h"

#include "analyzers/framework.h"

#include "lib/analysis/idle_names.h"
#include "lib/base/counted.h"
#include "lib/base/keymap.h"
#include "lib/base/saturate.h"
#include "lib/model/counters.h"
#include "lib/model/doings.h"

#include <inttypes.h>
#include <stdlib.h>

/* Of all threads the one that was longest in functions of the program, and of these the one with most of the time.
 * A thread that waits for others is named where none does anything else. */
struct most {
    uint32_t doing; /* the function's, with most of its time; IDS_NO_DOING: there is none */
    int64_t function_ps, thread_ps;
    int waits;
};

static int64_t end_of(const struct ids_track *track, size_t i) {
    const struct ids_timeline *timeline = &track->timeline;
    return i + 1 < timeline->count ? timeline->from_ps[i + 1] : track->last_ps;
}

/* The time of each function of the program, or of each doing of the function `only`, by key. */
static int sum(const struct ids_trace *trace, const struct ids_track *track, uint32_t only, struct ids_keymap *times,
               int64_t *ret_all_ps) {
    *ret_all_ps = 0;
    for (size_t i = 0; i < track->timeline.count; i++) {
        uint32_t number = track->timeline.doing[i];
        const struct ids_doing *doing = &trace->doings[number];
        int64_t time_ps = end_of(track, i) - track->timeline.from_ps[i];
        if (doing->caller == IDS_NONE || time_ps <= 0 || (only != IDS_NONE && doing->caller != only)) continue;
        if (doing->account == IDS_NO_ACCOUNT || doing->account == IDS_PROFILER) continue;
        uint64_t *place = ids_keymap_at(times, (uint64_t)(only == IDS_NONE ? doing->caller : number) + 1);
        if (!place) return -1;
        *place += (uint64_t)time_ps;
        ids_sum(ret_all_ps, time_ps);
    }
    return 0;
}

/* The number with most of the time, and that time. */
static uint32_t largest(const struct ids_keymap *times, size_t numbers, int64_t *ret_time_ps) {
    uint32_t best = IDS_NONE;
    *ret_time_ps = 0;
    for (size_t n = 0; n < numbers; n++) {
        uint64_t time_ps;
        if (!ids_keymap_get(times, (uint64_t)n + 1, &time_ps) || (int64_t)time_ps <= *ret_time_ps) continue;
        *ret_time_ps = (int64_t)time_ps;
        best = (uint32_t)n;
    }
    return best;
}

static int look_at_thread(const struct ids_trace *trace, const struct ids_track *track, struct most *most) {
    struct ids_keymap functions = {0}, doings = {0};
    struct most own = {IDS_NO_DOING, 0, 0, 0};
    int64_t all_ps, doing_ps;
    int failed = sum(trace, track, IDS_NONE, &functions, &own.thread_ps);
    uint32_t function = failed ? IDS_NONE : largest(&functions, trace->name_count, &own.function_ps);
    if (function != IDS_NONE) {
        failed = sum(trace, track, function, &doings, &all_ps);
        uint32_t doing = failed ? IDS_NONE : largest(&doings, trace->doing_count, &doing_ps);
        if (doing != IDS_NONE) {
            own.doing = doing;
            own.waits = trace->doings[doing].waits != IDS_WAITS_NOT && trace->doings[doing].waits != IDS_WAITS_OUTSIDE;
        }
    }
    ids_keymap_done(&functions);
    ids_keymap_done(&doings);
    int is_better = own.waits != most->waits ? !own.waits : own.thread_ps > most->thread_ps;
    if (!failed && own.doing != IDS_NO_DOING && (most->doing == IDS_NO_DOING || is_better)) *most = own;
    return failed ? -1 : 0;
}

/* At level 0 of the host's tracer nothing is recorded of XLA's CPU client: it may have worked all of the time. And a
 * device that was given work did it, whether the file has that or not. */
static const char *say_no_device(const struct ids_trace *trace, uint64_t launches, struct ids_report *report) {
    if (trace->tracer_host == 0) return "With --host-tracer 0 nothing is recorded of what a CPU device does";
    if (!launches && ids_has_torch_ops(trace))
        return "The recording has no events of a device: where the program uses one, add it to the profiler's "
               "activities "
               "(ProfilerActivity.CUDA, XPU)";
    if (!launches) return "No device did anything while the window was open";
    return ids_report_text(report,
                           "The device's events are missing: the host recorded %s that gave it work, and the file has "
                           "nothing of what it did. Let nothing else profile the device meanwhile (another profiler, a "
                           "debugger), see whether the system allows it (idsprof doctor), and record again",
                           IDS_COUNTED(launches, "call"));
}

static void advise(const struct ids_trace *trace, struct ids_idle_names *names, const struct most *most,
                   uint64_t launches, struct ids_report *report) {
    struct ids_text culprit, where, recorded;
    enum ids_account account = (enum ids_account)trace->doings[most->doing].account;
    ids_idle_name(names, account, ids_name_of_doing(most->doing, IDS_AS_IT_IS), &culprit, &where, &recorded);
    char in[IDS_VALUE_ROOM], of[IDS_VALUE_ROOM];
    ids_value_format(ids_int_value(IDS_UNIT_TIME, most->function_ps), in, sizeof in);
    ids_value_format(ids_int_value(IDS_UNIT_TIME, most->thread_ps), of, sizeof of);
    const char *who = ids_report_text(report, "%.*s", (int)culprit.length, culprit.at),
               *place = ids_report_text(report, "%.*s", (int)where.length, where.at);
    const struct ids_advice advice = {
        .saves_ps = -1,
        .account = ids_account_id(account),
        .culprit = who,
        .where = place,
        .what =
            ids_report_text(report, "%s%s the program %s %s%s%s%s", say_no_device(trace, launches, report),
                            trace->tracer_host && launches ? "; meanwhile" : ":", most->waits ? "waited in" : "was in",
                            who, *place ? " (" : "", place, *place ? ")" : ""),
        .evidence = ids_report_text(report, "%s of the %s for which its thread was seen", in, of),
        .explain = "device.utilization",
    };
    ids_report_advice(report, &advice);
}

/* What the host's threads did most by themselves, all together: *ret_most is a name, IDS_NONE: nothing. */
static int most_of_host(const struct ids_trace *trace, struct ids_aggregate *ret_most) {
    struct ids_keymap places = {0}; /* name + 1 -> index of the first sum of that name, plus 1 */
    struct ids_aggregate *sums = calloc(trace->aggregate_count + 1, sizeof *sums);
    int failed = !sums;
    size_t count = 0;
    *ret_most = (struct ids_aggregate){.name = IDS_NONE};
    for (size_t i = 0; i < trace->aggregate_count && !failed; i++) {
        const struct ids_aggregate *sum = &trace->aggregates[i];
        if (trace->tracks[sum->track].role != IDS_TRACK_HOST || trace->names[sum->name].kind == IDS_KIND_STEP_MARK)
            continue;
        uint64_t *place = ids_keymap_at(&places, (uint64_t)sum->name + 1);
        failed = !place;
        if (failed) break;
        if (!*place) {
            sums[count].name = sum->name;
            *place = ++count;
        }
        struct ids_aggregate *all = &sums[*place - 1];
        ids_sum(&all->self_ps, sum->self_ps);
        all->count += sum->count;
        if (all->self_ps > ret_most->self_ps) *ret_most = *all;
    }
    ids_keymap_done(&places);
    free(sums);
    return failed ? -1 : 0;
}

static int advise_on_ops(const struct ids_trace *trace, struct ids_report *report) {
    struct ids_aggregate most;
    char in[IDS_VALUE_ROOM];
    if (most_of_host(trace, &most)) return -1;
    if (most.name == IDS_NONE) return 0;
    ids_value_format(ids_int_value(IDS_UNIT_TIME, most.self_ps), in, sizeof in);
    const char *name = ids_trace_text(trace, trace->names[most.name].text);
    ids_report_advice(report, &(struct ids_advice){.saves_ps = -1,
                                                   .culprit = name,
                                                   .what = ids_report_text(report,
                                                                           "%s. Of what the host did, most time "
                                                                           "has %s",
                                                                           say_no_device(trace, 0, report), name),
                                                   .evidence = ids_report_text(report, "%s of its own, in %s", in,
                                                                               IDS_COUNTED(most.count, "call")),
                                                   .explain = "device.utilization"});
    return 0;
}

/* Nobody is seen in the program's own functions: what is missing is told all the same. */
static void advise_on_missing(const struct ids_trace *trace, uint64_t launches, struct ids_report *report) {
    if (!launches) return;
    ids_report_advice(report, &(struct ids_advice){.saves_ps = -1,
                                                   .what = say_no_device(trace, launches, report),
                                                   .evidence = ids_report_text(report, "%s, and no event of a device",
                                                                               IDS_COUNTED(launches, "call")),
                                                   .explain = "device.utilization"});
}

/* Kernels run one by one under a profiler of counters, and several times: nothing of the host's time is the program's
 * either. */
static void advise_on_ranges(const struct ids_trace *trace, struct ids_report *report) {
    uint64_t ranges = 0;
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        if (ids_is_range_line(ids_strings_text(&trace->strings, track->name))) ranges += track->event_count;
    }
    ids_report_advice(
        report,
        &(struct ids_advice){.saves_ps = -1,
                             .what = "A profiler of counters made this recording: it holds what each kernel counted, "
                                     "and not how long it took. For times record again without counters "
                                     "(profiler_metrics of PyTorch's _ExperimentalConfig)",
                             .evidence = ids_report_text(report,
                                                         "%s of kernels with counters, which the writer gives "
                                                         "equal parts of the window",
                                                         IDS_COUNTED(ranges, "range")),
                             .explain = "counters_by_kernel"});
}

int ids_no_device_advise(const struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    struct most most = {IDS_NO_DOING, 0, 0, 0};
    if (ids_has_ranges(trace)) {
        advise_on_ranges(trace, report);
        return 0;
    }
    const uint64_t launches = ids_calls_for_devices(trace);
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        if (track->role != IDS_TRACK_HOST || !track->timeline.count) continue;
        if (look_at_thread(trace, track, &most)) return ids_no_memory(err);
    }
    if (most.doing == IDS_NO_DOING && !launches && ids_has_torch_ops(trace))
        return advise_on_ops(trace, report) ? ids_no_memory(err) : 0;
    if (most.doing == IDS_NO_DOING) {
        advise_on_missing(trace, launches, report);
        return 0;
    }
    struct ids_idle_names names;
    int failed = ids_idle_names_init(&names, trace);
    if (!failed) advise(trace, &names, &most, launches, report);
    ids_idle_names_done(&names);
    return failed ? ids_no_memory(err) : 0;
}
