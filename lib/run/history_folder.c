#include "lib/run/history_folder.h"

#include "lib/capture/sidecar_head.h"
#include "lib/run/file_name.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char notes_name[] = "/.idsprof";

/* When the newest history of the capture was written, in nanoseconds; -1: it has none. */
static int64_t written_at(const char *capture) {
    char *path = NULL;
    if (asprintf(&path, "%s%s", capture, notes_name) < 0) return -1;
    DIR *notes = opendir(path);
    int64_t newest = -1;
    struct stat status;
    free(path);
    for (struct dirent *entry; notes && (entry = readdir(notes));) {
        if (!ids_name_ends_with(entry->d_name, ".history") || fstatat(dirfd(notes), entry->d_name, &status, 0))
            continue;
        int64_t at = (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec;
        if (at > newest) newest = at;
    }
    if (notes) closedir(notes);
    return newest;
}

/* "x/" and "x/.idsprof" as "x". */
static char *capture_of(const char *path) {
    size_t length = strlen(path), notes = sizeof notes_name - 1;
    while (length > 1 && path[length - 1] == '/') length--;
    if (length > notes && !memcmp(path + length - notes, notes_name, notes)) length -= notes;
    return length == notes - 1 && !memcmp(path, notes_name + 1, length) ? strdup(".") : strndup(path, length);
}

char *ids_history_folder(const char *path) {
    char *best = capture_of(path);
    if (!best || written_at(best) >= 0) return best;
    DIR *folder = opendir(best);
    int64_t newest = -1;
    char *parent = best;
    best = NULL;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char *capture = NULL;
        if (entry->d_name[0] == '.' || asprintf(&capture, "%s/%s", parent, entry->d_name) < 0) continue;
        int64_t at = written_at(capture);
        int is_newer = at > newest;
        if (is_newer) newest = at;
        free(is_newer ? best : capture);
        if (is_newer) best = capture;
    }
    if (folder) closedir(folder);
    free(parent);
    return best;
}

static int has_profiles(const char *capture) {
    char *profiles = NULL;
    if (asprintf(&profiles, "%s/plugins/profile", capture) < 0) return 1;
    int found = !access(profiles, F_OK);
    free(profiles);
    return found;
}

char *ids_newer_history(const char *path, const char *profile) {
    struct stat status;
    char *capture = stat(profile, &status) ? NULL : ids_history_folder(path);
    if (capture && !has_profiles(capture) && ids_sidecar_is_ended(capture) &&
        written_at(capture) > (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec)
        return capture;
    free(capture);
    return NULL;
}
