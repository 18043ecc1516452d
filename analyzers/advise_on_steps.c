/* advise_on_steps.c - where steps do not tell what the run is like: the first one is warm-up, or most of the time lies
 * between them. */
#include "analyzers/advise_on.h"
#include "lib/analysis/host_time.h"
#include "lib/analysis/recording.h"
#include "lib/base/saturate.h"
#include "lib/model/doings.h"

#include <stdlib.h>
#include <string.h>

/* As a window is kept for, --when 'step > 2x'; and not what the opening of one takes. */
enum { FAR_LONGER = 2, LEAST_PAUSE_US = 1000, PS_PER_US = 1000000 };

/* What only the first steps do: which of it takes longest. */
static const struct ids_piece *warm_up_of(const struct ids_adviser *adviser) {
    for (size_t i = 0; i < adviser->pieces.count; i++) {
        if (ids_is_warm_up(adviser, &adviser->pieces.at[i])) return &adviser->pieces.at[i];
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
void ids_advise_on_warm_up(struct ids_adviser *adviser) {
    const struct ids_steps *steps = &adviser->analysis->steps;
    const struct ids_piece *cause = warm_up_of(adviser);
    struct ids_value median;
    if (steps->count < 3 || !cause || !ids_adviser_has(adviser, "steps.median", &median)) return;
    int64_t first_ps = ids_step_time(&steps->at[0]), later_ps = longest_after_the_first(steps);
    if (first_ps <= 2 * median.i || first_ps <= 2 * later_ps) return;
    int compiles = cause->account == IDS_HOST_COMPILE;
    ids_adviser_remark(
        adviser, "steps.mean",
        ids_report_text(adviser->report, "The first step is warm-up: it %s %s - record later steps, or read the median",
                        compiles ? "compiles" : "uses for the first time",
                        ids_say_name(adviser, ids_adviser_text(adviser, cause->most->culprit),
                                     ids_adviser_text(adviser, cause->most->where))),
        ids_report_text(adviser->report,
                        "the first step took %s, %s of it so; the median one %s, the longest of the others %s",
                        ids_say_time(adviser, first_ps), ids_say_time(adviser, cause->time_ps),
                        ids_say_value(adviser, median), ids_say_time(adviser, later_ps)));
}

/* What lies between the steps is in no account of a step: where it is most of the window, steps do not tell why the
 * run is slow. */
void ids_advise_on_time_outside(struct ids_adviser *adviser) {
    const struct ids_busy *busy = &adviser->analysis->busy[adviser->pieces.decider];
    int64_t window_ps = busy->end_ps - busy->start_ps;
    const struct ids_steps *steps = &adviser->analysis->steps;
    if (!adviser->pieces.steps || adviser->pieces.time_ps >= window_ps / 2) return;
    /* The step that the window opened with is left out by us, so what comes before the others is no sign of
     * anything. */
    if (steps->has_left_out && steps->count && adviser->pieces.time_ps >= (busy->end_ps - steps->at[0].start_ps) / 2)
        return;
    ids_adviser_remark(
        adviser, "idle.longest",
        "Most of the window lies outside the steps, and what is said of a step does not hold there - record the loop "
        "alone, or look at the longest gaps",
        ids_report_text(adviser->report, "the steps are %s of %s; the longest gap is %s",
                        ids_say_time(adviser, adviser->pieces.time_ps), ids_say_time(adviser, window_ps),
                        ids_say_metric(adviser, "idle.longest")));
}

static int is_same(const char *culprit, const char *other) {
    return culprit && other ? !strcmp(culprit, other) : culprit == other;
}

/* The row of the longest gap in the step that the window opened with which is the program's own; -1: there is none. */
static int64_t find_opening_gap(const struct ids_adviser *adviser, const struct ids_table *gaps) {
    const struct ids_steps *steps = &adviser->analysis->steps;
    int start = ids_table_column(gaps, "start"), account = ids_table_column(gaps, "account");
    int64_t until_ps = steps->at[0].start_ps - adviser->analysis->first_ps;
    for (size_t row = 0; gaps && row < gaps->row_count; row++) {
        const char *of = ids_table_cell(gaps, row, account)->text;
        if (of && !strncmp(of, "host.", 5) && ids_table_cell(gaps, row, start)->i < until_ps) return (int64_t)row;
    }
    return -1;
}

/* Whether the same has a tenth of the steps that are measured: then its piece tells of it. */
static int is_in_pieces(const struct ids_adviser *adviser, const char *account, const char *culprit) {
    const struct ids_pieces *pieces = &adviser->pieces;
    for (size_t i = 0; i < pieces->count; i++) {
        const struct ids_piece *piece = &pieces->at[i];
        if (piece->time_ps >= pieces->time_ps / 10 && !strcmp(ids_account_id(piece->account), account) &&
            is_same(ids_adviser_text(adviser, piece->most->culprit), culprit))
            return 1;
    }
    return 0;
}

/* How long the device stood idle at once in the opening step, and for whom. */
struct pause {
    int64_t ps;
    const char *account, *culprit, *where;
    int is_before_work; /* recording had begun, and the device had done nothing yet */
};

/* A profiler that starts lets the program stand still for some ten milliseconds, which nothing tells from a pause of
 * its own. */
#define START_PS ((int64_t)50000000000)

static struct pause longest_gap(const struct ids_adviser *adviser) {
    const struct ids_table *gaps = ids_report_find_table(adviser->report, "gaps");
    int64_t row = find_opening_gap(adviser, gaps);
    if (row < 0) return (struct pause){.ps = 0};
    return (struct pause){.ps = ids_table_cell(gaps, (size_t)row, ids_table_column(gaps, "duration"))->i,
                          .account = ids_table_cell(gaps, (size_t)row, ids_table_column(gaps, "account"))->text,
                          .culprit = ids_table_cell(gaps, (size_t)row, ids_table_column(gaps, "culprit"))->text,
                          .where = ids_table_cell(gaps, (size_t)row, ids_table_column(gaps, "where"))->text};
}

/* What the program did for most of that time. A thread that only waits for its device is no pause of its own, and a
 * first launch takes long because recording has just begun. */
static struct pause pause_of(const struct ids_adviser *adviser, struct ids_host_time *time, const struct ids_busy *busy,
                             int64_t from_ps, int64_t to_ps) {
    uint32_t most = ids_host_time_mostly(time, busy, from_ps, to_ps);
    if (most == IDS_NO_DOING) return (struct pause){.ps = 0};
    enum ids_account account = (enum ids_account)adviser->analysis->trace->doings[most].account;
    int is_usual = account == IDS_HOST_SYNC || account == IDS_HOST_DISPATCH || account == IDS_HOST_RUNTIME;
    if (account == IDS_NO_ACCOUNT || is_usual || !ids_account_is_host(account)) return (struct pause){.ps = 0};
    struct ids_text culprit, where, recorded;
    ids_idle_name(ids_host_time_names(time), account, ids_name_of_doing(most, IDS_AS_IT_IS), &culprit, &where,
                  &recorded);
    return (struct pause){
        .ps = to_ps - from_ps,
        .account = ids_account_id(account),
        .culprit = culprit.length ? ids_report_text(adviser->report, "%.*s", (int)culprit.length, culprit.at) : NULL,
        .where = where.length ? ids_report_text(adviser->report, "%.*s", (int)where.length, where.at) : NULL};
}

/* Before the device's first work there is no gap: the window of its figures begins with that work. But recording had
 * begun, and the step that was about to do it had it to wait for. */
static struct pause before_first_work(const struct ids_adviser *adviser, int64_t least_ps) {
    struct ids_error err = IDS_ERROR_INIT;
    const struct ids_analysis *analysis = adviser->analysis;
    const struct ids_busy *busy = &analysis->busy[adviser->pieces.decider];
    struct ids_recorded *recorded = ids_coverage(analysis->trace);
    struct pause pause = {0};
    struct ids_host_time *time;
    if (!recorded) return pause;
    int64_t from_ps = recorded[busy->device->host].from_ps, to_ps = busy->start_ps;
    int is_recorded = ids_is_recorded(&recorded[busy->device->host]);
    free(recorded);
    if (!is_recorded || ids_sat_sub(to_ps, from_ps) <= least_ps) return pause;
    if (ids_host_time_new(analysis, &time, &err)) return pause;
    pause = pause_of(adviser, time, busy, from_ps, to_ps);
    pause.is_before_work = 1;
    ids_host_time_free(time);
    return pause;
}

/* Behind what surely saves more in each step than it would, had it come once in as many steps as were recorded. */
static size_t place_of_pause(const struct ids_adviser *adviser, const struct pause *pause) {
    const struct ids_report *report = adviser->report;
    int64_t worth_ps = pause->ps / (int64_t)(adviser->analysis->steps.count + 1);
    size_t place = 0;
    if (!strcmp(pause->account, ids_account_id(IDS_HOST_COMPILE))) return report->advice_count; /* warm-up */
    if (pause->is_before_work && pause->ps < START_PS) return report->advice_count;
    if (adviser->pieces.steps && pause->ps > adviser->pieces.time_ps) return 0;
    while (place < report->advice_count &&
           !(report->advice[place].saves_ps >= 0 && report->advice[place].saves_ps < worth_ps))
        place++;
    return place;
}

/* The step that the window opened with is in no mean, and so in no piece: a pause in it would be told nowhere. First
 * where it is longer than all that is in the pieces; but what is compiled once is warm-up. */
void ids_advise_on_opening(struct ids_adviser *adviser) {
    const struct ids_steps *steps = &adviser->analysis->steps;
    struct ids_value median;
    if (!steps->has_left_out || !steps->count || !ids_adviser_has(adviser, "steps.median", &median)) return;
    struct pause pause = longest_gap(adviser), first = before_first_work(adviser, pause.ps);
    if (first.ps > pause.ps) pause = first;
    if (pause.ps / FAR_LONGER <= median.i || pause.ps / PS_PER_US < LEAST_PAUSE_US) return;
    const char *account = pause.account, *culprit = pause.culprit, *where = pause.where;
    long long number = (long long)steps->left_out;
    if (is_in_pieces(adviser, account, culprit)) return;
    const struct ids_advice advice = {
        .saves_ps = -1,
        .account = account,
        .culprit = culprit,
        .where = where,
        .what =
            ids_report_text(adviser->report,
                            "In step %lld, which opened the window and is in no mean, the device waited %s at once: "
                            "%s - record such a step whole: idsprof capture --when 'step > 2x', or --start-step %lld",
                            number, ids_say_time(adviser, pause.ps),
                            culprit ? ids_say_name(adviser, culprit, where) : "nothing recorded says for what",
                            number > 0 ? number - 1 : 0),
        .evidence = ids_report_text(adviser->report, "mostly %s; the median step that is measured takes %s", account,
                                    ids_say_value(adviser, median)),
        .explain = IDS_OPENING_EXPLAIN,
    };
    ids_report_advice_at(adviser->report, &advice, place_of_pause(adviser, &pause));
    adviser->said++;
}
