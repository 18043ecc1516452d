#include "lib/run/captured_steps.h"

#include "lib/base/counted.h"
#include "lib/capture/seen.h"
#include "lib/model/sink.h"

#include <stdlib.h>
#include <string.h>

/* Of the windows that lie in the run's folder the one with most steps: ranks that ended early have fewer. */
static int find_window(const struct ids_seen *seen, const char *folder, size_t length,
                       struct ids_seen_window *ret_window) {
    int found = 0;
    for (size_t i = 0; i < seen->count; i++) {
        for (size_t w = 0; w < seen->processes[i].window_count; w++) {
            const struct ids_seen_window *window = &seen->processes[i].windows[w];
            const char *slash = window->path ? strrchr(window->path, '/') : NULL;
            size_t own = slash ? (size_t)(slash - window->path) : 0;
            if (window->fate != IDS_SEEN_WRITTEN || window->first_step < 0 || window->steps <= 0) continue;
            if (!own || own > length || strncmp(folder + length - own, window->path, own) != 0) continue;
            if (found && window->steps <= ret_window->steps) continue;
            *ret_window = *window;
            found = 1;
        }
    }
    return found;
}

/* What capture said of the window that the run is. */
static int captured(const struct ids_run_files *run, struct ids_seen *seen, struct ids_seen_window *ret_window) {
    struct ids_error ignored = IDS_ERROR_INIT;
    const char *path = run->file_count && !run->files[0].archive ? run->files[0].path : NULL;
    const char *end = path ? strstr(path, "/plugins/profile/") : NULL, *slash = path ? strrchr(path, '/') : NULL;
    char *session = end ? strndup(path, (size_t)(end - path)) : NULL;
    int found = session && !ids_seen_read(session, seen, &ignored) &&
                find_window(seen, path, (size_t)(slash - path), ret_window);
    free(session);
    return found;
}

const char *ids_captured_steps_differ(const struct ids_run_files *run, struct ids_report *report) {
    const struct ids_value *count = ids_report_find_property(report, "steps.count"),
                           *first = ids_report_find_property(report, "steps.first"),
                           *last = ids_report_find_property(report, "steps.last"),
                           *running = ids_report_find_property(report, "steps.running");
    struct ids_seen seen = {0};
    struct ids_seen_window window = {0};
    const char *text = NULL;
    if (!count || count->missing || run->number) return NULL;
    /* What capture counts are the steps that began in the window. Where no step ended it, the last one goes on beyond
     * it, and the profile has no end of it. */
    int64_t begun = count->i - (running && !running->missing);
    if (captured(run, &seen, &window) && window.steps != begun &&
        (window.steps - 1 != begun || !window.closed_by || !strcmp(window.closed_by, "step")))
        text = ids_report_text(report, "capture counted %s (%lld to %lld) in this window, and the profile shows %s%s",
                               IDS_COUNTED(window.steps, "step"), (long long)window.first_step,
                               (long long)window.last_step, IDS_COUNTED(count->i, "step"),
                               first && last && !first->missing && !last->missing && last->i - first->i >= count->i - 1
                                   ? ids_report_text(report, " (%lld to %lld)", (long long)first->i, (long long)last->i)
                                   : "");
    ids_seen_done(&seen);
    return text;
}

void ids_captured_steps_describe(const struct ids_run_files *run, struct ids_report *report) {
    const char *text = ids_captured_steps_differ(run, report);
    if (text) ids_report_diag(report, IDS_WARNING, "steps.disagree", text, -1, 1);
    const struct ids_value *rhythm = ids_report_find_property(report, "steps.rhythm");
    if (rhythm && !rhythm->missing) ids_report_diag(report, IDS_WARNING, "steps.rhythm", rhythm->text, -1, 1);
}
