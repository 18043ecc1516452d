#include "lib/run/history.h"

#include "lib/analysis/history_tables.h"
#include "lib/capture/history_file.h"
#include "lib/capture/seen.h"
#include "lib/model/sink.h"
#include "lib/run/capture_path.h"
#include "lib/run/history_names.h"
#include "lib/run/kept_like.h"
#include "lib/run/missed.h"
#include "lib/run/noted.h"
#include "lib/run/rare_step.h"
#include "lib/run/rhythm.h"
#include "lib/run/slowdown.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PS_PER_NS = 1000, LINE_PARTS = 40, BAR_BYTES = 3, SLOW_SHOWN = 20 };

int ids_run_kept(const struct ids_run_files *run, struct ids_kept *ret_kept) {
    size_t folder;
    if (run->number || !run->file_count || run->files[0].archive) return -1;
    char *path = ids_capture_path(run->files[0].path, &folder);
    int code = path ? ids_kept_read(path, ret_kept) : -1;
    free(path);
    return code;
}

/* ---- where it stands ---- */

/* What a capture notes of its processes. */
struct notes {
    DIR *folder;          /* NULL: the run is in none */
    struct ids_seen seen; /* nothing, where it cannot be read */
};

static struct notes open_notes_of(const char *session) {
    struct notes notes = {.folder = NULL};
    struct ids_error ignored = IDS_ERROR_INIT;
    char *path = NULL;
    if (asprintf(&path, "%s/.idsprof", session) < 0) return notes;
    notes.folder = opendir(path);
    free(path);
    if (notes.folder && ids_seen_read(session, &notes.seen, &ignored)) notes.seen = (struct ids_seen){0};
    return notes;
}

static struct notes open_notes(const struct ids_run_files *run) {
    struct notes notes = {.folder = NULL};
    size_t folder;
    int is_file = !run->number && run->file_count && !run->files[0].archive;
    char *path = is_file ? ids_capture_path(run->files[0].path, &folder) : NULL;
    if (path) path[folder] = '\0';
    if (path) notes = open_notes_of(path);
    free(path);
    return notes;
}

static void close_notes(struct notes *notes) {
    if (!notes->folder) return;
    closedir(notes->folder);
    ids_seen_done(&notes->seen);
}

/* A program that becomes another one (exec) is two, of one number. */
static int is_of(const struct ids_seen_process *process, const struct ids_history_head *head) {
    return process->pid == head->pid && process->host && !strcmp(process->host, head->host);
}

/* What the process's record says of the measured steps. Returns the function that it calls once in a turn of its loop;
 * NULL: not known of any. */
static const char *look_up(const struct notes *notes, const struct ids_history_head *head,
                           const struct ids_run_files *run, struct ids_noted_measured *measured) {
    const char *turn = NULL;
    measured->turn_every = measured->window = 0;
    for (size_t i = 0; i < notes->seen.count; i++) {
        const struct ids_seen_process *process = &notes->seen.processes[i];
        if (!is_of(process, head)) continue;
        const struct ids_seen_window *window = run ? ids_history_window(process, run) : NULL;
        if (window) measured->window = window->number;
        if (turn) continue;
        measured->turn_place = ids_seen_turn_place(process);
        if (measured->turn_place >= 0) turn = ids_seen_turn(process, &measured->turn_every);
    }
    return turn;
}

/* The function whose calls are the steps of the history, where those of the report are calls of another one, which was
 * in front until the window was over. NULL: they are the same, or nobody knows. */
static const char *of_another(const struct notes *notes, const struct ids_history_file *file, int64_t window,
                              const struct ids_report *report) {
    static const char counted[] = "call of ";
    const struct ids_value *name = ids_report_find_property(report, "steps.annotation");
    if (!name || name->missing || !name->text || strncmp(name->text, counted, sizeof counted - 1) != 0) return NULL;
    if (!ids_noted_is_later(file, window)) return NULL;
    const char *front = NULL;
    for (size_t i = 0; i < notes->seen.count; i++) {
        const struct ids_seen_process *process = &notes->seen.processes[i];
        int is_counted = process->steps_source && strcmp(process->steps_source, "annotation") != 0;
        if (is_of(process, &file->head) && is_counted) front = process->front ? process->front : process->steps_name;
    }
    return front && *front && strcmp(front, name->text + sizeof counted - 1) != 0 ? front : NULL;
}

/* ---- one process ---- */

