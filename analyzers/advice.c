/* advice.c - what to do: one piece for each account and culprit of the ledger, ranked by what a step would win
 * (pieces.h), in words that are true of it (remedies.h), and what no account tells (warm-up, small kernels, occupancy).
 * It runs last.
 */
#include "analyzers/kernel_advice.h"
#include "analyzers/memory_advice.h"
#include "analyzers/no_device.h"
#include "analyzers/pieces.h"
#include "analyzers/remedies.h"
#include "analyzers/roofline_advice.h"
#include "analyzers/waste_advice.h"
#include "lib/analysis/balance.h"
#include "lib/base/counted.h"
#include "lib/base/saturate.h"
#include "lib/model/programs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A person does the first few; what is below a fiftieth of a step is not worth the change, unless there is nothing
 * else. */
enum { MOST_PIECES = 5, WORTH = 50, WORTH_ALONE = 100 };
/* What advice must rest on: see is_founded. */
enum { LEAST_EVENTS = 20, LEAST_STEPS = 3, LEAST_INTERVALS = 20 };

struct adviser {
    const struct ids_analysis *analysis;
    struct ids_report *report;
    struct ids_pieces pieces;
    struct ids_balance balance;
    enum ids_framework framework;
    int has_python;
    int told_loss; /* 1: what could be won at the roofline is said of the first op already */
    size_t said;
    struct ids_waste_sum wastes[IDS_WASTE_COUNT];
};

static const char *say(const struct adviser *adviser, struct ids_value value) {
    char text[IDS_VALUE_ROOM];
    return ids_report_text(adviser->report, "%s", ids_value_format(value, text, sizeof text));
}

static const char *say_time(const struct adviser *adviser, int64_t time_ps) {
    return say(adviser, ids_int_value(IDS_UNIT_TIME, time_ps));
}

static const char *say_share(const struct adviser *adviser, int64_t part_ps, int64_t whole_ps) {
    return say(adviser, ids_real_value(IDS_UNIT_RATIO, whole_ps ? (double)part_ps / (double)whole_ps : 0));
}

static int has(const struct adviser *adviser, const char *id, struct ids_value *ret_value) {
    const struct ids_metric *metric = ids_report_find(adviser->report, id, NULL);
    if (!metric || metric->value.missing) return 0;
    *ret_value = metric->value;
    return 1;
}

static double ratio_of(const struct adviser *adviser, const char *id) {
    struct ids_value value;
    return has(adviser, id, &value) ? value.d : 0;
}

static const char *say_metric(const struct adviser *adviser, const char *id) {
    struct ids_value value;
    return has(adviser, id, &value) ? say(adviser, value) : "no data";
}

static int64_t per_step(const struct adviser *adviser, int64_t time_ps) {
    return time_ps / (adviser->pieces.steps ? adviser->pieces.steps : 1);
}

static const char *text_of(const struct adviser *adviser, uint32_t text) {
    return text ? ids_strings_z(&adviser->analysis->ledger.texts, text) : NULL;
}

static const char *say_name(const struct adviser *adviser, const char *name, const char *where) {
    if (!name) return "";
    return ids_report_text(adviser->report, "%s%s%s%s", name, where ? " (" : "", where ? where : "", where ? ")" : "");
}

/* --- in which steps --------------------------------------------------------------------------------------------- */

static int64_t number_of(const struct adviser *adviser, uint32_t step) {
    return adviser->analysis->steps.at[step].number;
}

/* "; in every 5th step", "; in 1 of 30 steps (step 0)", "; uneven: most in step 30"; nothing where most steps have
 * it alike. */
static const char *say_recurrence(const struct adviser *adviser, const struct ids_recurrence *recurs) {
    size_t steps = adviser->analysis->steps.count;
    if (!recurs->steps || steps < 2) return "";
    if (!ids_recurs_in_few(recurs, steps)) {
        if (steps < 5 || !ids_recurs_unevenly(recurs, steps)) return "";
        return ids_report_text(adviser->report, "; uneven: most in step %" PRId64, number_of(adviser, recurs->most));
    }
    if (recurs->period)
        return ids_report_text(adviser->report, "; in every %" PRIu32 "%s step", recurs->period,
                               recurs->period == 2   ? "nd"
                               : recurs->period == 3 ? "rd"
                                                     : "th");
    const char *count = ids_report_text(adviser->report, "; in %" PRIu32 " of %zu steps", recurs->steps, steps);
    if (recurs->steps == 1)
        return ids_report_text(adviser->report, "%s (step %" PRId64 ")", count, number_of(adviser, recurs->first));
    if (recurs->steps == 2)
        return ids_report_text(adviser->report, "%s (%" PRId64 " and %" PRId64 ")", count,
                               number_of(adviser, recurs->first), number_of(adviser, recurs->last));
    return ids_report_text(adviser->report, "%s (most in step %" PRId64 ")", count, number_of(adviser, recurs->most));
}

/* What a program does once when it begins: the recording has that beginning, and no later step has any of it. */
static int is_warm_up(const struct adviser *adviser, const struct ids_piece *piece) {
    const struct ids_steps *steps = &adviser->analysis->steps;
    if (piece->account != IDS_HOST_COMPILE && piece->account != IDS_HOST_RUNTIME) return 0;
    if (!steps->count || (!steps->unnumbered && steps->at[0].number > 1)) return 0;
    return ids_recurs_at_first_only(&piece->recurs, steps->count);
}

/* --- pieces of the ledger --------------------------------------------------------------------------------------- */

static const char *name_of(const struct adviser *adviser, size_t busy) {
    struct ids_arena names = {0};
    const char *name = ids_rank_name(adviser->analysis->trace, adviser->analysis->busy[busy].device, &names);
    const char *kept = ids_report_text(adviser->report, "%s", name ? name : "");
    ids_arena_done(&names);
    return kept;
}

