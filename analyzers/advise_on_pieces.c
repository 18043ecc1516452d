/* advise_on_pieces.c - a piece of advice for each account and culprit of the ledger, with its evidence: how much, in
 * which steps, whose doing, and on how much it rests. */
#include "analyzers/advise_on.h"
#include "analyzers/callers.h"
#include "analyzers/core_users.h"
#include "analyzers/input_advice.h"
#include "analyzers/joint_causes.h"
#include "analyzers/library_part.h"
#include "analyzers/nearly_late.h"
#include "analyzers/runtime_calls.h"
#include "lib/analysis/even_work.h"
#include "lib/analysis/late.h"
#include "lib/base/counted.h"
#include "lib/base/saturate.h"
#include "lib/model/python_frame.h"
#include "lib/model/told_files.h"

#include <inttypes.h>
#include <string.h>

/* What advice must rest on: see is_founded. Alone, a smaller piece is said too. */
enum { LEAST_INTERVALS = 20, WORTH_ALONE = 100 };

static int64_t number_of(const struct ids_adviser *adviser, uint32_t step) {
    return adviser->analysis->steps.at[step].number;
}

/* "; in every 5th step", "; in 1 of 30 steps of this window (step 0)", "; uneven: most in step 30"; nothing where most
 * steps have it alike. */
static const char *say_recurrence(const struct ids_adviser *adviser, const struct ids_recurrence *recurs) {
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
        return ids_report_text(adviser->report, "%s of this window (step %" PRId64 ")", count,
                               number_of(adviser, recurs->first));
    if (recurs->steps == 2)
        return ids_report_text(adviser->report, "%s (%" PRId64 " and %" PRId64 ")", count,
                               number_of(adviser, recurs->first), number_of(adviser, recurs->last));
    return ids_report_text(adviser->report, "%s (most in step %" PRId64 ")", count, number_of(adviser, recurs->most));
}

/* "; so has step 3, which opened the window and is in no mean: with it, it is 68.48 ms a step" */
static const char *say_opening(const struct ids_adviser *adviser, const struct ids_piece *piece) {
    int64_t has_ps = ids_adviser_opening_has(adviser, piece);
    if (!has_ps) return "";
    return ids_report_text(adviser->report,
                           "; so has step %" PRId64
                           ", which opened the window and is in no mean: with it, it is %s a step",
                           adviser->analysis->steps.left_out,
                           ids_say_time(adviser, ids_sat_add(piece->time_ps, has_ps) / (adviser->pieces.steps + 1)));
}

/* The device that the others wait for has twice their compute in the mean, or more: it is the one, however often the
 * host lets another one come last. */
static int has_more_work(const struct ids_adviser *adviser, const struct ids_piece *piece) {
    return piece->account == IDS_COMM_WAIT && adviser->analysis->steps.count >= IDS_LEAST_STEPS &&
           ids_adviser_times_its_peers(adviser, piece->device) >= 2;
}

/* Of what others wait for because of it: for no device three quarters. -1: nobody waits. What each device has of it
 * says nothing then: all may take input, and one too long. */
static int waits_for_many(const struct ids_adviser *adviser, const struct ids_piece *piece) {
    const struct ids_ledger *ledger = &adviser->analysis->ledger;
    int64_t most_ps = 0, all_ps = 0;
    for (size_t e = 0; e < ledger->entry_count; e++) { /* one for each device that is waited for */
        const struct ids_ledger_entry *entry = &ledger->entries[e];
        if (entry->cause == IDS_NONE || &ledger->entries[entry->cause] != piece->most) continue;
        int64_t own_ps = ids_ledger_entry_time(entry);
        ids_sum(&all_ps, own_ps);
        if (own_ps > most_ps) most_ps = own_ps;
    }
    return all_ps ? most_ps < all_ps - all_ps / 4 : -1;
}

/* Whether it is not one device's doing: no device has three quarters of it. */
static int is_of_many(const struct ids_adviser *adviser, const struct ids_piece *piece) {
    const struct ids_ledger *ledger = &adviser->analysis->ledger;
    if (has_more_work(adviser, piece)) return 0;
    if (piece->account == IDS_COMM_WAIT) return adviser->balance.steps && !ids_balance_is_steady(&adviser->balance);
    int of_waits = waits_for_many(adviser, piece);
    if (of_waits >= 0) return of_waits;
    int64_t most_ps = 0, all_ps = 0;
    for (size_t s = 0; s < ledger->share_count; s++) {
        if (&ledger->entries[ledger->shares[s].entry] != piece->most) continue;
        ids_sum(&all_ps, ledger->shares[s].ps);
        if (ledger->shares[s].ps > most_ps) most_ps = ledger->shares[s].ps;
    }
    return most_ps < all_ps - all_ps / 4;
}

