#include "lib/run/noted.h"

#include "collectors/common/recorder.h"
#include "lib/run/run_ahead.h"
#include "lib/run/window_steps.h"

#include <stdlib.h>
#include <string.h>

enum { PS_PER_NS = 1000, LEAST_SHARE = 20 };

/* ---- medians of some of the steps ---- */

static int by_value(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* Of what the steps give; -1: none does. */
static int64_t median_of(const struct ids_noted *noted, int64_t (*what)(const struct ids_noted *noted, size_t i)) {
    int64_t *values = calloc(noted->count + 1, sizeof *values), median = -1;
    size_t count = 0;
    for (size_t i = 0; values && i < noted->count; i++) {
        int64_t value = what(noted, i);
        if (value >= 0) values[count++] = value;
    }
    if (count) {
        qsort(values, count, sizeof *values, by_value);
        median = values[count / 2];
    }
    free(values);
    return median;
}

static int64_t took(const struct ids_noted *noted, size_t i) {
    return noted->steps[i].took_ns;
}

static int64_t collectives(const struct ids_noted *noted, size_t i) {
    return noted->steps[i].collectives;
}

static int64_t touched(const struct ids_noted *noted, size_t i) {
    return ids_noted_recorded(noted->file, i) != IDS_NOTED_NOT ? noted->steps[i].took_ns : -1;
}

static int64_t whole(const struct ids_noted *noted, size_t i) {
    return ids_noted_recorded(noted->file, i) == IDS_NOTED_WHOLE ? noted->steps[i].took_ns : -1;
}

/* In the middle of it a window opened, because it was slow: what it took the agent knows. */
static int is_told_slow(const struct ids_noted *noted, size_t i) {
    return noted->file->steps[i].slow_median_ns != 0 && ids_noted_recorded(noted->file, i) == IDS_NOTED_PARTLY;
}

static int64_t beside(const struct ids_noted *noted, size_t i) {
    int is_beside = ids_noted_recorded(noted->file, i) == IDS_NOTED_NOT || is_told_slow(noted, i);
    return is_beside && ids_noted_is_judged(noted, i) ? noted->steps[i].took_ns : -1;
}

static int64_t measured(const struct ids_noted *noted, size_t i) {
    int64_t number = noted->steps[i].number;
    const struct ids_noted_measured *by = &noted->measured;
    int is_in = by->first >= 0 && number >= by->first && number <= by->last && number != by->left_out;
    return is_in && !ids_noted_is_of_other(noted->file, i, by->window) ? whole(noted, i) : -1;
}

int64_t ids_noted_median_recorded(const struct ids_noted *noted) {
    return median_of(noted, whole);
}

/* ---- what windows have ---- */

enum ids_noted_recorded ids_noted_recorded(const struct ids_history_file *file, size_t i) {
    int64_t from_ns = file->steps[i].begin_ns, to_ns = file->steps[i + 1].begin_ns;
    enum ids_noted_recorded found = file->steps[i].stall_ns > 0 ? IDS_NOTED_PARTLY : IDS_NOTED_NOT;
    for (size_t e = 0; e < file->event_count && found != IDS_NOTED_PARTLY; e++) {
        const struct ids_history_event *event = &file->events[e];
        if (event->kind != IDS_HISTORY_WINDOW || event->end_ns < from_ns || event->begin_ns >= to_ns) continue;
        found = event->begin_ns <= from_ns && event->end_ns >= to_ns ? IDS_NOTED_WHOLE : IDS_NOTED_PARTLY;
    }
    return found;
}

static const struct ids_history_event *find_window(const struct ids_history_file *file, int64_t window) {
    for (size_t e = 0; window && e < file->event_count; e++) {
        const struct ids_history_event *event = &file->events[e];
        if (event->kind == IDS_HISTORY_WINDOW && strtoll(event->name, NULL, 10) == window) return event;
    }
    return NULL;
}

int ids_noted_is_of_other(const struct ids_history_file *file, size_t i, int64_t window) {
    const struct ids_history_event *event = find_window(file, window);
    return event && (event->end_ns < file->steps[i].begin_ns || event->begin_ns >= file->steps[i + 1].begin_ns);
}

int ids_noted_is_later(const struct ids_history_file *file, int64_t window) {
    const struct ids_history_event *event = find_window(file, window);
    return event && event->end_ns < file->steps[0].begin_ns;
}

/* ---- what was compiled ---- */

/* The step in which the time lies, or the first one after it. */
static size_t step_at(const struct ids_history_file *file, int64_t at_ns) {
    size_t low = 0, high = file->step_count - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (file->steps[middle + 1].begin_ns <= at_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether the function was not compiled before this step: by the names that the file still has. */
static int is_first(const struct ids_history_file *file, size_t event, int64_t step_ns) {
    if (file->head.events > (int64_t)file->event_count) return 0;
    for (size_t e = 0; e < event; e++) {
        const struct ids_history_event *before = &file->events[e];
        if (before->kind != IDS_HISTORY_COMPILE || before->end_ns >= step_ns) continue;
        if (!strcmp(before->name, file->events[event].name)) return 0;
    }
    return 1;
}

static int64_t in_step(const struct ids_noted *noted, size_t i, const struct ids_history_event *event) {
    int64_t from_ns = noted->steps[i].begin_ns, to_ns = noted->file->steps[i + 1].begin_ns;
    if (from_ns < event->begin_ns) from_ns = event->begin_ns;
    if (to_ns > event->end_ns) to_ns = event->end_ns;
    return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* Into each step that it lies in; `starting` and `longest` have a place for each step. */
static void add_compilation(struct ids_noted *noted, size_t e, int64_t *starting, int64_t *longest) {
    const struct ids_history_event *event = &noted->file->events[e];
    for (size_t i = step_at(noted->file, event->begin_ns); i < noted->count; i++) {
        struct ids_noted_step *step = &noted->steps[i];
        if (step->begin_ns >= event->end_ns) break;
        int64_t ns = in_step(noted, i, event);
        step->compile_ns += ns;
        if (is_first(noted->file, e, step->begin_ns)) starting[i] += ns;
        if (ns <= longest[i]) continue;
        longest[i] = ns;
        step->compiled = event->name;
    }
}

static void add_compilations(struct ids_noted *noted) {
    int64_t *sums = calloc(2 * noted->count, sizeof *sums);
    if (!sums) return;
    for (size_t e = 0; e < noted->file->event_count; e++) {
        if (noted->file->events[e].kind == IDS_HISTORY_COMPILE) add_compilation(noted, e, sums, sums + noted->count);
    }
    for (size_t i = 0; i < noted->count; i++) {
        struct ids_noted_step *step = &noted->steps[i];
        step->is_starting = sums[i] > 0 && sums[i] >= step->took_ns / 2;
        if (step->compile_ns > step->took_ns) step->compile_ns = step->took_ns; /* of several threads */
    }
    free(sums);
}

/* ---- what is slow ---- */

/* The ring's first step has as many before it as the ring has lost. */
int ids_noted_is_judged(const struct ids_noted *noted, size_t i) {
    int64_t before = noted->file->head.steps - (int64_t)noted->file->step_count;
    return (int64_t)i + before >= IDS_WARM_STEPS && !noted->steps[i].is_starting && !noted->steps[i].is_undone;
}

static int has_rule(const struct ids_noted *noted) {
    return noted->file->head.when_ns || noted->file->head.when_ratio;
}

/* Where windows are judged, the agent judged the step while the program ran: it knew of windows that were thrown away,
 * and held profiled steps against one another. Else a step is slow that takes twice the median, and one that a window
 * touches also twice that of such steps: for being recorded it is not slow. Of one in which a window opened or closed
 * nobody can tell, and one that starts something is slow by a rule alone. */
static void judge_step(const struct ids_noted *noted, size_t i, struct ids_noted_step *step) {
    enum { TIMES = 2 };
    const struct ids_history_step *from = &noted->file->steps[i];
    if (has_rule(noted) || from->slow_median_ns != 0) {
        step->is_slow = from->slow_median_ns != 0 && (has_rule(noted) || !step->is_starting);
        if (step->is_slow) step->median_ns = from->slow_median_ns > 0 ? (int64_t)from->slow_median_ns : 0;
        return;
    }
    step->is_slow = ids_noted_is_judged(noted, i) && step->median_ns && step->took_ns / TIMES > step->median_ns;
}

static void judge_recorded(struct ids_noted *noted) {
    int64_t median_ns = median_of(noted, touched);
    for (size_t i = 0; i < noted->count && median_ns >= 0; i++) {
        struct ids_noted_step *step = &noted->steps[i];
        enum ids_noted_recorded is_in = step->is_slow ? ids_noted_recorded(noted->file, i) : IDS_NOTED_NOT;
        if (is_in == IDS_NOTED_NOT || (is_in == IDS_NOTED_WHOLE && step->took_ns / 2 > median_ns)) continue;
        if (noted->file->steps[i].slow_median_ns != 0) continue; /* before a window opened in it */
        step->is_slow = 0;
        noted->slow--;
    }
}

/* Of the steps of the window those that were called in less than half of what they took, each of its own time: in the
 * history, and where that has none of them any more, by their marks in the profile. */
struct called {
    size_t count, early;
};

static void add_called(struct called *called, int64_t call_ns, int64_t step_ns) {
    called->count++;
    called->early += call_ns < step_ns / 2;
}

static int64_t cell_of(const struct ids_noted *noted, size_t row, const char *column) {
    const struct ids_table *table = noted->measured.steps;
    int at = ids_table_column(table, column);
    const struct ids_value *value = at < 0 ? NULL : ids_table_cell(table, row, at);
    return !value || value->missing ? -1 : value->i;
}

/* What the step took in the report; that of the one in the middle where it has no such step. Steps mostly follow each
 * other, so its row is known from the first one's number. */
static int64_t own_time(const struct ids_noted *noted, int64_t number) {
    size_t count = noted->measured.steps ? noted->measured.steps->row_count : 0;
    int64_t row = count ? number - cell_of(noted, 0, "step") : -1;
    if (row >= 0 && (size_t)row < count && cell_of(noted, (size_t)row, "step") == number)
        return cell_of(noted, (size_t)row, "duration") / PS_PER_NS;
    for (size_t at = 0; at < count; at++) {
        if (cell_of(noted, at, "step") == number) return cell_of(noted, at, "duration") / PS_PER_NS;
    }
    return noted->measured.step_ns;
}

static struct called called_in_history(const struct ids_noted *noted) {
    struct called called = {0};
    for (size_t i = 0; i < noted->count; i++) {
        int64_t call_ns = measured(noted, i);
        if (call_ns >= 0) add_called(&called, call_ns, own_time(noted, noted->steps[i].number));
    }
    return called;
}

static struct called called_in_profile(const struct ids_noted *noted) {
    struct called called = {0};
    for (size_t row = 0; noted->measured.steps && row < noted->measured.steps->row_count; row++) {
        int64_t call_ps = cell_of(noted, row, "host_duration");
        if (call_ps > 0) add_called(&called, call_ps / PS_PER_NS, cell_of(noted, row, "duration") / PS_PER_NS);
    }
    return called;
}

/* A quarter of the calls compile: these do more than launch. */
static int compiles_again(const struct ids_noted *noted) {
    size_t compiled = 0;
    for (size_t i = 0; i < noted->count; i++) compiled += noted->steps[i].compile_ns > noted->steps[i].took_ns / 2;
    return compiled * 4 >= noted->count;
}

/* A program that launches its steps and waits for none of them is through with its calls long before the device: how
 * long these take says nothing of a step. It is one where of the very steps that the report measures a quarter was
 * called in less than half of the time that they took, and others are, too: of a window that was slow each step took as
 * long to call. More than a quarter it may not be: the steps after a wait find the device idle, and the CPU client
 * executes these at once, in their calls. Where the history has none of these, those of other windows must be quicker
 * still; and where it has of no window any, because the run went on for long, the profile has to say it. */
static int only_launches(const struct ids_noted *noted) {
    int64_t step_ns = noted->measured.step_ns;
    if (!step_ns || compiles_again(noted) || median_of(noted, beside) >= step_ns / 2) return 0;
    struct called called = called_in_history(noted);
    int64_t any_ns = called.count ? -1 : median_of(noted, whole);
    if (any_ns >= 0) return any_ns < step_ns / 4;
    if (!called.count) called = called_in_profile(noted);
    return called.count && called.early * 4 >= called.count;
}

/* What the device does in a step: of the window, as the history corrects it. */
static int64_t work_of_step(const struct ids_noted *noted) {
    int64_t *calls = calloc(noted->count + 1, sizeof *calls), work_ns = noted->measured.step_ns;
    if (!calls) return work_ns;
    for (size_t i = 0; i < noted->count; i++) calls[i] = beside(noted, i);
    work_ns = ids_run_ahead_work(calls, noted->count, work_ns);
    free(calls);
    return work_ns;
}

/* Whether the calls that only launch are the lesser part: the program does something else in some of them, for which
 * the device runs dry. Of the steps that the device did; or in a few of them, such as to save, for a share of the run
 * that a mean does not show. */
static int runs_dry(const struct ids_noted *noted) {
    struct ids_run_ahead ahead = {.step_ns = noted->work_ns};
    int64_t total_ns = 0, surely_ns = 0, round_ns;
    size_t count = 0;
    for (size_t i = 0; i < noted->count; i++) {
        int64_t took_ns = beside(noted, i);
        if (took_ns < 0) continue;
        surely_ns += ids_run_ahead_surely(&ahead, took_ns);
        ids_run_ahead_step(&ahead, took_ns, &round_ns);
        total_ns += took_ns;
        count++;
    }
    count -= (size_t)(ahead.ahead_ns / noted->work_ns);
    return surely_ns > total_ns / LEAST_SHARE || ids_run_ahead_is_dry(total_ns, count, noted->work_ns);
}

/* What was launched last the device has yet to do when the history ends. Of a run that was killed it never did. */
static void leave_undone(struct ids_noted *noted, int64_t ahead_ns) {
    for (size_t i = noted->count; i-- > 0 && ahead_ns >= noted->work_ns; ahead_ns -= noted->work_ns) {
        struct ids_noted_step *step = &noted->steps[i];
        noted->slow -= step->is_slow;
        step->is_slow = 0;
        step->is_undone = 1;
    }
}

/* Has what each step took in place of what its call did; slow is one that takes twice what it takes the device. */
static void count_by_device(struct ids_noted *noted) {
    struct ids_run_ahead ahead = {.step_ns = noted->work_ns};
    noted->slow = noted->longest_ns = 0;
    for (size_t i = 0; i < noted->count; i++) {
        struct ids_noted_step *step = &noted->steps[i];
        int is_judged = ids_noted_is_judged(noted, i);
        int is_known = is_judged && (ids_noted_recorded(noted->file, i) != IDS_NOTED_PARTLY || is_told_slow(noted, i));
        if (!is_known) ids_run_ahead_stop(&ahead);
        step->median_ns = step->usual_ns = noted->work_ns;
        if (is_judged)
            step->took_ns = is_known ? ids_run_ahead_step(&ahead, step->took_ns, &step->usual_ns) : noted->work_ns;
        step->is_slow = is_known && step->took_ns / 2 > noted->work_ns;
        noted->slow += step->is_slow;
    }
    leave_undone(noted, ahead.ahead_ns);
    for (size_t i = 0; i < noted->count; i++) {
        if (ids_noted_is_judged(noted, i) && noted->steps[i].took_ns > noted->longest_ns)
            noted->longest_ns = noted->steps[i].took_ns;
    }
}

static void list_steps(struct ids_noted *noted) {
    const struct ids_history_file *file = noted->file;
    for (size_t i = 0; i < noted->count; i++) {
        const struct ids_history_step *from = &file->steps[i];
        int64_t took_ns = file->steps[i + 1].begin_ns - from->begin_ns - (int64_t)from->stall_ns;
        noted->steps[i] = (struct ids_noted_step){.number = from->number,
                                                  .begin_ns = from->begin_ns,
                                                  .took_ns = took_ns < 0 ? 0 : took_ns,
                                                  .collectives = from->collectives};
    }
}

/* The first step ever is none, nor is one that starts something. */
static void add_to_median(const struct ids_noted *noted, size_t i, struct ids_median *median) {
    int64_t before = noted->file->head.steps - (int64_t)noted->file->step_count; /* that the ring has lost */
    if ((int64_t)i + before > 0 && !noted->steps[i].is_starting) ids_median_add(median, noted->steps[i].took_ns);
}

/* Of as many steps as a running median has: the first ones have few before them, which may be unlike the others. */
static int64_t median_of_first(const struct ids_noted *noted) {
    struct ids_median median = {0};
    for (size_t i = 0; i < noted->count && median.count < IDS_MEDIAN_OF; i++) add_to_median(noted, i, &median);
    return ids_median_of(&median);
}

static int ends_turn(const struct ids_noted *noted, size_t i) {
    const struct ids_noted_measured *by = &noted->measured;
    return by->turn_every > 1 && noted->steps[i].number >= 0 &&
           noted->steps[i].number % by->turn_every == by->turn_place;
}

static int64_t end_of_turn(const struct ids_noted *noted, size_t i) {
    return ends_turn(noted, i) && ids_noted_is_judged(noted, i) ? noted->steps[i].took_ns : -1;
}

/* Slow are those alone that take twice what others do that end a turn. */
static void judge_turns(struct ids_noted *noted) {
    int64_t turn_ns = median_of(noted, end_of_turn);
    for (size_t i = 0; i < noted->count && turn_ns > noted->median_ns; i++) {
        struct ids_noted_step *step = &noted->steps[i];
        if (!step->is_slow || !ends_turn(noted, i)) continue;
        step->median_ns = turn_ns;
        if (step->took_ns / 2 > turn_ns) continue;
        step->is_slow = 0;
        noted->slow--;
    }
}

static void judge_steps(struct ids_noted *noted) {
    struct ids_median median = {0};
    int64_t first_ns = median_of_first(noted);
    for (size_t i = 0; i < noted->count; i++) {
        struct ids_noted_step *step = &noted->steps[i];
        step->median_ns = median.count < IDS_MEDIAN_OF ? first_ns : ids_median_of(&median);
        judge_step(noted, i, step);
        noted->slow += step->is_slow;
        if (ids_noted_is_judged(noted, i) && step->took_ns > noted->longest_ns) noted->longest_ns = step->took_ns;
        add_to_median(noted, i, &median);
    }
    if (!has_rule(noted)) judge_recorded(noted);
    noted->launches = only_launches(noted);
    if (noted->launches) noted->work_ns = work_of_step(noted);
    noted->is_by_device = noted->launches && !has_rule(noted) && runs_dry(noted);
    if (noted->is_by_device) count_by_device(noted);
    for (size_t i = 0; i < noted->count && noted->launches && !noted->is_by_device && !has_rule(noted); i++)
        noted->slow -= noted->steps[i].is_slow, noted->steps[i].is_slow = 0;
    noted->median_ns = median_of(noted, took);
    noted->collectives = median_of(noted, collectives);
    if (!has_rule(noted)) judge_turns(noted);
    for (size_t i = 0; i < noted->count && !noted->is_by_device; i++)
        noted->steps[i].usual_ns = noted->steps[i].median_ns;
}

struct ids_noted_measured ids_noted_measured(const struct ids_report *report) {
    const struct ids_metric *median = ids_report_find(report, "steps.median", NULL);
    return (struct ids_noted_measured){
        .first = ids_window_number(report, "steps.first"),
        .last = ids_window_number(report, "steps.last"),
        .left_out = ids_window_number(report, "steps.left_out"),
        .step_ns = median && !median->value.missing ? median->value.i / PS_PER_NS : 0,
        .steps = ids_report_find_table(report, "steps"),
    };
}

int ids_noted_judge(const struct ids_history_file *file, const struct ids_noted_measured *by,
                    struct ids_noted *ret_noted) {
    *ret_noted = (struct ids_noted){.file = file, .measured = *by};
    ret_noted->steps = file->step_count < 2 ? NULL : calloc(file->step_count, sizeof *ret_noted->steps);
    if (!ret_noted->steps) return -1;
    ret_noted->count = file->step_count - 1;
    list_steps(ret_noted);
    add_compilations(ret_noted);
    judge_steps(ret_noted);
    return 0;
}

void ids_noted_done(struct ids_noted *noted) {
    free(noted->steps);
    noted->steps = NULL;
}
