#include "lib/io/run_parts.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is known of a run while the list is made; run i of the list is found[i]. */
struct label {
    const char *base; /* the part of the absolute path that names the run: the log folder, or the run's own folder */
    size_t base_bytes;
    const char *stamp; /* the folder's name below plugins/profile, or NULL */
    int depth;         /* how many components of base are in the name */
    int with_stamp;
};

/* Cuts "/<component>" off the end when it is that component; 0 when it is not. */
static int cut_component(const char *path, size_t *length, const char *component) {
    size_t n = strlen(component);
    if (*length <= n || path[*length - n - 1] != '/' || memcmp(path + *length - n, component, n) != 0) return 0;
    *length -= n + 1;
    return 1;
}

/* `absolute` is a run's folder, or its file: finds the log folder above plugins/profile/<time>. */
static struct label label_folder(const char *absolute, size_t length) {
    struct label label = {.base = absolute, .base_bytes = length, .depth = 1};
    const char *stamp = ids_last_component(absolute, length);
    if (stamp == absolute) return label;
    size_t rest = (size_t)(stamp - absolute) - 1;
    if (!cut_component(absolute, &rest, "profile")) return label;
    cut_component(absolute, &rest, "plugins"); /* some tools leave it out */
    if (!rest) return label;
    label.base_bytes = rest;
    label.stamp = stamp;
    return label;
}

/* A run that is one file among others is called as the file is, without the ending. */
static struct label label_file(const char *absolute, const struct ids_run_kinds *kinds) {
    struct label label = {.base = absolute, .base_bytes = strlen(absolute), .depth = 1};
    const char *file = ids_last_component(absolute, label.base_bytes);
    size_t least = (size_t)(file - absolute);
    size_t bytes = label.base_bytes - ids_suffix_of(file, kinds).length;
    while (bytes > least && absolute[bytes - 1] == '.') bytes--;
    if (bytes > least) label.base_bytes = bytes;
    return label;
}

static int is_file_run(const struct ids_run_files *run) {
    return run->file_count && !strcmp(run->path, run->files[0].path);
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

/* Makes the names of one group of equals longer: the time when they are runs of one log folder, else one more
 * folder. */
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
    for (int round = 0; round < 2 * IDS_RUN_MAX_DEPTH; round++) {
        for (size_t i = 0; i < list->run_count; i++) {
            free(list->runs[i].name);
            list->runs[i].name = label_name(&labels[i]);
            if (!list->runs[i].name) return ids_no_memory(err);
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

int ids_name_runs(struct ids_run_list *list, const char *top, const struct ids_run_kinds *kinds,
                  struct ids_error *err) {
    char *absolute = realpath(top, NULL);
    char **paths = calloc(list->run_count, sizeof *paths);
    struct label *labels = calloc(list->run_count, sizeof *labels);
    struct named *order = calloc(list->run_count, sizeof *order);
    int code = absolute && paths && labels && order ? 0 : ids_no_memory(err);
    for (size_t i = 0; !code && i < list->run_count; i++) {
        const char *below = list->runs[i].path + strlen(top);
        while (*below == '/') below++;
        paths[i] = *below ? ids_join_path(absolute, below) : strdup(absolute);
        if (paths[i]) {
            labels[i] =
                is_file_run(&list->runs[i]) ? label_file(paths[i], kinds) : label_folder(paths[i], strlen(paths[i]));
        } else {
            code = ids_no_memory(err);
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
char *ids_file_run_name(const char *path, const struct ids_run_kinds *kinds) {
    char *absolute = realpath(path, NULL);
    const char *whole = absolute ? absolute : path;
    const char *file = ids_last_component(whole, strlen(whole));
    struct label label = {0};
    if (file > whole + 1) label = label_folder(whole, (size_t)(file - whole) - 1);
    if (!label.stamp) label = label_file(whole, kinds);
    char *name = label_name(&label);
    free(absolute);
    return name;
}