static const char *bar_of(int64_t took_ns, int64_t median_ns) {
    static const double limits[] = {1.25, 1.5, 2, 3, 4, 6, 8};
    static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    size_t i = 0;
    double ratio = median_ns ? (double)took_ns / (double)median_ns : 0;
    while (i < sizeof limits / sizeof *limits && ratio >= limits[i]) i++;
    return bars[i];
}

/* The longest step of a part of the drawing. Calls that only launch a step wait for the device now and then: of these,
 * how long they take together, against as many steps. */
static const char *part_of(const struct ids_noted *noted, size_t from, size_t to) {
    int64_t longest = 0, total = 0, count = 0;
    for (size_t i = from; i < to; i++) {
        const struct ids_noted_step *step = &noted->steps[i];
        if (step->is_starting) continue;
        if (step->took_ns > longest) longest = step->took_ns;
        total += step->took_ns;
        count++;
    }
    if (!count) return "c";
    int is_by_calls = noted->launches && !noted->is_by_device;
    return is_by_calls ? bar_of(total / count, noted->measured.step_ns) : bar_of(longest, noted->median_ns);
}

static const char *draw(const struct ids_noted *noted, char line[LINE_PARTS * BAR_BYTES + 1]) {
    size_t parts = noted->count < LINE_PARTS ? noted->count : LINE_PARTS, used = 0;
    for (size_t part = 0; part < parts; part++) {
        const char *bar = part_of(noted, part * noted->count / parts, (part + 1) * noted->count / parts);
        memcpy(line + used, bar, strlen(bar));
        used += strlen(bar);
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

/* Of calls that only launch steps nobody can tell which are slow, but by the rule. */
static int is_told(const struct ids_noted *noted) {
    return !noted->launches || noted->is_by_device || noted->file->head.when_ns || noted->file->head.when_ratio;
}

static void add_history(const struct ids_noted *noted, const char *name, struct ids_report *report) {
    char line[LINE_PARTS * BAR_BYTES + 1];
    const struct ids_history_head *head = &noted->file->head;
    const struct ids_noted_step *first = &noted->steps[0], *last = &noted->steps[noted->count - 1];
    const struct ids_value row[] = {
        ids_text_value(name),
        ids_int_value(IDS_UNIT_COUNT, first->number),
        ids_int_value(IDS_UNIT_COUNT, last->number),
        ids_int_value(IDS_UNIT_COUNT, (int64_t)noted->count),
        time_value(noted->file->steps[noted->count].begin_ns - first->begin_ns),
        time_value(noted->median_ns),
        noted->longest_ns ? time_value(noted->longest_ns) : ids_no_value(IDS_UNIT_TIME),
        is_told(noted) ? ids_int_value(IDS_UNIT_COUNT, noted->slow) : ids_no_value(IDS_UNIT_COUNT),
        ids_int_value(IDS_UNIT_COUNT, head->compiles),
        count_value(noted->collectives),
        ids_text_value(draw(noted, line)),
    };
    _Static_assert(sizeof row / sizeof *row == IDS_HISTORY_COLUMNS, "a cell a column");
    ids_report_row(report, ids_report_table(report, &ids_history_table), row);
}

/* ---- its slow steps ---- */

static int is_in(const struct ids_noted *noted, const struct ids_noted_step *step,
                 const struct ids_history_event *event) {
    return event->end_ns >= step->begin_ns && event->begin_ns < noted->file->steps[step - noted->steps + 1].begin_ns;
}

/* "96 collectives, not 48": unlike the usual step. */
static const char *collectives_in(const struct ids_noted *noted, const struct ids_noted_step *step,
                                  struct ids_report *report) {
    if (step->collectives < 0 || step->collectives == noted->collectives) return NULL;
    return ids_report_text(report, "%lld collective%s, not %lld", (long long)step->collectives,
                           step->collectives == 1 ? "" : "s", (long long)noted->collectives);
}

/* "compiled train_step and 7 more in 11.42 s": most of it that one. */
static const char *compiled_in(const struct ids_noted *noted, const struct ids_noted_step *step,
                               struct ids_report *report) {
    size_t count = 0;
    char time[IDS_VALUE_ROOM];
    if (!step->compiled) return NULL;
    for (size_t i = 0; i < noted->file->event_count; i++) {
        const struct ids_history_event *event = &noted->file->events[i];
        count += event->kind == IDS_HISTORY_COMPILE && is_in(noted, step, event);
    }
    const char *more = count > 1 ? ids_report_text(report, " and %zu more", count - 1) : "";
    return ids_report_text(report, "compiled %s%s in %s", step->compiled, more,
                           ids_value_format(time_value(step->compile_ns), time, sizeof time));
}

static const char *garbage_in(const struct ids_noted *noted, const struct ids_noted_step *step,
                              struct ids_report *report) {
    int64_t garbage_ns = (int64_t)noted->file->steps[step - noted->steps].garbage_ns;
    char time[IDS_VALUE_ROOM];
    if (!garbage_ns) return NULL;
    return ids_report_text(report, "collected garbage for %s",
                           ids_value_format(time_value(garbage_ns), time, sizeof time));
}

static const char *join(const char *text, const char *more, struct ids_report *report) {
    return text && more ? ids_report_text(report, "%s; %s", text, more) : text ? text : more;
}

/* "compiled train_step in 11.02 s; recorded: window 2": what the agent knows of the step's time. */
static const char *events_in(const struct ids_noted *noted, const struct ids_noted_step *step,
                             struct ids_report *report) {
    const char *text = join(collectives_in(noted, step, report), garbage_in(noted, step, report), report);
    text = join(text, compiled_in(noted, step, report), report);
    for (size_t i = 0; i < noted->file->event_count; i++) {
        const struct ids_history_event *event = &noted->file->events[i];
        if (event->kind != IDS_HISTORY_WINDOW || !is_in(noted, step, event)) continue;
        /* Its number alone: its reason is that of the slowest step in it. */
        const char *window =
            ids_report_text(report, "recorded: window %.*s", (int)strcspn(event->name, " "), event->name);
        if (!text || strlen(text) < 120) text = join(text, window, report);
    }
    return text;
}

static int slower_first(const void *a, const void *b) {
    const struct ids_noted_step *const *left = a, *const *right = b;
    if ((*left)->took_ns != (*right)->took_ns) return (*left)->took_ns < (*right)->took_ns ? 1 : -1;
    return (*left > *right) - (*left < *right);
}

static void add_slow_step(const struct ids_noted *noted, const char *name, const struct ids_noted_step *step,
                          struct ids_table *table, struct ids_report *report) {
    const struct ids_value row[] = {
        ids_text_value(name),
        ids_int_value(IDS_UNIT_COUNT, step->number),
        time_value(step->begin_ns - noted->steps[0].begin_ns),
        time_value(step->took_ns),
        step->median_ns ? ids_real_value(IDS_UNIT_NUMBER, (double)step->took_ns / (double)step->median_ns)
                        : ids_no_value(IDS_UNIT_NUMBER),
        count_value(step->collectives),
        ids_text_value(events_in(noted, step, report)),
    };
    _Static_assert(sizeof row / sizeof *row == IDS_SLOW_STEPS_COLUMNS, "a cell a column");
    ids_report_row(report, table, row);
}

static void add_slow(const struct ids_noted *noted, const char *name, struct ids_report *report) {
    struct ids_table *table = ids_report_table(report, &ids_slow_steps_table);
    const struct ids_noted_step **slow = calloc((size_t)noted->slow, sizeof *slow);
    size_t count = 0;
    if (!slow) {
        report->out_of_memory = 1;
        return;
    }
    for (size_t i = 0; i < noted->count; i++) {
        if (noted->steps[i].is_slow) slow[count++] = &noted->steps[i];
    }
    qsort(slow, count, sizeof *slow, slower_first);
    for (size_t i = 0; i < count && i < SLOW_SHOWN; i++) add_slow_step(noted, name, slow[i], table, report);
    if (count > SLOW_SHOWN) table->rows_left_out += (int64_t)(count - SLOW_SHOWN);
    free(slow);
}

static void say_launches(const struct ids_noted *noted, struct ids_report *report) {
    char text[IDS_VALUE_ROOM];
    ids_report_property(
        report, "launches",
        ids_text_value(
            noted->is_by_device
                ? ids_report_text(report,
                                  "the loop runs ahead of its device: the history's times are of a step's work there, "
                                  "%s, and of how long there was none",
                                  ids_value_format(time_value(noted->work_ns), text, sizeof text))
                : ids_report_text(report, "the history's times are of calls that only launch a step: %s each",
                                  ids_value_format(time_value(noted->median_ns), text, sizeof text))));
}

/* Calls are counted from 0 for each function, and noted only where they get further than those of any other: where the
 * history has lost none and begins later, another function's were noted until then. */
static void say_late(const struct ids_noted *noted, struct ids_report *report) {
    static const char counted[] = "call of ";
    const struct ids_value *name = ids_report_find_property(report, "steps.annotation");
    const struct ids_history_head *head = &noted->file->head;
    if (!name || name->missing || !name->text || strncmp(name->text, counted, sizeof counted - 1) != 0) return;
    if (head->steps > (int64_t)noted->file->step_count || noted->steps[0].number <= 0) return;
    ids_report_property(
        report, "history_late",
        ids_text_value(ids_report_text(report,
                                       "the history begins with step %lld: until then another function was called more "
                                       "often",
                                       (long long)noted->steps[0].number)));
}

static void say_of_another(const char *front, struct ids_report *report) {
    ids_report_property(report, "history_late",
                        ids_text_value(ids_report_text(report,
                                                       "the history is of %s, which was called more often later: it "
                                                       "says nothing of these steps",
                                                       front)));
}

static void add_process(const struct ids_history_file *file, struct ids_noted_measured measured,
                        const struct notes *notes, const struct ids_run_files *run, struct ids_report *report) {
    const struct ids_history_head *head = &file->head;
    struct ids_noted noted;
    if (file->step_count < 2) return;
    look_up(notes, head, run, &measured);
    const char *front = of_another(notes, file, measured.window, report);
    if (front) measured.first = -1, measured.step_ns = 0, measured.steps = NULL;
    if (ids_noted_judge(file, &measured, &noted)) {
        report->out_of_memory = 1;
        return;
    }
    const char *name = head->rank >= 0 ? ids_report_text(report, "rank %lld", (long long)head->rank)
                                       : ids_report_text(report, "%s.%lld", head->host, (long long)head->pid);
    add_history(&noted, name, report);
    if (noted.slow) add_slow(&noted, name, report);
    if (noted.launches && !ids_report_find_property(report, "launches")) say_launches(&noted, report);
    int is_said = ids_report_find_property(report, "history_late") != NULL;
    if (!is_said && front) say_of_another(front, report);
    if (!is_said && !front) say_late(&noted, report);
    ids_noted_done(&noted);
}

/* ---- all of them ---- */

/* What a stored report has of it may be of a time when the program still ran. */
static void empty(struct ids_report *report, const struct ids_table_def *def) {
    struct ids_table *table = (struct ids_table *)ids_report_find_table(report, def->id);
    if (!table) return;
    table->row_count = 0;
    table->rows_left_out = 0;
}

/* -1: no window has a whole step of it. */
static int64_t recorded_by(const struct ids_history_file *file) {
    const struct ids_noted_measured none = {.first = -1};
    struct ids_noted noted;
    if (ids_noted_judge(file, &none, &noted)) return -1;
    int64_t median_ns = ids_noted_median_recorded(&noted);
    ids_noted_done(&noted);
    return median_ns;
}

/* The time of a step that the report measures is a mean over all processes: it is that of each where those are alike,
 * and else of none. */
static struct ids_noted_measured measured_of_each(DIR *folder, char *const *names, size_t count,
                                                  const struct ids_report *report) {
    struct ids_noted_measured measured = ids_noted_measured(report);
    int64_t least = INT64_MAX, most = 0;
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
    if (most > least && most - least > measured.step_ns / 4) measured.step_ns = 0;
    return measured;
}

static void add_all(const struct notes *notes, const struct ids_run_files *run, struct ids_report *report) {
    DIR *folder = notes->folder;
    char *names[IDS_HISTORY_NAMES];
    size_t count = ids_history_names(folder, &notes->seen, run, names), shown = 0;
    struct ids_noted_measured measured = measured_of_each(folder, names, count, report);
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
            add_process(&file, measured, notes, run, report);
            ids_history_file_done(&file);
        }
        free(names[i]);
    }
}

