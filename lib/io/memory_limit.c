#include "lib/io/memory_limit.h"

#include "lib/base/decimal.h"
#include "lib/io/control_group.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static uint64_t limit_in(const char *folder, int version) {
    char text[32];
    int64_t bytes;
    ids_cgroup_text(folder, version == 1 ? "memory.limit_in_bytes" : "memory.max", text, sizeof text);
    size_t length = strcspn(text, "\n");
    /* "max" is no number; v1 says 2^63 less a page for none. */
    return ids_decimal_integer(text, length, &bytes) == 1 && bytes >= 0 ? (uint64_t)bytes : UINT64_MAX;
}

uint64_t ids_cgroup_memory_limit(const char *groups, const char *root) {
    return ids_cgroup_least(groups, root, "memory", limit_in);
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