/* "it (steady: rank 1 comes last in 8 of 8 steps)" */
static const char *say_straggler(const struct ids_adviser *adviser, const struct ids_piece *piece, const char *name) {
    static const char *const hows[] = {[IDS_LATE_ALONE] = "",
                                       [IDS_LATE_ALIKE] = ", all its devices alike",
                                       [IDS_LATE_IN_TURN] = ", its devices in turn"};
    const struct ids_balance *balance = &adviser->balance;
    const struct ids_ledger *ledger = &adviser->analysis->ledger;
    if (balance->straggler == IDS_NONE || !balance->steps) return name;
    int is_many = is_of_many(adviser, piece);
    uint32_t last = is_many ? balance->straggler : ids_late_as(ledger, piece->device);
    const char *where = ids_report_text(adviser->report, "%s comes last in %zu of %zu steps%s",
                                        ids_adviser_late(adviser, last), balance->of_late[last].steps,
                                        balance->together, is_many ? "" : hows[ids_late_how(ledger, last)]);
    if (is_many)
        return ids_report_text(adviser->report, "another one from step to step (%s: %s)",
                               ids_balance_is_steady(balance) ? "most often" : "changing", where);
    int is_steady = last == balance->straggler && ids_balance_is_steady(balance);
    return ids_report_text(adviser->report, "it (%s: %s)", is_steady ? ids_balance_manner(balance) : "not always",
                           where);
}

/* How long, at most, another device waits for the deciding one, or for its host, because of this. */
static int64_t waited_by_others(const struct ids_adviser *adviser, const struct ids_piece *piece) {
    int64_t most_ps = 0;
    for (size_t b = 0; b < adviser->analysis->busy_count; b++) {
        int64_t own_ps = ids_waits_for_piece(adviser, piece, b);
        if (own_ps > most_ps) most_ps = own_ps;
    }
    return most_ps;
}

/* "rank 1" where others wait for it, "changing ranks"; NULL where nobody does. */
static const char *say_rank(const struct ids_adviser *adviser, const struct ids_piece *piece, int64_t waited_ps) {
    int waits = piece->account == IDS_COMM_WAIT || waited_ps * 4 > ids_adviser_per_step(adviser, piece->time_ps) ||
                piece->others_ps * 4 > piece->time_ps;
    if (!waits) return NULL;
    if (is_of_many(adviser, piece)) return "changing ranks";
    return piece->account == IDS_COMM_WAIT ? ids_adviser_text(adviser, piece->most->culprit)
                                           : ids_adviser_late(adviser, piece->device);
}

static const char *say_more_work(const struct ids_adviser *adviser, const struct ids_piece *piece) {
    if (!has_more_work(adviser, piece)) return "";
    return ids_report_text(adviser->report, "; %s computes %.1f × as long as the others do in the mean",
                           ids_adviser_late(adviser, piece->device),
                           ids_adviser_times_its_peers(adviser, piece->device));
}

/* Less than the longest wait, which is all that could be won: to divide the same work evenly wins this. */
static const char *say_mean_wait(const struct ids_adviser *adviser, const struct ids_piece *piece) {
    if (piece->account != IDS_COMM_WAIT) return "";
    return ids_report_text(adviser->report, "; a device waits %s in the mean",
                           ids_say_time(adviser, ids_adviser_per_step(adviser, piece->mean_wait_ps)));
}

static const struct ids_ledger_entry *longest_of(const struct ids_piece *piece) {
    return piece->longest ? piece->longest : piece->most;
}

/* When its longest interval was, and whose, where that is not who has most of it; times count from the device's first
 * activity. */
static const char *say_longest(const struct ids_adviser *adviser, const struct ids_piece *piece) {
    const struct ids_ledger_entry *entry = longest_of(piece);
    int64_t at_ps = entry->longest_at_ps - adviser->analysis->first_ps;
    const char *culprit =
        !piece->is_joined && entry->culprit != piece->most->culprit ? ids_adviser_text(adviser, entry->culprit) : NULL;
    const char *whose = culprit ? ids_report_text(adviser->report, " (%s)", culprit) : "";
    if (at_ps >= 0)
        return ids_report_text(adviser->report, "longest %s at %s%s", ids_say_time(adviser, entry->longest_ps),
                               ids_say_time(adviser, at_ps), whose);
    return ids_report_text(adviser->report, "longest %s, begun %s before the first device activity%s",
                           ids_say_time(adviser, entry->longest_ps), ids_say_time(adviser, -at_ps), whose);
}

static const char *say_both_ways(const struct ids_adviser *adviser, const struct ids_piece *piece) {
    if (!piece->both_ways_ps) return "";
    return ids_report_text(adviser->report, "; %s%s both at once",
                           ids_say_time(adviser, ids_adviser_per_step(adviser, piece->both_ways_ps)),
                           adviser->pieces.steps ? " a step" : "");
}

/* "; of it host.sync 61.0 % (float, train.py:12), host.dispatch 39.0 % (step, train.py:10)": of a function, also where
 * in it. */