/* Whether it is not one device's doing: no device has three quarters of it. */
static int is_of_many(const struct adviser *adviser, const struct ids_piece *piece) {
    const struct ids_ledger *ledger = &adviser->analysis->ledger;
    if (piece->account == IDS_COMM_WAIT) return adviser->balance.steps && !ids_balance_is_steady(&adviser->balance);
    int64_t most_ps = 0, all_ps = 0;
    for (size_t s = 0; s < ledger->share_count; s++) {
        if (&ledger->entries[ledger->shares[s].entry] != piece->most) continue;
        ids_sum(&all_ps, ledger->shares[s].ps);
        if (ledger->shares[s].ps > most_ps) most_ps = ledger->shares[s].ps;
    }
    return most_ps < all_ps - all_ps / 4;
}

/* "rank 1 (steady: it comes last in 8 of 8 steps)" */
static const char *say_straggler(const struct adviser *adviser, const struct ids_piece *piece, const char *name) {
    const struct ids_balance *balance = &adviser->balance;
    if (balance->straggler == IDS_NONE || !balance->steps) return name;
    uint32_t last = is_of_many(adviser, piece) ? balance->straggler : piece->device;
    const char *where = ids_report_text(adviser->report, "%s comes last in %zu of %zu steps", name_of(adviser, last),
                                        balance->of_device[last].steps, balance->steps);
    if (is_of_many(adviser, piece))
        return ids_report_text(adviser->report, "another one from step to step (changing: %s)", where);
    int is_steady = last == balance->straggler && ids_balance_is_steady(balance);
    return ids_report_text(adviser->report, "it (%s: %s)", is_steady ? "steady" : "not always", where);
}

/* How long, at most, another device waits for the deciding one because of this. */
static int64_t waited_by_others(const struct adviser *adviser, const struct ids_piece *piece) {
    const struct ids_ledger *ledger = &adviser->analysis->ledger;
    int64_t most_ps = 0;
    for (size_t b = 0; b < adviser->analysis->busy_count; b++) {
        int64_t own_ps = 0;
        for (size_t s = ledger->first_share[b]; s < ledger->first_share[b + 1]; s++) {
            const struct ids_ledger_entry *entry = &ledger->entries[ledger->shares[s].entry];
            if (entry->cause == IDS_NONE || entry->awaited != piece->device) continue;
            enum ids_account account = piece->account == IDS_COMM_WAIT ? IDS_WORK_COMPUTE : piece->account;
            if (ledger->entries[entry->cause].account == account) ids_sum(&own_ps, ledger->shares[s].ps);
        }
        if (own_ps > most_ps) most_ps = own_ps;
    }
    return most_ps;
}

/* "rank 1" where others wait for it, "changing ranks"; NULL where nobody does. */
static const char *say_rank(const struct adviser *adviser, const struct ids_piece *piece, int64_t waited_ps) {
    int waits = piece->account == IDS_COMM_WAIT || waited_ps * 4 > per_step(adviser, piece->time_ps) ||
                piece->others_ps * 4 > piece->time_ps;
    if (!waits) return NULL;
    return is_of_many(adviser, piece) ? "changing ranks" : name_of(adviser, piece->device);
}

/* Whether results of the op's program take the memory of its arguments. `op` is an index + 1, 0 none. */
static int donates(const struct ids_trace *trace, uint32_t op) {
    uint32_t module = op ? trace->ops[op - 1].module : IDS_NONE;
    for (size_t p = 0; module != IDS_NONE && p < trace->program_count; p++) {
        const struct ids_program_memory *program = &trace->programs[p];
        if (program->info.module == trace->modules[module].name && program->info.in_place > 0) return 1;
    }
    return 0;
}

static struct ids_remedy remedy_of(const struct adviser *adviser, enum ids_account account,
                                   const struct ids_ledger_entry *entry, int64_t time_ps, int only_moves, int both_ways,
                                   const char *reason) {
    const struct ids_analysis *analysis = adviser->analysis;
    return ids_remedy_of(&(struct ids_circumstances){
        .account = account,
        .framework = adviser->framework,
        .platform = analysis->busy[adviser->pieces.decider].device->kind,
        .culprit = entry ? text_of(adviser, entry->culprit) : NULL,
        .where = entry ? text_of(adviser, entry->where) : NULL,
        .has_python = adviser->has_python,
        .devices = analysis->busy_count,
        .time_ps = time_ps,
        .mean_ps = entry && entry->intervals ? ids_ledger_entry_time(entry) / (int64_t)entry->intervals : 0,
        .work_ps = adviser->pieces.work_ps,
        .both_ways = both_ways,
        .reason = reason,
        .only_moves = only_moves,
        .donates = entry && donates(analysis->trace, entry->op),
    });
}

/* When its longest interval was; times count from the device's first activity. */
static const char *say_longest(const struct adviser *adviser, const struct ids_ledger_entry *entry) {
    int64_t at_ps = entry->longest_at_ps - adviser->analysis->first_ps;
    if (at_ps >= 0)
        return ids_report_text(adviser->report, "longest %s at %s", say_time(adviser, entry->longest_ps),
                               say_time(adviser, at_ps));
    return ids_report_text(adviser->report, "longest %s, begun %s before the first device activity",
                           say_time(adviser, entry->longest_ps), say_time(adviser, -at_ps));
}

static const char *say_both_ways(const struct adviser *adviser, const struct ids_piece *piece) {
    if (!piece->both_ways_ps) return "";
    return ids_report_text(adviser->report, "; %s%s both at once",
                           say_time(adviser, per_step(adviser, piece->both_ways_ps)),
                           adviser->pieces.steps ? " a step" : "");
}

