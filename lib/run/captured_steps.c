#include "lib/run/captured_steps.h"

#include "lib/base/counted.h"
#include "lib/capture/seen.h"
#include "lib/model/sink.h"
#include "lib/run/capture_path.h"

#include <stdlib.h>
#include <string.h>

/* The windows that lie in the run's folder: one of each rank. */
struct windows {
    struct ids_seen_window *at;
    size_t count;
    int64_t apart; /* groups of them that have no step in common with each other */
};

static void find_windows(const struct ids_seen *seen, const char *folder, size_t length, struct windows *windows) {
    for (size_t i = 0; i < seen->count; i++) {
        for (size_t w = 0; w < seen->processes[i].window_count; w++) {
            const struct ids_seen_window *window = &seen->processes[i].windows[w];
            const char *slash = window->path ? strrchr(window->path, '/') : NULL;
            size_t own = slash ? (size_t)(slash - window->path) : 0;
            if (window->fate != IDS_SEEN_WRITTEN || window->first_step < 0 || window->steps <= 0) continue;
            if (!own || own > length || strncmp(folder + length - own, window->path, own) != 0) continue;
            windows->at[windows->count++] = *window;
        }
    }
}

static int by_first(const void *a, const void *b) {
    const struct ids_seen_window *left = a, *right = b;
    return (left->first_step > right->first_step) - (left->first_step < right->first_step);
}

/* The steps of all the windows, which are of ranks at different steps where one opened them at one time: a step of
 * several ranks is one. Where numbers have gaps, the window with most steps: ranks that ended early have fewer. */
static void sum_windows(struct windows *windows, struct ids_seen_window *ret_window) {
    int64_t union_steps = 0, last = -1;
    int has_gaps = 0;
    qsort(windows->at, windows->count, sizeof *windows->at, by_first);
    *ret_window = windows->at[0];
    for (size_t i = 0; i < windows->count; i++) {
        const struct ids_seen_window *window = &windows->at[i];
        int64_t from = window->first_step > last ? window->first_step : last + 1;
        if (window->steps > ret_window->steps) *ret_window = *window;
        has_gaps |= window->last_step - window->first_step != window->steps - 1;
        windows->apart += window->first_step > last;
        if (window->last_step < from) continue;
        union_steps += window->last_step - from + 1;
        last = window->last_step;
    }
    if (has_gaps) windows->apart = 1;
    if (has_gaps || windows->count < 2) return;
    ret_window->steps = union_steps;
    ret_window->first_step = windows->at[0].first_step;
    ret_window->last_step = last;
}

static int find_window(const struct ids_seen *seen, const char *folder, size_t length, int64_t *ret_apart,
                       struct ids_seen_window *ret_window) {
    size_t all = 0;
    for (size_t i = 0; i < seen->count; i++) all += seen->processes[i].window_count;
    struct windows windows = {.at = calloc(all + 1, sizeof *windows.at)};
    if (windows.at) find_windows(seen, folder, length, &windows);
    int found = windows.count > 0;
    if (found) sum_windows(&windows, ret_window);
    *ret_apart = windows.apart;
    free(windows.at);
    return found;
}

/* What capture said of the window that the run is. */
static int captured(const struct ids_run_files *run, struct ids_seen *seen, int64_t *ret_apart,
                    struct ids_seen_window *ret_window) {
    struct ids_error ignored = IDS_ERROR_INIT;
    const char *path = run->file_count && !run->files[0].archive ? run->files[0].path : NULL;
    size_t folder;
    char *whole = path ? ids_capture_path(path, &folder) : NULL, *session = whole ? strndup(whole, folder) : NULL;
    int found = session && !ids_seen_read(session, seen, &ignored) &&
                find_window(seen, whole, (size_t)(strrchr(whole, '/') - whole), ret_apart, ret_window);
    free(session);
    free(whole);
    return found;
}

/* The steps of the report as it names them; -1: it does not, or there are gaps in them. */
struct shown {
    int64_t count, first, last, running; /* running: of which the window shows the end alone */
};

static int64_t number_of(const struct ids_report *report, const char *id) {
    const struct ids_value *value = ids_report_find_property(report, id);
    return value && !value->missing ? value->i : -1;
}

static struct shown shown_in(const struct ids_report *report) {
    struct shown shown = {number_of(report, "steps.count"), number_of(report, "steps.first"),
                          number_of(report, "steps.last"), number_of(report, "steps.running")};
    /* Where a region is the step, what capture counted lies in it. */
    const int64_t inner = number_of(report, "steps.in_region");
    if (inner >= 0) return (struct shown){inner, -1, -1, -1};
    if (shown.first < 0 || shown.last < 0 || shown.last - shown.first < shown.count - 1) shown.first = shown.last = -1;
    return shown;
}

/* What capture counts are the steps that began in the window. Annotated ones have the same numbers in both. */
static int differ(const struct ids_seen_window *window, const struct shown *shown, int has_numbers) {
    int64_t begun = shown->count - (shown->running >= 0);
    if (window->steps != begun) return 1;
    if (!has_numbers || shown->first < 0 || !begun) return 0;
    return shown->last != window->last_step || (shown->running < 0 && shown->first != window->first_step);
}

static int is_by_step(const char *by) {
    return !by || !strcmp(by, "step");
}

/* A window that opened inside of a step may show the end of that one, and one that closed inside of a step may not show
 * the one that was begun: what is cut is the whole difference. So may each of the ranks that are apart. */
static int is_cut(const struct ids_seen_window *window, const struct shown *shown, int64_t apart, int has_numbers) {
    int64_t before = apart * (!is_by_step(window->opened_by) || shown->running >= 0),
            after = apart * !is_by_step(window->closed_by);
    if (shown->count > window->steps + before || shown->count < window->steps - after || !shown->count) return 0;
    if (!has_numbers || shown->first < 0) return 1;
    return shown->first <= window->first_step && shown->first >= window->first_step - before &&
           shown->last <= window->last_step && shown->last >= window->last_step - after;
}

