#include "lib/io/memory_limit.h"

#include "lib/base/decimal.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { GROUPS_BYTES = 8192 };

/* The begin of a small file as a text; empty when it cannot be read. */
static void read_text(const char *path, char *text, size_t room) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, room - 1);
    if (fd >= 0) close(fd);
    text[got > 0 ? got : 0] = '\0';
}

static uint64_t limit_in(const char *path) {
    char text[32];
    int64_t bytes;
    read_text(path, text, sizeof text);
    size_t length = strcspn(text, "\n");
    /* "max" is no number; v1 says 2^63 less a page for none. */
    return ids_decimal_integer(text, length, &bytes) == 1 && bytes >= 0 ? (uint64_t)bytes : UINT64_MAX;
}

/* Of the group and all above it. Inside a container the name may be one of the host, which is not there: then its
 * root counts. */
static uint64_t limit_of(const char *root, const char *controller, const char *group, const char *file) {
    char path[PATH_MAX];
    uint64_t least = UINT64_MAX;
    for (size_t length = strlen(group);; length--) {
        while (length && group[length - 1] == '/') length--;
        if (snprintf(path, sizeof path, "%s%s%.*s/%s", root, controller, (int)length, group, file) < (int)sizeof path) {
            uint64_t limit = limit_in(path);
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

uint64_t ids_cgroup_memory_limit(const char *groups, const char *root) {
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
        uint64_t limit = UINT64_MAX;
        if (group == controllers)
            limit = limit_of(root, "", group + 1, "memory.max");
        else if (has_word(controllers, (size_t)(group - controllers), "memory"))
            limit = limit_of(root, "/memory", group + 1, "memory.limit_in_bytes");
        if (limit < least) least = limit;
    }
    return least;
}

uint64_t ids_memory_limit(void) {
    struct rlimit limit;
    uint64_t most = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t of_group = ids_cgroup_memory_limit("/proc/self/cgroup", "/sys/fs/cgroup");
    if (of_group < most) most = of_group;
    if (!getrlimit(RLIMIT_DATA, &limit) && limit.rlim_cur < most) most = limit.rlim_cur;
    if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur < most) most = limit.rlim_cur;
    return most;
}