/* Of work that is launched and does not begin; a host that launches more meanwhile runs ahead, as it should. */
static const char *say_meanwhile(const struct adviser *adviser, const struct ids_ledger_entry *entry) {
    const char *host = text_of(adviser, entry->meanwhile), *ahead = ids_account_id(IDS_HOST_DISPATCH);
    return host && strncmp(host, ahead, strlen(ahead)) != 0
               ? ids_report_text(adviser->report, ", and the host meanwhile was in %s", host)
               : "";
}

/* Why the culprit was compiled again, where idsprof's Python hook saw it. */
static const char *say_reason(const struct adviser *adviser, enum ids_account account, const char *function) {
    if (account != IDS_HOST_COMPILE || !function) return NULL;
    struct ids_text reason = ids_recompile_reason_of(adviser->analysis->trace, function);
    return reason.length ? ids_report_text(adviser->report, "%.*s", (int)reason.length, reason.at) : NULL;
}

static void give(struct adviser *adviser, const struct ids_advice *advice) {
    ids_report_advice(adviser->report, advice);
    adviser->said++;
}

/* Where Python's functions are recorded, each call of one takes longer: what is made of many calls is shorter
 * without. */
static int is_slowed(const struct adviser *adviser, enum ids_account account) {
    return adviser->has_python && (account == IDS_HOST_PYTHON || account == IDS_HOST_INPUT ||
                                   account == IDS_HOST_REGION || account == IDS_HOST_DISPATCH);
}

/* A sample is a moment: what lies between two of them is told by both. */
static const char *say_sampled(const struct adviser *adviser, const struct ids_ledger_entry *entry) {
    const struct ids_trace *trace = adviser->analysis->trace;
    int64_t period_ps = 0;
    for (size_t i = 0; i < trace->sampling_count; i++) {
        if (trace->samplings[i].period_ps > period_ps) period_ps = trace->samplings[i].period_ps;
    }
    if (!entry->is_sampled || !period_ps) return "";
    return ids_report_text(adviser->report, "; by stacks sampled every %s", say_time(adviser, period_ps));
}

/* Of input: which stage of the pipeline is the slowest, or that none works where the recording was made. */
static const char *say_stage(const struct adviser *adviser, const struct ids_piece *piece, const char *culprit) {
    const struct ids_table *table = ids_report_find_table(adviser->report, "input_stages");
    int verdict = ids_table_column(table, "verdict"), stage = ids_table_column(table, "stage"),
        busy = ids_table_column(table, "busy");
    size_t waiting = 0;
    if (piece->account != IDS_HOST_INPUT || !table || !table->row_count) return "";
    for (size_t row = 0; row < table->row_count; row++) {
        const struct ids_value *is = ids_table_cell(table, row, verdict);
        const char *name = ids_table_cell(table, row, stage)->text;
        if (is->missing) continue;
        waiting += !strcmp(is->text, "only waits");
        if (!strcmp(is->text, "slowest") && culprit && strcmp(name, culprit) != 0)
            return ids_report_text(adviser->report, "; slowest stage: %s, %s busy", name,
                                   say(adviser, *ids_table_cell(table, row, busy)));
    }
    return waiting == table->row_count ? "; its stages only wait for others, which were not recorded" : "";
}

static void advise(struct adviser *adviser, const struct ids_piece *piece) {
    const struct ids_ledger_entry *most = piece->most;
    const char *culprit = text_of(adviser, most->culprit), *where = text_of(adviser, most->where);
    const char *reason = say_reason(adviser, piece->account, culprit);
    struct ids_remedy words =
        remedy_of(adviser, piece->account, most, piece->time_ps, 0, piece->both_ways_ps > 0, reason);
    int64_t saves_ps = per_step(adviser, piece->time_ps),
            waited_ps = per_step(adviser, waited_by_others(adviser, piece));
    const char *rank = say_rank(adviser, piece, waited_ps);
    if (!words.problem) return;
    if (rank && piece->account != IDS_COMM_WAIT)
        where = where ? ids_report_text(adviser->report, "%s, %s", rank, where) : rank;
    const char *who = "";
    if (culprit && piece->culprits > 1 && piece->most_ps < piece->time_ps)
        who = ids_report_text(adviser->report, " (most: %s%s%s, %s of it; %zu in all)", culprit, where ? ", " : "",
                              where ? where : "", say_share(adviser, piece->most_ps, piece->time_ps), piece->culprits);
    else if (culprit)
        who = ids_report_text(adviser->report, ": %s", say_name(adviser, culprit, where));
    int64_t others_ps = per_step(adviser, piece->others_ps);
    struct ids_advice advice = {
        .saves_ps = saves_ps,
        .per_step = adviser->pieces.steps > 0,
        .account = ids_account_id(piece->account),
        .culprit = culprit,
        .where = where,
        .what = ids_report_text(adviser->report, "%s%s - %s", words.problem, who, words.remedy),
        .evidence = ids_report_text(
            adviser->report, "%s%s, %s of %s%s%s%s%s; %s%s%s%s%s%s%s", say_time(adviser, saves_ps),
            adviser->pieces.steps ? " a step" : "", say_share(adviser, piece->time_ps, adviser->pieces.time_ps),
            adviser->pieces.steps ? "the step" : "the window",
            adviser->analysis->busy_count > 1
                ? ids_report_text(adviser->report, " of %s", name_of(adviser, adviser->pieces.decider))
                : "",
            say_both_ways(adviser, piece), say_recurrence(adviser, &piece->recurs),
            rank ? ids_report_text(adviser->report, "; the others wait up to %s for %s",
                                   say_time(adviser, waited_ps > others_ps ? waited_ps : others_ps),
                                   say_straggler(adviser, piece, rank))
                 : "",
            say_longest(adviser, most), say_meanwhile(adviser, most), say_sampled(adviser, most),
            is_slowed(adviser, piece->account) ? "; Python's tracer makes it longer" : "",
            say_stage(adviser, piece, culprit), reason ? "; why again: " : "", reason ? reason : ""),
        .explain = ids_account_id(piece->account)};
    give(adviser, &advice);
}

