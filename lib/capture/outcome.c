#include "lib/capture/outcome_parts.h"

#include "lib/base/memory.h"
#include "lib/base/saturate.h"
#include "lib/capture/history_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

enum { STEPS_SHOWN = 4, DISK_FULL_BYTES = 64 << 10 };

/* ---- sums ---- */

static void add_known(int64_t *sum, int64_t value) {
    if (*sum >= 0) *sum = value < 0 ? -1 : ids_sat_add(*sum, value);
}

static void keep_longest(int64_t *longest, int64_t value) {
    if (value > *longest) *longest = value;
}

static void add_stacks(struct ids_outcome *out, const struct ids_seen_window *window) {
    out->samples = ids_sat_add(out->samples < 0 ? 0 : out->samples, window->samples);
    if (out->threads < window->threads) out->threads = window->threads;
    out->sampling_ns = ids_sat_add(out->sampling_ns, window->sampling_ns);
    out->sampled_ns = ids_sat_add(out->sampled_ns, window->end_ns - window->begin_ns);
}

/* Who ends a window waits until it is written. Time, a trigger and too much memory are the agent's own thread; but the
 * program's own trigger around a block (idsprof.py) waits, too. */
static int stands_still(const struct ids_seen_window *window) {
    static const char *const beside[] = {"time", "trigger", "size"};
    const char *closed_by = window->closed_by;
    if (window->is_of_block && closed_by && !strcmp(closed_by, "trigger")) return 1;
    for (size_t i = 0; closed_by && i < sizeof beside / sizeof *beside; i++) {
        if (!strcmp(closed_by, beside[i])) return 0;
    }
    return 1;
}

