#include "lib/io/control_group.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { GROUPS_BYTES = 8192 };

static void read_text(const char *path, char *text, size_t room) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, room - 1);
    if (fd >= 0) close(fd);
    text[got > 0 ? got : 0] = '\0';
}

void ids_cgroup_text(const char *folder, const char *file, char *text, size_t room) {
    char path[PATH_MAX];
    text[0] = '\0';
    if (snprintf(path, sizeof path, "%s/%s", folder, file) < (int)sizeof path) read_text(path, text, room);
}

/* A hierarchy: its folder is `root`, with the controller's name behind it in version 1. */
struct hierarchy {
    const char *root, *controller;
    int version;
};

/* Of the group and all above it. Inside a container the name may be one of the host, which is not there: then its
 * root counts. */
static uint64_t least_of(const struct hierarchy *in, const char *group,
                         uint64_t (*limit_in)(const char *folder, int version)) {
    char folder[PATH_MAX];
    const char *slash = in->version == 1 ? "/" : "", *controller = in->version == 1 ? in->controller : "";
    uint64_t least = UINT64_MAX;
    for (size_t length = strlen(group);; length--) {
        while (length && group[length - 1] == '/') length--;
        if (snprintf(folder, sizeof folder, "%s%s%s%.*s", in->root, slash, controller, (int)length, group) <
            (int)sizeof folder) {
            uint64_t limit = limit_in(folder, in->version);
            if (limit < least) least = limit;
        }
        while (length && group[length - 1] != '/') length--;
        if (!length) return least;
    }
}

static int has_word(const char *list, size_t length, const char *word) {
    for (const char *at = list, *end = list + length; at < end;) {
        size_t one = strcspn(at, ",:");
        if (one == strlen(word) && !memcmp(at, word, one)) return 1;
        at += one + 1;
    }
    return 0;
}

uint64_t ids_cgroup_least(const char *groups, const char *root, const char *controller,
                          uint64_t (*limit_in)(const char *folder, int version)) {
    char text[GROUPS_BYTES];
    uint64_t least = UINT64_MAX;
    read_text(groups, text, sizeof text);
    /* "4:memory:/job" of version 1, "0::/job" of version 2 */
    for (char *line = text, *next; *line; line = next) {
        size_t length = strcspn(line, "\n");
        next = line + length + (line[length] == '\n');
        line[length] = '\0';
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group) continue;
        controllers++;
        struct hierarchy in = {root, controller, group == controllers ? 2 : 1};
        uint64_t limit = UINT64_MAX;
        if (in.version == 2 || has_word(controllers, (size_t)(group - controllers), controller))
            limit = least_of(&in, group + 1, limit_in);
        if (limit < least) least = limit;
    }
    return least;
}
