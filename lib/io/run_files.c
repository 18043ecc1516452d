#include "lib/io/run_files.h"

#include "lib/base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_DEPTH = 12,          /* folders below the path: a log folder, plugins, profile, a time, and names between */
    MAX_ENTRIES = 1000000,   /* so that `idsprof list /` comes to an end */
    MAX_FILES_OF_RUN = 4096, /* hosts */
};

/* What is known of a run while the list is made; run i of the list is found[i]. */
struct label {
    const char *base; /* the part of the absolute path that names the run: the log folder, or the run's own folder */
    size_t base_bytes;
    const char *stamp; /* the folder's name below plugins/profile, or NULL */
    int depth;         /* how many components of base are in the name */
    int with_stamp;
};

struct finder {
    const char *const *suffixes;
    struct ids_run_list list;
    size_t run_room;
    size_t entries;
    int refused; /* errno of the first folder that could not be read */
    struct ids_error *err;
};

static int no_memory(struct ids_error *err) {
    return ids_fail(err, IDS_NOMEM, "no memory for a list of runs");
}

static void run_done(struct ids_run_files *run) {
    for (size_t i = 0; i < run->file_count; i++) free(run->files[i].path);
    free(run->files);
    free(run->path);
    free(run->name);
}

void ids_run_list_done(struct ids_run_list *list) {
    for (size_t i = 0; i < list->run_count; i++) run_done(&list->runs[i]);
    free(list->runs);
    free(list->unreadable);
    *list = (struct ids_run_list){0};
}

/* The index of the suffix that the name ends with, or -1. Hidden files are editors' and copies in progress ("._host..."
 * are resource forks that macOS leaves beside copied files). */
static int suffix_rank(const char *name, const char *const *suffixes) {
    size_t length = strlen(name);
    if (name[0] == '.') return -1;
    for (int rank = 0; suffixes[rank]; rank++) {
        size_t suffix_length = strlen(suffixes[rank]);
        if (length >= suffix_length && !strcmp(name + length - suffix_length, suffixes[rank])) return rank;
    }
    return -1;
}

static void set_identity(struct ids_run_file *file, const struct stat *status) {
    if (!S_ISREG(status->st_mode)) return;
    file->size = (uint64_t)status->st_size;
    file->device = status->st_dev;
    file->inode = status->st_ino;
    file->mtime_ns = (int64_t)status->st_mtim.tv_sec * 1000000000 + status->st_mtim.tv_nsec;
}

static char *join(const char *folder, const char *name) {
    char *path = NULL;
    const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
    return asprintf(&path, "%s%s%s", folder, slash, name) < 0 ? NULL : path;
}

/* ---- walking ---- */

/* The matching files of one folder; only those of the best suffix seen are kept. */
struct matches {
    struct ids_run_files run;
    size_t room;
    int rank;
};

static int add_match(struct finder *finder, struct matches *matches, const char *folder, const char *name, int rank,
                     const struct stat *status) {
    struct ids_run_files *run = &matches->run;
    if (run->file_count && rank > matches->rank) return 0;
    if (run->file_count && rank < matches->rank) {
        while (run->file_count) free(run->files[--run->file_count].path);
    }
    matches->rank = rank;
    if (run->file_count == MAX_FILES_OF_RUN) {
        return ids_fail(finder->err, IDS_LIMIT, "'%s' holds more than %d profiles", folder, MAX_FILES_OF_RUN);
    }
    char *path = join(folder, name);
    struct ids_run_file *file = path ? IDS_PUSH(run->files, run->file_count, matches->room) : NULL;
    if (!file) {
        free(path);
        return no_memory(finder->err);
    }
    *file = (struct ids_run_file){.path = path};
    set_identity(file, status);
    return 0;
}

static int by_file_path(const void *a, const void *b) {
    return strcmp(((const struct ids_run_file *)a)->path, ((const struct ids_run_file *)b)->path);
}

/* Moves the run into the list. */
static int add_run(struct finder *finder, struct ids_run_files *run) {
    struct ids_run_files *place = IDS_PUSH(finder->list.runs, finder->list.run_count, finder->run_room);
    if (!place) return no_memory(finder->err);
    qsort(run->files, run->file_count, sizeof *run->files, by_file_path);
    *place = *run;
    *run = (struct ids_run_files){0};
    return 0;
}

static int note_unreadable(struct finder *finder, const char *path, int why) {
    if (finder->list.unreadable_count++) return 0;
    finder->refused = why;
    finder->list.unreadable = strdup(path);
    return finder->list.unreadable ? 0 : no_memory(finder->err);
}

static int walk(struct finder *finder, int parent, const char *name, const char *path, int depth);

