#include "lib/run/history.h"

#include "collectors/common/recorder.h"
#include "lib/analysis/history_tables.h"
#include "lib/capture/history_file.h"
#include "lib/model/sink.h"
#include "lib/run/file_name.h"
#include "lib/run/kept_like.h"
#include "lib/run/missed.h"
#include "lib/run/rhythm.h"
#include "lib/run/run_ahead.h"
#include "lib/run/slowdown.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PS_PER_NS = 1000, LINE_PARTS = 40, BAR_BYTES = 3, SLOW_SHOWN = 20, NAMES_MOST = 4096 };

size_t ids_capture_of(const char *path) {
    const char *end = strstr(path, "/plugins/profile/");
    return end ? (size_t)(end - path) : 0;
}

int ids_run_kept(const struct ids_run_files *run, struct ids_kept *ret_kept) {
    if (run->number || !run->file_count || run->files[0].archive) return -1;
    return ids_capture_of(run->files[0].path) ? ids_kept_read(run->files[0].path, ret_kept) : -1;
}

/* ---- one process ---- */

struct step {
    int64_t number, begin_ns, took_ns, median_ns, collectives;
    int is_slow;
};

struct past {
    const struct ids_history_file *file;
    const char *name;
    struct step *steps;
    size_t count;
    int64_t slow, longest_ns, median_ns;
    int launches;        /* 1: what is noted of its steps are times of calls */
    int is_by_device;    /* 1: from which those of steps were made (run_ahead.h) */
    int64_t collectives; /* of the usual step; -1: not known */
    int64_t step_ns;     /* of the steps that the report measures, the one in the middle; 0 unknown */
};

static int64_t measured_ns(const struct ids_report *report) {
    const struct ids_metric *median = ids_report_find(report, "steps.median", NULL);
    return median && !median->value.missing ? median->value.i / PS_PER_NS : 0;
}

