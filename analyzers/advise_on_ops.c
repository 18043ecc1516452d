/* advise_on_ops.c - what can be won in the ops: where the device computes nearly always, where one op has most of the
 * time, and what is lost to the roofline. */
#include "analyzers/advise_on.h"
#include "analyzers/op_remedy.h"
#include "analyzers/peak_hint.h"
#include "analyzers/roofline_advice.h"
#include "lib/base/saturate.h"
#include "lib/model/python_frame.h"

#include <inttypes.h>
#include <string.h>

/* Of several devices it is the compute of the one that decides when a step ends. */
static const char *say_whose(const struct ids_adviser *adviser) {
    if (adviser->analysis->busy_count < 2) return "";
    return ids_report_text(adviser->report, " of %s", ids_adviser_device(adviser, adviser->pieces.decider));
}

static void on_op(struct ids_adviser *adviser, const struct ids_op_family *op, int64_t takes_ps, const char *what) {
    const struct ids_pieces *pieces = &adviser->pieces;
    const char *share = ids_say_share(adviser, op->time_ps, pieces->compute_ps);
    ids_adviser_give(
        adviser, &(struct ids_advice){.saves_ps = -1,
                                      .takes_ps = takes_ps,
                                      .per_step = pieces->steps > 0,
                                      .account = ids_account_id(IDS_WORK_COMPUTE),
                                      .culprit = ids_adviser_text(adviser, op->most->culprit),
                                      .where = ids_adviser_text(adviser, op->most->where),
                                      .what = what,
                                      .evidence = ids_report_text(
                                          adviser->report, "compute is %s of %s%s, %s of it %s",
                                          ids_say_share(adviser, pieces->compute_ps, pieces->time_ps),
                                          ids_adviser_whole(adviser, "the steps"), say_whose(adviser), share,
                                          op->most->is_mixed ? "these ops"
                                          : op->count > 1 ? ids_report_text(adviser->report, "these %zu ops", op->count)
                                                          : "this op"),
                                      .explain = ids_account_id(IDS_WORK_COMPUTE)});
}

static const struct ids_launcher *launcher_of(const struct ids_adviser *adviser, const struct ids_op_family *op) {
    const struct ids_trace *trace = adviser->analysis->trace;
    uint32_t number = op->most->evidence_op;
    return number ? ids_launcher_of(adviser->launchers, trace->ops[number - 1].module) : NULL;
}

/* " (launched by run_eval, train.py:12)", of several the first; "" where that is not known. */
static const char *say_launcher(const struct ids_adviser *adviser, const struct ids_launcher *launcher) {
    static const char *const does[] = {[IDS_LAUNCHES] = "launched by",
                                       [IDS_LAUNCHER_WAITS] = "waited for by",
                                       [IDS_LAUNCHER_MEANWHILE] = "the host meanwhile was in"};
    struct ids_python_call call;
    const struct ids_trace *trace = adviser->analysis->trace;
    if (!launcher || !launcher->frame || !ids_python_call_of(ids_strings_text(&trace->strings, launcher->frame), &call))
        return "";
    return ids_report_text(adviser->report, " (%s %.*s, %.*s:%" PRId64 "%s)", does[launcher->does],
                           (int)call.function.length, call.function.at, (int)call.file.length, call.file.at, call.line,
                           launcher->is_one || launcher->does ? "" : " and others");
}

/* What the op's program takes falls on a few of the steps, half of them or fewer; NULL where it does not. */
static const char *say_few_steps(const struct ids_adviser *adviser, const struct ids_op_family *op) {
    const struct ids_steps *steps = &adviser->analysis->steps;
    const struct ids_trace *trace = adviser->analysis->trace;
    const struct ids_launcher *launcher = launcher_of(adviser, op);
    if (!launcher || !launcher->steps || steps->count < IDS_LEAST_STEPS || (size_t)launcher->steps * 2 > steps->count)
        return NULL;
    const char *which = launcher->steps > 1 ? ids_report_text(adviser->report, "%" PRIu32 " of %zu steps run",
                                                              launcher->steps, steps->count)
                                            : ids_report_text(adviser->report, "step %" PRId64 " alone of %zu runs",
                                                              steps->at[launcher->first].number, steps->count);
    return ids_report_text(adviser->report, "%s its program %s%s: run it less often, or make it smaller", which,
                           ids_trace_text(trace, trace->modules[trace->ops[op->most->evidence_op - 1].module].name),
                           say_launcher(adviser, launcher));
}

static struct ids_remedy remedy_of_op(const struct ids_adviser *adviser, const struct ids_op_family *op, int moves) {
    struct ids_remedy words = ids_adviser_remedy(
        adviser, op->most,
        (struct ids_circumstances){.account = IDS_WORK_COMPUTE, .time_ps = op->time_ps, .only_moves = moves});
    const char *own =
        ids_op_remedy(ids_adviser_text(adviser, op->most->culprit), ids_adviser_text(adviser, op->most->where));
    if (own)
        words.remedy = ids_report_text(adviser->report, "%s%s", own, say_launcher(adviser, launcher_of(adviser, op)));
    return words;
}