static int visit(struct finder *finder, int folder_fd, const char *folder, const char *name, int depth,
                 struct matches *matches) {
    struct stat status;
    if (++finder->entries > MAX_ENTRIES) {
        return ids_fail(finder->err, IDS_LIMIT,
                        "more than %d files and folders to look through: name a folder nearer to the run", MAX_ENTRIES);
    }
    int rank = suffix_rank(name, finder->suffixes);
    if (rank >= 0) {
        /* Links to files are followed: runs are often collected that way. */
        if (fstatat(folder_fd, name, &status, 0)) return 0;
        if (S_ISREG(status.st_mode)) return add_match(finder, matches, folder, name, rank, &status);
    }
    if (fstatat(folder_fd, name, &status, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(status.st_mode)) return 0;
    if (depth == MAX_DEPTH) return 0;
    char *path = join(folder, name);
    if (!path) return no_memory(finder->err);
    int code = walk(finder, folder_fd, name, path, depth + 1);
    free(path);
    return code;
}

/* Looks at a folder and those below it. `path` is how messages and results call it. */
static int walk(struct finder *finder, int parent, const char *name, const char *path, int depth) {
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (depth ? O_NOFOLLOW : 0));
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    if (!stream) {
        int why = errno;
        if (fd >= 0) close(fd);
        return note_unreadable(finder, path, why);
    }
    struct matches matches = {0};
    struct dirent *entry;
    int code = 0;
    while (!code && (entry = readdir(stream))) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        if (entry->d_type != DT_UNKNOWN && entry->d_type != DT_DIR &&
            suffix_rank(entry->d_name, finder->suffixes) < 0) {
            finder->entries++;
            continue; /* no stat for the thousands of other files that a log folder holds */
        }
        code = visit(finder, fd, path, entry->d_name, depth, &matches);
    }
    closedir(stream);
    if (!code && matches.run.file_count) {
        matches.run.path = strdup(path);
        code = matches.run.path ? add_run(finder, &matches.run) : no_memory(finder->err);
    }
    run_done(&matches.run);
    return code;
}

/* ---- naming ---- */

static const char *last_component(const char *path, size_t length) {
    while (length && path[length - 1] != '/') length--;
    return path + length;
}

/* Cuts "/<component>" off the end when it is that component; 0 when it is not. */
static int cut_component(const char *path, size_t *length, const char *component) {
    size_t n = strlen(component);
    if (*length <= n || path[*length - n - 1] != '/' || memcmp(path + *length - n, component, n) != 0) return 0;
    *length -= n + 1;
    return 1;
}

/* `absolute` is a run folder: finds the log folder above plugins/profile/<time>. */
static struct label label_folder(const char *absolute, size_t length) {
    struct label label = {.base = absolute, .base_bytes = length, .depth = 1};
    const char *stamp = last_component(absolute, length);
    if (stamp == absolute) return label;
    size_t rest = (size_t)(stamp - absolute) - 1;
    if (!cut_component(absolute, &rest, "profile")) return label;
    cut_component(absolute, &rest, "plugins"); /* some tools leave it out */
    if (!rest) return label;
    label.base_bytes = rest;
    label.stamp = stamp;
    return label;
}

/* The last `depth` components of base, and the time where it is needed. NULL when memory ran out. */
static char *label_name(const struct label *label) {
    size_t at = label->base_bytes;
    for (int i = 0; i < label->depth && at; i++) {
        if (i) at--;
        while (at && label->base[at - 1] != '/') at--;
    }
    char *name = NULL;
    int length = (int)(label->base_bytes - at);
    int result = label->with_stamp ? asprintf(&name, "%.*s/%s", length, label->base + at, label->stamp)
                                   : asprintf(&name, "%.*s", length, label->base + at);
    return result < 0 ? NULL : name;
}

struct named {
    const char *name;
    size_t index;
};

static int by_name(const void *a, const void *b) {
    const struct named *left = a, *right = b;
    int order = strcmp(left->name, right->name);
    return order ? order : (left->index > right->index) - (left->index < right->index);
}

static int same_base(const struct label *a, const struct label *b) {
    return a->base_bytes == b->base_bytes && !memcmp(a->base, b->base, a->base_bytes);
}

/* Makes the names of one group of equals longer: the time when they are runs of one log folder, else one more folder. */
static void lengthen(struct label *labels, const struct named *group, size_t count) {
    int one_folder = 0;
    for (size_t i = 1; i < count; i++) one_folder |= same_base(&labels[group[i].index], &labels[group[0].index]);
    for (size_t i = 0; i < count; i++) {
        struct label *label = &labels[group[i].index];
        if (one_folder && label->stamp && !label->with_stamp) {
            label->with_stamp = 1;
        } else if (!one_folder) {
            label->depth++;
        }
    }
}

static int set_names(struct ids_run_list *list, struct label *labels, struct named *order, struct ids_error *err) {
    /* Ends early as soon as all names differ; a path has few components, so a few rounds are enough. */
    for (int round = 0; round < 2 * MAX_DEPTH; round++) {
        for (size_t i = 0; i < list->run_count; i++) {
            free(list->runs[i].name);
            list->runs[i].name = label_name(&labels[i]);
            if (!list->runs[i].name) return no_memory(err);
            order[i] = (struct named){list->runs[i].name, i};
        }
        qsort(order, list->run_count, sizeof *order, by_name);
        int again = 0;
        for (size_t i = 0, end; i < list->run_count; i = end) {
            for (end = i + 1; end < list->run_count && !strcmp(order[i].name, order[end].name);) end++;
            if (end - i < 2) continue;
            lengthen(labels, order + i, end - i);
            again = 1;
        }
        if (!again) break;
    }
    return 0;
}