int ids_history_of_folder(const char *folder, struct ids_report *report) {
    struct notes notes = open_notes_of(folder);
    if (!notes.folder) return 0;
    add_all(&notes, NULL, report);
    close_notes(&notes);
    const struct ids_table *table = ids_report_find_table(report, ids_history_table.id);
    return table && table->row_count > 0;
}

void ids_history_describe(const struct ids_run_files *run, struct ids_report *report) {
    struct notes notes = open_notes(run);
    if (notes.folder) add_all(&notes, run, report);
    close_notes(&notes);
}

/* ---- how the measured steps are among the others ---- */

/* All steps after those that compile, as each of the questions below takes them. */
struct steps {
    struct ids_slowdown_step *beside;
    struct ids_missed_step *slow;
    size_t count, of; /* of the history's */
    int is_by_device; /* what they took is made from a usual one: those around a window are alike for that */
};

static void free_steps(struct steps *steps) {
    free(steps->beside);
    free(steps->slow);
}

static struct ids_missed_step missed_step(const struct ids_noted *noted, size_t i, enum ids_noted_recorded is_in) {
    const struct ids_noted_step *step = &noted->steps[i];
    int64_t longer_ns = step->is_slow ? step->took_ns - step->median_ns : 0;
    if (step->is_slow && longer_ns <= 0) longer_ns = 1; /* a rule may call each step slow; as many are as are told */
    return (struct ids_missed_step){
        .number = step->number,
        .took_ns = step->took_ns,
        .longer_ns = longer_ns,
        .usual_ns = step->usual_ns,
        .garbage_ns = (int64_t)noted->file->steps[i].garbage_ns,
        .compile_ns = step->compile_ns,
        .compiled = step->compiled,
        .is_recorded = is_in != IDS_NOTED_NOT && noted->file->steps[i].stall_ns <= 0,
    };
}