static const char *say_op(const struct ids_adviser *adviser, const struct ids_op_family *op) {
    const char *name =
        ids_say_name(adviser, ids_adviser_text(adviser, op->most->culprit), ids_adviser_text(adviser, op->most->where));
    return op->count > 1 ? ids_report_text(adviser->report, "%s and %zu more like it", name, op->count - 1) : name;
}

/* Whether the name is one of those that a row bears, whose * stands for what differs. */
static int bears(const char *name, const char *row) {
    return name && row && !strncmp(name, row, strcspn(row, "*"));
}

static int pieces_win_little(const struct ids_adviser *adviser) {
    const struct ids_pieces *pieces = &adviser->pieces;
    return !pieces->count || pieces->at[0].time_ps <= pieces->time_ps / 10;
}

int ids_wins_little(const struct ids_adviser *adviser) {
    int64_t tenth_ps = ids_adviser_per_step(adviser, adviser->pieces.time_ps / 10);
    for (int w = 0; w < IDS_WASTE_SENTENCES; w++) {
        if (adviser->wastes[w].saving_ps > tenth_ps) return 0;
    }
    return pieces_win_little(adviser);
}

/* What only wastes has a quarter of the compute: then that is what to look at, and not which ops have most time. */
int ids_wastes_much(const struct ids_adviser *adviser) {
    for (int w = 0; w < IDS_WASTE_SENTENCES; w++) {
        const struct ids_waste_sum *sum = &adviser->wastes[w];
        if (sum->waste == IDS_WASTE_SERIAL || ids_waste_is_collective(sum->waste)) continue;
        if (sum->step_ps > 0 && sum->step_ps >= ids_adviser_compute(adviser) / 4) return 1;
    }
    return 0;
}

static int wastes_any(const struct ids_adviser *adviser) {
    for (int w = 0; w < IDS_WASTE_SENTENCES; w++) {
        if (adviser->wastes[w].step_ps > 0 && !ids_waste_is_collective(adviser->wastes[w].waste)) return 1;
    }
    return 0;
}

/* Where the device computes nearly always, that comes first: the rest is little, unless others wait for it. */
static int computes_nearly_always(const struct ids_adviser *adviser) {
    const struct ids_pieces *pieces = &adviser->pieces;
    return pieces->op.most && pieces->compute_ps >= pieces->time_ps - pieces->time_ps / 10 &&
           pieces_win_little(adviser);
}

/* Compute is half of the step or more, and more than all that could be saved of it and beside it. */
static int computes_mostly(const struct ids_adviser *adviser) {
    const struct ids_pieces *pieces = &adviser->pieces;
    int64_t compute_ps = ids_adviser_compute(adviser), others_ps = 0;
    if (!pieces->op.most) return 0;
    if (pieces->steps < IDS_LEAST_STEPS && pieces->compute_intervals < IDS_LEAST_EVENTS) return 0;
    for (size_t i = 0; i < pieces->count; i++) ids_sum(&others_ps, pieces->at[i].time_ps);
    others_ps = ids_adviser_per_step(adviser, others_ps);
    for (int w = 0; w < IDS_WASTE_SENTENCES; w++) {
        const struct ids_waste_sum *sum = &adviser->wastes[w];
        if (sum->waste == IDS_WASTE_SERIAL || ids_waste_is_collective(sum->waste)) continue;
        compute_ps -= sum->step_ps;
        ids_sum(&others_ps, sum->step_ps);
    }
    return compute_ps >= ids_adviser_per_step(adviser, pieces->time_ps / 2) && compute_ps > others_ps;
}

/* Who computes: one of several only where the others compute a quarter less, or they all do. */
static const char *say_who(const struct ids_adviser *adviser) {
    uint32_t decider = (uint32_t)adviser->pieces.decider;
    return ids_adviser_times_its_peers(adviser, decider) >= 1.25 ? ids_adviser_late(adviser, decider) : "The device";
}

/* What surely saves more than compute may comes before it: more than a tenth of the step, or than all that it is away
 * from the roofline, where that is all that can be won; where compute is not nearly all, and no remedy is known, more
 * than a twentieth. */
static int64_t wins_at_most(const struct ids_adviser *adviser, int is_loss_alone, int is_large) {
    enum { A_TENTH = 10, A_TWENTIETH = 20 };
    struct ids_value loss;
    double at_most = 1.0 / (is_large ? A_TENTH : A_TWENTIETH);
    if (is_loss_alone && ids_adviser_has(adviser, "efficiency.roofline_loss", &loss) && loss.d < at_most)
        at_most = loss.d;
    return (int64_t)(at_most * (double)ids_adviser_per_step(adviser, adviser->pieces.time_ps));
}

