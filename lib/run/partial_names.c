#include "lib/run/partial_names.h"

#include "lib/model/partial.h"
#include "lib/run/file_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct named {
    const char *path, *name; /* the name: of the file */
    size_t place;            /* in `paths` */
};

static int by_name(const void *a, const void *b) {
    const struct named *left = a, *right = b;
    int order = strcmp(left->name, right->name);
    return order ? order : strcmp(left->path, right->path);
}

/* The folder `level` above the file, 1 the one that it is in; no bytes where there is none. */
static size_t folder_of(const char *path, size_t level, const char **ret_at) {
    const char *end = ids_file_name(path), *at = end;
    for (; level; level--) {
        for (end = at; end > path && end[-1] == '/';) end--;
        for (at = end; at > path && at[-1] != '/';) at--;
    }
    *ret_at = at;
    return (size_t)(end - at);
}

static int tells_apart(const struct named *group, size_t count, size_t level) {
    for (size_t i = 0; i < count; i++) {
        const char *one, *other;
        size_t length = folder_of(group[i].path, level, &one);
        if (!length) return 0;
        for (size_t j = 0; j < i; j++)
            if (folder_of(group[j].path, level, &other) == length && !memcmp(one, other, length)) return 0;
    }
    return 1;
}

static int name_group(const struct named *group, size_t count, char **ret_names, struct ids_error *err) {
    enum { LEVELS = 32 };
    size_t level = count > 1;
    while (level && level < LEVELS && !tells_apart(group, count, level)) level++;
    if (level == LEVELS)
        return ids_fail(err, IDS_USAGE, "'%s' and '%s' have one name, and so would their partials; make each by itself",
                        group[0].path, group[1].path);
    for (size_t i = 0; i < count; i++) {
        const char *folder;
        int length = (int)folder_of(group[i].path, level, &folder);
        char **name = &ret_names[group[i].place];
        if (asprintf(name, "%.*s%s%s" IDS_PARTIAL_SUFFIX, level ? length : 0, folder, level ? "." : "",
                     group[i].name) >= 0)
            continue;
        *name = NULL;
        return ids_no_memory(err);
    }
    return 0;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A folder in front may make a name that another file has by itself. */
static int hold_apart(char *const *names, size_t count, struct ids_error *err) {
    char **sorted = calloc(count + 1, sizeof *sorted);
    int code = 0;
    if (!sorted) return ids_no_memory(err);
    memcpy(sorted, names, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_text);
    for (size_t i = 1; i < count && !code; i++)
        if (!strcmp(sorted[i - 1], sorted[i]))
            code = ids_fail(err, IDS_USAGE, "two partials would be called '%s'; make each by itself", sorted[i]);
    free(sorted);
    return code;
}

int ids_partial_names(const char *const *paths, size_t count, char **ret_names, struct ids_error *err) {
    struct named *all = calloc(count + 1, sizeof *all);
    int code = all ? 0 : ids_no_memory(err);
    for (size_t i = 0; i < count; i++) ret_names[i] = NULL;
    for (size_t i = 0; i < count && !code; i++) all[i] = (struct named){paths[i], ids_file_name(paths[i]), i};
    if (!code) qsort(all, count, sizeof *all, by_name);
    for (size_t first = 0, end; first < count && !code; first = end) {
        for (end = first + 1; end < count && !strcmp(all[first].name, all[end].name);) end++;
        code = name_group(&all[first], end - first, ret_names, err);
    }
    free(all);
    return code ? code : hold_apart(ret_names, count, err);
}