static void add_window(struct ids_outcome *out, const struct ids_seen_window *window) {
    keep_longest(&out->start_ns, window->start_ns);
    keep_longest(&out->waited_ns, window->waited_ns);
    if (window->fate == IDS_SEEN_WRITTEN) {
        int64_t publish_ns = window->publish_ns < 0 ? 0 : window->publish_ns;
        int64_t stop_ns = window->stop_ns < 0 ? -1 : ids_sat_add(window->stop_ns, publish_ns);
        keep_longest(&out->stop_ns, stop_ns);
        if (stands_still(window)) keep_longest(&out->stood_ns, stop_ns);
        out->files++;
        add_known(&out->bytes, window->bytes);
        add_known(&out->events, window->events);
        add_known(&out->drops, window->drops);
        if (window->samples >= 0) add_stacks(out, window);
        if (!out->no_stacks) out->no_stacks = window->no_stacks;
    } else {
        out->lost++;
        out->open += window->fate == IDS_SEEN_OPEN;
    }
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The number of folders that hold the files. */
static int64_t count_runs(const struct ids_seen *seen, int64_t files) {
    char **folders = calloc((size_t)files + 1, sizeof *folders);
    size_t count = 0;
    if (!folders) ids_memory_refused();
    for (size_t i = 0; folders && i < seen->count; i++) {
        const struct ids_seen_process *process = &seen->processes[i];
        for (size_t w = 0; w < process->window_count && (int64_t)count < files; w++) {
            const char *path = process->windows[w].path;
            const char *slash = path ? strrchr(path, '/') : NULL;
            if (!slash) continue;
            folders[count] = strndup(path, (size_t)(slash - path));
            if (folders[count])
                count++;
            else
                ids_memory_refused();
        }
    }
    if (count) qsort(folders, count, sizeof *folders, by_text);
    int64_t runs = 0;
    for (size_t i = 0; i < count; i++) runs += !i || strcmp(folders[i], folders[i - 1]) != 0;
    for (size_t i = 0; i < count; i++) free(folders[i]);
    free(folders);
    return runs;
}

/* ---- the steps that were caught: of the first process with a file; the others of a launch mostly do the same
 * steps ---- */

static const char *words_of(struct ids_outcome_work *outcome, const struct ids_seen_process *process,
                            const char *name) {
    if (!process->steps_source) return "";
    int annotated = !strcmp(process->steps_source, "annotation");
    if (!name || !*name) return annotated ? " (annotated)" : " (executions, counted)";
    int64_t every;
    const char *turn = annotated ? NULL : ids_seen_turn(process, &every);
    if (turn)
        return ids_outcome_text(outcome,
                                " (executions of %s; %s comes with one of %lld: --step-executable '^%s$' counts turns "
                                "of the loop)",
                                name, turn, (long long)every, turn);
    return ids_outcome_text(outcome, annotated ? " (annotation '%s')" : " (executions of %s)", name);
}

static const char *source_words(struct ids_outcome_work *outcome, const struct ids_seen_process *process) {
    return words_of(outcome, process, process->steps_name);
}

static int is_called(const char *name, const struct ids_seen_window *window) {
    return name && window->of && !strcmp(name, window->of);
}

/* "50-54, 150-154" to `text`, of the windows with steps of that name, NULL: of all; 0: there is none. */
static size_t put_ranges(const struct ids_seen_process *process, const char *name, char *text, size_t size,
                         int64_t *ret_most) {
    size_t used = 0, shown = 0;
    text[0] = '\0';
    *ret_most = 0;
    for (size_t w = 0; w < process->window_count; w++) {
        const struct ids_seen_window *window = &process->windows[w];
        if (window->fate != IDS_SEEN_WRITTEN || window->first_step < 0) continue;
        if (name && !is_called(name, window)) continue;
        if (++shown > STEPS_SHOWN) continue;
        const char *between = used ? ", " : "";
        int length = window->first_step == window->last_step
                         ? snprintf(text + used, size - used, "%s%lld", between, (long long)window->first_step)
                         : snprintf(text + used, size - used, "%s%lld-%lld", between, (long long)window->first_step,
                                    (long long)window->last_step);
        used += (size_t)length;
        if (window->steps > *ret_most) *ret_most = window->steps;
    }
    if (shown > STEPS_SHOWN) snprintf(text + used, size - used, " and %zu more", shown - STEPS_SHOWN);
    return shown;
}

static int have_common_step(const struct ids_seen_window *a, const struct ids_seen_window *b) {
    return b->fate == IDS_SEEN_WRITTEN && a->first_step <= b->last_step && b->first_step <= a->last_step;
}

/* Whether the process has steps of the same kind in its windows, and none of those of the other. */
static int is_elsewhere(const struct ids_seen_process *process, const struct ids_seen_process *other) {
    const char *name = process->steps_name, *name_of_other = other->steps_name;
    size_t windows = 0;
    if (!name || !name_of_other || strcmp(name, name_of_other) != 0) return 0;
    for (size_t w = 0; w < process->window_count; w++) {
        const struct ids_seen_window *window = &process->windows[w];
        if (window->fate != IDS_SEEN_WRITTEN || window->first_step < 0) continue;
        windows++;
        for (size_t o = 0; o < other->window_count; o++) {
            if (have_common_step(window, &other->windows[o])) return 0;
        }
    }
    return windows > 0;
}

static const char *of_whom(struct ids_outcome_work *outcome, const struct ids_seen_process *process) {
    return process->rank >= 0 ? ids_outcome_text(outcome, " of rank %lld", (long long)process->rank)
                              : ids_outcome_text(outcome, " of process %lld", (long long)process->pid);
}

/* " of rank 0, 273-276 of rank 1": where the ranks were at other steps when their windows opened. */
static const char *elsewhere_text(struct ids_outcome_work *outcome, const struct ids_seen_process *process) {
    const struct ids_seen *seen = outcome->record->seen;
    const char *text = of_whom(outcome, process);
    char steps[256];
    size_t found = 0;
    int64_t most;
    for (size_t i = 0; i < seen->count; i++) {
        const struct ids_seen_process *other = &seen->processes[i];
        if (other == process || !is_elsewhere(other, process) || ++found >= STEPS_SHOWN) continue;
        put_ranges(other, NULL, steps, sizeof steps, &most);
        text = ids_outcome_text(outcome, "%s, %s%s", text, steps, of_whom(outcome, other));
    }
    if (found >= STEPS_SHOWN)
        text = ids_outcome_text(outcome, "%s, and others of %zu more", text, found - (STEPS_SHOWN - 1));
    return found ? text : "";
}

/* "steps 153-157 (executions of init), 153-157 (executions of train)": each window's steps are its own. NULL: all are
 * of one name, or one has none. */
static const char *steps_by_name(struct ids_outcome_work *outcome, const struct ids_seen_process *process) {
    const char *names[STEPS_SHOWN], *text = "steps";
    size_t count = 0;
    for (size_t w = 0; w < process->window_count; w++) {
        const struct ids_seen_window *window = &process->windows[w];
        size_t i = 0;
        if (window->fate != IDS_SEEN_WRITTEN || window->first_step < 0) continue;
        while (i < count && !is_called(names[i], window)) i++;
        if (!window->of || i == STEPS_SHOWN) return NULL;
        if (i == count) names[count++] = window->of;
    }
    for (size_t i = 0; i < count; i++) {
        char steps[256];
        int64_t most;
        put_ranges(process, names[i], steps, sizeof steps, &most);
        text = ids_outcome_text(outcome, "%s%s %s%s", text, i ? "," : "", steps, words_of(outcome, process, names[i]));
    }
    return count > 1 ? text : NULL;
}

static const char *steps_text(struct ids_outcome_work *outcome, const struct ids_seen_process *process) {
    char steps[256];
    int64_t most;
    size_t shown = put_ranges(process, NULL, steps, sizeof steps, &most);
    if (!shown) return NULL;
    const char *by_name = steps_by_name(outcome, process);
    if (by_name) return by_name;
    const char *elsewhere = elsewhere_text(outcome, process);
    return ids_outcome_text(outcome, "%s %s%s%s", shown == 1 && most == 1 && !*elsewhere ? "step" : "steps", steps,
                            elsewhere, source_words(outcome, process));
}

/* ---- why ---- */

static int is_disk_full(struct ids_outcome_work *outcome) {
    const char *folder = outcome->record->folder;
    struct statvfs disk;
    uint64_t left = statvfs(folder, &disk) ? UINT64_MAX : (uint64_t)disk.f_bavail * disk.f_frsize;
    if (left >= DISK_FULL_BYTES) return 0;
    ids_outcome_set(outcome, "disk_full",
                    ids_outcome_text(outcome, "the disk of '%s' is full: %llu kB are free", folder,
                                     (unsigned long long)left / 1000),
                    DISK_REMEDY);
    return 1;
}

/* A process of this host that has not reported its end; while it lives it still may. */
/* Not one that has ended, and whose parent has not taken notice. */
static int is_there(pid_t pid) {
    char path[32], line[512] = "";
    if (kill(pid, 0)) return 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file) return 1; /* a system without /proc */
    if (!fgets(line, sizeof line, file)) *line = '\0';
    fclose(file);
    const char *name_end = strrchr(line, ')');
    return !name_end || !strchr("ZX", name_end[1] ? name_end[2] : '\0');
}

