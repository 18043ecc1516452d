#include "cmd/capture_after.h"

#include "cmd/engine.h"
#include "lib/base/error.h"
#include "lib/base/memory.h"
#include "lib/capture/child.h"
#include "lib/cli/say.h"
#include "lib/run/captured_steps.h"
#include "lib/run/find_runs.h"
#include "lib/run/open_run.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *ids_capture_shown_path(const char *path) {
    static char here[PATH_MAX];
    size_t length = getcwd(here, sizeof here) ? strlen(here) : 0;
    return length > 1 && !strncmp(path, here, length) && path[length] == '/' ? path + length + 1 : path;
}

/* The command as a user would give it, in this program. */
static void run_self(char *const words[]) {
    struct ids_child_end end;
    struct ids_error err = IDS_ERROR_INIT;
    char whole[IDS_ERROR_WHOLE];
    fflush(stdout);
    if (ids_child_run(words, environ, &end, &err)) ids_say("capture", "%s", ids_error_whole(&err, whole));
}

void ids_capture_report(const char *folder, int is_sweep) {
    char self[] = "/proc/self/exe", report_word[] = "report", list_word[] = "list", sort[] = "--sort",
         label[] = "label";
    char *path = strdup(ids_capture_shown_path(folder));
    char *reporting[] = {self, report_word, path, NULL}, *listing[] = {self, list_word, sort, label, path, NULL};
    if (path)
        run_self(is_sweep ? listing : reporting);
    else
        ids_memory_refused();
    free(path);
}

/* ---- steps ---- */

/* A program that chooses its devices itself goes by no variable of ours. */
static void check_devices(const struct ids_report *report, int64_t devices) {
    const struct ids_value *count = ids_report_find_property(report, "devices.count");
    if (!devices || !count || count->missing || count->i <= devices) return;
    ids_say_wrapped("devices",
                    "the program has %lld, not %lld: it sets their number itself (XLA_FLAGS, jax.config?), so "
                    "the sweep compares no numbers of devices",
                    (long long)count->i, (long long)devices);
}

static void check_run(struct ids_engine *engine, const struct ids_run_files *run, int is_only, int64_t devices) {
    struct ids_params params;
    struct ids_report report;
    struct ids_error ignored = IDS_ERROR_INIT; /* who reads the run is told */
    ids_params_default(&params);
    if (ids_open_run(engine, run, &params, &report, &ignored)) return;
    const char *differ = ids_captured_steps_differ(run, &report);
    if (differ) ids_say_wrapped("steps", "%s%s%s", is_only ? "" : run->name, is_only ? "" : ": ", differ);
    check_devices(&report, devices);
    ids_report_done(&report);
}

void ids_capture_check_steps(const char *folder, int64_t bytes, int64_t devices) {
    enum { BYTES_MOST = 16 << 20, RUNS_MOST = 8 };
    struct ids_engine engine = ids_command_engine("capture", 1);
    struct ids_run_list list = {0};
    struct ids_error ignored = IDS_ERROR_INIT;
    if (bytes <= 0 || bytes > BYTES_MOST) return;
    if (!ids_find_runs(&engine, folder, &list, &ignored)) {
        for (size_t i = 0; i < list.run_count && i < RUNS_MOST; i++)
            check_run(&engine, &list.runs[i], list.run_count == 1, devices);
    }
    ids_run_list_done(&list);
    ids_engine_done(&engine);
}

/* ---- --perfetto ---- */

static void export_run(const char *run, int quiet) {
    char self[] = "/proc/self/exe", extract[] = "extract", format[] = "--format=perfetto", into[] = "--output",
         silent[] = "--quiet";
    char *path = strdup(ids_capture_shown_path(run));
    char *words[] = {self, extract, path, format, into, path, quiet ? silent : NULL, NULL};
    if (path)
        run_self(words); /* it says itself what it wrote, or why not */
    else
        ids_memory_refused();
    free(path);
}

void ids_capture_perfetto(const char *folder, int quiet) {
    struct dirent **entries = NULL;
    char *root = NULL;
    if (asprintf(&root, "%s/plugins/profile", folder) < 0) {
        ids_memory_refused();
        return;
    }
    int count = scandir(root, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char run[PATH_MAX];
        struct stat status;
        int fits = snprintf(run, sizeof run, "%s/%s", root, entries[i]->d_name) < (int)sizeof run;
        if (entries[i]->d_name[0] != '.' && fits && !stat(run, &status) && S_ISDIR(status.st_mode))
            export_run(run, quiet);
        free(entries[i]);
    }
    free(entries);
    free(root);
}