/* None where there are too few, where their times are those of calls, or without memory. */
static void list_steps(const struct ids_history_file *file, const struct ids_noted_measured *measured,
                       struct steps *ret_steps) {
    struct ids_noted noted;
    *ret_steps = (struct steps){0};
    if (ids_noted_judge(file, measured, &noted)) return;
    ret_steps->beside = calloc(file->step_count, sizeof *ret_steps->beside);
    ret_steps->slow = calloc(file->step_count, sizeof *ret_steps->slow);
    ret_steps->of = noted.count;
    ret_steps->is_by_device = noted.is_by_device;
    int is_told = ret_steps->beside && ret_steps->slow && (!noted.launches || noted.is_by_device);
    for (size_t i = 0; i < noted.count && is_told; i++) {
        if (!ids_noted_is_judged(&noted, i)) continue;
        const struct ids_noted_step *step = &noted.steps[i];
        enum ids_noted_recorded is_in = ids_noted_recorded(file, i);
        ret_steps->slow[ret_steps->count] = missed_step(&noted, i, is_in);
        ret_steps->beside[ret_steps->count++] = (struct ids_slowdown_step){
            step->number, step->took_ns, is_in != IDS_NOTED_NOT, ids_noted_is_of_other(file, i, measured->window)};
    }
    ids_noted_done(&noted);
}