static int by_value(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static int64_t took(const struct step *step) {
    return step->took_ns;
}

static int64_t collectives(const struct step *step) {
    return step->collectives;
}

/* Of the steps that have it; -1: none has. */
static int64_t median_of(const struct past *past, int64_t (*what)(const struct step *step)) {
    int64_t *values = calloc(past->count + 1, sizeof *values), median = -1;
    size_t count = 0;
    for (size_t i = 0; values && i < past->count; i++) {
        if (what(&past->steps[i]) >= 0) values[count++] = what(&past->steps[i]);
    }
    if (count) {
        qsort(values, count, sizeof *values, by_value);
        median = values[count / 2];
    }
    free(values);
    return median;
}

static int64_t end_of(const struct past *past, size_t i) {
    return past->file->steps[i + 1].begin_ns;
}

/* What windows have of a step: no part, the whole, or a part, because one opened or closed in it. */
enum recorded { NOT, WHOLE, PARTLY };

static enum recorded recorded(const struct ids_history_file *file, size_t i) {
    int64_t from_ns = file->steps[i].begin_ns, to_ns = file->steps[i + 1].begin_ns;
    enum recorded found = file->steps[i].stall_ns > 0 ? PARTLY : NOT;
    for (size_t e = 0; e < file->event_count && found != PARTLY; e++) {
        const struct ids_history_event *event = &file->events[e];
        if (event->kind != IDS_HISTORY_WINDOW || event->end_ns < from_ns || event->begin_ns >= to_ns) continue;
        found = event->begin_ns <= from_ns && event->end_ns >= to_ns ? WHOLE : PARTLY;
    }
    return found;
}

/* Where windows are judged, the agent judged the step while the program ran: it knew of windows that were thrown away,
 * and held profiled steps against one another. Else a step is slow that takes twice the median, and one that a window
 * touches also twice that of such steps: for being recorded it is not slow. Of one in which a window opened or closed
 * nobody can tell. */
static void judge_step(const struct ids_history_head *head, const struct ids_history_step *from, int is_warm,
                       struct step *step) {
    enum { TIMES = 2 };
    if (head->when_ns || head->when_ratio || from->slow_median_ns != 0) {
        step->is_slow = from->slow_median_ns != 0;
        if (step->is_slow) step->median_ns = from->slow_median_ns > 0 ? (int64_t)from->slow_median_ns : 0;
        return;
    }
    step->is_slow = is_warm && step->median_ns && step->took_ns / TIMES > step->median_ns;
}

/* Of the steps that a window touches, or of those of them that lie in it; -1: there is none. */
static int64_t median_recorded(const struct past *past, int whole) {
    int64_t *times = calloc(past->count + 1, sizeof *times), median_ns = -1;
    size_t count = 0;
    for (size_t i = 0; times && i < past->count; i++) {
        enum recorded is_in = recorded(past->file, i);
        if (is_in == WHOLE || (is_in == PARTLY && !whole)) times[count++] = past->steps[i].took_ns;
    }
    if (count) {
        qsort(times, count, sizeof *times, by_value);
        median_ns = times[count / 2];
    }
    free(times);
    return median_ns;
}

/* A program that launches its steps and waits for none of them is through with its calls long before the device: how
 * long these take says nothing of a step. */
static int only_launches(const struct past *past) {
    int64_t median_ns = past->step_ns ? median_recorded(past, 1) : -1;
    return median_ns >= 0 && median_ns < past->step_ns / 4;
}

static void judge_recorded(struct past *past) {
    int64_t median_ns = median_recorded(past, 0);
    for (size_t i = 0; i < past->count && median_ns >= 0; i++) {
        struct step *step = &past->steps[i];
        enum recorded is_in = step->is_slow ? recorded(past->file, i) : NOT;
        if (is_in == NOT || (is_in == WHOLE && step->took_ns / 2 > median_ns)) continue;
        if (past->file->steps[i].slow_median_ns != 0) continue; /* before a window opened in it */
        step->is_slow = 0;
        past->slow--;
    }
}

/* Not of those that compile. The ring's first step has as many before it as the ring has lost. */
static int is_judged(const struct past *past, size_t i) {
    return (int64_t)i + past->file->head.steps - (int64_t)past->file->step_count >= IDS_WARM_STEPS;
}

/* Whether the calls that only launch are the lesser part: the program does something else in some of them, for which
 * the device runs dry. */
static int runs_dry(const struct past *past) {
    int64_t total_ns = 0;
    size_t count = 0;
    for (size_t i = 0; i < past->count; i++) {
        if (!is_judged(past, i) || recorded(past->file, i) != NOT) continue;
        total_ns += past->steps[i].took_ns;
        count++;
    }
    return ids_run_ahead_is_dry(total_ns, count, past->step_ns);
}

/* Has what each step took in place of what its call did; slow is one that takes twice what it takes the device. */
static void count_by_device(struct past *past) {
    struct ids_run_ahead ahead = {.step_ns = past->step_ns};
    past->slow = past->longest_ns = 0;
    for (size_t i = 0; i < past->count; i++) {
        struct step *step = &past->steps[i];
        int is_known = is_judged(past, i) && recorded(past->file, i) != PARTLY;
        if (!is_known) ids_run_ahead_stop(&ahead);
        if (is_judged(past, i)) step->took_ns = is_known ? ids_run_ahead_step(&ahead, step->took_ns) : past->step_ns;
        step->median_ns = past->step_ns;
        step->is_slow = is_known && step->took_ns / 2 > past->step_ns;
        past->slow += step->is_slow;
        if (is_judged(past, i) && step->took_ns > past->longest_ns) past->longest_ns = step->took_ns;
    }
}

static void judge_steps(struct past *past) {
    const struct ids_history_file *file = past->file;
    struct ids_median median = {0};
    int64_t before = file->head.steps - (int64_t)file->step_count; /* that the ring has lost */
    past->count = file->step_count - 1;
    for (size_t i = 0; i < past->count; i++) {
        const struct ids_history_step *from = &file->steps[i];
        struct step *step = &past->steps[i];
        *step = (struct step){.number = from->number, .begin_ns = from->begin_ns, .median_ns = ids_median_of(&median)};
        step->collectives = from->collectives;
        step->took_ns = file->steps[i + 1].begin_ns - from->begin_ns - (int64_t)from->stall_ns;
        if (step->took_ns < 0) step->took_ns = 0;
        judge_step(&file->head, from, is_judged(past, i), step);
        past->slow += step->is_slow;
        if (is_judged(past, i) && step->took_ns > past->longest_ns) past->longest_ns = step->took_ns;
        if ((int64_t)i + before > 0) ids_median_add(&median, step->took_ns);
    }
    int has_rule = file->head.when_ns || file->head.when_ratio;
    if (!has_rule) judge_recorded(past);
    past->launches = only_launches(past);
    past->is_by_device = past->launches && !has_rule && runs_dry(past);
    if (past->is_by_device) count_by_device(past);
    for (size_t i = 0; i < past->count && past->launches && !past->is_by_device && !has_rule; i++)
        past->slow -= past->steps[i].is_slow, past->steps[i].is_slow = 0;
    past->median_ns = median_of(past, took);
    past->collectives = median_of(past, collectives);
}

static const char *bar_of(int64_t took_ns, int64_t median_ns) {
    static const double limits[] = {1.25, 1.5, 2, 3, 4, 6, 8};
    static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    size_t i = 0;
    double ratio = median_ns ? (double)took_ns / (double)median_ns : 0;
    while (i < sizeof limits / sizeof *limits && ratio >= limits[i]) i++;
    return bars[i];
}

static const char *draw(const struct past *past, char line[LINE_PARTS * BAR_BYTES + 1]) {
    size_t parts = past->count < LINE_PARTS ? past->count : LINE_PARTS, used = 0;
    for (size_t part = 0; part < parts; part++) {
        int64_t longest = 0;
        for (size_t i = part * past->count / parts; i < (part + 1) * past->count / parts; i++) {
            if (past->steps[i].took_ns > longest) longest = past->steps[i].took_ns;
        }
        memcpy(line + used, bar_of(longest, past->median_ns), BAR_BYTES);
        used += BAR_BYTES;
    }
    line[used] = '\0';
    return line;
}

static struct ids_value time_value(int64_t ns) {
    int64_t ps;
    return __builtin_mul_overflow(ns, PS_PER_NS, &ps) ? ids_no_value(IDS_UNIT_TIME) : ids_int_value(IDS_UNIT_TIME, ps);
}

static struct ids_value count_value(int64_t count) {
    return count < 0 ? ids_no_value(IDS_UNIT_COUNT) : ids_int_value(IDS_UNIT_COUNT, count);
}

static void add_history(const struct past *past, struct ids_report *report) {
    char line[LINE_PARTS * BAR_BYTES + 1];
    const struct ids_history_head *head = &past->file->head;
    const struct step *first = &past->steps[0], *last = &past->steps[past->count - 1];
    const struct ids_value row[] = {
        ids_text_value(past->name),
        ids_int_value(IDS_UNIT_COUNT, first->number),
        ids_int_value(IDS_UNIT_COUNT, last->number),
        ids_int_value(IDS_UNIT_COUNT, (int64_t)past->count),
        time_value(past->file->steps[past->count].begin_ns - first->begin_ns),
        time_value(past->median_ns),
        past->longest_ns ? time_value(past->longest_ns) : ids_no_value(IDS_UNIT_TIME),
        ids_int_value(IDS_UNIT_COUNT, past->slow),
        ids_int_value(IDS_UNIT_COUNT, head->compiles),
        count_value(past->collectives),
        ids_text_value(draw(past, line)),
    };
    _Static_assert(sizeof row / sizeof *row == IDS_HISTORY_COLUMNS, "a cell a column");
    ids_report_row(report, ids_report_table(report, &ids_history_table), row);
}

/* ---- its slow steps ---- */

/* "96 collectives, not 48": unlike the usual step. */
static const char *collectives_in(const struct past *past, const struct step *step, struct ids_report *report) {
    if (step->collectives < 0 || step->collectives == past->collectives) return NULL;
    return ids_report_text(report, "%lld collective%s, not %lld", (long long)step->collectives,
                           step->collectives == 1 ? "" : "s", (long long)past->collectives);
}

/* "compiled train_step; recorded: window 2": what the agent knows of the step's time. */
static const char *events_in(const struct past *past, const struct step *step, struct ids_report *report) {
    const char *text = collectives_in(past, step, report);
    int64_t end_ns = end_of(past, (size_t)(step - past->steps));
    int64_t garbage_ns = (int64_t)past->file->steps[step - past->steps].garbage_ns;
    char time[IDS_VALUE_ROOM];
    if (garbage_ns)
        text = ids_report_text(report, "%s%scollected garbage for %s", text ? text : "", text ? "; " : "",
                               ids_value_format(time_value(garbage_ns), time, sizeof time));
    for (size_t i = 0; i < past->file->event_count; i++) {
        const struct ids_history_event *event = &past->file->events[i];
        if (event->end_ns < step->begin_ns || event->begin_ns >= end_ns) continue;
        const char *what = event->kind == IDS_HISTORY_COMPILE  ? "compiled "
                           : event->kind == IDS_HISTORY_WINDOW ? "recorded: window "
                                                               : NULL;
        /* Of a window its number alone: its reason is that of the slowest step in it. */
        int length = event->kind == IDS_HISTORY_WINDOW ? (int)strcspn(event->name, " ") : (int)strlen(event->name);
        if (what && (!text || strlen(text) < 120))
            text = ids_report_text(report, "%s%s%s%.*s", text ? text : "", text ? "; " : "", what, length, event->name);
    }
    return text;
}

static int slower_first(const void *a, const void *b) {
    const struct step *const *left = a, *const *right = b;
    if ((*left)->took_ns != (*right)->took_ns) return (*left)->took_ns < (*right)->took_ns ? 1 : -1;
    return (*left > *right) - (*left < *right);
}

static void add_slow_step(const struct past *past, const struct step *step, struct ids_table *table,
                          struct ids_report *report) {
    const struct ids_value row[] = {
        ids_text_value(past->name),
        ids_int_value(IDS_UNIT_COUNT, step->number),
        time_value(step->begin_ns - past->steps[0].begin_ns),
        time_value(step->took_ns),
        step->median_ns ? ids_real_value(IDS_UNIT_NUMBER, (double)step->took_ns / (double)step->median_ns)
                        : ids_no_value(IDS_UNIT_NUMBER),
        count_value(step->collectives),
        ids_text_value(events_in(past, step, report)),
    };
    _Static_assert(sizeof row / sizeof *row == IDS_SLOW_STEPS_COLUMNS, "a cell a column");
    ids_report_row(report, table, row);
}

static void add_slow(const struct past *past, struct ids_report *report) {
    struct ids_table *table = ids_report_table(report, &ids_slow_steps_table);
    const struct step **slow = calloc((size_t)past->slow, sizeof *slow);
    size_t count = 0;
    if (!slow) {
        report->out_of_memory = 1;
        return;
    }
    for (size_t i = 0; i < past->count; i++) {
        if (past->steps[i].is_slow) slow[count++] = &past->steps[i];
    }
    qsort(slow, count, sizeof *slow, slower_first);
    for (size_t i = 0; i < count && i < SLOW_SHOWN; i++) add_slow_step(past, slow[i], table, report);
    if (count > SLOW_SHOWN) table->rows_left_out += (int64_t)(count - SLOW_SHOWN);
    free(slow);
}

static void say_launches(const struct past *past, struct ids_report *report) {
    char text[IDS_VALUE_ROOM];
    ids_report_property(
        report, "launches",
        ids_text_value(
            past->is_by_device
                ? ids_report_text(report,
                                  "the loop runs ahead of its device: the history's times are of a step's work there, "
                                  "%s, and of how long there was none",
                                  ids_value_format(time_value(past->step_ns), text, sizeof text))
                : ids_report_text(report, "the history's times are of calls that only launch a step: %s each",
                                  ids_value_format(time_value(past->median_ns), text, sizeof text))));
}

static void add_process(const struct ids_history_file *file, int64_t step_ns, struct ids_report *report) {
    const struct ids_history_head *head = &file->head;
    struct past past = {.file = file, .step_ns = step_ns};
    if (file->step_count < 2) return;
    past.steps = calloc(file->step_count, sizeof *past.steps);
    if (!past.steps) {
        report->out_of_memory = 1;
        return;
    }
    past.name = head->rank >= 0 ? ids_report_text(report, "rank %lld", (long long)head->rank)
                                : ids_report_text(report, "%s.%lld", head->host, (long long)head->pid);
    judge_steps(&past);
    add_history(&past, report);
    if (past.slow) add_slow(&past, report);
    if (past.launches && !ids_report_find_property(report, "launches")) say_launches(&past, report);
    free(past.steps);
}

/* ---- all of them ---- */

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names of the folder's histories; the list and its texts are the caller's to free. */
static size_t list_names(DIR *folder, char *names[NAMES_MOST]) {
    size_t count = 0;
    for (struct dirent *entry; count < NAMES_MOST && (entry = readdir(folder));) {
        if (!ids_name_ends_with(entry->d_name, ".history")) continue;
        names[count] = strdup(entry->d_name);
        if (names[count]) count++;
    }
    if (count) qsort(names, count, sizeof *names, by_name);
    return count;
}

/* What a stored report has of it may be of a time when the program still ran. */
static void empty(struct ids_report *report, const struct ids_table_def *def) {
    struct ids_table *table = (struct ids_table *)ids_report_find_table(report, def->id);
    if (!table) return;
    table->row_count = 0;
    table->rows_left_out = 0;
}

/* -1: no window has a whole step of it. */
static int64_t recorded_by(const struct ids_history_file *file) {
    struct past past = {.file = file};
    past.steps = file->step_count < 2 ? NULL : calloc(file->step_count, sizeof *past.steps);
    if (!past.steps) return -1;
    judge_steps(&past);
    int64_t median_ns = median_recorded(&past, 1);
    free(past.steps);
    return median_ns;
}

/* The time of a step that the report measures is a mean over all processes: it is that of each where those are alike,
 * and else of none. 0: not known. */
static int64_t step_of_each(DIR *folder, char *const *names, size_t count, const struct ids_report *report) {
    int64_t least = INT64_MAX, most = 0, step_ns = measured_ns(report);
    for (size_t i = 0; count > 1 && i < count && i < IDS_HISTORY_PROCESSES; i++) {
        struct ids_history_file file;
        struct ids_error ignored = IDS_ERROR_INIT;
        if (ids_history_file_read(dirfd(folder), names[i], &file, &ignored)) continue;
        int64_t took_ns = recorded_by(&file);
        ids_history_file_done(&file);
        if (took_ns < 0) continue;
        if (took_ns < least) least = took_ns;
        if (took_ns > most) most = took_ns;
    }
    return most > least && most - least > step_ns / 4 ? 0 : step_ns;
}

static void add_all(DIR *folder, struct ids_report *report) {
    char *names[NAMES_MOST];
    size_t count = list_names(folder, names), shown = 0;
    int64_t step_ns = step_of_each(folder, names, count, report);
    if (count) {
        empty(report, &ids_history_table);
        empty(report, &ids_slow_steps_table);
    }
    for (size_t i = 0; i < count; i++) {
        struct ids_history_file file;
        struct ids_error ignored = IDS_ERROR_INIT; /* a file that is damaged or gone says nothing */
        if (shown == IDS_HISTORY_PROCESSES) {
            ids_report_table(report, &ids_history_table)->rows_left_out++;
        } else if (!ids_history_file_read(dirfd(folder), names[i], &file, &ignored)) {
            shown += file.step_count >= 2;
            add_process(&file, step_ns, report);
            ids_history_file_done(&file);
        }
        free(names[i]);
    }
}

/* The folder of what a capture notes, NULL: the run is in none. */
static DIR *open_notes(const struct ids_run_files *run) {
    if (run->number || !run->file_count || run->files[0].archive) return NULL;
    size_t length = ids_capture_of(run->files[0].path);
    char *path = NULL;
    if (!length || asprintf(&path, "%.*s/.idsprof", (int)length, run->files[0].path) < 0) return NULL;
    DIR *folder = opendir(path);
    free(path);
    return folder;
}

int ids_history_of_folder(const char *folder, struct ids_report *report) {
    char *path = NULL;
    if (asprintf(&path, "%s/.idsprof", folder) < 0) return 0;
    DIR *notes = opendir(path);
    free(path);
    if (!notes) return 0;
    add_all(notes, report);
    closedir(notes);
    const struct ids_table *table = ids_report_find_table(report, ids_history_table.id);
    return table && table->row_count > 0;
}

void ids_history_describe(const struct ids_run_files *run, struct ids_report *report) {
    DIR *folder = open_notes(run);
    if (!folder) return;
    add_all(folder, report);
    closedir(folder);
}

/* ---- how the measured steps are among the others ---- */

/* All steps after those that compile, as each of the questions below takes them. */
struct steps {
    struct ids_slowdown_step *beside;
    struct ids_missed_step *slow;
    size_t count;
};

static void free_steps(struct steps *steps) {
    free(steps->beside);
    free(steps->slow);
}

/* None where there are too few, where their times are those of calls, or without memory. */
static void list_steps(const struct ids_history_file *file, int64_t step_ns, struct steps *ret_steps) {
    struct past past = {.file = file, .step_ns = step_ns};
    *ret_steps = (struct steps){0};
    if (file->step_count < 2) return;
    past.steps = calloc(file->step_count, sizeof *past.steps);
    ret_steps->beside = calloc(file->step_count, sizeof *ret_steps->beside);
    ret_steps->slow = calloc(file->step_count, sizeof *ret_steps->slow);
    if (past.steps && ret_steps->beside && ret_steps->slow) judge_steps(&past);
    for (size_t i = 0; i < past.count && (!past.launches || past.is_by_device); i++) {
        if (!is_judged(&past, i)) continue;
        const struct step *step = &past.steps[i];
        enum recorded is_in = recorded(file, i);
        int64_t longer_ns = step->is_slow ? step->took_ns - step->median_ns : 0;
        if (step->is_slow && longer_ns <= 0)
            longer_ns = 1; /* a rule may call each step slow; as many are as are told */
        ret_steps->slow[ret_steps->count] = (struct ids_missed_step){
            .number = step->number,
            .took_ns = step->took_ns,
            .longer_ns = longer_ns,
            .garbage_ns = (int64_t)file->steps[i].garbage_ns,
            .is_recorded = is_in != NOT && file->steps[i].stall_ns <= 0,
        };
        ret_steps->beside[ret_steps->count++] = (struct ids_slowdown_step){step->number, step->took_ns, is_in != NOT};
    }
    free(past.steps);
}

static int find_rhythm(const struct ids_slowdown_step *all, size_t all_count, struct ids_rhythm *ret_rhythm) {
    struct ids_rhythm_step *steps = calloc(all_count + 1, sizeof *steps);
    size_t count = 0;
    for (size_t i = 0; steps && i < all_count; i++) {
        if (!all[i].is_recorded) steps[count++] = (struct ids_rhythm_step){all[i].number, all[i].took_ns};
    }
    int found = ids_rhythm_find(steps, count, ret_rhythm);
    /* also where no step that is judged is the last one */
    if (all_count && found && all[all_count - 1].number > ret_rhythm->last)
        ret_rhythm->last = all[all_count - 1].number;
    free(steps);
    return found;
}

static int measures_rhythm(const struct ids_slowdown_step *all, size_t all_count, const struct ids_rhythm *rhythm,
                           const struct ids_report *report) {
    struct ids_rhythm_step *steps = calloc(all_count + 1, sizeof *steps);
    size_t count = 0;
    for (size_t i = 0; steps && i < all_count; i++) {
        if (all[i].is_recorded) steps[count++] = (struct ids_rhythm_step){all[i].number, all[i].took_ns};
    }
    int measures = ids_rhythm_is_measured(rhythm, steps, count, report);
    free(steps);
    return measures;
}

/* What histories say of the steps that the report measures. */
struct told {
    int is_measured;    /* they have a rhythm in its share of the run */
    const char *rhythm; /* NULL: nothing yet */
    int is_advice;      /* there is a piece on slow steps */
    int is_both;        /* which tells the rhythm */
};

static void judge_missed(const struct ids_history_head *head, const struct steps *steps,
                         const struct ids_rhythm *rhythm, struct ids_report *report, struct told *told) {
    struct ids_missed missed;
    const char *text = rhythm ? ids_rhythm_missed(rhythm, report) : NULL;
    if (!told->is_advice && ids_missed_find(steps->slow, steps->count, rhythm, report, &missed)) {
        told->is_advice = 1;
        missed.busy = head->watched_ns ? (double)head->full_ns / (double)head->watched_ns : 0;
        missed.others = head->full_ns ? (double)head->others_ns / (double)head->full_ns : 0;
        missed.is_by_rule = head->when_ns || head->when_ratio;
        told->is_both = text && missed.is_rhythm;
        ids_missed_tell(&missed, told->is_both ? text : NULL, report);
    }
    if (!told->rhythm) told->rhythm = text;
}

static void judge_report(const struct ids_history_file *file, int64_t step_ns, const struct ids_kept *kept,
                         struct ids_report *report, struct told *told) {
    struct ids_rhythm rhythm;
    struct ids_slowdown slowdown;
    struct ids_kept_like like;
    struct steps steps;
    list_steps(file, step_ns, &steps);
    if (kept && ids_kept_like_find(kept, steps.slow, steps.count, &like)) ids_kept_like_tell(&like, report);
    int has_rhythm = find_rhythm(steps.beside, steps.count, &rhythm);
    int is_measured = has_rhythm && measures_rhythm(steps.beside, steps.count, &rhythm, report);
    if (!ids_report_find_property(report, "recording") &&
        ids_slowdown_find(steps.beside, steps.count, report, step_ns, &slowdown)) {
        if (is_measured) slowdown.usual_mean_ns = ids_rhythm_mean_ns(&rhythm);
        ids_slowdown_tell(&slowdown, report);
    }
    told->is_measured |= is_measured;
    judge_missed(&file->head, &steps, has_rhythm ? &rhythm : NULL, report, told);
    free_steps(&steps);
}

void ids_history_warn(const struct ids_run_files *run, struct ids_report *report) {
    char *names[NAMES_MOST];
    DIR *folder = open_notes(run);
    size_t count = folder ? list_names(folder, names) : 0;
    int64_t step_ns = count ? step_of_each(folder, names, count, report) : 0;
    struct told told = {0};
    struct ids_kept kept;
    int is_kept = !ids_run_kept(run, &kept);
    for (size_t i = 0; i < count; i++) {
        struct ids_history_file file;
        struct ids_error ignored = IDS_ERROR_INIT; /* a file that is damaged or gone says nothing */
        if (i < IDS_HISTORY_PROCESSES && !ids_history_file_read(dirfd(folder), names[i], &file, &ignored)) {
            judge_report(&file, step_ns, is_kept ? &kept : NULL, report, &told);
            ids_history_file_done(&file);
        }
        free(names[i]);
    }
    /* A window that was kept because of one step is about that step: what it alone lost is no chance there. Nor is it
     * where the history has such a step as often. */
    if (told.is_measured || is_kept) ids_report_advice_by_saving(report);
    if (told.rhythm && !told.is_both) ids_report_diag(report, IDS_WARNING, "steps.rhythm", told.rhythm, -1, 1);
    if (folder) closedir(folder);
}

int ids_has_history(const struct ids_run_files *run) {
    char *names[NAMES_MOST];
    DIR *folder = open_notes(run);
    if (!folder) return 0;
    size_t count = list_names(folder, names);
    for (size_t i = 0; i < count; i++) free(names[i]);
    closedir(folder);
    return count > 0;
}