/* What kills a program may kill all its processes, and these take a moment to end. */
static int lives(pid_t pid) {
    enum { LOOKS = 10 };
    const struct timespec pause = {.tv_nsec = 20000000};
    for (int i = 0; i < LOOKS && is_there(pid); i++)
        if (nanosleep(&pause, NULL)) return 1;
    return is_there(pid);
}

static const struct ids_seen_process *still_running(const struct ids_seen *seen) {
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    for (size_t i = 0; i < seen->count; i++) {
        const struct ids_seen_process *process = &seen->processes[i];
        if (process->is_closed || process->pid <= 0 || !process->host || strcmp(process->host, host) != 0) continue;
        if (lives((pid_t)process->pid)) return process;
    }
    return NULL;
}

static const struct ids_seen_process *with_open_window(const struct ids_seen *seen) {
    for (size_t i = 0; i < seen->count; i++) {
        for (size_t w = 0; w < seen->processes[i].window_count; w++)
            if (seen->processes[i].windows[w].fate == IDS_SEEN_OPEN) return &seen->processes[i];
    }
    return NULL;
}

/* A process that ended in a window, together with the launched program or by itself. */
static void lost_by_sudden_end(struct ids_outcome_work *outcome) {
    const struct ids_child_end *end = outcome->record->end;
    if (ids_outcome_unwritten(outcome)) return;
    const struct ids_seen_process *running = still_running(outcome->record->seen);
    if (running) {
        ids_outcome_set(
            outcome, "still_running",
            ids_outcome_text(outcome, "process %lld goes on after the program that was started, with a window open",
                             (long long)running->pid),
            ids_outcome_text(outcome, "idsprof trigger --stop %lld ends the window", (long long)running->pid));
    } else if (end && end->signal) {
        ids_outcome_set(outcome, "killed",
                        ids_outcome_text(outcome, "signal %d (%s) ended the program in an open window, which is lost",
                                         end->signal, strsignal(end->signal)),
                        "let the window end first: fewer --steps, or idsprof trigger --stop");
    } else {
        ids_outcome_set(outcome, "left_suddenly",
                        ids_outcome_text(outcome, "%s in an open window, which is lost",
                                         ids_outcome_untold(outcome, with_open_window(outcome->record->seen))),
                        "let the window end first: fewer --steps, or an earlier --start-step");
    }
}

