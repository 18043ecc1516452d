/* Files by a pattern. Not glob(3): glibc's frees its list twice when memory runs out. */
#include "lib/base/memory.h"
#include "lib/capture/checkup_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct search {
    char path[PATH_MAX]; /* as far as it goes so far */
    void (*visit)(void *context, const char *path);
    void *context;
};

static void go_on(struct search *search, size_t length, const char *rest);

/* Adds a name to the path and goes on from there. */
static void enter(struct search *search, size_t length, const char *name, size_t name_length, const char *rest) {
    size_t room = sizeof search->path - length;
    int added = snprintf(search->path + length, room, "/%.*s", (int)name_length, name);
    if (added > 0 && (size_t)added < room) go_on(search, length + (size_t)added, rest);
    search->path[length] = '\0';
}

static void enter_matches(struct search *search, size_t length, const char *pattern, const char *rest) {
    DIR *folder = opendir(length ? search->path : "/");
    if (!folder && errno == ENOMEM) ids_memory_refused();
    if (!folder) return;
    for (const struct dirent *entry; (entry = readdir(folder));) {
        if (!fnmatch(pattern, entry->d_name, FNM_PERIOD))
            enter(search, length, entry->d_name, strlen(entry->d_name), rest);
    }
    closedir(folder);
}

static void go_on(struct search *search, size_t length, const char *rest) {
    char pattern[NAME_MAX + 1];
    if (!*rest) {
        if (!access(search->path, F_OK)) search->visit(search->context, search->path);
        return;
    }
    if (*rest == '/') rest++;
    size_t bytes = strcspn(rest, "/");
    if (bytes >= sizeof pattern) return;
    memcpy(pattern, rest, bytes);
    pattern[bytes] = '\0';
    if (strpbrk(pattern, "*?["))
        enter_matches(search, length, pattern, rest + bytes);
    else
        enter(search, length, pattern, bytes, rest + bytes);
}

void ids_check_files(const char *root, const char *pattern, void (*visit)(void *context, const char *path),
                     void *context) {
    struct search search = {.visit = visit, .context = context};
    int length = snprintf(search.path, sizeof search.path, "%s", *pattern == '/' ? root : ".");
    if (length >= 0 && (size_t)length < sizeof search.path) go_on(&search, (size_t)length, pattern);
}
