#include "lib/run/missed.h"

#include "lib/run/window_steps.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A delay of a tenth of a second is the least that a person notices, and a run that is tried out is often a tenth of
 * the one that counts: what loses less than a tenth of that is not worth another recording. But what happened once is
 * no more in a run that is longer. */
enum { LEAST_SLOW = 2, LEAST_SHARE = 5, LEAST_LOST_NS = 10000000, LEAST_ONCE_NS = 100000000 };
/* Steps that take so many times as long as others are no noise of the machine: a smaller part of the run counts. */
enum { LONG = 8, LEAST_SHARE_OF_LONG = 10 };

static int is_measured(const struct ids_missed_step *step, const struct ids_report *report) {
    return step->is_recorded || (step->number >= ids_window_number(report, "steps.first") &&
                                 step->number <= ids_window_number(report, "steps.last") &&
                                 step->number != ids_window_number(report, "steps.left_out"));
}

static int is_of(const struct ids_rhythm *rhythm, const struct ids_missed_step *step) {
    return step->longer_ns > 0 && step->number >= 0 && step->number % rhythm->period == rhythm->first;
}

static int by_what_they_lose(const void *a, const void *b) {
    const struct ids_missed_step *left = *(const struct ids_missed_step *const *)a,
                                 *right = *(const struct ids_missed_step *const *)b;
    return (left->took_ns < right->took_ns) - (left->took_ns > right->took_ns);
}

/* How long those take, and longer, in which half of what all of them lose is lost: many that are noise say little of
 * few that take the time. Puts them in order. */
static void find_half(const struct ids_missed_step **slow, size_t count, int64_t longer_ns, struct ids_missed *missed) {
    int64_t lost_ns = 0;
    qsort(slow, count, sizeof *slow, by_what_they_lose);
    for (size_t i = 0; i < count; i++) {
        lost_ns += slow[i]->longer_ns;
        if (lost_ns < longer_ns - longer_ns / 2) continue;
        missed->took_ns = slow[i]->took_ns;
        missed->half_ns = slow[i]->longer_ns;
        missed->half_usual_ns = slow[i]->usual_ns;
        return;
    }
}

/* Where the rhythm has half of what slow steps take longer, it is told, and how long its steps take: others are noise.
 * A few of its steps that take many times as long as it usually does are slow for something else. Room for `count` of
 * them. */
static void judge_rhythm(const struct ids_missed_step *steps, size_t count, const struct ids_rhythm *rhythm,
                         const struct ids_missed_step **slow, struct ids_missed *missed) {
    const int64_t most_ns = 2 * (rhythm->took_ns - rhythm->usual_ns);
    int64_t usually_ns = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_of(rhythm, &steps[i])) continue;
        slow[missed->in_rhythm++] = &steps[i];
        missed->in_rhythm_ns += steps[i].longer_ns;
        usually_ns += steps[i].longer_ns < most_ns ? steps[i].longer_ns : most_ns;
    }
    missed->is_rhythm = missed->in_rhythm && usually_ns >= missed->longer_ns / 2;
    if (missed->is_rhythm) find_half(slow, missed->in_rhythm, missed->in_rhythm_ns, missed);
}

/* Room for `count` of them. */
static void sum_up(const struct ids_missed_step *steps, size_t count, const struct ids_missed_step **slow,
                   struct ids_missed *missed) {
    int64_t compiled_ns = 0;
    for (size_t i = 0; i < count; i++) {
        const struct ids_missed_step *step = &steps[i];
        missed->total_ns += step->took_ns;
        if (step->longer_ns <= 0) continue;
        slow[missed->slow++] = step;
        missed->longer_ns += step->longer_ns;
        missed->usual_ns += step->usual_ns;
        missed->garbage_ns += step->garbage_ns < step->longer_ns ? step->garbage_ns : step->longer_ns;
        missed->compile_ns += step->compile_ns < step->longer_ns ? step->compile_ns : step->longer_ns;
        if (step->compile_ns <= compiled_ns) continue;
        compiled_ns = step->compile_ns;
        missed->compiled = step->compiled;
    }
    find_half(slow, missed->slow, missed->longer_ns, missed);
    for (size_t i = 0; i < count && missed->first_count < IDS_MISSED_NAMED; i++) {
        if (steps[i].longer_ns > 0 && steps[i].took_ns >= missed->took_ns && steps[i].number >= 0)
            missed->first[missed->first_count++] = steps[i].number;
    }
}