static const char *say_parts(const struct ids_adviser *adviser, const struct ids_piece *piece) {
    const char *said = "";
    if (piece->part_count < 2) return said;
    for (size_t p = 0; p < piece->part_count; p++) {
        const struct ids_piece_part *part = &piece->parts[p];
        const char *culprit = ids_adviser_text(adviser, part->most->culprit), *place = "";
        if (piece->scope == IDS_REMEDY_OF_FUNCTION && culprit)
            place = ids_report_text(adviser->report, " (%s%s)", culprit,
                                    ids_say_line(adviser->report, ids_adviser_text(adviser, part->most->where)));
        said = ids_report_text(adviser->report, "%s%s %s %s%s", said, p ? "," : "; of it",
                               ids_account_id(part->account), ids_say_share(adviser, part->ps, piece->time_ps), place);
    }
    return said;
}

/* Of work that is launched and does not begin; a host that launches more meanwhile runs ahead, as it should. */
static const char *say_meanwhile(const struct ids_adviser *adviser, const struct ids_ledger_entry *entry) {
    const char *host = ids_adviser_text(adviser, entry->meanwhile), *ahead = ids_account_id(IDS_HOST_DISPATCH);
    return host && strncmp(host, ahead, strlen(ahead)) != 0
               ? ids_report_text(adviser->report, ", and the host meanwhile was in %s", host)
               : "";
}

/* Why the culprit was compiled again, where idsprof's Python hook saw it. */
static const char *say_reason(const struct ids_adviser *adviser, enum ids_account account, const char *function) {
    if (account != IDS_HOST_COMPILE || !function) return NULL;
    struct ids_text reason = ids_recompile_reason_of(adviser->analysis->trace, function);
    return reason.length ? ids_report_text(adviser->report, "%.*s", (int)reason.length, reason.at) : NULL;
}

/* Where Python's functions are recorded, each call of one takes longer: what is made of many calls is shorter
 * without. */
static int is_slowed(const struct ids_adviser *adviser, enum ids_account account) {
    return adviser->has_python && (account == IDS_HOST_PYTHON || account == IDS_HOST_INPUT ||
                                   account == IDS_HOST_REGION || account == IDS_HOST_DISPATCH);
}

/* A CPU's device wakes who waits for it in less than a millisecond, if that thread has a core and Python's lock: three
 * samples of a window or less do not tell whether it had. */
static int is_wait_of_few_samples(const struct ids_adviser *adviser, const struct ids_ledger_entry *entry,
                                  int64_t period_ps) {
    enum { FEW = 4 };
    const int64_t ms_ps = 1000000000;
    const struct ids_busy *busy = &adviser->analysis->busy[adviser->pieces.decider];
    return entry->account == IDS_HOST_SYNC && busy->device->kind == IDS_DEVICE_CPU && entry->longest_ps > ms_ps &&
           period_ps > (busy->end_ps - busy->start_ps) / FEW;
}

/* A sample is a moment: what lies between two of them is told by both. */
static const char *say_sampled(const struct ids_adviser *adviser, const struct ids_ledger_entry *entry) {
    const struct ids_trace *trace = adviser->analysis->trace;
    int64_t period_ps = 0;
    for (size_t i = 0; i < trace->sampling_count; i++) {
        if (trace->samplings[i].period_ps > period_ps) period_ps = trace->samplings[i].period_ps;
    }
    if (!entry->is_sampled || !period_ps) return "";
    int64_t inferred_ps = entry->time_ps[IDS_PLACE_INFERRED];
    const char *few = is_wait_of_few_samples(adviser, entry, period_ps)
                          ? ": too few in this window to tell it from a wait for a core or a lock"
                          : "";
    return ids_report_text(adviser->report, "; by stacks sampled every %s%s%s", ids_say_time(adviser, period_ps), few,
                           inferred_ps
                               ? ids_report_text(adviser->report,
                                                 ", of which not each call has one: there, %s of its time, the "
                                                 "place is inferred",
                                                 ids_say_share(adviser, inferred_ps, ids_ledger_entry_time(entry)))
                               : "");
}

/* A line that fetches values waits for the device, and then copies what came: the longer one gives the words. */
static int fetches_mostly(const struct ids_adviser *adviser, const struct ids_piece *piece) {
    int64_t waits_ps = 0;
    if (piece->account != IDS_HOST_SYNC || piece->scope != IDS_REMEDY_OF_CULPRIT || piece->is_round_trip) return 0;
    for (size_t p = 0; p < piece->part_count; p++) {
        enum ids_account account = piece->parts[p].account;
        if (account == IDS_HOST_SYNC || account == IDS_DEVICE_QUEUE) ids_sum(&waits_ps, piece->parts[p].ps);
    }
    return waits_ps < piece->time_ps / 2 && ids_remedy_takes_values(ids_adviser_text(adviser, piece->most->culprit));
}

static struct ids_remedy remedy_of_piece(const struct ids_adviser *adviser, const struct ids_piece *piece,
                                         const char *reason) {
    size_t steps = adviser->analysis->steps.count;
    return ids_adviser_remedy(
        adviser, piece->most,
        (struct ids_circumstances){.account = piece->account,
                                   .time_ps = piece->time_ps,
                                   .both_ways = piece->both_ways_ps > 0,
                                   .reason = reason,
                                   .fetches_mostly = fetches_mostly(adviser, piece),
                                   .is_round_trip = piece->is_round_trip,
                                   .is_of_first_uses = piece->is_of_first_uses,
                                   .is_even = piece->account == IDS_COMM_WAIT && ids_work_is_even(adviser->analysis),
                                   .is_uneven = steps && (ids_recurs_in_few(&piece->recurs, steps) ||
                                                          ids_recurs_unevenly(&piece->recurs, steps))});
}

