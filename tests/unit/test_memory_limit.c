/* lib/io/memory_limit, lib/io/jobs: what the groups of a container, of a batch job and of a plain machine leave. */
#include "lib/io/jobs.h"
#include "lib/io/memory_limit.h"
#include "tests/support/remove_tree.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];

static void new_root(void) {
    strcpy(root, "/tmp/idsprof-cgroup-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
}

/* A file below the root; with no content the folder alone. */
static void make(const char *name, const char *content) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(content, file);
    fclose(file);
}

static uint64_t limit_with(const char *groups) {
    char path[512];
    make("groups", groups);
    snprintf(path, sizeof path, "%s/groups", root);
    return ids_cgroup_memory_limit(path, root);
}

START_TEST(version_2) {
    new_root();
    make("memory.max", "max\n");
    make("slice/job/memory.max", "3000000000\n");
    make("slice/memory.max", "2000000000\n");
    ck_assert_uint_eq(limit_with("0::/\n"), UINT64_MAX);
    ck_assert_uint_eq(limit_with("0::/slice/job\n"), 2000000000);  /* the one above has less */
    ck_assert_uint_eq(limit_with("0::/slice/job/\n"), 2000000000); /* written with a slash behind */
    ck_assert_uint_eq(limit_with("0::/elsewhere/job\n"), UINT64_MAX);
    make("memory.max", "1000000000\n");
    ck_assert_uint_eq(limit_with("0::/elsewhere/job"), 1000000000); /* a container's own root */
    make("slice/job/memory.max", "500\n");
    ck_assert_uint_eq(limit_with("0::/slice/job\n"), 500);
    make("memory.max", "");
    make("slice/memory.max", "-5\n");
    ck_assert_uint_eq(limit_with("0::/slice\n"), UINT64_MAX);
    remove_tree(root);
}
END_TEST

START_TEST(version_1) {
    new_root();
    make("memory/memory.limit_in_bytes", "9223372036854771712\n");
    make("memory/docker/abc/memory.limit_in_bytes", "4000000000\n");
    make("memory.max", "max\n");
    const char *groups = "12:cpu,cpuacct:/docker/abc\n5:hugetlb,memory:/docker/abc\n1:name=systemd:/\n0::/\n";
    ck_assert_uint_eq(limit_with(groups), 4000000000);
    ck_assert_uint_eq(limit_with("5:memory:/other\n"), 9223372036854771712u);
    ck_assert_uint_eq(limit_with("5:memory_other:/docker/abc\n"), UINT64_MAX);
    remove_tree(root);
}
END_TEST

START_TEST(nonsense) {
    new_root();
    char path[512];
    ck_assert_uint_eq(limit_with(""), UINT64_MAX);
    ck_assert_uint_eq(limit_with("\n\n:\n::\n5:memory\nmemory:5\n0::"), UINT64_MAX);
    snprintf(path, sizeof path, "%s/not there", root);
    ck_assert_uint_eq(ids_cgroup_memory_limit(path, root), UINT64_MAX);
    ck_assert_uint_ge(ids_memory_limit(), 1 << 20);
    ck_assert_uint_le(ids_memory_limit(), (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE));
    remove_tree(root);
}
END_TEST

static unsigned processors_with(const char *groups) {
    char path[512];
    make("groups", groups);
    snprintf(path, sizeof path, "%s/groups", root);
    return ids_cgroup_processors(path, root);
}

START_TEST(quotas_of_processors) {
    new_root();
    make("cpu.max", "max 100000\n");
    make("slice/cpu.max", "250000 100000\n");
    make("slice/job/cpu.max", "800000 100000\n");
    make("cpu/batch/cpu.cfs_quota_us", "150000\n");
    make("cpu/batch/cpu.cfs_period_us", "100000\n");
    make("cpu/free/cpu.cfs_quota_us", "-1\n");
    make("cpu/free/cpu.cfs_period_us", "100000\n");
    ck_assert_uint_eq(processors_with("0::/\n"), 0);
    ck_assert_uint_eq(processors_with("0::/slice/job\n"), 3); /* the one above has less: two and a half */
    ck_assert_uint_eq(processors_with("3:cpu,cpuacct:/batch\n"), 2);
    ck_assert_uint_eq(processors_with("3:cpu,cpuacct:/free\n"), 0);
    ck_assert_uint_eq(processors_with("3:cpu:/batch\n0::/slice\n"), 2);
    make("slice/cpu.max", "1000 100000\n");
    ck_assert_uint_eq(processors_with("0::/slice\n"), 1);
    make("slice/cpu.max", "5 0\n");
    ck_assert_uint_eq(processors_with("0::/slice\n"), 0);
    ck_assert_uint_ge(ids_processors(), 1);
    ck_assert_uint_le(ids_processors(), (unsigned)sysconf(_SC_NPROCESSORS_CONF));
    remove_tree(root);
}
END_TEST

IDS_RUN_SUITE("memory_limit", version_2, version_1, nonsense, quotas_of_processors)