static void lost(struct ids_outcome_work *outcome) {
    const struct ids_seen *seen = outcome->record->seen;
    for (size_t i = 0; i < seen->count; i++) {
        for (size_t w = 0; w < seen->processes[i].window_count; w++) {
            const struct ids_seen_window *window = &seen->processes[i].windows[w];
            if (window->fate != IDS_SEEN_LOST) continue;
            ids_outcome_set(outcome, ids_outcome_says_full(window->why) ? "disk_full" : "lost",
                            ids_outcome_text(outcome, "window %lld is lost: %s", (long long)window->number,
                                             window->why ? window->why : "no reason was given"),
                            ids_outcome_remedy_of(window->why));
            return;
        }
    }
    lost_by_sudden_end(outcome);
}

/* Whether the window was opened after all, at a later try. */
static int is_written(const struct ids_seen_process *process, int64_t number) {
    for (size_t i = 0; i < process->window_count; i++) {
        if (process->windows[i].number == number) return 1;
    }
    return 0;
}

static const struct ids_seen_text *first_skipped(const struct ids_seen *seen, const struct ids_seen_process **ret) {
    for (size_t i = 0; i < seen->count; i++) {
        *ret = &seen->processes[i];
        for (size_t k = 0; k < (*ret)->skipped_count; k++) {
            if (!is_written(*ret, (*ret)->skipped[k].window)) return &(*ret)->skipped[k];
        }
    }
    return NULL;
}

/* None of the ranks that ran was chosen; `why` is what one of them said. */
static void without_ranks(struct ids_outcome_work *outcome, const char *why) {
    const struct ids_seen *seen = outcome->record->seen;
    int64_t least = INT64_MAX, most = -1;
    for (size_t i = 0; i < seen->count; i++) {
        int64_t rank = seen->processes[i].rank;
        if (rank >= 0 && rank < least) least = rank;
        if (rank > most) most = rank;
    }
    const char *ran = most <= least ? ids_outcome_text(outcome, "%lld", (long long)most)
                                    : ids_outcome_text(outcome, "%lld-%lld", (long long)least, (long long)most);
    if (most > least)
        why = ids_outcome_text(outcome, "of the ranks that ran, %s, none is among --ranks %s", ran,
                               outcome->record->plan->ranks);
    ids_outcome_set(outcome, "rank_not_chosen", why,
                    most < 0 ? "again, without --ranks: the program has none"
                             : ids_outcome_text(outcome, "again, with --ranks %s, or some of these", ran));
}

/* The hook says so of an option that the jax of the program does not take (idsprof_session.py). */
static int is_of_profiler_options(const char *why) {
    return !strncmp(why, "--profile-option", strlen("--profile-option"));
}

static void skipped(struct ids_outcome_work *outcome, const struct ids_seen_process *process,
                    const struct ids_seen_text *skip) {
    const char *why = skip->value ? skip->value : "no reason was given";
    if (!skip->window) {
        without_ranks(outcome, why);
    } else if (!strncmp(why, IDS_OWN_PROFILE, strlen(IDS_OWN_PROFILE))) {
        ids_outcome_own_profile(outcome, process, skip->window);
    } else {
        ids_outcome_set(outcome, ids_outcome_says_full(why) ? "disk_full" : "skipped",
                        ids_outcome_text(outcome, "window %lld was not opened: %s", (long long)skip->window, why),
                        is_of_profiler_options(why) ? "again, without it, or with one of those that jax knows"
                                                    : ids_outcome_remedy_of(why));
    }
}

/* The process that came furthest knows best why no window opened. */
static const struct ids_seen_process *furthest(const struct ids_seen *seen) {
    const struct ids_seen_process *best = &seen->processes[0];
    for (size_t i = 1; i < seen->count; i++) {
        const struct ids_seen_process *process = &seen->processes[i];
        if (process->reached > best->reached ||
            (process->reached == best->reached && process->steps_source && !best->steps_source))
            best = process;
    }
    return best;
}