/* What is mended in a function first: not to wait, then to launch less, then the rest. */
enum way { WAITS, LAUNCHES, COMPUTES, WAYS };

static enum way way_of(enum ids_account account) {
    if (account == IDS_HOST_SYNC) return WAITS;
    return account == IDS_HOST_PYTHON ? COMPUTES : LAUNCHES;
}

/* It takes elements of arrays of JAX one by one: each is a program or more. */
static int takes_elements(const struct ids_adviser *adviser, const struct ids_piece *piece) {
    const char *where = ids_adviser_text(adviser, piece->most->where), *in = where ? strstr(where, ", in ") : NULL;
    return ids_framework_of(adviser->analysis->trace) == IDS_JAX && in && !strcmp(in + 5, "__getitem__");
}

/* Values of JAX, and nothing is launched for them. */
static int fetches_one_by_one(const struct ids_adviser *adviser, const struct ids_piece *piece) {
    int fetches = 0;
    if (ids_framework_of(adviser->analysis->trace) != IDS_JAX) return 0;
    for (size_t p = 0; p < piece->part_count; p++) {
        const struct ids_piece_part *part = &piece->parts[p];
        int launches = part->account == IDS_HOST_DISPATCH || part->account == IDS_DEVICE_QUEUE;
        if (launches && part->ps > piece->time_ps / 10) return 0;
        fetches |= ids_fetches_one_by_one(adviser->analysis, part->most);
    }
    return fetches;
}

/* A function that holds the device up in one way is as any other culprit; of several, each that has a tenth of it has
 * its remedy. */
static struct ids_remedy remedy_of_function(const struct ids_adviser *adviser, const struct ids_piece *piece,
                                            struct ids_remedy words) {
    const struct ids_piece_part *of_way[WAYS] = {0};
    const char *remedy = NULL;
    size_t count = 0;
    for (size_t p = 0; p < piece->part_count; p++) {
        const struct ids_piece_part *part = &piece->parts[p], **longest = &of_way[way_of(part->account)];
        if (part->ps <= piece->time_ps / 10 || *longest) continue;
        *longest = part;
        count++;
    }
    if (count > 1 && fetches_one_by_one(adviser, piece) && !takes_elements(adviser, piece))
        return (struct ids_remedy){"Results are fetched one by one, and the device waits meanwhile",
                                   "fetch all of them in one call (jax.device_get of the list or tree that has them), "
                                   "once every n steps; keep on the device what only the next step needs"};
    if (count > 1 && takes_elements(adviser, piece))
        remedy = "fetch the array once (jax.device_get), and take its elements of what that returns";
    for (enum way way = 0; way < WAYS && count > 1; way++) {
        if (!of_way[way]) continue;
        struct ids_circumstances about = {.account = of_way[way]->account, .time_ps = of_way[way]->ps};
        const char *own = ids_adviser_remedy(adviser, of_way[way]->most, about).remedy;
        remedy = remedy ? ids_report_text(adviser->report, "%s; and %s", remedy, own) : own;
    }
    return remedy ? (struct ids_remedy){"One function holds the device up in several ways", remedy} : words;
}

/* The wait that comes between launches: of these on an accelerator a good part is only as long because the host does
 * not run ahead of its device. NULL: there is none, or what it holds up is little beside the launches. */
static const struct ids_piece *wait_between(const struct ids_adviser *adviser, const struct ids_piece *launches) {
    enum { OFTEN = 15, OF_LAUNCHES = 4, OF_TIME = 10 }; /* one wait may be cut into ten intervals */
    const struct ids_pieces *pieces = &adviser->pieces;
    uint64_t steps = adviser->analysis->steps.count, devices = adviser->analysis->busy_count,
             least = OFTEN * (steps ? steps : 1) * devices;
    if (launches->account != IDS_HOST_DISPATCH || launches->scope != IDS_REMEDY_OF_ACCOUNT) return NULL;
    if (adviser->analysis->busy[pieces->decider].device->kind == IDS_DEVICE_CPU) return NULL;
    for (size_t i = 0; i < pieces->count; i++) {
        const struct ids_piece *wait = &pieces->at[i];
        if (wait->account != IDS_HOST_SYNC || wait->scope != IDS_REMEDY_OF_CULPRIT || !wait->most->culprit) continue;
        if (wait->time_ps < launches->time_ps / OF_TIME) return NULL; /* the others are shorter still */
        uint64_t times = wait->most->intervals;
        if (times >= least && times >= launches->most->intervals / OF_LAUNCHES) return wait;
    }
    return NULL;
}

