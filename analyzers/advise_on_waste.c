/* advise_on_waste.c - what only wastes, in the words of waste_advice.h: what the program proves, and what may be
 * saved. */
#include "analyzers/advise_on.h"
#include "lib/base/counted.h"

#include <string.h>

static struct ids_piece *transfers_of(const struct ids_adviser *adviser) {
    for (size_t i = 0; i < adviser->pieces.count; i++) {
        if (adviser->pieces.at[i].account == IDS_COMM_TRANSFER) return &adviser->pieces.at[i];
    }
    return NULL;
}

/* What the device that decides the step wins without what the program proves to be wasted: a part of its compute of
 * which no other piece is, or of the collectives that nothing hides. -1: nothing is proved. */
static int64_t saved_by(const struct ids_adviser *adviser, const struct ids_waste_sum *sum) {
    const struct ids_piece *transfers = transfers_of(adviser);
    if (sum->saving_ps <= 0) return -1;
    int64_t room_ps = ids_waste_is_collective(sum->waste)
                          ? ids_adviser_per_step(adviser, transfers && transfers->time_ps > 0 ? transfers->time_ps : 0)
                          : ids_adviser_compute(adviser);
    if (!room_ps) return -1;
    return sum->saving_ps < room_ps ? sum->saving_ps : room_ps;
}

/* How long a step takes for it, of the part that it is in: an order for what is not proved. */
static int64_t taken_by(const struct ids_adviser *adviser, const struct ids_waste_sum *sum) {
    int64_t step_ps = ids_adviser_per_step(adviser, adviser->pieces.time_ps);
    int is_compute = sum->waste != IDS_WASTE_SERIAL && !ids_waste_is_collective(sum->waste);
    int64_t room_ps = is_compute ? ids_adviser_compute(adviser) : step_ps;
    return sum->step_ps < room_ps ? sum->step_ps : room_ps;
}

static void advise_on_waste(struct ids_adviser *adviser, struct ids_waste_sum *sum) {
    const struct ids_pieces *pieces = &adviser->pieces;
    struct ids_report *report = adviser->report;
    struct ids_remedy words = ids_waste_remedy(sum->waste, sum->why, adviser->framework,
                                               adviser->analysis->busy[adviser->pieces.decider].device->kind);
    const char *more = sum->rows > 1 ? ids_report_text(report, " and %s more", IDS_COUNTED(sum->rows - 1, "op")) : "";
    int collective = ids_waste_is_collective(sum->waste);
    /* Of what is to be changed here, the op says nothing: `why` names it. */
    const char *cause = sum->waste == IDS_WASTE_WIDE && sum->why ? ids_report_text(report, ", %s", sum->why) : "";
    if (!words.problem) return;
    ids_adviser_give(
        adviser,
        &(struct ids_advice){.saves_ps = saved_by(adviser, sum),
                             .takes_ps = taken_by(adviser, sum),
                             .per_step = pieces->steps > 0,
                             .account = ids_account_id(collective ? IDS_COMM_TRANSFER : IDS_WORK_COMPUTE),
                             .culprit = sum->op,
                             .where = sum->where,
                             .what = ids_report_text(report, "%s%s: %s%s - %s", words.problem, cause,
                                                     ids_say_name(adviser, sum->op, sum->where), more, words.remedy),
                             .evidence = ids_report_text(
                                 report, "%s%s on a device, %s of device time, %s%s%s",
                                 ids_say_time(adviser, sum->step_ps), pieces->steps ? " a step" : "",
                                 ids_say_value(adviser, ids_real_value(IDS_UNIT_RATIO, sum->share)),
                                 IDS_COUNTED(sum->count, "execution"), sum->why ? "; " : "", sum->why ? sum->why : ""),
                             .explain = sum->waste == IDS_WASTE_LAYOUT ? "layout.share" : "waste.share"});
    sum->count = 0; /* said */
}

static int is_worth_saying(const struct ids_adviser *adviser, const struct ids_waste_sum *sum) {
    int64_t steps = adviser->pieces.steps;
    int is_founded = sum->count >= IDS_LEAST_EVENTS || (steps >= IDS_LEAST_STEPS && sum->count >= steps);
    return is_founded && sum->step_ps > 0 &&
           sum->step_ps >= ids_adviser_per_step(adviser, adviser->pieces.time_ps / IDS_WORTH);
}

/* Of the piece about collectives, what is said of one of them with its reason is no part any more; nor is the whole
 * piece where that one has most of it. */
static void take_off(struct ids_piece *transfers, const char *culprit, const char *op, int64_t saves_ps) {
    int is_same = culprit && op && !strcmp(culprit, op);
    if (is_same && transfers->most_ps >= transfers->time_ps / 2) saves_ps = transfers->time_ps;
    transfers->time_ps = transfers->time_ps > saves_ps ? transfers->time_ps - saves_ps : 0;
}

/* What the program itself proves stands before what only may be saved. */
void ids_advise_on_proven(struct ids_adviser *adviser) {
    for (int w = 0; w < IDS_WASTE_SENTENCES; w++) {
        struct ids_waste_sum *sum = &adviser->wastes[w];
        int64_t saves_ps = saved_by(adviser, sum), steps = adviser->pieces.steps ? adviser->pieces.steps : 1;
        struct ids_piece *transfers = ids_waste_is_collective(sum->waste) ? transfers_of(adviser) : NULL;
        if (saves_ps <= 0 || !is_worth_saying(adviser, sum)) continue;
        advise_on_waste(adviser, sum);
        if (transfers)
            take_off(transfers, ids_adviser_text(adviser, transfers->most->culprit), sum->op, saves_ps * steps);
    }
}

/* A wait is told by its account, and what only moves by the op that has most of it. */
static int is_told(const struct ids_adviser *adviser, enum ids_waste waste) {
    static const enum ids_account waits[] = {IDS_STALL_DEVICE, IDS_COPY_H2D,      IDS_COPY_D2H,
                                             IDS_COPY_D2D,     IDS_COMM_TRANSFER, IDS_COMM_WAIT};
    const struct ids_pieces *pieces = &adviser->pieces;
    if (waste == IDS_WASTE_LAYOUT && ids_adviser_has_said(adviser, IDS_COPY_D2D)) return 1;
    if (waste == IDS_WASTE_LAYOUT) return pieces->mover.most && pieces->mover.time_ps >= pieces->time_ps / 10;
    for (size_t i = 0; i < sizeof waits / sizeof *waits && waste == IDS_WASTE_SERIAL; i++) {
        if (ids_adviser_has_said(adviser, waits[i])) return 1;
    }
    return 0;
}

/* The two sentences with most of it. */
void ids_advise_on_waste(struct ids_adviser *adviser) {
    enum { MOST_KINDS = 2 };
    for (int kinds = 0; kinds < MOST_KINDS; kinds++) {
        struct ids_waste_sum *most = NULL;
        for (int w = 0; w < IDS_WASTE_SENTENCES; w++) {
            struct ids_waste_sum *sum = &adviser->wastes[w];
            if (!is_worth_saying(adviser, sum) || is_told(adviser, sum->waste)) continue;
            if (!most || sum->step_ps > most->step_ps) most = sum;
        }
        if (!most) return;
        advise_on_waste(adviser, most);
        most->count = 0;
    }
}