void ids_advise_on_compute(struct ids_adviser *adviser) {
    const struct ids_pieces *pieces = &adviser->pieces;
    int is_nearly_all = computes_nearly_always(adviser);
    if (!is_nearly_all && !computes_mostly(adviser)) return;
    const char *outlier = ids_outlier_in_words(adviser->report);
    const char *what = ids_report_text(
        adviser->report, "%s computes %s of the time: what can be won is in its ops; most time has %s%s%s",
        say_who(adviser), is_nearly_all ? "nearly all" : "most", outlier ? outlier : "",
        outlier ? "; of the ops, " : "", say_op(adviser, &pieces->op));
    int moves = pieces->op.most == pieces->mover.most;
    int has_remedy = moves || ids_op_remedy(ids_adviser_text(adviser, pieces->op.most->culprit),
                                            ids_adviser_text(adviser, pieces->op.most->where));
    if (has_remedy)
        what = ids_report_text(adviser->report, "%s%s - %s", what, moves ? ", which only moves data" : "",
                               remedy_of_op(adviser, &pieces->op, moves).remedy);
    const char *few = say_few_steps(adviser, &pieces->op), *layers = ids_layers_in_words(adviser->report);
    if (few) what = ids_report_text(adviser->report, "%s; %s", what, few);
    struct ids_value unused;
    if (layers) what = ids_report_text(adviser->report, "%s. By layer: %s", what, layers);
    if (layers && !ids_adviser_has(adviser, "efficiency.flops_share", &unused) &&
        ids_adviser_ratio(adviser, "efficiency.judged_share") <= 0)
        what = ids_report_text(adviser->report, "%s. %s", what, ids_peak_hint(adviser));
    struct ids_roofline_advice loss = ids_loss_advice(adviser->report);
    adviser->told_loss = loss.what && bears(ids_adviser_text(adviser, pieces->op.most->culprit), loss.op);
    if (adviser->told_loss) what = ids_report_text(adviser->report, "%s. %s", what, loss.what);
    struct ids_kernel_advice matrix = ids_matrix_advice_of(adviser);
    adviser->told_matrix = !has_remedy && matrix.what;
    if (adviser->told_matrix) what = ids_report_text(adviser->report, "%s. %s%s", what, matrix.what, matrix.gain);
    int has_words = has_remedy || few || adviser->told_matrix || wastes_any(adviser);
    int is_unknown = !has_words && !loss.what;
    if (is_unknown)
        what = ids_report_text(adviser->report, "%s. No remedy is known: --explain %s lists its ops", what,
                               ids_account_id(IDS_WORK_COMPUTE));
    int64_t wins_ps = wins_at_most(adviser, !has_words && loss.what, is_nearly_all || !is_unknown);
    on_op(adviser, &pieces->op, wins_ps, what);
    adviser->told_little = wins_ps < ids_adviser_per_step(adviser, pieces->time_ps / 10);
    adviser->told_compute = 1;
    adviser->told_no_remedy = is_unknown;
}

/* What no account tells of busy time: how far it is from what the device can do. */
void ids_advise_on_loss(struct ids_adviser *adviser) {
    struct ids_roofline_advice advice = ids_loss_advice(adviser->report);
    if (advice.what && !adviser->told_loss)
        ids_adviser_remark(adviser, "efficiency.roofline_loss", advice.what, advice.evidence);
}

/* How long a step takes for an op that only moves data; nothing where it is told already what that would save. */
static int64_t moved_by(const struct ids_adviser *adviser, const struct ids_op_family *op) {
    const char *culprit = ids_adviser_text(adviser, op->most->culprit);
    for (size_t i = 0; i < adviser->report->advice_count; i++) {
        const struct ids_advice *said = &adviser->report->advice[i];
        if (said->saves_ps > 0 && said->culprit && culprit && !strcmp(said->culprit, culprit)) return 0;
    }
    return ids_adviser_per_step(adviser, op->time_ps);
}

/* An op is worth a word where it is a good part of the step, not of what little the device does. */
void ids_advise_on_one_op(struct ids_adviser *adviser) {
    const struct ids_pieces *pieces = &adviser->pieces;
    const struct ids_op_family *op = NULL;
    int told = adviser->told_compute, is_same = pieces->mover.most == pieces->op.most;
    int moves = pieces->mover.most && pieces->mover.time_ps >= pieces->time_ps / 10;
    if (moves)
        op = told && is_same ? NULL : &pieces->mover;
    else if (pieces->op.most && !is_same && pieces->op.time_ps > pieces->compute_ps / 2 &&
             pieces->op.time_ps >= pieces->time_ps / 4)
        op = told ? NULL : &pieces->op;
    if (!op || adviser->said >= IDS_MOST_PIECES) return;
    struct ids_remedy words = remedy_of_op(adviser, op, moves);
    on_op(adviser, op, moves ? moved_by(adviser, op) : 0,
          ids_report_text(adviser->report, "%s: %s - %s", words.problem, say_op(adviser, op), words.remedy));
}