/* To be rid of the waits comes first: without them some of what launching takes is hidden behind the device's work. */
static struct ids_remedy remedy_of_launches(const struct ids_adviser *adviser, const struct ids_piece *piece,
                                            struct ids_remedy words) {
    const struct ids_piece *wait = wait_between(adviser, piece);
    if (!wait) return words;
    const char *call = ids_say_name(adviser, ids_adviser_text(adviser, wait->most->culprit),
                                    ids_adviser_text(adviser, wait->most->where));
    return (struct ids_remedy){
        "The host launches a little and waits for it, again and again, so that the device waits for each launch",
        ids_report_text(adviser->report,
                        "first take the wait out of the loop: %s, once every n steps, so that the host launches ahead; "
                        "and %s",
                        call, words.remedy)};
}

/* "step (train.py)" of "step (src/train.py)" */
static const char *say_function(const struct ids_adviser *adviser, const struct ids_piece *piece) {
    const char *function = ids_adviser_text(adviser, piece->most->function);
    const char *file = strrchr(function, '('), *end = file ? strpbrk(file, ":)") : NULL;
    if (!end) return function;
    const struct ids_text path = {file + 1, (uint32_t)(end - file - 1)},
                          told = ids_told_file(adviser->analysis->trace, path);
    return ids_report_text(adviser->report, "%.*s%.*s%s", (int)(file + 1 - function), function, (int)told.length,
                           told.at, end);
}

static int is_of_many_launches(const struct ids_adviser *adviser, const struct ids_piece *piece) {
    const struct ids_ledger_entry *most = piece->most;
    if (piece->scope != IDS_REMEDY_OF_ACCOUNT || !most->intervals) return 0;
    return ids_remedy_is_fewer_launches(
        &(struct ids_circumstances){.account = piece->account,
                                    .platform = adviser->analysis->busy[adviser->pieces.decider].device->kind,
                                    .mean_ps = ids_ledger_entry_time(most) / (int64_t)most->intervals,
                                    .time_ps = piece->time_ps,
                                    .work_ps = adviser->pieces.work_ps});
}

/* ": clip (train.py:5), by which are 96 of 99 launches whose line is known": who makes the small programs that threads
 * of the client take up, of which no place is known; NULL where it is, or no line has most of them. */
static const char *say_launching(const struct ids_adviser *adviser, const struct ids_piece *piece, const char *where) {
    const struct ids_launching_line *line = ids_launching_most(adviser->launchers);
    struct ids_python_frame call;
    if (where || !line || !is_of_many_launches(adviser, piece)) return NULL;
    if (!ids_python_frame_of(ids_strings_text(&adviser->analysis->trace->strings, line->frame), &call)) return NULL;
    const struct ids_text file = ids_told_file(adviser->analysis->trace, call.file);
    return ids_report_text(adviser->report,
                           ": %.*s (%.*s:%" PRId64 "), by which are %" PRIu64 " of %" PRIu64
                           " launches whose line is known",
                           (int)call.function.length, call.function.at, (int)file.length, file.at, call.line,
                           line->launches, adviser->launchers->launches);
}

/* Its culprit is a function of the program, and no call of a runtime. */
static int is_of_program(const struct ids_adviser *adviser, const struct ids_ledger_entry *entry) {
    const char *culprit = ids_adviser_text(adviser, entry->culprit);
    struct ids_python_call call;
    return culprit && entry->frame &&
           ids_python_call_of(ids_strings_text(&adviser->analysis->trace->strings, entry->frame), &call) &&
           ids_text_is(call.function, culprit);
}

/* "; f, train.py:9, 30.2 %": the next ones of a piece of many culprits that have a twentieth of it or more, as the
 * lines of an op-by-op program that go forward, backward and update. */
static const char *say_next(const struct ids_adviser *adviser, const struct ids_piece *piece) {
    enum { MOST = 3, LEAST_SHARE = 20 };
    const struct ids_ledger *ledger = &adviser->analysis->ledger;
    const char *said = "";
    int64_t below_ps = piece->most_ps;
    for (int n = 1; n < MOST && piece->account == IDS_HOST_DISPATCH && is_of_program(adviser, piece->most); n++) {
        const struct ids_ledger_entry *next = NULL;
        int64_t next_ps = 0;
        size_t b = adviser->pieces.decider;
        for (size_t s = ledger->first_share[b]; s < ledger->first_share[b + 1]; s++) {
            const struct ids_ledger_entry *entry = &ledger->entries[ledger->shares[s].entry];
            if (entry->account != piece->account || entry == piece->most || ledger->shares[s].ps >= below_ps ||
                !is_of_program(adviser, entry))
                continue;
            if (ledger->shares[s].ps > next_ps) next = entry, next_ps = ledger->shares[s].ps;
        }
        if (!next || next_ps < piece->time_ps / LEAST_SHARE) break;
        const char *where = ids_adviser_text(adviser, next->where), *culprit = ids_adviser_text(adviser, next->culprit);
        said = ids_report_text(adviser->report, "%s; %s%s%s, %s", said, culprit ? culprit : "", where ? ", " : "",
                               where ? where : "", ids_say_share(adviser, next_ps, piece->time_ps));
        below_ps = next_ps;
    }
    return said;
}

