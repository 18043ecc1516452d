#include "lib/io/jobs.h"

#include "lib/io/control_group.h"

#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

/* Processors, rounded up. */
static uint64_t quota_in(const char *folder, int version) {
    char text[64];
    int64_t quota = -1, period = -1; /* "200000 100000"; "max 100000", and -1 in version 1, where there is none */
    ids_cgroup_text(folder, version == 1 ? "cpu.cfs_quota_us" : "cpu.max", text, sizeof text);
    int got = sscanf(text, "%" SCNd64 " %" SCNd64, &quota, &period);
    if (version == 1 && got == 1) {
        ids_cgroup_text(folder, "cpu.cfs_period_us", text, sizeof text);
        if (sscanf(text, "%" SCNd64, &period) != 1) period = -1;
    }
    return quota > 0 && period > 0 ? ((uint64_t)quota + (uint64_t)period - 1) / (uint64_t)period : UINT64_MAX;
}

unsigned ids_cgroup_processors(const char *groups, const char *root) {
    uint64_t least = ids_cgroup_least(groups, root, "cpu", quota_in);
    return least == UINT64_MAX ? 0 : least > INT_MAX ? INT_MAX : (unsigned)least;
}

unsigned ids_processors(void) {
    cpu_set_t set;
    long count = sched_getaffinity(0, sizeof set, &set) ? sysconf(_SC_NPROCESSORS_ONLN) : CPU_COUNT(&set);
    unsigned of_group = ids_cgroup_processors("/proc/self/cgroup", "/sys/fs/cgroup");
    if (count < 1) count = 1;
    return of_group && of_group < (unsigned long)count ? of_group : (unsigned)count;
}
