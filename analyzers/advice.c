/* advice.c - what to do, in order: rules of advise_on.h, what saves most first. It runs last. */
#include "analyzers/advise_on.h"
#include "analyzers/launchers.h"
#include "analyzers/no_device.h"
#include "lib/analysis/graph_work.h"
#include "lib/analysis/unrecorded_work.h"
#include "lib/base/counted.h"

#include <inttypes.h>
#include <string.h>

/* What a step would save; where nobody knows, the time that it takes, which is the most that it could save. */
static int64_t saves_at_most(const struct ids_advice *advice) {
    return advice->saves_ps >= 0 ? advice->saves_ps : advice->takes_ps;
}

/* What saves most first, without changing the order of what saves as much or says nothing of it; what comes before
 * `from` stays there. A person does the first few. */
static void put_in_order(struct ids_report *report, size_t from) {
    struct ids_advice *all = report->advice;
    for (size_t i = from + 1; i < report->advice_count; i++) {
        struct ids_advice moved = all[i];
        size_t to = i;
        for (; to > from && saves_at_most(&all[to - 1]) < saves_at_most(&moved); to--) all[to] = all[to - 1];
        all[to] = moved;
    }
    if (report->advice_count > IDS_MOST_PIECES) report->advice_count = IDS_MOST_PIECES;
}

/* What may be chance by more than half stands behind what surely saves more, where that is a good part of most steps: a
 * quarter of the median one. */
static int is_chance_before(const struct ids_advice *before, const struct ids_advice *steady, int64_t median_ps) {
    int is_chance = before->saves_ps > 0 && before->chance_ps > before->saves_ps / 2;
    int64_t steady_ps = saves_at_most(steady);
    int is_surely_more = steady_ps - steady->chance_ps > before->saves_ps - before->chance_ps;
    return is_chance && is_surely_more && steady_ps >= median_ps / 4;
}

static void put_chance_behind(const struct ids_adviser *adviser, size_t from) {
    struct ids_value median;
    struct ids_report *report = adviser->report;
    struct ids_advice *all = report->advice;
    if (!ids_adviser_has(adviser, "steps.median", &median)) return;
    for (size_t i = from + 1; i < report->advice_count; i++) {
        struct ids_advice moved = all[i];
        size_t to = i;
        for (; to > from && is_chance_before(&all[to - 1], &moved, median.i); to--) all[to] = all[to - 1];
        all[to] = moved;
    }
}

/* What the program can change, whatever the machine and its other programs do: nobody knows it of what was not
 * recorded. A launch is not worth a word where the device hardly waits for it. */
static int64_t surely_saves(const struct ids_advice *advice) {
    if (advice->saves_ps <= 0 || !advice->account || ids_waits_for_core(advice->culprit)) return 0;
    if (!strcmp(advice->account, ids_account_id(IDS_HOST_DISPATCH))) return 0;
    if (!strcmp(advice->account, ids_account_id(IDS_HOST_UNKNOWN))) return 0;
    return strncmp(advice->account, "host.", 5) ? 0 : advice->saves_ps - advice->chance_ps;
}

/* That the device computes for most of the time comes first, but where nobody knows what to do about it, it hides what
 * can be mended. That goes before it: one piece, so that the others, which are less than the compute, stay behind. */
static void put_mendable_first(const struct ids_adviser *adviser, size_t from) {
    enum { WORTH_BEING_FIRST = 25 };
    struct ids_advice *all = adviser->report->advice;
    size_t best = from;
    int64_t most_ps = ids_adviser_per_step(adviser, adviser->pieces.time_ps) / WORTH_BEING_FIRST;
    if (!adviser->told_no_remedy || from >= adviser->report->advice_count) return;
    if (!all[from].account || strcmp(all[from].account, ids_account_id(IDS_WORK_COMPUTE)) != 0) return;
    for (size_t i = from + 1; i < adviser->report->advice_count; i++) {
        if (surely_saves(&all[i]) >= most_ps && (best == from || surely_saves(&all[i]) > surely_saves(&all[best])))
            best = i;
    }
    ids_adviser_move(adviser, best, from);
}

/* One gap outside the steps that is longer than all else in the window: what is said of a step is the lesser part. */
static void put_gap_first(const struct ids_adviser *adviser, size_t from) {
    const struct ids_busy *busy = &adviser->analysis->busy[adviser->pieces.decider];
    struct ids_value gap;
    if (!ids_adviser_has(adviser, "idle.longest", &gap) || gap.i < (busy->end_ps - busy->start_ps) / 2) return;
    size_t told = ids_adviser_place_of(adviser, "idle.longest", from);
    if (told < adviser->report->advice_count) ids_adviser_move(adviser, told, from);
}

/* Where pieces rest on too little: what wastes looks for itself whether it rests on enough, and which op has most of
 * the compute is known where there are steps. */
static void advise_on_little(struct ids_adviser *adviser, const struct ids_piece *unfounded, size_t first) {
    if (adviser->pieces.steps >= IDS_LEAST_STEPS) ids_advise_on_one_op(adviser);
    ids_advise_on_waste(adviser);
    int is_enough = adviser->said > 0;
    ids_advise_on_programs_memory(adviser, 0);
    if (is_enough)
        put_in_order(adviser->report, first);
    else
        ids_say_too_little(adviser, unfounded);
}