/* ": step (train.py)", ": load (train.py:12)", " (most: add, train.py:7 step, 61.0 % of it; one of 3 culprits)" */
static const char *say_who(const struct ids_adviser *adviser, const struct ids_piece *piece, const char *where) {
    const char *culprit = ids_adviser_text(adviser, piece->most->culprit);
    if (piece->scope == IDS_REMEDY_OF_FUNCTION)
        return ids_report_text(adviser->report, ": %s", say_function(adviser, piece));
    const char *launching = say_launching(adviser, piece, where);
    if (launching) return launching;
    if (culprit && piece->culprits > 1 && piece->most_ps < piece->time_ps)
        return ids_report_text(
            adviser->report, " (most: %s%s%s, %s of it%s; one of %zu culprits)", ids_say_name(adviser, culprit, NULL),
            where ? ", " : "", where ? ids_say_place(adviser, where) : "",
            ids_say_share(adviser, piece->most_ps, piece->time_ps), say_next(adviser, piece), piece->culprits);
    const char *lines =
        piece->scope == IDS_REMEDY_OF_CULPRIT && is_of_program(adviser, piece->most)
            ? ids_lines_in_words(adviser->analysis->trace, &adviser->analysis->ledger, piece->most, adviser->report)
            : "";
    const char *siblings = ids_siblings_in_words(adviser->analysis->trace, &adviser->pieces, piece,
                                                 adviser->pieces.time_ps, adviser->report);
    return culprit
               ? ids_report_text(adviser->report, ": %s%s%s", ids_say_name(adviser, culprit, where), lines, siblings)
               : "";
}

/* Who has the cores that a thread of the program lacks. */
static const char *say_core_users(const struct ids_adviser *adviser, const char *culprit) {
    const char *users =
        ids_waits_for_core(culprit) ? ids_core_users_in_words(adviser->analysis, adviser->report) : NULL;
    return users ? ids_report_text(adviser->report, "; %s", users) : "";
}

/* Who calls the function that holds the device up, and what takes its time in a library. Of an account there are as
 * many as culprits. */
static const char *say_callers(const struct ids_adviser *adviser, const struct ids_piece *piece) {
    if (piece->scope != IDS_REMEDY_OF_CULPRIT && piece->scope != IDS_REMEDY_OF_FUNCTION) return "";
    const char *callers = ids_callers_in_words(adviser->analysis->trace, piece->most, adviser->report);
    if (piece->account != IDS_HOST_INPUT && piece->account != IDS_HOST_PYTHON && piece->account != IDS_HOST_REGION)
        return callers;
    return ids_report_text(adviser->report, "%s%s", callers,
                           ids_library_part_in_words(adviser->analysis->trace, piece->most,
                                                     ids_adviser_text(adviser, piece->most->where), adviser->report));
}

/* Of gaps between kernels: "; 1,197 gaps of 1.493 us each in the mean" */
static const char *say_gaps(const struct ids_adviser *adviser, const struct ids_piece *piece) {
    const int64_t gap_ps = piece->account == IDS_DEVICE_QUEUE ? ids_adviser_gap(adviser) : 0;
    return gap_ps && piece->scope == IDS_REMEDY_OF_ACCOUNT
               ? ids_report_text(adviser->report, "; %s of %s each in the mean", IDS_COUNTED(piece->intervals, "gap"),
                                 ids_say_time(adviser, gap_ps))
               : "";
}

/* "; host001 comes nearly as late: to mend host002 alone saves up to 200.0 us" */
static const char *say_nearly_late(const struct ids_adviser *adviser, const char *late,
                                   const struct ids_nearly_late *nearly) {
    if (!nearly->names) return "";
    return ids_report_text(adviser->report, "; %s %s nearly as late: to mend %s alone saves up to %s", nearly->names,
                           nearly->hosts > 1 ? "come" : "comes", late,
                           ids_say_time(adviser, ids_adviser_per_step(adviser, nearly->alone_ps)));
}

/* Collectives that may wait all the time for somebody who was not read. */
static int may_be_wait(const struct ids_adviser *adviser, const struct ids_piece *piece) {
    return piece->account == IDS_COMM_TRANSFER && adviser->analysis->ledger.lacking != IDS_LACKS_NOBODY;
}

/* "; not whole: 'host002.xplane.pb': the file is empty": why somebody who takes part in collectives lacks. */
static const char *say_lacking(const struct ids_adviser *adviser, const struct ids_piece *piece) {
    const struct ids_value *why = ids_report_find_property(adviser->report, IDS_PEERS_NOT_READ);
    return why && may_be_wait(adviser, piece) ? ids_report_text(adviser->report, "; %s", why->text) : "";
}