/* That of a turn of the loop, where one is known, and else one that times have. */
static int find_rhythm(const struct ids_slowdown_step *all, size_t all_count, const struct ids_noted_measured *by,
                       struct ids_rhythm *ret_rhythm) {
    struct ids_rhythm_step *steps = calloc(all_count + 1, sizeof *steps);
    size_t count = 0;
    for (size_t i = 0; steps && i < all_count; i++) {
        if (!all[i].is_recorded) steps[count++] = (struct ids_rhythm_step){all[i].number, all[i].took_ns};
    }
    int found = by->turn_every > 1 && ids_rhythm_of_turn(steps, count, by->turn_every, by->turn_place, ret_rhythm);
    if (!found) found = ids_rhythm_find(steps, count, ret_rhythm);
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
    int is_measured;             /* they have a rhythm in its share of the run */
    int is_rare;                 /* there is advice on the one slow step of the window, as a part of the run */
    struct ids_slow_often often; /* steps 0: slow ones are not frequent, or none is measured */
    const char *rhythm;          /* NULL: nothing yet */
    int is_advice;               /* there is a piece on slow steps */
    int is_both;                 /* which tells the rhythm */
};

static void judge_missed(const struct ids_history_head *head, const struct steps *steps,
                         const struct ids_rhythm *rhythm, const struct ids_kept *kept, struct ids_report *report,
                         struct told *told) {
    struct ids_missed missed;
    const char *text = rhythm ? ids_rhythm_missed(rhythm, report) : NULL;
    int is_turn = text && rhythm->turn;
    if (is_turn && ids_missed_tell_turn(steps->slow, steps->count, rhythm, text, report)) told->is_both = 1;
    if (rhythm && rhythm->turn) rhythm = NULL;
    if (!told->is_advice &&
        ids_missed_find(steps->slow, steps->count, rhythm, kept ? kept->took_ns : 0, report, &missed)) {
        told->is_advice = 1;
        missed.busy = head->watched_ns ? (double)head->full_ns / (double)head->watched_ns : 0;
        missed.others = head->full_ns ? (double)head->others_ns / (double)head->full_ns : 0;
        missed.of = steps->of;
        missed.is_by_rule = head->when_ns || head->when_ratio;
        missed.is_by_device = steps->is_by_device;
        int is_both = text && missed.is_rhythm;
        ids_missed_tell(&missed, is_both ? text : NULL, report);
        told->is_both |= is_both;
    }
    if (!told->rhythm) told->rhythm = text;
}