/* The device may have worked all of that time. */
static void advise_on_graph_work(struct ids_adviser *adviser) {
    if (!ids_are_graphs_unrecorded(adviser->report)) return;
    const struct ids_graph_launches launches = ids_graph_launches_of(adviser->analysis->trace);
    ids_adviser_remark(
        adviser, "device.unknown",
        "What graphs do is not in this trace - record a run without graphs, or with a profiler that has their kernels, "
        "before looking for idle time",
        ids_report_text(adviser->report, "%" PRIu64 " of %s that launch graphs have no kernels; they may run for %s",
                        launches.without_work, IDS_COUNTED(launches.all, "call"),
                        ids_say_time(adviser, ids_unrecorded_ps(adviser->analysis, IDS_UNRECORDED_GRAPHS))));
}

/* What programs keep without need is proved by their graphs, and needs no steps: it comes first where it may take a
 * tenth of the time, or memory is short, and no more than a tenth could be won otherwise. */
static void advise_on_all(struct ids_adviser *adviser) {
    if (ids_adviser_events(adviser->analysis->trace) < IDS_LEAST_EVENTS) {
        ids_advise_on_programs_memory(adviser, 0);
        ids_say_too_little(adviser, NULL);
        return;
    }
    advise_on_graph_work(adviser);
    ids_advise_on_memory(adviser, 0);
    int memory_first = ids_wins_little(adviser);
    if (memory_first) ids_advise_on_programs_memory(adviser, 1);
    ids_advise_on_cores(adviser, 1);
    size_t first = adviser->said, compute = first;
    ids_advise_on_compute(adviser);
    /* Else what is proved, or what is much of the compute, comes first, by what it saves. */
    if (memory_first && !ids_wastes_much(adviser) && !adviser->told_little) first = adviser->said;
    ids_advise_on_proven(adviser);
    ids_advise_on_padding(adviser);
    const struct ids_piece *unfounded = ids_advise_on_pieces(adviser);
    if (unfounded && !adviser->said) {
        advise_on_little(adviser, unfounded, first);
        return;
    }
    ids_advise_on_evaluation(adviser);
    ids_advise_on_buffers(adviser);
    ids_advise_on_warm_up(adviser);
    ids_advise_on_programs_memory(adviser, 0);
    ids_advise_on_time_outside(adviser);
    ids_advise_on_start(adviser);
    ids_advise_on_loss(adviser);
    ids_advise_on_one_op(adviser);
    ids_advise_on_waste(adviser);
    if (!ids_report_find_property(adviser->report, "graph_recording") && !ids_are_graphs_unrecorded(adviser->report))
        ids_advise_on_small_kernels(adviser);
    ids_advise_on_kernels(adviser);
    ids_advise_on_clock(adviser);
    ids_advise_on_host_ops(adviser);
    ids_advise_on_cores(adviser, 0);
    ids_advise_on_memory(adviser, 1);
    put_in_order(adviser->report, first);
    put_chance_behind(adviser, first);
    put_mendable_first(adviser, compute);
    ids_advise_on_cores_before_waits(adviser, compute);
    put_gap_first(adviser, compute);
}

/* What ran is known where it is in the file; why nothing did is not. */
static void advise_on_excerpt(struct ids_adviser *adviser) {
    ids_adviser_remark(adviser, "run.events",
                       "This trace holds a part of what ran - take the trace as the profiler wrote it",
                       ids_report_text(adviser->report, "%s; what is idle, counts and shares are those of the part",
                                       ids_excerpt_text(&adviser->pieces.excerpt, adviser->report)));
    size_t first = adviser->said;
    ids_advise_on_compute(adviser);
    ids_advise_on_proven(adviser);
    ids_advise_on_pieces(adviser);
    ids_advise_on_loss(adviser);
    ids_advise_on_one_op(adviser);
    ids_advise_on_waste(adviser);
    ids_advise_on_kernels(adviser);
    ids_advise_on_clock(adviser);
    put_in_order(adviser->report, first);
}

static int advice_run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    struct ids_adviser adviser = {.analysis = analysis,
                                  .report = report,
                                  .launchers = analysis->sums,
                                  .framework = ids_framework_of(analysis->trace),
                                  .is_compiled = ids_is_torch_compiled(analysis->trace),
                                  .has_ops = ids_has_torch_ops(analysis->trace),
                                  .trains = ids_trains(analysis->trace),
                                  .launches_graphs = ids_launches_graphs(analysis->trace),
                                  .has_python = ids_report_find_property(report, "python_recorded") != NULL};
    if (!analysis->busy_count) return ids_no_device_advise(analysis, report, err);
    int code = ids_balance_make(analysis, &adviser.balance, err);
    if (!code) code = ids_pieces_make(analysis, &adviser.pieces, err);
    ids_waste_sums(report, adviser.wastes);
    if (!code && adviser.pieces.excerpt.of) {
        advise_on_excerpt(&adviser);
    } else if (!code) {
        advise_on_all(&adviser);
        ids_advise_on_opening(&adviser);
    }
    ids_pieces_done(&adviser.pieces);
    ids_balance_done(&adviser.balance);
    return code;
}

const struct ids_analyzer ids_advice_analyzer = {
    .name = "advice",
    .title = "what to do",
    .gathering = {.size = sizeof(struct ids_launchers), .device = ids_launchers_gather, .done = ids_launchers_done},
    .run = advice_run,
};
