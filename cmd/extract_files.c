#include "cmd/extract_files.h"

#include "cmd/file_name.h"
#include "lib/base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int is_of_a_profiler(const char *name) {
    static const char *const endings[] = {".pb", ".json", ".pftrace"};
    size_t length = strlen(name), plain = ids_length_without(name, length, ".gz");
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        if (ids_length_without(name, plain, endings[i]) < plain) return *name != '.';
    }
    return 0;
}

static int add(struct ids_members *members, const char *path, uint64_t bytes, struct ids_error *err) {
    struct ids_member *member = IDS_PUSH(members->at, members->count, members->room);
    if (!member) return ids_no_memory(err);
    *member = (struct ids_member){strdup(path), bytes};
    return member->path ? 0 : ids_no_memory(err);
}

static int has(const struct ids_run_files *run, const char *path) {
    for (size_t i = 0; i < run->file_count; i++) {
        if (!strcmp(ids_file_name(run->files[i].path), ids_file_name(path))) return 1;
    }
    return 0;
}

/* What lies beside the profiles in the run's folder. */
static int add_beside(struct ids_members *members, const struct ids_run_files *run, DIR *folder,
                      struct ids_error *err) {
    enum { MEMBERS_MAX = 100000 };
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[4096];
        struct stat status;
        if (!is_of_a_profiler(entry->d_name)) continue;
        if ((size_t)snprintf(path, sizeof path, "%s/%s", run->path, entry->d_name) >= sizeof path) continue;
        if (lstat(path, &status) || !S_ISREG(status.st_mode) || has(run, path)) continue;
        if (members->count >= MEMBERS_MAX)
            return ids_fail(err, IDS_LIMIT, "'%s' holds more than %d files", run->path, MEMBERS_MAX);
        int code = add(members, path, (uint64_t)status.st_size, err);
        if (code) return code;
    }
    return 0;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct ids_member *)a)->path, ((const struct ids_member *)b)->path);
}

int ids_members_of(const struct ids_run_files *run, struct ids_members *ret_members, struct ids_error *err) {
    int code = 0;
    *ret_members = (struct ids_members){0};
    for (size_t i = 0; i < run->file_count && !code; i++)
        code = add(ret_members, run->files[i].path, run->files[i].size, err);
    DIR *folder = code ? NULL : opendir(run->path); /* no folder: a file, or standard input */
    if (folder) {
        code = add_beside(ret_members, run, folder, err);
        closedir(folder);
    }
    if (code) {
        ids_members_done(ret_members);
    } else if (ret_members->count) {
        qsort(ret_members->at, ret_members->count, sizeof *ret_members->at, by_name);
    }
    return code;
}

void ids_members_done(struct ids_members *members) {
    for (size_t i = 0; i < members->count; i++) free(members->at[i].path);
    free(members->at);
    *members = (struct ids_members){0};
}