/* --- what only wastes ------------------------------------------------------------------------------------------- */

static struct ids_piece *transfers_of(const struct adviser *adviser) {
    for (size_t i = 0; i < adviser->pieces.count; i++) {
        if (adviser->pieces.at[i].account == IDS_COMM_TRANSFER) return &adviser->pieces.at[i];
    }
    return NULL;
}

/* What the device that decides the step wins without what the program proves to be wasted: a part of its compute of
 * which no other piece is, or of the collectives that nothing hides. -1: nothing is proved. */
static int64_t saved_by(const struct adviser *adviser, const struct ids_waste_sum *sum) {
    const struct ids_pieces *pieces = &adviser->pieces;
    int64_t room_ps = pieces->compute_ps;
    const struct ids_piece *transfers = transfers_of(adviser);
    if (sum->saving_ps <= 0) return -1;
    if (sum->waste != IDS_WASTE_REPEATED) room_ps = transfers ? transfers->time_ps : 0;
    for (size_t i = 0; i < pieces->count && sum->waste == IDS_WASTE_REPEATED; i++) {
        if (pieces->at[i].account == IDS_COMM_WAIT) room_ps -= pieces->at[i].time_ps;
    }
    room_ps = per_step(adviser, room_ps > 0 ? room_ps : 0);
    if (!room_ps) return -1;
    return sum->saving_ps < room_ps ? sum->saving_ps : room_ps;
}

static void advise_on_waste(struct adviser *adviser, struct ids_waste_sum *sum) {
    const struct ids_pieces *pieces = &adviser->pieces;
    struct ids_report *report = adviser->report;
    struct ids_remedy words = ids_waste_remedy(sum->waste, sum->why, adviser->framework,
                                               adviser->analysis->busy[adviser->pieces.decider].device->kind);
    const char *more = sum->rows > 1 ? ids_report_text(report, " and %s more", IDS_COUNTED(sum->rows - 1, "op")) : "";
    int collective =
        sum->waste == IDS_WASTE_REPLICATED || sum->waste == IDS_WASTE_GATHERED || sum->waste == IDS_WASTE_REDUCED;
    if (!words.problem) return;
    give(adviser, &(struct ids_advice){
                      .saves_ps = saved_by(adviser, sum),
                      .per_step = pieces->steps > 0,
                      .account = ids_account_id(collective ? IDS_COMM_TRANSFER : IDS_WORK_COMPUTE),
                      .culprit = sum->op,
                      .where = sum->where,
                      .what = ids_report_text(report, "%s: %s%s - %s", words.problem,
                                              say_name(adviser, sum->op, sum->where), more, words.remedy),
                      .evidence = ids_report_text(
                          report, "%s%s on a device, %s of device time, %s%s%s", say_time(adviser, sum->step_ps),
                          pieces->steps ? " a step" : "", say(adviser, ids_real_value(IDS_UNIT_RATIO, sum->share)),
                          IDS_COUNTED(sum->count, "execution"), sum->why ? "; " : "", sum->why ? sum->why : ""),
                      .explain = sum->waste == IDS_WASTE_LAYOUT ? "layout.share" : "waste.share"});
    sum->count = 0; /* said */
}

static int is_worth_saying(const struct adviser *adviser, const struct ids_waste_sum *sum) {
    int64_t steps = adviser->pieces.steps;
    int is_founded = sum->count >= LEAST_EVENTS || (steps >= LEAST_STEPS && sum->count >= steps);
    return is_founded && sum->step_ps > 0 && sum->step_ps >= per_step(adviser, adviser->pieces.time_ps / WORTH);
}

/* Of the piece about collectives, what is said of one of them with its reason is no part any more; nor is the whole
 * piece where that one has most of it. */
static void take_off(struct ids_piece *transfers, const char *culprit, const char *op, int64_t saves_ps) {
    int is_same = culprit && op && !strcmp(culprit, op);
    if (is_same && transfers->most_ps >= transfers->time_ps / 2) saves_ps = transfers->time_ps;
    transfers->time_ps = transfers->time_ps > saves_ps ? transfers->time_ps - saves_ps : 0;
}

/* What the program itself proves stands before what only may be saved. */
static void on_proven(struct adviser *adviser) {
    for (int w = 1; w < IDS_WASTE_COUNT; w++) {
        struct ids_waste_sum *sum = &adviser->wastes[w];
        int64_t saves_ps = saved_by(adviser, sum), steps = adviser->pieces.steps ? adviser->pieces.steps : 1;
        struct ids_piece *transfers = sum->waste == IDS_WASTE_REPEATED ? NULL : transfers_of(adviser);
        if (saves_ps <= 0 || !is_worth_saying(adviser, sum)) continue;
        advise_on_waste(adviser, sum);
        if (transfers) take_off(transfers, text_of(adviser, transfers->most->culprit), sum->op, saves_ps * steps);
    }
}

/* --- how much advice must rest on ------------------------------------------------------------------------------- */

/* Events of threads and steps count as those of devices do: a program that compiles in each step has few on its
 * device. */