/* The number of the last step in the history of a process that could not say how far it came; -1: there is none. */
static int64_t last_noted(const struct ids_outcome_work *outcome, const struct ids_seen_process *process) {
    struct ids_history_file file;
    struct ids_error ignored = IDS_ERROR_INIT; /* without one nothing is said of it */
    char *folder = NULL, *name = NULL;
    int64_t last = -1;
    if (asprintf(&folder, "%s/.idsprof", outcome->record->folder) < 0) folder = NULL;
    if (asprintf(&name, "%s.%lld.history", process->host ? process->host : "", (long long)process->pid) < 0)
        name = NULL;
    int opened = folder && name ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (opened >= 0 && !ids_history_file_read(opened, name, &file, &ignored)) {
        if (file.step_count) last = file.steps[file.step_count - 1].number;
        ids_history_file_done(&file);
    }
    if (opened >= 0) close(opened);
    free(folder);
    free(name);
    return last;
}

/* It did steps, and ended before it could say how many: the history is written several times a second. */
static void ended_suddenly(struct ids_outcome_work *outcome, const struct ids_seen_process *process, int64_t start) {
    const char *failure = ids_outcome_failure(outcome), *noted = "";
    int64_t last = last_noted(outcome, process);
    if (last >= 0) noted = ids_outcome_text(outcome, "; step %lld is the last that was noted", (long long)last);
    if (ids_plan_judges(outcome->record->plan) && last >= start) {
        ids_outcome_set(outcome, "none_kept",
                        ids_outcome_text(outcome, "%s%s, and no window was kept until then%s",
                                         failure ? "the program ended" : ids_outcome_untold(outcome, process),
                                         failure ? failure : "", noted),
                        outcome->record->plan->keep_slowest ? "again, with a larger --max-cost: more windows open"
                                                            : "--keep-slowest 3 keeps some windows in any case");
        return;
    }
    ids_outcome_set(outcome, "left_early",
                    failure ? ids_outcome_text(outcome, "the program ended%s before step %lld%s%s", failure,
                                               (long long)start, source_words(outcome, process), noted)
                            : ids_outcome_text(outcome, "%s before step %lld%s%s", ids_outcome_untold(outcome, process),
                                               (long long)start, source_words(outcome, process), noted),
                    ids_plan_judges(outcome->record->plan) ? NULL : "try again with an earlier --start-step");
}

static void never_reached(struct ids_outcome_work *outcome, int64_t start) {
    const struct ids_seen_process *process = furthest(outcome->record->seen);
    const struct ids_plan *plan = outcome->record->plan;
    const char *failure = ids_outcome_failure(outcome);
    if (!process->is_closed && process->steps_source) {
        ended_suddenly(outcome, process, start);
        return;
    }
    if (process->reached < 0 && failure) {
        ids_outcome_set(outcome, "failed",
                        ids_outcome_text(outcome, "the program ended%s before its first step", failure),
                        ids_outcome_failure_remedy(outcome));
        return;
    }
    if (process->reached < 0 && process->is_closed) {
        if (ids_outcome_op_by_op(outcome, process)) return;
        ids_outcome_set(outcome, "no_steps", "the program ended without a step that could be counted",
                        ids_outcome_text(outcome, "try again with %s, which go by time", ids_outcome_by_time(outcome)));
        return;
    }
    if (!process->is_closed) {
        ids_outcome_set(outcome, "left_early",
                        ids_outcome_text(outcome, "%s before its first step", ids_outcome_untold(outcome, process)),
                        "try again with an earlier --start-step");
        return;
    }
    int64_t number = process->number >= 0 ? process->number : process->reached;
    /* The profile has no end of a counted step where no other one follows. */
    int is_annotated = process->steps_source && !strcmp(process->steps_source, "annotation");
    int64_t fits = ids_sat_add(process->reached, (is_annotated ? 1 : 0) - plan->steps);
    const char *other = ids_outcome_by_calls(outcome, process);
    const char *remedy = fits > 0 && fits < start
                             ? ids_outcome_text(outcome, "again, with --start-step %lld", (long long)fits)
                         : other ? ids_outcome_text(outcome, "again, with %s, which is called more often", other)
                                 : "again, with --start-step 0: it has few steps";
    ids_outcome_set(outcome, "never_reached",
                    ids_outcome_text(outcome, "the program ended after step %lld%s, before step %lld",
                                     (long long)number, source_words(outcome, process), (long long)start),
                    remedy);
}