/* One step alone loses half of it. */
static int is_once(const struct ids_missed_step *steps, size_t count, const struct ids_missed *missed) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++) found += steps[i].longer_ns > 0 && steps[i].took_ns >= missed->took_ns;
    return found < 2;
}

/* sys.getswitchinterval(), which hardly any program sets. */
static int begin_at_switch_interval(const struct ids_missed_step *steps, size_t count) {
    enum { MS = 1000000, INTERVAL_NS = 5 * MS, EARLY_NS = MS / 10, LEAST = 10, SHARE = 10 };
    size_t below = 0, above = 0, at = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t longer_ns = steps[i].longer_ns;
        if (longer_ns < MS) continue;
        if (steps[i].took_ns - longer_ns > MS)
            return 0; /* what is slow begins with one step more: the gap is no sign */
        below += longer_ns < INTERVAL_NS - EARLY_NS;
        above += longer_ns >= INTERVAL_NS - EARLY_NS;
        at += longer_ns >= INTERVAL_NS - EARLY_NS && longer_ns < INTERVAL_NS + MS;
    }
    return above >= LEAST && below * SHARE <= above && at * SHARE >= above;
}

/* The window may have left the history: then the report tells how long its steps took. */
static int is_in_window(const struct ids_missed_step *steps, size_t count, int64_t took_ns,
                        const struct ids_report *report) {
    int64_t step_ns;
    for (size_t i = 0; i < count; i++) {
        if (is_measured(&steps[i], report)) return 0;
    }
    for (size_t at = 0; (step_ns = ids_window_step(report, &at)) >= 0;) {
        if (step_ns >= took_ns) return 1;
    }
    return 0;
}

int ids_missed_find(const struct ids_missed_step *steps, size_t count, const struct ids_rhythm *rhythm, int64_t kept_ns,
                    const struct ids_report *report, struct ids_missed *ret_missed) {
    struct ids_missed missed = {.steps = count};
    const struct ids_missed_step **slow = calloc(count + 1, sizeof *slow);
    if (slow) sum_up(steps, count, slow, &missed);
    if (slow && rhythm) judge_rhythm(steps, count, rhythm, slow, &missed);
    free(slow);
    const int is_long = missed.took_ns / LONG >= missed.half_usual_ns;
    if (missed.slow < LEAST_SLOW) return 0;
    if (missed.longer_ns < missed.total_ns / (is_long ? LEAST_SHARE_OF_LONG : LEAST_SHARE)) return 0;
    if (missed.longer_ns < (is_once(steps, count, &missed) ? LEAST_ONCE_NS : LEAST_LOST_NS)) return 0;
    if (ids_window_number(report, "steps.first") < 0) return 0;
    if (kept_ns && kept_ns >= missed.took_ns / 2) return 0;
    for (size_t i = 0; i < count; i++) {
        if (steps[i].took_ns < missed.took_ns / 2) continue;
        if (is_measured(&steps[i], report)) return 0;
        if (steps[i].number >= 0 && steps[i].number == ids_window_number(report, "steps.left_out"))
            missed.is_opening = 1;
    }
    if (is_in_window(steps, count, missed.took_ns / 2, report)) return 0;
    missed.is_of_lock = begin_at_switch_interval(steps, count);
    *ret_missed = missed;
    return 1;
}

/* ", such as steps 12, 24 and 32"; "" where none has a number. */
static const char *say_first(const struct ids_missed *missed, struct ids_report *report) {
    const char *text = "";
    for (size_t i = 0; i < missed->first_count; i++) {
        const char *before = i == 0 ? (missed->first_count > 1 ? ", such as steps " : ", such as step ")
                             : i + 1 < missed->first_count ? ", "
                                                           : " and ";
        text = ids_report_text(report, "%s%s%" PRId64, text, before, missed->first[i]);
    }
    return text;
}

