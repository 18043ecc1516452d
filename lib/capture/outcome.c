#include "lib/capture/outcome.h"

#include "lib/base/memory.h"
#include "lib/base/saturate.h"
#include "lib/capture/collectors.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { STEPS_SHOWN = 4, TEXT_BYTES = 1024, DISK_FULL_BYTES = 1 << 20 };

struct outcome {
    const struct ids_capture_record *record;
    struct ids_arena *arena;
    struct ids_outcome *out;
};

__attribute__((format(printf, 2, 3))) static const char *text(struct outcome *outcome, const char *format, ...) {
    char buffer[TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    if (length < 0) return "";
    size_t bytes = (size_t)length < sizeof buffer ? (size_t)length : sizeof buffer - 1;
    const char *copy = ids_arena_copy(outcome->arena, buffer, bytes);
    return copy ? copy : "";
}

static void set(struct outcome *outcome, const char *reason, const char *missed, const char *remedy) {
    outcome->out->reason = reason;
    outcome->out->missed = missed;
    outcome->out->remedy = remedy;
}

/* ---- sums ---- */

static void add_known(int64_t *sum, int64_t value) {
    if (*sum >= 0) *sum = value < 0 ? -1 : ids_sat_add(*sum, value);
}

static void keep_longest(int64_t *longest, int64_t value) {
    if (value > *longest) *longest = value;
}

static void add_window(struct ids_outcome *out, const struct ids_seen_window *window) {
    keep_longest(&out->start_ns, window->start_ns);
    keep_longest(&out->waited_ns, window->waited_ns);
    if (window->fate == IDS_SEEN_WRITTEN) {
        int64_t publish_ns = window->publish_ns < 0 ? 0 : window->publish_ns;
        keep_longest(&out->stop_ns, window->stop_ns < 0 ? -1 : ids_sat_add(window->stop_ns, publish_ns));
        out->files++;
        add_known(&out->bytes, window->bytes);
        add_known(&out->events, window->events);
        add_known(&out->drops, window->drops);
    } else {
        out->lost++;
        out->open += window->fate == IDS_SEEN_OPEN;
    }
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* How many folders the files lie in. */
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

/* ---- the steps that were caught: of the first process with a file; the others of a launch do the same steps ---- */

static const char *source_words(struct outcome *outcome, const struct ids_seen_process *process) {
    if (!process->steps_source) return "";
    int annotated = !strcmp(process->steps_source, "annotation");
    if (!process->steps_name || !*process->steps_name) return annotated ? " (annotated)" : " (executions, counted)";
    return text(outcome, annotated ? " (annotation '%s')" : " (executions of %s)", process->steps_name);
}

static const char *steps_text(struct outcome *outcome, const struct ids_seen_process *process) {
    char steps[256] = "";
    size_t used = 0, shown = 0;
    int64_t most = 0;
    for (size_t w = 0; w < process->window_count; w++) {
        const struct ids_seen_window *window = &process->windows[w];
        if (window->fate != IDS_SEEN_WRITTEN || window->first_step < 0) continue;
        if (++shown > STEPS_SHOWN) continue;
        const char *between = used ? ", " : "";
        int length = window->first_step == window->last_step
                         ? snprintf(steps + used, sizeof steps - used, "%s%lld", between, (long long)window->first_step)
                         : snprintf(steps + used, sizeof steps - used, "%s%lld-%lld", between,
                                    (long long)window->first_step, (long long)window->last_step);
        used += (size_t)length;
        if (window->steps > most) most = window->steps;
    }
    if (!shown) return NULL;
    if (shown > STEPS_SHOWN) snprintf(steps + used, sizeof steps - used, " and %zu more", shown - STEPS_SHOWN);
    return text(outcome, "%s %s%s", shown == 1 && most == 1 ? "step" : "steps", steps, source_words(outcome, process));
}

/* ---- why ---- */

static const char *shown_program(const struct ids_capture_record *record) {
    const char *slash = strrchr(record->command[0], '/');
    return slash && slash[1] ? slash + 1 : record->command[0];
}

/* The letter among I, E and S that Python was started with and that keeps a sitecustomize out; 0: none. */
static char shutting_flag(char *const *command) {
    for (int i = 1; command[i] && command[i][0] == '-' && command[i][1] != '-'; i++) {
        if (command[i][1] == 'c' || command[i][1] == 'm') return 0;
        const char *found = strpbrk(command[i], "IES");
        if (found) return *found;
        if (!strcmp(command[i], "-W") || !strcmp(command[i], "-X")) i++;
    }
    return 0;
}

static int looks_like_python(const char *program) {
    return !strncmp(program, "python", 6) || !strncmp(program, "pypy", 4);
}

static int is_disk_full(struct outcome *outcome) {
    const char *folder = outcome->record->folder;
    struct statvfs disk;
    if (statvfs(folder, &disk) || (uint64_t)disk.f_bavail * disk.f_frsize >= DISK_FULL_BYTES) return 0;
    set(outcome, "disk_full", text(outcome, "the disk of '%s' is full", folder),
        "make room, or choose another folder with -o DIR");
    return 1;
}

/* What a collector that is not there would have caught cannot be known, so its absence is the first thing to mend. */
static int without_collector(struct outcome *outcome) {
    const char *home = outcome->record->home;
    char missing[TEXT_BYTES];
    if (!home || !ids_collectors_missing(home, missing, sizeof missing)) return 0;
    set(outcome, "collector_missing", text(outcome, "%s", missing), IDS_COLLECTOR_REMEDY);
    return 1;
}

/* The driver loads one tool alone. */
static int beside_rival(struct outcome *outcome) {
    const char *rival = outcome->record->rival;
    if (!rival) return 0;
    set(outcome, "other_tool",
        text(outcome, "CUDA_INJECTION64_PATH names another tool, '%s', so CUDA work was not recorded", rival),
        "unset CUDA_INJECTION64_PATH");
    return 1;
}

/* No process said hello. */
static void nobody(struct outcome *outcome) {
    const struct ids_capture_record *record = outcome->record;
    const char *program = shown_program(record);
    char flag = looks_like_python(program) ? shutting_flag(record->command) : 0;
    if (flag) {
        set(outcome, "python_flag", text(outcome, "%s -%c keeps idsprof's hook out of the program", program, flag),
            text(outcome, "start it without -%c", flag));
    } else if (record->seen->failure) {
        set(outcome, "hook_failed", text(outcome, "idsprof's hook could not start: %s", record->seen->failure),
            "idsprof doctor looks for what is in its way");
    } else if (without_collector(outcome) || beside_rival(outcome)) {
        return;
    } else if (record->seen->pythons) {
        set(outcome, "no_jax", "the program used neither jax nor CUDA, and there is nothing else to record in it",
            "idsprof doctor says what could be recorded here");
    } else if (looks_like_python(program)) {
        set(outcome, "hook_not_loaded",
            "idsprof's hook did not start in this Python: it needs PYTHONPATH, and runs as its sitecustomize",
            "idsprof doctor looks for what is in its way");
    } else {
        set(outcome, "no_python", text(outcome, "%s used neither jax nor CUDA, and nothing else is recorded", program),
            "idsprof doctor says what could be recorded here");
    }
}

/* A process of this host that has not said its end: alive it may still do so. */
static const struct ids_seen_process *still_running(const struct ids_seen *seen) {
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    for (size_t i = 0; i < seen->count; i++) {
        const struct ids_seen_process *process = &seen->processes[i];
        if (process->is_closed || process->pid <= 0 || !process->host || strcmp(process->host, host) != 0) continue;
        if (!kill((pid_t)process->pid, 0)) return process;
    }
    return NULL;
}

/* A process that was ended in a window, by the launched program's end or by its own. */
static void lost_by_sudden_end(struct outcome *outcome) {
    const struct ids_child_end *end = outcome->record->end;
    const struct ids_seen_process *running = still_running(outcome->record->seen);
    if (running) {
        set(outcome, "still_running",
            text(outcome, "process %lld goes on after the program that was started, with a window open",
                 (long long)running->pid),
            text(outcome, "idsprof trigger --stop %lld ends the window", (long long)running->pid));
    } else if (end && end->signal) {
        set(outcome, "killed",
            text(outcome, "signal %d (%s) ended the program in an open window, which is lost", end->signal,
                 strsignal(end->signal)),
            "let the window end first: fewer --steps, or idsprof trigger --stop");
    } else {
        set(outcome, "left_suddenly", "a process ended by os._exit, or was killed, in an open window, which is lost",
            "let the window end first: fewer --steps, or an earlier --start-step");
    }
}

static void lost(struct outcome *outcome) {
    const struct ids_seen *seen = outcome->record->seen;
    for (size_t i = 0; i < seen->count; i++) {
        for (size_t w = 0; w < seen->processes[i].window_count; w++) {
            const struct ids_seen_window *window = &seen->processes[i].windows[w];
            if (window->fate != IDS_SEEN_LOST) continue;
            set(outcome, "lost",
                text(outcome, "window %lld is lost: %s", (long long)window->number,
                     window->why ? window->why : "no reason was given"),
                NULL);
            return;
        }
    }
    lost_by_sudden_end(outcome);
}

static const struct ids_seen_text *first_skipped(const struct ids_seen *seen) {
    for (size_t i = 0; i < seen->count; i++) {
        if (seen->processes[i].skipped_count) return &seen->processes[i].skipped[0];
    }
    return NULL;
}

static void skipped(struct outcome *outcome, const struct ids_seen_text *skip) {
    const char *why = skip->value ? skip->value : "no reason was given";
    if (!skip->window) {
        set(outcome, "rank_not_chosen", why, NULL);
    } else {
        set(outcome, "skipped", text(outcome, "window %lld was not opened: %s", (long long)skip->window, why), NULL);
    }
}

/* The process that came furthest: it tells best why no window opened. */
static const struct ids_seen_process *furthest(const struct ids_seen *seen) {
    const struct ids_seen_process *best = &seen->processes[0];
    for (size_t i = 1; i < seen->count; i++) {
        if (seen->processes[i].reached > best->reached) best = &seen->processes[i];
    }
    return best;
}

static void never_reached(struct outcome *outcome, int64_t start) {
    const struct ids_seen_process *process = furthest(outcome->record->seen);
    const struct ids_plan *plan = outcome->record->plan;
    if (process->reached < 0 && process->is_closed) {
        set(outcome, "no_steps", "the program ended without a step that could be counted",
            "try again with --delay 10s --duration 2s, which go by time");
        return;
    }
    if (!process->is_closed) {
        set(outcome, "left_early", "the program was killed, or ended by os._exit, before a window opened",
            "try again with an earlier --start-step");
        return;
    }
    int64_t number = process->number >= 0 ? process->number : process->reached;
    int64_t fits = ids_sat_add(process->reached, 1 - plan->steps);
    const char *remedy = fits > 0 && fits < start ? text(outcome, "again, with --start-step %lld", (long long)fits)
                                                  : "again, with --start-step 0: it has few steps";
    set(outcome, "never_reached",
        text(outcome, "the program ended after step %lld%s, before step %lld", (long long)number,
             source_words(outcome, process), (long long)start),
        remedy);
}

static void nothing_opened(struct outcome *outcome) {
    const struct ids_plan *plan = outcome->record->plan;
    if (plan->trigger) {
        set(outcome, "not_triggered", "nobody opened a window while the program ran",
            "idsprof trigger, from another terminal");
    } else if (plan->range[0]) {
        set(outcome, "no_range", text(outcome, "no region called '%s' began", plan->range),
            "the name must be that of a jax.profiler.TraceAnnotation, or --wrap module:function makes one");
    } else if (plan->start_step >= 0) {
        never_reached(outcome, plan->start_step);
    } else {
        set(outcome, "ended_early",
            text(outcome, "the program ended before --delay %g s was over", (double)plan->delay_ns / 1e9),
            "try again with a shorter --delay");
    }
}

/* Fewer windows than --max: worth a word, for the program may have ended early. */
static void fewer_than_asked(struct outcome *outcome) {
    const struct ids_plan *plan = outcome->record->plan;
    int64_t missing = plan->max - outcome->out->runs;
    if (!plan->every || plan->max <= 0 || missing <= 0 || plan->start_step < 0) return;
    int64_t next = ids_sat_add(plan->start_step, ids_sat_mul(outcome->out->runs, plan->every));
    set(outcome, "fewer",
        text(outcome, "%lld of %lld windows: the program ended before step %lld", (long long)missing,
             (long long)plan->max, (long long)next),
        NULL);
}

static int is(const char *text, const char *word) {
    return text && !strcmp(text, word);
}

/* A window that is there and holds less than was asked for. */
static int say_short(struct outcome *outcome, const struct ids_seen_window *window) {
    int64_t asked = outcome->record->plan->steps;
    long long number = window->number;
    if (window->fate != IDS_SEEN_WRITTEN) return 0;
    if (is(window->closed_by, "program")) {
        set(outcome, "gave_way",
            text(outcome, "window %lld ended where the program began a profile of its own", number), NULL);
    } else if (is(window->closed_by, "exit") && is(window->opened_by, "step") && window->steps > 0 &&
               window->steps < asked) {
        set(outcome, "cut_short",
            text(outcome, "the program ended after %lld of the %lld steps of window %lld", (long long)window->steps,
                 (long long)asked, number),
            NULL);
    }
    return outcome->out->reason != NULL;
}

static void short_windows(struct outcome *outcome) {
    const struct ids_seen *seen = outcome->record->seen;
    for (size_t i = 0; i < seen->count; i++) {
        for (size_t w = 0; w < seen->processes[i].window_count; w++) {
            if (say_short(outcome, &seen->processes[i].windows[w])) return;
        }
    }
}

static void find_reason(struct outcome *outcome) {
    const struct ids_seen *seen = outcome->record->seen;
    if (!seen) {
        set(outcome, "no_folder", text(outcome, "'%s' was removed while the program ran", outcome->record->folder),
            NULL);
        return;
    }
    const struct ids_seen_text *skip = first_skipped(seen);
    if (!outcome->out->files && is_disk_full(outcome)) return;
    if (!seen->count) {
        nobody(outcome);
    } else if (outcome->out->lost) {
        lost(outcome);
    } else if (outcome->out->files) {
        if (skip && skip->window) skipped(outcome, skip);
        if (!outcome->out->reason) short_windows(outcome);
        if (!outcome->out->reason) fewer_than_asked(outcome);
        if (!outcome->out->reason) without_collector(outcome);
    } else if (skip) {
        skipped(outcome, skip);
    } else {
        nothing_opened(outcome);
    }
}

void ids_outcome_find(const struct ids_capture_record *record, struct ids_arena *arena,
                      struct ids_outcome *ret_outcome) {
    struct outcome outcome = {record, arena, ret_outcome};
    *ret_outcome = (struct ids_outcome){.start_ns = -1, .stop_ns = -1, .waited_ns = -1};
    const struct ids_seen *seen = record->seen;
    for (size_t i = 0; seen && i < seen->count; i++) {
        const struct ids_seen_process *process = &seen->processes[i];
        ret_outcome->processes++;
        for (size_t w = 0; w < process->window_count; w++) add_window(ret_outcome, &process->windows[w]);
        if (!ret_outcome->steps) ret_outcome->steps = steps_text(&outcome, process);
        for (size_t f = 0; f < process->fact_count && !ret_outcome->cost; f++) {
            const struct ids_seen_text *fact = &process->facts[f];
            if (fact->key && !strcmp(fact->key, "cost")) ret_outcome->cost = fact->value;
        }
    }
    if (seen && ret_outcome->files) ret_outcome->runs = count_runs(seen, ret_outcome->files);
    find_reason(&outcome);
}