static uint64_t events_of(const struct ids_trace *trace) {
    uint64_t events = 0;
    for (size_t t = 0; t < trace->track_count; t++) events += trace->tracks[t].event_count;
    return events;
}

/* It came in several steps or often, or is most of the recording. What the host did for a tenth of the whole recording,
 * covered by events, is a fact even where it came once; in how many steps it came is said with it. */
static int is_founded(const struct adviser *adviser, const struct ids_piece *piece) {
    if (piece->recurs.steps >= LEAST_STEPS || piece->intervals >= LEAST_INTERVALS) return 1;
    if (piece->time_ps > adviser->pieces.time_ps / 2) return 1;
    return ids_account_is_host(piece->account) && piece->account != IDS_HOST_DISPATCH &&
           piece->time_ps >= adviser->pieces.time_ps / 10 && piece->recorded_ps >= piece->known_ps / 2;
}

static void say_too_little(struct adviser *adviser, const struct ids_piece *piece) {
    struct ids_report *report = adviser->report;
    const char *more = adviser->framework == IDS_JAX ? "record more steps (idsprof capture -k 20)"
                                                     : "record a longer window (idsprof capture --duration 10s)";
    uint64_t events = events_of(adviser->analysis->trace);
    const char *what = "";
    if (piece)
        what = ids_report_text(report, "; %s, %s of it, rests on %s", ids_account_id(piece->account),
                               say_share(adviser, piece->time_ps, adviser->pieces.time_ps),
                               IDS_COUNTED(piece->intervals, "interval"));
    give(adviser,
         &(struct ids_advice){.saves_ps = -1,
                              .per_step = adviser->pieces.steps > 0,
                              .what = ids_report_text(report, "Too little was recorded to advise on - %s", more),
                              .evidence = ids_report_text(
                                  report, "%s%s%s%s", IDS_COUNTED(events, "event"), adviser->pieces.steps ? " in " : "",
                                  adviser->pieces.steps ? IDS_COUNTED(adviser->pieces.steps, "step") : "", what),
                              .explain = "run.events"});
}

/* 0: there is something to say, and too little to say it on. */
static int on_pieces(struct adviser *adviser) {
    const struct ids_pieces *pieces = &adviser->pieces;
    const struct ids_piece *unfounded = NULL;
    size_t said = 0;
    for (size_t i = 0; i < pieces->count && said < MOST_PIECES; i++) {
        const struct ids_piece *piece = &pieces->at[i];
        if (piece->time_ps < pieces->time_ps / (said ? WORTH : WORTH_ALONE)) continue;
        if (is_warm_up(adviser, piece)) continue;
        if (is_founded(adviser, piece)) {
            advise(adviser, piece);
            said++;
        } else if (!unfounded) {
            unfounded = piece;
        }
    }
    if (!unfounded || adviser->said) return 1;
    say_too_little(adviser, unfounded);
    return 0;
}

/* --- what no account tells -------------------------------------------------------------------------------------- */

static void remark(struct adviser *adviser, const char *explain, const char *what, const char *evidence) {
    if (adviser->said >= MOST_PIECES) return;
    give(adviser, &(struct ids_advice){.saves_ps = -1,
                                       .per_step = adviser->pieces.steps > 0,
                                       .what = what,
                                       .evidence = evidence,
                                       .explain = explain});
}

static void on_op(struct adviser *adviser, const struct ids_op_family *op, const char *what) {
    const struct ids_pieces *pieces = &adviser->pieces;
    const char *share = say_share(adviser, op->time_ps, pieces->compute_ps);
    give(adviser,
         &(struct ids_advice){
             .saves_ps = -1,
             .per_step = pieces->steps > 0,
             .account = ids_account_id(IDS_WORK_COMPUTE),
             .culprit = text_of(adviser, op->most->culprit),
             .where = text_of(adviser, op->most->where),
             .what = what,
             .evidence = ids_report_text(
                 adviser->report, "compute is %s of %s, %s of it %s",
                 say_share(adviser, pieces->compute_ps, pieces->time_ps), pieces->steps ? "the steps" : "the window",
                 share, op->count > 1 ? ids_report_text(adviser->report, "these %zu ops", op->count) : "this op"),
             .explain = ids_account_id(IDS_WORK_COMPUTE)});
}

static const char *say_op(const struct adviser *adviser, const struct ids_op_family *op) {
    const char *name = say_name(adviser, text_of(adviser, op->most->culprit), text_of(adviser, op->most->where));
    return op->count > 1 ? ids_report_text(adviser->report, "%s and %zu more like it", name, op->count - 1) : name;
}

/* Whether the name is one of those that a row bears, whose * stands for what differs. */
static int bears(const char *name, const char *row) {
    return name && row && !strncmp(name, row, strcspn(row, "*"));
}

/* Where the device computes most of the time, that comes first: the rest is little, unless others wait for it. */
static int computes_nearly_always(const struct adviser *adviser) {
    const struct ids_pieces *pieces = &adviser->pieces;
    int64_t wins_ps = pieces->count ? pieces->at[0].time_ps : 0;
    return pieces->op.most && pieces->compute_ps >= pieces->time_ps - pieces->time_ps / 10 &&
           wins_ps <= pieces->time_ps / 10;
}

