#include "lib/run/extract_files.h"

#include "lib/base/vec.h"
#include "lib/run/file_name.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int is_of_a_profiler(const char *name) {
    static const char *const endings[] = {".pb", ".json", ".pftrace", ".prof"};
    size_t length = strlen(name), plain = ids_length_without(name, length, ".gz");
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        if (ids_length_without(name, plain, endings[i]) < plain) return *name != '.';
    }
    return 0;
}

static int has(const struct ids_run_files *run, const char *path) {
    for (size_t i = 0; i < run->file_count; i++) {
        if (!strcmp(ids_file_name(run->files[i].path), ids_file_name(path))) return 1;
    }
    return 0;
}

/* A regular file of the run's folder, to `found`. */
static int find_beside(struct ids_members *members, const struct ids_run_files *run, const char *name,
                       struct ids_error *err) {
    enum { MEMBERS_MAX = 100000 };
    char path[4096];
    struct stat status;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", run->path, name) >= sizeof path) return 0;
    if (lstat(path, &status) || !S_ISREG(status.st_mode)) return 0;
    if (members->found_count >= MEMBERS_MAX)
        return ids_fail(err, IDS_LIMIT, "'%s' holds more than %d files", run->path, MEMBERS_MAX);
    struct ids_run_file *file = IDS_PUSH(members->found, members->found_count, members->found_room);
    if (!file) return ids_no_memory(err);
    *file = (struct ids_run_file){.path = strdup(path), .size = (uint64_t)status.st_size};
    return file->path ? 0 : ids_no_memory(err);
}

static int find_in_folder(struct ids_members *members, const struct ids_run_files *run, struct ids_error *err) {
    DIR *folder = opendir(run->path); /* no folder: a file, or standard input */
    int code = 0;
    if (!folder) return 0;
    for (struct dirent *entry; !code && (entry = readdir(folder));) {
        if (is_of_a_profiler(entry->d_name)) code = find_beside(members, run, entry->d_name, err);
    }
    closedir(folder);
    return code;
}

static int find(struct ids_members *members, const struct ids_run_files *run, struct ids_error *err) {
    const struct ids_run_file *first = run->files;
    if (!first->archive) return find_in_folder(members, run, err);
    if (!strcmp(run->path, first->path)) return 0; /* one file of many: those beside it are other runs */
    return ids_run_file_neighbours(first, &members->found, &members->found_count, err);
}

static int add(struct ids_members *members, const struct ids_run_file *file, struct ids_error *err) {
    struct ids_run_file *member = IDS_PUSH(members->at, members->count, members->room);
    if (!member) return ids_no_memory(err);
    *member = *file;
    return 0;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct ids_run_file *)a)->path, ((const struct ids_run_file *)b)->path);
}

int ids_members_of(const struct ids_run_files *run, struct ids_members *ret_members, struct ids_error *err) {
    *ret_members = (struct ids_members){0};
    int code = find(ret_members, run, err);
    for (size_t i = 0; i < run->file_count && !code; i++) code = add(ret_members, &run->files[i], err);
    for (size_t i = 0; i < ret_members->found_count && !code; i++) {
        const struct ids_run_file *file = &ret_members->found[i];
        if (is_of_a_profiler(ids_file_name(file->path)) && !has(run, file->path)) code = add(ret_members, file, err);
    }
    if (code) {
        ids_members_done(ret_members);
    } else if (ret_members->count) {
        qsort(ret_members->at, ret_members->count, sizeof *ret_members->at, by_name);
    }
    return code;
}

void ids_members_done(struct ids_members *members) {
    free(members->at);
    ids_run_file_neighbours_free(members->found, members->found_count);
    *members = (struct ids_members){0};
}