static void nothing_opened(struct ids_outcome_work *outcome) {
    const struct ids_plan *plan = outcome->record->plan;
    if (ids_plan_judges(plan) && ids_outcome_judged(outcome)) return;
    if (plan->trigger) {
        ids_outcome_set(outcome, "not_triggered", "nobody opened a window while the program ran",
                        "idsprof trigger, from another terminal");
    } else if (plan->range[0]) {
        if (ids_outcome_without_wrapped(outcome)) return;
        ids_outcome_set(outcome, "no_range", ids_outcome_text(outcome, "no region called '%s' began", plan->range),
                        "the name must be that of a jax.profiler.TraceAnnotation, or --wrap module:function makes one");
    } else if (plan->start_step >= 0) {
        never_reached(outcome, plan->start_step);
    } else {
        ids_outcome_set(
            outcome, "ended_early",
            ids_outcome_text(outcome, "the program ended before --delay %g s was over", (double)plan->delay_ns / 1e9),
            "try again with a shorter --delay");
    }
}

/* Nothing yet, but something may still come. */
static void lingers(struct ids_outcome_work *outcome) {
    ids_outcome_set(outcome, "still_running",
                    ids_outcome_text(outcome, "process %lld goes on after the program that was started",
                                     (long long)outcome->record->lingers),
                    "what it records goes into the folder; idsprof report, when it has ended");
}

static void find_reason(struct ids_outcome_work *outcome) {
    const struct ids_seen *seen = outcome->record->seen;
    if (!seen) {
        ids_outcome_set(outcome, "no_folder",
                        ids_outcome_text(outcome, "'%s' was removed while the program ran", outcome->record->folder),
                        NULL);
        return;
    }
    const struct ids_seen_process *process = NULL;
    const struct ids_seen_text *skip = first_skipped(seen, &process);
    if (!outcome->out->files && is_disk_full(outcome)) return;
    if (!outcome->out->files && !outcome->out->lost && outcome->record->lingers) {
        lingers(outcome);
    } else if (!outcome->out->files && !outcome->out->lost && !skip && ids_outcome_unwritten(outcome)) {
        return;
    } else if (!seen->count) {
        ids_outcome_never_loaded(outcome);
    } else if (outcome->out->lost) {
        lost(outcome);
    } else if (outcome->out->files) {
        if (skip && skip->window) skipped(outcome, process, skip);
        if (!outcome->out->reason) ids_outcome_short_windows(outcome);
        if (!outcome->out->reason) ids_outcome_judged(outcome);
        if (!outcome->out->reason) ids_outcome_unmet(outcome);
        if (!outcome->out->reason) ids_outcome_without_collector(outcome);
        if (!outcome->out->reason) ids_outcome_without_stacks(outcome);
    } else if (skip) {
        skipped(outcome, process, skip);
    } else {
        nothing_opened(outcome);
    }
}

void ids_outcome_find(const struct ids_capture_record *record, struct ids_arena *arena,
                      struct ids_outcome *ret_outcome) {
    struct ids_outcome_work outcome = {record, arena, ret_outcome};
    *ret_outcome = (struct ids_outcome){
        .samples = -1, .start_ns = -1, .stop_ns = -1, .stood_ns = -1, .waited_ns = -1, .tried = -1};
    const struct ids_seen *seen = record->seen;
    for (size_t i = 0; seen && i < seen->count; i++) {
        const struct ids_seen_process *process = &seen->processes[i];
        ret_outcome->processes++;
        for (size_t w = 0; w < process->window_count; w++) add_window(ret_outcome, &process->windows[w]);
        ids_outcome_reasons(&outcome, process);
        if (!ret_outcome->steps) ret_outcome->steps = steps_text(&outcome, process);
        for (size_t f = 0; f < process->fact_count && !ret_outcome->cost; f++) {
            const struct ids_seen_text *fact = &process->facts[f];
            if (fact->key && !strcmp(fact->key, "cost")) ret_outcome->cost = fact->value;
        }
    }
    if (seen && ret_outcome->files) ret_outcome->runs = count_runs(seen, ret_outcome->files);
    find_reason(&outcome);
}