static void on_compute(struct adviser *adviser) {
    const struct ids_pieces *pieces = &adviser->pieces;
    if (!computes_nearly_always(adviser)) return;
    const char *what = ids_report_text(
        adviser->report, "The device computes nearly all of the time: what can be won is in its ops; most time has %s",
        say_op(adviser, &pieces->op));
    if (pieces->op.most == pieces->mover.most)
        what = ids_report_text(
            adviser->report, "%s, which only moves data - %s", what,
            remedy_of(adviser, IDS_WORK_COMPUTE, pieces->op.most, pieces->op.time_ps, 1, 0, NULL).remedy);
    const char *layers = ids_layers_in_words(adviser->report), *shares = "";
    struct ids_value unused;
    if (layers && !has(adviser, "efficiency.flops_share", &unused))
        shares = ". --peak-flops and --peak-bandwidth give the shares of the peak, which is not known here";
    if (layers) what = ids_report_text(adviser->report, "%s. By layer: %s%s", what, layers, shares);
    struct ids_roofline_advice loss = ids_loss_advice(adviser->report);
    adviser->told_loss = loss.what && bears(text_of(adviser, pieces->op.most->culprit), loss.op);
    if (adviser->told_loss) what = ids_report_text(adviser->report, "%s. %s", what, loss.what);
    on_op(adviser, &pieces->op, what);
}

/* What no account tells of busy time: how far it is from what the device can do. */
static void on_loss(struct adviser *adviser) {
    struct ids_roofline_advice advice = ids_loss_advice(adviser->report);
    if (advice.what && !adviser->told_loss) remark(adviser, "efficiency.roofline_loss", advice.what, advice.evidence);
}

/* An op is worth a word where it is a good part of the step, not of what little the device does. */
static void on_one_op(struct adviser *adviser) {
    const struct ids_pieces *pieces = &adviser->pieces;
    const struct ids_op_family *op = NULL;
    int told = computes_nearly_always(adviser), is_same = pieces->mover.most == pieces->op.most;
    int moves = pieces->mover.most && pieces->mover.time_ps >= pieces->time_ps / 10;
    if (moves)
        op = told && is_same ? NULL : &pieces->mover;
    else if (pieces->op.most && !is_same && pieces->op.time_ps > pieces->compute_ps / 2 &&
             pieces->op.time_ps >= pieces->time_ps / 4)
        op = told ? NULL : &pieces->op;
    if (!op || adviser->said >= MOST_PIECES) return;
    struct ids_remedy words = remedy_of(adviser, IDS_WORK_COMPUTE, op->most, op->time_ps, moves, 0, NULL);
    on_op(adviser, op,
          ids_report_text(adviser->report, "%s: %s - %s", words.problem, say_op(adviser, op), words.remedy));
}

static int said_account(const struct adviser *adviser, enum ids_account account) {
    for (size_t i = 0; i < adviser->report->advice_count; i++) {
        const char *said = adviser->report->advice[i].account;
        if (said && !strcmp(said, ids_account_id(account))) return 1;
    }
    return 0;
}

/* A wait is told by its account, and what only moves by the op that has most of it. */
static int is_told(const struct adviser *adviser, enum ids_waste waste) {
    static const enum ids_account waits[] = {IDS_STALL_DEVICE, IDS_COPY_H2D,      IDS_COPY_D2H,
                                             IDS_COPY_D2D,     IDS_COMM_TRANSFER, IDS_COMM_WAIT};
    const struct ids_pieces *pieces = &adviser->pieces;
    if (waste == IDS_WASTE_LAYOUT) return pieces->mover.most && pieces->mover.time_ps >= pieces->time_ps / 10;
    for (size_t i = 0; i < sizeof waits / sizeof *waits && waste == IDS_WASTE_SERIAL; i++) {
        if (said_account(adviser, waits[i])) return 1;
    }
    return 0;
}

/* The two kinds with most of it. */
static void on_waste(struct adviser *adviser) {
    enum { MOST_KINDS = 2 };
    for (int kinds = 0; kinds < MOST_KINDS; kinds++) {
        struct ids_waste_sum *most = NULL;
        for (int w = 1; w < IDS_WASTE_COUNT; w++) {
            struct ids_waste_sum *sum = &adviser->wastes[w];
            if (!is_worth_saying(adviser, sum) || is_told(adviser, sum->waste)) continue;
            if (!most || sum->step_ps > most->step_ps) most = sum;
        }
        if (!most) return;
        advise_on_waste(adviser, most);
        most->count = 0;
    }
}

/* The compiled program that has most of the device's time, when it is large: "jit more" is no advice for it. */
static const char *large_program_of(const struct adviser *adviser) {
    enum { MANY_OPS = 100 };
    const struct ids_table *table = ids_report_find_table(adviser->report, "modules");
    int name = ids_table_column(table, "name"), ops = ids_table_column(table, "ops"),
        self = ids_table_column(table, "self");
    if (name < 0 || ops < 0 || self < 0) return NULL;
    size_t most = 0;
    int64_t most_ps = 0, all_ps = 0;
    for (size_t row = 0; row < table->row_count; row++) {
        int64_t self_ps = ids_table_cell(table, row, self)->i;
        ids_sum(&all_ps, self_ps);
        if (self_ps <= most_ps) continue;
        most = row;
        most_ps = self_ps;
    }
    if (most_ps <= all_ps / 2 || ids_table_cell(table, most, ops)->i < MANY_OPS) return NULL;
    return ids_table_cell(table, most, name)->text;
}

/* ": behind 60.0 % of their time stands a reduction", where the program's graph tells. */
static const char *say_between(const struct adviser *adviser) {
    const struct ids_table *table = ids_report_find_table(adviser->report, "splits");
    int time = ids_table_column(table, "time"), between = ids_table_column(table, "between");
    int64_t all_ps = 0;
    if (!table || !table->row_count) return "";
    for (size_t row = 0; row < table->row_count; row++) ids_sum(&all_ps, ids_table_cell(table, row, time)->i);
    return ids_report_text(adviser->report, "; of those that XLA could fuse, behind %s of the time: %s",
                           say_share(adviser, ids_table_cell(table, 0, time)->i, all_ps),
                           ids_table_cell(table, 0, between)->text);
}