static const char *say_time(struct ids_report *report, int64_t ns) {
    char text[IDS_VALUE_ROOM];
    int64_t ps;
    if (__builtin_mul_overflow(ns, 1000, &ps)) return "?";
    return ids_report_text(report, "%s", ids_value_format(ids_int_value(IDS_UNIT_TIME, ps), text, sizeof text));
}

static const char *say_share(struct ids_report *report, double share) {
    char text[IDS_VALUE_ROOM];
    return ids_report_text(report, "%s", ids_value_format(ids_real_value(IDS_UNIT_RATIO, share), text, sizeof text));
}

static int is_of_garbage(const struct ids_missed *missed) {
    return missed->garbage_ns >= missed->longer_ns / 2;
}

static int is_of_compiling(const struct ids_missed *missed) {
    return missed->compiled && missed->compile_ns >= missed->longer_ns / 2;
}

/* They take no longer than sharing the cores makes them: all together, and those that lose half of the time, which may
 * stand out of many that are noise. `turn_ns`: for how long each of them waits besides. */
static int is_by_share(const struct ids_missed *missed, double turn_ns) {
    enum { SLACK = 2 };
    double usual_ns = (double)missed->usual_ns, half_usual_ns = (double)missed->half_usual_ns,
           share = 1 - missed->others;
    return (usual_ns + (double)missed->longer_ns - (double)missed->slow * turn_ns) * share <= SLACK * usual_ns &&
           (half_usual_ns + (double)missed->half_ns - turn_ns) * share <= SLACK * half_usual_ns;
}

/* A scheduler gives a core away for some milliseconds. Whose step is shorter than that has it in one turn or waits for
 * those of all others, so most steps take as long as ever, and a few take many times as long. */
static double turn_of_others(const struct ids_missed *missed) {
    enum { SLICE_NS = 4000000 };
    double share = 1 - missed->others;
    return share > 0 ? SLICE_NS * missed->others / share : 0;
}

/* The machine had no core left for at least half as much of the run as the slow steps take of it, and sharing it
 * explains how long they take. */
static int is_of_others(const struct ids_missed *missed) {
    return !is_of_garbage(missed) && !is_of_compiling(missed) && !missed->is_of_lock &&
           is_by_share(missed, turn_of_others(missed)) &&
           missed->busy * 2 >= (double)missed->longer_ns / (double)missed->total_ns;
}

/* ", 92.0 % of it in collections of garbage" */
static const char *say_cause(const struct ids_missed *missed, struct ids_report *report) {
    double longer_ns = (double)missed->longer_ns;
    if (is_of_garbage(missed))
        return ids_report_text(report, ", %s of it in collections of garbage",
                               say_share(report, (double)missed->garbage_ns / longer_ns));
    if (!is_of_compiling(missed)) return "";
    return ids_report_text(report, ", %s of it in compilations (longest: %s)",
                           say_share(report, (double)missed->compile_ns / longer_ns), missed->compiled);
}

/* Not by the rule that has just missed them. */
static const char *how_to_record(const struct ids_missed *missed) {
    return missed->is_by_rule ? "--keep-slowest 1" : "--when 'step > 2x'";
}

/* ", most here at train.py:88": where the window that is reported has most time in collections. */
static const char *say_collecting(struct ids_report *report) {
    const struct ids_table *ledger = ids_report_find_table(report, "ledger");
    int culprit = ids_table_column(ledger, "culprit"), where = ids_table_column(ledger, "where");
    for (size_t row = 0; ledger && row < ledger->row_count; row++) { /* most time first */
        const char *name = ids_table_cell(ledger, row, culprit)->text, *at = ids_table_cell(ledger, row, where)->text;
        if (name && at && !strcmp(name, "collect garbage"))
            return ids_report_text(report, ", most of what is recorded here at %s", at);
    }
    return "";
}