/* What of it is shown beside how much it is. */
static const char *say_evidence(const struct ids_adviser *adviser, const struct ids_piece *piece, const char *rank,
                                int64_t waited_ps, const char *reason, const struct ids_nearly_late *nearly) {
    const struct ids_ledger_entry *most = piece->most;
    int64_t others_ps = ids_adviser_per_step(adviser, piece->others_ps);
    const char *culprit = ids_adviser_text(adviser, most->culprit);
    return ids_report_text(
        adviser->report, "%s%s, %s of %s%s%s%s%s%s%s%s%s%s%s%s%s; %s%s%s%s%s%s%s",
        ids_say_time(adviser, ids_adviser_per_step(adviser, piece->time_ps)), adviser->pieces.steps ? " a step" : "",
        ids_say_share(adviser, piece->time_ps, adviser->pieces.time_ps), ids_adviser_whole(adviser, "the step"),
        adviser->analysis->busy_count > 1
            ? ids_report_text(adviser->report, " of %s", ids_adviser_device(adviser, adviser->pieces.decider))
            : "",
        say_both_ways(adviser, piece), say_gaps(adviser, piece), say_parts(adviser, piece), say_callers(adviser, piece),
        say_recurrence(adviser, &piece->recurs), say_opening(adviser, piece),
        rank ? ids_report_text(adviser->report, "; the others wait up to %s for %s",
                               ids_say_time(adviser, waited_ps > others_ps ? waited_ps : others_ps),
                               say_straggler(adviser, piece, rank))
             : "",
        say_nearly_late(adviser, rank, nearly), say_more_work(adviser, piece), say_mean_wait(adviser, piece),
        say_lacking(adviser, piece), say_longest(adviser, piece), say_meanwhile(adviser, longest_of(piece)),
        say_sampled(adviser, most), is_slowed(adviser, piece->account) ? "; Python's tracer makes it longer" : "",
        piece->account == IDS_HOST_INPUT ? ids_input_in_words(adviser->report, culprit) : "",
        reason ? "; why again: " : "", reason ? reason : say_core_users(adviser, culprit));
}

/* Most of what Python does for the device stands behind a wait for it, which takes away that it runs beside it; said
 * where it is a tenth of the time. */
static const char *say_behind(const struct ids_adviser *adviser, const struct ids_piece *piece) {
    const struct ids_ledger *ledger = &adviser->analysis->ledger;
    if (piece->account != IDS_HOST_PYTHON || piece->scope != IDS_REMEDY_OF_CULPRIT || !piece->most->frame) return "";
    if (piece->most->is_of_other_thread) return ""; /* it begins when it likes */
    if (piece->time_ps < adviser->pieces.time_ps / 10) return "";
    if (adviser->analysis->steps.count < 2) return ""; /* it may wait once, before all that is looked at */
    for (size_t s = ledger->first_share[adviser->pieces.decider]; s < ledger->first_share[adviser->pieces.decider + 1];
         s++) {
        const struct ids_entry_share *share = &ledger->shares[s];
        if (&ledger->entries[share->entry] != piece->most) continue;
        if (!share->behind || share->behind_ps < share->ps - share->ps / 4) return "";
        const struct ids_ledger_entry *wait = &ledger->entries[share->behind - 1];
        const char *call = ids_adviser_text(adviser, wait->culprit), *where = ids_adviser_text(adviser, wait->where);
        if (!call) return "";
        return ids_report_text(adviser->report,
                               ". The device is idle meanwhile because %s has just waited for it: do before that call "
                               "what does not need its result, or wait once every n steps",
                               ids_say_name(adviser, call, where));
    }
    return "";
}

static void advise(struct ids_adviser *adviser, const struct ids_piece *piece) {
    const struct ids_ledger_entry *most = piece->most;
    const char *culprit = ids_adviser_text(adviser, most->culprit), *where = ids_adviser_text(adviser, most->where);
    const char *reason = say_reason(adviser, piece->account, culprit);
    struct ids_remedy words = remedy_of_piece(adviser, piece, reason);
    if (piece->scope == IDS_REMEDY_OF_FUNCTION) words = remedy_of_function(adviser, piece, words);
    if (words.problem) words = remedy_of_launches(adviser, piece, words);
    int64_t waited_ps = ids_adviser_per_step(adviser, waited_by_others(adviser, piece));
    const char *rank = say_rank(adviser, piece, waited_ps);
    if (!words.problem) return;
    struct ids_nearly_late nearly = {0};
    if (rank && !is_of_many(adviser, piece)) nearly = ids_nearly_late_as(adviser, piece);
    if (rank && piece->account != IDS_COMM_WAIT) {
        const char *late =
            nearly.names && nearly.is_of_same
                ? ids_report_text(adviser->report, "%s%s%s", rank, nearly.hosts > 1 ? ", " : " and ", nearly.names)
                : rank;
        where = where ? ids_report_text(adviser->report, "%s, %s", late, where) : late;
    }
    int64_t time_ps = ids_adviser_per_step(adviser, piece->time_ps);
    struct ids_advice advice = {
        .saves_ps = may_be_wait(adviser, piece) ? -1 : time_ps, /* nobody knows how much of it an exchange is */
        .takes_ps = may_be_wait(adviser, piece) ? time_ps : 0,
        .chance_ps = ids_adviser_chance(adviser, piece),
        .per_step = adviser->pieces.steps > 0,
        .account = ids_account_id(piece->account),
        .culprit = culprit,
        .where = where,
        .what =
            ids_report_text(adviser->report, "%s%s - %s%s%s", words.problem, say_who(adviser, piece, where),
                            words.remedy, say_behind(adviser, piece), ids_many_collectives_in_words(adviser, piece)),
        .evidence = say_evidence(adviser, piece, rank, waited_ps, reason, &nearly),
        .explain = ids_account_id(fetches_mostly(adviser, piece) ? piece->parts[0].account : piece->account)};
    for (size_t p = 0; p < piece->part_count && piece->part_count > 1; p++)
        advice.parts[advice.part_count++] = (struct ids_advice_part){
            ids_account_id(piece->parts[p].account), (double)piece->parts[p].ps / (double)piece->time_ps};
    ids_adviser_give(adviser, &advice);
}