static const char *say_fuse(const struct adviser *adviser) {
    const char *program = large_program_of(adviser);
    if (adviser->framework == IDS_PYTORCH)
        return "Many small kernels: fuse them (torch.compile, fused optimizers and attention)";
    if (adviser->framework != IDS_JAX) return "Many small kernels: fuse them";
    if (!program)
        return "Many small kernels: jit larger functions so that XLA fuses them, with fewer control-flow branches";
    return ids_report_text(
        adviser->report,
        "Many small kernels within one compiled program (%s) - look at what stands between them (--by op --sort "
        "count): XLA does not fuse across custom calls, collectives and loops",
        program);
}

/* Fusing wins what they compute and what launching them costs: where both are little, or dispatch was advised on, it
 * is no advice. */
static void on_small_kernels(struct adviser *adviser) {
    const struct ids_pieces *pieces = &adviser->pieces;
    if (ratio_of(adviser, "kernels.small_share") < 0.5 || ratio_of(adviser, "kernels.small_time_share") < 0.1) return;
    struct ids_value count;
    if (!has(adviser, "kernels.small_count", &count) || per_step(adviser, count.i) < 10) return;
    /* Graded good: half of the time is in kernels that are far from small. */
    struct ids_value median;
    if (has(adviser, "kernels.median", &median) &&
        median.i / IDS_TIMES_SMALL >= adviser->analysis->params.small_kernel_ps)
        return;
    if (pieces->compute_ps < pieces->time_ps / 10 || said_account(adviser, IDS_HOST_DISPATCH)) return;
    remark(adviser, "kernels.small_count", say_fuse(adviser),
           ids_report_text(adviser->report, "%s kernels below the threshold: %s of kernels, %s of kernel time%s",
                           say_metric(adviser, "kernels.small_count"), say_metric(adviser, "kernels.small_share"),
                           say_metric(adviser, "kernels.small_time_share"), say_between(adviser)));
}

/* Kernels decide only where the device computes for a good part of the step. */
static void on_kernels(struct adviser *adviser) {
    const struct ids_pieces *pieces = &adviser->pieces;
    if (pieces->compute_ps < pieces->time_ps / 4) return;
    struct ids_kernel_advice low = ids_low_occupancy_advice(adviser->report);
    const struct ids_device *device = adviser->analysis->busy[pieces->decider].device;
    struct ids_kernel_advice matrix = ids_matrix_advice(
        adviser->report,
        &(struct ids_matrix_circumstances){adviser->framework, device,
                                           ids_peaks_of(adviser->analysis->trace, device, &adviser->analysis->params)});
    if (matrix.what) remark(adviser, matrix.explain, matrix.what, matrix.evidence);
    if (low.what) remark(adviser, low.explain, low.what, low.evidence);
}

/* What the device's clock takes is no doing of the program. */
static void on_clock(struct adviser *adviser) {
    double held_back = ratio_of(adviser, "clock.held_back_share"),
           throttled = ratio_of(adviser, "clock.throttled_share");
    if (adviser->pieces.compute_ps < adviser->pieces.time_ps / 4) return;
    if (held_back >= 0.02)
        remark(adviser, "clock.held_back_share",
               "The clock is held back: look at power limit and cooling, and compare runs at the same clock only",
               ids_report_text(adviser->report, "%s of the ops' time would be saved at the default clock",
                               say_metric(adviser, "clock.held_back_share")));
    if (throttled >= 0.05)
        remark(adviser, "clock.throttled_share",
               "The device is throttled: look at power limit and cooling, and compare runs that are not",
               ids_report_text(adviser->report, "%s of the samples of throttling are above 0 (--section counters)",
                               say_metric(adviser, "clock.throttled_share")));
}

/* The program and op that have most time on the host's CPU, beside an accelerator. */
static const char *host_op_of(const struct adviser *adviser) {
    const struct ids_table *table = ids_report_find_table(adviser->report, "placement");
    int beside = ids_table_column(table, "beside"), program = ids_table_column(table, "program"),
        longest = ids_table_column(table, "longest");
    if (beside < 0 || program < 0 || longest < 0) return "";
    for (size_t row = 0; row < table->row_count; row++) { /* the first of a device has most time */
        if (!ids_table_cell(table, row, beside)->i) continue;
        const char *op = ids_table_cell(table, row, longest)->text, *of = ids_table_cell(table, row, program)->text;
        if (op) return ids_report_text(adviser->report, " (most: %s%s%s)", op, of ? " of " : "", of ? of : "");
    }
    return "";
}

/* Ops that fell back to the CPU, or were put there: only where the device has nothing to do meanwhile. */
static void on_host_ops(struct adviser *adviser) {
    double beside = ratio_of(adviser, "placement.host_idle_share"), idle = ratio_of(adviser, "idle.share");
    if (beside < 0.1 || beside * idle < 0.02) return;
    remark(adviser, "placement.host_idle_share",
           ids_report_text(adviser->report,
                           "Ops run on the host's CPU while the device has nothing to do%s - keep their arrays on the "
                           "device: jit the whole step, and look for jax.devices('cpu') and arrays of numpy",
                           host_op_of(adviser)),
           ids_report_text(adviser->report,
                           "%s ops on the host's CPU; they run in %s of the idle time (--section "
                           "placement)",
                           say_metric(adviser, "placement.host_ops"),
                           say_metric(adviser, "placement.host_idle_share")));
}

/* What only the first steps do: which of it takes longest. */
static const struct ids_piece *warm_up_of(const struct adviser *adviser) {
    for (size_t i = 0; i < adviser->pieces.count; i++) {
        if (is_warm_up(adviser, &adviser->pieces.at[i])) return &adviser->pieces.at[i];
    }
    return NULL;
}

