#include "lib/run/history_names.h"

#include "lib/run/capture_path.h"
#include "lib/run/file_name.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int is_file_of(const struct ids_run_files *run, const char *written) {
    for (size_t i = 0; i < run->file_count; i++) {
        size_t folder;
        char *path = run->files[i].archive ? NULL : ids_capture_path(run->files[i].path, &folder);
        int is_it = path && !strcmp(path + folder + 1, written);
        free(path);
        if (is_it) return 1;
    }
    return 0;
}

const struct ids_seen_window *ids_history_window(const struct ids_seen_process *process,
                                                 const struct ids_run_files *run) {
    for (size_t i = 0; i < process->window_count; i++) {
        const struct ids_seen_window *window = &process->windows[i];
        if (window->fate == IDS_SEEN_WRITTEN && window->path && (!run || is_file_of(run, window->path))) return window;
    }
    return NULL;
}

static int has_written(const struct ids_seen_process *process, const struct ids_run_files *run) {
    return ids_history_window(process, run) != NULL;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t list_all(DIR *notes, char *names[IDS_HISTORY_NAMES]) {
    size_t count = 0;
    for (struct dirent *entry; count < IDS_HISTORY_NAMES && (entry = readdir(notes));) {
        if (!ids_name_ends_with(entry->d_name, ".history")) continue;
        names[count] = strdup(entry->d_name);
        if (names[count]) count++;
    }
    if (count) qsort(names, count, sizeof *names, by_name);
    return count;
}

/* Histories are called <host>.<pid>.history (collectors/common/history.h). NULL: nothing is noted of that process. */
static const struct ids_seen_process *process_of(const struct ids_seen *seen, const char *name) {
    size_t length = strlen(name) - (sizeof ".history" - 1), host = length;
    while (host > 0 && name[host - 1] != '.') host--;
    const int64_t pid = strtoll(name + host, NULL, 10);
    for (size_t i = 0; host > 0 && i < seen->count; i++) {
        const struct ids_seen_process *process = &seen->processes[i];
        if (process->pid == pid && process->host && strlen(process->host) == host - 1 &&
            !memcmp(process->host, name, host - 1))
            return process;
    }
    return NULL;
}

size_t ids_history_names(DIR *notes, const struct ids_seen *seen, const struct ids_run_files *run,
                         char *ret_names[IDS_HISTORY_NAMES]) {
    size_t count = list_all(notes, ret_names), kept = 0;
    int is_known = 0, has_ranks = 0;
    for (size_t n = 0; run && n < count; n++) {
        const struct ids_seen_process *process = process_of(seen, ret_names[n]);
        if (!process || !has_written(process, run)) continue;
        is_known = 1;
        has_ranks |= process->rank >= 0;
    }
    for (size_t n = 0; n < count; n++) {
        const struct ids_seen_process *process = is_known ? process_of(seen, ret_names[n]) : NULL;
        int is_silent_rank = process && has_ranks && process->rank >= 0 && !has_written(process, NULL);
        if (!is_known || is_silent_rank || (process && has_written(process, run)))
            ret_names[kept++] = ret_names[n];
        else
            free(ret_names[n]);
    }
    return kept;
}