/* It came in several steps or often, or is most of the recording. That a device has more work rests on what it computes
 * in all steps. What the host did for a tenth of the whole recording, covered by events, is a fact even where it came
 * once; in how many steps it came is said with it. A first use comes once by its nature: a twentieth. */
static int is_founded(const struct ids_adviser *adviser, const struct ids_piece *piece) {
    if (piece->recurs.seen >= IDS_LEAST_STEPS || piece->intervals >= LEAST_INTERVALS) return 1;
    if (piece->time_ps > adviser->pieces.time_ps / 2 || has_more_work(adviser, piece)) return 1;
    return ids_account_is_host(piece->account) && piece->account != IDS_HOST_DISPATCH &&
           piece->time_ps >= adviser->pieces.time_ps / (piece->account == IDS_HOST_RUNTIME ? 20 : 10) &&
           piece->recorded_ps >= piece->known_ps / 2;
}

void ids_say_too_little(struct ids_adviser *adviser, const struct ids_piece *piece) {
    struct ids_report *report = adviser->report;
    const char *more = adviser->framework == IDS_JAX ? "record more steps (idsprof capture -k 20)"
                                                     : "record a longer window (idsprof capture --duration 10s)";
    uint64_t events = ids_adviser_events(adviser->analysis->trace);
    const char *what = "";
    if (piece)
        what = ids_report_text(report, "; %s, %s of it, rests on %s", ids_account_id(piece->account),
                               ids_say_share(adviser, piece->time_ps, adviser->pieces.time_ps),
                               IDS_COUNTED(piece->intervals, "interval"));
    ids_adviser_give(
        adviser,
        &(struct ids_advice){.saves_ps = -1,
                             .per_step = adviser->pieces.steps > 0,
                             .what = ids_report_text(report, "Too little was recorded to advise on - %s", more),
                             .evidence = ids_report_text(
                                 report, "%s%s%s%s", IDS_COUNTED(events, "event"), adviser->pieces.steps ? " in " : "",
                                 adviser->pieces.steps ? IDS_COUNTED(adviser->pieces.steps, "step") : "", what),
                             .explain = "run.events"});
}

/* What a launch costs is little where the device works for nine tenths of the time: less than a twentieth is not worth
 * another way of launching. */
static int is_launching_of_busy(const struct ids_adviser *adviser, const struct ids_piece *piece) {
    const struct ids_pieces *pieces = &adviser->pieces;
    int launches = (piece->account == IDS_HOST_DISPATCH && piece->scope == IDS_REMEDY_OF_ACCOUNT) ||
                   is_of_many_launches(adviser, piece);
    return launches && ids_adviser_works_nearly_always(adviser) && piece->time_ps < pieces->time_ps / 20;
}

/* A recording of a graph that is more than half of what was recorded: what the host does beside it is part of it, and
 * done once too. */
static int is_beside_recording(const struct ids_adviser *adviser, const struct ids_piece *piece) {
    const struct ids_circumstances about = {.culprit = ids_adviser_text(adviser, piece->most->culprit)};
    return ids_report_find_property(adviser->report, "graph_recording") && ids_account_is_host(piece->account) &&
           !ids_call_records_graph(&about);
}

const struct ids_piece *ids_advise_on_pieces(struct ids_adviser *adviser) {
    const struct ids_pieces *pieces = &adviser->pieces;
    const struct ids_piece *unfounded = NULL;
    size_t said = 0;
    for (size_t i = 0; i < pieces->count && said < IDS_MOST_PIECES; i++) {
        const struct ids_piece *piece = &pieces->at[i];
        if (piece->time_ps < pieces->time_ps / (said ? IDS_WORTH : WORTH_ALONE)) continue;
        if (ids_is_warm_up(adviser, piece) || is_launching_of_busy(adviser, piece)) continue;
        if (is_beside_recording(adviser, piece)) continue;
        if (is_founded(adviser, piece)) {
            advise(adviser, piece);
            said++;
        } else if (!unfounded) {
            unfounded = piece;
        }
    }
    return unfounded;
}