static void judge_report(const struct ids_history_file *file, const struct ids_noted_measured *measured,
                         const char *turn, const struct ids_kept *kept, struct ids_report *report, struct told *told) {
    struct ids_rhythm rhythm;
    struct ids_slowdown slowdown;
    struct ids_slow_often often;
    struct ids_kept_like like;
    struct steps steps;
    list_steps(file, measured, &steps);
    if (kept && ids_kept_like_find(kept, steps.slow, steps.count, &like)) ids_kept_like_tell(&like, report);
    int has_rhythm = find_rhythm(steps.beside, steps.count, measured, &rhythm);
    if (has_rhythm && rhythm.period == measured->turn_every && rhythm.first == measured->turn_place) rhythm.turn = turn;
    int is_measured = has_rhythm && measures_rhythm(steps.beside, steps.count, &rhythm, report);
    int is_often = !steps.is_by_device && ids_slow_often_find(steps.beside, steps.count, report, &often);
    if (is_often) told->often = often;
    struct ids_rare_step rare;
    int is_of_run = 0;
    if (!ids_report_find_property(report, "recording") && !steps.is_by_device &&
        ids_slowdown_find(steps.beside, steps.count, report, measured->step_ns, &slowdown)) {
        if (is_measured)
            slowdown.usual_mean_ns = ids_rhythm_mean_ns(&rhythm);
        else if (is_often && ids_slow_often_measured(&slowdown))
            slowdown.usual_mean_ns = often.mean_ns;
        is_of_run = ids_slowdown_tell(&slowdown, report);
    }
    if (!is_of_run && !steps.is_by_device && ids_rare_step_find(steps.beside, steps.count, report, &rare))
        told->is_rare |= ids_rare_step_tell(&rare, report);
    told->is_measured |= is_measured;
    judge_missed(&file->head, &steps, has_rhythm ? &rhythm : NULL, kept, report, told);
    free_steps(&steps);
}

void ids_history_warn(const struct ids_run_files *run, struct ids_report *report) {
    char *names[IDS_HISTORY_NAMES];
    struct notes notes = open_notes(run);
    DIR *folder = notes.folder;
    size_t count = folder ? ids_history_names(folder, &notes.seen, run, names) : 0;
    struct ids_noted_measured measured = {0};
    struct told told = {0};
    struct ids_kept kept;
    int is_kept = !ids_run_kept(run, &kept);
    if (count) measured = measured_of_each(folder, names, count, report);
    for (size_t i = 0; i < count; i++) {
        struct ids_history_file file;
        struct ids_error ignored = IDS_ERROR_INIT; /* a file that is damaged or gone says nothing */
        if (i < IDS_HISTORY_PROCESSES && !ids_history_file_read(dirfd(folder), names[i], &file, &ignored)) {
            const char *turn = look_up(&notes, &file.head, run, &measured);
            if (!of_another(&notes, &file, measured.window, report))
                judge_report(&file, &measured, turn, is_kept ? &kept : NULL, report, &told);
            ids_history_file_done(&file);
        }
        free(names[i]);
    }
    /* A window that was kept because of one step is about that step: what it alone lost is no chance there. Nor is it
     * where the history has such a step as often. */
    if (told.often.steps) ids_slow_often_tell(&told.often, report);
    if (told.is_measured || told.is_rare || is_kept) ids_report_advice_by_saving(report);
    if (told.rhythm && !told.is_both) ids_report_diag(report, IDS_WARNING, "steps.rhythm", told.rhythm, -1, 1);
    close_notes(&notes);
}

int ids_has_history(const struct ids_run_files *run) {
    char *names[IDS_HISTORY_NAMES];
    struct notes notes = open_notes(run);
    if (!notes.folder) return 0;
    size_t count = ids_history_names(notes.folder, &notes.seen, run, names);
    for (size_t i = 0; i < count; i++) free(names[i]);
    close_notes(&notes);
    return count > 0;
}