static const char *what_to_do(const struct ids_missed *missed, int has_opening, struct ids_report *report) {
    if (is_of_garbage(missed))
        return ids_report_text(report,
                               "%s - make fewer objects in a step, take what stays out of the collector (gc.freeze "
                               "after setup), or gc.disable and gc.collect at a step of your choice; where the objects "
                               "are made: idsprof capture --when 'step > 2x'",
                               say_collecting(report));
    if (is_of_compiling(missed))
        return " - keep shapes, dtypes and static arguments the same from step to step (pad), and jit a function once, "
               "outside the loop; why it is compiled again: idsprof capture --when 'step > 2x'";
    if (!is_of_others(missed))
        return ids_report_text(report, "; none like these is measured here%s%s - record one%s: idsprof capture %s",
                               has_opening ? ", and the one that opened the window not whole" : "",
                               missed->is_of_lock ? "; another thread of the program may have Python's lock" : "",
                               has_opening ? " whole" : "", how_to_record(missed));
    return ids_report_text(report,
                           ", while other processes had %s of the machine's cores - run it without them; should steps "
                           "be slow then too, record one: idsprof capture %s",
                           say_share(report, missed->others), how_to_record(missed));
}

/* 1: advice says what held up the step that the window opened with. It is one of those that lose the time, and its
 * cause is recorded, so it comes first. */
static int put_opening_first(const struct ids_missed *missed, struct ids_report *report) {
    if (!missed->is_opening) return 0;
    for (size_t i = 0; i < report->advice_count; i++) {
        const struct ids_advice advice = report->advice[i];
        if (!advice.account || !advice.explain || strcmp(advice.explain, IDS_OPENING_EXPLAIN) != 0) continue;
        memmove(report->advice + 1, report->advice, i * sizeof *report->advice);
        report->advice[0] = advice;
        return 1;
    }
    return 0;
}

/* Behind what surely takes more of all steps: slow ones may be slow by it, and it is measured here. What the lack of
 * cores takes is no cause of the program's own. */
static size_t place_of(const struct ids_missed *missed, int64_t lost_ns, int is_second,
                       const struct ids_report *report) {
    double usual_ns = (double)(missed->total_ns - missed->longer_ns);
    size_t place = (size_t)is_second;
    for (size_t i = place; i < report->advice_count; i++) {
        const struct ids_advice *advice = &report->advice[i];
        double own_ns = (double)(advice->saves_ps - advice->chance_ps) / 1000 * (double)missed->steps;
        int is_of_core = advice->culprit && !strcmp(advice->culprit, "wait_for_core");
        if (!advice->per_step || advice->saves_ps <= 0 || is_of_core) break;
        if ((own_ns < usual_ns ? own_ns : usual_ns) <= (double)lost_ns) break;
        place = i + 1;
    }
    return place;
}

/* The history has more steps than are judged: where that is not the first ten alone, as everywhere, it is said why. */
static const char *say_judged(const struct ids_missed *missed, struct ids_report *report) {
    enum { FIRST = 10 };
    if (missed->of <= missed->steps + FIRST) return "by the history, after the first ten steps";
    return ids_report_text(
        report,
        "by the history, of whose %zu steps %zu are judged: not the first ten, nor those that mostly "
        "compiled a function for the first time, nor those that the device had not done at its end",
        missed->of, missed->steps);
}

/* "7 of 689 steps are slow in a rhythm, and lose 36.8 % of the run's time: one of 97 ...": what others lose that are
 * noise is not the rhythm's, and stands apart. */
static struct ids_advice advice_on_rhythm(const struct ids_missed *missed, const char *rhythm,
                                          struct ids_report *report) {
    double total_ns = (double)missed->total_ns;
    const char *others = "";
    int is_of_some = missed->in_rhythm < missed->slow;
    if (is_of_some)
        others =
            ids_report_text(report, "; with the other slow ones, %zu, it is %s%s", missed->slow - missed->in_rhythm,
                            say_share(report, (double)missed->longer_ns / total_ns), say_cause(missed, report));
    return (struct ids_advice){
        .saves_ps = -1,
        .per_step = 1,
        .what = ids_report_text(report, "%zu of %zu steps are slow%s, and lose %s of the run's time%s: %s",
                                missed->in_rhythm, missed->steps, is_of_some ? " in a rhythm" : "",
                                say_share(report, (double)missed->in_rhythm_ns / total_ns),
                                is_of_some ? "" : say_cause(missed, report), rhythm),
        .evidence = ids_report_text(report, "%s lose %s, half of it in steps of %s and more, of %s%s; %s",
                                    is_of_some ? "those of that rhythm" : "the slow steps",
                                    say_time(report, missed->in_rhythm_ns), say_time(report, missed->took_ns),
                                    say_time(report, missed->total_ns), others, say_judged(missed, report))};
}