static int name_runs(struct ids_run_list *list, const char *top, struct ids_error *err) {
    char *absolute = realpath(top, NULL);
    char **paths = calloc(list->run_count, sizeof *paths);
    struct label *labels = calloc(list->run_count, sizeof *labels);
    struct named *order = calloc(list->run_count, sizeof *order);
    int code = absolute && paths && labels && order ? 0 : no_memory(err);
    for (size_t i = 0; !code && i < list->run_count; i++) {
        const char *below = list->runs[i].path + strlen(top);
        while (*below == '/') below++;
        paths[i] = *below ? join(absolute, below) : strdup(absolute);
        if (paths[i]) {
            labels[i] = label_folder(paths[i], strlen(paths[i]));
        } else {
            code = no_memory(err);
        }
    }
    if (!code) code = set_names(list, labels, order, err);
    for (size_t i = 0; paths && i < list->run_count; i++) free(paths[i]);
    free(absolute);
    free(paths);
    free(labels);
    free(order);
    return code;
}

/* "host" of "logs/host.xplane.pb", or the log folder's name when the file lies in plugins/profile/<time>. */
static char *file_run_name(const char *path, const char *const *suffixes) {
    char *absolute = realpath(path, NULL);
    const char *whole = absolute ? absolute : path;
    const char *file = last_component(whole, strlen(whole));
    struct label label = {0};
    if (file > whole + 1) label = label_folder(whole, (size_t)(file - whole) - 1);
    char *name;
    if (label.stamp) {
        name = label_name(&label);
    } else {
        int rank = suffix_rank(file, suffixes);
        size_t length = strlen(file) - (rank < 0 ? 0 : strlen(suffixes[rank]));
        while (length && file[length - 1] == '.') length--;
        name = length ? strndup(file, length) : strdup(file);
    }
    free(absolute);
    return name;
}

/* ---- */

static int single_file(struct finder *finder, const char *path, const struct stat *status, const char *name) {
    struct ids_run_files run = {.path = strdup(path),
                                .name = name ? strdup(name) : file_run_name(path, finder->suffixes),
                                .files = calloc(1, sizeof *run.files),
                                .file_count = 1};
    if (run.files) run.files[0].path = strdup(path);
    int whole = run.path && run.name && run.files && run.files[0].path;
    if (whole) set_identity(&run.files[0], status);
    int code = whole ? add_run(finder, &run) : no_memory(finder->err);
    if (!run.files) run.file_count = 0;
    run_done(&run);
    return code;
}

static int by_age(const void *a, const void *b) {
    const char *path_a = ((const struct ids_run_files *)a)->path;
    const char *path_b = ((const struct ids_run_files *)b)->path;
    int order = strcmp(last_component(path_a, strlen(path_a)), last_component(path_b, strlen(path_b)));
    return order ? order : strcmp(path_a, path_b);
}

static int none_found(const struct finder *finder, const char *path) {
    if (finder->list.unreadable) {
        return ids_fail(finder->err, IDS_IO, "cannot read '%s': %s", finder->list.unreadable,
                        strerror(finder->refused));
    }
    char wanted[160] = "";
    for (int i = 0; finder->suffixes[i]; i++) {
        size_t used = strlen(wanted);
        snprintf(wanted + used, sizeof wanted - used, "%s*%s", i ? ", " : "", finder->suffixes[i]);
    }
    return ids_fail(finder->err, IDS_NOT_FOUND, "no profile in '%s' (looked for %s, %d folders deep)", path, wanted,
                    MAX_DEPTH);
}

static int find(struct finder *finder, const char *path) {
    struct stat status;
    if (!strcmp(path, "-")) {
        if (fstat(STDIN_FILENO, &status)) return ids_fail(finder->err, IDS_IO, "standard input: %s", strerror(errno));
        return single_file(finder, path, &status, "stdin");
    }
    if (stat(path, &status)) {
        return ids_fail(finder->err, errno == ENOENT ? IDS_NOT_FOUND : IDS_IO, "cannot open '%s': %s", path,
                        strerror(errno));
    }
    if (!S_ISDIR(status.st_mode)) return single_file(finder, path, &status, NULL);
    int code = walk(finder, AT_FDCWD, path, path, 0);
    if (code) return code;
    if (!finder->list.run_count) return none_found(finder, path);
    qsort(finder->list.runs, finder->list.run_count, sizeof *finder->list.runs, by_age);
    return name_runs(&finder->list, path, finder->err);
}

int ids_runs_find(const char *path, const char *const *suffixes, struct ids_run_list *ret_list, struct ids_error *err) {
    struct finder finder = {.suffixes = suffixes, .err = err};
    int code = find(&finder, path);
    if (code) {
        ids_run_list_done(&finder.list);
        return code;
    }
    *ret_list = finder.list;
    return 0;
}