static int64_t longest_after_the_first(const struct ids_steps *steps) {
    int64_t longest_ps = 0;
    for (size_t s = 1; s < steps->count; s++) {
        if (ids_step_time(&steps->at[s]) > longest_ps) longest_ps = ids_step_time(&steps->at[s]);
    }
    return longest_ps;
}

/* The first step is long, no other is, and it is known why. */
static void on_warm_up(struct adviser *adviser) {
    const struct ids_steps *steps = &adviser->analysis->steps;
    const struct ids_piece *cause = warm_up_of(adviser);
    struct ids_value median;
    if (steps->count < 3 || !cause || !has(adviser, "steps.median", &median)) return;
    int64_t first_ps = ids_step_time(&steps->at[0]), later_ps = longest_after_the_first(steps);
    if (first_ps <= 2 * median.i || first_ps <= 2 * later_ps) return;
    int compiles = cause->account == IDS_HOST_COMPILE;
    remark(adviser, "steps.mean",
           ids_report_text(
               adviser->report, "The first step is warm-up: it %s %s - record later steps, or read the median",
               compiles ? "compiles" : "uses for the first time",
               say_name(adviser, text_of(adviser, cause->most->culprit), text_of(adviser, cause->most->where))),
           ids_report_text(adviser->report,
                           "the first step took %s, %s of it so; the median one %s, the longest of the others %s",
                           say_time(adviser, first_ps), say_time(adviser, cause->time_ps), say(adviser, median),
                           say_time(adviser, later_ps)));
}

/* What lies between the steps is in no account of a step: where it is most of the window, steps do not tell why the
 * run is slow. */
static void on_time_outside(struct adviser *adviser) {
    const struct ids_busy *busy = &adviser->analysis->busy[adviser->pieces.decider];
    int64_t window_ps = busy->end_ps - busy->start_ps;
    const struct ids_steps *steps = &adviser->analysis->steps;
    if (!adviser->pieces.steps || adviser->pieces.time_ps >= window_ps / 2) return;
    /* The step that the window opened with is left out by us, so what comes before the others is no sign of
     * anything. */
    if (steps->has_left_out && steps->count && adviser->pieces.time_ps >= (busy->end_ps - steps->at[0].start_ps) / 2)
        return;
    remark(
        adviser, "idle.longest",
        "Most of the window lies outside the steps, and what is said of a step does not hold there - record the loop "
        "alone, or look at the longest gaps",
        ids_report_text(adviser->report, "the steps are %s of %s; the longest gap is %s",
                        say_time(adviser, adviser->pieces.time_ps), say_time(adviser, window_ps),
                        say_metric(adviser, "idle.longest")));
}

/* Before all else: a program that ends is not faster. */
static void on_memory(struct adviser *adviser) {
    struct ids_memory_advice advice[IDS_MEMORY_ADVICE];
    size_t count = ids_memory_alarms(adviser->report, adviser->framework == IDS_JAX, advice);
    for (size_t i = 0; i < count; i++) remark(adviser, advice[i].explain, advice[i].what, advice[i].evidence);
}

static void on_programs_memory(struct adviser *adviser) {
    struct ids_memory_advice advice[IDS_MEMORY_ADVICE];
    size_t count = ids_memory_savings(adviser->report, advice);
    for (size_t i = 0; i < count; i++) remark(adviser, advice[i].explain, advice[i].what, advice[i].evidence);
}

/* --- all of it -------------------------------------------------------------------------------------------------- */

/* What saves most first, without changing the order of what saves as much or says nothing of it; what comes before
 * `from` stays there. A person does the first few. */
static void put_in_order(struct ids_report *report, size_t from) {
    struct ids_advice *all = report->advice;
    for (size_t i = from + 1; i < report->advice_count; i++) {
        struct ids_advice moved = all[i];
        size_t to = i;
        for (; to > from && all[to - 1].saves_ps < moved.saves_ps; to--) all[to] = all[to - 1];
        all[to] = moved;
    }
    if (report->advice_count > MOST_PIECES) report->advice_count = MOST_PIECES;
}

static void advise_on_all(struct adviser *adviser) {
    if (events_of(adviser->analysis->trace) < LEAST_EVENTS) {
        say_too_little(adviser, NULL);
        return;
    }
    on_memory(adviser);
    on_compute(adviser);
    size_t first = adviser->said;
    on_proven(adviser);
    if (!on_pieces(adviser)) return;
    on_warm_up(adviser);
    on_programs_memory(adviser);
    on_time_outside(adviser);
    on_loss(adviser);
    on_one_op(adviser);
    on_waste(adviser);
    on_small_kernels(adviser);
    on_kernels(adviser);
    on_clock(adviser);
    on_host_ops(adviser);
    put_in_order(adviser->report, first);
}

static int advice_run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    struct adviser adviser = {.analysis = analysis,
                              .report = report,
                              .framework = ids_framework_of(analysis->trace),
                              .has_python = ids_report_find_property(report, "python_recorded") != NULL};
    if (!analysis->busy_count) return ids_no_device_advise(analysis, report, err);
    int code = ids_balance_make(analysis, &adviser.balance, err);
    if (!code) code = ids_pieces_make(analysis, &adviser.pieces, err);
    ids_waste_sums(report, adviser.wastes);
    if (!code) advise_on_all(&adviser);
    ids_pieces_done(&adviser.pieces);
    ids_balance_done(&adviser.balance);
    return code;
}

const struct ids_analyzer ids_advice_analyzer = {
    .name = "advice",
    .title = "what to do",
    .run = advice_run,
};