void ids_missed_tell(const struct ids_missed *missed, const char *rhythm, struct ids_report *report) {
    double lost = (double)missed->longer_ns / (double)missed->total_ns;
    const char *share = say_share(report, lost);
    int has_opening = put_opening_first(missed, report);
    if (missed->is_by_device && is_of_others(missed)) rhythm = NULL;
    int is_theirs = !rhythm && is_of_others(missed);
    if (!is_theirs) ids_report_property(report, "steps.missed_share", ids_real_value(IDS_UNIT_RATIO, lost));
    if (missed->is_rhythm && rhythm) {
        struct ids_advice advice = advice_on_rhythm(missed, rhythm, report);
        ids_report_advice_at(report, &advice, place_of(missed, missed->in_rhythm_ns, has_opening, report));
        return;
    }
    const char *found =
        ids_report_text(report, "%zu of %zu steps are slow%s, and lose %s of the run's time%s", missed->slow,
                        missed->steps, rhythm ? "" : say_first(missed, report), share, say_cause(missed, report));
    const char *what = ids_report_text(report, "%s%s%s", found, rhythm ? ": " : "",
                                       rhythm ? rhythm : what_to_do(missed, has_opening, report));
    const char *evidence =
        ids_report_text(report, "the slow steps lose %s, half of it in steps of %s and more, of %s; %s",
                        say_time(report, missed->longer_ns), say_time(report, missed->took_ns),
                        say_time(report, missed->total_ns), say_judged(missed, report));
    if (missed->is_of_lock && !is_of_garbage(missed) && !is_of_compiling(missed) && !rhythm)
        evidence = ids_report_text(report,
                                   "%s; they begin to lose at 5 ms, for which a thread waits for Python's lock while "
                                   "another one computes",
                                   evidence);
    if (is_theirs)
        evidence = ids_report_text(report, "%s; all cores were busy for %s of the run%s", evidence,
                                   say_share(report, missed->busy),
                                   is_by_share(missed, 0) ? ""
                                                          : ", and who has one keeps it for milliseconds, for which a "
                                                            "short step waits");
    ids_report_advice_at(report,
                         &(struct ids_advice){.saves_ps = -1, .per_step = 1, .what = what, .evidence = evidence},
                         is_theirs ? 1 : place_of(missed, missed->longer_ns, has_opening, report));
}

int ids_missed_tell_turn(const struct ids_missed_step *steps, size_t count, const struct ids_rhythm *rhythm,
                         const char *text, struct ids_report *report) {
    int64_t total_ns = 0, longer_ns = 0;
    for (size_t i = 0; i < count; i++) {
        total_ns += steps[i].took_ns;
        if (steps[i].number >= 0 && steps[i].number % rhythm->period == rhythm->first &&
            steps[i].took_ns > rhythm->usual_ns)
            longer_ns += steps[i].took_ns - rhythm->usual_ns;
    }
    if (longer_ns < total_ns / LEAST_SHARE || longer_ns < LEAST_LOST_NS) return 0;
    double share = (double)longer_ns / (double)total_ns;
    if (!ids_report_find_property(report, "steps.missed_share"))
        ids_report_property(report, "steps.missed_share", ids_real_value(IDS_UNIT_RATIO, share));
    const struct ids_advice advice = {
        .saves_ps = -1,
        .per_step = 1,
        .what = ids_report_text(report,
                                "%s is called with one of %" PRId64 " steps, and %s of the run's time lies there: %s",
                                rhythm->turn, rhythm->period, say_share(report, share), text),
        .evidence = ids_report_text(report,
                                    "these steps take %s longer than as many others, of %s; they are turns of the "
                                    "loop, and not slow; by the history",
                                    say_time(report, longer_ns), say_time(report, total_ns)),
    };
    ids_report_advice_at(report, &advice, longer_ns >= total_ns - longer_ns || !report->advice_count ? 0 : 1);
    return 1;
}