/* Where no step ended the window, the last one goes on beyond it, and the profile has no end of it. */
static int last_is_not_whole(const struct ids_seen_window *window, const struct shown *shown) {
    int64_t begun = shown->count - (shown->running >= 0);
    if (!window->closed_by || !strcmp(window->closed_by, "step") || window->steps - 1 != begun) return 0;
    return shown->last < 0 || shown->last == window->last_step - 1;
}

static const char *why(const struct ids_seen_window *window, const struct shown *shown, struct ids_report *report) {
    const char *opened = "", *closed = "";
    if (shown->running >= 0 && shown->running < window->first_step)
        opened = ids_report_text(report, "step %lld ran when it opened", (long long)shown->running);
    if (last_is_not_whole(window, shown))
        closed =
            ids_report_text(report, "step %lld ran when it closed, and is not whole", (long long)window->last_step);
    if (!*opened && !*closed) return "";
    return ids_report_text(report, ": %s%s%s", opened, *opened && *closed ? ", and " : "", closed);
}

const char *ids_captured_steps_differ(const struct ids_run_files *run, struct ids_report *report) {
    const struct ids_value *source = ids_report_find_property(report, "steps.source");
    const struct shown shown = shown_in(report);
    int is_annotated = source && !source->missing && source->text && !strcmp(source->text, "annotation");
    struct ids_seen seen = {0};
    struct ids_seen_window window = {0};
    const char *text = NULL;
    int64_t apart = 1;
    if (shown.count < 0 || run->number) return NULL;
    int found = captured(run, &seen, &apart, &window);
    for (size_t i = 0; i < seen.count; i++)
        is_annotated &= seen.processes[i].steps_source && !strcmp(seen.processes[i].steps_source, "annotation");
    if (found && differ(&window, &shown, is_annotated) && !is_cut(&window, &shown, apart, is_annotated))
        text = ids_report_text(
            report, "capture counted %s (%lld to %lld) in this window, and the profile shows %s%s%s",
            IDS_COUNTED(window.steps, "step"), (long long)window.first_step, (long long)window.last_step,
            IDS_COUNTED(shown.count, "step"),
            shown.first < 0 ? ""
                            : ids_report_text(report, " (%lld to %lld)", (long long)shown.first, (long long)shown.last),
            why(&window, &shown, report));
    ids_seen_done(&seen);
    return text;
}

/* Of the measured steps those with which the function of the turn comes; -1: nobody knows. */
static int64_t count_ends(const struct ids_report *report, int64_t every, int64_t place) {
    int64_t first = number_of(report, "steps.first"), last = number_of(report, "steps.last"),
            left_out = number_of(report, "steps.left_out"), count = 0;
    if (place < 0 || first < 0 || last < first || last - first > INT32_MAX) return -1;
    for (int64_t number = first; number <= last; number++) count += number != left_out && number % every == place;
    return count;
}

/* " (the 4 that are measured are 1 turn)", " (the 4 that are measured are 4 of the 10 of a turn, apply with none of
 * them)": what the means are of. */
static const char *say_turns(struct ids_report *report, const char *turn, int64_t every, int64_t place) {
    const struct ids_metric *found = ids_report_find(report, "steps.count", NULL);
    if (!found || found->value.missing) return "";
    const struct ids_value *left_out = ids_report_find_property(report, "steps.left_out");
    int64_t count = found->value.i - (left_out && !left_out->missing && left_out->i >= 0);
    if (count < 1) return "";
    int64_t rest = count % every, ends = count_ends(report, every, place);
    const char *turns = count < every ? "" : IDS_COUNTED(count / every, "turn"), *part = "", *with = "";
    if (rest)
        part = ids_report_text(report, "%s%lld of the %lld of %s", *turns ? " and " : "", (long long)rest,
                               (long long)every, *turns ? "another" : "a turn");
    if (rest && ends >= 0)
        with = ids_report_text(report, ", %s with %s of them", turn,
                               ends ? ids_report_text(report, "%lld", (long long)ends) : "none");
    return ids_report_text(report, " (the %lld that are measured are %s%s%s)", (long long)count, turns, part, with);
}

/* Steps that are calls may be parts of a turn of the loop. */
static void describe_turn(const struct ids_run_files *run, struct ids_report *report) {
    const struct ids_value *name = ids_report_find_property(report, "steps.annotation");
    struct ids_seen seen = {0};
    struct ids_seen_window window = {0};
    int64_t every, apart;
    if (run->number || !name || name->missing || !name->text || strncmp(name->text, "call of ", 8) != 0) return;
    const char *turn = captured(run, &seen, &apart, &window) ? ids_seen_turn(&seen.processes[0], &every) : NULL;
    if (turn) ids_report_property(report, "turn_every", ids_int_value(IDS_UNIT_COUNT, every));
    if (turn)
        ids_report_property(report, "turn",
                            ids_text_value(ids_report_text(
                                report,
                                "%s comes with one of %lld steps%s: idsprof capture --step-executable "
                                "'^%s$' counts turns of the loop",
                                turn, (long long)every,
                                say_turns(report, turn, every, ids_seen_turn_place(&seen.processes[0])), turn)));
    ids_seen_done(&seen);
}

void ids_captured_steps_describe(const struct ids_run_files *run, struct ids_report *report) {
    describe_turn(run, report);
    const char *text = ids_captured_steps_differ(run, report);
    if (text) ids_report_diag(report, IDS_WARNING, "steps.disagree", text, -1, 1);
}
